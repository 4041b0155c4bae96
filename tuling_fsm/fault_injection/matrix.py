"""The whole matrix: scenarios driven once, cells chosen, what is missing driven in processes, everything kept in files.

A folder has `references/` and `cells/`, a file each; what is there of the same cell, seed and parameters is not driven
again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.fault_injection.cells import STATES, FaultCell, Phase, ReferenceDrive, cells
from tuling_fsm.fault_injection.driving import (
    CellGroup,
    DrivenScenario,
    cell_file,
    cells_by_scenario,
    drive_cells,
    reference_drive,
    write_cell,
)
from tuling_fsm.fault_injection.faults import FAULTS, InjectedFault
from tuling_fsm.fault_injection.verdict import CellVerdict
from tuling_fsm.output_file import write_file
from tuling_fsm.process_pool import in_processes
from tuling_fsm.progress import Report, TimeLeft

CellResult = dict[str, Any]
"""The fields of a `FaultCell`, `verdict` (a `CellVerdict`), `detail`, and where it was reached `recovered_s`, `end`,
`last_state`, `last_reason`.
"""


@dataclass(frozen=True)
class FaultMatrix:
    """What is asked for."""

    scenarios: tuple[DrivenScenario, ...]
    folder: Path
    faults: tuple[InjectedFault, ...] = FAULTS
    states: tuple[str, ...] = STATES
    phases: tuple[Phase, ...] = tuple(Phase)
    duration_s: float = 5.0
    resume: bool = False
    workers: int = 1

    @property
    def key(self) -> str:
        """Tells the settings of one matrix from those of another.

        Raises:
            InputError: a scenario cannot be used.
        """
        content = repr((self.duration_s, [each.key for each in self.scenarios]))
        return hashlib.sha256(content.encode()).hexdigest()[:16]


def run_matrix(matrix: FaultMatrix, say: Report) -> list[CellResult]:
    """Drive what is missing.

    Args:
        matrix: what is asked for.
        say: told how far it is.

    Returns:
        What came of every cell, by state, phase and fault.

    Raises:
        InputError: a scenario cannot be driven, or the folder holds a matrix of other settings.
    """
    _claim(matrix)
    references = _references(matrix, say)
    wanted = cells(references, matrix.faults, matrix.states, matrix.phases)
    missing = [cell for cell in wanted if not (matrix.resume and _kept(matrix.folder, cell))]
    for cell in missing:
        cell_file(matrix.folder, cell).unlink(missing_ok=True)
        if cell.scenario is None:
            said = {"verdict": CellVerdict.NOT_REACHED.value, "detail": "no scenario visits this state"}
            write_cell(matrix.folder, cell, said)
    _drive_missing(matrix, references, missing, say)
    return [json.loads(cell_file(matrix.folder, cell).read_text(encoding="utf-8")) for cell in wanted]


def _claim(matrix: FaultMatrix) -> None:
    """Write the settings of the matrix into its folder; cells of another one are removed before, so that none is left
    where this one is interrupted and gone on with.
    """
    file = matrix.folder / "settings.json"
    found = _read(file)
    if matrix.resume and found is not None and found.get("key") != matrix.key:
        expected = "the same scenarios, map, seed, parameters and duration, or another folder"
        raise InputError("--resume", f"{matrix.folder} holds a matrix of other settings", expected)
    if found is None or found.get("key") != matrix.key:
        for cell in sorted((matrix.folder / "cells").rglob("*.json")):
            cell.unlink()
    write_file(file, json.dumps({"key": matrix.key, "duration_s": matrix.duration_s}) + "\n")


def _references(matrix: FaultMatrix, say: Report) -> list[ReferenceDrive]:
    """Every scenario without a fault."""
    files = [matrix.folder / "references" / f"{each.file.stem}-{each.key}.json" for each in matrix.scenarios]
    found = [_reference(file) if matrix.resume else None for file in files]
    left = [number for number, drive in enumerate(found) if drive is None]
    done = 0
    jobs = [matrix.scenarios[number] for number in left]
    with closing(in_processes(reference_drive, jobs, matrix.workers)) as ended:
        say(f"{done} of {len(left)} scenarios without a fault")
        for index, future in ended:
            drive = future.result()
            write_file(files[left[index]], json.dumps(drive.plain()) + "\n")
            found[left[index]] = drive
            done += 1
            say(f"{done} of {len(left)} scenarios without a fault, last {jobs[index].file.stem}")
    return [drive for drive in found if drive is not None]


def _reference(file: Path) -> ReferenceDrive | None:
    plain = _read(file)
    try:
        return None if plain is None else ReferenceDrive.of(plain)
    except (KeyError, TypeError, ValueError):
        return None


def _drive_missing(
    matrix: FaultMatrix, references: Sequence[ReferenceDrive], missing: Sequence[FaultCell], say: Report
) -> None:
    by_scenario = {str(each.file): each for each in matrix.scenarios}
    drives = {drive.scenario: drive for drive in references}
    groups = [
        CellGroup(by_scenario[scenario], drives[scenario], own, matrix.duration_s, matrix.folder)
        for scenario, own in cells_by_scenario(missing).items()
    ]
    tell = _told([cell for group in groups for cell in group.cells], matrix.folder, say)
    with closing(in_processes(drive_cells, groups, matrix.workers, tell)) as ended:
        for index, future in ended:
            _settle(groups[index], future)


def _settle(group: CellGroup, future: Future[None]) -> None:
    """A process that was killed leaves the rest of its cells as errors."""
    try:
        future.result()
    except BrokenProcessPool:
        for cell in group.cells:
            if not cell_file(group.folder, cell).exists():
                said = {"verdict": CellVerdict.ERROR.value, "detail": "a process of the matrix was killed"}
                write_cell(group.folder, cell, said)


def _told(driven: Sequence[FaultCell], folder: Path, say: Report) -> Callable[[], None]:
    """Tells how many cells have a file."""
    left = TimeLeft()
    waiting = {cell_file(folder, cell): cell for cell in driven}

    def tell() -> None:
        over = [file for file in waiting if file.exists()]
        last = waiting[over[-1]].name if over else ""
        for file in over:
            del waiting[file]
        share = 1.0 - len(waiting) / max(len(driven), 1)
        done = len(driven) - len(waiting)
        say(left.line(f"{done} of {len(driven)} cells  {100 * share:3.0f} %  {last}".rstrip(), share))

    return tell


def _kept(folder: Path, cell: FaultCell) -> bool:
    """Whether a cell has been driven: the same one, at the same stamp. One whose process was killed has not: it is an
    error that tells no last state.
    """
    found = _read(cell_file(folder, cell))
    if found is None or (found.get("verdict") == CellVerdict.ERROR.value and "last_state" not in found):
        return False
    return all(found.get(name) == value for name, value in vars(cell).items())


def _read(file: Path) -> dict[str, Any] | None:
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return plain if isinstance(plain, dict) else None

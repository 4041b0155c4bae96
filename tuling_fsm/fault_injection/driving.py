"""Driving a scenario without a fault, and the cells that begin in it: each in a copy of the process (SIM-2).

The way to a stamp is driven once. There the process is forked for one cell after the other: a copy has everything as it
was, whatever that is made of, and nothing of a cell gets back.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.core.errors import in_one_line
from tuling_fsm.core.parameters import load, nest
from tuling_fsm.core.request import Reason
from tuling_fsm.fault_injection.cells import FaultCell, ReferenceDrive, StateVisit
from tuling_fsm.fault_injection.faults import BY_NAME, InjectedFault
from tuling_fsm.fault_injection.loop import VehicleLoop
from tuling_fsm.fault_injection.verdict import CellEvidence, CellVerdict, RecoveryTarget, judge
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.output_file import write_file
from tuling_fsm.run import settings_record
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.reporting.run_log import LogRow
from tuling_fsm.sim.scenario.choices import ServerBehaviour
from tuling_fsm.sim.scenario.compiler import load_scenario

SETTLE_S = 5.0
"""So long a car that has gone on is watched."""
MOTION_PERIOD_S = 0.5
ENDS_WELL = ("goal", "parked", "scenario")
MOST_S = 1800.0
"""A scenario without an end of its own is left."""


@dataclass(frozen=True)
class DrivenScenario:
    """What is driven: a scenario on a map with a seed, and the parameters of the planner by their dotted names."""

    file: Path
    map_file: Path
    seed: int
    parameters: tuple[tuple[str, Any], ...]

    @cached_property
    def key(self) -> str:
        """Tells it from others, also from what was in the same files before.

        Raises:
            InputError: the scenario cannot be used.
        """
        settings = settings_record(RunSettings(self.file, self.seed), load_scenario(self.file, {}), self.map_file)
        return hashlib.sha256(repr((str(self.file), settings, self.parameters)).encode()).hexdigest()[:16]

    def loop(self) -> VehicleLoop:
        """Its run, with all kernels loaded.

        Raises:
            InputError: it cannot be driven.
        """
        parameters: Parameters = load(Parameters, nest(dict(self.parameters)))
        road_map = read_map(self.map_file)
        Agent(road_map, parameters).warm_up()
        return VehicleLoop(road_map, load_scenario(self.file, {}), self.seed, parameters)


@dataclass(frozen=True)
class CellGroup:
    """The cells that begin in one scenario, and the folder that their files go to."""

    driven: DrivenScenario
    reference: ReferenceDrive
    cells: tuple[FaultCell, ...]
    duration_s: float
    folder: Path


def reference_drive(driven: DrivenScenario) -> ReferenceDrive:
    """Drive a scenario to its end without a fault.

    Raises:
        InputError: it cannot be driven.
    """
    loop = driven.loop()
    simulation = loop.simulation
    motion = [(0.0, 0.0)]
    while not simulation.finished and simulation.stamp < MOST_S:
        loop.frame()
        if simulation.finished or simulation.stamp - motion[-1][0] >= MOTION_PERIOD_S - 1e-9:
            motion.append((simulation.stamp, simulation.distance_m))
    spans = loop.run_log.state_spans()
    blamed = tuple((item.t, item.kind) for item in simulation.infractions if item.at_fault)
    visits = tuple(StateVisit(span.label, span.t_from, span.t_to) for span in spans if span.label)
    return ReferenceDrive(str(driven.file), visits, simulation.end or "time", tuple(motion), blamed, simulation.dt)


def drive_cells(group: CellGroup) -> None:
    """Drive all cells of a group, by time, and write the file of each.

    Raises:
        InputError: the scenario cannot be driven.
    """
    loop = group.driven.loop()
    gc.freeze()
    by_time = sorted(group.cells, key=lambda cell: (cell.at_s or 0.0, cell.name))
    for at_s, together in groupby(by_time, key=lambda cell: cell.at_s or 0.0):
        while not loop.simulation.finished and loop.simulation.stamp < at_s - 1e-6:
            loop.frame()
        for cell in together:
            _in_a_copy(loop, cell, group)


def _in_a_copy(loop: VehicleLoop, cell: FaultCell, group: CellGroup) -> None:
    """Drive a cell in a copy of this process and wait for its end; a copy that dies is an error of the cell."""
    child = os.fork()
    if child == 0:
        try:
            write_cell(group.folder, cell, drive_cell(loop, cell, group.reference, group.duration_s))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    if not cell_file(group.folder, cell).exists():
        write_cell(group.folder, cell, {"verdict": CellVerdict.ERROR.value, "detail": "the process of the cell died"})


def cell_file(folder: Path, cell: FaultCell) -> Path:
    """Of what came of a cell."""
    return folder / "cells" / f"{cell.name}.json"


def write_cell(folder: Path, cell: FaultCell, said: Mapping[str, Any]) -> None:
    """Write it."""
    write_file(cell_file(folder, cell), json.dumps({**vars(cell), **said}) + "\n")


def drive_cell(loop: VehicleLoop, cell: FaultCell, reference: ReferenceDrive, duration_s: float) -> dict[str, Any]:
    """Inject the fault of a cell on the present frame of a run and drive on until it can be judged.

    Returns its verdict, with why in words, when the car had gone on (s after the fault's end, None: never), and the
    last state and reason.
    """
    if loop.simulation.finished or loop.state != cell.state:
        said = f"in {loop.state or 'no state'} at {loop.simulation.stamp:.2f} s"
        return {"verdict": CellVerdict.NOT_REACHED.value, "detail": said}
    began, rows = loop.simulation.stamp, len(loop.run_log.rows)
    loop.node_log.errors.clear()
    failed: tuple[str, ...] = ()
    recovered_s = None
    try:
        recovered_s = _drive_through(loop, cell, reference, duration_s)
    except Exception as error:
        failed = (in_one_line(error),)
    loop.run_log.rows = loop.run_log.rows[rows:]
    last: LogRow | None = loop.run_log.rows[-1] if loop.run_log.rows else None
    reason = "" if last is None else " ".join(filter(None, (last.limit.reason.value, last.limit.detail)))
    evidence = CellEvidence(
        errors=(*loop.node_log.errors, *failed),
        at_fault=tuple(
            (each.t, each.kind, each.detail) for each in loop.simulation.infractions if each.at_fault and each.t > began
        ),
        known=tuple(kind for t, kind in reference.at_fault if began < t <= loop.simulation.stamp),
        unreported_s=loop.run_log.longest_unexplained_stop_s(),
        recovered_s=recovered_s,
        state=loop.state,
        reason=reason,
    )
    verdict, detail = judge(evidence)
    return {
        "verdict": verdict.value, "detail": detail, "recovered_s": recovered_s, "end": loop.simulation.end,
        "last_state": loop.state, "last_reason": reason,
    }  # fmt: skip


def _drive_through(loop: VehicleLoop, cell: FaultCell, reference: ReferenceDrive, duration_s: float) -> float | None:
    """The fault, what comes after it, and some seconds more. Returns how long after its end the car had gone on, s."""
    simulation, fault = loop.simulation, BY_NAME[cell.fault]
    began = simulation.stamp
    _with_fault(loop, fault, cell.name, duration_s)
    ended, from_m = simulation.stamp, simulation.distance_m
    target = RecoveryTarget.after(reference, began, ended)
    recovered: float | None = None
    until = target.until_s
    while not simulation.finished and simulation.stamp < (until if recovered is None else recovered + SETTLE_S):
        loop.frame()
        if recovered is None and simulation.distance_m - from_m >= target.metres:
            recovered = simulation.stamp
        if _is_denied_a_route(loop):
            until += simulation.dt
    if recovered is None and simulation.end in ENDS_WELL:
        recovered = simulation.stamp
    return None if recovered is None else round(recovered - ended, 3)


def _is_denied_a_route(loop: VehicleLoop) -> bool:
    """Whether the car has no route and the scenario's own server gives none: a fault that is not over yet."""
    behaviour = loop.simulation.server.settings.behaviour
    return behaviour is not ServerBehaviour.WELL and loop.run_log.rows[-1].limit.reason is Reason.NO_ROUTE


def _with_fault(loop: VehicleLoop, fault: InjectedFault, name: str, duration_s: float) -> None:
    until = loop.simulation.stamp + duration_s
    loop.inject(fault, name)
    while not loop.simulation.finished and loop.simulation.stamp < until - 1e-6:
        loop.frame()
    loop.end(fault)


def cells_by_scenario(cells: Sequence[FaultCell]) -> dict[str, tuple[FaultCell, ...]]:
    """Those that have a scenario, by it, in the order in which scenarios come first."""
    found: dict[str, list[FaultCell]] = {}
    for cell in cells:
        if cell.scenario is not None:
            found.setdefault(cell.scenario, []).append(cell)
    return {scenario: tuple(own) for scenario, own in found.items()}

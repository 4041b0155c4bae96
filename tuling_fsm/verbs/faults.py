"""`faults`: each fault of the table into each state, and what becomes of the car."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import put_between_marks, write_file
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.terminal import Style, styled
from tuling_fsm.verbs.parser import (
    Verbs,
    add_parameters,
    add_seed,
    add_verb,
    chosen_parameters,
    finite,
    folder,
    path,
    written,
)

if TYPE_CHECKING:
    from tuling_fsm.fault_injection.driving import DrivenScenario
    from tuling_fsm.fault_injection.matrix import FaultMatrix

PHASES = ("entry", "middle", "late")
"""As `fault_injection.cells.Phase`, which is not read before there is something to drive."""
SCENARIOS = (
    "scenarios/junction_lights.osc",
    "scenarios/regression.osc",
    "scenarios/solid_line_free.osc",
    "scenarios/no_line_free.osc",
    "scenarios/replan.osc",
    "scenarios/explore.osc",
    "scenarios/junction_by_hand.osc",
    "faults/beside_junction.osc",
    "faults/bays.osc",
    "faults/garage.osc",
)
"""In `config/`: short ones that visit every state between them."""
MOST_DURATION_S = 120.0


def add_faults(verbs: Verbs) -> None:
    """The matrix of faults, states and phases."""
    parser = add_verb(
        verbs,
        "faults",
        _faults,
        "faults injected into the closed loop, each in each state: what becomes of the car",
        "tuling-fsm faults --fault messages_lost --state on_road/normal --out out/faults",
    )
    parser.add_argument(
        "scenarios", type=path, nargs="*", metavar="SCENARIO",
        help="where the states are visited (default: short ones of this package that visit every state)",
    )  # fmt: skip
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME", help="this one; several times (default all)"
    )
    parser.add_argument(
        "--state", action="append", default=[], metavar="NAME", help="this one; several times (default all)"
    )
    parser.add_argument(
        "--phase",
        action="append",
        choices=PHASES,
        help="when in a state: as it is entered, half-way, before it is left",
    )
    parser.add_argument("--duration", type=finite, default=5.0, metavar="S", help="of a fault, s (default %(default)s)")
    parser.add_argument("--map", type=path, metavar="F", help="OpenDRIVE map instead of the scenarios' own")
    add_parameters(parser)
    add_seed(parser)
    parser.add_argument("--workers", type=int, metavar="N", help="processes at a time (default one a processor)")
    parser.add_argument("--out", type=folder, metavar="DIR", help="folder of faults.json, and of a file for each cell")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the matrix in the folder: what it has driven is kept"
    )
    parser.add_argument("--json", action="store_true", help="print faults.json on standard output")
    parser.add_argument("--markdown", type=written, metavar="F", help="write the table between the marks of this page")


def _faults(arguments: argparse.Namespace) -> int:
    from tuling_fsm.compiling import compile_kernels
    from tuling_fsm.fault_injection import table
    from tuling_fsm.fault_injection.matrix import run_matrix

    if arguments.resume and arguments.out is None:
        raise InputError("--resume", "no folder to go on in", "--out DIR of the matrix")
    with ExitStack() as stack:
        out = arguments.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        matrix = _matrix(arguments, out)
        with ProgressDisplay() as progress:
            compile_kernels(report=progress)
            results = run_matrix(matrix, progress)
    held = table.holds(results)
    content = {"held": held, "duration_s": arguments.duration, "seed": arguments.seed, "cells": results}
    try:
        if arguments.out is not None:
            write_file(arguments.out / "faults.json", json.dumps(content, indent=1) + "\n")
        if (file := arguments.markdown) is not None:
            page = file.read_text(encoding="utf-8")
            write_file(file, put_between_marks(page, "faults", table.markdown(results), file))
    finally:  # What was found is told, whatever becomes of the files.
        if arguments.json:
            print(json.dumps(content))
        else:
            _print(list(table.text(results)), held)
    return 0 if held else 1


def _print(lines: Sequence[str], held: bool) -> None:
    print(styled(lines[0], Style.HEADING, sys.stdout), *lines[1:-1], sep="\n")
    print(styled(lines[-1], Style.GOOD if held else Style.BAD, sys.stdout))


def _matrix(arguments: argparse.Namespace, out: Path) -> FaultMatrix:
    """What is asked for, with everything that can be told to be wrong before anything is driven.

    Raises:
        InputError: an unknown fault or state, a number out of range, two scenarios of one name, a file that is not
            usable.
    """
    from tuling_fsm.fault_injection.cells import STATES, Phase
    from tuling_fsm.fault_injection.faults import faults_named
    from tuling_fsm.fault_injection.matrix import FaultMatrix

    for state in arguments.state:
        if state not in STATES:
            raise InputError("--state", f"{state!r} is no state that is entered", f"one of {', '.join(STATES)}")
    if not 0.0 < arguments.duration <= MOST_DURATION_S:
        raise InputError("--duration", f"{arguments.duration:g} s", f"more than 0 and at most {MOST_DURATION_S:g} s")
    if arguments.workers is not None and arguments.workers < 1:
        raise InputError("--workers", str(arguments.workers), "1 or more")
    scenarios = _scenarios(arguments)
    return FaultMatrix(
        scenarios=scenarios,
        folder=out,
        faults=faults_named(arguments.fault),
        states=tuple(state for state in STATES if not arguments.state or state in arguments.state),
        phases=tuple(Phase(name) for name in PHASES if not arguments.phase or name in arguments.phase),
        duration_s=arguments.duration,
        resume=arguments.resume,
        workers=arguments.workers or min(len(scenarios), os.cpu_count() or 1),
    )


def _scenarios(arguments: argparse.Namespace) -> tuple[DrivenScenario, ...]:
    from tuling_fsm.fault_injection.driving import DrivenScenario
    from tuling_fsm.run import chosen_map
    from tuling_fsm.share import share_file
    from tuling_fsm.sim.scenario.compiler import load_scenario

    files = arguments.scenarios or [share_file("config", *name.split("/")) for name in SCENARIOS]
    names = [file.stem for file in files]
    for file in files:
        if names.count(file.stem) > 1:
            raise InputError(str(file), f"a second scenario {file.stem}", "each of another name")
    values = chosen_parameters(arguments.parameters)
    maps = [chosen_map(load_scenario(file, {}), arguments.map) for file in files]
    for map_file in maps:
        if not map_file.is_file():
            raise InputError(str(map_file), "no such file", "an OpenDRIVE map")
    return tuple(DrivenScenario(file, of, arguments.seed, values) for file, of in zip(files, maps, strict=True))

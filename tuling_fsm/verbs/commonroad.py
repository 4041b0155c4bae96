"""The verb `commonroad`: a scenario of CommonRoad as a map and a bag, or driven by the planner in closed loop."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import keep_inputs
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.verbs.parser import DEFAULT_SEED, Verbs, add_seed, add_verb, folder, path

SOLUTION = "solution.xml"
TRAFFIC = ("recorded", "sumo")


def add_commonroad(verbs: Verbs) -> None:
    """A CommonRoad scenario to a map and a bag; with `--drive`, driven."""
    parser = add_verb(
        verbs,
        "commonroad",
        _commonroad,
        "turn a CommonRoad scenario into a map and a bag for replay, or drive it",
        "tuling-fsm commonroad scenario.xml --drive --out out/ngsim",
    )
    parser.add_argument("scenario", type=path, metavar="SCENARIO.xml", help="CommonRoad 2018b or 2020a")
    parser.add_argument("--out", type=folder, required=True, metavar="DIR", help="gets map.xodr and run.mcap")
    parser.add_argument(
        "--ego", metavar="ID", help="recorded car that is the ego (default the one that drives farthest)"
    )
    parser.add_argument("--drive", action="store_true", help=f"the planner drives; writes {SOLUTION} too")
    parser.add_argument(
        "--traffic", choices=TRAFFIC, default=TRAFFIC[0],
        help="what moves the others of a drive: the recording, or SUMO, which answers to the car (the extra "
        "`commonroad`; default recorded)",
    )  # fmt: skip
    add_seed(parser)
    parser.add_argument("--problem", metavar="ID", help="planning problem that is driven (default the first one)")


def _commonroad(arguments: argparse.Namespace) -> int:
    if arguments.drive and arguments.ego is not None:
        raise InputError("--ego", "no recorded car is the ego of a drive", "--problem, or no --drive")
    if arguments.problem is not None and not arguments.drive:
        raise InputError("--problem", "nothing is driven", "--drive with it")
    if arguments.traffic != TRAFFIC[0] and not arguments.drive:
        raise InputError("--traffic", "nothing is driven", "--drive with it")
    if arguments.seed != DEFAULT_SEED and arguments.traffic == TRAFFIC[0]:
        raise InputError("--seed", "nothing in a recording is random", "--traffic sumo with it")
    return _drive(arguments) if arguments.drive else _convert(arguments)


def _convert(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.commonroad.convert import MAP_NAME, convert

    _keep_scenario(arguments, MAP_NAME)
    with ProgressDisplay() as progress:
        done = convert(arguments.scenario, arguments.out, arguments.ego, progress=progress)
    _say_lost(done.lost)
    print(f"{done.lanes} lanes, car {done.ego}: {done.ticks} ticks, {done.transitions} changes of state, "
          f"a route of {done.route_m:.0f} m")  # fmt: skip
    return 0


def _drive(arguments: argparse.Namespace) -> int:
    """0 where the problem is solved, else 1."""
    from tuling_fsm.bag.commonroad.drive import MAP_NAME, drive_agent, prepare
    from tuling_fsm.bag.commonroad.reactive import ReactiveTraffic
    from tuling_fsm.bag.commonroad.scenario import read_recording
    from tuling_fsm.bag.commonroad.solution import solution_xml
    from tuling_fsm.bag.commonroad.verdict import judge

    _keep_scenario(arguments, MAP_NAME, SOLUTION)
    recording = read_recording(arguments.scenario)
    _say_lost(recording.lost)
    loop = prepare(recording, arguments.out, arguments.problem)
    reacts = arguments.traffic != TRAFFIC[0]
    traffic = ReactiveTraffic(arguments.scenario, arguments.out, arguments.seed) if reacts else None
    with ProgressDisplay() as progress:
        driven = drive_agent(loop, arguments.out, progress=progress, traffic=traffic)
    (arguments.out / SOLUTION).write_bytes(solution_xml(recording, driven))
    verdict = judge(loop, driven)
    print(f"problem {driven.problem.id}, {len(driven.states)} states: {verdict.words()}")
    return 0 if verdict.solved else 1


def _keep_scenario(arguments: argparse.Namespace, *names: str) -> None:
    """Raise `InputError` where it would be written over by a file of one of these names, or by those of a bag."""
    from tuling_fsm.bag.writer import DERIVED, DESCRIPTION, FILE_NAME

    written = (*names, FILE_NAME, DESCRIPTION, *DERIVED)
    keep_inputs((arguments.out / name for name in written), [arguments.scenario])


def _say_lost(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)

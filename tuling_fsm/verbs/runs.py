"""`demo` and `sim`: closed-loop runs."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.run_settings import OWN, PLANNERS, RunSettings
from tuling_fsm.sim.sensors.perception_levels import CLEAN
from tuling_fsm.terminal import Style, styled
from tuling_fsm.verbs.parser import (
    Verbs,
    add_overrides,
    add_parameters,
    add_perception,
    add_seed,
    add_traffic,
    add_verb,
    chosen_parameters,
    folder,
    path,
    port,
)

if TYPE_CHECKING:
    from tuling_fsm.dashboard import Dashboard, LineDisplay
    from tuling_fsm.viewer.live.process import LiveView

LOOPBACK = "127.0.0.1"
"""As `viewer.live.server.LOOPBACK`, which is not read before there is something to show."""
WRITTEN = ("report.html", "result.json", "run.mcap")
"""What a run may leave; what an earlier one has left is removed when it begins."""


def add_demo(verbs: Verbs) -> None:
    """The main job on the embedded course."""
    parser = add_verb(
        verbs,
        "demo",
        _demo,
        "drive the embedded course: planner, simulator and route server under ROS 2",
        "tuling-fsm demo --seed 3 --out out/demo",
    )
    add_seed(parser)
    parser.add_argument(
        "--out",
        type=folder,
        default=Path("out/demo"),
        metavar="DIR",
        help="folder of the results (default %(default)s)",
    )
    _add_view(parser)
    _add_json(parser)


def add_sim(verbs: Verbs) -> None:
    """One run of any scenario."""
    parser = add_verb(
        verbs,
        "sim",
        _sim,
        "one closed-loop run of a scenario",
        "tuling-fsm sim config/scenarios/roam.osc --seed 3 --set length_m=400 --out out/roam",
    )
    parser.add_argument("scenario", type=path, metavar="SCENARIO", help="OpenSCENARIO: DSL (.osc) or XML (.xosc)")
    parser.add_argument("--map", type=path, metavar="F", help="OpenDRIVE map instead of the scenario's own")
    parser.add_argument(
        "--mission", type=path, metavar="F", help="mission (JSON) instead of the scenario's own mission or route"
    )
    add_seed(parser)
    add_overrides(parser, "the scenario")
    add_parameters(parser)
    add_perception(parser)
    parser.add_argument(
        "--out", type=folder, metavar="DIR", help="folder of run.mcap, result.json, report.html and pictures.html"
    )
    parser.add_argument(
        "--no-film", action="store_true",
        help="only the bag and result.json, a third quicker; `tuling-fsm report` makes the film of a bag at any time",
    )  # fmt: skip
    parser.add_argument(
        "--planner", choices=PLANNERS, default=PLANNERS[0],
        help="what drives: this planner, or the Intelligent Driver Model or PDM-Closed to compare with "
        "(default %(default)s)",
    )  # fmt: skip
    add_traffic(parser)
    parser.add_argument("--ros", action="store_true", help="as ROS 2 processes instead of in this one")
    _add_view(parser)
    _add_json(parser)


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--view", action="store_true", help="show it in a browser while it drives; the address is printed on stderr"
    )
    parser.add_argument(
        "--view-host", metavar="ADDRESS",
        help=f"where the page is listened for: 0.0.0.0 shows it to other machines too (default {LOOPBACK})",
    )  # fmt: skip
    parser.add_argument("--view-port", type=port, metavar="N", help="its port (default: one that is free)")


def _view(arguments: argparse.Namespace, progress: Dashboard | LineDisplay) -> LiveView | None:
    host, number = arguments.view_host, arguments.view_port
    if not arguments.view:
        if host is not None or number is not None:
            option = "--view-port" if host is None else "--view-host"
            raise InputError(option, "changes nothing here", "--view with it")
        return None
    from tuling_fsm.viewer.live.process import LiveView

    return LiveView(LOOPBACK if host is None else host, number or 0, progress.note)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print result.json on standard output")


def _demo(arguments: argparse.Namespace) -> int:
    from tuling_fsm.dashboard import display
    from tuling_fsm.ros.processes import run_processes
    from tuling_fsm.share import share_file

    scenario = share_file("config", "scenarios", "demo.osc")
    with display() as progress:
        result = run_processes(
            RunSettings(scenario, arguments.seed),
            out=arguments.out,
            progress=progress,
            view=_view(arguments, progress),
            status=progress.show,
        )
    return _finish(result, arguments.out, arguments.json)


def _sim(arguments: argparse.Namespace) -> int:
    from tuling_fsm.dashboard import display
    from tuling_fsm.sim.scenario.compiler import load_scenario

    overrides = assignments(arguments.overrides)
    if arguments.ros:
        if arguments.planner != "agent":
            raise InputError("--planner", f"{arguments.planner} has no node of its own", "agent with --ros")
        if arguments.perception != CLEAN:
            raise InputError("--perception", "steps in lock-step wait for what comes late", f"{CLEAN} with --ros")
        if arguments.traffic != OWN:
            raise InputError("--traffic", f"{arguments.traffic} drives beside no nodes", f"{OWN} with --ros")
        if arguments.no_film:
            raise InputError("--no-film", "processes leave all there is", "no --no-film with --ros")
        from tuling_fsm.ros.processes import run_processes as run
    else:
        from tuling_fsm.run import run_scenario

        run = functools.partial(run_scenario, film=not arguments.no_film)
    settings = RunSettings(
        arguments.scenario, arguments.seed, tuple(overrides.items()), arguments.map, arguments.mission,
        arguments.planner, arguments.perception, arguments.traffic, chosen_parameters(arguments.parameters),
    )  # fmt: skip
    notes = load_scenario(arguments.scenario, overrides).notes
    for note in notes:
        print(note, file=sys.stderr)
    with display() as progress:
        result = run(
            settings,
            out=arguments.out,
            progress=progress,
            view=_view(arguments, progress),
            status=progress.show,
        )
    for note in [note for note in result["notes"] if note not in notes]:
        print(note, file=sys.stderr)
    return _finish(result, arguments.out, arguments.json)


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """Names and values of all `--set`.

    Raises:
        InputError: one sets nothing, or what another sets.
    """
    values: dict[str, str] = {}
    for name, value in map(assignment, texts):
        if name in values:
            raise InputError("--set", f"{name} is given twice", "each variable once")
        values[name] = value
    return values


def assignment(text: str) -> tuple[str, str]:
    """Name and value of a `--set`.

    Raises:
        InputError: it sets nothing.
    """
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InputError("--set", f"{text!r} sets nothing", "NAME=VALUE")
    return name.strip(), value.strip()


def _finish(result: dict[str, Any], out: Path | None, as_json: bool) -> int:
    """Print what a run came to; exit 0 when it reached its end without an infraction at fault."""
    faults = [item for item in result["infractions"] if item["at_fault"]]
    if as_json:
        print(json.dumps(result))
    else:
        verdict = _styled_verdict(result["finished"], bool(faults))
        distance, sim_s, wall_s = (result[name] for name in ("distance_m", "sim_s", "wall_s"))
        served = f", passengers served: {result['services']}" if result["services"] else ""
        print(f"{verdict} ({result['end']}): {distance:.0f} m in {sim_s:.1f} s{served}, {wall_s:.1f} s of wall time")
        print(f"  {scores_line(result['score'])}")
        for item in faults:
            fault = f"  at fault, {item['t']:.2f} s: {item['kind']}, {item['detail']}"
            print(styled(fault, Style.BAD, sys.stdout))
        if out is not None:
            print(f"  {', '.join(str(out / name) for name in WRITTEN if (out / name).is_file())}")
    return 0 if result["finished"] and not faults else 1


def _styled_verdict(finished: bool, at_fault: bool) -> str:
    style = Style.GOOD if finished and not at_fault else Style.WARNING if finished else Style.BAD
    return styled("finished" if finished else "not finished", style, sys.stdout)


def scores_line(score: Mapping[str, float]) -> str:
    """Both public scores, in words."""
    return f"closed loop (nuPlan) {score['closed_loop']:.2f}, driving (CARLA leaderboard 2.1) {score['driving']:.2f}"

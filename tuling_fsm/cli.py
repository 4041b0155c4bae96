"""`tuling-fsm`: one entry point, one function a verb.

Exit 0 on success, 1 when what was asked does not hold, 2 for bad usage or bad input (one line on standard error).
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose

Verb = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the return value is the exit code."""
    arguments = _parser().parse_args(argv)
    verb: Verb = arguments.verb
    try:
        return verb(arguments)
    except InputError as error:
        print(error, file=sys.stderr)
    except FileNotFoundError as error:
        print(f"{error.filename}: no such file", file=sys.stderr)
    except (IsADirectoryError, PermissionError) as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tuling-fsm", description="Hierarchical state-machine planner and its simulator."
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in (_add_demo, _add_sim, _add_replay, _add_plan, _add_map, _add_route, _add_diagram):
        add(verbs)
    return parser


def _verb(verbs: Any, name: str, verb: Verb, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=text)
    parser.set_defaults(verb=verb)
    return parser


def _add_demo(verbs: Any) -> None:
    parser = _verb(verbs, "demo", _demo, "drive the embedded course: planner, simulator and route server under ROS 2")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=Path("out/demo"), help="folder of the results (default %(default)s)"
    )


def _add_sim(verbs: Any) -> None:
    parser = _verb(verbs, "sim", _sim, "one closed-loop run of a scenario")
    parser.add_argument("scenario", type=Path, metavar="SCENARIO.osc")
    parser.add_argument("--map", type=Path, metavar="F", help="OpenDRIVE map instead of the scenario's own")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a variable of the scenario",
    )
    parser.add_argument("--out", type=Path, help="folder of run.mcap, result.json and report.html")
    parser.add_argument("--ros", action="store_true", help="as ROS 2 processes instead of in this one")
    parser.add_argument("--json", action="store_true", help="print result.json on standard output")


def _add_replay(verbs: Any) -> None:
    parser = _verb(
        verbs, "replay", _replay, "feed a rosbag2 to the planner by its own stamps and compare the transitions"
    )
    parser.add_argument("bag", type=Path, metavar="BAG")
    parser.add_argument("--against", type=Path, metavar="BAG", help="compare with the transitions of this bag")
    parser.add_argument("--map", type=Path, metavar="F", help="OpenDRIVE map instead of the one that the bag names")
    parser.add_argument("--salvage", action="store_true", help="use what can be read of a damaged bag")


def _add_plan(verbs: Any) -> None:
    parser = _verb(verbs, "plan", _plan, "solve a free-space case in TPCAP format")
    parser.add_argument("case", type=Path, metavar="CASE.csv")
    parser.add_argument("--json", action="store_true", help="print the whole answer as one JSON object")


def _add_map(verbs: Any) -> None:
    parser = _verb(verbs, "map", _map, "what the map reader sees in an OpenDRIVE file")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--png", type=Path, metavar="F", help="draw the map")
    parser.add_argument("--at", type=float, nargs=2, metavar=("X", "Y"), help="what is at a point (m)")
    parser.add_argument("--points", type=Path, metavar="CSV", help="what is at each x,y[,z] row of a file")


def _add_route(verbs: Any) -> None:
    parser = _verb(verbs, "route", _route, "the route server's answer")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--from", dest="start", type=float, nargs=2, required=True, metavar=("X", "Y"))
    parser.add_argument("--to", dest="goal", type=float, nargs=2, required=True, metavar=("X", "Y"))
    parser.add_argument("--blocked", action="append", default=[], metavar="ROAD", help="a road that cannot be driven")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_diagram(verbs: Any) -> None:
    _verb(verbs, "diagram", _diagram, "the state machine as Mermaid, from its tables")


def _demo(arguments: argparse.Namespace) -> int:
    from tuling_fsm.ros.processes import run_processes
    from tuling_fsm.share import share_file

    scenario = share_file("config", "scenarios", "demo.osc")
    result = run_processes(
        scenario, seed=arguments.seed, out=arguments.out, progress=_progress() or _every_tenth_line()
    )
    return _finish(result, arguments.out, as_json=False)


def _sim(arguments: argparse.Namespace) -> int:
    overrides = dict(_assignment(text) for text in arguments.overrides)
    if arguments.ros:
        from tuling_fsm.ros.processes import run_processes as run
    else:
        from tuling_fsm.run import run_scenario as run
    result = run(
        arguments.scenario,
        map_file=arguments.map,
        seed=arguments.seed,
        overrides=overrides,
        out=arguments.out,
        progress=_progress(),
    )
    return _finish(result, arguments.out, arguments.json)


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise InputError("--set", f"{text!r} sets nothing", "NAME=VALUE")
    return name.strip(), value.strip()


def _finish(result: dict[str, Any], out: Path | None, as_json: bool) -> int:
    """Print what a run came to; exit 0 when it reached its end without an infraction at fault."""
    faults = [item for item in result["infractions"] if item["at_fault"]]
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if as_json:
        print(json.dumps(result))
    else:
        verdict = "finished" if result["finished"] else "not finished"
        distance, sim_s, wall_s = (result[name] for name in ("distance_m", "sim_s", "wall_s"))
        print(f"{verdict} ({result['end']}): {distance:.0f} m in {sim_s:.1f} s, {wall_s:.1f} s of wall time")
        for item in faults:
            print(f"  at fault, {item['t']:.2f} s: {item['kind']}, {item['detail']}")
        if out is not None:
            print(f"  {out / 'report.html'}, {out / 'result.json'}, {out / 'run.mcap'}")
    return 0 if result["finished"] and not faults else 1


def _progress() -> Callable[[str], None] | None:
    """A line that is written over while a person watches; nothing otherwise."""
    if not sys.stderr.isatty():
        return None
    return lambda text: print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)


def _every_tenth_line() -> Callable[[str], None]:
    """For a log: now and then a line that stays."""
    count = itertools.count()
    return lambda text: None if next(count) % 10 else print(text, file=sys.stderr, flush=True)


def _replay(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.replay import replay

    differences = replay(
        arguments.bag,
        against=arguments.against,
        map_file=arguments.map,
        salvage=arguments.salvage,
        report=lambda line: print(line, file=sys.stderr),
    )
    for line in differences:
        print(line)
    return 1 if differences else 0


def _plan(arguments: argparse.Namespace) -> int:
    from tuling_fsm.planning.free_space.tpcap import solve_case

    answer = solve_case(arguments.case, clock=time.perf_counter)
    solved = answer["status"] == "ok"
    if arguments.json:
        print(json.dumps(answer))
    elif solved:
        print(
            f"{answer['length_m']:.1f} m with {answer['cusps']} gear changes; "
            f"first path after {answer['first_path_ms']:.2f} ms, trajectory after {answer['elapsed_ms']:.1f} ms"
        )
    else:
        print(f"no plan: {answer['reason']}")
    return 0 if solved else 1


def _map(arguments: argparse.Namespace) -> int:
    from tuling_fsm.map import query
    from tuling_fsm.map.opendrive import read_map

    road_map = read_map(arguments.file)
    answer = query.summary(road_map)
    if arguments.at:
        answer["at"] = query.at(road_map, *arguments.at)
    if arguments.points:
        answer["points"] = [query.at(road_map, *point) for point in _read_points(arguments.points)]
    if arguments.png:
        from tuling_fsm.map.draw import draw_map

        draw_map(road_map, arguments.png)
    if arguments.json:
        print(json.dumps(answer))
    else:
        for name, value in answer.items():
            print(f"{name}: {value}")
    return 0


def _read_points(file: Path) -> list[tuple[float, ...]]:
    """Rows x, y or x, y, z (m)."""
    points = []
    with file.open(newline="", encoding="utf-8") as stream:
        for number, row in enumerate(csv.reader(stream), start=1):
            try:
                point = tuple(float(cell) for cell in row)
            except ValueError:
                point = ()
            if len(point) not in (2, 3):
                raise InputError(f"{file}:{number}", f"{','.join(row)!r} is no point", "x,y or x,y,z in metres")
            points.append(point)
    return points


def _route(arguments: argparse.Namespace) -> int:
    from tuling_fsm.map.opendrive import read_map
    from tuling_fsm.map.routing import plan_route

    road_map = read_map(arguments.file)
    start, goal = (_pose_on_lane(road_map, *point) for point in (arguments.start, arguments.goal))
    blocked = [lane for lane in road_map.lanes if lane.road in arguments.blocked]
    answer = plan_route(road_map, start, goal, blocked)
    lanes = [] if answer.route is None else [[*stretch.lane] for stretch in answer.route.lanes]
    length = 0.0 if answer.route is None else answer.route.length
    if arguments.json:
        poses = [] if answer.route is None else answer.route.poses().tolist()
        print(json.dumps({"status": answer.status, "length_m": length, "lanes": lanes, "poses": poses}))
    else:
        print(f"{answer.status}: {length:.1f} m over {len(lanes)} lanes")
        for road, section, lane in lanes:
            print(f"  road {road}, section {section}, lane {lane}")
    return 0 if answer.route is not None else 1


def _pose_on_lane(road_map: Any, x: float, y: float) -> Pose:
    position = road_map.project(x, y)
    return Pose(x, y, position.heading if position else 0.0)


def _diagram(arguments: argparse.Namespace) -> int:
    from tuling_fsm.behaviour import table
    from tuling_fsm.machine.mermaid import mermaid

    print(mermaid(table()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

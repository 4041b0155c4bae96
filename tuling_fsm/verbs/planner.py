"""The verbs about the planner itself: `plan` and `bench`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

from tuling_fsm.output_file import keep_inputs
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.verbs.parser import Verbs, add_verb, path, written


def add_plan(verbs: Verbs) -> None:
    """A case in TPCAP format."""
    parser = add_verb(
        verbs, "plan", _plan, "solve a free-space case in TPCAP format", "tuling-fsm plan case.csv --html case.html"
    )
    parser.add_argument("case", type=path, metavar="CASE.csv", help="start, goal and polygons")
    parser.add_argument("--json", action="store_true", help="print the whole answer as one JSON object")
    parser.add_argument("--png", type=written, metavar="F", help="draw the manoeuvre")
    parser.add_argument("--html", type=written, metavar="F", help="the manoeuvre as a film in one HTML file")


def _plan(arguments: argparse.Namespace) -> int:
    from tuling_fsm.planning.free_space.tpcap import solve_case

    keep_inputs((arguments.png, arguments.html), [arguments.case])
    answer = solve_case(arguments.case, clock=time.perf_counter)
    _show_plan(arguments, answer)
    solved = answer["status"] == "ok"
    if arguments.json:
        print(json.dumps(answer))
    elif solved:
        many = "" if answer["cusps"] == 1 else "s"
        print(
            f"{answer['length_m']:.1f} m with {answer['cusps']} gear change{many}; "
            f"first path after {answer['first_path_ms']:.2f} ms, trajectory after {answer['elapsed_ms']:.1f} ms"
        )
    else:
        print(f"no plan: {answer['reason']}")
    return 0 if solved else 1


def _show_plan(arguments: argparse.Namespace, answer: Mapping[str, Any]) -> None:
    if not (arguments.png or arguments.html):
        return
    from tuling_fsm.viewer.parking_case import case_result

    result = case_result(arguments.case, answer)
    if arguments.png:
        from tuling_fsm.viewer.plan_picture import draw_plan

        draw_plan(arguments.png, result, answer)
    if arguments.html:
        from tuling_fsm.viewer.plan_page import write_plan_page

        write_plan_page(arguments.html, result, answer)


def add_bench(verbs: Verbs) -> None:
    """All benchmarks, or one."""
    parser = add_verb(
        verbs,
        "bench",
        _bench,
        "run the benchmarks against their peers, in one run",
        "tuling-fsm bench free_space",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="only this one, a module of benchmark/ (default all)")


def _bench(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bench import bench

    with ProgressDisplay() as progress:

        def say(text: str) -> None:
            progress.clear()
            print(text, flush=True)

        bench(arguments.name, say=say, progress=progress)
    return 0

"""`commonroad`: recorded human traffic as a bag."""

from __future__ import annotations

import argparse

from tuling_fsm.verbs.parser import Verbs, add_verb, folder, path


def add_commonroad(verbs: Verbs) -> None:
    """A CommonRoad scenario to a map and a bag."""
    parser = add_verb(verbs, "commonroad", _convert, "turn a CommonRoad scenario into a map and a bag for replay")
    parser.add_argument("scenario", type=path, metavar="SCENARIO.xml", help="CommonRoad 2018b or 2020a")
    parser.add_argument("--out", type=folder, required=True, metavar="DIR", help="gets map.xodr and run.mcap")
    parser.add_argument(
        "--ego", metavar="ID", help="recorded car that is the ego (default the one that drives farthest)"
    )


def _convert(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.commonroad.convert import convert

    done = convert(arguments.scenario, arguments.out, arguments.ego)
    print(f"{done.lanes} lanes, car {done.ego}: {done.ticks} ticks, {done.transitions} changes of state, "
          f"a route of {done.route_m:.0f} m")  # fmt: skip
    return 0

"""`map` and `route`: what there is to drive on, and the way over it."""

from __future__ import annotations

import argparse
import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.output_file import keep_inputs
from tuling_fsm.verbs.parser import Verbs, add_verb, finite, path, written

if TYPE_CHECKING:
    from tuling_fsm.map.road_map import RoadMap
    from tuling_fsm.map.route import Route

_NO_ROUTE = {
    "no_path": "no way over the lanes leads there",
    "start_off_road": "no driving lane is near the start",
    "goal_off_road": "no driving lane is near the goal",
    "start_blocked": "all lanes at the start are blocked",
    "goal_blocked": "all lanes at the goal are blocked",
}
"""What it means that there is no route."""
_UNITS = {
    **dict.fromkeys(("bounds", "length", "driving_length", "s", "offset", "width"), " m"),
    "heading": " rad",
}
"""Of what a map has, told in words."""
_SHOWN = 40
"""Letters of a row that is wrong, in the message."""


def add_map(verbs: Verbs) -> None:
    """What is in a map, and at its points."""
    parser = add_verb(
        verbs,
        "map",
        _map,
        "what the map reader sees in an OpenDRIVE file",
        "tuling-fsm map config/course/course.xodr --at 60 -2 --png town.png",
    )
    parser.add_argument("file", type=path, metavar="FILE", help="OpenDRIVE map (.xodr)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--png", type=written, metavar="F", help="draw the map")
    parser.add_argument("--html", type=written, metavar="F", help="the map as a page to read it and to pick poses from")
    parser.add_argument("--at", type=finite, nargs=2, metavar=("X", "Y"), help="what is at a point (m)")
    parser.add_argument("--points", type=path, metavar="CSV", help="what is at each x,y[,z] row of a file")


def add_route(verbs: Verbs) -> None:
    """The way from one place to another."""
    parser = add_verb(
        verbs,
        "route",
        _route,
        "the route server's answer",
        "tuling-fsm route config/course/course.xodr --from 20 -2 --to 150 160 --png way.png",
    )
    parser.add_argument("file", type=path, metavar="FILE", help="OpenDRIVE map (.xodr)")
    parser.add_argument(
        "--from", dest="start", type=finite, nargs=2, required=True, metavar=("X", "Y"), help="where (m)"
    )
    parser.add_argument(
        "--to", dest="goal", type=finite, nargs=2, required=True, metavar=("X", "Y"), help="where to (m)"
    )
    parser.add_argument("--blocked", action="append", default=[], metavar="ROAD", help="a road that cannot be driven")
    parser.add_argument("--png", type=written, metavar="F", help="draw the route on the map")
    parser.add_argument("--html", type=written, metavar="F", help="the route on the page of the map")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _map(arguments: argparse.Namespace) -> int:
    from tuling_fsm.map import query
    from tuling_fsm.map.opendrive import read_map

    keep_inputs((arguments.png, arguments.html), (arguments.file, arguments.points))
    road_map = read_map(arguments.file)
    answer = query.summary(road_map)
    if arguments.at:
        answer["at"] = query.at(road_map, *arguments.at)
    if arguments.points:
        answer["points"] = [query.at(road_map, *point) for point in _read_points(arguments.points)]
    if arguments.png:
        from tuling_fsm.map.picture import draw_map

        draw_map(road_map, arguments.png)
    if arguments.html:
        from tuling_fsm.viewer.map_page import write_map_page

        write_map_page(arguments.html, road_map)
    if arguments.json:
        print(json.dumps(answer))
    else:
        for name, value in answer.items():
            print(f"{name}: {_in_words(value)}{_UNITS.get(name, '')}")
    return 0


def _in_words(value: Any) -> str:
    """A part of an answer for people; lengths to the centimetre."""
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, dict):
        there = {name: part for name, part in value.items() if part is not None}
        parts = (f"{name} {_in_words(part)}{_UNITS.get(name, '')}" for name, part in there.items())
        return ", ".join(parts) or "nothing"
    if isinstance(value, list):
        nested = any(isinstance(part, str | dict) for part in value)
        if nested:
            return "".join(f"\n  {_in_words(part)}" for part in value)
        return ", ".join(map(_in_words, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _read_points(file: Path) -> list[tuple[float, ...]]:
    """Rows x, y or x, y, z (m). One that is not finite is nowhere, and keeps its place among the answers; an empty line
    is no row.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(str(file), "no text in UTF-8", "rows of x,y or x,y,z in metres")
    points = []
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        line = ",".join(row)
        if not line.strip():
            continue
        try:
            point = tuple(float(cell) for cell in row)
        except ValueError:
            point = ()
        if len(point) not in (2, 3):
            raise InputError(f"{file}:{number}", f"{line[:_SHOWN]!r} is no point", "x,y or x,y,z in metres")
        points.append(point)
    return points


def _route(arguments: argparse.Namespace) -> int:
    from tuling_fsm.map.opendrive import read_map
    from tuling_fsm.sim.environment.route_server import route_from

    keep_inputs((arguments.png, arguments.html), [arguments.file])
    road_map = read_map(arguments.file)
    start, goal = (_pose_on_lane(road_map, *point) for point in (arguments.start, arguments.goal))
    roads = {lane.road for lane in road_map.lanes}
    for road in arguments.blocked:
        if road not in roads:
            raise InputError(f"--blocked {road}", "no such road", f"a road of {arguments.file}")
    blocked = [lane for lane in road_map.lanes if lane.road in arguments.blocked]
    answer = route_from(road_map, start, goal, blocked)
    lanes = [] if answer.route is None else [[*stretch.lane] for stretch in answer.route.lanes]
    length = 0.0 if answer.route is None else answer.route.length
    shown = tuple(pose if math.isfinite(pose.heading) else pose._replace(heading=0.0) for pose in (start, goal))
    _show_route(arguments, road_map, answer.route, shown)
    if arguments.json:
        poses = [] if answer.route is None else answer.route.poses().tolist()
        print(json.dumps({"status": answer.status, "length_m": length, "lanes": lanes, "poses": poses}))
    elif answer.route is None:
        print(f"{answer.status}: {_NO_ROUTE[answer.status]}")
    else:
        print(f"{answer.status}: {length:.1f} m over {len(lanes)} lane{'s' * (len(lanes) != 1)}")
        for road, section, lane in lanes:
            print(f"  road {road}, section {section}, lane {lane}")
    return 0 if answer.route is not None else 1


def _show_route(arguments: argparse.Namespace, road_map: RoadMap, route: Route | None, ends: tuple[Pose, ...]) -> None:
    if arguments.png:
        from tuling_fsm.map.picture import draw_map

        draw_map(road_map, arguments.png, route)
    if arguments.html:
        from tuling_fsm.viewer.map_page import write_map_page

        write_map_page(arguments.html, road_map, route, ends)


def _pose_on_lane(road_map: RoadMap, x: float, y: float) -> Pose:
    position = road_map.project(x, y)
    return Pose(x, y, position.heading if position else math.nan)

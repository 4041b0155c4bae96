"""The readers of files as they are fuzzed: each reads as its verb does, and what it read has to make sense."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.bag.commonroad.drive import prepare
from tuling_fsm.bag.commonroad.roads import to_opendrive
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_recorded
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import flatten, load, nest
from tuling_fsm.fuzz.trial import BrokenRuleError
from tuling_fsm.map.matching import find_route
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.planning.free_space.search_tree import SearchTree
from tuling_fsm.planning.free_space.solver import new_tree
from tuling_fsm.planning.free_space.tpcap import read_case, solve_once
from tuling_fsm.ros.parameter_reader import planner_parameters
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scenario.xml.distributions import read_variations
from tuling_fsm.viewer.recording import FilmSource, record
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Outputs, trajectory_messages
from tuling_fsm.wire.text import parse_json
from tuling_fsm.world.inputs import Inputs, Odometry, RouteAnswer
from tuling_fsm.world.mission import parse_mission


@cache
def course() -> RoadMap:
    """The map of the embedded course."""
    return read_map(share_file("config", "course", "course.xodr"))


def read_map_file(file: Path) -> int:
    """The map; every number of every lane has to be one."""
    return _check_map(read_map(file))


def _check_map(road_map: RoadMap) -> int:
    for lane in road_map.lanes.values():
        where = f"lane {tuple(lane.id)}"
        _finite(where, lane.center.xy, lane.center.s, lane.center.heading, lane.left, lane.right, lane.z)
        if not np.all(np.diff(lane.center.s) > 0.0):
            raise BrokenRuleError(f"{where}: arc lengths that do not increase")
        if not 0.0 < lane.limit < 1e4:
            raise BrokenRuleError(f"{where}: a speed limit of {lane.limit:g} m/s")
    _finite("a crosswalk", *(each.outline for each in road_map.crosswalks))
    _finite("a parking space", *(each.outline for each in road_map.slots))
    _finite("an object", *(each.outline for each in road_map.objects))
    for line in road_map.stop_lines:
        _finite(f"stop line on {tuple(line.lane)}", np.array([line.s, line.x0, line.y0, line.x1, line.y1]))
    return 1


def _finite(where: str, *arrays: FloatArray) -> None:
    for array in arrays:
        if not np.isfinite(array).all():
            raise BrokenRuleError(f"{where} is not finite")


def read_scenario_file(file: Path) -> None:
    """A scenario in either language, or variations of one."""
    if file.suffix != ".xosc" or read_variations(file) is None:
        load_scenario(file)


@cache
def _tree() -> SearchTree:
    return new_tree()


def read_tpcap_file(file: Path) -> None:
    """A case, planned once."""
    solution = solve_once(read_case(file), lambda: 0.0, _tree())
    _finite("the trajectory", solution.rows, solution.motion)


def read_mission_file(file: Path) -> None:
    """A mission as the parameter `mission_file` names it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"no text: {error}", "a mission in UTF-8") from None
    parse_mission(parse_json(text, str(file)), 0.0)


def read_bag_file(file: Path) -> int:
    """A bag as `why`, `replay` and `report` read it, and once more as a damaged one."""
    refusal: InputError | None = None
    for salvage in (False, True):
        for read in (_timeline, _recorded, _inputs, _film):
            try:
                read(BagSource(file, salvage))
            except InputError as error:
                refusal = refusal or error
    if refusal is not None:
        raise refusal
    return 1


def _timeline(bag: BagSource) -> None:
    read_timeline(bag)


def _recorded(bag: BagSource) -> None:
    parameters = read_recorded(bag).run.get("parameters", {})
    if isinstance(parameters, Mapping):
        load(Parameters, nest(parameters))


def _inputs(bag: BagSource) -> None:
    for _ in read_inputs(replace(bag, report=lambda line: None)):
        pass


def _film(bag: BagSource) -> None:
    record(FilmSource(bag))


def bag_seeds() -> list[bytes]:
    """A bag of two seconds of a drive on the course."""
    road_map = course()
    route = random_route(road_map, np.random.default_rng(3), 60.0)
    agent, outputs = Agent(road_map), Outputs()
    pose, v = route.reference.at(0.0), 0.0
    goal = route.reference.at(route.length)._asdict()
    with TemporaryDirectory() as folder:
        with BagWriter(folder, {"map": "course.xodr", "parameters": flatten(agent.parameters)}) as bag:
            for k in range(40):
                stamp = 0.05 * k
                answers = (RouteAnswer(stamp, -1, route.poses()),) if k == 1 else ()
                tick = agent.step(
                    inputs := Inputs(
                        stamp, Odometry(stamp, pose, v, 0.0), route_answers=answers, mission={"goal": goal}
                    )
                )
                ns = nanoseconds(stamp)
                bag.write_tick(inputs, [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)])
                pose, _, v, _ = tick.trajectory.sample(stamp + 0.05)
        return [bag.path.read_bytes()]


def read_parameter_file(file: Path) -> None:
    """Parameters as `ros2 param dump` writes them and a launch file takes them."""
    planner_parameters(file)


def read_commonroad_file(file: Path) -> None:
    """A scenario, the map that is made of it, and the way to its goal."""
    recording = read_recording(file)
    with TemporaryDirectory() as folder:
        if recording.problems:
            _check_map(prepare(recording, Path(folder)).road_map)
            return
        made = Path(folder) / "map.xodr"
        made.write_bytes(to_opendrive(recording.name, recording.lanelets, recording.origin))
        _check_map(read_map(made))


def read_route_file(file: Path) -> None:
    """Poses of a pushed route, matched to the lanes of the course."""
    where = str(file)
    try:
        poses = parse_json(file.read_text(encoding="utf-8"), where).get("points")
        points = np.array(poses, dtype=np.float64).reshape(-1, 3)
    except (UnicodeDecodeError, TypeError, ValueError) as error:
        raise InputError(where, f"{error}", "points of x, y, heading") from None
    found = find_route(course(), points)
    if not isinstance(found, str):
        _finite("the route", found.reference.xy, found.reference.heading, found.reference.s)


def route_seeds() -> list[bytes]:
    """Poses of routes over the course."""
    routes = (random_route(course(), np.random.default_rng(k), length) for k, length in enumerate((40.0, 150.0, 600.0)))
    return [_text({"points": route.poses()[::4].round(3).tolist()}) for route in routes]


def _text(value: Mapping[str, Iterable[object]]) -> bytes:
    return json.dumps(value).encode()

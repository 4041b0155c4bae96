"""A loop that stands on a real scenario, and cells that are made by hand."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from scenario_text import along_lanes

from tuling_fsm.agent import Parameters
from tuling_fsm.fault_injection.cells import FaultCell, ReferenceDrive, StateVisit
from tuling_fsm.fault_injection.loop import VehicleLoop
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.compiler import load_scenario

Motion = tuple[tuple[float, float], ...]
STEADY: Motion = tuple((0.5 * k, 2.5 * k) for k in range(121))
"""5 m/s for a minute."""
COURSE = share_file("config", "course", "course.xodr")
LEADER = """    leader: vehicle

    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 20m)
    ahead: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 70m)
    away: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 170m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 150m)
"""
FOLLOWED = """        serial:
            leader.assign_position(ahead)
            leader.drive() with:
                along(map.create_route([away]))
                speed(3mps)
"""
STRAIGHT = along_lanes(LEADER, FOLLOWED)
REFUSED = """
        serial:
            wait elapsed(2s)
            server.refuse(duration: 50s)
"""
REFUSING = along_lanes("    server: route_server\n" + LEADER, FOLLOWED, REFUSED, seconds=120)
"""The same, and the route server refuses every route until 52 s."""


@cache
def course() -> RoadMap:
    return read_map(COURSE)


def scenario_file(folder: Path, text: str = STRAIGHT) -> Path:
    file = folder / "straight.osc"
    file.write_text(text.replace("MAP", str(COURSE)), encoding="utf-8")
    return file


def fresh_loop(text: str = STRAIGHT) -> VehicleLoop:
    """A car behind a slow leader, at its start."""
    with TemporaryDirectory() as folder:
        scenario = load_scenario(scenario_file(Path(folder), text), {})
    return VehicleLoop(course(), scenario, 1, Parameters())


def straight_loop(until: float = 0.0) -> VehicleLoop:
    """The same as it is at a stamp (s): a copy of one that is driven to there once."""
    driven = _driven(until)
    # The digests are all there is in it that no deep copy can be made of.
    digests = driven.simulation._trace, driven.simulation._motion
    return copy.deepcopy(driven, {id(course()): course(), **{id(digest): digest.copy() for digest in digests}})


@cache
def _driven(until: float) -> VehicleLoop:
    loop = fresh_loop()
    run(loop, until)
    return loop


def run(loop: VehicleLoop, seconds: float) -> None:
    for _ in range(round(seconds / loop.simulation.dt)):
        loop.frame()


def reference(*visits: StateVisit, motion: Motion = STEADY) -> ReferenceDrive:
    return ReferenceDrive("straight.osc", visits, "goal", motion, (), 0.05)


def cell(fault: str, state: str = "on_road/normal", at_s: float = 5.0) -> FaultCell:
    return FaultCell(fault, state, "entry", "straight.osc", at_s)

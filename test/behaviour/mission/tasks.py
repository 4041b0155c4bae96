"""Missions with tasks on the straight road, and drives that serve them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tuling_fsm.behaviour.mission.memory import MissionProgress
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import load
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint, MissionSlot, Task

from ..worlds import FAR_LANE, FAR_Y, TICK, WIDTH, Drive, Place, plan, route_along

SLOT_Y = FAR_Y - WIDTH
PICKUP_X, DROPOFF_X, END_X = 150.0, 260.0, 390.0
FRONT = 1.4155
"""From the rear axle of the car to the middle of its body, m."""


def slot(x: float, y: float = SLOT_Y) -> MissionSlot:
    return MissionSlot(Pose(x, y, 0.0), 6.0, 2.4)


def point(x: float, *slots: float) -> MissionPoint:
    return MissionPoint(f"x{x:g}", x, FAR_Y, 0.0, tuple(slot(s) for s in slots or (x, x + 7.0)))


def task(name: str, pickup: float = PICKUP_X, dropoff: float = DROPOFF_X) -> Task:
    return Task(name, point(pickup), point(dropoff))


def mission(*tasks: Task, match: float = float("inf"), stamp: float = 100.0, park: bool = True) -> Mission:
    end = MissionPoint("end", END_X, FAR_Y, 0.0) if park else None
    return Mission(stamp, tasks or (task("one"),), car_park=end, match_time_s=match)


def parameters(**groups: Any) -> BehaviourParameters:
    return load(BehaviourParameters, groups)


def progress(drive: Drive) -> MissionProgress:
    return drive.behaviour.record.machine.memory.mission


def reports(drive: Drive) -> list[str]:
    return [line for decision in drive.decisions for line in decision.reports]


def until_asked(drive: Drive, seconds: float = 12.0) -> Pose:
    """Tick until the route server has been asked, on the latest tick or later; returns where to."""
    for _ in range(round(seconds / TICK)):
        if drive.decisions and drive.last.route_requests:
            return drive.last.route_requests[-1].goal
        drive.tick()
    raise AssertionError("no request")


def in_normal_with(road: RoadMap, wanted: Mission, x: float = 50.0, v: float = 0.0, **options: Any) -> Drive:
    """A drive in `on_road/normal` on a route to the first pick-up."""
    place = Place(road, x=x, y=FAR_Y, mission=wanted)
    drive = Drive(place, **options)
    goal = until_asked(drive)
    drive.answer(route_along(road, FAR_LANE, end=goal.x))
    drive.until("on_road/normal")
    place.v = v
    return drive


def stand_at(drive: Drive, x: float, y: float = SLOT_Y) -> None:
    """Put the car into the slot with this middle; the planner says that there is nothing left to drive."""
    drive.place.x, drive.place.y, drive.place.heading, drive.place.v = x - FRONT, y, 0.0, 0.0
    drive.result = plan(reach=0.0)


def set_elapsed(drive: Drive, seconds: float) -> None:
    """Let so much of the match time be over."""
    record = drive.behaviour.record
    memory = record.machine.memory
    later = replace(memory, mission=replace(memory.mission, elapsed_s=seconds))
    drive.behaviour.restore(replace(record, machine=replace(record.machine, memory=later)))

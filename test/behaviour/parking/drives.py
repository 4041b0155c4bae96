"""A behaviour in the car park, with Worlds made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from garage import HALF_M, LANE_M, SLOT_LENGTH, SLOT_WIDTH, SLOTS_PER_ROW, UPPER_Y, slot_pose

from behaviour.views import at, view_of
from behaviour.worlds import Drive, Place, plan
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.mission import Mission, MissionPoint, MissionSlot
from tuling_fsm.world.on_route import OnRoute, on_reference_road
from tuling_fsm.world.perceived import PerceivedSlot
from tuling_fsm.world.world import RouteMatch, World

LOWER_END = Pose(HALF_M + 30.0, -0.5 * LANE_M, 0.0)
UPPER_END = Pose(HALF_M + 28.0, UPPER_Y - 0.5 * LANE_M, 0.0)
OUTSIDE = Pose(0.5 * LANE_M, -60.0, 0.5 * math.pi)
IN_LOWER = Pose(20.0, -1.75, 0.0)
PLACES = [(row, place) for row in range(4) for place in range(SLOTS_PER_ROW)]


def seen(row: int, place: int, occupied: bool = False) -> PerceivedSlot:
    """A slot of the map as perception tells it; headings are either way."""
    pose = slot_pose(row, place)
    return PerceivedSlot(100 * row + place, occupied, pose.x, pose.y, pose.heading + math.pi, SLOT_LENGTH, SLOT_WIDTH)


def seen_all(*free: tuple[int, int]) -> tuple[PerceivedSlot, ...]:
    """Every slot of the map, occupied but for some."""
    return tuple(seen(*place, occupied=place not in free) for place in PLACES)


@dataclass
class Garage(Place):
    """A place in the car park."""

    slots: tuple[PerceivedSlot, ...] = ()

    def world(self, stamp: float, route: Route | None, answers: Sequence[RouteMatch] = (), **changes: Any) -> World:
        """A real World of this place."""
        world = super().world(stamp, route, answers)
        place = OnRoute(world.route_s, world.route_offset, world.heading_error)
        on_road = route is not None and on_reference_road(self.road_map, route, place, world.ego.pose, 0.3)
        return replace(world, on_reference_road=on_road, slots=self.slots, **changes)

    def go_to(self, x: float, y: float, heading: float) -> None:
        """Be somewhere else from the next tick on."""
        self.x, self.y, self.heading = x, y, heading


def route_to(road_map: RoadMap, goal: Pose, start: Pose = OUTSIDE) -> Route:
    """The route from outside."""
    route = plan_route(road_map, start, goal).route
    assert route is not None
    return route


def car_park(goal: Pose = LOWER_END, stamp: float = 0.0, slots: Sequence[MissionSlot] = (), **more: Any) -> Mission:
    """A mission that ends in the car park."""
    return Mission(stamp, car_park=MissionPoint("garage", goal.x, goal.y, goal.heading, tuple(slots), **more))


def outside(road_map: RoadMap, goal: Pose = LOWER_END, **options: Any) -> Drive:
    """A drive in `on_road/normal` on the way in."""
    options.setdefault("mission", car_park(goal))
    drive = Drive(Garage(road_map, *OUTSIDE, slots=seen_all(), **options))
    drive.tick()
    drive.answer(route_to(road_map, goal))
    drive.until("on_road/normal")
    return drive


def searching(road_map: RoadMap, x: float = 20.0, **options: Any) -> Drive:
    """A drive in `parking/slot_search`, standing in the lower aisle."""
    drive = outside(road_map, **options)
    garage(drive).go_to(x, -0.5 * LANE_M, 0.0)
    drive.until("parking/slot_search")
    return drive


def entering(road_map: RoadMap, row: int = 0, place: int = 4, **options: Any) -> Drive:
    """A drive in `parking/slot_entry`, on its way to a slot."""
    drive = searching(road_map, **options)
    garage(drive).slots = seen_all((row, place))
    drive.probe = plan()
    drive.until("parking/slot_entry", 2.0)
    drive.probe = None
    return drive


def garage(drive: Drive) -> Garage:
    """The place of a drive."""
    assert isinstance(drive.place, Garage)
    return drive.place


def arrived() -> Any:
    """The planner has nothing left to drive."""
    return plan(reach=0.0, reason=Reason.ARRIVED)


def probes(drive: Drive, seconds: float = 1.0) -> list[FreeSpace]:
    """What is tried within some time."""
    found = [decision.probe for decision in drive.run(seconds)]
    return [probe for probe in found if isinstance(probe, FreeSpace)]


def look(road_map: RoadMap, pose: Pose = IN_LOWER, **more: Any) -> BehaviourView:
    """In the lower aisle, on the route to its end."""
    things, slots = more.pop("things", ()), more.pop("slots", ())
    place = Garage(road_map, *pose, slots=slots, things=things, mission=more.pop("mission", car_park()))
    place.v, place.localized = more.pop("v", 0.0), more.pop("localized", True)
    view = view_of(place, more.pop("route", None), mission=place.mission, **more)
    return at(view, mission=to_park(place.mission))


def to_park(mission: Mission | None) -> MissionProgress:
    """On the way to the car park of a mission, or nowhere where it has none."""
    end = None if mission is None else mission.car_park
    goal = MissionGoal() if end is None else MissionGoal(GoalKind.CAR_PARK, end)
    return MissionProgress(mission, goal=goal)

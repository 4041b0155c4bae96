"""In a lane beside the route's that leads on through the junction, the car heeds what that lane meets."""

from __future__ import annotations

from pathlib import Path

import pytest
from map.ways import LANE_M, middle, route_in, ways
from scenes import row
from traffic_drive import Drive, route_between

from tuling_fsm.behaviour.regulations import regulations
from tuling_fsm.behaviour.traffic.conflicts import passage_through
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.lane_index import lane_index

LINE_S = 89.0
INNER, OUTER = LaneId("10101", 0, -1), LaneId("10102", 0, -1)


def on_course(course: RoadMap, aside: float) -> Drive:
    """The car in the inner of two lanes to the crossing with lights, or beside it, 10 m before the line."""
    start, goal = (course.lanes[LaneId(*place)].center for place in (("1", 1, -1), ("2", 0, -1)))
    drive = Drive(course, route_between(course, start.at(0.0), goal.at(60.0)), aside=aside, lights={1: Light.GREEN})
    inside = next(stretch for stretch in drive.route.lanes if stretch.lane == INNER)
    drive.put_front(inside.s_from - 11.0)
    return drive


def taken(drive: Drive) -> LaneId:
    """The connecting lane of the crossing that the car is expected to take."""
    assert drive.world is not None and drive.world.way is not None
    (junction,) = (ahead for ahead in drive.world.junctions if ahead.junction.id == "101")
    return drive.world.way.lanes[junction.first].lane


@pytest.mark.clause("INT-2", "SAF-2")
@pytest.mark.parametrize(
    ("lights", "closed"),
    [
        ({1: Light.GREEN, 2: Light.GREEN}, (False, False)),
        ({1: Light.GREEN, 2: Light.RED}, (False, True)),
        ({1: Light.RED, 2: Light.GREEN}, (True, False)),
        ({1: Light.GREEN}, (False, True)),
        ({2: Light.GREEN}, (True, False)),
    ],
    ids=["green", "own red", "other red", "own unknown", "other unknown"],
)
def test_each_lane_has_its_own_light(tmp_path: Path, lights: dict[int, Light], closed: tuple[bool, bool]) -> None:
    """By the rules and by the independent check."""
    road_map = ways(tmp_path, (1, 1), (2, 2))
    for lane, shut in enumerate(closed, start=1):
        drive = Drive(road_map, route_in(road_map, 1, 1), lights=lights, aside=LANE_M * (1 - lane))
        drive.put_front(LINE_S - 10.0)
        drive.tick(1.0)
        assert drive.world is not None
        found = regulations(drive.world, road_map, drive.vehicle, False, 3.0, 10.0)
        for walls in (drive.walls(Reason.RED_LIGHT), found.closed_lines):
            assert any(min(wall.y0, wall.y1) < middle(lane) < max(wall.y0, wall.y1) for wall in walls) is shut


@pytest.mark.clause("INT-7")
def test_the_way_of_the_lane_that_the_car_is_in_is_looked_at_for_traffic(course: RoadMap) -> None:
    """Those who turn left come into the inner lane behind the crossing, those who turn right into the outer one."""
    left, right = LaneId("10113", 0, -1), LaneId("10111", 0, -1)
    index = lane_index(course)
    for aside, lane, meets, passes in ((0.0, INNER, left, right), (-LANE_M, OUTER, right, left)):
        drive = on_course(course, aside)
        drive.tick()
        assert taken(drive) == lane
        world = drive.world
        assert world is not None and world.way is not None
        now = TrafficSituation(world, world.way, course, index, Vehicle(), drive.parameters, False)
        junction = next(ahead for ahead in world.junctions if ahead.junction.id == "101")
        found = {index.ids[conflict.lane] for conflict in passage_through(now, junction).conflicts}
        assert meets in found and passes not in found


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize("blocked", [-1, -2])
def test_only_its_own_way_out_has_to_be_free(course: RoadMap, blocked: int) -> None:
    behind = course.lanes[LaneId("2", 0, blocked)].center.at(3.0)
    for aside, lane in ((0.0, -1), (-LANE_M, -2)):
        drive = on_course(course, aside)
        drive.objects = [row(5, *behind)]
        drive.tick(1.0)
        assert bool(drive.walls(Reason.JUNCTION_EXIT_BLOCKED)) is (lane == blocked)


@pytest.mark.clause("INT-7")
def test_the_car_holds_the_way_that_it_is_on(course: RoadMap) -> None:
    for aside, lane in ((0.0, INNER), (-LANE_M, OUTER)):
        drive = on_course(course, aside)
        drive.s += 20.0
        drive.tick()
        assert taken(drive) == lane
        assert drive.world is not None and drive.world.on_reference_road

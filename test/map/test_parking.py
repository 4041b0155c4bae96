"""Parking areas of a map, and the part of a route that runs in the one in which it ends (NOR-8)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from garage import AISLE_M, HALF_M, LANE_M, LOWER_IN, LOWER_OUT, UPPER_IN, UPPER_OUT, garage, slot_pose

from map import xodr
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.rectangles import clip
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.parking import (
    MARGIN_M,
    SIDE_M,
    WIDEST_M,
    GivenSlot,
    open_at,
    opposite,
    parking_areas,
    parking_end,
    slot_front,
)
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.share import share_file

AHEAD, BACK = LaneId("1", 0, -1), LaneId("1", 0, 1)


@pytest.fixture(scope="module")
def park(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return garage(tmp_path_factory.mktemp("map"))


def slot(number: int, s: float, t: float, length: float, width: float, heading: float = 0.0) -> str:
    """A slot of so much along and across its heading against the road."""
    return (
        f'<object id="{number}" type="parkingSpace" s="{s}" t="{t}" hdg="{heading}" length="{length}" width="{width}"/>'
    )


def road(folder: Path, *slots: str, length: float = 300.0) -> RoadMap:
    """A straight road, one lane each way."""
    lanes = [xodr.lane(1), xodr.lane(-1)]
    inside = f"<objects>{''.join(slots)}</objects>"
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, length)
    return xodr.read(folder, xodr.road([xodr.section(lanes)], geometries=plan, length=length, inside=inside))


def touches(edges: FloatArray, x0: float, x1: float, y0: float, y1: float) -> bool:
    """Whether an edge along an axis runs through a box."""
    low, high = np.minimum(edges[:, :2], edges[:, 2:]), np.maximum(edges[:, :2], edges[:, 2:])
    return bool(((low < (x1, y1)) & (high > (x0, y0))).all(axis=1).any())


@pytest.mark.clause("NOR-8")
def test_rows_on_connected_aisles_are_one_area_with_what_lies_between_them(park: RoadMap) -> None:
    (area,) = parking_areas(park)
    assert len(area.slots) == 32
    roads = {aisle.lane.road for aisle in area.aisles}
    assert {"2", "3", "4"} <= roads, "the spine has no slot, but leads from row to row"
    assert "1" not in roads, "the way in does not"
    for lane in (LOWER_IN, LOWER_OUT, UPPER_IN, UPPER_OUT):
        assert area.aisle_at(lane, 0.5 * AISLE_M) is not None
    for lane in (LOWER_IN, UPPER_IN):
        assert area.aisle_at(lane, AISLE_M) is not None, "a dead end belongs to its aisle"


@pytest.mark.clause("NOR-8")
def test_bays_along_the_kerb_are_no_parking_area_but_slanted_slots_are(tmp_path: Path) -> None:
    along = [slot(i, 20.0 + 7.0 * i, -4.8, 6.5, 2.3) for i in range(5)]
    assert parking_areas(road(tmp_path, *along)) == ()
    slanted = [slot(i, 20.0 + 3.5 * i, -6.5, 5.0, 2.5, heading=math.radians(45.0)) for i in range(5)]
    (area,) = parking_areas(road(tmp_path, *along, *slanted))
    assert len(area.slots) == 5
    assert {aisle.lane for aisle in area.aisles} == {AHEAD, BACK}


@pytest.mark.medium
def test_the_car_park_of_the_course() -> None:
    areas = parking_areas(read_map(share_file("config", "course", "course.xodr")))
    eight = [area for area in areas if any(aisle.lane.road == "8" for aisle in area.aisles)]
    assert [len(area.slots) for area in eight] == [28]
    assert all(aisle.lane.road == "8" for aisle in eight[0].aisles)


def test_rows_far_apart_are_areas_of_their_own(tmp_path: Path) -> None:
    near = [slot(i, 20.0 + 3.0 * i, -6.5, 2.6, 5.3) for i in range(4)]
    for gap, count in ((60.0, 1), (150.0, 2)):
        far = [slot(10 + i, 20.0 + gap + 3.0 * i, 6.5, 2.6, 5.3) for i in range(4)]
        areas = parking_areas(road(tmp_path, *near, *far))
        assert [area.number for area in areas] == list(range(count))


@pytest.mark.clause("NOR-8")
def test_the_part_of_a_route_inside_begins_a_little_before_the_first_slot(tmp_path: Path) -> None:
    road_map = road(tmp_path, *(slot(i, 150.0 + 3.0 * i, -6.5, 2.6, 5.3) for i in range(4)))
    route = plan_route(road_map, Pose(10.0, -1.75, 0.0), Pose(155.0, -1.75, 0.0)).route
    assert route is not None
    end = parking_end(road_map, route)
    assert end is not None
    assert end.s_from == pytest.approx(150.0 - 1.3 - MARGIN_M - 10.0, abs=0.1)
    assert end is parking_end(road_map, route), "it is kept with the route"
    for goal in (100.0, 250.0):
        elsewhere = plan_route(road_map, Pose(10.0, -1.75, 0.0), Pose(goal, -1.75, 0.0)).route
        assert elsewhere is not None
        assert parking_end(road_map, elsewhere) is None


@pytest.mark.clause("NOR-8")
def test_a_route_from_aisle_to_aisle_runs_inside_all_the_way(park: RoadMap) -> None:
    route = plan_route(park, Pose(40.0, 0.5 * LANE_M, math.pi), Pose(40.0, 40.0 - 0.5 * LANE_M, 0.0)).route
    assert route is not None
    end = parking_end(park, route)
    assert end is not None
    assert end.s_from == pytest.approx(0.0, abs=0.1)


@pytest.mark.clause("PRK-3")
def test_the_edges_are_open_at_the_slots_and_closed_at_dead_ends(park: RoadMap) -> None:
    (area,) = parking_areas(park)
    for row in range(4):
        for place in range(8):
            x, y, heading = slot_pose(row, place)
            out = y + math.copysign(2.0, heading)
            assert not touches(area.edges, x - 1.2, x + 1.2, min(y, out) - 2.0, max(y, out) + 2.0)
    end = HALF_M + AISLE_M
    assert touches(area.edges, end - 0.1, end + 0.1, -3.4, -0.1)
    assert touches(area.edges, end - 0.1, end + 0.1, 0.1, 3.4)
    assert touches(area.edges, HALF_M + 1.0, HALF_M + 3.0, -3.6, -3.4), "and before the first slot"


def set_back(number: int, s: float, gap: float, angle: float = 90.0) -> str:
    """A slot of 5.3 by 2.6 m, turned by an angle (degrees) against the lane on the right, whose edge is `gap` m off."""
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    return slot(number, s, -(3.5 + gap + 2.65 * sine + 1.3 * cosine), 5.3, 2.6, heading=math.radians(angle))


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize(
    ("gap", "angle"), [(0.4, 90.0), (1.2, 90.0), (2.9, 90.0), (0.4, 60.0), (0.4, 45.0), (0.4, 30.0)]
)
def test_slots_that_are_set_back_or_slanted_are_open_as_far_as_their_aisle(
    tmp_path: Path, gap: float, angle: float
) -> None:
    road_map = road(tmp_path, set_back(1, 50.0, gap, angle))
    (area,) = parking_areas(road_map)
    (bay,) = area.slots
    for ahead in np.arange(0.0, 9.0, 0.1):
        ends = slot_front(bay, 0.25, float(ahead))
        across = Pose(*ends[0].tolist(), bay.pose.heading - 0.5 * math.pi)
        enter, leave = clip(area.edges, across, (0.0, bay.width + 0.5, -0.05, 0.05))
        assert not (enter <= leave).any(), ahead
        if all(road_map.positions(x, y) for x, y in ends.tolist()):
            break
    else:
        raise AssertionError("the mouth never meets the lane")
    assert touches(area.edges, 30.0, 40.0, -3.6, -3.4)
    assert touches(area.edges, 60.0, 70.0, -3.6, -3.4)
    assert touches(area.edges, 40.0, 60.0, 3.4, 3.6), "on the other side of the aisle"


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize("gap", [0.0, 1.0])
@pytest.mark.parametrize("angle", [21.0, 30.0, 45.0, 90.0])
def test_the_other_side_of_a_narrow_aisle_stays_closed(tmp_path: Path, gap: float, angle: float) -> None:
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    bay = slot(1, 50.0, -(2.5 + gap + 2.65 * sine + 1.3 * cosine), 5.3, 2.6, heading=math.radians(angle))
    one_way = xodr.section([xodr.lane(-1, width=2.5)])
    (area,) = parking_areas(xodr.read(tmp_path, xodr.road([one_way], inside=f"<objects>{bay}</objects>")))
    assert all(touches(area.edges, x, x + 0.1, -0.1, 0.1) for x in np.arange(40.0, 75.0, 0.1).tolist())


@pytest.mark.clause("PRK-4")
def test_a_slot_that_is_seen_much_too_wide_opens_no_more_than_one_may_be(tmp_path: Path) -> None:
    upright = 0.5 * math.pi
    road_map = road(tmp_path, *(slot(i, 20.0 + 5.0 * i, -6.0, 5.0, 2.5, -upright) for i in range(1, 14)))
    (area,) = parking_areas(road_map)
    beside = Pose(57.5, -12.0, upright)
    opened = _along_kerb(area.edges) - _along_kerb(open_at(road_map, area, GivenSlot(beside, 18.0, 40.0)))
    assert 0.0 < opened <= WIDEST_M + 2.0 * SIDE_M


def _along_kerb(edges: FloatArray) -> float:
    """How long the edge to the right of the road is, m."""
    right = edges[(np.abs(edges[:, 1] - edges[:, 3]) < 0.01) & (edges[:, 1] < -1.0)]
    return float(np.abs(right[:, 0] - right[:, 2]).sum())


def test_the_lane_of_the_other_direction(park: RoadMap) -> None:
    assert opposite(park, Pose(30.0, -1.5, 0.1)) == pytest.approx((30.0, 0.5 * LANE_M, math.pi), abs=0.01)
    assert opposite(park, Pose(30.0, 1.5, math.pi)) == pytest.approx((30.0, -0.5 * LANE_M, 0.0), abs=0.01)
    assert opposite(park, Pose(300.0, 300.0, 0.0)) is None

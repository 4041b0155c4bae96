"""Beside the driving lanes, on those for others, the limit and the direction of the road hold."""

from __future__ import annotations

import math

import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap

from .staging import Leg, Scene, Watch, play

ALONG, BACK = 0.0, math.pi


def road(folder: pytest.TempPathFactory, kind: str, two_way: bool = True) -> RoadMap:
    """900 m along x with a lane of some type to either side; one way: the left one is beside no lane of its side."""
    driving = [xodr.lane(1), xodr.lane(-1)] if two_way else [xodr.lane(-1)]
    outer = [xodr.lane(2 if two_way else 1, kind=kind), xodr.lane(-2, kind=kind)]
    limit = '<type s="0" type="town"><speed max="50" unit="km/h"/></type>'
    return xodr.read(folder.mktemp("maps"), xodr.road(xodr.section([*driving, *outer]), length=900.0, kind=limit))


def faults(road_map: RoadMap, y: float, heading: float, v: float) -> set[str]:
    watch = play(road_map, Scene("", "", Pose(400.0, y, heading), [Leg(5.0, v)]))
    return {kind for kind in watch.faults if kind in ("wrong_way", "speeding")}


@pytest.mark.parametrize("kind", ["shoulder", "bus", "biking"])
@pytest.mark.parametrize(
    ("y", "heading", "v", "expected"),
    [
        (-5.25, ALONG, 13.0, set()),
        (-5.25, ALONG, 20.0, {"speeding"}),
        (-5.25, BACK, 8.0, {"wrong_way"}),
        (-5.25, ALONG, -1.5, set()),
        (5.25, BACK, 13.0, set()),
        (5.25, ALONG, 20.0, {"speeding", "wrong_way"}),
    ],
)
def test_on_lanes_for_others_the_road_is_judged_by(
    tmp_path_factory: pytest.TempPathFactory, kind: str, y: float, heading: float, v: float, expected: set[str]
) -> None:
    assert faults(road(tmp_path_factory, kind), y, heading, v) == expected


@pytest.mark.parametrize(("heading", "expected"), [(ALONG, set()), (BACK, {"wrong_way"})])
def test_left_of_a_one_way_road_its_direction_holds(
    tmp_path_factory: pytest.TempPathFactory, heading: float, expected: set[str]
) -> None:
    assert faults(road(tmp_path_factory, "shoulder", two_way=False), 1.75, heading, 8.0) == expected


@pytest.mark.parametrize(("kind", "expected"), [("parking", {"speeding"}), ("sidewalk", set())])
def test_parking_strips_have_the_limit_alone_and_what_is_off_the_road_has_neither(
    tmp_path_factory: pytest.TempPathFactory, kind: str, expected: set[str]
) -> None:
    assert faults(road(tmp_path_factory, kind), -5.25, BACK, 20.0) == expected


def test_the_mean_above_the_limit_is_one_over_all_of_the_time(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    for x in range(200):
        watch.see(Pose(100.0 + x, 30.0, 0.0), 30.0)
    for _ in range(20):
        watch.see(Pose(100.0, -1.75, 0.0), 16.0)
    assert watch.referee.measures.overspeed == pytest.approx((16.0 - 50.0 / 3.6) * 20 / 220)

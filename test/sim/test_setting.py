"""Where the ego starts, which way it goes, and distances along the road."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.scripted import road_distance
from tuling_fsm.sim.initial_state import EgoSetting, ego_setting
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.model import RandomRoute, RouteTo, RouteVia, ScenarioActor, ScriptedRoute
from tuling_fsm.sim.scenario.placements import Anywhere, AtPose, OnLane

from .scenes import scenario, simulation

WEST_IN = OnLane("3", 1, 100.0)


def setting(road_map: RoadMap, seed: int = 1, **changes: object) -> EgoSetting:
    return ego_setting(road_map, scenario(**changes), np.random.default_rng(seed))


def test_a_random_route_starts_where_the_ego_is_put(plain: RoadMap) -> None:
    ends = set()
    for seed in range(12):
        found = setting(plain, seed, ego=WEST_IN, route=RandomRoute(160.0))
        assert found.route is not None
        assert found.route.reference.at(0.0)[:2] == pytest.approx(found.start[:2], abs=0.1)
        assert found.route.length == pytest.approx(160.0, abs=25.0)
        assert plain.lanes[found.route.lanes[-1].lane].junction is None
        ends.add(found.route.lanes[-1].lane.road)
    assert len(ends) > 1


@pytest.mark.parametrize(
    ("start", "way", "end"), [(100.0, 1000.0, 390.0), (100.0, 50.0, 150.0), (390.0, 1000.0, 395.0)]
)
def test_a_way_that_a_script_leaves_open_ends_before_the_road_does(
    two_lanes: RoadMap, start: float, way: float, end: float
) -> None:
    found = setting(two_lanes, ego=OnLane("1", -1, start), route=ScriptedRoute((), way))
    assert found.route is not None
    assert found.route.reference.at(found.route.length).x == pytest.approx(end, abs=0.1)
    assert found.made_up
    assert not setting(two_lanes, ego=OnLane("1", -1, 20.0), route=ScriptedRoute((OnLane("1", -1, 90.0),), way)).made_up


def test_anywhere_is_drawn_by_the_seed(plain: RoadMap) -> None:
    starts = [setting(plain, seed, ego=Anywhere()).start for seed in (1, 1, 2)]
    assert starts[0] == starts[1]
    assert starts[0] != starts[2]


def test_a_route_goes_through_its_places(plain: RoadMap) -> None:
    found = setting(plain, ego=WEST_IN, route=RouteVia((OnLane("4", -1, 20.0), OnLane("4", -1, 90.0))))
    assert found.route is not None
    end = found.route.reference.at(found.route.length)
    assert end[:2] == pytest.approx((-1.75, -102.0), abs=0.2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ego": OnLane("77", 1, 5.0), "route": RouteTo(WEST_IN)}, "ego: no lane 1 of road '77' at 5 m on this map"),
        ({"ego": WEST_IN, "route": RouteTo(OnLane("77", 1, 5.0))}, "not on the map"),
        ({"ego": WEST_IN, "route": RouteTo(AtPose(9e3, 0.0, 0.0))}, "no route for the ego: goal_off_road"),
        ({"ego": AtPose(9e3, 0.0, 0.0), "route": RandomRoute(100.0)}, "no lane at the ego's start"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(plain: RoadMap, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        setting(plain, **changes)


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (Pose(30.0, 1.75, math.pi), 20.0),
        (Pose(-20.0, 1.75, math.pi), 70.0),
        (Pose(60.0, 1.75, math.pi), None),
        (Pose(30.0, -1.75, 0.0), None),
        (Pose(500.0, 500.0, 0.0), None),
    ],
)
def test_distance_along_the_road(plain: RoadMap, end: Pose, expected: float | None) -> None:
    found = road_distance(plain, Pose(50.0, 1.75, math.pi), end)
    assert found is None if expected is None else found == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (("1", 5.0), ("0", 45.0), -10.0),
        (("0", 45.0), ("1", 5.0), 10.0),
        (("1", 25.0), ("1", 15.0), -10.0),
        (("1", 5.0), ("2", 45.0), 90.0),
        (("1", 5.0), ("3", 25.0), -80.0),
    ],
)
def test_on_a_loop_the_shorter_way_says_which_is_ahead(
    ring: RoadMap, one: tuple[str, float], other: tuple[str, float], expected: float
) -> None:
    actors = tuple(
        ScenarioActor(name, ActorKind.VEHICLE, 4.5, 1.8, OnLane(road, -1, s))
        for name, (road, s) in (("one", one), ("other", other))
    )
    sim = simulation(ring, ego=OnLane("3", -1, 5.0), route=RandomRoute(30.0), actors=actors)
    assert sim._view().road_distance("one", "other") == pytest.approx(expected * 1.055, abs=0.5)


def test_lanes_side_by_side_are_one_road(two_lanes: RoadMap) -> None:
    assert road_distance(two_lanes, Pose(50.0, -1.75, 0.0), Pose(80.0, -5.25, 0.0)) == pytest.approx(30.0, abs=0.01)
    assert road_distance(two_lanes, Pose(80.0, -1.75, 0.0), Pose(50.0, -5.25, 0.0)) is None


def test_on_a_loop_a_place_behind_on_the_same_lane_is_ahead_over_the_way_round(ring: RoadMap) -> None:
    lane = next(lane for lane in ring.lanes.values() if lane.id.road == "1")
    behind, ahead = lane.center.at(5.0), lane.center.at(45.0)
    whole = sum(each.length for each in ring.lanes.values())
    assert road_distance(ring, ahead, behind) == pytest.approx(whole - 40.0, abs=0.1)
    assert road_distance(ring, behind, ahead) == pytest.approx(40.0, abs=0.1)

"""Exits of junctions, starts and slow zones, one tick each: tables with the bounds on both sides."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.traffic.exit import blocked_exit
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.behaviour.traffic.start import start_rule
from tuling_fsm.behaviour.traffic.zones import SlowZone, slowed
from tuling_fsm.core.request import Reason
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.lane_kernels import CANDIDATES

from ..worlds import FAR_LANE, NEAR_LANE, NEAR_Y, VEHICLE, Thing, junction
from .alone import FRONT, NOW, Other, X, situation, traffic

CROSSING = junction(70.0, 90.0)
END = 90.0 + VEHICLE.length + 1.0


def seated(
    road_map: RoadMap, *others: Other, moving: bool = True, lane: LaneId = NEAR_LANE, **more: Any
) -> TrafficSituation:
    """Vehicles on a lane, at the arc lengths of their x."""
    number = lane_index(road_map).number[lane]
    many = len(others)
    lanes = np.full((many, CANDIDATES), -1)
    lanes[:, 0] = number
    along = np.repeat(np.array([[other.x] for other in others]), CANDIDATES, axis=1)
    there = replace(traffic(others), lane=lanes, lane_s=along, moving=np.full(many, moving))
    return situation(road_map, traffic=there, **more)


def car(s: float, speed: float = 0.0, length: float = 4.0, number: int = 7) -> Other:
    return Other(s, NEAR_Y, vx=speed, kind=Kind.CAR, length=length, id=number)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("s", "speed", "blocked"),
    [
        (END + 1.9, 0.0, True),
        (END + 2.1, 0.0, False),
        (80.0, 1.4, True),
        (80.0, 1.6, False),
        (70.1, 0.0, True),
        (69.9, 0.0, False),
    ],
)
def test_what_is_slow_behind_a_junction_keeps_the_car_out(road: RoadMap, s: float, speed: float, blocked: bool) -> None:
    now = seated(road, car(s, speed))
    assert (blocked_exit(now, CROSSING, ()) is not None) is blocked
    if blocked:
        assert blocked_exit(now, CROSSING, ()) == (Reason.JUNCTION_EXIT_BLOCKED, "object 7", 7)
    assert blocked_exit(seated(road, car(s, speed), lane=FAR_LANE), CROSSING, ()) is None
    still = seated(road, car(s, speed), moving=False)
    assert (blocked_exit(still, CROSSING, ()) is not None) is blocked
    assert blocked_exit(replace(still, by_hand=True), CROSSING, ()) is None
    assert (blocked_exit(replace(now, by_hand=True), CROSSING, ()) is not None) is blocked


@pytest.mark.clause("INT-7")
def test_of_several_the_nearest_is_named_and_one_that_is_beside_the_bumper_counts_no_more(road: RoadMap) -> None:
    now = seated(road, car(95.0, number=1), car(84.0, number=2), car(88.0, number=3))
    assert blocked_exit(now, CROSSING, ()) == (Reason.JUNCTION_EXIT_BLOCKED, "object 2", 2)
    inside = junction(X - 10.0, X + 20.0)
    for gap, blocked in ((2.1, True), (1.9, False)):
        assert (blocked_exit(seated(road, car(FRONT + gap)), inside, ()) is not None) is blocked


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("walls", "stop"),
    [((71.1,), 71.1), ((70.9,), None), ((END - 0.1,), END - 0.1), ((END + 0.1,), None), ((94.0, 92.0), 92.0)],
)
def test_a_stop_right_behind_a_junction_keeps_the_car_out(
    road: RoadMap, walls: tuple[float, ...], stop: float | None
) -> None:
    now = situation(road)
    found = [(s, now.wall(s, Reason.PEDESTRIAN, "object 7", 7)) for s in walls]
    hindrance = blocked_exit(now, CROSSING, found)
    assert (hindrance is None) is (stop is None)
    if stop is not None:
        assert hindrance == (Reason.JUNCTION_EXIT_BLOCKED, f"has to stop {stop - 90.0:.1f} m after it", -1)


@pytest.mark.clause("NOR-7", "INT-4")
def test_before_a_junction_that_a_red_light_behind_it_keeps_the_car_out_of_it_waits_for_that_light(
    road: RoadMap,
) -> None:
    now = situation(road)
    light = now.wall(90.0, Reason.RED_LIGHT, "signal 4 red", 4)
    assert blocked_exit(now, CROSSING, [(90.0, light)]) == (
        Reason.RED_LIGHT,
        "signal 4 red, has to stop 0.0 m after it",
        4,
    )


HALF = 0.5 * VEHICLE.width


def thing(ahead: float, side: float, speed: float = 0.0, heading: float = 0.0, length: float = 1.0) -> Thing:
    """Its middle so far ahead of the bumper and to the left."""
    return Thing(FRONT + ahead, NEAR_Y + side, heading, length, 1.0, speed, speed > 0.0)


def starts(road_map: RoadMap, *things: Thing, blocked: bool = False, since: float = -math.inf, **more: Any) -> Any:
    """What the rule says to a car that stands."""
    more = {"standing_for": 5.0, **more}
    rows = traffic([Other(each.x, each.y, vx=each.speed, kind=more.pop("kind", Kind.CAR)) for each in things])
    rows = replace(rows, obstacle_row=np.arange(len(things)))
    return start_rule(situation(road_map, things=things, traffic=rows, **more), blocked, since, ())


@pytest.mark.clause("USE-6")
@pytest.mark.parametrize(
    ("what", "blocked"),
    [
        (thing(1.0, 0.0), True),
        (thing(1.9, 0.0), True),
        (thing(2.1, 0.0), False),
        (thing(0.1, 0.0), True),
        (thing(-0.1, 0.0), False),
        # What stands beside the path does not keep the car, even if it is near.
        (thing(1.0, HALF + 0.4), True),
        (thing(1.0, HALF + 0.6), False),
        (thing(1.0, -HALF - 0.4), True),
        (thing(1.0, -HALF - 0.6), False),
        # What moves must not come nearer than half a metre, beside the bumper too.
        (thing(1.0, HALF + 0.9, 0.4), True),
        (thing(1.0, HALF + 1.1, 0.4), False),
        (thing(1.0, -HALF - 0.9, 0.4), True),
        (thing(-0.6, 0.0, 0.4), True),
        (thing(-0.8, 0.0, 0.4), False),
        # The size counts as it is turned.
        (thing(3.4, 0.0, heading=0.0, length=4.0), True),
        (thing(3.4, 0.0, heading=0.5 * math.pi, length=4.0), False),
        (thing(1.0, HALF + 1.9, heading=0.5 * math.pi, length=4.0), True),
        (thing(1.0, HALF + 1.9, heading=0.0, length=4.0), False),
        (thing(1.0 + 0.5 * math.sqrt(2.0), 0.0, heading=0.25 * math.pi), True),
        (thing(1.55 + 0.5 * math.sqrt(2.0), 0.0, heading=0.25 * math.pi), False),
    ],
)
def test_what_keeps_the_car_from_starting(road: RoadMap, what: Thing, blocked: bool) -> None:
    walls, blocks, since = starts(road, what)
    assert (bool(walls), blocks, since) == (blocked, blocked, math.inf if blocked else -math.inf)
    if blocked:
        ((s, wall),) = walls
        assert s == FRONT
        assert (wall.reason, wall.blocker, wall.detail) == (Reason.OBSTACLE, 7, "object 7 in the start path")


def test_what_stands_is_where_it_is_now(road: RoadMap) -> None:
    across = thing(1.0, HALF + 1.9, heading=0.5 * math.pi, length=4.0)
    for what, blocked in ((thing(1.0, 0.0), True), (across, True), (thing(9.0, 0.0), False), (thing(1.0, 3.0), False)):
        rows = replace(traffic([Other(what.x, what.y)]), obstacle_row=np.arange(1))
        now = situation(road, things=(what,), traffic=rows, standing_for=5.0)
        there = now.world.scene.obstacles
        x, y = there.x.copy(), there.y.copy()
        x[:, 1:], y[:, 1:] = (FRONT + 9.0, NEAR_Y + 3.0) if blocked else (FRONT + 1.0, NEAR_Y)
        heading = there.heading.copy()
        heading[:, 1:] = 0.0
        for later in ({"x": x, "y": y}, {"heading": heading}):
            scene = replace(now.world.scene, obstacles=replace(there, **later))
            moved = replace(now, world=replace(now.world, scene=scene))
            assert start_rule(moved, False, -math.inf, ())[1] is blocked


@pytest.mark.clause("USE-6")
def test_one_that_walks_in_the_start_path_is_yielded_to(road: RoadMap) -> None:
    for kind in (Kind.PEDESTRIAN, Kind.ANIMAL, Kind.CAR):
        ((_, wall),), _, _ = starts(road, thing(1.0, 0.0), kind=kind)
        assert wall.reason is (Reason.OBSTACLE if kind is Kind.CAR else Reason.PEDESTRIAN)


@pytest.mark.clause("NOR-7", "USE-6")
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (replace(thing(1.2, 0.0), moving=True), Reason.LEADER),
        (thing(1.2, 0.0, 0.4), Reason.LEADER),
        (thing(1.2, 0.0), Reason.OBSTACLE),
        (replace(thing(1.2, 0.0, heading=0.7), moving=True), Reason.LEADER),
        (replace(thing(1.2, 0.0, heading=0.9), moving=True), Reason.OBSTACLE),
        (replace(thing(1.2, 0.0, heading=math.pi), moving=True), Reason.OBSTACLE),
        (thing(1.2, HALF + 0.4, 0.4), Reason.LEADER),
        (thing(1.2, HALF + 0.6, 0.4), Reason.OBSTACLE),
        (thing(-0.1, 0.0, 0.4), Reason.OBSTACLE),
    ],
)
def test_one_that_stands_in_the_lane_and_moved_lately_is_a_leader(road: RoadMap, what: Thing, reason: Reason) -> None:
    ((_, wall),), blocks, _ = starts(road, what)
    assert (wall.reason, wall.blocker, blocks) == (reason, 7, True)
    ((_, walker),), _, _ = starts(road, what, kind=Kind.PEDESTRIAN)
    assert walker.reason is Reason.PEDESTRIAN


@pytest.mark.clause("USE-6")
@pytest.mark.parametrize(
    ("blocked", "since", "changes", "after"),
    [
        (True, math.inf, {}, (True, True, NOW)),
        (True, NOW - 1.95, {}, (True, True, NOW - 1.95)),
        (True, NOW - 2.0, {}, (False, False, NOW - 2.0)),
        (False, NOW - 9.0, {}, (False, False, NOW - 9.0)),
        (True, NOW - 0.5, {"standing_for": 0.95}, (False, False, -math.inf)),
        (True, NOW - 0.5, {"standing_for": 1.0}, (True, True, NOW - 0.5)),
        (True, NOW - 0.5, {"v": 0.35}, (False, False, -math.inf)),
    ],
)
def test_the_start_path_has_to_stay_clear(
    road: RoadMap, blocked: bool, since: float, changes: dict[str, Any], after: tuple[bool, bool, float]
) -> None:
    walls, blocks, clear_since = starts(road, blocked=blocked, since=since, **changes)
    assert (bool(walls), blocks, clear_since) == after
    if walls:
        assert walls[0][1].detail == "start path clear for a moment only"
    # Once it was blocked, more room is asked for; by what moves.
    near = thing(1.0, HALF + 1.2, 0.4)
    assert starts(road, near, blocked=blocked, since=since, **changes)[1] is (blocked and after[2] > 0.0)


@pytest.mark.clause("USE-13")
@pytest.mark.parametrize(
    ("ahead", "v", "limit"),
    [(20.0, 6.0, 3.0), (20.0, 8.0, math.sqrt(64.0 - 2.0 * (20.0 - 6.4))), (0.0, 6.0, 6.0), (20.0, 0.0, 3.0)],
)
def test_a_slow_zone_is_eased_into(road: RoadMap, ahead: float, v: float, limit: float) -> None:
    world = situation(road).world
    lanes = slowed(world.lanes, (SlowZone(X + ahead, X + ahead + 0.2, 3.0), SlowZone(X + 300.0, X + 310.0, 1.0)), X, v)
    for lane, before in zip(lanes, world.lanes, strict=True):
        s = lane.route_s0 + lane.center.s
        inside = (s >= X + ahead) & (s <= X + ahead + 0.2)
        assert np.array_equal(lane.limit[~inside & (s < X + 290.0)], before.limit[~inside & (s < X + 290.0)])
        if inside.any():
            assert lane.limit[inside][0] == pytest.approx(limit, abs=0.15)
    assert slowed(world.lanes, (), X, v) is world.lanes

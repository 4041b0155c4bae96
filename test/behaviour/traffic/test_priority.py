"""Whom the car lets by: tables over one party and one conflict, with the bounds on both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from crossroads import LIGHT, STOP_SIGN, YIELD_SIGN, crossroads

from tuling_fsm.behaviour.traffic.conflicts import ConflictVehicle, ConflictZone, OpposingTurn
from tuling_fsm.behaviour.traffic.memory import JunctionMemory
from tuling_fsm.behaviour.traffic.priority import ApproachControl, holds, waited_for
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind, Light
from tuling_fsm.world.lane_index import LIGHT as LIGHT_LINE
from tuling_fsm.world.lane_index import STOP, YIELD, lane_index

from ..worlds import NEAR_Y
from . import alone
from .alone import FRONT, NOW, Other, X

CONFLICT = ConflictZone(0, FRONT + 4.0, FRONT + 8.0, 0.0, 4.0, OpposingTurn.NONE, False)
COMES = ConflictVehicle(0, 7, CONFLICT, 10.0, 20.0, 3.0, -1, 5.0, 0.0, False, True)
"""In time, and with 3 m to its line too fast to stop."""
STOPS = COMES._replace(to_stop=8.0, to_conflict=12.0)
STANDS = COMES._replace(to_stop=0.5, to_conflict=5.0, speed=0.0)
INSIDE = STANDS._replace(inside=True, to_conflict=2.0, to_stop=-3.0)
TURNS = CONFLICT._replace(across=OpposingTurn.OTHER)


def situation(
    road_map: RoadMap, v: float = 0.0, standing: float = 0.0, other: tuple[float, float] = (60.0, 5.0), **more: Any
) -> TrafficSituation:
    """The car, and where the other one is; the lines are those of any other map."""
    return alone.situation(road_map, Other(*other, kind=Kind.CAR), v=v, standing_for=standing, **more)


def held(
    now: TrafficSituation,
    other: ConflictVehicle,
    control: ApproachControl = ApproachControl.NONE,
    gap: float = 0.5,
    **past: Any,
) -> bool:
    return holds(now, control, gap, other, JunctionMemory(**past))


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("speed", "to_stop", "least", "short", "least_going"),
    [
        (0.6, 0.0, 27.573, 16.572, 22.021),
        (2.0, 0.1, 35.390, 23.263, 29.630),
        (5.0, 3.0, 46.640, 34.484, 40.880),
        (9.0, 3.0, 56.689, 43.013, 50.209),
    ],
)
def test_one_that_could_be_there_before_the_car_has_left_is_let_by(
    road: RoadMap, speed: float, to_stop: float, least: float, short: float, least_going: float
) -> None:
    now, other = situation(road), COMES._replace(speed=speed, to_stop=to_stop, past_conflict=90.0)
    narrow = CONFLICT._replace(own_to=FRONT + 1.0)
    for distance, conflict, past in (
        (least, CONFLICT, {}),
        (short, narrow, {}),
        (least_going, CONFLICT, {"going": True}),
    ):
        for off, waits in ((-0.01, True), (0.01, False)):
            assert held(now, other._replace(to_conflict=distance + off, conflict=conflict), **past) is waits
    assert held(now, other._replace(to_conflict=-2.0))
    behind = CONFLICT._replace(own_from=FRONT - 8.0, own_to=FRONT - 4.6)
    assert held(
        situation(road, 5.0), other._replace(speed=0.6, to_stop=0.0, to_conflict=0.05, conflict=behind), going=True
    )


@pytest.mark.clause("INT-7")
def test_a_car_that_has_waited_long_insists_on_its_turn_with_smaller_margins(road: RoadMap) -> None:
    other = COMES._replace(past_conflict=90.0, to_conflict=43.0)
    for standing, arrived, waits in ((4.9, 0.0, True), (5.1, 0.0, False), (9.0, 95.1, True), (9.0, 94.9, False)):
        now = situation(road, standing=standing)
        assert held(now, other, arrived=arrived) is waits
    insisting = situation(road, standing=9.0)
    assert held(insisting, COMES._replace(past_conflict=9.85), arrived=0.0)
    assert not held(insisting, COMES._replace(past_conflict=9.75), arrived=0.0)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("v", "speed", "past", "going"),
    [
        (0.0, 0.6, 1.429, False),
        (0.0, 1.2, 2.382, False),
        (0.0, 5.0, 8.337, False),
        (0.0, 5.0, 9.807, True),
        (5.0, 5.0, 0.123, False),
        (5.0, 5.0, 1.593, True),
    ],
)
def test_one_that_has_left_before_the_car_comes_is_not_waited_for(
    road: RoadMap, v: float, speed: float, past: float, going: bool
) -> None:
    now, other = situation(road, v), COMES._replace(to_conflict=0.0, to_stop=0.0, speed=speed)
    assert held(now, other._replace(past_conflict=past + 0.01), going=going)
    assert not held(now, other._replace(past_conflict=past - 0.01), going=going)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("other", "waits"),
    [
        (INSIDE._replace(to_conflict=0.2, speed=0.2, past_conflict=0.1), True),
        (INSIDE._replace(to_conflict=2.0), False),
        (INSIDE._replace(to_conflict=2.0, speed=0.4), True),
        (INSIDE._replace(to_conflict=0.2, conflict=TURNS), True),
        (INSIDE._replace(to_conflict=0.2, conflict=TURNS, likeliest=False), False),
        (INSIDE._replace(to_conflict=0.2, likeliest=False), True),
        # A vehicle that waits inside is judged as one before the line, by the room to the conflict.
        (INSIDE._replace(to_conflict=2.0, speed=0.29), False),
        (INSIDE._replace(to_conflict=0.31, speed=0.29), False),
    ],
)
def test_one_that_is_inside_is_let_out_unless_it_waits_there(
    road: RoadMap, other: ConflictVehicle, waits: bool
) -> None:
    assert held(situation(road), other) is waits


@pytest.mark.clause("INT-7", "USE-5")
@pytest.mark.parametrize(
    ("waited", "standing_for", "other", "waits"),
    [
        (3.1, 2.9, (60.0, 5.0), True),
        (3.1, 3.05, (60.0, 5.0), False),
        (2.9, 3.0, (60.0, 5.0), True),
        # Of two that came at once the western one goes first, straight across the southern one.
        (4.9, 5.0, (40.0, 5.0), True),
        (5.1, 5.0, (40.0, 5.0), False),
        (4.9, 5.0, (X, NEAR_Y + 5.0), False),
        (4.9, 5.0, (X, NEAR_Y - 5.0), True),
        # A vehicle that has stood for longer than half a second more goes first wherever it is.
        (4.9, 6.0, (60.0, 5.0), True),
        (4.9, 5.3, (60.0, 5.0), False),
        (5.1, 6.0, (60.0, 5.0), False),
        (4.9, 4.3, (40.0, 5.0), False),
        (4.9, 4.5, (40.0, 5.0), True),
    ],
)
def test_of_two_that_wait_for_each_other_one_goes_first(
    road: RoadMap, waited: float, standing_for: float, other: tuple[float, float], waits: bool
) -> None:
    now = situation(road, standing=waited, other=other)
    first = STANDS._replace(standing_for=standing_for)
    assert held(now, first, arrived=NOW - 20.0, other_arrivals={7: NOW - 30.0}) is waits
    blocks = INSIDE._replace(to_conflict=0.2, standing_for=standing_for)
    assert held(now, blocks, arrived=NOW - 20.0) is waits
    on_main_road = STANDS._replace(standing_for=standing_for, line=-1)
    assert held(now, on_main_road, ApproachControl.SIGN, arrived=NOW - 20.0) is waits


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    signs = {"E": STOP_SIGN, "N": YIELD_SIGN, "W": LIGHT}
    return crossroads(tmp_path_factory.mktemp("maps"), "signs", signs)


def line_of(road_map: RoadMap, kind: int) -> int:
    return int(np.flatnonzero(lane_index(road_map).arrays.line_kind == kind)[0])


FIRST, LAST, EQUAL = "first", "last", "equal"


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("control", "kind", "across", "rank"),
    [
        (ApproachControl.NONE, None, OpposingTurn.NONE, EQUAL),
        (ApproachControl.NONE, LIGHT_LINE, OpposingTurn.NONE, EQUAL),
        (ApproachControl.NONE, STOP, OpposingTurn.NONE, FIRST),
        (ApproachControl.NONE, YIELD, OpposingTurn.CAR, FIRST),
        (ApproachControl.NONE, None, OpposingTurn.OTHER, FIRST),
        (ApproachControl.NONE, None, OpposingTurn.CAR, LAST),
        (ApproachControl.SIGN, None, OpposingTurn.NONE, LAST),
        (ApproachControl.SIGN, None, OpposingTurn.OTHER, LAST),
        (ApproachControl.SIGN, STOP, OpposingTurn.NONE, EQUAL),
        (ApproachControl.SIGN, STOP, OpposingTurn.OTHER, FIRST),
        (ApproachControl.SIGN, YIELD, OpposingTurn.CAR, LAST),
        (ApproachControl.GREEN, None, OpposingTurn.NONE, FIRST),
        (ApproachControl.GREEN, STOP, OpposingTurn.NONE, FIRST),
        (ApproachControl.GREEN, None, OpposingTurn.OTHER, FIRST),
        (ApproachControl.GREEN, STOP, OpposingTurn.CAR, LAST),
    ],
)
def test_signs_and_turns_go_before_the_order_of_coming(
    road: RoadMap, signs: RoadMap, control: ApproachControl, kind: int | None, across: OpposingTurn, rank: str
) -> None:
    other = STOPS._replace(conflict=CONFLICT._replace(across=across), line=-1 if kind is None else line_of(signs, kind))
    now = situation(road, standing=2.0, index=lane_index(signs))
    came_first, came_last = (
        {"other_arrivals": {7: 10.0}, "arrived": 20.0},
        {"other_arrivals": {7: 20.0}, "arrived": 10.0},
    )
    assert held(now, other, control, **came_first) is (rank != FIRST)
    assert held(now, other, control, **came_last) is (rank == LAST)
    # A vehicle that cannot stop any more is let by by all, but by those that it turns across.
    turns = rank == FIRST and across is OpposingTurn.OTHER
    assert held(now, other._replace(to_stop=4.9), control, **came_last) is not turns
    # The one that has to wait and has been given its turn goes before those that only set off.
    slow = other._replace(speed=0.9, to_stop=2.0)
    assert held(now, slow, control, going=True, arrived=10.0) is False
    assert held(now, slow._replace(speed=1.1), control, going=True, arrived=10.0) is (rank == LAST)


@pytest.mark.clause("INT-7")
def test_one_that_turns_across_without_a_light_does_not_wait_for_ever(road: RoadMap) -> None:
    other = STOPS._replace(conflict=CONFLICT._replace(across=OpposingTurn.CAR))
    for control, standing, waits in (
        (ApproachControl.NONE, 4.9, True),
        (ApproachControl.NONE, 5.1, False),
        (ApproachControl.GREEN, 5.1, True),
    ):
        assert held(situation(road, standing=standing), other, control, arrived=0.0) is waits


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("light", "speed", "to_stop", "inside", "waits"),
    [
        (Light.RED, 5.0, 5.1, False, False),
        (Light.RED_YELLOW, 5.0, 5.1, False, False),
        (Light.YELLOW, 5.0, 5.1, False, False),
        (Light.RED, 5.0, 4.9, False, True),
        (Light.GREEN, 5.0, 4.9, False, True),
        (Light.UNKNOWN, 5.0, 4.9, False, True),
        (Light.RED, 0.45, 0.0, False, False),
        (Light.RED, 0.55, 0.0, False, True),
        (Light.RED, 0.4, -3.0, True, True),
    ],
)
def test_a_closed_light_stops_the_other_where_it_can_stop(
    road: RoadMap, signs: RoadMap, light: Light, speed: float, to_stop: float, inside: bool, waits: bool
) -> None:
    line = line_of(signs, LIGHT_LINE)
    index = lane_index(signs)
    now = situation(road, index=index, lights={int(index.arrays.line_signal[line]): light})
    other = COMES._replace(line=line, speed=speed, to_stop=to_stop, inside=inside, to_conflict=1.0)
    first = {"other_arrivals": {7: 0.0}, "arrived": 1.0}
    assert held(now, other, **first) is waits


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("speed", "to_stop", "to_conflict", "waits"),
    [
        # Set off at once, it is there as long as half a second after the car (3.08 s).
        (1.2, 0.9, 4.2, True),
        (1.2, 0.9, 4.4, False),
        (0.8, 0.9, 3.5, True),
        (0.8, 0.9, 3.7, False),
        (2.0, 0.9, 7.1, True),
        (1.2, 1.1, 4.2, False),
        (0.2, 0.9, 1.0, False),
        (0.4, 0.9, -1.0, True),
    ],
)
def test_once_it_is_the_car_s_turn_only_one_that_has_set_off_as_well_and_is_there_first_is_let_by(
    road: RoadMap, speed: float, to_stop: float, to_conflict: float, waits: bool
) -> None:
    other = COMES._replace(speed=speed, to_stop=to_stop, to_conflict=to_conflict)
    assert held(situation(road), other, going=True, other_arrivals={7: 0.0}, arrived=1.0) is waits


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("v", "standing", "speed", "past", "gap", "waits"),
    [
        (0.0, 1.0, 0.0, {"other_arrivals": {7: 50.0}, "arrived": 50.0}, 0.5, True),
        (0.0, 1.0, 0.0, {"other_arrivals": {7: 50.1}, "arrived": 50.0}, 0.5, False),
        (0.0, 9.0, 0.0, {"other_arrivals": {7: 49.0}, "arrived": 50.0}, 0.5, True),
        # Neither has come to its line: by the times to get there, with 1.5 s in the other's favour.
        (5.0, 0.0, 5.0, {}, 10.0, True),
        (5.0, 0.0, 5.0, {}, 0.3, False),
        (5.0, 0.0, 5.0, {}, 0.6, True),
        (0.0, 1.0, 5.0, {}, 0.0, False),
        (0.0, 1.0, 5.0, {}, 0.02, True),
        (0.0, 1.0, 5.0, {}, 0.004, False),
        (0.0, 1.0, 0.2, {}, 90.0, False),
        (0.0, 1.0, 5.0, {"arrived": 50.0}, 0.0, True),
        (1.0, 0.0, 5.0, {"arrived": 50.0}, 0.0, False),
        (0.0, 5.1, 5.0, {"arrived": 50.0}, 90.0, False),
    ],
)
def test_one_that_came_first_goes_first(
    road: RoadMap, v: float, standing: float, speed: float, past: dict[str, Any], gap: float, waits: bool
) -> None:
    assert held(situation(road, v, standing), STOPS._replace(speed=speed), gap=gap, **past) is waits


def test_one_that_rolls_over_its_line_has_come_first(road: RoadMap) -> None:
    for to_stop in (0.1, -0.5):
        assert held(situation(road, 5.0), STOPS._replace(speed=0.4, to_stop=to_stop, to_conflict=2.0), gap=0.0)


def test_the_wait_at_the_line_begins_when_the_car_has_come_there_and_stands(road: RoadMap) -> None:
    for standing, arrived, waited in ((3.0, 90.0, 3.0), (30.0, 90.0, 10.0), (3.0, math.inf, 0.0)):
        assert waited_for(situation(road, standing=standing), JunctionMemory(arrived)) == waited

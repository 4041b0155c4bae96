"""Where pedestrians walk, and whether the car stops for them: tables on a straight road, with bounds on both sides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tuling_fsm.behaviour.traffic.memory import PedestrianWait, TrafficRuleMemory
from tuling_fsm.behaviour.traffic.parameters import PedestrianParameters, TrafficRuleParameters
from tuling_fsm.behaviour.traffic.pedestrians import pedestrian_rules, pedestrians_beside
from tuling_fsm.behaviour.traffic.rules import traffic_rules
from tuling_fsm.core.request import Reason
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind

from ..worlds import VEHICLE
from .alone import FRONT, NOW, X, at, crosswalk, situation
from .walkers import FAR, askew_road, stops, walker

WAIT = PedestrianWait(FRONT + 2.0, 0.0, NOW - 60.0, NOW, FRONT)
"""The car has waited at this place for the patience."""


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The straight road in a direction in which no sine or cosine is 0 or 1."""
    return askew_road(tmp_path_factory.mktemp("map"))


def junction(s_from: float, s_to: float, approach_from: float) -> JunctionAhead:
    return JunctionAhead(s_from, s_to, Junction("j", (), {}, False), 0, 0, approach_from)


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("offset", "towards", "waits"),
    [
        (2.0, 0.0, True),
        (-2.0, -1.0, True),
        (2.1, 0.0, False),
        (-2.1, 0.0, False),
        # On the lane beside it has to come, and in time: the car is gone after 5.47 s, and 2 s more.
        (5.0, 0.45, True),
        (5.0, 0.38, False),
        (-5.0, 0.45, True),
        (-5.0, -0.45, False),
        (2.2, 0.31, True),
        (2.2, 0.29, False),
        (5.2, 1.0, True),
        (5.3, 1.0, False),
        (-5.3, 1.0, False),
    ],
)
def test_on_the_open_road(road: RoadMap, offset: float, towards: float, waits: bool) -> None:
    assert stops(situation(road, walker(FAR, offset, towards), v=3.0)) is waits


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("s_from", "s_to", "approach_from", "waits"),
    [
        (FAR + 5.0, FAR + 25.0, FAR - 1.0, True),
        (FAR + 29.0, FAR + 50.0, FAR + 9.0, True),
        (FAR + 31.0, FAR + 50.0, FAR + 9.0, False),
        (FAR + 31.0, FAR + 50.0, FAR - 1.0, True),
        (FAR - 9.0, FAR + 1.0, FAR - 20.0, True),
        (FAR - 9.0, FAR - 1.0, FAR - 20.0, False),
    ],
)
def test_before_a_junction_the_lane_beside_counts(
    road: RoadMap, s_from: float, s_to: float, approach_from: float, waits: bool
) -> None:
    junctions = (junction(s_from, s_to, approach_from),)
    assert stops(situation(road, walker(FAR, 3.0), v=3.0, junctions=junctions)) is waits


@pytest.mark.clause("INT-3")
def test_one_that_cannot_be_stopped_for_beside_the_lane_is_not_and_on_it_it_always_is(road: RoadMap) -> None:
    crosswalks = (crosswalk(road, X, X + 60.0),)
    for gap, waits in ((3.95, False), (4.05, True)):
        now = situation(road, walker(FRONT + gap, 3.0), v=6.0, crosswalks=crosswalks)
        assert stops(now) is waits
        assert stops(situation(road, walker(FRONT + gap, 1.0), v=6.0))


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("s", "offset", "waits"),
    [
        (FRONT + 0.1, 0.0, True),
        (FRONT - 0.1, 0.0, False),
        (FRONT - 0.9, 0.0, False),
        (FRONT + 39.8, 0.0, True),
        (FRONT + 39.95, 0.0, False),
        (FRONT + 45.0, 0.0, False),
    ],
)
def test_only_those_ahead_of_the_bumper_within_40_m(road: RoadMap, s: float, offset: float, waits: bool) -> None:
    assert stops(situation(road, walker(s, offset))) is waits


def test_only_those_that_walk_count(road: RoadMap) -> None:
    for kind in (Kind.PEDESTRIAN, Kind.ANIMAL, Kind.CAR):
        now = situation(road, replace(walker(FAR, 0.0), kind=kind))
        assert stops(now) is (kind is not Kind.CAR)


@pytest.mark.parametrize(("offset", "waits"), [(2.0, True), (2.1, False), (-2.0, True), (-2.1, False)])
def test_a_lane_out_of_sight_is_as_wide_as_lanes_are(road: RoadMap, offset: float, waits: bool) -> None:
    assert stops(situation(road, walker(FAR, offset), lanes=())) is waits


def test_one_that_comes_is_in_time_for_a_car_that_sets_off_at_once(road: RoadMap) -> None:
    # The car is gone after 6.62 s, and 2 s more.
    for seconds, waits in ((8.5, True), (8.8, False)):
        assert stops(situation(road, walker(FAR, -(2.05 + 0.35 * seconds), 0.35))) is waits


def test_at_the_edge_of_sight_one_on_the_right_counts_as_well(road: RoadMap) -> None:
    assert stops(situation(road, walker(FRONT + 39.6, -4.0, 1.0)))


def test_the_sides_of_the_lane_are_told_apart(road: RoadMap) -> None:
    (own,) = (lane for lane in situation(road).world.lanes if lane.shift == 0)
    narrow = replace(own, left=0.0 * own.left + 1.0, right=0.0 * own.right + 2.5)
    others = tuple(replace(own, shift=shift, left=own.left + 9.0, right=own.right + 9.0) for shift in (1, -1))
    for offset, waits in ((1.2, True), (1.4, False), (-2.7, True), (-2.9, False)):
        assert stops(situation(road, walker(FAR, offset), lanes=(*others, narrow))) is waits
    narrow = replace(own, left=0.1 * own.left, right=own.right)
    assert not stops(situation(road, walker(FAR, 0.8), lanes=(narrow,)))
    widens = replace(own, left=own.left + (own.center.s + own.route_s0 > FAR - 2.0), right=own.right)
    for s, waits in ((FAR, True), (FAR - 10.0, False)):
        assert stops(situation(road, walker(s, 2.9), lanes=(widens,))) is waits


@pytest.mark.clause("INT-3")
def test_where_the_car_stops(road: RoadMap) -> None:
    s = FAR + 1.6
    for crosswalks, expected in (
        ((), s - 2.4),
        ((crosswalk(road, FAR, FAR + 3.0),), FAR - 1.0),
        ((crosswalk(road, FAR + 0.5, FAR + 2.0),), s - 2.4),
        ((crosswalk(road, FRONT + 0.6, FAR + 2.0),), FRONT - 0.05),
        ((crosswalk(road, FRONT + 0.4, FAR + 2.0),), s - 2.4),
    ):
        ((where, wall),), *_ = pedestrian_rules(situation(road, walker(s, 0.5), crosswalks=crosswalks), ())
        assert at(road, wall) == pytest.approx(expected, abs=0.006)
        assert where <= at(road, wall) + 0.006
        assert (wall.reason, wall.blocker, wall.detail) == (Reason.PEDESTRIAN, 7, "pedestrian 7")


@pytest.mark.clause("USE-5")
@pytest.mark.parametrize(
    ("standing", "still_for", "speed", "released", "passed"),
    [
        (5.0, 5.0, 0.0, (), True),
        (4.9, 5.0, 0.0, (), False),
        (5.0, 4.9, 0.0, (), False),
        (0.0, 0.0, 0.0, (7,), True),
        (0.0, 0.0, 0.0, (8,), False),
        (0.0, 0.0, 0.25, (7,), True),
        (9.0, 9.0, 0.3, (7,), False),
    ],
)
def test_one_that_is_crept_past(
    road: RoadMap, standing: float, still_for: float, speed: float, released: tuple[int, ...], passed: bool
) -> None:
    for gap in (9.9, 10.1):
        one = replace(walker(FRONT + gap, 0.0), vx=speed, standing_for=still_for)
        walls, past, _, limit, *_ = pedestrian_rules(situation(road, one, standing_for=standing), released)
        assert (bool(walls), past) == (not passed, (7,) if passed else ())
        assert limit == (1.0 if passed and gap < 10.0 else math.inf)


@pytest.mark.clause("USE-5", "USE-2")
@pytest.mark.parametrize(
    ("behind_front", "standing", "speed", "released", "passed"),
    [
        (1.0, 0.0, 0.0, (7,), True),
        (VEHICLE.length - 0.1, 0.0, 0.0, (7,), True),
        (VEHICLE.length + 0.1, 0.0, 0.0, (7,), False),
        (1.0, 0.0, 0.3, (7,), False),
        (1.0, 5.0, 0.0, (), True),
        (1.0, 4.9, 0.0, (), False),
    ],
)
def test_one_beside_the_car_is_crept_past_up_to_its_rear_bumper(
    road: RoadMap, behind_front: float, standing: float, speed: float, released: tuple[int, ...], passed: bool
) -> None:
    """Else the car stands for ever beside one that stands."""
    one = replace(walker(FRONT - behind_front, 1.7), vx=speed, standing_for=standing)
    walls, past, _, limit, *_ = pedestrian_rules(situation(road, one, standing_for=standing), released)
    assert (walls, past) == ((), (7,) if passed else ())
    assert limit == (1.0 if passed else math.inf)


@pytest.mark.clause("USE-5", "USE-2")
@pytest.mark.parametrize(
    ("standing", "still_for", "waits", "gone_round"),
    [(60.0, 60.0, (), True), (59.9, 90.0, (), False), (90.0, 59.9, (), False), (0.0, 70.0, (WAIT,), True)],
)
def test_one_that_is_crept_up_to_is_waited_for_as_long_as_the_patience(
    road: RoadMap, standing: float, still_for: float, waits: tuple[PedestrianWait, ...], gone_round: bool
) -> None:
    one = replace(walker(FRONT + 2.0, 0.0), standing_for=still_for)
    told = pedestrian_rules(situation(road, one, standing_for=standing), (7,), waits)
    assert (told.released, told.given_up, told.creeps_up) == ((7,), (7,) if gone_round else (), not gone_round)
    moves = pedestrian_rules(situation(road, replace(one, vx=0.3), standing_for=standing), (7,), (WAIT,))
    assert (bool(moves.walls), moves.given_up, moves.creeps_up) == (True, (), False), "it is yielded to again"
    beside = pedestrian_rules(situation(road, replace(one, y=one.y + 2.2), standing_for=standing), (7,))
    assert not beside.creeps_up, "it stands beside the lane"


@pytest.mark.clause("USE-2", "USE-5")
@pytest.mark.parametrize(
    ("aside", "seen", "gone_round"), [(0.0, NOW - 5.0, True), (0.0, NOW - 5.1, False), (2.1, NOW, False)]
)
def test_the_patience_goes_on_where_perception_takes_one_for_another(
    road: RoadMap, aside: float, seen: float, gone_round: bool
) -> None:
    """The new one has stood for the stand-off, as the car has since it last crept on."""
    other = replace(walker(FRONT + 2.0, 0.0), id=8, standing_for=5.0)
    wait = WAIT._replace(offset=aside, seen=seen)
    told = pedestrian_rules(situation(road, other, standing_for=5.0), (7,), (wait,))
    assert (told.released, told.given_up) == ((8,), (8,) if gone_round else ())
    assert (WAIT in told.waits) is gone_round
    again = pedestrian_rules(situation(road, replace(other, vx=0.3)), (), (WAIT,))
    assert (again.given_up, again.waits) == ((), (WAIT,)), "it only shifts from foot to foot"


@pytest.mark.clause("USE-2", "USE-5")
@pytest.mark.parametrize(
    ("ago", "moved", "gone_round"),
    [(60.0, 1.9, True), (60.0, 2.1, True), (59.9, 1.9, False), (59.9, 2.1, False)],
)
def test_the_patience_begins_anew_where_the_car_comes_on(
    road: RoadMap, ago: float, moved: float, gone_round: bool
) -> None:
    """Else one behind another would not be waited for; but what is gone round stays so on the way."""
    wait = WAIT._replace(since=NOW - ago, front=FRONT - moved)
    told = pedestrian_rules(situation(road, replace(walker(FRONT + 2.0, 0.0), standing_for=90.0)), (7,), (wait,))
    assert told.given_up == ((7,) if gone_round else ())
    kept = gone_round or moved < 2.0
    (lasting,) = told.waits
    assert (lasting.since, lasting.front) == ((wait.since, wait.front) if kept else (NOW, pytest.approx(FRONT)))


@pytest.mark.clause("USE-2", "USE-5")
@pytest.mark.parametrize(
    ("standing", "still_for", "speed", "stands_for", "before", "gone_round"),
    [
        (60.0, 5.0, 0.0, 7, (), True),
        (60.0, 5.0, 0.25, 7, (), True),
        (60.0, 5.0, 0.3, 7, (), False),
        (59.9, 90.0, 0.0, 7, (), False),
        (60.0, 4.9, 0.0, 7, (), False),
        (60.0, 60.0, 0.0, 8, (), False),
        (60.0, 60.0, 0.0, -1, (), False),
        (0.0, 0.0, 0.0, -1, (7,), True),
        (0.0, 0.0, 0.3, -1, (7,), False),
        (60.0, 60.0, 0.0, -1, (8,), False),
    ],
)
def test_one_beside_the_route_that_a_motion_stands_for_is_gone_round_after_the_patience(
    road: RoadMap, standing: float, still_for: float, speed: float, stands_for: int, before: tuple[int, ...],
    gone_round: bool,
) -> None:  # fmt: skip
    """Behind the car or off the road the rule for the way along the route does not see them."""
    for s, offset, limit in ((X - 6.0, 0.0, 1.0), (X, 9.9, 1.0), (X, -10.1, math.inf)):
        one = replace(walker(s, offset), vx=speed, standing_for=still_for)
        now = situation(road, one, standing_for=standing)
        assert pedestrian_rules(now, ())[:2] == ((), ())
        beside = pedestrians_beside(now, (), stands_for, before)
        assert beside == (((7,), limit) if gone_round else ((), math.inf))
        assert pedestrians_beside(now, (7,), stands_for, before).given_up == (), "it is yielded to on the route"
    car = replace(walker(X - 6.0, 0.0), kind=Kind.CAR, standing_for=still_for)
    assert pedestrians_beside(situation(road, car, standing_for=standing), (), stands_for, before).given_up == ()
    far = replace(walker(X + 40.1, 9.0), standing_for=90.0)
    assert pedestrians_beside(situation(road, far), (), -1, (7,)).given_up == (), "the car has left them behind"


@pytest.mark.clause("USE-2")
def test_who_is_gone_round_beside_the_route_is_remembered_with_it(road: RoadMap) -> None:
    now = situation(road, replace(walker(X - 6.0, 0.0), standing_for=60.0), standing_for=60.0)

    def rules(memory: TrafficRuleMemory, stands_for: int) -> TrafficRuleMemory:
        return traffic_rules(now.world, road, VEHICLE, memory, now.parameters, stands_for=stands_for).memory

    met = rules(TrafficRuleMemory(), 7)
    assert (met.released, met.given_up, met.beside) == ((7,), (7,), (7,))
    assert rules(met, -1).released == (7,)
    assert rules(replace(met, route=None), -1).released == ()


def test_one_that_is_not_in_the_way_or_crept_past_hides_no_other(road: RoadMap) -> None:
    others = (walker(FAR, 4.0), replace(walker(FRONT + 5.0, 0.0), id=8), replace(walker(FAR, 0.0), id=9))
    walls, past, _, limit, *_ = pedestrian_rules(situation(road, *others), (8,))
    assert ([wall.blocker for _, wall in walls], past, limit) == ([9], (8,), 1.0)
    slower = TrafficRuleParameters(pedestrian=PedestrianParameters(creep_speed=0.4))
    assert pedestrian_rules(situation(road, *others, parameters=slower), (8,)).speed_limit == 0.4

"""The envelope of speeds along a path, and what a car that obeys it and the traffic drives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PKAPPA, PROOM, PS, PX, FrenetPath, new_path
from tuling_fsm.planning.speed import roll_out as ro
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, ramp_of, stopping_distance
from tuling_fsm.planning.speed.roll_out import (
    AT_LIMIT,
    FOLLOWING,
    FREE,
    IN_BEND,
    PASSING,
    STOPPING,
    TIGHT,
    YIELDING,
    Progress,
    SpeedEnvelope,
    StartMotion,
    StBoundaries,
    StopTarget,
    no_traffic,
)

D = LongitudinalLimits.of(Vehicle(), PlanningParameters())
RAMP = ramp_of(D)
N, STEP_M = 201, 0.5
NOWHERE = StopTarget(math.inf, 0.0)
ROWS = round(7.0 / STEP_S) + 1


def straight(points: int = N) -> FrenetPath:
    path = new_path(points)
    path[:, PS] = STEP_M * np.arange(points)
    path[:, PX], path[:, PCOS], path[:, PROOM] = path[:, PS], 1.0, 9.0
    return FrenetPath(path, points, 0, np.zeros((2, 16)), 0)


def envelope_of(frenet: FrenetPath, limit: FloatArray | float, cause: FloatArray | float = AT_LIMIT) -> SpeedEnvelope:
    n = frenet.points
    made = ro.new_envelope(n)
    ro.fill_envelope(frenet, np.full(n, limit), np.full(n, float(cause)) if np.ndim(cause) == 0 else cause, D, made)
    return made


def driven(
    frenet: FrenetPath, envelope: SpeedEnvelope, v: float, a: float = 0.0, stop: StopTarget = NOWHERE,
    traffic: StBoundaries | None = None,
) -> tuple[FloatArray, ro.AccelerationDemand]:  # fmt: skip
    rows = np.empty((ROWS, 3))
    demand = ro.roll_out(frenet, envelope, stop, traffic or no_traffic(), StartMotion(v, a), D, rows)
    return rows, demand


def test_an_even_limit_holds_all_along_and_up_to_what_the_car_can_do() -> None:
    for limit, top in ((5.0, 5.0), (1e3, D.max_speed)):
        made = envelope_of(straight(), limit)
        assert np.all(made.speed == top) and np.all(made.bound == AT_LIMIT) and np.all(made.level == math.inf)


@pytest.mark.parametrize(("before", "after"), [(8.0, 3.0), (8.0, 7.0), (6.0, 0.5)])
def test_a_lower_limit_ahead_is_braked_for_in_comfort(before: float, after: float) -> None:
    limit, at = np.full(N, before), 120
    limit[at:] = after
    made = envelope_of(straight(), limit)
    assert np.all(made.speed <= limit) and np.all(made.speed[at:] == after)
    braking = -np.diff(made.speed**2) / (2.0 * STEP_M)
    assert np.all(braking[: at - 1] <= D.decel + 1e-9)
    assert braking[at - 1] <= min(D.decel, D.jerk * STEP_M / max(D.creep, after)) + 1e-9, "at the end it has eased off"
    onset = braking[:at][::-1]
    grown = np.diff(onset[onset > 1e-6])
    assert np.all(grown[:-1] <= D.jerk * STEP_M / max(D.creep, after) + 1e-9)
    needed = (before**2 - after**2) / (2.0 * D.decel)
    begins = int(np.argmax(made.speed < before))
    assert (
        needed <= STEP_M * (at - begins) + STEP_M <= needed + 0.5 * D.decel / D.jerk * (before + after) + 3.0 * STEP_M
    )
    assert made.level[begins - 1] == pytest.approx(STEP_M * (begins - 1))
    assert np.all(made.level[: begins - 1] == made.level[begins - 1]) and np.all(made.level[at:] == math.inf)


def bent(kappa: float, at: float, ramp: float, length: float) -> FrenetPath:
    """A bend between two clothoids (m)."""
    frenet = straight()
    knots = (at, at + ramp, at + ramp + length, at + 2.0 * ramp + length)
    frenet.path[:, PKAPPA] = np.interp(frenet.path[:, PS], knots, (0.0, kappa, kappa, 0.0))
    return frenet


@pytest.mark.parametrize("kappa", [0.05, -0.1, 0.2])
def test_a_bend_is_driven_with_the_lateral_acceleration_that_is_allowed(kappa: float) -> None:
    made = envelope_of(bent(kappa, 40.0, 20.0, 10.0), 13.0)
    fastest = math.sqrt(D.lateral / abs(kappa))
    assert np.all(made.speed[122:138] == pytest.approx(fastest))
    assert np.all(made.bound[122:138] == IN_BEND) and np.all(made.bound[:40] == AT_LIMIT)
    assert made.speed[[0, -1]] == pytest.approx(D.max_speed)


@pytest.mark.parametrize("kappa", [-0.1, 0.2])
def test_where_a_bend_begins_the_car_is_so_slow_that_the_wheels_can_be_turned(kappa: float) -> None:
    made = envelope_of(bent(kappa, 50.0, 1.0, 10.0), 13.0)
    rate = abs(math.atan(D.wheelbase * kappa)) / 1.0
    assert made.speed[100:103].min() == pytest.approx(D.steer_rate / rate, rel=0.1)
    assert np.all(made.bound[90:100] == IN_BEND), "it is what the car brakes for"
    kink = straight()
    kink.path[100:, PKAPPA] = kappa
    assert envelope_of(kink, 13.0).speed.min() >= D.creep


def test_narrow_places_and_what_is_passed_slow_the_car() -> None:
    frenet = straight()
    frenet.path[100:110, PROOM], frenet.path[110:120, PROOM] = 0.1, -1.0
    made = envelope_of(frenet, 13.0)
    assert made.speed[105] == pytest.approx(D.slow_speed + 0.1 * D.slow_slope)
    assert made.speed[115] == pytest.approx(D.slow_speed)
    assert np.all(made.bound[100:120] == TIGHT) and made.bound[150] == AT_LIMIT
    cause = np.full(N, float(AT_LIMIT))
    limit = np.full(N, 8.0)
    limit[80:90], cause[80:90] = 4.0, PASSING + 2.0
    made = envelope_of(straight(), limit, cause)
    assert np.all(made.bound[75:90] == PASSING + 2.0) and made.bound[95] == AT_LIMIT


@pytest.mark.parametrize(("v", "a"), [(0.0, 0.0), (3.0, 1.0), (8.0, -1.0), (4.0, 3.0)])
def test_no_car_gets_farther_than_what_it_can_have_reached(v: float, a: float) -> None:
    farthest = np.empty(PREDICTION_STEPS)
    ro.fill_reachable(StartMotion(v, a), ROWS, D, farthest)
    hardest, s, u = max(a, D.accel), 0.0, v
    for j in range(PREDICTION_STEPS):
        assert farthest[j] == pytest.approx(s, abs=0.02)
        for _ in range(round(PREDICTION_STEP_S / 1e-3)):
            s, u = s + 1e-3 * u, min(D.max_speed, u + 1e-3 * hardest)
    ro.fill_reachable(StartMotion(v, a), 21, D, farthest)
    assert np.all(farthest[round(20 * STEP_S / PREDICTION_STEP_S) :] == farthest[-1])


def test_a_car_accelerates_to_the_limit_and_keeps_it() -> None:
    frenet = straight()
    for v, limit in ((0.0, 5.0), (3.0, 8.0), (8.0, 5.0)):
        rows, demand = driven(frenet, envelope_of(frenet, limit), v)
        assert rows[-1, 1] == pytest.approx(limit, abs=0.1)
        assert rows[:, 1].max() <= max(v, limit) + 0.02 and rows[:, 2].max() <= D.accel + 1e-9
        assert np.all(np.abs(np.diff(rows[:, 2])) <= D.jerk * STEP_S + 1e-9)
        np.testing.assert_allclose(np.diff(rows[:, 0]), 0.5 * STEP_S * (rows[1:, 1] + rows[:-1, 1]), atol=1e-9)
        assert demand.reason == (AT_LIMIT if v > limit or limit - v < D.accel / D.gain else FREE)
        assert demand.blame == -1


def test_a_car_brakes_for_a_bend_before_it() -> None:
    frenet = bent(0.1, 25.0, 10.0, 20.0)
    made = envelope_of(frenet, 8.0)
    rows, demand = driven(frenet, made, 8.0)
    allowed = np.interp(rows[:, 0], frenet.path[:, PS], made.speed)
    assert np.all(rows[:, 1] <= allowed + 0.35)
    assert rows[:, 2].min() >= -1.3 * D.decel - 1e-9 and rows[:, 1].min() > 1.0
    assert demand.reason in (AT_LIMIT, IN_BEND)
    late, _ = driven(frenet, made, 8.0, 1.0)
    assert late[1, 2] == pytest.approx(1.0 - D.jerk * STEP_S)


@pytest.mark.parametrize("room", [3.0, 12.0, 30.0])
@pytest.mark.parametrize("v", [0.0, 4.0])
def test_a_car_stops_where_it_has_to(room: float, v: float) -> None:
    frenet = straight()
    rows, demand = driven(frenet, envelope_of(frenet, 6.0), v, stop=StopTarget(room, 0.0))
    assert rows[:, 0].max() <= room + 0.02
    hard = v * v / (2.0 * room) > D.decel
    assert hard or rows[:, 2].min() >= -1.3 * D.decel - 1e-9
    if room < 20.0:
        assert rows[-1, 1] == 0.0 and rows[-1, 0] == pytest.approx(room, abs=0.35)
    if v > 0.0 and room == 3.0:
        assert demand.reason == STOPPING and demand.distance == room and demand.room == room


def test_for_less_than_a_start_is_worth_a_standing_car_stays() -> None:
    frenet = straight()
    made = envelope_of(frenet, 6.0)
    for room, moves in ((D.start_room - 0.05, False), (D.start_room + 0.3, True)):
        rows, demand = driven(frenet, made, 0.0, stop=StopTarget(room, 0.0))
        assert bool(rows[-1, 0] > 0.1) is moves
        assert demand.reason == (STOPPING if not moves else demand.reason)
    rows, _ = driven(frenet, made, 0.3, stop=StopTarget(D.start_room - 0.05, 0.0))
    assert rows[-1, 0] > 0.1, "one that rolls goes on"


def led(gap: float, leader_v: float) -> StBoundaries:
    traffic = no_traffic()
    traffic.leader_s[:] = gap + leader_v * PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)
    traffic.leader_v[:], traffic.leader_id[:] = leader_v, 7
    return traffic


def walled(gap: float, first: int, last: int) -> StBoundaries:
    traffic = no_traffic()
    traffic.wall_s[first : last + 1], traffic.wall_id[first : last + 1] = gap, 9
    return traffic


def test_before_what_crosses_a_standing_car_stays_where_it_could_only_come_nearer() -> None:
    made, last, room = envelope_of(straight(), 6.0), 10, D.crossing_start_room - 0.1
    gone = round(last * PREDICTION_STEP_S / STEP_S)
    rows, demand = driven(straight(), made, 0.0, traffic=walled(room, 0, last))
    assert (demand.reason, demand.blame, rows[gone, 0]) == (YIELDING, 9, 0.0)
    assert rows[-1, 0] > room, "and goes on when it has left"
    assert driven(straight(), made, 0.0, traffic=walled(room + 0.5, 0, last))[0][gone, 0] > 0.5
    assert driven(straight(), made, 0.0, stop=StopTarget(room, 0.0))[0][-1, 0] > 0.5, "a line is driven up to"
    assert driven(straight(), made, 0.5, traffic=walled(room, 0, last))[0][gone, 0] > 0.5, "one that rolls comes nearer"


def test_what_the_traffic_asks_for_names_what_and_how_far() -> None:
    for j, late in ((0, 0.0), (4, 0.1)):
        told = ro.traffic_demand(led(20.0, 4.0), NOWHERE, j, late, Progress(3.0, 8.0, 0.0), RAMP, D)
        distance = 20.0 + 4.0 * (PREDICTION_STEP_S * j + late) - 3.0
        assert (told.reason, told.blame) == (FOLLOWING, 7)
        assert told.distance == pytest.approx(distance) and told.room == math.inf
    told = ro.traffic_demand(led(20.0, 0.0), NOWHERE, 0, 0.0, Progress(3.0, 8.0, 0.0), RAMP, D)
    assert told.room == pytest.approx(17.0 - D.standstill_gap), "one that stands is come up to"
    told = ro.traffic_demand(walled(10.0, 0, 9), NOWHERE, 3, 0.0, Progress(3.0, 5.0, 0.0), RAMP, D)
    assert (told.reason, told.blame, told.distance, told.room) == (YIELDING, 9, 7.0, 7.0)
    nearer = ro.traffic_demand(walled(10.0, 0, 9), StopTarget(8.0, 0.0), 3, 0.0, Progress(3.0, 5.0, 0.0), RAMP, D)
    assert (nearer.reason, nearer.blame, nearer.distance) == (STOPPING, -1, 5.0)
    coming = ro.traffic_demand(walled(10.0, 4, 9), NOWHERE, 3, 0.0, Progress(3.0, 5.0, 0.0), RAMP, D)
    assert coming.reason == YIELDING, "it is there before the step is over"
    assert ro.traffic_demand(walled(10.0, 5, 9), NOWHERE, 3, 0.0, Progress(3.0, 5.0, 0.0), RAMP, D).reason == FREE
    last = PREDICTION_STEPS - 1
    assert ro.traffic_demand(walled(10.0, last, last), NOWHERE, last, 0.0, Progress(3.0, 5.0, 0.0), RAMP, D).blame == 9
    free = ro.traffic_demand(no_traffic(), NOWHERE, 0, 0.0, Progress(3.0, 5.0, 0.0), RAMP, D)
    assert free == (math.inf, FREE, -1, math.inf, math.inf)
    both = led(60.0, 8.0)._replace(wall_s=walled(10.0, 0, 9).wall_s, wall_id=walled(10.0, 0, 9).wall_id)
    assert ro.traffic_demand(both, NOWHERE, 0, 0.0, Progress(0.0, 5.0, 0.0), RAMP, D).reason == YIELDING
    near = led(4.0, 0.0)._replace(wall_s=walled(30.0, 0, 9).wall_s, wall_id=walled(30.0, 0, 9).wall_id)
    told = ro.traffic_demand(near, NOWHERE, 0, 0.0, Progress(0.0, 5.0, 0.0), RAMP, D)
    assert (told.reason, told.blame, told.distance) == (FOLLOWING, 7, 4.0)


def test_beyond_a_wall_there_is_slack_and_beyond_a_stop_as_much_as_it_says() -> None:
    now, room = Progress(0.0, 5.0, 0.0), 0.5 * 5.0 * 5.0 / D.decel - 0.1
    wall = ro.traffic_demand(walled(room, 0, 9), NOWHERE, 0, 0.0, now, RAMP, D).accel
    firm, soft = (
        ro.traffic_demand(no_traffic(), StopTarget(room, slack), 0, 0.0, now, RAMP, D).accel for slack in (0.0, 5.0)
    )
    assert firm < wall == pytest.approx(soft)


def test_among_traffic_the_car_keeps_behind_and_waits() -> None:
    frenet = straight()
    made = envelope_of(frenet, 8.0)
    rows, demand = driven(frenet, made, 8.0, traffic=led(14.0, 4.0))
    leader = 14.0 + 4.0 * STEP_S * np.arange(ROWS)
    assert np.all(leader - rows[:, 0] > D.standstill_gap) and rows[-1, 1] == pytest.approx(4.0, abs=0.4)
    assert (demand.reason, demand.blame, demand.distance) == (FOLLOWING, 7, 14.0)
    rows, demand = driven(frenet, made, 6.0, traffic=walled(16.0, 0, 12))
    gone = round(12 * PREDICTION_STEP_S / STEP_S)
    assert rows[gone, 0] <= 16.0 and rows[-1, 1] > rows[gone, 1] + 1.0, "and goes on when it has left"
    assert (demand.reason, demand.blame) == (YIELDING, 9)


def test_the_rest_of_a_roll_out_is_the_roll_out_from_there() -> None:
    frenet = straight()
    made, traffic = envelope_of(frenet, 8.0), walled(20.0, 8, 16)
    whole, _ = driven(frenet, made, 5.0, 0.5, traffic=traffic)
    for begin in (1, 30):
        rows = np.empty((ROWS, 3))
        rows[: begin + 1] = whole[: begin + 1]
        ro.roll_out(frenet, made, NOWHERE, traffic, StartMotion(5.0, 0.5), D, rows, begin)
        np.testing.assert_allclose(rows, whole, atol=1e-9)


@pytest.mark.parametrize(
    ("v", "a", "wanted", "soon", "settled", "after"),
    [
        (5.0, 0.0, 1.0, True, False, D.jerk * STEP_S),
        (5.0, 0.0, 0.01, True, False, 0.01),
        (5.0, 1.0, -1.0, True, False, 1.0 - D.jerk * STEP_S),
        (5.0, 0.0, -4.0, True, False, -max(D.hard_jerk * STEP_S, 1.3 * D.decel)),
        (5.0, 0.0, -4.0, False, False, -D.jerk * STEP_S),
        (5.0, -4.0, -1.0, True, False, min(-1.0, -4.0 + D.hard_jerk * STEP_S)),
        (5.0, -1.0, -2.0, True, False, -1.0 - D.jerk * STEP_S),
    ],
    ids=["jerk", "reached", "down", "hard at once", "late is not hard", "out of hard braking", "a little more"],
)
def test_from_step_to_step_the_acceleration_changes_with_the_jerk_that_is_due(
    v: float, a: float, wanted: float, soon: bool, settled: bool, after: float
) -> None:
    new_v, new_a = ro._next_speed(v, a, wanted, soon, settled, D)
    assert new_a == pytest.approx(after)
    assert new_v == pytest.approx(v + 0.5 * STEP_S * (a + new_a))


def test_a_speed_ends_at_nothing_and_never_below() -> None:
    assert ro._next_speed(0.04, -1.5, -1.5, True, False, D) == (0.0, 0.0)
    assert ro._next_speed(3.0, 0.0, 1.0, True, True, D) == (0.0, 0.0)
    assert ro._next_speed(1e-5, 0.0, 0.0, True, False, D) == (0.0, 0.0)
    assert ro._next_speed(0.0, 0.0, 1.0, True, False, D)[0] > 0.0


def test_a_point_is_looked_for_from_where_one_is() -> None:
    path = straight(11).path
    for s, at in ((0.0, 0), (0.49, 0), (0.5, 1), (2.3, 4), (5.0, 9), (9.0, 9)):
        assert ro.seek(path, 11, 0, s) == at
        assert ro.seek(path, 11, max(0, at - 2), s) == at


def test_stopping_takes_what_it_takes() -> None:
    frenet = straight()
    made = envelope_of(frenet, 8.0)
    far = stopping_distance(8.0, RAMP, D) + 25.0
    rows, demand = driven(frenet, made, 8.0, stop=StopTarget(far, 0.0))
    assert demand.reason == AT_LIMIT and rows[5, 2] == pytest.approx(0.0, abs=1e-6)


def test_what_the_envelope_asks_for_is_seen_a_little_ahead() -> None:
    frenet, gain, n = straight(21), D.gain, 21
    even = np.full(n, 5.0)
    for v in (4.0, 6.0):
        for s in (2.0, 9.9, 12.0):
            assert ro._envelope_accel(frenet, even, 0, s, v, gain) == pytest.approx(gain * (5.0 - v))
    rising = np.interp(frenet.path[:, PS], (4.0, 8.0), (3.0, 7.0))
    assert ro._envelope_accel(frenet, rising, 0, 6.0, 2.0, gain) == pytest.approx(gain * (5.0 - 2.0))
    # A speed that falls with the way by 0.5 /s: the car brakes with v dv/ds as soon as it sees it.
    falling = np.interp(frenet.path[:, PS], (4.0, 8.0), (6.0, 4.0))
    on = ro._envelope_accel(frenet, falling, 0, 6.0, 5.0, gain)
    assert on == pytest.approx(-0.5 * 5.0, abs=0.25)
    soon = ro._envelope_accel(frenet, falling, 0, 2.5, 6.0, gain)
    assert -3.1 < soon < 0.0, "it begins within 0.7 s"
    assert ro._envelope_accel(frenet, falling, 0, 0.0, 5.5, gain) == pytest.approx(gain * 0.5)
    low_end = np.full(n, 5.0)
    low_end[-1] = 3.0
    assert ro._envelope_accel(frenet, low_end, 0, 9.0, 5.0, gain) <= gain * (3.0 - 5.0) + 1e-9, "the end is in sight"

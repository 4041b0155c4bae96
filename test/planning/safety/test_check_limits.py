"""The independent check at both sides of each of its limits, in every direction, with what it says (SAF-2)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.check import Violation, ViolationKind, check, hazard

from ..scenes import Thing, bent, lane_line, obstacles

pytestmark = pytest.mark.clause("SAF-2")

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
LIMITS = PARAMETERS.check
HEADING = 2.0
"""Of all that is driven here: nothing lies along an axis."""
C, S = math.cos(HEADING), math.sin(HEADING)
FREE = Regulations()


def placed(ahead: float, left: float = 0.0, turn: float = 0.0) -> Pose:
    """A pose as seen from where the car is, at 30, -20."""
    return Pose(30.0 + ahead * C - left * S, -20.0 + ahead * S + left * C, HEADING + turn)


def driving(v: float | FloatArray, rows: int = 61, a: float | FloatArray = 0.0, aside: float = 0.0) -> Trajectory:
    """Straight on, `aside` to the left of the car, at a speed or at those of the rows."""
    t, speed = 0.1 * np.arange(rows), np.full(rows, v)
    s = np.concatenate(([0.0], np.cumsum(0.05 * (speed[1:] + speed[:-1]))))
    x, y = 30.0 + s * C - aside * S, -20.0 + s * S + aside * C
    return Trajectory(0.0, t, x, y, np.full(rows, HEADING), np.zeros(rows), speed, np.full(rows, a))


def around(things: tuple[Thing, ...] = (), edges: FloatArray | None = None, pose: Pose | None = None) -> Scene:
    at = pose or placed(0.0)
    return Scene(0.0, Ego(at, 5.0, 0.0, 0.0), obstacles(things), np.zeros((0, 4)) if edges is None else edges)


def thing(number: int, ahead: float, left: float, turn: float = 0.0, v: float = 0.0, length: float = 4.5) -> Thing:
    x, y, heading = placed(ahead, left, turn)
    return Thing(number, x, y, heading, v, length=length)


def judged(
    plan: Trajectory, now: Scene | None = None, rules: Regulations = FREE, stop: bool = False
) -> Violation | None:
    return check(plan, now or around(), rules, VEHICLE, PARAMETERS, stop)


def breach(
    plan: Trajectory, now: Scene | None = None, rules: Regulations = FREE, stop: bool = False
) -> ViolationKind | None:
    found = judged(plan, now, rules, stop)
    return None if found is None else found.breach


@pytest.mark.clause("SAF-5")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_plan_begins_where_the_car_was_measured_or_as_far_along_as_it_can_have_moved(sign: float) -> None:
    plan, moved = driving(5.0), Regulations(moved=0.5)
    for off, right in ((0.99 * LIMITS.start, True), (1.01 * LIMITS.start, False)):
        assert (judged(plan, around(pose=placed(sign * off))) is None) is right
        assert (judged(plan, around(pose=placed(0.0, sign * off))) is None) is right
        assert (judged(plan, around(pose=placed(sign * (off + 0.5))), moved) is None) is right
        assert (judged(plan, around(pose=placed(0.0, sign * off)), moved) is None) is right, "not to the side"
    for turn, right in ((0.99, True), (1.01, False)):
        pose = placed(0.0, 0.0, sign * turn * LIMITS.start_heading)
        assert (judged(plan, around(pose=pose)) is None) is right
    told = judged(plan, around(pose=placed(-2.0, 0.0)))
    assert told == Violation(ViolationKind.START, 0.0, "begins 2.0 m along, 0.0 m aside of the car")


def speeds(v: float, a: float, rows: int = 61) -> FloatArray:
    return np.asarray(np.maximum(0.0, v + a * 0.1 * np.arange(rows)))


def test_each_limit_of_the_car_has_its_share_and_its_words() -> None:
    bend = LIMITS.curvature * VEHICLE.max_curvature
    for factor, wrong in ((0.99, False), (1.01, True)):
        plan = replace(driving(0.0), curvature=np.full(61, factor * bend))
        told = judged(plan)
        assert (told is not None) is wrong
        if told is not None:
            assert told.detail == f"{1.01 * bend:.3f} 1/m, limit {bend:.3f}" and told.breach is ViolationKind.CURVATURE
    most = LIMITS.accel * VEHICLE.max_accel
    for factor, wrong in ((0.99, False), (1.01, True)):
        plan = driving(speeds(0.5, factor * most, 31), 31, a=factor * most)
        assert (breach(plan) is ViolationKind.ACCELERATION) is wrong
    least = LIMITS.accel * VEHICLE.emergency_decel
    for factor, wrong in ((0.99, False), (1.01, True)):
        v = speeds(7.0, -factor * least)
        plan = driving(v, a=np.where(v > 0.0, -factor * least, 0.0))
        assert (breach(plan) is ViolationKind.ACCELERATION) is wrong
    jerk = LIMITS.jerk * VEHICLE.max_jerk
    for factor, wrong in ((0.98, False), (1.02, True)):
        a = np.where(np.arange(61) >= 30, -factor * jerk * 0.1, 0.0)
        plan = driving(3.0 + np.concatenate(([0.0], np.cumsum(0.05 * (a[1:] + a[:-1])))), a=a)
        told = judged(plan)
        assert (told is not None) is wrong
        if told is not None:
            assert told.t == pytest.approx(2.9) and told.breach is ViolationKind.JERK
            assert told.detail == f"{1.02 * jerk:.1f} m/s^3, limit {jerk:.1f}"


def test_the_wheels_turn_no_faster_than_they_can() -> None:
    rate = LIMITS.steer_rate * VEHICLE.max_steer_rate
    for factor, wrong in ((0.98, False), (1.02, True)):
        steer = np.minimum(factor * rate * np.maximum(0.0, 0.1 * np.arange(61) - 3.0), 0.3)
        kappa = np.tan(steer) / VEHICLE.wheelbase
        plan = driving(0.2)
        heading = HEADING + np.concatenate(([0.0], np.cumsum(0.02 * 0.5 * (kappa[1:] + kappa[:-1]))))
        middle = 0.5 * (heading[1:] + heading[:-1])
        x = 30.0 + np.concatenate(([0.0], np.cumsum(0.02 * np.cos(middle))))
        y = -20.0 + np.concatenate(([0.0], np.cumsum(0.02 * np.sin(middle))))
        told = judged(replace(plan, x=x, y=y, heading=heading, curvature=kappa))
        assert (told is not None) is wrong
        if told is not None:
            assert (told.breach, told.t) == (ViolationKind.CURVATURE_RATE, pytest.approx(3.0))


def test_a_stop_may_begin_as_the_car_is_but_not_go_on_as_no_car_can() -> None:
    v = speeds(6.0, -6.0)
    stop = driving(v, a=np.where(v > 0.0, -6.0, 0.0))
    assert judged(stop, stop=True) is None
    bent_now = replace(stop, curvature=np.where(np.arange(61) == 0, 0.5, 0.0))
    assert judged(bent_now, stop=True) is None and breach(bent_now) is ViolationKind.CURVATURE
    bent_later = replace(stop, curvature=np.where(np.arange(61) == 4, 0.5, 0.0))
    assert breach(bent_later, stop=True) is ViolationKind.CURVATURE
    least = LIMITS.accel * VEHICLE.emergency_decel
    hard_now = replace(stop, a=np.where(np.arange(61) == 0, -2.0 * least, stop.a))
    assert judged(hard_now, stop=True) is None
    hard_later = replace(stop, a=np.where(np.arange(61) == 4, -2.0 * least, stop.a))
    assert breach(hard_later, stop=True) is ViolationKind.ACCELERATION
    goes_on = driving(14.0)
    assert breach(goes_on, stop=True) is ViolationKind.SPEED_LIMIT, "it does not stop"


def test_speed_limits_are_those_of_the_car_of_the_request_and_of_the_lane() -> None:
    top = LIMITS.speed
    for limit, rules in (
        (VEHICLE.max_speed, FREE), (5.0, Regulations(speed_limit=5.0)), (-VEHICLE.max_reverse_speed, FREE),
        (-0.5, Regulations(speed_limit=0.5)),
    ):  # fmt: skip
        for factor, wrong in ((0.99, False), (1.01, True)):
            v = factor * math.copysign(abs(limit) + top, limit)
            assert (breach(driving(v), rules=rules) is ViolationKind.SPEED_LIMIT) is wrong, v
    points = bent((120.0, 0.0))
    points = np.column_stack((30.0 + points[:, 0] * C, -20.0 + points[:, 0] * S, points[:, 2] + HEADING))
    own, other = lane_line(points, limit=4.0), lane_line(points, 3.5, limit=7.0)
    both = Regulations(lanes=(own, other))
    assert breach(driving(4.5), rules=both) is ViolationKind.SPEED_LIMIT
    assert breach(driving(4.3), rules=both) is None
    beside = around(pose=placed(0.0, 2.0))
    assert breach(driving(7.3, aside=2.0), beside, both) is None, "the other lane is nearer"
    assert breach(driving(7.5, aside=2.0), beside, both) is ViolationKind.SPEED_LIMIT
    told = judged(driving(4.5), rules=both)
    assert told is not None and told.detail == "4.50 m/s, limit 4.00"


def closed(ahead: float, left: float = 0.0, turn: float = 0.0, half: float = 1.75, decel: float = 6.0) -> Regulations:
    """A closed stop line across the way."""
    x, y, _ = placed(ahead, left)
    heading = HEADING + turn
    dx, dy = -half * math.sin(heading), half * math.cos(heading)
    return Regulations(closed_lines=(ClosedLine(x - dx, y - dy, x + dx, y + dy, heading, decel, "signal 1 red"),))


def test_a_closed_line_is_crossed_by_the_bumper_in_its_direction_and_between_its_ends() -> None:
    plan = driving(5.0)
    told = judged(plan, rules=closed(18.8 + VEHICLE.front))
    assert told is not None and (told.breach, told.detail) == (ViolationKind.RED_LIGHT, "signal 1 red")
    assert told.t == pytest.approx(3.8), "the first row beyond"
    for left, crossed in ((1.7, True), (-1.7, True), (1.8, False), (-1.8, False)):
        assert (breach(plan, rules=closed(15.0, left)) is ViolationKind.RED_LIGHT) is crossed
    assert breach(plan, rules=closed(15.0, turn=0.5)) is ViolationKind.RED_LIGHT
    assert breach(plan, rules=closed(15.0, turn=math.pi)) is None, "it is that of oncoming traffic"
    assert breach(driving(-1.0), rules=closed(VEHICLE.front - 2.0, turn=math.pi)) is None, "in reverse"
    assert breach(plan, rules=closed(VEHICLE.front - 0.1)) is None, "the bumper is over it"
    reach = 0.5 * 5.0 * 5.0 / 3.0
    for room, excused in ((reach - 0.6, True), (reach + 0.1, False)):
        assert (judged(plan, rules=closed(room + VEHICLE.front, decel=3.0)) is None) is excused
    two = Regulations(closed_lines=closed(200.0).closed_lines + closed(15.0).closed_lines)
    assert breach(plan, rules=two) is ViolationKind.RED_LIGHT


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("behind", [0.02, 0.25, 0.48])
def test_a_line_is_as_far_away_wherever_the_samples_of_a_plan_lie(behind: float) -> None:
    """Else one line is too near for a stop, and not for the plan in whose place that is sent."""
    plan, room = driving(5.0), 4.0 - behind
    reach = 0.5 * 5.0 * 5.0 / room
    for decel, excused in ((0.995 * reach, True), (1.005 * reach, False)):
        assert (judged(plan, rules=closed(room + VEHICLE.front, decel=decel)) is None) is excused


def test_what_is_hit_first_is_named_with_its_time() -> None:
    far, near = thing(5, 25.0, 0.0), thing(8, 15.0, 0.5)
    told = judged(driving(5.0), around((far, near)))
    assert told is not None and (told.breach, told.detail) == (ViolationKind.COLLISION, "object 8")
    bumper = 15.0 - 0.5 * near.length - VEHICLE.front
    assert told.t == pytest.approx(bumper / 5.0, abs=0.1)
    for left, hit in ((0.5 * VEHICLE.width + 0.94, True), (0.5 * VEHICLE.width + 0.96, False)):
        for sign in (1.0, -1.0):
            assert (judged(driving(5.0), around((thing(1, 20.0, sign * left),))) is not None) is hit
    x0, y0, _ = placed(20.0, 0.9)
    x1, y1, _ = placed(20.0, 4.0)
    told = judged(driving(5.0), around(edges=np.array([(x0, y0, x1, y1)])))
    assert told is not None and (told.breach, told.detail) == (ViolationKind.COLLISION, "static edge")
    away = placed(20.0, 1.2)
    assert judged(driving(5.0), around(edges=np.array([(away.x, away.y, x1, y1)]))) is None
    long = np.array([(*placed(-40.0, 8.0)[:2], *placed(60.0, -4.0)[:2])])
    assert judged(driving(5.0), around(edges=long)) is not None, "its middle is far"
    assert judged(driving(0.0), around((thing(1, 2.0, 0.0),))) is None, "a car that stands hits nothing"


def crossing(meets: float, ahead: float = 18.0, v: float = 5.0, length: float = 4.5) -> Thing:
    """From the right, in the middle of the way after so long (s)."""
    return thing(3, ahead, -v * meets, 0.5 * math.pi, v, length)


def test_predictions_count_for_some_seconds_and_where_the_car_drives() -> None:
    plan = driving(5.0)
    told = judged(plan, around((crossing(3.0),)))
    assert told is not None and (told.breach, told.detail) == (ViolationKind.PREDICTED_COLLISION, "object 3")
    assert 1.8 < told.t <= LIMITS.predicted
    late = crossing(LIMITS.predicted + 1.2, 5.0 * (LIMITS.predicted + 1.2) + 3.0)
    assert judged(plan, around((late,))) is None
    hit_standing = driving(np.maximum(0.0, 5.0 - 2.5 * 0.1 * np.arange(61)))
    hit_standing = replace(hit_standing, a=np.where(hit_standing.v > 0.0, -2.5, 0.0))
    assert breach(hit_standing, around((crossing(2.6, 7.0),))) is None, "it stands by then"
    assert judged(driving(8.0), around((thing(4, 22.0, -28.8, 0.5 * math.pi, 12.0),))) is not None, "far, but fast"


@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_one_that_runs_into_the_rear_of_a_car_that_keeps_its_lane_is_at_fault(gear: float) -> None:
    plan = driving(gear * 1.5)
    turn = 0.0 if gear > 0.0 else math.pi
    rear = -VEHICLE.rear_overhang if gear > 0.0 else VEHICLE.front
    behind = thing(2, rear - gear * (2.25 + 4.0), 0.0, turn, 6.0)
    assert judged(plan, around((behind,))) is None
    towards = thing(2, rear + gear * (2.25 + 9.0), 0.0, turn + math.pi, 6.0)
    assert breach(plan, around((towards,))) is ViolationKind.PREDICTED_COLLISION
    at = rear + gear * 2.75
    skew = thing(2, at - 6.0 * math.cos(turn + 1.2), -6.0 * math.sin(turn + 1.2), turn + 1.2, 4.0)
    assert breach(plan, around((skew,))) is ViolationKind.PREDICTED_COLLISION, "across"


def test_a_car_that_has_come_into_its_lane_is_at_fault_for_being_run_into() -> None:
    """It goes to the left by so much in 3 s; a faster one comes from behind in that lane."""
    points = bent((120.0, 0.0))
    points = np.column_stack(
        (points[:, 0] * C + 30.0 - 30.0 * C, points[:, 0] * S - 20.0 - 30.0 * S, points[:, 2] + HEADING)
    )
    lanes = Regulations(lanes=(lane_line(points), lane_line(points, 3.5)))
    t = 0.1 * np.arange(61)
    for aside, at_fault in ((0.6, False), (1.1, True)):
        u = np.clip(t / 3.0, 0.0, 1.0)
        y = aside * u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        slope = np.gradient(y, t)
        turn = np.arctan2(slope, 4.0)
        v = np.hypot(4.0, slope)
        kappa, a = np.gradient(turn, t) / v, np.gradient(v, t)
        px, py = 30.0 + 4.0 * t * C - y * S, -20.0 + 4.0 * t * S + y * C
        plan = Trajectory(0.0, t, px, py, HEADING + turn, kappa, v, a)
        follower = thing(2, -VEHICLE.rear_overhang - 2.25 - 14.0, aside, 0.0, 9.5)
        found = hazard(plan, around((follower,)), lanes, VEHICLE, PARAMETERS)
        assert (found is not None) is at_fault
        assert hazard(plan, around((follower,)), FREE, VEHICLE, PARAMETERS) is None, "no lanes, nothing to leave"


def test_a_hazard_is_no_matter_of_comfort() -> None:
    def found(plan: Trajectory, now: Scene, rules: Regulations = FREE) -> ViolationKind | None:
        told = hazard(plan, now, rules, VEHICLE, PARAMETERS)
        return None if told is None else told.breach

    v = speeds(6.0, -9.0)
    assert found(driving(v, a=np.where(v > 0.0, -9.0, 0.0)), around()) is None
    assert found(driving(20.0), around()) is None
    assert found(driving(5.0), around((thing(1, 15.0, 0.0),))) is ViolationKind.COLLISION
    assert found(driving(5.0), around((crossing(3.0),))) is ViolationKind.PREDICTED_COLLISION
    assert found(driving(5.0), around(pose=placed(2.0))) is ViolationKind.START
    assert found(driving(5.0), around(), closed(15.0)) is ViolationKind.RED_LIGHT
    broken = replace(driving(5.0), stamp=math.nan)
    assert found(broken, around()) is ViolationKind.BROKEN

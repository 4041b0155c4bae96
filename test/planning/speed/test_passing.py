"""Speed by the gap to people, to standing vehicles and to those that hide people (USE-15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers.section import surroundings_of
from tuling_fsm.planning.obstacles.beside import (
    FROM,
    HIGH,
    LOW,
    TO,
    ObstaclesBeside,
    PassingCurve,
    PassingLimits,
    passing_speed,
    speed_to_stop_within,
)
from tuling_fsm.planning.obstacles.occupancy import SweptBand, SweptPath, point_spacing, swept_band
from tuling_fsm.planning.parameters import PassingParameters, PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PD, PS, PTURN, PX, FrenetPath, new_path
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.speed import passing
from tuling_fsm.planning.speed.passing import limit_passing, nearest_pass
from tuling_fsm.planning.speed.roll_out import AT_LIMIT, PASSING

from ..lane_drives import PARAMETERS, VEHICLE, run, straight
from ..maneuvers.closed_loop import drive_checked
from ..scenes import PEDESTRIAN, Log, Thing, follow, gap_to, road, scene

pytestmark = pytest.mark.clause("USE-15")

FIGURES = PassingParameters()
LIMITS = PassingLimits.of(VEHICLE, FIGURES)
DERIVED = DerivedParameters.of(VEHICLE, PARAMETERS)
SIDE = 0.5 * VEHICLE.width
TRUCK, BUS, CONE = 2, 3, 8
BUS_SHAPE: dict[str, Any] = {"length": 12.0, "width": 2.5, "kind": BUS}
SMALL: dict[str, Any] = {"length": 0.5, "width": 0.5, "kind": PEDESTRIAN}
gaps = st.floats(0.0, 6.0)


def beside(gap: float, x: float = 60.0, left: bool = False, **more: Any) -> Thing:
    """A thing so far (m) from the side of a car that is in the middle of the road."""
    thing = Thing(7, x, 0.0, **more)
    offset = SIDE + gap + 0.5 * thing.width
    return replace(thing, y=offset if left else -offset)


def person(gap: float, x: float = 60.0, v: float = 0.0, left: bool = False) -> Thing:
    return beside(gap, x, left, v=v, moving=True, **SMALL)


def allowed(things: Sequence[Thing], v: float = 8.0, x: float = 20.0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Arc lengths, limits and their causes on a straight path of 80 m along x from a car at `x`."""
    n = 161
    path = new_path(n)
    path[:, PS] = 0.5 * np.arange(n)
    path[:, PX], path[:, PCOS] = x + path[:, PS], 1.0
    frenet, around = surroundings_of(path, scene(x, v=v, things=things), DERIVED.body, DERIVED)
    swept = SweptPath(frenet, DERIVED.body, SweptBand(*swept_band(frenet)), point_spacing(frenet), 0.0)
    limit, cause = np.full(n, VEHICLE.max_speed), np.zeros(n)
    limit_passing(swept, around.beside, limit, cause)
    return path[:, PS], limit, cause


def least(*things: Thing) -> float:
    """The lowest limit along the path past them (m/s)."""
    return float(allowed(things)[1].min())


def speed_alongside(log: Log, thing: Thing) -> float:
    """The highest speed of the ego while its body was beside a thing."""
    speeds = []
    for stamp, now, _ in log:
        there, x = thing.at(stamp), now.ego.pose.x
        if x - VEHICLE.rear_overhang - 0.5 * there.length < there.x < x + VEHICLE.front + 0.5 * there.length:
            speeds.append(now.ego.v)
    return max(speeds)


def causes(log: Log) -> set[str]:
    """Of limits that come from what is passed: the first word of what it is."""
    return {result.limit.detail.split()[0] for _, _, result in log if result.limit.reason is Reason.PASSING}


@given(gaps, gaps)
def test_the_curves_pass_through_their_points_and_never_fall(one: float, other: float) -> None:
    near, far = sorted((one, other))
    for curve in (LIMITS.person, LIMITS.standing, LIMITS.hiding):
        assert passing_speed(*curve, near) <= passing_speed(*curve, far)
        assert passing_speed(*curve, far) <= passing_speed(*curve, near) + curve.slope * (far - near) + 1e-9
    assert passing_speed(*LIMITS.person, FIGURES.person_near) == pytest.approx(FIGURES.person_near_speed)
    assert passing_speed(*LIMITS.person, FIGURES.person_far) == pytest.approx(FIGURES.person_far_speed)
    assert passing_speed(*LIMITS.standing, FIGURES.standing_near) == pytest.approx(FIGURES.standing_near_speed)
    assert passing_speed(*LIMITS.standing, FIGURES.standing_far) == pytest.approx(FIGURES.standing_far_speed)
    assert PassingCurve.through(1.0, 5.0, 2.0, 3.0).slope == 0.0


@given(gaps)
def test_before_one_that_steps_out_the_car_has_stopped_when_that_one_comes_to_its_side(gap: float) -> None:
    v = passing_speed(*LIMITS.hiding, gap)
    stands_after = FIGURES.hidden_delay + v / VEHICLE.emergency_decel
    assert v == FIGURES.hidden_speed or stands_after == pytest.approx(gap / FIGURES.hidden_walk)
    assert v == FIGURES.hidden_speed or v > FIGURES.hidden_speed


@given(st.floats(0.0, 100.0), st.floats(0.0, 2.0), st.floats(1.0, 10.0))
def test_the_speed_to_stop_within_a_room_uses_all_of_it(room: float, delay: float, decel: float) -> None:
    v = speed_to_stop_within(room, delay, decel)
    assert v * delay + 0.5 * v * v / decel == pytest.approx(room, abs=1e-9)


@settings(max_examples=60)
@given(gaps, gaps, st.booleans(), st.sampled_from([PEDESTRIAN, 1, BUS]))
def test_along_a_path_the_limit_is_that_of_the_gap_and_never_falls_with_it(
    one: float, other: float, left: bool, kind: int
) -> None:
    shape = {PEDESTRIAN: SMALL, 1: {}, BUS: BUS_SHAPE}[kind]
    near, far = (least(beside(gap, left=left, **shape)) for gap in sorted((one, other)))
    assert near <= far + 1e-9
    curves = {PEDESTRIAN: [LIMITS.person], 1: [LIMITS.standing], BUS: [LIMITS.standing, LIMITS.hiding]}[kind]
    expected = min(passing_speed(*curve, max(one, other)) for curve in curves)
    assert far == pytest.approx(min(VEHICLE.max_speed, expected), abs=1e-6)


def test_the_limit_holds_alongside_and_nowhere_else() -> None:
    car = beside(0.5)
    s, limit, cause = allowed([car])
    slow = np.flatnonzero(limit < VEHICLE.max_speed)
    first, last = 20.0 + s[slow[0]], 20.0 + s[slow[-1]]
    assert first == pytest.approx(60.0 - 2.25 - VEHICLE.front, abs=0.6)
    assert last == pytest.approx(60.0 + 2.25 + VEHICLE.rear_overhang, abs=0.6)
    assert set(cause[slow]) == {PASSING}
    assert set(np.delete(cause, slow)) == {AT_LIMIT}


def test_a_bus_hides_those_that_step_out_before_it_and_a_car_hides_nobody() -> None:
    s, limit, _ = allowed([beside(1.0, **BUS_SHAPE)])
    slowest = s[np.argmin(limit)] + 20.0 + VEHICLE.front
    assert limit.min() == FIGURES.hidden_speed
    assert 60.0 + 6.0 - 1.5 < slowest < 60.0 + 6.0 + 0.6, "the front bumper is at its front"
    assert least(beside(1.0, length=FIGURES.hiding_length)) == FIGURES.hidden_speed, "as long as a van"
    assert least(beside(1.0, kind=TRUCK)) == FIGURES.hidden_speed
    assert least(beside(1.0, length=FIGURES.hiding_length - 0.1)) > 8.0


def test_only_people_and_vehicles_that_stand_or_are_slow_are_passed_slowly() -> None:
    assert least(beside(0.3, kind=CONE, length=0.4, width=0.4)) == VEHICLE.max_speed
    assert least(beside(0.3, v=7.0, heading=np.pi)) == VEHICLE.max_speed, "it keeps the road's pace"
    assert least(beside(0.3, v=1.0, heading=0.5 * np.pi)) == VEHICLE.max_speed, "it crosses the road"
    assert least(beside(0.3, moving=True)) < 2.1, "it may drive on"


@pytest.mark.parametrize("gap", [0.3, 0.7])
@pytest.mark.parametrize("shape", [{}, BUS_SHAPE], ids=["car", "bus"])
@pytest.mark.parametrize("heading", [0.0, np.pi], ids=["along", "towards"])
def test_a_slow_vehicle_is_passed_as_one_that_stands_is_and_faster_by_its_own_speed(
    heading: float, shape: dict[str, Any], gap: float
) -> None:
    """Whichever way it goes, without a step from one that stands to one that is as fast as the road."""
    found = [least(beside(gap, 40.0, heading=heading, v=v, moving=True, **shape)) for v in np.arange(0.0, 8.0, 0.1)]
    for v, allowed_v in zip(np.arange(0.0, 8.0, 0.1), found, strict=True):
        pace = max(0.0, v - AGENT_STANDS)
        most = passing_speed(*LIMITS.standing, gap) + pace
        hidden = passing_speed(*LIMITS.hiding, gap) + 3.0 * pace if shape else np.inf
        assert allowed_v == pytest.approx(min(VEHICLE.max_speed, most, hidden))
    assert found[0] < 6.0 and np.diff(found).max() < 0.31
    assert found[-1] == VEHICLE.max_speed, "it keeps the road's pace"


def test_a_slow_vehicle_counts_where_it_is_when_the_car_comes_past() -> None:
    s, limit, _ = allowed([beside(0.5, 40.0, v=1.5)])
    slow = 20.0 + s[limit < VEHICLE.max_speed]
    assert 36.0 < slow.min() < 40.0, "it has gone on"
    assert slow.max() > 45.0
    for v in (1.5, 5.0):
        behind = allowed([beside(0.5, 12.0, v=v)], v=1.0)
        assert behind[1].min() == VEHICLE.max_speed, "it does not hold the car up from behind"


def test_a_person_counts_at_the_predicted_place() -> None:
    away = Thing(7, 60.0, -2.0, heading=-np.pi / 2.0, v=1.4, moving=True, **SMALL)
    assert least(replace(away, v=0.0)) < 4.0
    assert least(away) > 8.0, "the walker has gone by then"
    s, limit, _ = allowed([person(0.75, v=1.4)])
    slow = 20.0 + s[limit < 3.0]
    assert slow.min() > 57.0, "nobody is there any more"
    assert slow.max() > 63.0
    behind = allowed([person(0.75, 12.0)])
    assert behind[1].min() == VEHICLE.max_speed


def test_the_nearest_gap_is_told_with_its_side_and_distance() -> None:
    path = new_path(101)
    path[:, PS], path[:, PX], path[:, PCOS] = 0.5 * np.arange(101), 0.5 * np.arange(101), 1.0
    for left in (True, False):
        things = [beside(0.8, 30.0, left)]
        frenet, around = surroundings_of(path, scene(0.0, v=5.0, things=things), DERIVED.body, DERIVED)
        gap, distance = nearest_pass(frenet, around.beside, 0, DERIVED.body)
        assert gap == pytest.approx(0.8 if left else -0.8, abs=1e-6)
        assert distance == pytest.approx(30.0 - 2.25 - VEHICLE.front, abs=0.6)


def aside(x: float, d: float, turn: float, kappa: float) -> float:
    """Offset (m, + left) from a line that begins along x and bends by `kappa`, of a point so far ahead of a rear axle
    that is `d` beside the line, on a car that is turned by `turn`.
    """
    px, py = x * np.cos(turn), d + x * np.sin(turn)
    return float(py if kappa == 0.0 else np.sign(kappa) * (abs(1.0 / kappa) - np.hypot(px, py - 1.0 / kappa)))


def unobstructed(*things: Thing) -> tuple[FrenetPath, ObstaclesBeside]:
    """A straight path of 80 m, and what is beside it."""
    path = new_path(161)
    path[:, PS] = 0.5 * np.arange(161)
    path[:, PX], path[:, PCOS] = 20.0 + path[:, PS], 1.0
    frenet, around = surroundings_of(path, scene(20.0, v=8.0, things=things), DERIVED.body, DERIVED)
    return frenet, around.beside


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("turn", "kappa"), [(0.1, 0.0), (-0.1, 0.0), (0.0, 0.04), (0.0, -0.04), (0.06, -0.05)])
def test_the_gap_is_that_of_the_end_of_the_body_that_is_nearer(side: float, turn: float, kappa: float) -> None:
    """Of a car that is turned from its line, or on a line that bends away below it."""
    frenet, _ = unobstructed()
    frenet.path[4, PD], frenet.path[4, PTURN] = 0.3, turn
    span = np.zeros(5)
    span[FROM], span[TO] = -VEHICLE.rear_overhang, VEHICLE.front
    span[LOW], span[HIGH] = (2.5, 4.0) if side > 0.0 else (-4.0, -2.5)
    ends = [side * aside(x, 0.3, turn, kappa) for x in (span[FROM], span[TO])]
    told = passing._gap(frenet, 4, span, kappa, DERIVED.body)
    assert told == pytest.approx(side * (2.5 - max(ends) - SIDE), abs=0.03)


def test_the_nearest_gap_is_looked_for_to_the_end_of_what_is_passed() -> None:
    """A path that comes nearer to a row of things all along it."""
    frenet, around = unobstructed(beside(2.0, 60.0, **BUS_SHAPE))
    frenet.path[:, PD] = -0.01 * np.arange(frenet.points)
    gap, _ = nearest_pass(frenet, around, 0, DERIVED.body)
    last = int(around.reach[frenet.at, 0, 1]) - frenet.first + 1
    assert 60.0 < frenet.path[last, PX] < 75.0
    assert gap == pytest.approx(-(2.0 - 0.01 * last), abs=0.011)


@pytest.mark.parametrize(
    ("thing", "least_v", "most_v", "cause"),
    [
        (person(0.75, v=1.4), 2.0, 5.0, {"pedestrian"}),
        (person(0.75), 2.0, 5.0, {"pedestrian"}),
        (person(3.0, v=1.4), 8.0, 8.4, set()),
        (beside(0.3), 2.0, 6.0, {"standing"}),
        (beside(0.3, v=0.8), 2.0, 7.8, {"slow"}),
        (beside(0.3, 40.0, v=7.0), 8.0, 8.4, set()),
        (beside(1.2), 8.0, 8.4, set()),
    ],
)
@pytest.mark.medium
def test_the_car_passes_slowly_what_is_near_and_goes_on(
    thing: Thing, least_v: float, most_v: float, cause: set[str]
) -> None:
    log = run(straight(), scene(v=8.0), 13.0, (thing,))
    assert least_v < speed_alongside(log, thing) < most_v
    assert log[-1][1].ego.v > 8.0
    assert min(result.trajectory.a.min() for _, _, result in log if result.trajectory is not None) > -2.4
    assert causes(log) == cause
    apart = min(gap_to(thing.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log)
    curve = LIMITS.person if thing.kind == PEDESTRIAN else LIMITS.standing
    assert speed_alongside(log, thing) <= passing_speed(*curve, apart) + thing.v * (thing.kind != PEDESTRIAN) + 0.4


@pytest.mark.medium
def test_a_bus_is_passed_so_slowly_that_the_car_can_stop_and_a_row_of_cars_is_not_crept_along() -> None:
    bus = beside(0.8, **BUS_SHAPE)
    log = run(straight(), scene(v=8.0), 14.0, (bus,))
    at_its_front = [now.ego.v for _, now, _ in log if 65.0 < now.ego.pose.x + VEHICLE.front < 66.0]
    assert max(at_its_front) < 3.5
    assert "hidden" in causes(log)
    assert log[-1][1].ego.v > 8.0
    row = tuple(replace(beside(1.1, 40.0 + 6.0 * i), number=i) for i in range(10))
    log = run(straight(), scene(v=8.0), 10.0, row)
    assert min(now.ego.v for _, now, _ in log) > 7.9


def test_the_reason_names_the_agent_the_gap_and_the_side() -> None:
    log = run(straight(), scene(v=8.0), 6.0, (person(0.75),))
    limit = next(result.limit for _, _, result in log if result.limit.reason is Reason.PASSING)
    assert limit.detail.startswith("pedestrian 7 at ")
    assert limit.detail.endswith(" m to the right")
    assert limit.blocker == 7
    assert 5.0 < limit.distance < 40.0


def test_the_figures_are_parameters() -> None:
    slower = replace(PARAMETERS, passing=replace(FIGURES, standing_near_speed=1.0, standing_far_speed=4.0))
    parked = scene(v=3.5, x=45.0, things=(beside(0.9),))

    def fastest(parameters: PlanningParameters) -> float:
        plan = Planner(VEHICLE, parameters).plan(follow(road(pieces=((400.0, 0.0),), at=45.0, width=2.4)), parked, None)
        assert plan.trajectory is not None
        return float(plan.trajectory.v[:30].max())

    assert fastest(slower) < 4.7 < 6.0 < fastest(PARAMETERS)


@pytest.mark.parametrize("width", [3.0, 3.3, 3.5])
def test_an_empty_lane_is_driven_at_its_limit_however_wide_it_is(width: float) -> None:
    vehicle = replace(Vehicle(), max_speed=13.9)
    planner, result = Planner(vehicle, PARAMETERS), None
    log: list[PlanResult] = []
    for x in (20.0, 60.0):
        lanes = road(pieces=((400.0, 0.0),), at=x, width=width, limit=13.9, window=(-10.0, 200.0))
        result = planner.plan(follow(lanes, speed_limit=13.9), scene(x, v=13.8, stamp=0.05 * len(log)), None)
        log.append(result)
        assert result.trajectory is not None
        assert result.trajectory.v.min() > 13.7
        assert result.limit.reason is Reason.SPEED_LIMIT


@pytest.mark.medium
def test_maneuvers_without_lanes_are_as_slow_beside_people() -> None:
    request = FreeSpace(Pose(25.0, 0.0, 0.0), allow_reverse=False, speed_limit=6.0)

    def fastest(start: Scene, *things: Thing) -> float:
        log = drive_checked(request, start, 12.0, things)
        beside = [now.ego.v for _, now, _ in log if 9.0 < now.ego.pose.x < 12.5]
        return max(beside)

    assert fastest(scene(0.0)) > 3.5
    assert fastest(scene(0.0), person(0.6, 12.0)) < 2.1

"""What a plan hits, runs over or is hit by, among many things and lanes: what polygons and rows of numbers say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from shapely.affinity import rotate, translate
from shapely.geometry import LineString, Point, Polygon, box

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.scene import PREDICTION_STEP_S, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.check import ViolationKind, check, hazard

from ..scenes import Thing, bent, lane_line
from .test_check_limits import FREE, HEADING, C, S, around, breach, driving, judged, placed, thing

pytestmark = pytest.mark.clause("SAF-2")

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
LIMITS = PARAMETERS.check
UNSURE_M = 0.02


def winding(v: float = 5.0, rows: int = 61, seed: int = 0) -> Trajectory:
    """From where the car is, to the left and to the right in turns; negative in reverse."""
    t = 0.1 * np.arange(rows)
    s, kappa = v * t, 0.08 * np.sin(0.25 * v * t + seed)
    fine = np.linspace(0.0, s[-1], 20 * rows - 19)
    bend = 0.08 * np.sin(0.25 * fine + seed)
    heading = HEADING + np.concatenate(([0.0], np.cumsum(0.5 * (bend[1:] + bend[:-1]) * np.diff(fine))))
    middle = 0.5 * (heading[1:] + heading[:-1])
    x = 30.0 + np.concatenate(([0.0], np.cumsum(np.diff(fine) * np.cos(middle))))
    y = -20.0 + np.concatenate(([0.0], np.cumsum(np.diff(fine) * np.sin(middle))))
    zero = np.zeros(rows)
    return Trajectory(0.0, t, x[::20], y[::20], heading[::20], kappa, zero + v, zero)


def outline(plan: Trajectory, row: int, by: float = 0.0) -> Polygon:
    body = box(-VEHICLE.rear_overhang + by, -0.5 * VEHICLE.width + by, VEHICLE.front - by, 0.5 * VEHICLE.width - by)
    turned = rotate(body, float(plan.heading[row]), (0.0, 0.0), use_radians=True)
    return translate(turned, float(plan.x[row]), float(plan.y[row]))


def body_of(a: Thing) -> Polygon:
    shape = box(-0.5 * a.length, -0.5 * a.width, 0.5 * a.length, 0.5 * a.width)
    return translate(rotate(shape, a.heading, (0.0, 0.0), use_radians=True), a.x, a.y)


def first_hit(plan: Trajectory, what: Polygon | LineString) -> int | None:
    """The first row that meets something that the first does not; -1 for none, None where it is too close to say."""
    for row in range(len(plan)):
        car = outline(plan, row)
        if car.buffer(-UNSURE_M).intersects(what):
            return row if row > 0 else None
        if car.distance(what) < UNSURE_M:
            return None
    return -1


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_of_many_edges_the_first_that_is_hit_tells_when(seed: int, gear: float) -> None:
    draw, plan = np.random.default_rng(seed), winding(gear * 1.4 if gear < 0.0 else 5.0, seed=seed)
    edges: list[tuple[float, ...]] = []
    rows: list[int] = []
    while len(edges) < 4:
        at, turn, length = draw.integers(10, 61), draw.uniform(-3.0, 3.0), draw.choice((0.05, 1.0, 15.0, 60.0))
        x, y = plan.x[at] + draw.normal(0.0, 4.0), plan.y[at] + draw.normal(0.0, 4.0)
        end = (x + length * math.cos(turn), y + length * math.sin(turn))
        row = first_hit(plan, LineString([(x, y), end]))
        if row is not None:
            edges.append((x, y, *end) if draw.random() < 0.5 else (*end, x, y))
            rows.append(row)
    told = judged(plan, around(edges=np.array(edges)))
    hit = [row for row in rows if row > 0]
    assert (told is not None) == bool(hit)
    if told is not None:
        assert (told.breach, told.detail) == (ViolationKind.COLLISION, "static edge")
        assert told.t == pytest.approx(float(plan.t[min(hit)]))


@pytest.mark.parametrize("turn", [0.0, 1.5, 2.6, -0.9, -2.2])
@pytest.mark.parametrize("reach", [0.05, -0.05])
def test_a_post_that_only_the_corner_of_the_last_row_reaches_is_hit(turn: float, reach: float) -> None:
    """Whatever the direction: it stands in front of where the plan ends."""
    for side in (0.9, 0.0, -0.9):
        v, t = 4.0, 0.1 * np.arange(41)
        zero = np.zeros(41)
        plan = Trajectory(0.0, t, v * t * math.cos(turn), v * t * math.sin(turn), zero + turn, zero, zero + v, zero)
        ahead, left = 16.0 + VEHICLE.front - reach, side
        x, y = ahead * math.cos(turn) - left * math.sin(turn), ahead * math.sin(turn) + left * math.cos(turn)
        now = around(edges=np.array([(x, y, x + 0.001, y + 0.001)]), pose=Pose(0.0, 0.0, turn))
        assert (judged(plan, now) is not None) is (reach > 0.0)


@pytest.mark.parametrize("seed", range(12))
def test_of_many_things_the_one_that_is_hit_first_is_named(seed: int) -> None:
    draw, plan = np.random.default_rng(100 + seed), winding(seed=seed)
    things: list[Thing] = []
    rows: list[int] = []
    while len(things) < 4:
        at, length = draw.integers(12, 61), float(draw.choice((0.5, 4.5, 14.0)))
        x, y = plan.x[at] + draw.normal(0.0, 4.0), plan.y[at] + draw.normal(0.0, 4.0)
        there = Thing(10 + len(things), x, y, draw.uniform(-3.0, 3.0), 0.0, length=length, moving=False)
        row = first_hit(plan, body_of(there))
        if row is not None:
            things.append(there)
            rows.append(row)
    told = judged(plan, around(tuple(things)))
    met = {row: number for number, row in reversed(list(enumerate(rows))) if row > 0}
    assert (told is not None) == bool(met)
    if told is not None:
        assert told.t == pytest.approx(float(plan.t[min(met)])) and told.detail == f"object {10 + met[min(met)]}"


def test_what_the_car_touches_already_may_be_left_but_not_be_driven_into() -> None:
    """It counts for smaller all round then."""
    depth = 0.5 * LIMITS.contact
    front = VEHICLE.front - depth + 2.25
    ahead, behind = thing(1, front, 0.0), thing(2, -VEHICLE.rear_overhang + depth - 2.25, 0.0)
    assert breach(driving(2.0), around((ahead,))) is ViolationKind.COLLISION
    assert judged(driving(2.0), around((behind,))) is None
    beside = thing(3, 10.0, 0.5 * VEHICLE.width + 0.95 - depth, length=22.0)
    assert judged(driving(2.0), around((beside,))) is None, "along it"
    x0, y0, _ = placed(-2.0, 0.5 * VEHICLE.width - depth)
    x1, y1, _ = placed(30.0, 0.5 * VEHICLE.width - depth)
    assert judged(driving(2.0), around(edges=np.array([(x0, y0, x1, y1)]))) is None
    x2, y2, _ = placed(30.0, 0.5 * VEHICLE.width - depth - 0.35)
    assert breach(driving(2.0), around(edges=np.array([(x0, y0, x2, y2)]))) is ViolationKind.COLLISION


@pytest.mark.parametrize("seed", range(14))
def test_the_first_row_with_the_bumper_over_a_closed_line_is_that_of_a_moving_point(seed: int) -> None:
    draw, plan = np.random.default_rng(seed), winding(seed=seed)
    x, y = plan.x + VEHICLE.front * np.cos(plan.heading), plan.y + VEHICLE.front * np.sin(plan.heading)
    lines, crossed, ways = [], [], []
    for number in range(3):
        at = int(draw.integers(8, 50))
        heading, half, aside = plan.heading[at] + draw.uniform(-0.6, 0.6), draw.uniform(0.5, 3.0), draw.normal(0.0, 1.5)
        mx = x[at] + 0.2 * math.cos(heading) - aside * math.sin(heading)
        my = y[at] + 0.2 * math.sin(heading) + aside * math.cos(heading)
        dx, dy = -half * math.sin(heading), half * math.cos(heading)
        ends = (mx - dx, my - dy, mx + dx, my + dy)
        lines.append(ClosedLine(*ends if number % 2 else (*ends[2:], *ends[:2]), heading, 1e3, f"line {number}"))
        sides = (x - mx) * math.cos(heading) + (y - my) * math.sin(heading)
        along = np.abs((y - my) * math.cos(heading) - (x - mx) * math.sin(heading))
        over = [row for row in range(1, 61) if sides[row - 1] <= 0.0 < sides[row] and along[row] <= half]
        crossed.append(over[0] if over else -1)
        before, after = (abs(sides[crossed[-1] + step]) for step in (-1, 0))
        ways.append(5.0 * (float(plan.t[crossed[-1]]) - 0.1 * after / (before + after)) if over else 5.0)
    told = judged(plan, rules=Regulations(closed_lines=tuple(lines)))
    hit = [number for number in range(3) if crossed[number] > 0]
    assert (told is not None) == bool(hit)
    if told is not None:
        assert told.detail == f"line {hit[0]}" and told.t == pytest.approx(float(plan.t[crossed[hit[0]]]))
    excused, blamed = (
        tuple(line._replace(decel=0.5 * 25.0 / (way + off)) for line, way in zip(lines, ways, strict=True))
        for off in (-0.05, 0.05)
    )
    assert (judged(plan, rules=Regulations(closed_lines=excused)) is not None) == bool(hit)
    assert judged(plan, rules=Regulations(closed_lines=blamed)) is None, "it could not have stopped"


def lanes_at(*offsets: float) -> Regulations:
    """Lanes along the heading, so far to the left of the car."""
    points = bent((160.0, 0.0))
    x, y = points[:, 0] * C + 30.0 - 40.0 * C, points[:, 0] * S - 20.0 - 40.0 * S
    line = np.column_stack((x, y, points[:, 2] + HEADING))
    return Regulations(lanes=tuple(lane_line(line, offset) for offset in offsets))


def aside(by: float, begins: float, v: float = 4.0) -> Trajectory:
    """From so far to the left of the car to `by` farther, in 3 s."""
    t = 0.1 * np.arange(61)
    u = np.clip(t / 3.0, 0.0, 1.0)
    left = begins + by * u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    slope = np.gradient(left, t)
    turn, speed = np.arctan2(slope, v), np.hypot(v, slope)
    kappa, a = np.gradient(turn, t) / speed, np.gradient(speed, t)
    return Trajectory(
        0.0, t, 30.0 + v * t * C - left * S, -20.0 + v * t * S + left * C, HEADING + turn, kappa, speed, a
    )


def follower(left: float) -> Thing:
    return thing(2, -VEHICLE.rear_overhang - 2.25 - 14.0, left, 0.0, 9.5)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("begins", [0.0, 0.5, -0.5])
@pytest.mark.parametrize("offsets", [(0.0, 3.5), (3.5, 0.0, -3.5), (3.5, -3.5, 0.4)])
def test_it_is_how_far_the_car_leaves_its_own_line_that_counts_not_where_it_began(
    side: float, begins: float, offsets: tuple[float, ...]
) -> None:
    """Wherever the lanes are named, and however far the car is beside the centre of its own."""
    rules = lanes_at(*offsets)
    for by, at_fault in ((0.7, False), (0.9, True)):
        plan = aside(side * by, begins)
        pose = placed(0.0, begins)
        found = hazard(plan, around((follower(begins + side * by),), pose=pose), rules, VEHICLE, PARAMETERS)
        assert (found is not None) is at_fault
        assert found is None or found.breach is ViolationKind.PREDICTED_COLLISION
        none = hazard(plan, around((follower(begins + side * by),), pose=pose), FREE, VEHICLE, PARAMETERS)
        assert none is None, "without lanes there is nothing to leave"


@pytest.mark.parametrize(("turn", "excused"), [(0.3, True), (-0.3, True), (1.0, True), (1.1, False), (-1.1, False)])
def test_one_that_comes_from_behind_at_less_than_sixty_degrees_is_at_fault(turn: float, excused: bool) -> None:
    """It meets the rear of the car after 2 s."""
    plan, v = driving(2.0), 7.0
    meets = -VEHICLE.rear_overhang + 4.0 + 0.3
    middle = (meets - 2.25 * math.cos(turn), -2.25 * math.sin(turn))
    start = (middle[0] - 2.0 * v * math.cos(turn), middle[1] - 2.0 * v * math.sin(turn))
    told = judged(plan, around((thing(2, *start, turn, v),)))
    assert (told is None) is excused
    assert told is None or told.breach is ViolationKind.PREDICTED_COLLISION


def turning(now: Scene, before: float, after: float) -> Scene:
    """The same with the first thing turned otherwise before 1 s than after it."""
    times = PREDICTION_STEP_S * np.arange(now.obstacles.x.shape[1])
    now.obstacles.heading[0] = HEADING + np.where(times < 1.0, before, after)
    return now


def test_it_is_the_direction_and_the_place_at_the_time_of_the_contact_that_count() -> None:
    plan, v = driving(2.0), 7.0
    start = -VEHICLE.rear_overhang + 4.0 + 0.3 - 2.25 - 2.0 * v
    runs_into = thing(2, start, 0.0, 0.0, v)
    assert judged(plan, turning(around((runs_into,)), 2.5, 0.0)) is None
    assert judged(plan, turning(around((runs_into,)), 0.0, 2.5)) is not None
    beside = thing(7, 20.0, 30.0, 0.0, 7.0)
    told = judged(plan, turning(around((runs_into, beside)), 0.0, 2.5))
    assert told is not None and told.detail == "object 2"
    second = around((beside, runs_into))
    second.obstacles.heading[1] += 2.5
    told = judged(plan, second)
    assert told is not None and told.detail == "object 2"


@pytest.mark.parametrize("meets", [2.8, 3.3])
def test_a_predicted_contact_counts_up_to_its_time_and_while_the_car_moves(meets: float) -> None:
    plan = driving(5.0)
    ahead = 5.0 * meets + VEHICLE.front + 0.95
    cross = thing(3, ahead, -0.5 * VEHICLE.width - 2.25 - 9.0 * (meets - 0.15), 0.5 * math.pi, 9.0)
    told = judged(plan, around((cross,)))
    assert (told is not None) is (meets < LIMITS.predicted)
    assert told is None or told.t == pytest.approx(meets, abs=0.35)
    v = np.maximum(0.0, 3.0 - 2.0 * 0.1 * np.arange(61))
    for factor, counts in ((0.08, False), (0.15, True)):
        slow = replace(driving(np.maximum(v, factor)), a=np.where(v > factor, -2.0, 0.0))
        into = thing(3, 3.5, -0.5 * VEHICLE.width - 2.25 - 4.0 * 2.4, 0.5 * math.pi, 4.0)
        found = hazard(slow, around((into,)), FREE, VEHICLE, PARAMETERS)
        assert (found is not None) is counts, "a car that stands by then is run into"


def limit_at(plan: Trajectory, rules: Regulations) -> FloatArray:
    """Of the lane whose line is the nearest to each row."""
    told = []
    for x, y in zip(plan.x, plan.y, strict=True):
        lanes = [(LineString(lane.center.xy).distance(Point(x, y)), float(lane.limit[0])) for lane in rules.lanes]
        told.append(min(lanes)[1])
    return np.array(told)


@pytest.mark.parametrize("seed", range(5))
def test_the_limit_of_the_lane_that_is_nearest_holds_at_each_row(seed: int) -> None:
    """A plan that goes over from one lane to another, at a speed between two limits."""
    draw = np.random.default_rng(seed)
    first, second = (4.0, 9.0) if seed % 2 else (9.0, 4.0)
    lanes = lanes_at(0.0, 3.5).lanes
    rules = Regulations(lanes=(replace(lanes[0], limit=np.full_like(lanes[0].limit, first)),
                               replace(lanes[1], limit=np.full_like(lanes[1].limit, second))))  # fmt: skip
    plan = aside(3.5, 0.0, float(draw.uniform(5.4, 6.0)))
    plan = replace(plan, a=np.zeros(61))
    told = check(plan, around(), rules, VEHICLE, PARAMETERS)
    over = np.flatnonzero(plan.v > limit_at(plan, rules) + LIMITS.speed)
    assert told is not None and told.breach is ViolationKind.SPEED_LIMIT
    assert told.t >= plan.t[over[0]] - 1e-9
    if first > second:
        assert told.t == pytest.approx(float(plan.t[over[0]]), abs=1.0)
    least = min(first, second)
    slow = aside(3.5, 0.0, 3.8)
    assert np.max(slow.v) < least + LIMITS.speed + 0.3
    assert (
        check(replace(slow, a=np.zeros(61)), around(), replace(rules, speed_limit=3.2), VEHICLE, PARAMETERS) is not None
    )

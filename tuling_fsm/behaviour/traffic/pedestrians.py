"""Yielding to pedestrians (INT-3), without waiting for each other for ever (USE-5), and with care at hidden
crossings (USE-13).

The car stops for a pedestrian on its own lane, everywhere; for one on the adjacent lane, too, at junctions and
crosswalks, unless it is leaving, elsewhere only when it comes. Off the carriageway only one that comes to a crosswalk
counts. One that comes late enough for the car to be gone is not waited for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.behaviour.traffic.memory import PedestrianWait
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.behaviour.traffic.zones import SlowZone
from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.request import FollowLanes, Limit, PlanningRequest, PlanResult, Reason, StopWall
from tuling_fsm.core.scene import Obstacles, Scene
from tuling_fsm.core.standing import PEDESTRIAN_STANDS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.ahead import CrosswalkAhead
from tuling_fsm.world.objects import is_vulnerable

_BESIDE_OWN_M = 0.3
_SIZE_M = 0.4
_CREEP_FROM_M = 10.0
_ZONE_BEFORE_M = 30.0
_SAME_PLACE_M = 2.0
_NOT_TOUCHED_M, _ROOT_2 = 0.1, math.sqrt(2.0)
"""What is kept free of people is this much less than what is free of them now: the car may be nearer than it likes."""


class _Walker(NamedTuple):
    """A pedestrian, relative to the route: arc length and offset (m), speed sideways towards the route (m/s)."""

    id: int
    s: float
    offset: float
    towards: float
    speed: float
    still_for: float
    on_road: bool
    crosswalk: CrosswalkAhead | None


class PedestriansBeside(NamedTuple):
    """Pedestrians beside the way along the route that have been waited for long enough, and the speed (m/s; inf: none)
    at which the car gets past them.
    """

    given_up: tuple[int, ...]
    speed_limit: float


class PedestrianWalls(NamedTuple):
    """Walls with their arc lengths, the pedestrians that are crept past, those of them that have been waited for long
    enough, the speed for that (m/s; inf: none), whether another of them is ahead on the car's lane, and since when they
    are waited for.
    """

    walls: tuple[tuple[float, StopWall], ...]
    released: tuple[int, ...]
    given_up: tuple[int, ...]
    speed_limit: float
    creeps_up: bool
    waits: tuple[PedestrianWait, ...]


def pedestrian_rules(
    now: TrafficSituation, released: Sequence[int], waits: Sequence[PedestrianWait] = ()
) -> PedestrianWalls:
    """What they make of one tick; `released` and `waits` are those of the last one."""
    walls: list[tuple[float, StopWall]] = []
    passed: list[int] = []
    waited: list[int] = []
    limit, creeps_up = math.inf, False
    stamp, standoff = now.world.stamp, now.parameters.pedestrian.standoff
    lasting = {(wait.s, wait.offset): wait for wait in waits if stamp - standoff <= wait.seen <= stamp}
    for walker in _walkers(now):
        wait = _wait_of(walker, lasting.values())
        if wait is not None:
            lasting[wait.s, wait.offset] = wait._replace(seen=stamp)
        stands = walker.speed <= PEDESTRIAN_STANDS
        kept = stands and walker.id in released
        if not kept and not _is_in_the_way(now, walker):
            continue
        both_stand_for = min(now.world.standing_for, walker.still_for)
        if kept or (stands and both_stand_for >= standoff):
            passed.append(walker.id)
            wait = _wait_for(now, walker, wait, both_stand_for)
            lasting[wait.s, wait.offset] = wait
            if stamp - wait.since >= now.parameters.pedestrian.patience:
                waited.append(walker.id)
            if walker.s - now.front < _CREEP_FROM_M:
                limit = min(limit, now.parameters.pedestrian.creep_speed)
                creeps_up |= walker.id not in waited and walker.s > now.front and _outside(now, walker) <= 0.0
            continue
        if walker.s <= now.front:
            continue
        s = _stop_for(now, walker)
        walls.append((s, now.wall(s, Reason.PEDESTRIAN, f"pedestrian {walker.id}", walker.id)))
    return PedestrianWalls(tuple(walls), tuple(passed), tuple(waited), limit, creeps_up, tuple(lasting.values()))


def pedestrians_beside(
    now: TrafficSituation, yielded_to: Collection[int], stands_for: int, before: Sequence[int]
) -> PedestriansBeside:
    """Those whom the rule for the way along the route does not see, where the car goes elsewhere: one whom its motion
    `stands_for` (an id) is waited for as long as one on the lane, and then gone round (USE-2), until they move; who is
    `yielded_to` on the route is not meant. `before` are those of the last tick.
    """
    traffic, p, pose = now.world.traffic, now.parameters.pedestrian, now.world.ego.pose
    stands = is_vulnerable(traffic.kind) & (traffic.speed <= PEDESTRIAN_STANDS)
    if not stands.any():
        return PedestriansBeside((), math.inf)
    away = elementwise.hypot(traffic.x - pose.x, traffic.y - pose.y)
    met = np.isin(traffic.id, list(before)) & (away < p.horizon)
    if now.world.standing_for >= p.patience:
        # Of one that stands perception changes the id: it is the car that has stood for so long.
        met |= (traffic.id == stands_for) & (traffic.standing_for >= p.standoff)
    met &= stands & ~np.isin(traffic.id, list(yielded_to))
    near = bool((away[met] < _CREEP_FROM_M).any())
    return PedestriansBeside(tuple(traffic.id[met].tolist()), p.creep_speed if near else math.inf)


def _wait_of(walker: _Walker, waits: Iterable[PedestrianWait]) -> PedestrianWait | None:
    """What is remembered of the place of a pedestrian: of one that stands perception changes place and id."""
    for wait in waits:
        if elementary.hypot(walker.s - wait.s, walker.offset - wait.offset) <= _SAME_PLACE_M:
            return wait
    return None


def _wait_for(
    now: TrafficSituation, walker: _Walker, before: PedestrianWait | None, both_stand_for: float
) -> PedestrianWait:
    """The wait for one who is crept past: the one before, or one that begins (anew where the car has come on)."""
    since, stamp, front = now.world.stamp - both_stand_for, now.world.stamp, now.front
    if before is None:
        return PedestrianWait(walker.s, walker.offset, since, stamp, front)
    is_over = stamp - before.since >= now.parameters.pedestrian.patience
    if is_over or front - before.front <= _SAME_PLACE_M:
        return before._replace(seen=stamp)
    return before._replace(since=since, seen=stamp, front=front)


def among_released(scene: Scene, released: Collection[int], vehicle: Vehicle, gap: float) -> Scene:
    """The scene for a car that gets past `released` pedestrians: they are static, and `gap` (m) is kept to them, or as
    much as there is now (USE-5).
    """
    if not released:
        return scene
    around, pose = scene.obstacles, scene.ego.pose
    s, c = elementary.sin_cos(pose.heading)
    dx, dy = around.x[:, 0] - pose.x, around.y[:, 0] - pose.y
    ahead, left = c * dx + s * dy, c * dy - s * dx
    along = np.maximum(np.maximum(ahead - vehicle.front, -vehicle.rear_overhang - ahead), 0.0)
    aside = np.maximum(np.abs(left) - 0.5 * vehicle.width, 0.0)
    free = elementwise.hypot(along, aside) - 0.5 * elementwise.hypot(around.length, around.width)
    # What grows by one all round comes nearer by the root of two at its corners.
    kept = np.clip((free - _NOT_TOUCHED_M) / _ROOT_2, 0.0, gap)
    return replace(scene, obstacles=around.with_standing(are_released(around, released), kept))


def are_released(obstacles: Obstacles, released: Collection[int]) -> BoolArray:
    """Which of them (N,) are released pedestrians, and stand: an id may be that of others too."""
    stand = is_vulnerable(obstacles.kind) & (obstacles.speed <= PEDESTRIAN_STANDS)
    return stand & np.isin(obstacles.id, list(released))


def told_of_person(result: PlanResult, request: PlanningRequest, waited_for: Collection[int]) -> PlanResult:
    """No path along the lanes past a person who is crept up to is a stop for a pedestrian (NOR-7), for as long as they
    are `waited_for`: nobody stands for ever (USE-2).
    """
    limit = result.limit
    if not isinstance(request, FollowLanes) or not request.creeps_up:
        return result
    if result.reason is Reason.OBSTACLE and limit.reason is not Reason.OBSTACLE:
        return replace(result, feasible=True, reason=Reason.NONE)  # It still creeps.
    if limit.reason is not Reason.OBSTACLE or limit.blocker not in waited_for:
        return result
    return replace(result, limit=Limit(Reason.PEDESTRIAN, limit.distance, f"{limit.detail} stands", limit.blocker))


def _walkers(now: TrafficSituation) -> Iterator[_Walker]:
    """Pedestrians ahead of the rear bumper and not far beside the route."""
    traffic, reach = now.world.traffic, now.parameters.pedestrian.horizon
    pose = now.world.ego.pose
    rows = is_vulnerable(traffic.kind).nonzero()[0]
    if len(rows) == 0:
        return
    distance = elementwise.hypot(traffic.x[rows] - pose.x, traffic.y[rows] - pose.y)
    for row in rows[distance < reach + now.vehicle.front].tolist():
        x, y, _, vx, vy, speed, *_ = traffic.body[row].tolist()
        place = now.route.reference.project(x, y, now.rear - 1.0, now.front + reach)
        if not now.rear < place.s < now.front + reach - 0.1:
            continue
        sine, cosine = elementary.sin_cos(place.heading)
        sideways = cosine * vy - sine * vx
        yield _Walker(
            id=int(traffic.id[row]), s=place.s, offset=place.offset,
            towards=-math.copysign(1.0, place.offset) * sideways, speed=speed,
            still_for=float(traffic.standing_for[row]), on_road=bool(now.road_map.positions(x, y)),
            crosswalk=_crosswalk_at(now, place.s, x, y),
        )  # fmt: skip


def _crosswalk_at(now: TrafficSituation, s: float, x: float, y: float) -> CrosswalkAhead | None:
    kerb = now.parameters.pedestrian.kerb
    for ahead in now.world.crosswalks:
        along = ahead.s_from - 3.0 - kerb <= s <= ahead.s_to + 3.0 + kerb
        if along and _is_near(ahead.crosswalk.outline, x, y, kerb):
            return ahead
    return None


def _is_near(outline: FloatArray, x: float, y: float, reach: float) -> bool:
    """Whether a point is inside a polygon, or within reach (m) of it."""
    a = outline - (x, y)
    b = np.roll(a, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    straddles = (a[:, 1] > 0.0) != (b[:, 1] > 0.0)
    if np.count_nonzero(straddles & ((cross > 0.0) == (b[:, 1] > a[:, 1]))) % 2 == 1:
        return True
    step = b - a
    u = np.clip(-(a * step).sum(axis=1) / np.maximum((step * step).sum(axis=1), 1e-12), 0.0, 1.0)
    nearest = a + u[:, None] * step
    return bool(elementwise.hypot(nearest[:, 0], nearest[:, 1]).min() <= reach)


def _half_widths(now: TrafficSituation, s: float) -> tuple[float, float]:
    """Distances from the route to the left and right edge of its lane."""
    for line in now.world.lanes:
        if line.shift == 0:
            at = s - line.route_s0
            return float(np.interp(at, line.center.s, line.left)), float(np.interp(at, line.center.s, line.right))
    half = 0.5 * now.parameters.pedestrian.lane_width
    return half, half


def _outside(now: TrafficSituation, walker: _Walker) -> float:
    """How far a pedestrian is beside the car's lane, m; up to 0 on it or right beside it."""
    left, right = _half_widths(now, walker.s)
    return abs(walker.offset) - (left if walker.offset > 0.0 else right) - _BESIDE_OWN_M


def _is_in_the_way(now: TrafficSituation, walker: _Walker) -> bool:
    p, outside = now.parameters.pedestrian, _outside(now, walker)
    if outside <= 0.0 and (walker.on_road or walker.crosswalk is not None):
        return True
    if now.decel_for(walker.s - _SIZE_M - now.front) > p.hopeless_decel:
        return False
    adjacent = walker.on_road and outside <= p.lane_width - _BESIDE_OWN_M
    if adjacent and (walker.crosswalk is not None or _in_junction_zone(now, walker.s)):
        return walker.towards > -p.walking
    if walker.towards <= p.walking or not (adjacent or walker.crosswalk is not None):
        return False
    gone = now.time_to(walker.s + now.vehicle.length - now.front, start_s=0.0)
    return outside / walker.towards < gone + p.margin


def _in_junction_zone(now: TrafficSituation, s: float) -> bool:
    return any(
        min(junction.approach_from, junction.s_from - _ZONE_BEFORE_M) <= s <= junction.s_to
        for junction in now.world.junctions
    )


def _stop_for(now: TrafficSituation, walker: _Walker) -> float:
    """Where to stop: before the crosswalk while the car is before it, else a gap before the person."""
    s = walker.s - _SIZE_M - now.parameters.pedestrian.gap
    if walker.crosswalk is not None:
        before = walker.crosswalk.s_from - now.parameters.pedestrian.crosswalk_gap
        if now.front <= before + now.parameters.line.tolerance:
            s = min(s, before)
    return s


def hidden_crosswalks(now: TrafficSituation) -> tuple[SlowZone, ...]:
    """Crosswalks beside which something stands that a pedestrian may step out from behind."""
    traffic, p = now.world.traffic, now.parameters.pedestrian
    zones = []
    for ahead in now.world.crosswalks:
        if not -1.0 < ahead.s_from - now.front < p.horizon:
            continue
        pose = now.route.reference.at(ahead.s_from)
        s, c = elementary.sin_cos(pose.heading)
        along = (traffic.x - pose.x) * c + (traffic.y - pose.y) * s
        across = np.abs((traffic.y - pose.y) * c - (traffic.x - pose.x) * s)
        hides = (traffic.length > 2.0) & (traffic.speed < PEDESTRIAN_STANDS) & (across > 2.0) & (across < 8.0)
        hides &= (along + 0.5 * traffic.length > -p.hidden_reach) & (along < 0.5)
        if bool(hides.any()):
            begin, end = ahead.s_from - 1.0 - now.vehicle.front, ahead.s_to - now.vehicle.front
            zones.append(SlowZone(begin, end, p.hidden_speed))
    return tuple(zones)

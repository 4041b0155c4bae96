"""From the inputs of a tick to the World."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import IntArray
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import LaneLine
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.standing import AGENT_MOVES, STOPPED
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.ahead import (
    CrosswalkAhead,
    JunctionAhead,
    JunctionApproach,
    StopLineAhead,
    crosswalks_ahead,
    junctions_ahead,
    stop_lines_ahead,
)
from tuling_fsm.map.corridor import lane_lines, way_beside
from tuling_fsm.map.matching import find_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.coasting import coast
from tuling_fsm.world.inputs import (
    FAR_TABLES,
    OBJECTS,
    BoolMessage,
    Inputs,
    Kind,
    Light,
    Occupancy,
    Odometry,
    RouteAnswer,
    Source,
    StampedRows,
)
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.objects import InputFault, move_on, read_objects
from tuling_fsm.world.on_route import OnRoute, on_reference_road, shift_of, track
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.perceived import (
    LightStates,
    ObservedSlot,
    PerceivedLine,
    PerceivedSlot,
    TableReader,
    read_lights,
    read_lines,
    read_slots,
    remember_lights,
    remember_slots,
)
from tuling_fsm.world.pose_correction import PoseCorrection, corrected, faded, pose_at, pose_before
from tuling_fsm.world.prediction import ClosedLines, closed_lines, green_lines, see_traffic
from tuling_fsm.world.received import FLAGS, Received, in_floats, receive
from tuling_fsm.world.solids import solid_segments
from tuling_fsm.world.tracks import NO_TRACKS, YAW_RATE, Tracks, associate, follow, remember
from tuling_fsm.world.traffic import PredictedLanes
from tuling_fsm.world.world import EmergencyInput, RouteMatch, World

_MAX_ACCEL = 12.0
_BEHIND_M = 30.0
_FAR_OFF_M = 4.0
_TOLERANCE_S = 1e-6
_HISTORY_S = 1.0
"""Lines that were seen longer ago are stale."""
_VIEW_STEP_M = 1.0
"""The view along the route is made anew for every step of this length."""


class _View(NamedTuple):
    """What the route shows from one place of it."""

    lanes: tuple[LaneLine, ...] = ()
    junctions: tuple[JunctionAhead, ...] = ()
    stop_lines: tuple[StopLineAhead, ...] = ()
    crosswalks: tuple[CrosswalkAhead, ...] = ()
    way_beside: Route | None = None


class WorldBuilder:
    """Makes one World a tick. It remembers nothing but what it could compute again: the past comes in as the
    previous World.
    """

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, parameters: WorldParameters) -> None:
        self.road_map, self.vehicle, self.parameters = road_map, vehicle, parameters
        self._index = lane_index(road_map)
        self._view: tuple[Route, int, _View] | None = None
        self._beside: tuple[_View, int, _View] | None = None
        self._closed: tuple[dict[int, Light], ClosedLines] | None = None
        self._slots, self._lines = TableReader(read_slots), TableReader(read_lines)
        self._moved: tuple[Occupancy, PoseCorrection, Occupancy | None] | None = None

    def warm_up(self) -> None:
        """Compile and load every kernel of this room, so that no tick has to."""
        road = next(iter(self.road_map.driving_lanes()), None)
        pose = Pose(0.0, 0.0, 0.0) if road is None else self.road_map.lanes[road].center.at(0.0)
        rows = np.zeros(2, OBJECTS)
        rows["id"], rows["kind"] = (1, 2), (Kind.CAR, Kind.PEDESTRIAN)
        rows["x"], rows["y"], rows["heading"] = pose
        sine, cosine = elementary.sin_cos(pose.heading)
        rows["vx"], rows["vy"], rows["length"], rows["width"], rows["existence"] = (
            cosine, sine, 4.0, 2.0, 1.0,
        )  # fmt: skip
        grid = Occupancy(0.0, 1.0, pose, np.full((2, 2), 100, np.int8))
        world = self.build(Inputs(0.0, Odometry(0.0, pose, 1.0, 0.0), StampedRows(0.0, rows), grid), None, None)
        world.scene.obstacles.any_moves(1)
        self.build(Inputs(0.05, objects=StampedRows(0.05, rows[:1])), world, None)
        read_objects(rows.astype(FAR_TABLES["objects"]), (pose.x, pose.y), self.parameters)

    def build(self, inputs: Inputs, previous: World | None, route: Route | None, near: float = 0.0) -> World:
        """The World of a tick; `route` is the one in use, and `near` (m) where on it the car was known last. No time
        passes on a tick whose stamp is none.
        """
        inputs, timeless = _timed(in_floats(inputs), previous)
        parameters, now = self.parameters, inputs.stamp
        past, jump = _past(previous, now, parameters)
        kept, fresh, refused = receive(inputs, past.received if past else _lasting(previous, now), parameters)
        complaints = [*timeless, *jump, *refused]
        dt = max(now - previous.stamp, 0.0) if past and previous else 0.0
        localized, doubts = self._localized(fresh.odometry)
        lines, line_faults = self._lines(fresh.lane_lines)
        history = _odometry_history(fresh.odometry, past, parameters.line_tolerance)
        correction, beside = self._pose_correction(fresh, past, localized, lines, history, now)
        complaints += [*doubts, *line_faults, *beside]
        ego = self._ego(fresh.odometry, past, correction)
        stands = fresh.odometry is not None and abs(ego.v) < STOPPED
        place = self._place(ego.pose, past, route, dt, 0.0 if previous and now < previous.stamp else near)
        view = self._seen_beside(route, self._seen_from(route, place.s), place, ego.pose)
        lights, light_seen, faults = self._lights(fresh.traffic_lights, past, now)
        complaints += faults
        closed = self._closed_by(lights)._replace(held=self._held(route, view, place))
        grid = self._grid(fresh.occupancy, correction)
        traffic, scene, tracks, faults = self._surroundings(fresh.objects, grid, past, ego, correction, closed, now)
        slots, observed, slot_faults = self._parking_slots(fresh.parking_slots, past, correction, now)
        complaints += [*faults, *slot_faults]
        known = past.complaints if past else ()
        radar_seen = _radar_seen(kept, past)
        return World(
            stamp=now, dt=dt, ego=ego, standing_for=(past.standing_for + dt if past else 0.0) if stands else 0.0,
            localized=localized, pose_correction=correction, odometry_history=history,
            odometry_fresh=fresh.odometry is not None, objects_fresh=fresh.objects is not None,
            radar_seen=radar_seen, radar_fresh=self._is_radar_fresh(kept.radar_health, now - radar_seen),
            route=route, route_s=place.s, route_offset=place.offset, heading_error=place.heading_error,
            route_remaining=max(route.length - place.s, 0.0) if route else 0.0,
            on_reference_road=route is not None
            and on_reference_road(self.road_map, route, place, ego.pose, parameters.off_road_margin),
            lanes=view.lanes, scene=scene, traffic=traffic, tracks=tracks,
            lights=lights, light_seen=light_seen, light_since=_since(lights, past, now),
            emergency=_emergency(inputs, kept), reset=inputs.reset, skip_task=inputs.skip_task,
            rain_fog=kept.rain_fog.value if kept.rain_fog else None,
            route_answers=tuple(self._match(answer) for answer in inputs.route_answers), mission=kept.mission,
            slots=slots, observed_slots=observed, perceived_lines=lines, occupancy=grid,
            junctions=view.junctions, stop_lines=view.stop_lines, crosswalks=view.crosswalks,
            reports=tuple(complaint.text for complaint in complaints if complaint.key not in known),
            complaints=tuple(complaint.key for complaint in complaints), received=kept,
            way_beside=view.way_beside,
        )  # fmt: skip

    def _pose_correction(
        self,
        fresh: Received,
        past: World | None,
        localized: bool,
        lines: tuple[PerceivedLine, ...],
        history: tuple[Odometry, ...],
        now: float,
    ) -> tuple[PoseCorrection, list[InputFault]]:
        """The correction of the pose by lane lines, and what is to be said of it. While odometry is silent the last
        pose holds, and its correction with it.
        """
        if past is None or (fresh.odometry is not None and not localized):
            return PoseCorrection(), []
        table, odometry, curvature = fresh.lane_lines, fresh.odometry, past.ego.curvature
        if _leaps(past.received.odometry, odometry, curvature, self.parameters.line_tolerance):
            return PoseCorrection(), []
        correction = faded(past.pose_correction, now, max(now - past.stamp, 0.0))
        if odometry is not None and table is not None and table is not past.received.lane_lines:
            pose = pose_at(history, table.stamp, curvature)
            correction = corrected(
                correction, lines, table.stamp, pose, curvature, past.lanes, self.parameters.line_tolerance
            )
        if not correction.corrects:
            return correction, []
        text = "localization: lane lines are seen beside the map's, the pose is put right by them"
        return correction, [InputFault("localization lines", text)]

    def _grid(self, grid: Occupancy | None, correction: PoseCorrection) -> Occupancy | None:
        """The grid where it is; the same one for the same grid and correction."""
        if grid is None or not correction.corrects:
            return grid
        if self._moved is None or self._moved[0] is not grid or self._moved[1][:2] != correction[:2]:
            self._moved = (grid, correction, correction.grid(grid))
        return self._moved[2]

    def _ego(self, odometry: Odometry | None, past: World | None, correction: PoseCorrection) -> Ego:
        last = past.ego if past else None
        if odometry is None:
            return last or Ego(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0)
        curvature = last.curvature if last else 0.0
        if abs(odometry.v) > AGENT_MOVES:
            limit = 1.5 * self.vehicle.max_curvature
            curvature = min(max(odometry.yaw_rate / odometry.v, -limit), limit)
        a, before = last.a if last else 0.0, past.received.odometry if past else None
        if before is not None and odometry.stamp > before.stamp:
            step = odometry.stamp - before.stamp
            slope = min(max((odometry.v - before.v) / step, -_MAX_ACCEL), _MAX_ACCEL)
            a += (slope - a) * step / (step + self.parameters.acceleration_filter)
        return Ego(correction.pose(odometry.pose), odometry.v, a, curvature)

    def _localized(self, odometry: Odometry | None) -> tuple[bool, list[InputFault]]:
        if odometry is None:
            return False, []
        position, heading = self.parameters.max_position_std, self.parameters.max_heading_std
        if odometry.position_std <= position and odometry.heading_std <= heading:
            return True, []
        text = f"localization: {odometry.position_std:.3g} m, {odometry.heading_std:.3g} rad uncertain"
        return False, [InputFault("localization", f"{text} (expected at most {position:g} m, {heading:g} rad)")]

    def _is_radar_fresh(self, health: BoolMessage | None, age: float) -> bool:
        """Whether the radar works, by a sign of life of that age (s) and by what it says of itself (RFG-2)."""
        return (health is None or health.value) and age <= self.parameters.objects_max_age + _TOLERANCE_S

    def _place(self, pose: Pose, past: World | None, route: Route | None, dt: float, near: float) -> OnRoute:
        """Where the car is on its route; that time jumps forwards takes it to no other lap, a bag that is looped to the
        first one.
        """
        if route is None:
            return OnRoute(0.0, 0.0, 0.0)
        same = past is not None and past.route is not None and _same_route(past.route, route)
        moved = abs(past.ego.v) * dt if past else 0.0
        return track(route, pose, past.route_s if past and same else None, moved, near)

    def _seen_from(self, route: Route | None, s: float) -> _View:
        if route is None:
            return _View()
        step = math.floor(s / _VIEW_STEP_M)
        if self._view is None or self._view[0] is not route or self._view[1] != step:
            at, p = step * _VIEW_STEP_M, self.parameters
            lanes = lane_lines(self.road_map, route, at, p.behind, p.ahead)
            self._view = (route, step, self._along(route, at)._replace(lanes=lanes))
        return self._view[2]

    def _seen_beside(self, route: Route | None, view: _View, place: OnRoute, pose: Pose) -> _View:
        """What the route shows, to a car in a lane beside its own what that leads to."""
        shift = shift_of(view.lanes, place, pose)
        if route is None or shift == 0:
            return view
        if self._beside is None or self._beside[0] is not view or self._beside[1] != shift:
            at = math.floor(place.s / _VIEW_STEP_M) * _VIEW_STEP_M
            way = way_beside(self.road_map, route, at, shift, _BEHIND_M, self.parameters.ahead)
            beside = view if way is None else self._along(way, at)._replace(lanes=view.lanes, way_beside=way)
            self._beside = (view, shift, beside)
        return self._beside[2]

    def _along(self, way: Route, at: float) -> _View:
        """What a way meets around an arc length, without its lines."""
        begin, reach, p = at - _BEHIND_M, self.parameters.ahead + _BEHIND_M, self.parameters
        approach = JunctionApproach(p.approach_min, p.approach_max, self.vehicle.length + p.junction_margin)
        return _View(
            junctions=junctions_ahead(self.road_map, way, begin, reach, approach),
            stop_lines=stop_lines_ahead(self.road_map, way, begin, reach),
            crosswalks=crosswalks_ahead(self.road_map, way, begin, reach),
        )

    def _lights(
        self, table: StampedRows | None, past: World | None, now: float
    ) -> tuple[dict[int, Light], dict[int, float], tuple[InputFault, ...]]:
        """States by signal, the stamps of what told them, and what is wrong with the table."""
        told, faults = read_lights(table, self.parameters.min_light_confidence)
        before = LightStates(past.lights, past.light_seen) if past else LightStates({}, {})
        oldest = now - self.parameters.lights_max_age - _TOLERANCE_S
        return *remember_lights(told, table, before, oldest), faults

    def _parking_slots(
        self, table: StampedRows | None, past: World | None, correction: PoseCorrection, now: float
    ) -> tuple[tuple[PerceivedSlot, ...], dict[int, ObservedSlot], tuple[InputFault, ...]]:
        """The parking spaces that are seen, what is remembered of them, and what is wrong with the table."""
        told, faults = self._slots(table)
        if past is not None and table is not None and table is past.received.parking_slots:
            return past.slots, past.observed_slots, faults
        before, seen = past.observed_slots if past else {}, table.stamp if table else now
        oldest = now - self.parameters.track_memory
        return *remember_slots(correction.slots(told), seen, before, oldest), faults

    def _closed_by(self, lights: dict[int, Light]) -> ClosedLines:
        """What lights and signs close, worked out anew where a light has changed; no lane is held."""
        if self._closed is None or self._closed[0] != lights:
            none = np.zeros(0, np.int64)
            lines = ClosedLines(closed_lines(self._index, lights), none, green_lines(self._index, lights))
            self._closed = (lights, lines)
        return self._closed[1]

    def _held(self, route: Route | None, view: _View, place: OnRoute) -> IntArray:
        """Numbers of the connecting lanes of the car's way in whose junction it is."""
        way = route if view.way_beside is None else view.way_beside
        if way is None or (way is route and abs(place.offset) > _FAR_OFF_M):
            return np.zeros(0, np.int64)
        rear, front = place.s - self.vehicle.rear_overhang, place.s + self.vehicle.front
        lanes = [
            part.lane
            for junction in view.junctions
            if junction.s_from < front and rear < junction.s_to
            for part in way.lanes[junction.first : junction.last + 1]
            if part.s_to > rear
        ]
        return np.array([self._index.number[lane] for lane in lanes if lane in self._index.number], dtype=np.int64)

    def _surroundings(
        self,
        table: StampedRows | None,
        grid: Occupancy | None,
        past: World | None,
        ego: Ego,
        correction: PoseCorrection,
        closed: ClosedLines,
        now: float,
    ) -> tuple[PredictedLanes, Scene, Tracks, tuple[InputFault, ...]]:
        parameters = self.parameters
        rows = table.rows if table else np.zeros(0, OBJECTS)
        seen = table.stamp if table else now
        found, faults = read_objects(rows, (ego.pose.x, ego.pose.y), parameters)
        correction.bodies(found.body)
        before = past.tracks if past else NO_TRACKS
        association = associate(before, found, seen)
        room = parameters.max_objects - found.seen
        found = coast(found, past, association.taken, now, parameters.coasting, room)
        tracks = follow(before, association, found, seen, parameters)
        move_on(found, tracks.past[:, YAW_RATE], max(now - seen, 0.0))
        traffic, obstacles, tracks = see_traffic(self._index, found, tracks, ego, self.vehicle, closed, now, parameters)
        solids = solid_segments(self.road_map, grid, ego.pose, parameters)
        kept = remember(before, association.taken, tracks, found.order, now, parameters.track_memory)
        scene = Scene(now, ego, obstacles, solids, position_noise=tracks.noise.beyond_exact)
        return traffic, scene, kept, faults

    def _match(self, answer: RouteAnswer) -> RouteMatch:
        number, stamp, points = answer.request, answer.stamp, np.asarray(answer.points, dtype=np.float64)
        if len(points) == 0:
            return RouteMatch(number, None, stamp, "refused or empty")
        if points.ndim != 2 or points.shape[1] != 3:
            return RouteMatch(number, None, stamp, f"poses of shape {points.shape} (expected x, y, heading)")
        found = find_route(self.road_map, points)
        if isinstance(found, str):
            return RouteMatch(number, None, stamp, found)
        return RouteMatch(number, found, stamp)


def _timed(inputs: Inputs, previous: World | None) -> tuple[Inputs, tuple[InputFault, ...]]:
    """The inputs with a stamp that is a time: their own, else that of the tick before, with what is wrong (SAF-3)."""
    if math.isfinite(inputs.stamp):
        return inputs, ()
    text = f"inputs: stamp {inputs.stamp} (expected a finite number of seconds), taken as no time later"
    return replace(inputs, stamp=previous.stamp if previous else 0.0), (InputFault("stamp", text),)


def _past(
    previous: World | None, now: float, parameters: WorldParameters
) -> tuple[World | None, tuple[InputFault, ...]]:
    """The previous World where time runs on, else None and why (DWELL-5)."""
    if previous is None:
        return None, ()
    if previous.stamp <= now <= previous.stamp + parameters.max_gap + _TOLERANCE_S:
        return previous, ()
    most = f" by more than world.max_gap ({parameters.max_gap:g} s)" if now > previous.stamp else ""
    text = f"time: jumped from {previous.stamp:.3f} s to {now:.3f} s{most}, what was tracked is forgotten"
    return None, (InputFault("time", text),)


def _leaps(before: Odometry | None, odometry: Odometry | None, curvature: float, tolerance: float) -> bool:
    """Whether localization is elsewhere (m) than the car can have driven: what was wrong with it is so no more."""
    if before is None or odometry is None or odometry is before:
        return False
    since = pose_before(odometry.pose, odometry.v, curvature, max(odometry.stamp - before.stamp, 0.0))
    return distance((since.x, since.y), (before.pose.x, before.pose.y)) > tolerance


def _odometry_history(odometry: Odometry | None, past: World | None, tolerance: float) -> tuple[Odometry, ...]:
    """The odometry of the last second, the latest last; none of it is what came before localization leapt."""
    before = past.odometry_history if past else ()
    if odometry is None or (before and odometry is before[-1]):
        return before
    if past is not None and _leaps(past.received.odometry, odometry, past.ego.curvature, tolerance):
        return (odometry,)
    return (*(each for each in before if odometry.stamp - _HISTORY_S <= each.stamp < odometry.stamp), odometry)


def _lasting(previous: World | None, now: float) -> Received:
    """What outlives a jump of time: flags and the mission, which are not sent again."""
    if previous is None:
        return Received(began_at=now)
    last = previous.received
    flags: dict[str, Any] = {name: getattr(last, name) for name in FLAGS}
    # One jump after another without a message between them is silence of the remote (EST-3).
    flag = last.emergency_stop
    heard = last.jumped_at == -math.inf or (flag is not None and flag.stamp >= last.jumped_at)
    jumped_at = now if heard or now < last.jumped_at else last.jumped_at
    return replace(Received(), mission_raw=last.mission_raw, mission=last.mission, jumped_at=jumped_at, **flags)


def _radar_seen(kept: Received, past: World | None) -> float:
    """Stamp of the radar's latest sign of life, s."""
    seen = past.radar_seen if past else -math.inf
    if kept.radar_health is not None and kept.radar_health.value:
        seen = max(seen, kept.radar_health.stamp)
    if kept.objects is not None and (kept.objects.rows["source"] & np.uint8(Source.RADAR)).any():
        seen = max(seen, kept.objects.stamp)
    return seen


def _since(lights: dict[int, Light], past: World | None, now: float) -> dict[int, float]:
    if past is None:
        return dict.fromkeys(lights, now)
    return {
        signal: past.light_since[signal] if past.lights.get(signal) == state else now
        for signal, state in lights.items()
    }


def _emergency(inputs: Inputs, kept: Received) -> EmergencyInput:
    flag = kept.emergency_stop
    # A jump of time is no silence of the link (DWELL-5), and no restart of the planner is (EST-2): that is counted anew
    # from there.
    heard = kept.began_at if flag is None else flag.stamp
    age = max(inputs.stamp - max(heard, kept.jumped_at), 0.0)
    return EmergencyInput(None if flag is None else flag.value, age, inputs.clear_emergency_stop)


def _same_route(one: Route, other: Route) -> bool:
    return one is other or (one.length == other.length and one.lanes == other.lanes)

"""OpenSCENARIO's default controller: its actor keeps speed and lane, does what the script says, and minds nobody
(ASAM OpenSCENARIO XML 1.3, 7.4.2 and 6.6: `Default controller`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline, Pose, distance, shifted, wrap_angle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.sim.actors.bodies import FreeActor
from tuling_fsm.sim.actors.lane_state import LaneState
from tuling_fsm.sim.actors.lateral import OffsetProgram, offset_program
from tuling_fsm.sim.actors.longitudinal import ActorSurroundings, Moment, SpeedProgram, speed_program
from tuling_fsm.sim.scenario.maneuvers import (
    FollowTrajectory,
    Lateral,
    Longitudinal,
    ManeuverCommand,
    StopManeuver,
    TakeRoute,
)
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.scenario.monitors import TIME_TOLERANCE
from tuling_fsm.sim.scenario.placements import Placement, in_words

JOINED_M = 0.5
"""A trajectory without times that begins within this of the actor is joined without a straight line to it."""


class DefaultController:
    """Moves one actor. `name` is what others call it."""

    def __init__(self, road_map: RoadMap, name: str, body: FreeActor) -> None:
        self._map, self._name, self._body = road_map, name, body
        self._lane: LaneState | None = None
        self._route: frozenset[LaneId] = frozenset()
        self._speed: tuple[int, SpeedProgram] | None = None
        self._offset: tuple[int, OffsetProgram] | None = None
        self._trajectory: tuple[int, _Trajectory] | None = None
        self.way = 0.0
        """All that it has gone, m."""

    @property
    def at_end_of_road(self) -> bool:
        """Whether no lane goes on from where it is."""
        return self._lane is not None and self._lane.ends_here()

    def place(self, reference: Pose, speed: float) -> None:
        """Put the reference point somewhere; from there it goes along the lane, if one leads its way. What was asked of
        its offset or way is over, what was asked of its speed goes on.
        """
        self._offset = self._trajectory = None
        self._body.place(reference, speed)
        self._find_lane(reference)

    def forget(self) -> None:
        """Give up all that was asked of the actor: it is no longer in the world."""
        self._speed = self._offset = self._trajectory = self._lane = None
        self._route = frozenset()

    def _find_lane(self, reference: Pose) -> None:
        self._lane = LaneState.of(self._map, reference, self._route, self._body.z)
        if self._lane is not None:
            self._lane.tilt = wrap_angle(reference.heading - self._lane.heading)

    def over(self, number: int) -> bool:
        """Whether the maneuver of a number is no longer going on."""
        return all(part is None or part[0] != number for part in (self._speed, self._offset, self._trajectory))

    def begin(self, command: ManeuverCommand, state: ActorState, around: ActorSurroundings) -> None:
        """Carry out a command from now on; one that cannot be carried out here is over at once.

        Raises:
            InputError: a place on its way is not on the map, or no lanes lead there.
        """
        if isinstance(command, Longitudinal):
            if self._trajectory is not None and self._trajectory[1].timed:
                self._leave_trajectory(state.pose)
            self._speed = command.number, speed_program(command, state, around)
        elif isinstance(command, Lateral):
            self._leave_trajectory(state.pose)
            shift = None if self._lane is None else offset_program(command, self._lane, state, around)
            self._offset = None if shift is None else (command.number, shift)
        elif isinstance(command, FollowTrajectory):
            begins = around.stamp if command.absolute else 0.0
            poses = _oriented(self._poses(command.points, around), command.oriented)
            line = _trajectory(state.pose, _without(command.skipped, poses), command.times, begins)
            self._trajectory = None if line is None else (command.number, line)
            self._offset = None
            self._speed = None if line is not None and line.timed else self._speed
        elif isinstance(command, TakeRoute):
            self._take_route(command, state, around)
        else:
            assert isinstance(command, StopManeuver)
            self._stop(command.number, state)

    def _poses(self, places: Iterable[Placement], around: ActorSurroundings) -> list[Pose]:
        """Where places are now.

        Raises:
            InputError: one is not on the map.
        """
        poses = []
        for each in places:
            pose = around.pose_of(each)
            if pose is None:
                raise InputError(self._name, f"no {in_words(each)} on this map now", "places on the map")
            poses.append(pose)
        return poses

    def _take_route(self, command: TakeRoute, state: ActorState, around: ActorSurroundings) -> None:
        poses = self._poses(command.waypoints, around)
        ahead = poses[1:] if len(poses) > 1 and distance(poses[0][:2], state.pose[:2]) < 5.0 else poses
        ways = (
            _lanes_over(self._map, state.pose, ahead[first:]) for first in range(len(ahead))
        )  # It may be past some.
        lanes = next((way for way in ways if way is not None), None) if ahead else frozenset[LaneId]()
        if lanes is None:
            what = f"no lanes lead {self._name!r} from where it is along this route"
            raise InputError(self._name, what, "places that lanes join")
        self._route = lanes
        if self._lane is not None:
            self._lane.route = lanes

    def _stop(self, number: int, state: ActorState) -> None:
        if self._speed is not None and self._speed[0] == number:
            self._speed = None
        if self._offset is not None and self._offset[0] == number:
            self._offset = None
        if self._trajectory is not None and self._trajectory[0] == number:
            self._leave_trajectory(state.pose)

    def _leave_trajectory(self, pose: Pose) -> None:
        if self._trajectory is not None:
            self._trajectory = None
            self._find_lane(pose)

    def step(self, dt: float, state: ActorState, around: ActorSurroundings) -> None:
        """Move the actor by `dt` s."""
        before = state.speed
        speed = self._next_speed(dt, state, around)
        if self._trajectory is not None:
            self._along_trajectory(self._trajectory[1], dt, before, speed)
            return
        way = 0.5 * (before + speed) * dt
        lane = self._lane
        if lane is None:
            self._move(shifted(state.pose, way), before, speed, dt)
            return
        s, kept, at = lane.s, lane.offset, lane.lane
        lane.advance(way)
        if self._offset is not None:
            program = self._offset[1]
            lane.offset = program.offset(lane, state, dt, way, around)
            self._offset = None if program.over else self._offset
        went = -way if lane.against else way
        slope = (lane.offset - kept) / went if lane.lane is at and abs(lane.s - s) > 1e-9 and went != 0.0 else 0.0
        reference = lane.pose(slope)
        if abs(way) > 0.0:
            lane.tilt = 0.0
        tilted = Pose(reference.x, reference.y, wrap_angle(reference.heading + lane.tilt))
        stopped = lane.at_end
        self._move(tilted, before, 0.0 if stopped else speed, dt)

    def _next_speed(self, dt: float, state: ActorState, around: ActorSurroundings) -> float:
        if self._speed is None:
            return state.speed
        program = self._speed[1]
        speed = program.speed(Moment(self._name, state, dt, around))
        self._speed = None if program.over else self._speed
        return speed

    def _along_trajectory(self, trajectory: _Trajectory, dt: float, before: float, speed: float) -> None:
        reference, driven = trajectory.advance(dt, 0.5 * (before + speed) * dt)
        self._move(reference, before, speed if driven is None else driven, dt)
        if trajectory.over:
            self._trajectory = None
            self._find_lane(reference)

    def _move(self, reference: Pose, before: float, speed: float, dt: float) -> None:
        body = self._body
        old = body.reference()
        body.pose = shifted(reference, body.reference_behind)
        body.a, body.v, body.wanted = (speed - before) / dt, speed, speed
        self.way += 0.0 if old is None else distance(old[:2], reference[:2])


class _Trajectory:
    """A line through points that the reference point goes along: by its own speed, or by the times of the points, s."""

    def __init__(self, points: list[Pose], times: tuple[float, ...], begins: float) -> None:
        """A point without a heading (NaN) leaves it to the line."""
        self._points = points
        self._arcs = _arc_lengths(points)
        dense = np.unique(np.concatenate((np.arange(0.0, self._arcs[-1], 1.0), self._arcs)))
        table = np.array([pose[:2] for pose in points])
        self._line = Polyline.of(np.column_stack([np.interp(dense, self._arcs, table[:, i]) for i in (0, 1)]))
        self._times = np.array(times)
        self._clock = begins
        self._s = float(np.interp(begins, self._times, self._arcs)) if times else 0.0
        self.over = False

    @property
    def timed(self) -> bool:
        """Whether times say how fast it is followed."""
        return len(self._times) > 0

    def advance(self, dt: float, way: float) -> tuple[Pose, float | None]:
        """The pose after a step, and the speed where times say it."""
        if not self.timed:
            self._s += way
            self.over = self._s >= self._line.length
            return self._pose(), None
        self._clock += dt
        s = float(np.interp(self._clock, self._times, self._arcs))
        speed, self._s = (s - self._s) / dt, s
        late = self._clock - self._times[-1]
        self.over = bool(late >= -TIME_TOLERANCE)
        return self._pose(), None if late > TIME_TOLERANCE else speed

    def _pose(self) -> Pose:
        pose = self._line.at(self._s)
        i = min(max(int(np.searchsorted(self._arcs, self._s, "right")) - 1, 0), len(self._arcs) - 2)
        length = float(self._arcs[i + 1] - self._arcs[i])
        share = min(max((self._s - float(self._arcs[i])) / length, 0.0), 1.0) if length > 0.0 else 1.0
        heading = _between(self._points[i], self._points[i + 1], share).heading
        return pose if math.isnan(heading) else Pose(pose.x, pose.y, heading)


def _oriented(poses: list[Pose], oriented: tuple[bool, ...]) -> list[Pose]:
    """The poses, without a heading (NaN) where it is not stated."""
    stated = oriented or (False,) * len(poses)
    return [pose if each else Pose(pose.x, pose.y, math.nan) for pose, each in zip(poses, stated, strict=True)]


def _between(one: Pose, other: Pose, share: float) -> Pose:
    """The pose at a share of the way from one to another, turned that much of the shorter way round."""
    heading = one.heading + share * wrap_angle(other.heading - one.heading)
    return Pose(one.x + share * (other.x - one.x), one.y + share * (other.y - one.y), wrap_angle(heading))


def _arc_lengths(points: list[Pose]) -> FloatArray:
    """Along the straight lines from point to point, m."""
    return np.concatenate(([0.0], np.cumsum([distance(a[:2], b[:2]) for a, b in pairwise(points)])))


def _without(skipped: float, points: list[Pose]) -> list[Pose]:
    """What is left of straight lines from point to point when one begins so far on (m)."""
    for i, (here, there) in enumerate(pairwise(points)):
        length = distance(here[:2], there[:2])
        if skipped < length:
            return [_between(here, there, skipped / length), *points[i + 1 :]]
        skipped -= length
    return points[-1:]


def _trajectory(start: Pose, points: list[Pose], times: tuple[float, ...], begins: float) -> _Trajectory | None:
    """From where the actor is along the points; None where there is no way to go."""
    if not times and points and distance(start[:2], points[0][:2]) > JOINED_M:
        points = [Pose(start.x, start.y, math.nan), *points]
    if len(points) < 2 or _arc_lengths(points)[-1] <= 1e-6:
        return None
    return _Trajectory(points, times, begins)


def _lanes_over(road_map: RoadMap, start: Pose, places: list[Pose]) -> frozenset[LaneId] | None:
    """The lanes of the way from a pose over places; None where there is no way."""
    free = [Pose(place.x, place.y, float("nan")) for place in places]
    route = plan_route(road_map, start, free[-1], via=free[:-1]).route
    return None if route is None else frozenset(lane.lane for lane in route.lanes)

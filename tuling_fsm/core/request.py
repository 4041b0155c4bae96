"""What the state machine asks of the planners, and what it gets back.

The request is a closed union: a planner that meets an unknown member is a programming error, not a run-time case.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory


class Reason(str, Enum):
    """Why the speed is limited, or why there is no plan. The value is the code on the wire."""

    NONE = "NONE"
    SPEED_LIMIT = "SPEED_LIMIT"
    CURVATURE = "CURVATURE"
    PASSING = "PASSING"
    LEADER = "LEADER"
    QUEUE = "QUEUE"
    CROSSING = "CROSSING"
    OBSTACLE = "OBSTACLE"
    RED_LIGHT = "RED_LIGHT"
    STOP_SIGN = "STOP_SIGN"
    PEDESTRIAN = "PEDESTRIAN"
    JUNCTION_OCCUPIED = "JUNCTION_OCCUPIED"
    JUNCTION_EXIT_BLOCKED = "JUNCTION_EXIT_BLOCKED"
    LANE_END = "LANE_END"
    ROUTE_END = "ROUTE_END"
    GEAR_CHANGE = "GEAR_CHANGE"
    STEERING = "STEERING"
    TARGET = "TARGET"
    PLANNING = "PLANNING"
    NO_ROUTE = "NO_ROUTE"
    NOT_LOCALIZED = "NOT_LOCALIZED"
    NO_ODOMETRY = "NO_ODOMETRY"
    OBJECTS_STALE = "OBJECTS_STALE"
    RADAR_STALE = "RADAR_STALE"
    EMERGENCY_STOP = "EMERGENCY_STOP"
    ARRIVED = "ARRIVED"
    MATCH_OVER = "MATCH_OVER"
    PLAN_REJECTED = "PLAN_REJECTED"
    NO_PATH = "NO_PATH"
    START_OCCUPIED = "START_OCCUPIED"
    GOAL_OCCUPIED = "GOAL_OCCUPIED"
    TIMEOUT = "TIMEOUT"
    OUTSIDE_MAP = "OUTSIDE_MAP"


class LaneEnd(str, Enum):
    """Why a lane line goes no farther."""

    HORIZON = "horizon"
    ROUTE_END = "route_end"
    LANE_END = "lane_end"
    """The lane ends here, or leaves the route: the car has to have left it by then."""


@dataclass(frozen=True, eq=False)
class LaneLine:
    """The centre of one same-direction lane from behind the car to the farthest visible point, along the route.

    All per-point rows have the length of `center.s`. `left`/`right` are distances (m, >= 0) from the centre to the
    lane's own boundaries; `left_free`/`right_free` are the distances that the footprint may use on that side: up to
    the next line that may not be crossed (NOR-6), which may lie lanes away. `limit` is the speed limit (m/s).
    `left_road`/`right_road` are how far the road's surface goes on that side, whatever may be crossed (m; no farther
    than it was looked for): what a bend too narrow for the body leaves it.
    """

    center: Polyline
    left: FloatArray
    right: FloatArray
    left_free: FloatArray
    right_free: FloatArray
    limit: FloatArray
    left_road: FloatArray
    right_road: FloatArray
    shift: int
    """Lanes from the route's own lane at the car, + left."""
    end: LaneEnd
    route_s0: float
    """Arc length on the route's reference of the first point, m."""

    @cached_property
    def lowest_limit(self) -> float:
        """The lowest speed limit anywhere on it, m/s."""
        return float(self.limit.min())

    @classmethod
    def along(
        cls,
        points: npt.ArrayLike,
        width: float,
        *,
        free: tuple[float, float] | None = None,
        limit: float = 50.0 / 3.6,
        shift: int = 0,
        end: LaneEnd = LaneEnd.HORIZON,
    ) -> LaneLine:
        """A lane of even width around a line of points (N, 2), m. `free` is how far the footprint may go to the left
        and to the right of its middle (m), by default to the lane's own edges; there the road ends.
        """
        center = Polyline.of(points)
        half = np.full(len(center.s), 0.5 * width)
        left, right = (0.5 * width, 0.5 * width) if free is None else free
        row = np.ones(len(half))
        return cls(center, half, half, left * row, right * row, limit * row, left * row, right * row, shift, end, 0.0)


@dataclass(frozen=True)
class StopWall:
    """A virtual obstacle with speed 0: a segment across the road, from left to right for the one that it stops, that no
    front bumper may pass in that direction (m, `map`).
    """

    x0: float
    y0: float
    x1: float
    y1: float
    reason: Reason
    detail: str = ""
    """For people: what waits there, e.g. `signal 41`."""
    blocker: int = -1
    """Id of the object or signal, -1 for none."""


class RoutePlace(NamedTuple):
    """A place on a route: arc length on its reference, where that is (m, `map`), and how the car passes it: so far (m)
    to the left of the lane's centre, for so long (m).
    """

    s: float
    x: float
    y: float
    offset: float = 0.0
    length: float = 0.0


@dataclass(frozen=True)
class Hold:
    """Come to a comfortable stop and stand, or with `emergency` brake at `emergency_decel` (EST-1)."""

    reason: Reason
    emergency: bool = False
    detail: str = ""


@dataclass(frozen=True, eq=False)
class FollowLanes:
    """Drive along the lanes: candidates to every lane line, both passes of NOR-4."""

    lanes: tuple[LaneLine, ...]
    walls: tuple[StopWall, ...]
    speed_limit: float
    keep_lane: bool = False
    """No lane change (INT-1)."""
    static_path: bool = False
    """Moving objects stay out of the path geometry, as in the first pass of NOR-4; speed profiles yield to them
    (INT-1).
    """
    goal_s: float | None = None
    """Arc length on the route's reference at which the route ends, m."""
    window: RoutePlace | None = None
    """A place that has to be passed in the lane that it is on."""
    creeps_up: bool = False
    """What stands in the lane is driven up to, without room to pull out (USE-5)."""


@dataclass(frozen=True, eq=False)
class FreeSpace:
    """Drive forward and in reverse to a pose without following lanes.

    `lines` (M, 4) are segments that the footprint may not touch (m, `map`); obstacles come with the scene and always
    hold.
    """

    goal: Pose
    lines: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    walls: tuple[StopWall, ...] = ()
    speed_limit: float = 2.5
    allow_reverse: bool = True
    free_heading: bool = False
    goal_tolerance: float = 0.3
    goal_heading_tolerance: float = 0.1
    max_expansions: int = 20_000
    feasibility_only: bool = False
    """Whether there is a way is all that is asked: the first that is found will do."""


@dataclass(frozen=True, eq=False)
class PullOver:
    """Come to stand in one of the slots at the roadside, the best goal first (TMP-1).

    Quintic curves into every goal are tried before a free-space search; lanes do not bind. `goals` are poses of the
    rear axle. One that has been begun is kept until a collision forbids it (USE-8). `lines` (M, 4) are segments that
    the footprint may not touch (m, `map`).
    """

    goals: tuple[Pose, ...]
    walls: tuple[StopWall, ...] = ()
    speed_limit: float = 2.5
    allow_reverse: bool = True
    goal_tolerance: float = 0.3
    goal_heading_tolerance: float = 0.087
    max_expansions: int = 20_000
    lines: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))


PlanningRequest = Hold | FollowLanes | FreeSpace | PullOver


@dataclass(frozen=True)
class Limit:
    """What limits the speed now (EXPL-1): the nearest or hardest of all that bind, `distance` (m) from the front
    bumper.
    """

    reason: Reason
    distance: float = 0.0
    detail: str = ""
    blocker: int = -1


@dataclass(frozen=True)
class Candidate:
    """One alternative the planner looked at, for people: end point, cost, and why it lost (`Reason.NONE` for the
    winner).
    """

    x: float
    y: float
    shift: int
    offset: float
    cost: float
    rejected: Reason


@dataclass(frozen=True, eq=False)
class Maneuver:
    """A free-space motion that was found once and is driven to its end (USE-8): `whole` as planned to `goal`, with its
    changes of gear, the first row of it that is still ahead, and the stamp (s) at which nothing was last seen to block
    it, `-inf` for never.
    """

    goal: Pose
    whole: Trajectory
    row: int = 0
    free_at: float = -math.inf


@dataclass(frozen=True, eq=False)
class FailedSearch:
    """A free-space search that found nothing: what was asked, among what, and why there is no path."""

    request: FreeSpace
    scene: Scene
    reason: Reason


@dataclass(frozen=True, eq=False)
class OpenSearch:
    """A free-space search that goes on on the next tick, for a car that stands: what was asked and among what when it
    was begun, and how far it is, which is the planner's.
    """

    request: FreeSpace
    scene: Scene
    progress: object


@dataclass(frozen=True, eq=False)
class PlanResult:
    """A plan, or the reason why there is none. `feasible` is NOR-7's sense: a stop for a light or a leader is
    feasible.
    """

    feasible: bool
    trajectory: Trajectory | None
    limit: Limit
    reason: Reason = Reason.NONE
    shift: int = 0
    """Lane line of the winner, as `LaneLine.shift`."""
    uses_reverse: bool = False
    alternatives: Callable[[], tuple[Candidate, ...]] = tuple
    """Works out `candidates`, which is for people, when they are to be shown."""
    maneuver: Maneuver | None = None
    """What `trajectory` is the next part of, for free-space plans; the planner's to go on with on the next tick."""
    in_vain: tuple[FailedSearch, ...] = ()
    """The searches that were made for it and found nothing; the planner's not to repeat on the next tick."""
    search: OpenSearch | None = None
    """The one that is under way while the car stands; the planner's to go on with on the next tick."""

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What the planner looked at."""
        return self.alternatives()

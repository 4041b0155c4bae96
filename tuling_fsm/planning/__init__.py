"""Paths and speeds for what the state machine asks: along lanes, without lanes, or to a stop; and their check.

Of use without the state machine too: everything a caller needs is named here. Poses are those of the rear axle in one
fixed frame, units are SI.
"""

from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.request import (
    FollowLanes,
    FreeSpace,
    Hold,
    LaneEnd,
    LaneLine,
    Limit,
    PlanResult,
    PullOver,
    Reason,
    StopWall,
)
from tuling_fsm.core.scene import Ego, Obstacles, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space import FreeSpaceParameters, plan_free_space
from tuling_fsm.planning.free_space.reeds_shepp import shortest_reeds_shepp
from tuling_fsm.planning.obstacles.rss import Rss, following_distance, lateral_distance, oncoming_distance
from tuling_fsm.planning.parameters import PlanningParameters, RssParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import Violation, ViolationKind, check
from tuling_fsm.planning.speed.speed_profile import speed_profile

__all__ = [
    "Ego",
    "FollowLanes",
    "FreeSpace",
    "FreeSpaceParameters",
    "Hold",
    "LaneEnd",
    "LaneLine",
    "Limit",
    "Obstacles",
    "PlanResult",
    "Planner",
    "PlanningParameters",
    "Polyline",
    "Pose",
    "PullOver",
    "Reason",
    "Rss",
    "RssParameters",
    "Scene",
    "StopWall",
    "Trajectory",
    "Vehicle",
    "Violation",
    "ViolationKind",
    "check",
    "following_distance",
    "lateral_distance",
    "oncoming_distance",
    "plan_free_space",
    "shortest_reeds_shepp",
    "speed_profile",
]  # fmt: skip

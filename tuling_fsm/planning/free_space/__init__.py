"""Driving without lanes, forward and in reverse to a pose: Hybrid A* with Reeds-Shepp shots, smooth steering, speed."""

from tuling_fsm.planning.free_space.planner import plan_free_space
from tuling_fsm.planning.parameters import FreeSpaceParameters

__all__ = ["FreeSpaceParameters", "plan_free_space"]

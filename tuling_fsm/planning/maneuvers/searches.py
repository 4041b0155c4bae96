"""What a plan leaves to the next tick: a search that goes on, and one that found nothing.

A search in vain is made again when it could come out otherwise, or after a while; not on every tick.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.request import FailedSearch, FreeSpace, Limit, OpenSearch, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space.obstacles import solid_segments, standing

_SEARCHED = (Reason.NO_PATH, Reason.TIMEOUT)
"""All other reasons are found without a search."""
_SAME_GOAL_M, _SAME_GOAL_RAD = 0.1, 0.03
_SAME_PLACE_M, _SAME_PLACE_RAD = 0.3, 0.1
"""Half of the coarsest cell of the search: a car nearer to where it was starts from the same place ..."""
_SAME_THING_M = 0.1
"""... and what stands is where it was if no corner has moved farther."""
_ABOUT_M = 30.0
"""What is farther beside the way to a goal than this is nothing to a search."""
_STILL_M, _STILL_RAD = 0.02, 0.01
"""A motion that was planned from no farther away than this is driven as it is."""
_LONGEST_S = 1.0
"""A search that has been left alone for longer begins anew."""


def same_goal(one: Pose, other: Pose) -> bool:
    """Whether a motion to the one leads to the other too."""
    return _near(one, other, _SAME_GOAL_M, _SAME_GOAL_RAD)


def noted(found: PlanResult, request: FreeSpace, scene: Scene) -> tuple[FailedSearch, ...]:
    """What is remembered of a free-space plan: nothing unless it was searched for in vain."""
    return (FailedSearch(request, scene, found.reason),) if found.reason in _SEARCHED else ()


def fails_still(previous: PlanResult | None, request: FreeSpace, scene: Scene, retry: float) -> FailedSearch | None:
    """The search of less than `retry` (s) ago that would come out the same, if there is one."""
    for failed in () if previous is None else previous.in_vain:
        if 0.0 <= scene.stamp - failed.scene.stamp < retry and _asks_the_same(failed.request, request):
            same = _looks_the_same(failed.scene, scene, request.goal, _SAME_PLACE_M, _SAME_PLACE_RAD)
            return failed if same else None
    return None


def fails_as_before(failed: FailedSearch, stop: Trajectory) -> PlanResult:
    """The plan of a car that stops as long as nothing changes."""
    since = f"none found {stop.stamp - failed.scene.stamp:.2f} s ago"
    return PlanResult(False, stop, Limit(failed.reason, detail=since), failed.reason, in_vain=(failed,))


def failed_before(previous: PlanResult | None, request: FreeSpace) -> FailedSearch | None:
    """The latest search for the same that found nothing, however long ago."""
    in_vain = () if previous is None else previous.in_vain
    return next((failed for failed in in_vain if _asks_the_same(failed.request, request)), None)


def searching(search: OpenSearch | None, stop: Trajectory, failed: FailedSearch | None) -> PlanResult:
    """The plan of a car that stands, or stops, to search; there is no path as before where the last one `failed`."""
    if failed is None:
        return PlanResult(True, stop, Limit(Reason.PLANNING), search=search)
    limit = Limit(failed.reason, detail="searched for again")
    return PlanResult(False, stop, limit, failed.reason, in_vain=(failed,), search=search)


def goes_on(search: OpenSearch, request: FreeSpace, scene: Scene) -> bool:
    """Whether a search that is under way still answers a request."""
    soon = 0.0 <= scene.stamp - search.scene.stamp < _LONGEST_S
    same = soon and _asks_the_same(search.request, request)
    return same and _looks_the_same(search.scene, scene, request.goal, _STILL_M, _STILL_RAD)


def _asks_the_same(one: FreeSpace, other: FreeSpace) -> bool:
    rules, others = (
        (each.allow_reverse, each.free_heading, each.goal_tolerance, each.goal_heading_tolerance, each.max_expansions)
        for each in (one, other)
    )
    return same_goal(one.goal, other.goal) and rules == others and np.array_equal(one.lines, other.lines)


def _looks_the_same(before: Scene, now: Scene, goal: Pose, metres: float, radians: float) -> bool:
    """Whether the car and all that stands about it and its goal are where they were, and it rolls or not as before."""
    stood, stands = abs(before.ego.v) < HELD, abs(now.ego.v) < HELD
    if stood != stands or not _near(before.ego.pose, now.ego.pose, metres, radians):
        return False
    one, other = (_edges_near(scene, goal) for scene in (before, now))
    return one.shape == other.shape and bool(np.all(np.abs(one - other) < _SAME_THING_M))


def _edges_near(scene: Scene, goal: Pose) -> FloatArray:
    """Edges (M, 4) of what stands about the car and its goal, those of objects in the order of their ids."""
    edges, pose, fixed = solid_segments(scene), scene.ego.pose, len(scene.static_segments)
    reach = elementary.hypot(goal.x - pose.x, goal.y - pose.y) + _ABOUT_M
    near = elementwise.hypot(edges[:, 0] - goal.x, edges[:, 1] - goal.y) < reach
    of_objects, ids = edges[fixed:].reshape(-1, 16), scene.obstacles.id[standing(scene.obstacles)]
    kept = [row for row in np.argsort(ids, kind="stable").tolist() if near[fixed + 4 * row]]
    return np.concatenate((edges[:fixed][near[:fixed]], of_objects[kept].reshape(-1, 4)))


def _near(one: Pose, other: Pose, metres: float, radians: float) -> bool:
    apart = elementary.hypot(one.x - other.x, one.y - other.y)
    return apart < metres and abs(wrap_angle(one.heading - other.heading)) < radians

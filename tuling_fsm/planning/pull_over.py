"""Into a slot at the roadside: the goals of a pull-over are tried in their order (TMP-1, USE-8)."""

from __future__ import annotations

from tuling_fsm.core.request import FreeSpace, Limit, PlanResult, PullOver, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.continuity import StartState
from tuling_fsm.planning.manoeuvre import plan_manoeuvre
from tuling_fsm.planning.tools import Tools


def plan_pull_over(
    request: PullOver, scene: Scene, start: StartState, previous: PlanResult | None, tools: Tools
) -> PlanResult:
    """The plan into the first goal that has one; a goal that is being driven to comes first."""
    begun = None if previous is None or previous.manoeuvre is None else previous.manoeuvre.goal
    result = PlanResult(False, None, Limit(Reason.NO_PATH), Reason.NO_PATH)
    for goal in sorted(request.goals, key=lambda pose: pose != begun):
        search = FreeSpace(
            goal,
            walls=request.walls,
            speed_limit=request.speed_limit,
            allow_reverse=request.allow_reverse,
            goal_tolerance=request.goal_tolerance,
            goal_heading_tolerance=request.goal_heading_tolerance,
            max_expansions=request.max_expansions,
        )
        result = plan_manoeuvre(search, scene, start, previous, tools)
        if result.feasible:
            return result
    return result

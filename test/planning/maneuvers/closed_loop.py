"""A closed loop of the planner in which the independent check judges every plan."""

from __future__ import annotations

from collections.abc import Sequence

from tuling_fsm.core.request import FreeSpace, PlanResult, PullOver
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check

from ..scenes import Log, Thing, drive, regulations_for

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
PLANNER = Planner(VEHICLE, PARAMETERS)


def searched(request: FreeSpace | PullOver, now: Scene, previous: PlanResult | None = None) -> PlanResult:
    """The result with which the search of a car that stands is over, where nothing changes meanwhile."""
    result = PLANNER.plan(request, now, previous)
    while result.search is not None:
        result = PLANNER.plan(request, now, result)
    return result


def drive_checked(request: FreeSpace | PullOver, start: Scene, seconds: float, things: Sequence[Thing] = ()) -> Log:
    """Every tick of the loop; fails at the first plan that the check rejects."""

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        result = PLANNER.plan(request, now, previous)
        assert result.trajectory is not None
        assert check(result.trajectory, now, regulations_for(request), VEHICLE, PARAMETERS) is None, stamp
        return result

    return drive(plan, start, seconds, things)

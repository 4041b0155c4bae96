"""`on_road/solid_line_free` and `no_line_free`: round what blocks the lane, forward and in reverse (SLF, NLF)."""

from __future__ import annotations

import numpy as np

from tuling_fsm.behaviour import free_driving
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.parking.guards import parking_ahead
from tuling_fsm.behaviour.permissions import FREE_SPACE, ON_LANES, Permissions
from tuling_fsm.behaviour.places import along_lanes, is_free, spread
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason

TARGET_STEP_M = 5.0
TARGET_GAP_M = 3.0
END_M = 1.0
"""A place at the end of the route lies this far before it."""


def targets(view: BehaviourView) -> tuple[Pose, ...]:
    """Free places ahead on the lanes of the reference road; where there are none, as behind long road works, those
    farther on, as far as the way back to the road is looked for (REG-1) where the way round leads off it. Near the end
    of the route they are those at its end, beside what stands there (USE-7).
    """
    places: tuple[Pose, ...] = ()
    free, vehicle = view.context.parameters.free, view.context.vehicle
    for distances in _stretches(view):
        places = places or along_lanes(view.world.lanes, distances, view.world.scene, vehicle, free.clearance)
    return spread(places, TARGET_GAP_M, free.attempts)


def _stretches(view: BehaviourView) -> tuple[FloatArray, ...]:
    """How far ahead places are looked at (m), and how far where none of those is free."""
    free, regression = view.context.parameters.free, view.context.parameters.regression
    if _near_end(view):
        return (np.array([_to_end(view)]),) if _to_end(view) > free.reached else ()
    farthest = max(free.target_max, regression.target_max)
    ranges = ((free.target_min, free.target_max), (free.target_max, farthest))
    return tuple(np.arange(begin, end + 1e-9, TARGET_STEP_M, dtype=np.float64) for begin, end in ranges)


def _near_end(view: BehaviourView) -> bool:
    """Whether the route ends before the nearest target would lie."""
    return view.world.route is not None and view.world.route_remaining < view.context.parameters.free.target_min


def _to_end(view: BehaviourView) -> float:
    """How far ahead the place at the end of the route lies, m."""
    return view.world.route_remaining - END_M


def _occupied(view: BehaviourView) -> bool:
    """Whether the goal, right before the car, is taken in every lane: lower states have no other places, and no route
    leads to others. At a stop of the mission and in a car park there are more (TMP-3, PRK-2).
    """
    route, parameters = view.world.route, view.context.parameters.free
    near = view.world.localized and _near_end(view) and _to_end(view) > parameters.reached
    if route is None or not near or view.memory.mission.goal.is_stop or parking_ahead(view) is not None:
        return False
    end = route.reference.at(route.length - END_M)
    taken = not is_free(end, view.world.scene, view.context.vehicle, parameters.clearance)
    return taken and not targets(view)


def _leaf(*stages: Permissions) -> LeafBehaviour:
    """A state that tries all its targets with what the first of the stages may do, then with what the next may."""

    def lines(view: BehaviourView, rung: int) -> FloatArray:
        tried = max(len(view.memory.ladder.goals), 1)
        return free_driving.lines_held(view, stages[rung * len(stages) // tried])

    def enter(view: BehaviourView) -> Memory:
        memory = free_driving.begin(view, len(stages) * targets(view), lines)
        return free_driving.with_ladder(memory, replace(memory.ladder, occupied=_occupied(view)))

    def update(view: BehaviourView) -> Memory:
        ladder = view.memory.ladder
        if free_driving.reached(view) or ladder.occupied or ladder.route is not view.world.route:
            return enter(view)
        return free_driving.go_on(view, lines)

    def request(view: BehaviourView) -> PlanningRequest:
        if view.world.localized and not view.memory.ladder.goals and _near_end(view):
            return Hold(Reason.GOAL_OCCUPIED, detail="no free place at the end of the route")
        return free_driving.toward_goal(view, view.context.parameters.free.speed)

    return LeafBehaviour(request, enter, update, free_driving.lane_probe, may=stages[-1], leads_back=True)


SOLID_LINE_FREE = _leaf(ON_LANES)
NO_LINE_FREE = _leaf(FREE_SPACE._replace(leave_road=False), FREE_SPACE)
"""Over lines on the road, the other lanes of it included; beyond its edges where that fails for every target."""

"""`on_road/solid_line_free` and `no_line_free`: round what blocks the lane, forward and in reverse (SLF, NLF)."""

from __future__ import annotations

import numpy as np

from tuling_fsm.behaviour import free_driving
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.permissions import FREE_SPACE, ON_LANES, Permissions
from tuling_fsm.behaviour.places import along_lanes, spread
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import PlanningRequest

TARGET_STEP_M = 5.0
TARGET_GAP_M = 3.0


def targets(view: BehaviourView) -> tuple[Pose, ...]:
    """Free places ahead on the lanes of the reference road; where there are none, as behind long road works, those
    farther on, as far as the way back to the road is looked for (REG-1) where the way round leads off it.
    """
    parameters = view.context.parameters
    places: tuple[Pose, ...] = ()
    free, farthest = parameters.free, max(parameters.free.target_max, parameters.regression.target_max)
    for begin, end in ((free.target_min, free.target_max), (free.target_max, farthest)):
        distances = np.arange(begin, end + 1e-9, TARGET_STEP_M)
        places = places or along_lanes(
            view.world.lanes, distances, view.world.scene, view.context.vehicle, free.clearance
        )
    return spread(places, TARGET_GAP_M, free.attempts)


def _leaf(may: Permissions) -> LeafBehaviour:
    def lines(view: BehaviourView, _: int) -> FloatArray:
        return free_driving.lines_held(view, may)

    def enter(view: BehaviourView) -> Memory:
        return free_driving.begin(view, targets(view), lines)

    def update(view: BehaviourView) -> Memory:
        if free_driving.reached(view) or view.memory.ladder.route is not view.world.route:
            return enter(view)
        return free_driving.go_on(view, lines)

    def request(view: BehaviourView) -> PlanningRequest:
        return free_driving.toward_goal(view, view.context.parameters.free.speed)

    return LeafBehaviour(request, enter, update, free_driving.lane_probe, may=may, leads_back=True)


SOLID_LINE_FREE = _leaf(ON_LANES)
NO_LINE_FREE = _leaf(FREE_SPACE)

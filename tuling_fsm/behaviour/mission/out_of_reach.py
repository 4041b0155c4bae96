"""Why a task cannot be served however much time there is (USE-7)."""

from __future__ import annotations

import itertools
import math

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.budget import place_of
from tuling_fsm.behaviour.mission.memory import CAR, PARK, GoalKind, TaskPlace
from tuling_fsm.core.request import Reason
from tuling_fsm.map.routing import NEAR_M


def out_of_reach(view: BehaviourView, task: int) -> str:
    """What is in the way of serving a task next and driving on to the end of the mission, by the lengths that are
    known; empty for nothing.
    """
    nodes = (CAR, TaskPlace(GoalKind.PICKUP, task), TaskPlace(GoalKind.DROPOFF, task), PARK)
    legs = view.memory.mission.legs
    closed = [leg for leg in itertools.pairwise(nodes) if math.isinf(legs.get(leg, 0.0))]
    if not closed:
        return ""
    off = next((node for leg in closed for node in leg if _is_off_map(view, node)), None)
    if off is not None:
        return f"{_words(off)} is off the map ({Reason.OUTSIDE_MAP.value})"
    start, goal = closed[0]
    return f"there is no way from {_words(start)} to {_words(goal)} ({Reason.NO_PATH.value})"


def _is_off_map(view: BehaviourView, node: TaskPlace) -> bool:
    """Whether no lane is so near to a place that a route could begin or end there."""
    pose, road_map = place_of(view, node), view.context.road_map
    near = road_map.positions(pose.x, pose.y, radius=NEAR_M)
    return not any(position.lane in road_map.graph for position in near)


def _words(node: TaskPlace) -> str:
    names = {CAR: "the car", PARK: "the end of the mission"}
    return names.get(node, f"its {node.kind.value}")

"""Which light the car shows, from what it is about to do (USE-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tuling_fsm.behaviour.permissions import Indication
from tuling_fsm.behaviour.tables import permissions
from tuling_fsm.core.request import Hold, Reason

if TYPE_CHECKING:
    from tuling_fsm.agent import Tick

SIDE_STEP_M = 1.2
"""A plan that moves so far to one side is a change of lane."""
LOOK_AHEAD_S = 4.0
TURN_RAD = 0.5
"""A junction that turns the route by more is a turn."""
TURN_AHEAD_M = 30.0
_CALM_HOLDS = (Reason.NONE, Reason.ARRIVED, Reason.NO_ROUTE, Reason.RED_LIGHT, Reason.STOP_SIGN)


def indicator(tick: Tick, left_hand: bool = False) -> str:
    """`off`, `left`, `right` or `hazard`; where traffic keeps to the left the kerb is there."""
    request, indication = tick.decision.request, permissions(tick.state).indication
    if indication is Indication.HAZARD or (isinstance(request, Hold) and request.reason not in _CALM_HOLDS):
        return "hazard"
    kerb = ("left" if left_hand else "right") if indication is Indication.KERB else ""
    return _side(_side_step(tick), SIDE_STEP_M) or kerb or _side(_turn(tick), TURN_RAD) or "off"


def _side(amount: float, least: float) -> str:
    if abs(amount) < least:
        return ""
    return "left" if amount > 0.0 else "right"


def _side_step(tick: Tick) -> float:
    """How far the plan moves to the left of the route, m."""
    route, trajectory = tick.world.route, tick.trajectory
    if route is None or trajectory.stands:
        return 0.0
    later, _, _, _ = trajectory.sample(trajectory.stamp + LOOK_AHEAD_S)
    here = tick.world.route_s
    return route.reference.project(later.x, later.y, here, here + 100.0).offset - tick.world.route_offset


def _turn(tick: Tick) -> float:
    """By how much the route turns to the left in the junction that the car is in or near, rad."""
    world = tick.world
    if world.route is None:
        return 0.0
    for junction in world.junctions:
        if world.route_s <= junction.s_to and junction.s_from - world.route_s < TURN_AHEAD_M:
            entry, leave = (world.route.reference.at(s).heading for s in (junction.s_from, junction.s_to))
            return leave - entry
    return 0.0

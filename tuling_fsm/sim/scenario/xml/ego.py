"""What the script says of the ego: obeyed until it is free, then the planner drives.

In the initial instant it is placed, given a speed and a route. From then on the planner drives it to the end of that
route: of what the script asks of it later, places and routes count, and anything else takes the time that it would
have taken, for what waits for its end.
"""

from __future__ import annotations

from tuling_fsm.sim.scenario.action_types import ActionEffect
from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.conditions import Elapsed
from tuling_fsm.sim.scenario.maneuvers import DynamicsDimension, DynamicsShape, FollowTrajectory, Transition
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.scenario.placements import OnTrajectory, Placement
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.positions import position
from tuling_fsm.sim.scenario.xml.private_actions import NO_EFFECT, action_kind, private_action, transition, waypoints
from tuling_fsm.sim.scenario.xml.script import Script

ROUTES = ("AssignRouteAction", "AcquirePositionAction")
_DYNAMICS = ("SpeedActionDynamics", "LaneChangeActionDynamics")


def ego_action(element: XmlElement, script: Script) -> ActionEffect:
    """What a PrivateAction of the ego comes to after the initial instant.

    Raises:
        InputError: an action that is not understood, or lacks something.
    """
    kind = action_kind(element)
    if kind.tag == "TeleportAction":
        place = position(kind.child("Position"), script)
        script.ego_start = script.ego_start or place
        return ActionEffect((Place(EGO, place),))
    if kind.tag in ROUTES:
        send(waypoints(kind, script), script)
        return NO_EFFECT
    effect = private_action(element, EGO, script)
    if not effect.begin:
        return NO_EFFECT
    command = effect.begin[0]
    if isinstance(command, FollowTrajectory):
        script.ego_start = script.ego_start or (
            OnTrajectory(command.points, command.skipped) if command.skipped > 0.0 else command.points[0]
        )
        send(command.points[-1:], script)
        return ActionEffect(until=Elapsed(command.times[-1] - command.times[0])) if command.times else NO_EFFECT
    script.note(kind, "is left to the planner, which drives the ego")
    dynamics = [transition(child) for child in kind.all(*_DYNAMICS)]
    if not dynamics:
        return NO_EFFECT
    if dynamics[0].dimension is not DynamicsDimension.TIME and dynamics[0].shape is not DynamicsShape.STEP:
        script.note(kind, "is over at once: its dynamics state no time")
    return ActionEffect(until=Elapsed(_seconds(dynamics[0])))


def send(places: tuple[Placement, ...], script: Script) -> None:
    """The first route that the script gives is the ego's."""
    script.ego_route = script.ego_route or places


def _seconds(dynamics: Transition) -> float:
    return dynamics.value if dynamics.dimension is DynamicsDimension.TIME else 0.0

"""Init of OpenSCENARIO XML (1.3, 7.5): where everyone is and how fast when the run begins."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.maneuvers import ApproachSpeed, DynamicsShape, FollowTrajectory
from tuling_fsm.sim.scenario.model import EGO, Node
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.global_actions import global_action
from tuling_fsm.sim.scenario.xml.private_actions import action_kind, approach_speed, initial_place
from tuling_fsm.sim.scenario.xml.script import Script
from tuling_fsm.sim.scenario.xml.story import node, private_effect


@dataclass
class InitialState:
    """By actor: place, where the text says so, and speed (m/s); and what begins in the first instant besides."""

    placements: dict[str, Placement] = field(default_factory=dict)
    places_at: dict[str, SourceLocation] = field(default_factory=dict)
    speeds: dict[str, float] = field(default_factory=dict)
    begun: list[Node] = field(default_factory=list)
    led_from: dict[str, tuple[Placement, SourceLocation]] = field(default_factory=dict)
    """Where trajectories begin: the places of those that no other action places."""


def read_init(storyboard: XmlElement, script: Script) -> InitialState:
    """The initial state.

    Raises:
        InputError: an action in it is not understood.
    """
    state = InitialState()
    actions = storyboard.find("Init", "Actions")
    kinds = ("GlobalAction", "UserDefinedAction", "Private")
    for child in actions.all(*kinds) if actions is not None else ():
        if child.tag == "GlobalAction":
            state.begun.append(global_action(child, "", script))
        elif child.tag == "UserDefinedAction":
            script.note(child, "has no effect: it means something to another simulator")
        else:
            for actor in script.entities(child):
                for action in child.all("PrivateAction"):
                    _take(action, actor, state, script)
    for actor, (place, at) in state.led_from.items():
        if actor not in state.placements:
            state.placements[actor], state.places_at[actor] = place, at
    return state


def _take(action: XmlElement, actor: str, state: InitialState, script: Script) -> None:
    kind = action_kind(action)
    if kind.tag == "SpeedAction":
        command = approach_speed(kind, actor, script)
        speed = _speed(command, state)
        if speed is not None and (actor == EGO or command.dynamics.value == 0.0) and not command.continuous:
            state.speeds[actor] = speed
            if command.dynamics.value != 0.0 and command.dynamics.shape is not DynamicsShape.STEP:
                script.note(kind, "its dynamics have no effect: the ego begins with this speed")
            return
    effect = private_effect(action, actor, script)
    placed = [command for command in effect.begin if isinstance(command, Place)]
    if placed and actor not in state.placements:
        state.placements[actor], state.places_at[actor] = placed[0].placement, kind.at
    elif effect.begin:
        state.begun.append(node(effect, kind))
    for begun in effect.begin:
        start = initial_place(begun) if isinstance(begun, FollowTrajectory) else None
        if start is not None:
            state.led_from.setdefault(actor, (start, kind.at))


def _speed(command: ApproachSpeed, state: InitialState) -> float | None:
    if command.reference is None:
        return command.value
    other = state.speeds.get(command.reference)
    if other is None:
        return None
    return other * command.value if command.factor else other + command.value

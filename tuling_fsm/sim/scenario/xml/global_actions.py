"""Global actions of OpenSCENARIO XML (1.3, 7.4.3): weather, signals, entities that come and go, variables."""

from __future__ import annotations

import math
from collections.abc import Callable

from tuling_fsm.sim.scenario.commands import Command, Place, Remove, SetFog, SetLight, SetRain
from tuling_fsm.sim.scenario.model import EGO, Action, Assign, Emit, Node, Operator, Parallel
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.positions import position
from tuling_fsm.sim.scenario.xml.script import Script
from tuling_fsm.sim.scenario.xml.signals import known_phase, light_of, phase_of, signal_number

MM_PER_H = 1e-3 / 3600.0
"""In m/s of water."""
HEAVIEST = 50.0
"""What an `intensity` of 1 (1.0) rains, mm/h: the border to a violent shower (World Meteorological Organization)."""
_PRECIPITATION = {each: each for each in ("dry", "rain", "snow")}
CLEAR_M = 2000.0
"""From this visual range on there is no fog."""


def global_action(element: XmlElement, label: str, script: Script) -> Node:
    """The node of a GlobalAction; it is over at once.

    Raises:
        InputError: an action that is not understood, or lacks something.
    """
    kind = element.only()
    if kind.tag == "InfrastructureAction":
        kind = kind.child("TrafficSignalAction").only()
    if kind.tag not in ACTIONS:
        raise kind.fault("this action is not understood", "one of " + ", ".join(ACTIONS))
    return ACTIONS[kind.tag](kind, label, script)


def variables_set(element: XmlElement) -> list[tuple[str, str]]:
    """Parameters and variables that actions in an element set, by name, and what they are called by."""
    attributes = {"ParameterAction": "parameterRef", "VariableAction": "variableRef"}
    return [(child.reference(attributes[child.tag]), child.tag) for child in element.below(*attributes)]


def _environment(element: XmlElement, label: str, script: Script) -> Node:
    commands: list[Command] = []
    environment = script.inline(element, "Environment")
    for weather in environment.all("Weather"):
        commands += _weather(weather, script)
    for part in environment.all("TimeOfDay", "RoadCondition"):
        script.note(part, "has no effect: it is always day, and the road grips")
    return Action(tuple(commands), label=label, at=element.at)


def _weather(weather: XmlElement, script: Script) -> list[Command]:
    commands: list[Command] = []
    fog, rain = weather.find("Fog"), weather.find("Precipitation")
    if fog is not None:
        far = fog.number("visualRange")
        commands.append(SetFog(math.inf if far >= CLEAR_M else far))
    if rain is not None:
        kind = rain.choice("precipitationType", _PRECIPITATION)
        if kind == "snow":
            script.note(rain, "has no effect: it never snows")
        wet = kind == "rain"
        old = not rain.has("precipitationIntensity")
        amount = HEAVIEST * rain.number("intensity", 0.0) if old else rain.number("precipitationIntensity")
        commands.append(SetRain(amount * MM_PER_H if wet else 0.0))
    return commands


def _entity(element: XmlElement, label: str, script: Script) -> Node:
    actor, kind = script.entity(element), element.only()
    if actor == EGO:
        script.note(element, "has no effect: the ego neither comes nor goes")
        return Action((), label=label, at=element.at)
    if kind.tag == "DeleteEntityAction":
        return Action((Remove(actor),), label=label, at=element.at)
    where = position(kind.child("Position"), script)
    return Action((Place(actor, where),), label=label, at=element.at)


def _signal_state(element: XmlElement, label: str, script: Script) -> Node:
    return Action((SetLight(signal_number(element, "name"), light_of(element)),), label=label, at=element.at)


def _signal_controller(element: XmlElement, label: str, script: Script) -> Node:
    controller, phase = known_phase(element, script)
    commands, variable = script.signal_phases[controller][phase], phase_of(controller)
    named = Assign(variable, Operator.SET, phase, at=element.at)
    return Parallel((Action(commands, at=element.at), named, Emit(variable, at=element.at)), label=label, at=element.at)


def _variable(attribute: str) -> Callable[[XmlElement, str, Script], Node]:
    def assign(element: XmlElement, label: str, script: Script) -> Node:
        name, kind = element.reference(attribute), element.only()
        if kind.tag.startswith("Set") or kind.tag.endswith("SetAction"):
            return Assign(name, Operator.SET, kind.text("value"), label, element.at)
        how = kind.child("Rule").only()
        operator = Operator.ADD if how.tag == "AddValue" else Operator.MULTIPLY
        return Assign(name, operator, how.text("value"), label, element.at)

    return assign


def _traffic(element: XmlElement, label: str, script: Script) -> Node:
    script.note(element, "has no effect: beside the entities there is no traffic")
    return Action((), label=label, at=element.at)


ACTIONS: dict[str, Callable[[XmlElement, str, Script], Node]] = {
    "EnvironmentAction": _environment,
    "EntityAction": _entity,
    "TrafficSignalStateAction": _signal_state,
    "TrafficSignalControllerAction": _signal_controller,
    "ParameterAction": _variable("parameterRef"),
    "VariableAction": _variable("variableRef"),
    "TrafficAction": _traffic,
}
"""Every global action that is understood."""

"""Traffic signals of OpenSCENARIO XML (1.3, 6.11): states, and controllers with their phases."""

from __future__ import annotations

from collections.abc import Mapping

from tuling_fsm.sim.scenario.commands import SetLight
from tuling_fsm.sim.scenario.model import Node, SignalCycle, SignalPhase
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.script import Script
from tuling_fsm.world.inputs import Light

LIGHTS = {
    "red": Light.RED,
    "yellow": Light.YELLOW,
    "amber": Light.YELLOW,
    "green": Light.GREEN,
    "off": Light.DARK,
    "dark": Light.DARK,
    "unknown": Light.UNKNOWN,
    "on;off;off": Light.RED,
    "off;on;off": Light.YELLOW,
    "off;off;on": Light.GREEN,
    "on;on;off": Light.RED_YELLOW,
    "off;flashing;off": Light.FLASHING_YELLOW,
    "off;off;off": Light.DARK,
    "on;off": Light.RED,
    "off;on": Light.GREEN,
    "off;off": Light.DARK,
}
"""States by colour, or bulb by bulb from the top."""
DIGITS = 10
"""Of the number of a signal: the largest has 32 bits."""


def signal_number(element: XmlElement, attribute: str) -> int:
    """The number of a signal on `traffic_lights`, which is its id in OpenDRIVE.

    Raises:
        InputError: it is no number.
    """
    text = element.text(attribute)
    digits = text.removeprefix("-")
    if not digits.isdecimal() or len(digits) > DIGITS:
        raise element.fault(
            f"the signal {text!r}", f"the number that is its id in OpenDRIVE, of {DIGITS} digits at most", attribute
        )
    return int(text)


def light_of(element: XmlElement) -> Light:
    """The light that a state shows.

    Raises:
        InputError: it is not understood.
    """
    words = element.text("state").replace(" ", "").lower()
    if words not in LIGHTS:
        raise element.fault(f"state is {words!r}", "one of " + ", ".join(LIGHTS), "state")
    return LIGHTS[words]


def read_controllers(root: XmlElement, script: Script) -> list[Node]:
    """The cycles of all traffic signal controllers; the script gets their phases.

    Raises:
        InputError: a state, signal or reference that is not understood.
    """
    parent = root.find("RoadNetwork", "TrafficSignals")
    controllers = parent.all("TrafficSignalController") if parent is not None else []
    named = {each.text("name"): each for each in controllers}
    found = []
    for name, controller in named.items():
        phases = tuple(_phase(each, script) for each in controller.all("Phase"))
        script.signal_phases[name] = {phase.name: phase.commands for phase in phases}
        script.variables[phase_of(name)] = ""
        if phases:
            found.append(SignalCycle(phase_of(name), phases, _start(controller, named), at=controller.at))
    return list(found)


def phase_of(controller: str) -> str:
    """The variable that says which phase a controller is in."""
    return f"phase of {controller}"


def known_phase(element: XmlElement, script: Script) -> tuple[str, str]:
    """The controller and the phase of it that an element names.

    Raises:
        InputError: there is no such phase.
    """
    controller, phase = element.text("trafficSignalControllerRef"), element.text("phase")
    if phase not in script.signal_phases.get(controller, {}):
        raise element.fault(f"no phase {phase!r} of a controller {controller!r}", "a TrafficSignalController with it")
    return controller, phase


def _phase(element: XmlElement, script: Script) -> SignalPhase:
    for group in element.all("TrafficSignalGroupState", "TrafficeSignalGroupState"):
        script.note(group, "has no effect: it names no signal")
    commands = tuple(
        SetLight(signal_number(state, "trafficSignalId"), light_of(state))
        for state in element.all("TrafficSignalState")
    )
    return SignalPhase(element.text("name"), commands, element.number("duration"), element.at)


def _start(controller: XmlElement, named: Mapping[str, XmlElement], after: tuple[str, ...] = ()) -> float:
    """When a controller begins, s: its delay after the run or after the one that it refers to."""
    name, delay = controller.text("name"), controller.number("delay", 0.0)
    if not controller.has("reference"):
        return delay
    reference = controller.text("reference")
    if reference not in named or reference in (*after, name):
        what = "refers to itself" if reference in named else f"no controller {reference!r}"
        raise controller.fault(what, "a TrafficSignalController to begin after", "reference")
    return delay + _start(named[reference], named, (*after, name))

"""Traffic signals of OpenSCENARIO XML (1.3, 6.11): states, and controllers with their phases."""

from __future__ import annotations

from tuling_fsm.sim.scenario.commands import SetLight
from tuling_fsm.sim.scenario.conditions import Elapsed
from tuling_fsm.sim.scenario.model import Action, Assign, Node, Operator, Repeat, Serial, Wait
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
CYCLES = 100_000
"""As often a controller goes through its phases: longer than any run."""


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
    """The programs of all traffic signal controllers; the script gets their phases.

    Raises:
        InputError: a state or signal that is not understood.
    """
    parent = root.find("RoadNetwork", "TrafficSignals")
    return [_program(each, script) for each in (parent.all("TrafficSignalController") if parent is not None else [])]


def _program(controller: XmlElement, script: Script) -> Node:
    name = controller.text("name")
    phases = script.signal_phases.setdefault(name, {})
    cycle: list[Node] = []
    for phase in controller.all("Phase"):
        word, states = phase.text("name"), phase.all("TrafficSignalState")
        commands = tuple(SetLight(signal_number(state, "trafficSignalId"), light_of(state)) for state in states)
        phases[word] = commands
        cycle += [
            Action(commands, at=phase.at),
            Assign(f"phase of {name}", Operator.SET, word, at=phase.at),
            Wait(Elapsed(phase.number("duration")), at=phase.at),
        ]
    script.variables[f"phase of {name}"] = ""
    delay = Wait(Elapsed(controller.number("delay", 0.0)))
    lasts = any(isinstance(node, Wait) and node.condition != Elapsed(0.0) for node in cycle)
    return Serial((delay, Repeat(Serial(tuple(cycle)), CYCLES if lasts else 1)))

"""The table of faults: what each does to the world's sensors, the messages, the clock and the planner's process.

A row says it in the terms of the mechanisms that are there: commands of the simulation, the tracker of objects and the
localization of the sensors, the link between nodes (`link.py`), and the node that ticks (`node.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tuling_fsm.core.errors import InputError
from tuling_fsm.fault_injection.link import SOUND_LINK, LinkFault
from tuling_fsm.sim.parameters import TrackingErrorParameters
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import Sensor, ServerBehaviour
from tuling_fsm.sim.sensors.localization import SOUND, LocalizationError

PERCEPTION = frozenset({"objects", "occupancy", "lane_lines", "traffic_lights", "parking_slots"})
"""Topics of perception."""
LATE_S = 0.4
"""Latency of a perception that is late: as the level `hard` of the perception levels."""
LOST = 0.2
"""Share of messages that is lost, or overtaken."""
TICK_PERIOD_S, LATE_PERIODS = 0.05, 10
"""A tick is due with every odometry; a late one takes this many times as long."""
CLOCK_JUMP_S = 5.0


class PlannerDeath(Enum):
    """Whether the planner's process is killed when a fault begins, and how it is started again when it ends."""

    NONE = "none"
    AFRESH = "afresh"
    RESUMED = "resumed"


@dataclass(frozen=True)
class InjectedFault:
    """A fault: what is wrong from its begin to its end.

    `begin` and `end` are commands of the simulation; `clock_s` is added to every stamp and the node's clock (s);
    `tick_s` is how long a tick takes (s), 0 for less than a frame.
    """

    name: str
    text: str
    clause: str
    """That says what the car has to do about it."""
    begin: tuple[commands.Command, ...] = ()
    end: tuple[commands.Command, ...] = ()
    link: LinkFault = SOUND_LINK
    localization: LocalizationError = SOUND
    tracking: TrackingErrorParameters | None = None
    clock_s: float = 0.0
    tick_s: float = 0.0
    death: PlannerDeath = PlannerDeath.NONE


def _sensors(latency: float = 0.0, drop_out: float = 0.0) -> tuple[tuple[commands.Command, ...], ...]:
    """Commands that disturb everything that is seen of others, and those that end it."""
    seen = (Sensor.OBJECTS, Sensor.TRAFFIC_LIGHTS, Sensor.PARKING_SLOTS, Sensor.OCCUPANCY)
    begin = tuple(commands.DisturbSensor(sensor, latency=latency, drop_out=drop_out) for sensor in seen)
    return begin, tuple(commands.ResetSensor(sensor) for sensor in seen)


def _disturbed(name: str, text: str, clause: str, latency: float = 0.0, drop_out: float = 0.0) -> InjectedFault:
    begin, end = _sensors(latency, drop_out)
    return InjectedFault(name, text, clause, begin, end)


def _server(name: str, text: str, clause: str, setting: commands.SetRouteServer) -> InjectedFault:
    return InjectedFault(name, text, clause, (setting,), (commands.SetRouteServer(ServerBehaviour.WELL),))


FAULTS: tuple[InjectedFault, ...] = (
    InjectedFault(
        "perception_off", "no message of perception comes", "SAF-3", link=LinkFault(lost=1.0, topics=PERCEPTION)
    ),
    _disturbed("perception_late", f"what perception says is {LATE_S:g} s old", "SAF-3", latency=LATE_S),
    _disturbed("perception_flicker", "half of the rows of every table are missing, at random", "USE-9", drop_out=0.5),
    InjectedFault(
        "ghosts",
        "objects are seen where nothing is, two a second; ids change and long objects are split",
        "USE-9",
        tracking=TrackingErrorParameters(ghosts=2.0, splits=0.2, id_changes=0.2),
    ),
    InjectedFault(
        "localization_lost",
        "localization says that it is lost, and reckons on",
        "NLF-4",
        (commands.SetLocalization(False),),
        (commands.SetLocalization(True),),
    ),
    InjectedFault(
        "localization_jump",
        "localization is 0.8 m to the left and 0.5 m ahead at once, says that it is sound, and in the end is back at "
        "once",
        "SAF-5",
        localization=LocalizationError(ahead=0.5, left=0.8),
    ),
    InjectedFault(
        "localization_drift",
        "localization drifts to the left by 0.2 m each second, and says that it is sound",
        "SAF-5",
        localization=LocalizationError(drift=0.2),
    ),
    InjectedFault(
        "odometry_silent",
        "no odometry comes",
        "SAF-1",
        (commands.SetOdometry(False),),
        (commands.SetOdometry(True),),
    ),
    _server(
        "route_server_dead", "the route server does not answer", "RRF-3", commands.SetRouteServer(ServerBehaviour.AWAY)
    ),
    _server(
        "route_server_slow",
        "the route server answers 4 s late",
        "RRF-3",
        commands.SetRouteServer(ServerBehaviour.WELL, 4.0),
    ),
    _server(
        "route_server_wrong",
        "the route server answers with routes the other way",
        "RRF-2",
        commands.SetRouteServer(ServerBehaviour.OPPOSITE),
    ),
    InjectedFault(
        "planner_restarted",
        "the planner's process is killed, and in the end another one begins with nothing but the latched messages",
        "SAF-1",
        death=PlannerDeath.AFRESH,
    ),
    InjectedFault(
        "planner_resumed",
        "the planner's process is killed, and in the end another one goes on from the state that was kept",
        "EST-2",
        death=PlannerDeath.RESUMED,
    ),
    InjectedFault("messages_lost", f"{LOST:.0%} of all messages are lost", "SAF-1", link=LinkFault(lost=LOST)),
    InjectedFault("messages_doubled", "every message comes twice", "SAF-3", link=LinkFault(doubled=True)),
    InjectedFault(
        "messages_reordered",
        f"{LOST:.0%} of all messages come after later ones of their topic",
        "SAF-3",
        link=LinkFault(reordered=LOST),
    ),
    InjectedFault(
        "tick_late",
        f"a tick takes {LATE_PERIODS} periods of the odometry",
        "SAF-1",
        tick_s=LATE_PERIODS * TICK_PERIOD_S,
    ),
    InjectedFault(
        "clock_forward", f"the clock of all nodes jumps {CLOCK_JUMP_S:g} s ahead", "DWELL-5", clock_s=CLOCK_JUMP_S
    ),
    InjectedFault(
        "clock_back", f"the clock of all nodes jumps {CLOCK_JUMP_S:g} s back", "DWELL-5", clock_s=-CLOCK_JUMP_S
    ),
    InjectedFault(
        "emergency_stop",
        "the remote operator stops the car, and lets it go",
        "EST-2",
        (commands.EmergencyStop(True),),
        (commands.EmergencyStop(False),),
    ),
    InjectedFault(
        "emergency_link",
        "the link of the remote stop falls silent; when it is back the operator clears the stop",
        "EST-3",
        (commands.EmergencyLink(False),),
        (commands.EmergencyLink(True), commands.ClearEmergencyStop()),
    ),
)
"""All faults, in the order of the table."""
BY_NAME: Mapping[str, InjectedFault] = {fault.name: fault for fault in FAULTS}


def faults_named(names: list[str] | tuple[str, ...]) -> tuple[InjectedFault, ...]:
    """The faults of some names in the order of the table; all for none.

    Raises:
        InputError: there is no such fault.
    """
    for name in names:
        if name not in BY_NAME:
            raise InputError("--fault", f"{name!r} is no fault", f"one of {', '.join(BY_NAME)}")
    return tuple(fault for fault in FAULTS if not names or fault.name in names)

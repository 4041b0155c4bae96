"""Weather, localization and the remote emergency stop: what a scenario sets and no physics moves."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.commands import EnvironmentCommand

RAIN_M_PER_S = 1.4e-7
"""From this much water on (0.5 mm/h) the rain sensor reports rain."""
FOG_RANGE_M = 300.0
"""Below this visual range fog is reported."""
CALLS = ("clear_emergency_stop", "reset", "skip_task")
"""The fields of `Inputs` that calls of the operator set."""


@dataclass
class Environment:
    """The present conditions."""

    rain: float = 0.0
    visual_range: float = math.inf
    localized: bool = True
    emergency_stop: bool = False
    emergency_link: bool = True
    odometry: bool = True
    """Whether odometry comes at all."""
    calls: frozenset[str] = frozenset()
    """What the operator calls for on this frame: fields of `Inputs`."""
    ego_controlled: bool = True
    """Whether the planner drives; else the ego brakes and stands."""
    _called: deque[str] = field(default_factory=deque)

    @property
    def rains(self) -> bool:
        """Whether there is rain to speak of."""
        return self.rain >= RAIN_M_PER_S

    @property
    def foggy(self) -> bool:
        """Whether there is fog to speak of."""
        return self.visual_range < FOG_RANGE_M

    @property
    def rain_or_fog(self) -> bool:
        """What the rain and fog sensor reports."""
        return self.rains or self.foggy

    def call(self, name: str) -> None:
        """The operator calls for something, on the next frame that is looked at; from whatever thread."""
        self._called.append(name)

    def look(self) -> None:
        """A new frame: its calls are those that came in since the last one."""
        self.calls = frozenset(self._called.popleft() for _ in range(len(self._called)))

    def apply(self, command: EnvironmentCommand) -> None:
        """Carry out a command."""
        match command:
            case commands.SetRain(intensity):
                self.rain = intensity
            case commands.SetFog(visual_range):
                self.visual_range = visual_range
            case commands.SetLocalization(available):
                self.localized = available
            case commands.EmergencyStop(on):
                self.emergency_stop = on
            case commands.EmergencyLink(up):
                self.emergency_link = up
            case commands.SetOdometry(up):
                self.odometry = up
            case commands.ClearEmergencyStop():
                self.call("clear_emergency_stop")
            case commands.ResetPlanner():
                self.call("reset")
            case commands.SkipTask():
                self.call("skip_task")
            case _:
                assert_never(command)

"""Weather, localization and the remote emergency stop: what a scenario sets and no physics moves."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.commands import Command

RAIN_M_PER_S = 1.4e-7
"""From this much water on (0.5 mm/h) the rain sensor reports rain."""
FOG_RANGE_M = 300.0
"""Below this visual range fog is reported."""


@dataclass
class Environment:
    """The present conditions."""

    rain: float = 0.0
    visual_range: float = math.inf
    localized: bool = True
    emergency_stop: bool = False
    emergency_link: bool = True
    clear: bool = False
    """The operator's clear, for one frame."""
    ego_controlled: bool = True
    """Whether the planner drives; else the ego brakes and stands."""

    @property
    def rain_or_fog(self) -> bool:
        """What the rain and fog sensor reports."""
        return self.rain >= RAIN_M_PER_S or self.visual_range < FOG_RANGE_M

    def apply(self, command: Command) -> bool:
        """Carry out a command; False when it is none of these."""
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
            case commands.ClearEmergencyStop():
                self.clear = True
            case _:
                return False
        return True

"""What holds when a run begins, gathered from the first instant of the storyboard."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario.action_types import MissionFile, Setup
from tuling_fsm.sim.scenario.commands import ChangeSpeed, Command, Place, Remove
from tuling_fsm.sim.scenario.model import EgoRoute, Population, RandomRoute, RouteTo, RouteVia, ScriptedRoute
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import FaultError


@dataclass
class InitialInstant:
    """What holds when the run begins, gathered from the first instant."""

    placements: dict[str, Placement] = field(default_factory=dict)
    places_at: dict[str, SourceLocation] = field(default_factory=dict)
    """Where the text gives the placements."""
    removed: set[str] = field(default_factory=set)
    """Actors that are removed in the first instant: a placement after that is not their initial one."""
    speeds: dict[str, float] = field(default_factory=dict)
    route: EgoRoute | None = None
    population: Population | None = None
    mission: MissionFile | None = None

    def take(self, command: Command, at: SourceLocation) -> bool:
        """Whether the command is one that the initial instant can hold."""
        match command:
            case Remove(actor):
                self.removed.add(actor)
            case Place(actor, placement, speed) if actor not in self.placements and actor not in self.removed:
                self.placements[actor], self.places_at[actor] = placement, at
                if speed is not None:
                    self.speeds.setdefault(actor, speed)
                return True
            case ChangeSpeed(actor, target, math.inf):
                self.speeds[actor] = target
                return True
        return False

    def set_up(self, setup: Setup, at: SourceLocation) -> None:
        """Route, population or mission; each once."""
        match setup:
            case Population():
                taken = self.population is not None
                self.population = setup
            case MissionFile():
                taken = self.mission is not None
                self.mission = setup
            case RandomRoute() | RouteTo() | RouteVia() | ScriptedRoute():
                taken = self.route is not None
                self.route = setup
            case _:
                assert_never(setup)
        if taken:
            raise FaultError(at, "this is set already", "it once for the whole run")

"""What an action is to the compiler: parameters and modifiers in, commands and end condition out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Condition
from tuling_fsm.sim.scenario.expressions import BoundArguments, Param
from tuling_fsm.sim.scenario.model import EgoRoute, Population
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import FaultError


@dataclass(frozen=True)
class MissionFile:
    """The ego's mission, by the file that describes it."""

    file: str


Setup = EgoRoute | Population | MissionFile
"""What only the beginning of a run can set."""


@dataclass(frozen=True)
class ActionEffect:
    """Commands at the begin, when it is over by itself (None: at once), commands at the end.

    Without an own end and without `duration` or `until` the action is over at once, and what it began goes on: the
    commands of its end are then never issued.
    """

    begin: tuple[Command, ...] = ()
    until: Condition | None = None
    end: tuple[Command, ...] = ()
    setup: Setup | None = None


class ActionCall(NamedTuple):
    """An action that the text asks for: the actor, arguments and modifiers, and where it stands."""

    actor: str
    given: BoundArguments
    modifiers: Mapping[str, BoundArguments]
    at: SourceLocation

    def not_below_0(self, name: str) -> float:
        """An argument in its SI unit.

        Raises:
            FaultError: it is below 0.
        """
        value = self.given.si(name)
        if value < 0.0:
            raise FaultError(self.at, f"{name!r} is below 0", "0 or more")
        return value


@dataclass(frozen=True)
class ActionType:
    """An action: how it becomes an effect, its parameters (beside `duration`), the modifiers it takes."""

    perform: Callable[[ActionCall], ActionEffect]
    params: tuple[Param, ...] = ()
    modifiers: tuple[str, ...] = ()


MODIFIERS: dict[str, tuple[Param, ...]] = {
    "speed": (Param("speed", "speed"), Param("at", "at", optional=True)),
    "along": (Param("route", "way"),),
    "position": (
        Param("distance", "length"),
        Param("ahead_of", "physical_object", optional=True),
        Param("behind", "physical_object", optional=True),
        Param("at", "at", optional=True),
    ),
    "lane": (
        Param("same_as", "physical_object", optional=True),
        Param("left_of", "physical_object", optional=True),
        Param("right_of", "physical_object", optional=True),
        Param("at", "at", optional=True),
    ),
}
"""Modifiers of a `with` block and their parameters."""

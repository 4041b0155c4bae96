"""What an action is to the compiler: arguments and modifiers in, commands and end condition out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tuling_fsm.sim.scenario.arguments import BoundArguments
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Condition
from tuling_fsm.sim.scenario.durations import TimeSpan
from tuling_fsm.sim.scenario.model import EgoRoute, Population
from tuling_fsm.sim.scenario.path_constraints import PathConstraints
from tuling_fsm.sim.scenario.placements import Placement
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


@dataclass
class ActionContext:
    """What all actions of a scenario share while it is compiled."""

    file: str
    controlled: frozenset[str] = frozenset()
    """Vehicles that OpenSCENARIO's default controller moves."""
    wanted: set[str] = field(default_factory=set)
    """Vehicles that were found to need it."""
    map_file: str | None = None
    path: PathConstraints = field(default_factory=PathConstraints)
    """What kind of road the cars begin on."""
    ego_start: Placement | None = None
    """The first place that the script gives the ego after the first instant."""
    ego_driven: bool = False
    """Whether the script lets the ego drive in any way."""
    notes: list[tuple[SourceLocation, str]] = field(default_factory=list)
    read: dict[str, str] = field(default_factory=dict)
    """Files that actions name, and the SHA-256 of what was read of each."""
    _maneuvers: int = 0

    def number(self) -> int:
        """A number for a maneuver that no other has."""
        self._maneuvers += 1
        return self._maneuvers

    def note(self, at: SourceLocation, what: str) -> None:
        """Say that something has no effect."""
        self.notes.append((at, what))


class ModifierCall(NamedTuple):
    """A modifier in the `with` of an action: its arguments, and where it stands."""

    given: BoundArguments
    at: SourceLocation


class ActionCall(NamedTuple):
    """An action that the text asks for: the actor, arguments and modifiers, and where it stands.

    `ending` are the modifiers with `at: end`, `modifiers` all others. `first` says that no time of the run has passed
    yet; `phase` is how long the action lasts, or what is left of what it stands in, if the text states a duration.
    """

    actor: str
    given: BoundArguments
    modifiers: Mapping[str, ModifierCall]
    at: SourceLocation
    script: ActionContext
    ending: Mapping[str, ModifierCall]
    first: bool
    phase: TimeSpan | None

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
    """An action of the standard library: how it becomes an effect, and which modifiers it takes."""

    perform: Callable[[ActionCall], ActionEffect]
    modifiers: tuple[str, ...] = ()


def without_arguments(begin: Command, end: Command | None = None) -> ActionType:
    """An action that is the same whenever it is asked for: a command, and the one that ends it."""
    effect = ActionEffect((begin,), end=() if end is None else (end,))
    return ActionType(lambda call: effect)

"""The `do` part to storyboard nodes; what it assigns in its first instant goes into the beginning of the run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import bound, tree
from tuling_fsm.sim.scenario.actions import action_type
from tuling_fsm.sim.scenario.commands import ChangeSpeed, Command, Place, Remove
from tuling_fsm.sim.scenario.conditions import Condition, Either
from tuling_fsm.sim.scenario.deeds import MODIFIERS, ActionType, Deed, MissionFile, Order, Setup
from tuling_fsm.sim.scenario.evaluate import bind
from tuling_fsm.sim.scenario.model import (
    Action,
    EgoRoute,
    Emit,
    Node,
    OneOf,
    Parallel,
    Population,
    RandomRoute,
    RouteTo,
    RouteVia,
    Serial,
    Wait,
)
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.scope import Bound, Param, Scope
from tuling_fsm.sim.scenario.tree import At
from tuling_fsm.sim.scenario.triggers import condition, elapsed
from tuling_fsm.sim.scenario.values import FaultError

_DURATION = Param("duration", "time", optional=True)
_NOTHING = Action(())
"""What is left of an action that the beginning has taken whole."""


@dataclass
class Beginning:
    """What holds when the run begins, gathered from the first instant."""

    placements: dict[str, Placement] = field(default_factory=dict)
    places_at: dict[str, At] = field(default_factory=dict)
    """Where the text gives the placements."""
    removed: set[str] = field(default_factory=set)
    """Who is taken out of the world in the first instant: what comes after that is no beginning of theirs."""
    speeds: dict[str, float] = field(default_factory=dict)
    route: EgoRoute | None = None
    population: Population | None = None
    mission: MissionFile | None = None

    def take(self, command: Command, at: At) -> bool:
        """Whether the command is one that the beginning can hold."""
        match command:
            case Remove(actor):
                self.removed.add(actor)
            case Place(actor, placement, speed) if actor not in self.placements and actor not in self.removed:
                self.placements[actor], self.places_at[actor] = placement, at
                self.speeds.setdefault(actor, speed)
                return True
            case ChangeSpeed(actor, target, math.inf):
                self.speeds[actor] = target
                return True
        return False

    def set_up(self, setup: Setup, at: At) -> None:
        """Route, population or mission; each once."""
        match setup:
            case Population():
                taken = self.population is not None
                self.population = setup
            case MissionFile():
                taken = self.mission is not None
                self.mission = setup
            case RandomRoute() | RouteTo() | RouteVia():
                taken = self.route is not None
                self.route = setup
            case _:
                assert_never(setup)
        if taken:
            raise FaultError(at, "this is set already", "it once for the whole run")


@dataclass
class Builder:
    """Builds the nodes of one scenario. `first` says, all along, whether the run has not gone on yet."""

    scope: Scope
    events: Collection[str]
    beginning: Beginning = field(default_factory=Beginning)
    _first: bool = True

    def build(self, behaviour: tree.Behaviour, inside: str = "") -> Node:
        """The node of a behaviour that stands in a composition `inside` (empty: right after `do`).

        Raises:
            FaultError: unknown actors, actions, events; wrong arguments; a wait outside serial.
        """
        match behaviour:
            case tree.Composition():
                return self._composition(behaviour)
            case tree.Invocation():
                return self._action(behaviour)
            case tree.EmitEvent():
                if behaviour.event not in self.events:
                    expected = "one of " + ", ".join(self.events) if self.events else "event <name> before"
                    raise FaultError(behaviour.at, f"unknown event {behaviour.event!r}", expected)
                return Emit(behaviour.event, behaviour.label, behaviour.at)
            case tree.WaitFor():
                if inside != "serial":
                    where = f"in {inside}" if inside else "right after do"
                    raise FaultError(behaviour.at, f"a wait {where} waits for nothing", "it inside a serial")
                self._first = False
                return Wait(condition(behaviour.condition, self.scope, self.events), behaviour.label, behaviour.at)
            case _:
                assert_never(behaviour)

    def _composition(self, composition: tree.Composition) -> Node:
        what, label, at = composition.operator, composition.label, composition.at
        given = bind(what, (_DURATION,), composition.arguments, composition.at, self.scope)
        _no_modifiers(composition.modifiers.modifiers, what, ())
        until = self._until(None, given, composition.modifiers, at)
        if what == "one_of":
            # Which one it will be is not known yet, so that none can be folded into the beginning.
            self._first = False
            return OneOf(tuple(self.build(member, what) for member in composition.members), until, label, at)
        if what == "parallel":
            members = self._side_by_side(composition.members)
            return Parallel(tuple(member for member in members if member != _NOTHING), until, label, at)
        if what == "serial":
            members = [self.build(member, what) for member in composition.members]
            return Serial(tuple(member for member in members if member != _NOTHING), until, label, at)
        raise AssertionError(f"nobody plays a {what}")

    def _side_by_side(self, members: Iterable[tree.Behaviour]) -> list[Node]:
        """Every member begins in the instant in which the first does; the last to end says whether time has passed."""
        begins, built, ends = self._first, [], True
        for member in members:
            self._first = begins
            built.append(self.build(member, "parallel"))
            ends = ends and self._first
        self._first = begins and ends
        return built

    def _action(self, invocation: tree.Invocation) -> Action:
        kind, order, given = self._order(invocation)
        deed = kind.perform(order)
        if deed.setup is not None:
            if not self._first:
                raise FaultError(
                    invocation.at, "this can only be set at the beginning", "it before any wait, and in no one_of"
                )
            self.beginning.set_up(deed.setup, invocation.at)
        at, take = invocation.at, self.beginning.take
        begin = tuple(command for command in deed.begin if not (self._first and take(command, at)))
        until = self._until(deed, given, invocation.modifiers, at)
        self._first = self._first and until is None
        return Action(begin, until, deed.end if until is not None else (), invocation.label, at)

    def _order(self, invocation: tree.Invocation) -> tuple[ActionType, Order, Bound]:
        call = invocation.call
        if not isinstance(call.callee, tree.Member):
            raise FaultError(call.at, "this is no action", "<actor>.<action>(...)")
        actor = self.scope.actor(call.callee.base)
        kind = action_type(actor, call.callee.name, call.at)
        given = bind(call.callee.name, (*kind.params, _DURATION), call.arguments, call.at, self.scope)
        modifiers = self._modifiers(invocation.modifiers.modifiers, call.callee.name, kind.modifiers)
        return kind, Order(actor.name, given, modifiers, call.at), given

    def _modifiers(self, calls: Iterable[tree.Call], what: str, allowed: tuple[str, ...]) -> dict[str, Bound]:
        _no_modifiers(calls, what, allowed)
        found: dict[str, Bound] = {}
        for call in calls:
            assert isinstance(call.callee, tree.Name)
            name = call.callee.name
            if name in found:
                raise FaultError(call.at, f"{name!r} is given twice", "one value")
            found[name] = bind(name, MODIFIERS[name], call.arguments, call.at, self.scope)
        return found

    def _until(self, deed: Deed | None, given: Bound, block: tree.With, at: At) -> Condition | None:
        """Whichever comes first: the own end, the duration, the `until` conditions."""
        ends = [] if deed is None or deed.until is None else [deed.until]
        if given["duration"] is not None:
            ends.append(elapsed(bound.si(given, "duration"), at))
        ends += [condition(until.condition, self.scope, self.events) for until in block.until]
        return ends[0] if len(ends) == 1 else Either(tuple(ends)) if ends else None


def _no_modifiers(calls: Iterable[tree.Call], what: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is not among the allowed modifiers."""
    for call in calls:
        if not isinstance(call.callee, tree.Name) or call.callee.name not in allowed:
            expected = "one of " + ", ".join((*allowed, "until"))
            raise FaultError(call.at, f"{what!r} takes no such modifier", expected)

"""Refuses what can happen in no run, or not on this map, before anything drives.

What is said of a moment here is what may hold in it, so nothing is refused that could go well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.commands import ActivateController, ActorCommand, ChangeSpeed, Command, Place, Remove
from tuling_fsm.sim.scenario.conditions import (
    Acceleration,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Elapsed,
    Emitted,
    Headway,
    ObjectDistance,
    PointDistance,
    Quantity,
    RelativeSpeed,
    RoadGap,
    SignalIs,
    Speed,
    TimeHeadway,
    TimeToCollision,
    TimeToMeet,
    TimeToPoint,
    TraveledDistance,
    parts,
)
from tuling_fsm.sim.scenario.maneuvers import (
    FollowTrajectory,
    ManeuverCommand,
    ShiftLane,
    Synchronize,
    TakeRoute,
    referred_to,
)
from tuling_fsm.sim.scenario.model import (
    EGO,
    Action,
    Assign,
    Emit,
    Node,
    OneOf,
    Parallel,
    Repeat,
    Scenario,
    ScriptedManeuver,
    Serial,
    SignalCycle,
    Wait,
    nodes,
)
from tuling_fsm.sim.scenario.placements import OnMap, OnPath, Placement, RelativeTo, in_words, place
from tuling_fsm.sim.scenario.syntax_tree import NO_TEXT, SourceLocation
from tuling_fsm.sim.scenario.values import FaultError

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Possible:
    """What may be so: which actors are in the world, which events are emitted, whether the ego has its controller."""

    present: frozenset[str] = _NONE
    emitted: frozenset[str] = _NONE
    driven: bool = False

    def __or__(self, other: _Possible) -> _Possible:
        return _Possible(self.present | other.present, self.emitted | other.emitted, self.driven or other.driven)


def refuse_impossible(storyboard: Node, present: Iterable[str]) -> None:
    """Look at a whole storyboard; `present` are the actors that are in the world from the beginning.

    Raises:
        FaultError: something in it can never be done, or is waited for in vain.
    """
    _possible_after(storyboard, _Possible(frozenset((EGO, *present)), driven=True), _Possible())


def _possible_after(node: Node, now: _Possible, beside: _Possible) -> _Possible:
    """What may be so after a node. Events of `now` are of this very instant, those of `beside` of any."""
    now = replace(now, emitted=now.emitted | _labels(node, "start"))
    match node:
        case Action():
            after = _possible_after_commands(node.begin, node.at, now, beside)
            _check(node.until, after | beside)
            after = _possible_after_commands(node.end, node.at, _after_wait(node.until, after), beside)
        case Wait():
            _check(node.condition, now | beside)
            after = _after_wait(node.condition, now)
        case Emit():
            after = replace(now, emitted=now.emitted | {node.event})
        case ScriptedManeuver() | Repeat() | SignalCycle() | Assign():
            raise AssertionError("no text in OpenSCENARIO 2 yields this")
        case Serial():
            after = now
            for member in node.members:
                after = _possible_after(member, after, beside)
            after = _cut_short(node, now, beside, after)
        case Parallel():
            done = [_all_effects(member) for member in node.members]
            afters = [
                _possible_after(member, now, reduce(_Possible.__or__, done[:i] + done[i + 1 :], beside))
                for i, member in enumerate(node.members)
            ]
            after = _cut_short(node, now, beside, reduce(_Possible.__or__, afters, now if not afters else _Possible()))
        case OneOf():
            after = reduce(
                _Possible.__or__, [_possible_after(member, now, beside) for member in node.members], _Possible()
            )
            after = _cut_short(node, now, beside, after)
        case _:
            assert_never(node)
    return replace(after, emitted=after.emitted | _labels(node, "end"))


def _possible_after_commands(
    issued: tuple[Command, ...], at: SourceLocation, now: _Possible, beside: _Possible
) -> _Possible:
    for command in issued:
        there = now.present | beside.present
        if isinstance(command, ManeuverCommand):
            for name in (command.actor, referred_to(command)):
                if name is not None and name not in there:
                    raise _absent(name, at)
        if not isinstance(command, ActorCommand):
            continue
        actor = command.actor
        if isinstance(command, Place):
            if isinstance(command.placement, RelativeTo) and command.placement.actor not in there:
                raise _absent(command.placement.actor, at)
            now = replace(now, present=now.present | {actor})
            continue
        if actor not in there:
            raise _absent(actor, at)
        if isinstance(command, Remove):
            now = replace(now, present=now.present - {actor})
        elif isinstance(command, ActivateController) and actor == EGO:
            now = replace(now, driven=command.lateral or command.longitudinal)
        elif isinstance(command, ChangeSpeed) and actor == EGO and not (now.driven or beside.driven):
            raise FaultError(
                at, "the ego has no controller now and stands", "ego.activate_controller(true, true) before"
            )
    return now


def _cut_short(node: Serial | Parallel | OneOf, now: _Possible, beside: _Possible, after: _Possible) -> _Possible:
    """A composition with an `until` may end anywhere between its beginning and its end."""
    if node.until is None:
        return after
    whole = now | after | reduce(_Possible.__or__, map(_all_effects, node.members), _Possible())
    _check(node.until, whole | beside)
    return whole


def _all_effects(node: Node) -> _Possible:
    """All that a node and those below it may do."""
    found = _Possible()
    for each in nodes(node):
        emitted = _labels(each, "start") | _labels(each, "end")
        if isinstance(each, Emit):
            emitted |= {each.event}
        issued = (*each.begin, *each.end) if isinstance(each, Action) else ()
        placed = frozenset(command.actor for command in issued if isinstance(command, Place))
        driven = any(isinstance(command, ActivateController) and command.lateral for command in issued)
        found |= _Possible(placed, emitted, driven)
    return found


def _labels(node: Node, what: str) -> frozenset[str]:
    return frozenset((f"{node.label}.{what}",)) if node.label else _NONE


def _after_wait(condition: Condition | None, now: _Possible) -> _Possible:
    """After a wait the instant may be another one, and after some time it is."""
    later = isinstance(condition, Elapsed) and condition.seconds > 0.0
    return replace(now, emitted=_NONE) if later else now


def _check(condition: Condition | None, possible: _Possible) -> None:
    match condition:
        case Emitted(event=event, at=at):
            if event not in possible.emitted:
                what = f"this waits for ever: nothing emits {event!r} from then on"
                raise FaultError(at, what, "what emits it in a parallel beside the wait")
        case Compare():
            for actor in _measured(condition.quantity):
                if actor not in possible.present:
                    raise _absent(actor, condition.at)
        case AnyOf() | AllOf():
            for member in condition.conditions:
                _check(member, possible)
        case _:
            pass


def _measured(quantity: Quantity) -> tuple[str, ...]:
    match quantity:
        case Speed() | Acceleration() | PointDistance() | TraveledDistance() | TimeToPoint():
            return (quantity.actor,)
        case (
            ObjectDistance()
            | TimeToCollision()
            | TimeHeadway()
            | RelativeSpeed()
            | RoadGap()
            | Headway()
            | TimeToMeet()
        ):
            return quantity.actor, quantity.reference
        case _:
            assert_never(quantity)


def _absent(actor: str, at: SourceLocation) -> FaultError:
    return FaultError(at, f"{actor!r} is not in the world then", f"{actor}.assign_position(...) before")


def check_on_map(scenario: Scenario, road_map: RoadMap) -> None:
    """Look up all that the scenario names.

    Raises:
        InputError: the map does not have it, at `file:line:column`.
    """
    lookup = _Lookup(road_map)
    starts = {EGO: scenario.ego, **{actor.name: actor.placement for actor in scenario.actors}}
    faults = [(scenario.places_at.get(name, NO_TEXT), lookup.start(name, where)) for name, where in starts.items()]
    for node in nodes(scenario.storyboard):
        faults += list(lookup.node(node))
    for at, fault in faults:
        if fault:
            raise InputError(scenario.where(at), fault, "what is on the map")


class _Lookup:
    """What a map lacks, in words; empty where it lacks nothing."""

    def __init__(self, road_map: RoadMap) -> None:
        self._map = road_map
        self._signals = {signal.number for signal in road_map.signals.values() if signal.dynamic}
        self._random = np.random.default_rng(0)
        self._spaces = {slot.id for slot in road_map.slots}
        self._known: dict[OnMap, str] = {}

    def start(self, name: str, where: Placement | None) -> str:
        """Whether an actor can begin where it is to."""
        if isinstance(where, OnPath) and place(where, self._map, self._random, {}) is None:
            number = f"lane {where.lane} of " if where.lane else ""
            room = " and room for all beside it" if where.room_for else ""
            return f"{name}: no {number}a road with {where.path.in_words()}{room} on this map"
        fault = self.place(where)
        return fault and f"{name}: {fault}"

    def place(self, where: Placement | None) -> str:
        """Whether there is such a place; one that is relative is looked for when its time comes."""
        if not isinstance(where, OnMap):
            return ""
        if where not in self._known:
            there = place(where, self._map, self._random, {}) is not None
            self._known[where] = "" if there else f"no {in_words(where)} on this map"
        return self._known[where]

    def node(self, node: Node) -> Iterator[tuple[SourceLocation, str]]:
        """What each part of a node lacks, members of a composition aside."""
        match node:
            case Action(begin, until, end):
                yield from ((node.at, self._command(command)) for command in (*begin, *end))
                yield from self._condition(until)
            case Wait(condition):
                yield from self._condition(condition)
            case Serial() | Parallel() | OneOf():
                yield from self._condition(node.until)
            case ScriptedManeuver(events):
                for event in events:
                    yield from ((event.at, fault) for _, fault in self._condition(event.trigger))
            case SignalCycle(phases=phases):
                yield from ((phase.at, self._command(each)) for phase in phases for each in phase.commands)
            case Emit() | Repeat() | Assign():
                pass
            case _:
                assert_never(node)

    def _condition(self, condition: Condition | None) -> Iterator[tuple[SourceLocation, str]]:
        for part in () if condition is None else parts(condition):
            match part:
                case Compare(PointDistance() | TimeToPoint() as quantity, at=at):
                    yield at, self.place(quantity.point)
                case SignalIs(signal, at=at):
                    yield at, self._signal(signal)
                case _:
                    pass

    def _command(self, command: commands.Command) -> str:
        if isinstance(command, commands.EnvironmentCommand):
            return ""
        if isinstance(command, ManeuverCommand):
            return self._maneuver(command)
        match command:
            case commands.Place(_, where):
                return self.place(where)
            case commands.CloseRoad(_, where):
                return self.place(where) or self._road(where)
            case commands.FollowRoute(_, places) | commands.FollowPath(_, places) | commands.Walk(_, places):
                return next(filter(None, map(self.place, places)), "")
            case commands.SetLight(signal):
                return self._signal(signal)
            case commands.OccupySpaces(spaces) | commands.VacateSpaces(spaces):
                return self._space(spaces)
            case commands.OccupyAllBut(road, free):
                has = any(slot.road == road for slot in self._map.slots)
                return self._space(free) if has else f"no parking spaces beside road {road!r} on this map"
            case (
                commands.Remove() | commands.Drive() | commands.ChangeSpeed() | commands.ChangeLane()
                | commands.ActivateController() | commands.OpenRoad() | commands.SetAllLights()
                | commands.SilenceLights() | commands.SetRouteServer() | commands.DisturbSensor()
                | commands.ResetSensor() | commands.EndRun()
            ):  # fmt: skip
                return ""
            case _:
                assert_never(command)

    def _signal(self, signal: int) -> str:
        return "" if signal in self._signals else f"no traffic light {signal} on this map"

    def _maneuver(self, command: ManeuverCommand) -> str:
        match command:
            case FollowTrajectory(points=places) | TakeRoute(waypoints=places):
                return next(filter(None, map(self.place, places)), "")
            case Synchronize(place=own, masters_place=masters):
                return self.place(own) or self.place(masters)
            case ShiftLane(lane=number, reference=None) if all(each.lane != number for each in self._map.lanes):
                return f"no road has a lane {number} on this map"
            case _:
                return ""

    def _road(self, where: Placement) -> str:
        pose = place(where, self._map, self._random, {}) if isinstance(where, OnMap) else None
        on_lane = pose is None or self._map.project(pose.x, pose.y, pose.heading) is not None
        return "" if on_lane else "no lane to close there"

    def _space(self, spaces: tuple[str, ...]) -> str:
        missing = [space for space in spaces if space not in self._spaces]
        return f"no parking space {missing[0]!r} on this map" if missing else ""

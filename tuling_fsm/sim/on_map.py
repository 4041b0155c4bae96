"""Refuses what a scenario asks of a map that has no such place, signal or parking space, before anything drives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.conditions import (
    Arrived,
    Both,
    Compare,
    Condition,
    Either,
    Elapsed,
    Emitted,
    PointDistance,
    Reached,
)
from tuling_fsm.sim.scenario.model import EGO, Action, Emit, Node, OneOf, Parallel, Scenario, Serial, Wait, nodes
from tuling_fsm.sim.scenario.placements import AtPose, InSlot, OnLane, OnMap, Placement
from tuling_fsm.sim.scenario.resolve import place
from tuling_fsm.sim.scenario.tree import NO_TEXT, At


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
        fault = self.place(where)
        return fault and f"{name}: {fault}"

    def place(self, where: Placement | None) -> str:
        """Whether there is such a place; one that is relative is looked for when its time comes."""
        if not isinstance(where, OnMap):
            return ""
        if where not in self._known:
            there = place(where, self._map, self._random, {}) is not None
            self._known[where] = "" if there else f"no {_in_words(where)} on this map"
        return self._known[where]

    def node(self, node: Node) -> Iterator[tuple[At, str]]:
        """What each part of a node lacks, members of a composition aside."""
        match node:
            case Action(begin, until, end):
                yield from ((node.at, self._command(command)) for command in (*begin, *end))
                yield from self._condition(until)
            case Wait(condition):
                yield from self._condition(condition)
            case Serial() | Parallel() | OneOf():
                yield from self._condition(node.until)
            case Emit():
                pass
            case _:
                assert_never(node)

    def _condition(self, condition: Condition | None) -> Iterator[tuple[At, str]]:
        match condition:
            case Compare():
                if isinstance(condition.quantity, PointDistance):
                    yield condition.at, self.place(condition.quantity.point)
            case Either() | Both():
                for member in condition.conditions:
                    yield from self._condition(member)
            case None | Elapsed() | Arrived() | Reached() | Emitted():
                pass
            case _:
                assert_never(condition)

    def _command(self, command: commands.Command) -> str:
        match command:
            case commands.Place(_, where):
                return self.place(where)
            case commands.CloseRoad(_, where):
                return self.place(where) or self._road(where)
            case commands.FollowRoute(_, places) | commands.FollowPath(_, places) | commands.Walk(_, places):
                return next(filter(None, map(self.place, places)), "")
            case commands.SetLight(signal):
                return "" if signal in self._signals else f"no traffic light {signal} on this map"
            case commands.OccupySpaces(spaces) | commands.VacateSpaces(spaces):
                return self._space(spaces)
            case commands.OccupyAllBut(road, free):
                has = any(slot.road == road for slot in self._map.slots)
                return self._space(free) if has else f"no parking spaces beside road {road!r} on this map"
            case (
                commands.Remove() | commands.Drive() | commands.ChangeSpeed() | commands.ChangeLane()
                | commands.ActivateController() | commands.OpenRoad() | commands.SetAllLights()
                | commands.SilenceLights() | commands.SetRouteServer() | commands.DisturbSensor() | commands.SetRain()
                | commands.SetFog() | commands.SetLocalization() | commands.SetOdometry() | commands.EmergencyStop()
                | commands.EmergencyLink() | commands.ClearEmergencyStop() | commands.ResetPlanner()
                | commands.SkipTask()
            ):  # fmt: skip
                return ""
            case _:
                assert_never(command)

    def _road(self, where: Placement) -> str:
        pose = place(where, self._map, self._random, {}) if isinstance(where, OnMap) else None
        on_lane = pose is None or self._map.project(pose.x, pose.y, pose.heading) is not None
        return "" if on_lane else "no lane to close there"

    def _space(self, spaces: tuple[str, ...]) -> str:
        missing = [space for space in spaces if space not in self._spaces]
        return f"no parking space {missing[0]!r} on this map" if missing else ""


def _in_words(where: OnMap) -> str:
    match where:
        case OnLane(road, lane, s):
            return f"lane {lane} of road {road!r} at {s:g} m"
        case InSlot(slot):
            return f"parking space {slot!r}"
        case AtPose(x, y):
            return f"point ({x:g}, {y:g})"
        case _:
            assert_never(where)

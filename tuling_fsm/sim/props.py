"""Things that a scenario puts down in numbers: what closes a road, and parked cars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.map.lanes import Lane
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.bodies import OBJECT_KIND, Body
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import Material, SeenAs
from tuling_fsm.sim.scenario.commands import PropsCommand
from tuling_fsm.sim.scenario.model import ActorKind

FIRST_PROP_ID = 2_000_001
CAR_M = (4.5, 1.8)
"""Length and width of a parked car."""
KINDS = {Material.BARRIER: ActorKind.BARRIER, Material.CONE: ActorKind.CONE, Material.DEBRIS: ActorKind.DEBRIS}
SIZES_M = {Material.BARRIER: (0.5, 1.6), Material.CONE: (0.4, 0.4), Material.DEBRIS: (1.0, 1.0)}
"""Length along and width across the road of one piece."""
SPACING_M = {Material.BARRIER: 1.75, Material.CONE: 1.0, Material.DEBRIS: 1.75}
"""From piece to piece across the road, at most."""


class Boxes(NamedTuple):
    """M boxes: centre x, y, z (m, NaN), heading, length, width, speed (M, 7), kinds as in the table of objects, ids."""

    rows: FloatArray
    kinds: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.int64]

    @classmethod
    def of(cls, found: Iterable[tuple[int, Pose, Body]]) -> Boxes:
        """Boxes of bodies at poses of their centres, with their ids."""
        rows, kinds, ids = [], [], []
        for number, (x, y, heading), body in found:
            rows.append((x, y, math.nan, heading, body.length, body.width, body.v))
            kinds.append(OBJECT_KIND[body.kind])
            ids.append(number)
        return cls(np.array(rows).reshape(-1, 7), np.array(kinds, np.uint8), np.array(ids, np.int64))


class Props:
    """All of them by a name of their own, which no actor of a text can bear."""

    def __init__(self, road_map: RoadMap) -> None:
        self._map = road_map
        self._count = 0
        self.bodies: dict[str, Body] = {}
        self.ids: dict[str, int] = {}
        self.seen_as: dict[int, SeenAs] = {}
        """How things are seen that are not seen as objects, by id."""
        self._boxes: Boxes | None = None

    @property
    def boxes(self) -> Boxes:
        """All of them as boxes. They stand, so they are gathered once."""
        if self._boxes is None:
            there = ((self.ids[name], body.pose, body) for name, body in self.bodies.items() if body.pose is not None)
            self._boxes = Boxes.of(there)
        return self._boxes

    def apply(self, command: PropsCommand, where: Pose | None = None) -> None:
        """Carry out a command; `where` is the pose of its placement."""
        self._boxes = None
        match command:
            case commands.CloseRoad():
                self._close(command, where)
            case commands.OpenRoad(actor):
                self._take_away(f"{actor} ")
            case commands.OccupySpaces(spaces):
                self._park(spaces)
            case commands.OccupyAllBut(road, free):
                self._park(tuple(slot.id for slot in self._map.slots if slot.road == road and slot.id not in free))
            case commands.VacateSpaces(spaces):
                for space in spaces:
                    self._take_away(f"space {space} ")
            case _:
                assert_never(command)

    def _put(self, name: str, body: Body, centre: Pose) -> int:
        """The body's id."""
        body.pose = centre
        self.bodies[name], self.ids[name] = body, FIRST_PROP_ID + self._count
        self._count += 1
        return self.ids[name]

    def _take_away(self, prefix: str) -> None:
        for name in [name for name in self.bodies if name.startswith(prefix)]:
            del self.bodies[name]
            self.seen_as.pop(self.ids.pop(name), None)

    def _park(self, spaces: tuple[str, ...]) -> None:
        slots: Mapping[str, Pose] = {slot.id: slot.pose for slot in self._map.slots}
        for space in spaces:
            name = f"space {space} car"
            if space in slots and name not in self.bodies:
                self._put(name, Body(ActorKind.VEHICLE, *CAR_M), slots[space])

    def _close(self, command: commands.CloseRoad, where: Pose | None) -> None:
        found = None if where is None else self._map.project(where.x, where.y, where.heading)
        if found is None:
            raise InputError(command.actor, f"no road to close at {command.placement}", "a place on a lane")
        here = self._map.lanes[found.lane]
        station = here.center.at(found.s)
        lanes, margin = [here], 0.0
        if command.beyond is not None:
            lanes, margin = [lane for lane in self._map.lanes.values() if _abreast(lane, here)], command.beyond
        edges = [offset for lane in lanes for offset in _edges(lane, station)]
        row = _row(station, max(edges) + margin, min(edges) - margin, SPACING_M[command.material])
        for place, pose in enumerate(row):
            body = Body(KINDS[command.material], *SIZES_M[command.material])
            number = self._put(f"{command.actor} {self._count} {place}", body, pose)
            if command.seen_as is not SeenAs.OBJECTS:
                self.seen_as[number] = command.seen_as


def _abreast(lane: Lane, other: Lane) -> bool:
    return (lane.id.road, lane.id.section) == (other.id.road, other.id.section)


def _edges(lane: Lane, station: Pose) -> tuple[float, float]:
    """Both edges of a lane as offsets from a pose abeam of it, m (+ left of the pose)."""
    at = lane.center.project(station.x, station.y).s
    middle = lane.center.at(at)
    along = math.copysign(1.0, elementary.cos(middle.heading - station.heading))
    c, s = elementary.cos(station.heading), elementary.sin(station.heading)
    offset = c * (middle.y - station.y) - s * (middle.x - station.x)
    left, right = (float(np.interp(at, lane.center.s, edge)) for edge in (lane.left, lane.right))
    return offset + along * left, offset - along * right


def _row(middle: Pose, left: float, right: float, spacing: float) -> list[Pose]:
    """Poses from one offset (m, + left) down to another, as few as are no farther apart than `spacing` (m)."""
    count = math.ceil((left - right) / spacing - 1e-9)
    step = (left - right) / count
    c, s = elementary.cos(middle.heading), elementary.sin(middle.heading)
    offsets = [left - (i + 0.5) * step for i in range(count)]
    return [Pose(middle.x - offset * s, middle.y + offset * c, middle.heading) for offset in offsets]

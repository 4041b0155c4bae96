"""Scripted actors that follow no lanes: persons on a walk, vehicles on a free path, what closes a road, parked cars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.geometry import Polyline, Pose, distance, shifted
from tuling_fsm.map.lanes import Lane, LaneId, ParkingSlot
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.levels import level_at
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import ActorKind, Material, PerceivedAs
from tuling_fsm.sim.scenario.commands import PlacedObjectsCommand
from tuling_fsm.sim.traffic.fleet import AXLE_SHARE
from tuling_fsm.world.inputs import Kind

NEAR_M = 0.1
DEFAULT_RATE = 3.0
"""Acceleration where none is asked for, m/s^2."""
STANDING = (ActorKind.BARRIER, ActorKind.CONE, ActorKind.DEBRIS)


@dataclass
class FreeActor:
    """One actor off the lanes: size (m); `pose` of the box's centre in `map`; speed, acceleration, the speed that it
    approaches and the rate at which (m/s, m/s^2); the way of its reference point, how far it has come on it (m), and
    whether that is over; the level that it is on, m (NaN: any).
    """

    kind: ActorKind
    length: float
    width: float
    pose: Pose | None = None
    v: float = 0.0
    a: float = 0.0
    wanted: float = 0.0
    rate: float = math.inf
    path: Polyline | None = None
    s: float = 0.0
    arrived: bool = False
    z: float = math.nan
    seen_as: Kind | None = None
    """What is seen in it; None: what any of its kind is."""
    center_ahead: float | None = None
    """Where the centre is, if not where it is in any of its kind: ahead of the reference point, m."""

    @property
    def reference_behind(self) -> float:
        """From the reference point to the centre along the heading, m."""
        if self.center_ahead is not None:
            return self.center_ahead
        return AXLE_SHARE * self.length if self.kind is ActorKind.VEHICLE else 0.0

    def reference(self) -> Pose | None:
        """The reference point: rear axle of a vehicle, centre of anything else."""
        return None if self.pose is None else shifted(self.pose, -self.reference_behind)

    def place(self, reference: Pose, v: float) -> None:
        """Put the reference point somewhere; the actor keeps that speed (m/s), straight on, until told otherwise. A
        path that it was on is over.
        """
        self.pose = shifted(reference, self.reference_behind)
        self.v, self.a, self.wanted, self.rate = v, 0.0, v, math.inf
        self.path, self.arrived = None, self.arrived or self.path is not None

    def remove(self) -> None:
        """Out of the world, and at a stand should it come back."""
        self.pose, self.v = None, 0.0

    def follow(self, points: Sequence[tuple[float, float]], speed: float) -> None:
        """Move the reference point from where it is straight from point to point at a speed (m/s), and stop at the
        last.
        """
        reference = self.reference()
        assert reference is not None
        line = [(reference.x, reference.y), *points]
        moving = [line[0]] + [p for before, p in pairwise(line) if distance(before, p) > 1e-6]
        self.wanted, self.rate, self.s = speed, math.inf if self.kind is ActorKind.PERSON else DEFAULT_RATE, 0.0
        self.arrived = len(moving) < 2
        if self.arrived:
            self.path, self.wanted = None, 0.0
        else:
            self.path = Polyline.of(moving)

    def end_path(self) -> None:
        """Let the actor go straight on from the end of its path, if it is there."""
        if self.arrived:
            self.path = None

    def set_speed(self, target: float, rate: float) -> None:
        """Approach a speed (m/s) at a rate (m/s^2)."""
        self.wanted, self.rate = target, rate

    def step(self, dt: float) -> None:
        """Move by `dt` s."""
        if self.pose is None or self.kind in STANDING:
            return
        wanted = self._end_speed() if self.path is not None else self.wanted
        change = min(max(wanted - self.v, -self.rate * dt), self.rate * dt)
        self.a, before = change / dt, self.v
        self.v += change
        way = 0.5 * (before + self.v) * dt
        if self.path is None:
            self.pose = shifted(self.pose, way)
        else:
            self._along(self.path, way)

    def _end_speed(self) -> float:
        """The wanted speed, lower where the path's end is near."""
        assert self.path is not None
        if math.isinf(self.rate):
            return self.wanted
        left = max(self.path.length - self.s, 0.0)
        return min(self.wanted, math.sqrt(2.0 * self.rate * left))

    def _along(self, path: Polyline, way: float) -> None:
        self.s = min(self.s + way, path.length)
        assert self.pose is not None
        x, y, _ = path.at(self.s)
        front = path.at(self.s + max(2.0 * self.reference_behind, NEAR_M))
        heading = self.pose.heading
        if distance((x, y), front[:2]) > 0.5 * NEAR_M:
            heading = elementary.atan2(front.y - y, front.x - x)
        self.pose = shifted(Pose(x, y, heading), self.reference_behind)
        if self.s >= path.length - 0.02:
            self.arrived, self.v, self.a = True, 0.0, 0.0


OBJECT_KIND = {
    ActorKind.VEHICLE: Kind.CAR, ActorKind.PERSON: Kind.PEDESTRIAN, ActorKind.BARRIER: Kind.BARRIER,
    ActorKind.CONE: Kind.CONE, ActorKind.DEBRIS: Kind.DEBRIS,
}  # fmt: skip


FIRST_PROP_ID = 2_000_001
CAR_M = (4.5, 1.8)
"""Length and width of a parked car."""
KINDS = {Material.BARRIER: ActorKind.BARRIER, Material.CONE: ActorKind.CONE, Material.DEBRIS: ActorKind.DEBRIS}
SIZES_M = {Material.BARRIER: (0.5, 1.6), Material.CONE: (0.4, 0.4), Material.DEBRIS: (1.0, 1.0)}
"""Length along and width across the road of one piece."""
SPACING_M = {Material.BARRIER: 1.75, Material.CONE: 1.0, Material.DEBRIS: 1.75}
"""From piece to piece across the road, at most."""


class ActorBoxes(NamedTuple):
    """M boxes: centre x, y, z (m; z NaN: on any level), heading, length, width, speed (M, 7), kinds as in the table of
    objects, ids.
    """

    rows: FloatArray
    kinds: npt.NDArray[np.uint8]
    ids: IntArray

    @classmethod
    def of(cls, found: Iterable[tuple[int, Pose, FreeActor]]) -> ActorBoxes:
        """Boxes of bodies at poses of their centres, with their ids."""
        rows, kinds, ids = [], [], []
        for number, (x, y, heading), body in found:
            rows.append((x, y, body.z, heading, body.length, body.width, body.v))
            kinds.append(OBJECT_KIND[body.kind] if body.seen_as is None else body.seen_as)
            ids.append(number)
        return cls(np.array(rows).reshape(-1, 7), np.array(kinds, np.uint8), np.array(ids, np.int64))


PlacedKey = tuple[str, str, int, int]
"""What is placed, by its kind (`ROW` or `SPACE`), the actor that closes the road or the parking space, and the numbers
of the row and of the piece in it.
"""
ROW, SPACE = "row", "space"


class PlacedObjects:
    """What closes roads, and the cars in parking spaces."""

    def __init__(self, road_map: RoadMap) -> None:
        self._map = road_map
        self._count = 0
        self.bodies: dict[PlacedKey, FreeActor] = {}
        self.ids: dict[PlacedKey, int] = {}
        self.seen_as: dict[int, PerceivedAs] = {}
        """How things are seen that are not seen as objects, by id."""
        self._closed: dict[tuple[str, int], frozenset[LaneId]] = {}
        """Lanes that a row lies across, by its actor and number."""
        self._rows: dict[tuple[str, int], commands.CloseRoad] = {}
        """What each row was put there by."""
        self._kept: frozenset[str] = frozenset()
        """Parking spaces that `OccupyAllBut` was the last to take."""
        self._boxes: ActorBoxes | None = None

    @property
    def closed_lanes(self) -> frozenset[LaneId]:
        """Lanes that cannot be driven to their end, as a row lies across them."""
        return frozenset().union(*self._closed.values())

    @property
    def boxes(self) -> ActorBoxes:
        """All of them as boxes. They stand, so they are gathered once."""
        if self._boxes is None:
            there = ((self.ids[key], body.pose, body) for key, body in self.bodies.items() if body.pose is not None)
            self._boxes = ActorBoxes.of(there)
        return self._boxes

    def apply(self, command: PlacedObjectsCommand, where: Pose | None = None, z: float = math.nan) -> None:
        """Carry out a command; `where` is the pose of its placement, `z` its level (m)."""
        self._boxes = None
        match command:
            case commands.CloseRoad():
                self._close(command, where, z)
            case commands.OpenRoad(actor, None):
                self._take_away(ROW, actor)
            case commands.OpenRoad(_, row):
                for key in [key for key, closing in self._rows.items() if closing == row]:
                    self._take_away(ROW, *key)
            case commands.OccupySpaces(spaces):
                self._kept -= set(spaces)
                self._park(spaces)
            case commands.OccupyAllBut(road, free):
                taken = tuple(slot.id for slot in self._map.slots if slot.road == road and slot.id not in free)
                self._kept |= set(taken)
                self._park(taken)
            case commands.VacateSpaces(spaces, kept):
                for space in spaces:
                    if not (kept and space in self._kept):
                        self._take_away(SPACE, space)
                self._kept -= frozenset() if kept else set(spaces)
            case _:
                assert_never(command)

    def _put(self, key: PlacedKey, body: FreeActor, centre: Pose, z: float) -> int:
        """The body's id."""
        body.pose, body.z = centre, z
        self.bodies[key], self.ids[key] = body, FIRST_PROP_ID + self._count
        self._count += 1
        return self.ids[key]

    def _take_away(self, *begins: str | int) -> None:
        """All whose keys begin so."""
        for key in [key for key in self.bodies if key[: len(begins)] == begins]:
            del self.bodies[key]
            self.seen_as.pop(self.ids.pop(key), None)
        for row in [row for row in self._rows if (ROW, *row)[: len(begins)] == begins]:
            del self._rows[row], self._closed[row]

    def _park(self, spaces: tuple[str, ...]) -> None:
        slots: Mapping[str, ParkingSlot] = {slot.id: slot for slot in self._map.slots}
        for space in spaces:
            key = (SPACE, space, 0, 0)
            if space in slots and key not in self.bodies:
                slot = slots[space]
                z = level_at(self._map, slot.pose, road=slot.road)
                self._put(key, FreeActor(ActorKind.VEHICLE, *CAR_M), slot.pose, z)

    def _close(self, command: commands.CloseRoad, where: Pose | None, z: float) -> None:
        found = None if where is None else self._map.project(where.x, where.y, where.heading, z)
        if found is None:
            raise InputError(command.actor, f"no road to close at {command.placement}", "a place on a lane")
        here = self._map.lanes[found.lane]
        station = here.center.at(found.s)
        lanes, margin = [here], 0.0
        if command.beyond is not None:
            lanes, margin = [lane for lane in self._map.lanes.values() if _abreast(lane, here)], command.beyond
        edges = [offset for lane in lanes for offset in _edges(lane, station)]
        row = _row(station, max(edges) + margin, min(edges) - margin, SPACING_M[command.material])
        key = command.actor, self._count
        self._rows[key], self._closed[key] = command, frozenset(lane.id for lane in lanes)
        for piece, pose in enumerate(row):
            body = FreeActor(KINDS[command.material], *SIZES_M[command.material])
            number = self._put((ROW, *key, piece), body, pose, here.height(found.s))
            if command.seen_as is not PerceivedAs.OBJECTS:
                self.seen_as[number] = command.seen_as


def _abreast(lane: Lane, other: Lane) -> bool:
    return (lane.id.road, lane.id.section) == (other.id.road, other.id.section)


def _edges(lane: Lane, station: Pose) -> tuple[float, float]:
    """Both edges of a lane as offsets from a pose abeam of it, m (+ left of the pose)."""
    at = lane.center.project(station.x, station.y).s
    middle = lane.center.at(at)
    along = math.copysign(1.0, elementary.cos(middle.heading - station.heading))
    s, c = elementary.sin_cos(station.heading)
    offset = c * (middle.y - station.y) - s * (middle.x - station.x)
    left, right = (float(np.interp(at, lane.center.s, edge)) for edge in (lane.left, lane.right))
    return offset + along * left, offset - along * right


def _row(middle: Pose, left: float, right: float, spacing: float) -> list[Pose]:
    """Poses from one offset (m, + left) down to another, as few as are no farther apart than `spacing` (m)."""
    count = math.ceil((left - right) / spacing - 1e-9)
    step = (left - right) / count
    s, c = elementary.sin_cos(middle.heading)
    offsets = [left - (i + 0.5) * step for i in range(count)]
    return [Pose(middle.x - offset * s, middle.y + offset * c, middle.heading) for offset in offsets]

"""Two judges of contacts that know nothing of the referee, and one of standing: SUMO's own detection of collisions,
footprints as polygons of shapely, and how long the ego stands where nothing holds it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import shapely

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.sumo.engine import EGO, SumoCollision, SumoVehicle

RELEASE_S = 3.0
"""A contact with a vehicle must be over for so long before it counts again."""
LONG_S = 60.0
"""Standing for longer than this without a reason counts."""
QUEUE_AHEAD_M, QUEUE_SIDE_M = 15.0, 0.5
"""A standing vehicle within this of the front bumper, in a strip that much wider than the ego, is a queue."""
LIGHT_AHEAD_M = 30.0
CLOSED = "ryuRY"
"""Letters of SUMO's lights that one waits for."""


class ContactEvent(NamedTuple):
    """First step of a contact (s), which vehicle the ego touches, its speed and the other's (m/s)."""

    t: float
    other: int
    ego_mps: float
    other_mps: float


class EventLog:
    """Contacts, one record for each."""

    def __init__(self) -> None:
        self.events: list[ContactEvent] = []
        self._last: dict[int, float] = {}

    def note(self, stamp: float, others: Collection[int], ego: ActorState, seen: Mapping[int, SumoVehicle]) -> None:
        """Note what the ego touches at a time (s)."""
        for number in sorted(others):
            last = self._last.get(number)
            self._last[number] = stamp
            if last is None or stamp - last > RELEASE_S:
                speed = seen[number].v if number in seen else 0.0
                self.events.append(ContactEvent(round(stamp, 3), number, round(ego.speed, 2), round(speed, 2)))


class Judges:
    """Watch every step of a run."""

    def __init__(self) -> None:
        self.collisions, self.contacts = EventLog(), EventLog()
        self.standstills: list[tuple[float, float]] = []
        """When the ego began to stand without a reason (s), and for how long (s)."""
        self._since: float | None = None

    def watch(
        self,
        stamp: float,
        ego: ActorState,
        vehicles: Sequence[SumoVehicle],
        collisions: Sequence[SumoCollision],
        light: tuple[float, str] | None,
    ) -> None:
        """Look at one step.

        Args:
            stamp: its time, s.
            ego: as it is.
            vehicles: all others.
            collisions: what SUMO holds for one.
            light: distance (m) and letter of the next light on the ego's way.
        """
        seen = {each.number: each for each in vehicles}
        self.collisions.note(stamp, partners(collisions), ego, seen)
        self.contacts.note(stamp, touched(ego, vehicles), ego, seen)
        closed = light is not None and light[0] < LIGHT_AHEAD_M and light[1] in CLOSED
        if abs(ego.speed) > VEHICLE_STANDS or closed or in_queue(ego, vehicles):
            self._note_standing(stamp)
            self._since = None
        elif self._since is None:
            self._since = stamp

    def _note_standing(self, stamp: float) -> None:
        if self._since is not None and stamp - self._since > LONG_S:
            self.standstills.append((round(self._since, 3), round(stamp - self._since, 3)))

    def verdict(self, stamp: float) -> dict[str, Any]:
        """All that was found up to a time (s), as plain data."""
        standing = list(self.standstills)
        if self._since is not None and stamp - self._since > LONG_S:
            standing.append((round(self._since, 3), round(stamp - self._since, 3)))
        return {
            "collisions": [event._asdict() for event in self.collisions.events],
            "contacts": [event._asdict() for event in self.contacts.events],
            "standstills": [{"t": began, "s": lasted} for began, lasted in standing],
        }


def partners(collisions: Sequence[SumoCollision]) -> set[int]:
    """The vehicles that collide with the ego."""
    pairs = ((each.collider, each.victim) for each in collisions)
    return {int(other) for pair in pairs for other in pair if EGO in pair and other != EGO}


def footprint(center: Pose, length: float, width: float) -> shapely.Polygon:
    """A body's outline on the ground, m."""
    s, c = elementary.sin_cos(center.heading)
    half_length, half_width = 0.5 * length, 0.5 * width
    corners = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    return shapely.Polygon(
        [
            (center.x + along * half_length * c - aside * half_width * s,
             center.y + along * half_length * s + aside * half_width * c)
            for along, aside in corners
        ]
    )  # fmt: skip


def touched(ego: ActorState, vehicles: Sequence[SumoVehicle]) -> set[int]:
    """Whose outlines the ego's overlaps."""
    center = shifted(ego.pose, ego.center_ahead)
    body = footprint(center, ego.length, ego.width)
    near = (each for each in vehicles if _within(center, each.pose, 0.5 * (ego.length + ego.width + each.length) + 2.0))
    return {each.number for each in near if body.intersects(footprint(each.pose, each.length, each.width))}


def in_queue(ego: ActorState, vehicles: Sequence[SumoVehicle]) -> bool:
    """Whether a vehicle stands just ahead of the ego."""
    middle = shifted(ego.pose, ego.center_ahead + 0.5 * (ego.length + QUEUE_AHEAD_M))
    strip = footprint(middle, QUEUE_AHEAD_M, ego.width + QUEUE_SIDE_M)
    standing = (
        each for each in vehicles if each.v <= VEHICLE_STANDS and _within(middle, each.pose, 2.0 * QUEUE_AHEAD_M)
    )
    return any(strip.intersects(footprint(each.pose, each.length, each.width)) for each in standing)


def _within(here: Pose, there: Pose, reach: float) -> bool:
    return abs(here.x - there.x) <= reach and abs(here.y - there.y) <= reach

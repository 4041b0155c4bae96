"""What perception said, message by message, as columns: objects as tracks, lights and parking slots as changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.wire.tables import unpack_table
from tuling_fsm.world.inputs import Kind, Light, Source

POSITION_M, HEADING_RAD, SPEED_M_S, SIZE_M = 0.02, 0.005, 0.1, 0.05
"""What columns are rounded to."""


STAMP_TRUSTED_S = 1.0
"""A message whose own stamp is farther from the tick before it is shown at that tick: its clock is another one."""


def own_time(own: float, came: float) -> float:
    """When a message is shown (s): at its own stamp, if that can be of the same clock as the tick that it came with."""
    return own if abs(own - came) < STAMP_TRUSTED_S else came


class _TrackKey(NamedTuple):
    """Which agent it is, what about it does not change within a track, and the how-manieth of all that it is in its
    message.
    """

    id: int
    kind: int
    length: float
    width: float
    counts_in_rain: bool
    nth: int = 0


@dataclass
class _Track:
    """An object on consecutive messages: x, y, heading, vx, vy a row."""

    first: int
    rows: list[tuple[float, ...]] = field(default_factory=list)


class ObjectTracks:
    """The topic `objects`, thinned to a period.

    Args:
        period_s: of the messages that are kept, s.
        origin: of the film.
    """

    def __init__(self, period_s: float, origin: PageOrigin) -> None:
        self._period_s = period_s
        self._origin = origin
        self._last, self._taken = -np.inf, 0
        self._stamps: list[float] = []
        self._open: dict[_TrackKey, _Track] = {}
        self._tracks: list[tuple[_TrackKey, _Track]] = []

    def take(self, t: float, raw: bytes) -> None:
        """A message that came at a time (s) of the film, and is shown where its own stamp says; one that the planner
        could not use is left out.
        """
        try:
            table = unpack_table("objects", raw)
        except InputError:
            return
        t = own_time(table.stamp - self._origin.t, t)
        if t - self._last < self._period_s - 1e-3:
            return
        number, before = self._taken, self._open
        self._last, self._taken = t, number + 1
        self._stamps.append(t)
        self._open = {}
        alike = Counter[_TrackKey]()
        for row in table.rows:
            key = _key(row)
            alike[key] += 1
            key = key._replace(nth=alike[key] - 1)
            track = before.get(key)
            if track is None:
                track = _Track(number)
                self._tracks.append((key, track))
            self._open[key] = track
            track.rows.append(tuple(float(row[name]) for name in ("x", "y", "heading", "vx", "vy")))

    def add_to(self, columns: ColumnWriter) -> None:
        """As `objects.t`, a row a track in `track.*`, and a row a track and message in `object.*`."""
        columns.add("objects.t", self._stamps, 1e-3, order=2)
        keys = [key for key, _ in self._tracks]
        columns.add("track.id", [key.id for key in keys])
        columns.add("track.kind", [key.kind for key in keys], order=0)
        columns.add("track.length", [key.length for key in keys], SIZE_M, order=0)
        columns.add("track.width", [key.width for key in keys], SIZE_M, order=0)
        columns.add("track.rain", [key.counts_in_rain for key in keys], order=0)
        columns.add("track.nth", [key.nth for key in keys], order=0)
        columns.add("track.first", [track.first for _, track in self._tracks])
        columns.add("track.n", [len(track.rows) for _, track in self._tracks], order=0)
        rows = self._origin.local(np.array([row for _, track in self._tracks for row in track.rows]).reshape(-1, 5))
        steps = {"x": POSITION_M, "y": POSITION_M, "heading": HEADING_RAD, "vx": SPEED_M_S, "vy": SPEED_M_S}
        for column, (name, step) in enumerate(steps.items()):
            values = np.where(np.isfinite(rows[:, column]), rows[:, column], 0.0)
            columns.add(f"object.{name}", values, step)

    def forget(self) -> None:
        """What was added already: a track that goes on is told in parts, each with the number of its first message."""
        self._stamps, self._open, self._tracks = [], {}, []


def _key(row: np.void) -> _TrackKey:
    length, width = (round(round(float(row[name]) / SIZE_M) * SIZE_M, 2) for name in ("length", "width"))
    return _TrackKey(int(row["id"]), int(row["kind"]), length, width, bool(int(row["source"]) & ~Source.LIDAR))


class LightChanges:
    """The topic `traffic_lights`: a row wherever a signal is seen in another state than before.

    Args:
        origin: of the film.
    """

    def __init__(self, origin: PageOrigin) -> None:
        self._origin = origin
        self._states: dict[int, int] = {}
        self._rows: list[tuple[float, int, int]] = []

    def take(self, t: float, raw: bytes) -> None:
        """A message, at a time (s) of the film."""
        try:
            table = unpack_table("traffic_lights", raw)
        except InputError:
            return
        t = own_time(table.stamp - self._origin.t, t)
        for row in table.rows:
            signal, state = int(row["signal"]), int(row["state"])
            if self._states.get(signal) != state:
                self._states[signal] = state
                self._rows.append((t, signal, state))

    def add_to(self, columns: ColumnWriter) -> None:
        """As `light.t`, `light.signal`, `light.state`."""
        rows = np.array(self._rows).reshape(-1, 3)
        columns.add("light.t", rows[:, 0], 1e-3)
        columns.add("light.signal", rows[:, 1], order=0)
        columns.add("light.state", rows[:, 2], order=0)

    def forget(self) -> None:
        """What was added already."""
        self._rows = []


class SlotChanges:
    """The topic `parking_slots`: a row wherever a slot is new, has moved, or is taken or free otherwise than before.

    Args:
        origin: of the film.
    """

    MOVED_M = 0.3

    def __init__(self, origin: PageOrigin) -> None:
        self._origin = origin
        self._last: dict[int, tuple[float, ...]] = {}
        self._rows: list[tuple[float, ...]] = []

    def take(self, t: float, raw: bytes) -> None:
        """A message, at a time (s) of the film."""
        try:
            table = unpack_table("parking_slots", raw)
        except InputError:
            return
        t = own_time(table.stamp - self._origin.t, t)
        for row in table.rows:
            slot = int(row["slot"])
            now = (float(row["occupied"] != 0), *(float(row[k]) for k in ("x", "y", "heading", "length", "width")))
            if slot not in self._last or _differ(self._last[slot], now):
                self._last[slot] = now
                self._rows.append((t, float(slot), *now))

    def add_to(self, columns: ColumnWriter) -> None:
        """As `slot.*`."""
        rows = np.array(self._rows).reshape(-1, 8)
        rows[:, 3:5] = self._origin.local(rows[:, 3:5])
        steps = {"t": 1e-3, "number": 1.0, "taken": 1.0, "x": POSITION_M, "y": POSITION_M, "heading": HEADING_RAD,
                 "length": SIZE_M, "width": SIZE_M}  # fmt: skip
        for column, (name, step) in enumerate(steps.items()):
            columns.add(f"slot.{name}", rows[:, column], step, order=0)

    def forget(self) -> None:
        """What was added already."""
        self._rows = []


def _differ(before: tuple[float, ...], now: tuple[float, ...]) -> bool:
    moved = max(abs(now[1] - before[1]), abs(now[2] - before[2]))
    return before[0] != now[0] or moved > SlotChanges.MOVED_M


KINDS = {int(kind): kind.name.lower() for kind in Kind}
LIGHTS = {int(light): light.name.lower() for light in Light}
"""Words of the codes, for the header."""

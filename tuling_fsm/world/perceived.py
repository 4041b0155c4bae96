"""Small tables as plain values: lights, parking slots, lane lines. Rows that make no sense are left out and
complained of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import distance, wrap_angle
from tuling_fsm.core.records import replace
from tuling_fsm.world.inputs import Light, StampedRows
from tuling_fsm.world.objects import InputFault

_MAX_LIGHT = int(max(Light))
_LIGHTS = tuple(Light)
_RESTRICTIVE = (
    Light.RED, Light.RED_YELLOW, Light.UNKNOWN, Light.DARK, Light.YELLOW, Light.FLASHING_YELLOW, Light.GREEN,
)  # fmt: skip
"""What forbids more goes before: red holds even where a junction is directed by hand (INT-5), what is unknown counts as
red else (INT-2), and yellow is driven through by a car that cannot stop in comfort.
"""
_RANK = {state: rank for rank, state in enumerate(_RESTRICTIVE)}
_MAX_LINE_KIND = 7
_MAX_ROWS = 2000
"""Rows of a small table that are looked at: of a longer one those at its head."""
_SAME_SLOT_M, _MOST_POSES = 2.0, 50


@dataclass(frozen=True)
class PerceivedSlot:
    """A parking space as perception sees it: centre pose (x, y m, heading rad in `map`), length and width (m)."""

    number: int
    occupied: bool
    x: float
    y: float
    heading: float
    length: float
    width: float


class ObservedSlot(NamedTuple):
    """A parking space as it has been seen so far: the mean of its poses, how many these are, stamp of the last (s)."""

    slot: PerceivedSlot
    poses: int
    stamp: float


@dataclass(frozen=True, eq=False)
class PerceivedLine:
    """A lane line as perception sees it: points (N, 2) in `base_link` (m), kind as on the topic `lane_lines`."""

    number: int
    kind: int
    points: FloatArray


Seen = TypeVar("Seen")


class TableReader(Generic[Seen]):
    """Reads a table once, however many ticks it is given again on."""

    def __init__(self, read: Callable[[StampedRows | None], Seen]) -> None:
        self._read = read
        self._latest: tuple[StampedRows | None, Seen] = (None, read(None))

    def __call__(self, table: StampedRows | None) -> Seen:
        """What the table says."""
        if table is not self._latest[0]:
            self._latest = (table, self._read(table))
        return self._latest[1]


def _head(topic: str, table: StampedRows | None) -> tuple[list[tuple[Any, ...]], tuple[InputFault, ...]]:
    """The rows of a table that are looked at."""
    rows = [] if table is None else table.rows[:_MAX_ROWS].tolist()
    if table is None or len(table.rows) <= _MAX_ROWS:
        return rows, ()
    text = f"{topic}: more than {_MAX_ROWS} rows, the first ones are used"
    return rows, (InputFault(f"{topic} count", text),)


def read_lights(table: StampedRows | None, min_confidence: float) -> tuple[dict[int, Light], tuple[InputFault, ...]]:
    """The confident states by signal; of a signal that is told in two states the more restrictive one counts."""
    rows, complaints = _head("traffic_lights", table)
    least = float(np.float32(min_confidence))
    lights: dict[int, Light] = {}
    bad: int | None = None
    differing: int | None = None
    for signal, state, confidence in rows:
        if not (0.0 <= confidence <= 1.0 and state <= _MAX_LIGHT):
            bad = signal if bad is None else bad
        elif confidence >= least:
            told = _LIGHTS[state]
            before = lights.setdefault(signal, told)
            if told is not before:
                differing = signal if differing is None else differing
                lights[signal] = min(before, told, key=_RANK.__getitem__)
    if bad is not None:
        text = f"state or confidence out of range, signal {bad} first (expected 0 to {_MAX_LIGHT}, 0 to 1)"
        complaints = (*complaints, InputFault("traffic_lights range", f"traffic_lights: {text}"))
    if differing is not None:
        text = f"traffic_lights: one signal in two states, the more restrictive one is used, signal {differing} first"
        complaints = (*complaints, InputFault("traffic_lights states", text))
    return lights, complaints


class LightStates(NamedTuple):
    """Lights by signal, and the stamp (s) of the table that told each one's state."""

    state: dict[int, Light]
    seen: dict[int, float]


def remember_lights(
    state: dict[int, Light], table: StampedRows | None, before: LightStates, oldest: float
) -> LightStates:
    """The lights of a table, and those that it says nothing of as they were seen before: a camera loses one now and
    then (INT-2: a stale light counts as red).

    Args:
        state: what `read_lights` makes of the table.
        table: the latest one, None for none.
        before: of the tick before.
        oldest: stamp (s) before which a light was seen too long ago.
    """
    told = set() if table is None else set(table.rows["signal"].tolist())
    lost = {number: seen for number, seen in before.seen.items() if number not in told and seen >= oldest}
    now = {} if table is None else dict.fromkeys(state, table.stamp)
    return LightStates({**{number: before.state[number] for number in lost}, **state}, {**lost, **now})


def read_slots(table: StampedRows | None) -> tuple[tuple[PerceivedSlot, ...], tuple[InputFault, ...]]:
    """The parking spaces seen now."""
    rows, complaints = _head("parking_slots", table)
    slots = []
    bad: int | None = None
    for number, occupied, x, y, heading, length, width in rows:
        if math.isfinite(x + y + heading + length + width) and length > 0.0 and width > 0.0:
            slots.append(PerceivedSlot(number, bool(occupied), x, y, heading, length, width))
        else:
            bad = number if bad is None else bad
    if bad is not None:
        text = f"parking_slots: a box that is none, slot {bad} first (expected length and width above 0 m)"
        complaints = (*complaints, InputFault("parking_slots range", text))
    if len({slot.number for slot in slots}) < len(slots):
        text = "parking_slots: a number that appears twice, both rows are used"
        complaints = (*complaints, InputFault("parking_slots twice", text))
    return tuple(slots), complaints


def remember_slots(
    told: tuple[PerceivedSlot, ...], stamp: float, before: Mapping[int, ObservedSlot], oldest: float
) -> tuple[tuple[PerceivedSlot, ...], dict[int, ObservedSlot]]:
    """The parking spaces of a table where they have been seen to be, and all that were seen since `oldest` (s).

    They do not move, so a pose is the mean of those told, of some fifty at most. One that is told far from where it was
    is another one. Of what is told twice at one time the stricter counts: it is occupied.
    """
    observed = {number: seen for number, seen in before.items() if seen.stamp >= oldest}
    slots: list[PerceivedSlot] = []
    for slot in told:
        last = observed.get(slot.number)
        if last is None or distance((slot.x, slot.y), (last.slot.x, last.slot.y)) > _SAME_SLOT_M:
            seen = ObservedSlot(slot, 1, stamp)
        elif last.stamp == stamp:
            slots = [each for each in slots if each is not last.slot]
            seen = last._replace(slot=replace(last.slot, occupied=last.slot.occupied or slot.occupied))
        else:
            seen = _seen_again(last, slot, stamp)
        observed[slot.number] = seen
        slots.append(seen.slot)
    return tuple(slots), observed


def _seen_again(last: ObservedSlot, slot: PerceivedSlot, stamp: float) -> ObservedSlot:
    """The heading is along the slot, either way: it is averaged as an axis."""
    poses, mean = min(last.poses + 1, _MOST_POSES), last.slot
    x, y = mean.x + (slot.x - mean.x) / poses, mean.y + (slot.y - mean.y) / poses
    turned = 0.5 * float(wrap_angle(2.0 * (slot.heading - mean.heading)))
    return ObservedSlot(replace(slot, x=x, y=y, heading=mean.heading + turned / poses), poses, stamp)


def read_lines(table: StampedRows | None) -> tuple[tuple[PerceivedLine, ...], tuple[InputFault, ...]]:
    """The lane lines seen now, points in the order of the table; a line needs two points."""
    if table is None or len(table.rows) == 0:
        return (), ()
    rows = table.rows
    points: FloatArray = np.empty((len(rows), 2))
    points[:, 0], points[:, 1] = rows["x"], rows["y"]
    good = np.isfinite(points[:, 0] + points[:, 1]) & (rows["kind"] <= _MAX_LINE_KIND)
    order = np.argsort(rows["line"], kind="stable")
    complaints: tuple[InputFault, ...] = ()
    if not good.all():
        order = order[good[order]]
        first = int(rows["line"][np.argmin(good)])
        complaints = (InputFault("lane_lines range", f"lane_lines: a point that is none, line {first} first"),)
    numbers, points = rows["line"][order], points[order]
    ends = [*(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]
    lines = tuple(
        PerceivedLine(int(numbers[begin]), int(rows["kind"][order[begin]]), points[begin:end])
        for begin, end in itertools.pairwise((0, *ends))
        if end - begin >= 2
    )
    return lines, complaints

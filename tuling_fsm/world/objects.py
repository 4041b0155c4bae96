"""The object table as columns of one type, checked row by row (SAF-3).

A row with a place is never left out for what else is wrong with it, as something is there: its velocity is told by
where it is seen next if it has none, it is small if it has no size, and exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.parameters import WorldParameters

_MAX_KIND = int(max(Kind))
_UNKNOWN = int(Kind.UNKNOWN)
_AVOIDED = "what has a place is avoided all the same"
VULNERABLE = np.isin(np.arange(256), (Kind.PEDESTRIAN, Kind.ANIMAL))
"""By kind: those that walk. They are yielded to, and never taken for static."""
VEHICLE = np.isin(np.arange(256), (Kind.UNKNOWN, Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BICYCLE))
"""By kind: those that may follow a lane."""

SMALL_M = 0.5
"""What has no size is taken to be as long or as wide as this, m."""

X, Y, HEADING, VX, VY, SPEED, LENGTH, WIDTH = range(8)
"""Columns of a body: box centre (m) and heading in `map`, velocity in `map` and speed (m/s), size (m)."""
BODY = 8

IdArray = npt.NDArray[np.uint32]
ByteArray = npt.NDArray[np.uint8]


def is_vulnerable(kind: ByteArray) -> BoolArray:
    """Those that walk."""
    return VULNERABLE[kind]


def is_vehicle(kind: ByteArray) -> BoolArray:
    """Those that may follow a lane."""
    return VEHICLE[kind]


class InputFault(NamedTuple):
    """What is wrong with an input: `key` stays the same while the fault lasts, `text` is the one line for the log."""

    key: str
    text: str


@dataclass(frozen=True, eq=False)
class Detections:
    """N objects: `source` bits, `body` (N, BODY), `order`, their rows in the order of their ids; the first `seen` rows
    are of the table, the others coast. A velocity that the table does not tell is NaN until it is estimated.
    """

    id: IdArray
    kind: ByteArray
    source: ByteArray
    body: FloatArray
    order: IntArray
    seen: int


class _Verdict(NamedTuple):
    """How many rows can be used, and the first one of each kind of fault, -1 for none."""

    used: int
    unfinite: int
    wrong: int
    strange: int
    twice: int


def read_objects(
    rows: npt.NDArray[np.void], near: tuple[float, float], parameters: WorldParameters
) -> tuple[Detections, tuple[InputFault, ...]]:
    """The rows with a place; the nearest to `near` if there are too many.

    Returns what is wrong with the rows too, one complaint for each kind of fault.
    """
    n, order = len(rows), np.argsort(rows["id"], kind="stable")
    ids, kinds, sources = np.empty(n, np.uint32), np.empty(n, np.uint8), np.empty(n, np.uint8)
    body, taken = np.empty((n, BODY)), np.empty(n, np.int64)
    plain = rows if rows.flags.carray else rows.copy()
    verdict = _Verdict(
        *_read(
            plain, order, max_coordinate=parameters.max_coordinate, max_size=parameters.max_object_size,
            max_speed=parameters.max_object_speed, min_existence=parameters.min_existence,
            ids=ids, kinds=kinds, sources=sources, body=body, taken=taken,
        )
    )  # fmt: skip
    faults = _faults(verdict, rows)
    if verdict.used == n <= parameters.max_objects:
        return Detections(ids, kinds, sources, body, order, n), faults
    keep: IntArray = np.arange(verdict.used)
    if verdict.used > parameters.max_objects:
        x, y = (rows[name][taken[: verdict.used]].astype(np.float64) for name in ("x", "y"))
        distance = elementwise.hypot(x - near[0], y - near[1])
        keep = np.sort(np.argsort(distance, kind="stable")[: parameters.max_objects])
        text = f"objects: more than {parameters.max_objects} rows, the nearest are used"
        faults = (*faults, InputFault("objects count", text))
    order = np.argsort(ids[keep], kind="stable")
    return Detections(ids[keep], kinds[keep], sources[keep], body[keep], order, len(keep)), faults


@kernel
def _read(
    rows: npt.NDArray[np.void], order: IntArray,
    max_coordinate: float, max_size: float, max_speed: float, min_existence: float,
    ids: IdArray, kinds: ByteArray, sources: ByteArray, body: FloatArray, taken: IntArray,
) -> tuple[int, int, int, int, int]:  # fmt: skip
    """Copy the usable rows one after the other, and tell which ones they are; returns a `_Verdict`."""
    used, unfinite, wrong, strange, twice = 0, -1, -1, -1, -1
    for i in range(len(rows)):
        row = rows[i]
        if i > 0 and rows[order[i]].id == rows[order[i - 1]].id:
            twice = i
        if row.kind > _MAX_KIND:
            strange = i
        x, y, heading, existence = float(row.x), float(row.y), float(row.heading), row.existence
        vx, vy, length, width = float(row.vx), float(row.vy), float(row.length), float(row.width)
        speed = elementary.hypot(vx, vy)
        if not math.isfinite(x + y + heading + vx + vy + length + width + existence):
            unfinite = i if unfinite < 0 else unfinite
        elif not (
            abs(x) <= max_coordinate and abs(y) <= max_coordinate and 0.0 < length <= max_size
            and 0.0 < width <= max_size and speed <= max_speed and 0.0 <= existence <= 1.0
        ):  # fmt: skip
            wrong = i if wrong < 0 else wrong
        if not (abs(x) <= max_coordinate and abs(y) <= max_coordinate) or 0.0 <= existence < min_existence:
            continue
        ids[used], sources[used], taken[used] = row.id, row.source, i
        kinds[used] = row.kind if row.kind <= _MAX_KIND else _UNKNOWN
        length, width = _sized(length, max_size), _sized(width, max_size)
        if not math.isfinite(heading):
            heading = 0.0
            length = width = max(length, width)
        if not speed <= max_speed:
            vx, vy, speed = math.nan, math.nan, 0.0
        one = body[used]
        one[X], one[Y], one[HEADING] = x, y, heading % (2.0 * math.pi)
        one[VX], one[VY], one[SPEED], one[LENGTH], one[WIDTH] = vx, vy, speed, length, width
        used += 1
    return used, unfinite, wrong, strange, twice


@kernel
def _sized(size: float, largest: float) -> float:
    """A size (m), or what it is taken for where it is none."""
    return min(size, largest) if size > 0.0 else SMALL_M


def move_on(found: Detections, yaw_rate: FloatArray, age: float) -> None:
    """Put what was seen `age` (s) ago where its velocity has taken it since, on the arc of one that turns: `yaw_rate`
    (N,), rad/s.
    """
    if age > 0.0:
        body, turn = found.body[: found.seen], age * yaw_rate[: found.seen]
        vx, vy = body[:, VX].copy(), body[:, VY].copy()
        s, c = elementwise.sin_cos(0.5 * turn)
        body[:, X] += age * (c * vx - s * vy)
        body[:, Y] += age * (s * vx + c * vy)
        s, c = elementwise.sin_cos(turn)
        body[:, VX], body[:, VY] = c * vx - s * vy, s * vx + c * vy
        body[:, HEADING] = (body[:, HEADING] + turn) % (2.0 * math.pi)


def _faults(verdict: _Verdict, rows: npt.NDArray[np.void]) -> tuple[InputFault, ...]:
    faults = []
    if verdict.unfinite >= 0:
        first = int(rows["id"][verdict.unfinite])
        text = f"objects: a value that is not finite, object {first} first (expected numbers); {_AVOIDED}"
        faults.append(InputFault("objects finite", text))
    if verdict.wrong >= 0:
        first = int(rows["id"][verdict.wrong])
        text = f"objects: a value out of range, object {first} first (expected sizes above 0 m, existence 0 to 1)"
        faults.append(InputFault("objects range", f"{text}; {_AVOIDED}"))
    if verdict.strange >= 0:
        text = f"objects: a kind that is none of 0 to {_MAX_KIND}, taken for unknown"
        faults.append(InputFault("objects kind", text))
    if verdict.twice >= 0:
        faults.append(InputFault("objects id", "objects: an id that appears twice, both rows are used"))
    return tuple(faults)

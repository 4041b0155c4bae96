"""The object table as columns of one type, checked row by row (SAF-3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.parameters import WorldParameters

_MAX_KIND = int(max(Kind))
_VULNERABLE = np.isin(np.arange(256), (Kind.PEDESTRIAN, Kind.ANIMAL))
_VEHICLE = np.isin(np.arange(256), (Kind.UNKNOWN, Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BICYCLE))

Kinds = npt.NDArray[np.uint8]


def is_vulnerable(kind: Kinds) -> npt.NDArray[np.bool_]:
    """Those that walk: they are yielded to, and never taken for static."""
    return _VULNERABLE[kind]


def is_vehicle(kind: Kinds) -> npt.NDArray[np.bool_]:
    """Those that may follow a lane."""
    return _VEHICLE[kind]


class Complaint(NamedTuple):
    """What is wrong with an input: `key` stays the same while the fault lasts, `text` is the one line for people."""

    key: str
    text: str


@dataclass(frozen=True, eq=False)
class Detections:
    """N objects: box centre (m) and heading in `map`, velocity in `map` (m/s), size (m), source bits."""

    id: npt.NDArray[np.uint32]
    kind: npt.NDArray[np.uint8]
    source: npt.NDArray[np.uint8]
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    vx: FloatArray
    vy: FloatArray
    speed: FloatArray
    length: FloatArray
    width: FloatArray


_REAL = ("x", "y", "heading", "vx", "vy", "length", "width")
_COLUMNS = (*_REAL, "existence")


def read_objects(
    rows: npt.NDArray[np.void], age: float, near: tuple[float, float], parameters: WorldParameters
) -> tuple[Detections, tuple[Complaint, ...]]:
    """The usable rows, moved on by their velocity over `age` (s), nearest to `near` first where there are too many.

    Returns what was wrong with the others, one complaint for each kind of fault.
    """
    values = np.array([rows[name] for name in _COLUMNS], dtype=np.float64)
    columns = dict(zip(_COLUMNS, values, strict=True))
    finite = np.asarray(np.isfinite(values).all(axis=0), dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        inside = (np.abs(columns["x"]) <= parameters.max_coordinate) & (
            np.abs(columns["y"]) <= parameters.max_coordinate
        )
        sized = (columns["length"] > 0.0) & (columns["length"] <= parameters.max_object_size)
        sized &= (columns["width"] > 0.0) & (columns["width"] <= parameters.max_object_size)
        possible = np.hypot(columns["vx"], columns["vy"]) <= parameters.max_object_speed
        possible &= (columns["existence"] >= 0.0) & (columns["existence"] <= 1.0)
    usable = finite & inside & sized & possible
    faults = _faults(finite, usable, rows)
    keep = np.flatnonzero(usable & (columns["existence"] >= parameters.min_existence))
    if len(keep) > parameters.max_objects:
        distance = np.hypot(columns["x"][keep] - near[0], columns["y"][keep] - near[1])
        keep = np.sort(keep[np.argsort(distance, kind="stable")[: parameters.max_objects]])
        text = f"objects: more than {parameters.max_objects} rows, the nearest are used"
        faults = (*faults, Complaint("objects count", text))
    c = {name: np.ascontiguousarray(columns[name][keep]) for name in _REAL}
    kind = rows["kind"][keep].copy()
    kind[kind > _MAX_KIND] = Kind.UNKNOWN
    found = Detections(
        id=rows["id"][keep].astype(np.uint32), kind=kind, source=rows["source"][keep].copy(),
        x=c["x"] + age * c["vx"], y=c["y"] + age * c["vy"], heading=c["heading"] % (2.0 * math.pi),
        vx=c["vx"], vy=c["vy"], speed=np.hypot(c["vx"], c["vy"]), length=c["length"], width=c["width"],
    )  # fmt: skip
    return found, faults


def _faults(
    finite: npt.NDArray[np.bool_], usable: npt.NDArray[np.bool_], rows: npt.NDArray[np.void]
) -> tuple[Complaint, ...]:
    faults = []
    if not finite.all():
        first = int(rows["id"][np.argmin(finite)])
        text = f"objects: a value that is not finite, object {first} first (expected numbers)"
        faults.append(Complaint("objects finite", text))
    wrong = finite & ~usable
    if wrong.any():
        first = int(rows["id"][np.argmax(wrong)])
        text = f"objects: a value out of range, object {first} first (expected sizes above 0 m, existence 0 to 1)"
        faults.append(Complaint("objects range", text))
    if (rows["kind"] > _MAX_KIND).any():
        text = f"objects: a kind that is none of 0 to {_MAX_KIND}, taken for unknown"
        faults.append(Complaint("objects kind", text))
    ids = np.sort(rows["id"])
    if (ids[1:] == ids[:-1]).any():
        faults.append(Complaint("objects id", "objects: an id that appears twice, both rows are used"))
    return tuple(faults)

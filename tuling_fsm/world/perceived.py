"""Small tables as plain values: lights, parking slots, lane lines. Rows that make no sense are left out and
complained of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.world.inputs import Light, Table
from tuling_fsm.world.objects import Complaint

_MAX_LIGHT = int(max(Light))
_LIGHTS = tuple(Light)
_MAX_LINE_KIND = 7


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


@dataclass(frozen=True, eq=False)
class PerceivedLine:
    """A lane line as perception sees it: points (N, 2) in `base_link` (m), kind as on the topic `lane_lines`."""

    number: int
    kind: int
    points: FloatArray


def _finite(rows: npt.NDArray[np.void], names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    good = np.ones(len(rows), dtype=np.bool_)
    for name in names:
        good &= np.isfinite(rows[name])
    return good


def read_lights(table: Table | None, min_confidence: float) -> tuple[dict[int, Light], tuple[Complaint, ...]]:
    """The confident states by signal; of a signal that is told twice the more restrictive one (not green) counts."""
    if table is None:
        return {}, ()
    rows = table.rows
    good = _finite(rows, ("confidence",)) & (rows["confidence"] >= 0.0) & (rows["confidence"] <= 1.0)
    good &= rows["state"] <= _MAX_LIGHT
    complaints: tuple[Complaint, ...] = ()
    if not good.all():
        text = f"traffic_lights: state or confidence out of range, signal {int(rows['signal'][np.argmin(good)])} first"
        complaints = (Complaint("traffic_lights range", f"{text} (expected 0 to {_MAX_LIGHT}, 0 to 1)"),)
    usable = rows[good & (rows["confidence"] >= min_confidence)]
    lights: dict[int, Light] = {}
    for signal, state in zip(usable["signal"].tolist(), usable["state"].tolist(), strict=True):
        if signal not in lights or lights[signal] is Light.GREEN:
            lights[signal] = _LIGHTS[state]
    return lights, complaints


def read_slots(table: Table | None) -> tuple[tuple[PerceivedSlot, ...], tuple[Complaint, ...]]:
    """The parking spaces seen now."""
    if table is None:
        return (), ()
    rows = table.rows
    good = _finite(rows, ("x", "y", "heading", "length", "width")) & (rows["length"] > 0.0) & (rows["width"] > 0.0)
    complaints: tuple[Complaint, ...] = ()
    if not good.all():
        first = int(rows["slot"][np.argmin(good)])
        complaints = (Complaint("parking_slots range", f"parking_slots: a box that is none, slot {first} first"),)
    slots = tuple(PerceivedSlot(row[0], bool(row[1]), *map(float, row[2:])) for row in rows[good].tolist())
    return slots, complaints


def read_lines(table: Table | None) -> tuple[tuple[PerceivedLine, ...], tuple[Complaint, ...]]:
    """The lane lines seen now, points in the order of the table; a line needs two points."""
    if table is None:
        return (), ()
    rows = table.rows
    good = _finite(rows, ("x", "y")) & (rows["kind"] <= _MAX_LINE_KIND)
    complaints: tuple[Complaint, ...] = ()
    if not good.all():
        first = int(rows["line"][np.argmin(good)])
        complaints = (Complaint("lane_lines range", f"lane_lines: a point that is none, line {first} first"),)
    lines = []
    for number in np.unique(rows["line"][good]).tolist():
        own = rows[good & (rows["line"] == number)]
        if len(own) >= 2:
            points = np.column_stack((own["x"], own["y"])).astype(np.float64)
            lines.append(PerceivedLine(number, int(own["kind"][0]), points))
    return tuple(lines), complaints

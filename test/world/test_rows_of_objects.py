"""Tables of objects in which anything may be wrong, read once more row by row (SAF-3)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.world.inputs import OBJECTS, Kind
from tuling_fsm.world.objects import (
    BODY,
    HEADING,
    LENGTH,
    SPEED,
    VX,
    VY,
    WIDTH,
    Detections,
    X,
    Y,
    is_vehicle,
    is_vulnerable,
    move_on,
    read_objects,
)
from tuling_fsm.world.parameters import WorldParameters

pytestmark = pytest.mark.clause("SAF-3")

SMALL_M = 0.5

P = WorldParameters(
    max_coordinate=1000.0, max_object_size=20.0, max_object_speed=30.0, min_existence=0.3, max_objects=8
)  # fmt: skip
VALUES: dict[str, tuple[float, ...]] = {
    "x": (-1000.0, 1000.0, 1000.1, -1500.0, math.nan, math.inf),
    "y": (-1000.0, 1000.0, -1000.1, 1500.0, math.nan, -math.inf),
    "heading": (math.nan, math.inf, -7.0, 9.0),
    "vx": (30.0, -30.0, 30.1, -40.0, math.nan),
    "vy": (30.1, -30.1, math.inf, 29.0),
    "length": (20.0, 20.1, 0.0, -1.0, math.nan, math.inf, 0.1),
    "width": (20.0, 20.1, 0.0, -1.0, math.nan, math.inf, 0.2),
    "existence": (0.0, 0.29, 0.31, 1.0, 1.1, -0.1, math.nan),
    "kind": (10, 11, 200, 0),
}
"""Both sides of every limit, and no numbers."""


def some_rows(draw: np.random.Generator, many: int, spoilt: float) -> npt.NDArray[np.void]:
    rows = np.zeros(many, OBJECTS)
    rows["id"] = draw.choice(60, many, replace=bool(draw.random() < 0.5))
    rows["kind"], rows["source"] = draw.integers(0, 11, many), draw.integers(0, 32, many)
    for name, reach in (("x", 400.0), ("y", 300.0), ("heading", 3.0), ("vx", 15.0), ("vy", 12.0)):
        rows[name] = draw.uniform(-reach, reach, many)
    rows["length"], rows["width"], rows["existence"] = draw.uniform(0.3, [15.0, 4.0, 1.0], (many, 3)).T
    for i in range(many):
        while draw.random() < spoilt:
            name = draw.choice(list(VALUES))
            rows[name][i] = draw.choice(VALUES[name])
    return rows


def is_finite(row: Any) -> bool:
    return all(math.isfinite(row[name]) for name in VALUES)


def in_range(row: Any) -> bool:
    sizes = all(0.0 < row[name] <= 20.0 for name in ("length", "width"))
    places = all(abs(row[name]) <= 1000.0 for name in ("x", "y"))
    return bool(sizes and places and math.hypot(row["vx"], row["vy"]) <= 30.0 and 0.0 <= row["existence"] <= 1.0)


def is_used(row: Any) -> bool:
    """Whether something is there: it has a place, and it is not said to be unlikely."""
    return bool(abs(row["x"]) <= 1000.0 and abs(row["y"]) <= 1000.0 and not 0.0 <= row["existence"] < np.float32(0.3))


def body_of(row: Any) -> FloatArray:
    body = np.zeros(BODY)
    body[X], body[Y] = row["x"], row["y"]
    sizes = [min(float(row[name]), 20.0) if row[name] > 0.0 else SMALL_M for name in ("length", "width")]
    if math.isfinite(row["heading"]):
        body[HEADING] = float(row["heading"]) % (2.0 * math.pi)
    else:
        sizes = [max(sizes)] * 2
    body[LENGTH], body[WIDTH] = sizes
    speed = math.hypot(row["vx"], row["vy"])
    told = speed <= 30.0
    body[VX], body[VY], body[SPEED] = (row["vx"], row["vy"], speed) if told else (math.nan, math.nan, 0.0)
    return body


@pytest.mark.parametrize("spoilt", [0.0, 0.1, 0.4])
def test_of_every_row_with_a_place_a_body_is_made(spoilt: float) -> None:
    """Of too many the nearest are taken, in the order of the table; each kind of fault is told once, with the first."""
    draw, near = np.random.default_rng(int(10.0 * spoilt)), (-40.0, 25.0)
    for _ in range(150):
        rows = some_rows(draw, int(draw.integers(0, 13)), spoilt)
        used = [row for row in rows if is_used(row)]
        if len(used) > P.max_objects:
            apart = [math.hypot(float(row["x"]) - near[0], float(row["y"]) - near[1]) for row in used]
            last = sorted(apart)[P.max_objects - 1]
            used = [row for row, far in zip(used, apart, strict=True) if far <= last]
        found, faults = read_objects(rows, near, P)
        assert found.id.tolist() == [row["id"] for row in used] and found.seen == len(used)
        assert found.kind.tolist() == [row["kind"] if row["kind"] <= 10 else 0 for row in used]
        assert found.source.tolist() == [row["source"] for row in used]
        expected = np.array([body_of(row) for row in used]).reshape(-1, BODY)
        np.testing.assert_allclose(found.body, expected, rtol=1e-6)
        assert found.order.tolist() == sorted(range(len(used)), key=lambda k: (used[k]["id"], k))
        unfinite = [row for row in rows if not is_finite(row)]
        wrong = [row for row in rows if is_finite(row) and not in_range(row)]
        told = {fault.key: fault.text for fault in faults}
        many = sum(is_used(row) for row in rows) > P.max_objects
        assert list(told) == [
            key for key, there in (
                ("objects finite", unfinite), ("objects range", wrong),
                ("objects kind", any(row["kind"] > 10 for row in rows)),
                ("objects id", len({int(row["id"]) for row in rows}) < len(rows)), ("objects count", many),
            ) if there
        ]  # fmt: skip
        if unfinite:
            assert f"object {unfinite[0]['id']} first" in told["objects finite"]
        if wrong:
            assert f"object {wrong[0]['id']} first" in told["objects range"]


def test_rows_of_a_larger_table_are_read_as_well() -> None:
    draw = np.random.default_rng(3)
    rows = some_rows(draw, 12, 0.0)
    for part in (rows[::2], rows[3:7], rows[::-3]):
        found, _ = read_objects(part, (0.0, 0.0), P)
        whole, _ = read_objects(part.copy(), (0.0, 0.0), P)
        np.testing.assert_array_equal(found.body, whole.body)
        assert found.id.tolist() == part["id"].tolist()


def test_those_that_are_seen_are_moved_on_by_their_velocity_and_only_forward_in_time() -> None:
    draw = np.random.default_rng(4)
    for age in (-0.5, 0.0, 0.3, 1.5):
        body = draw.uniform(-9.0, 9.0, (5, BODY))
        byte, order = np.zeros(5, np.uint8), np.arange(5)
        found = Detections(np.arange(5, dtype=np.uint32), byte, byte, body.copy(), order, seen=3)
        move_on(found, np.zeros(5), age)
        body[:3, X] += max(age, 0.0) * body[:3, VX]
        body[:3, Y] += max(age, 0.0) * body[:3, VY]
        body[:, HEADING] %= 2.0 * np.pi
        found.body[:, HEADING] %= 2.0 * np.pi
        np.testing.assert_allclose(found.body, body, atol=1e-12)


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize("rate", [-0.6, 0.4])
def test_one_that_turns_is_moved_on_along_its_arc(rate: float) -> None:
    """At 6 m/s, in steps of a millisecond."""
    body = np.zeros((1, BODY))
    body[0, [VX, HEADING]] = 6.0, 0.0
    byte = np.zeros(1, np.uint8)
    found = Detections(np.zeros(1, np.uint32), byte, byte, body, np.arange(1), seen=1)
    move_on(found, np.array([rate]), 0.4)
    headings = rate * 1e-3 * (np.arange(400) + 0.5)
    x, y = 6e-3 * np.cos(headings).sum(), 6e-3 * np.sin(headings).sum()
    expected = [x, y, 6.0 * np.cos(0.4 * rate), 6.0 * np.sin(0.4 * rate), (0.4 * rate) % (2.0 * np.pi)]
    np.testing.assert_allclose(body[0, [X, Y, VX, VY, HEADING]], expected, atol=0.01)


def test_which_walk_and_which_may_follow_a_lane() -> None:
    kinds = np.arange(256).astype(np.uint8)
    walks, drives = is_vulnerable(kinds), is_vehicle(kinds)
    assert [Kind(k).name for k in np.flatnonzero(walks)] == ["PEDESTRIAN", "ANIMAL"]
    assert [Kind(k).name for k in np.flatnonzero(drives)] == ["UNKNOWN", "CAR", "TRUCK", "BUS", "MOTORCYCLE", "BICYCLE"]

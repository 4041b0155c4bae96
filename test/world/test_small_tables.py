"""Lights, parking spaces and lane lines in tables of any content, read and remembered once more row by row."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.world.inputs import LANE_LINES, PARKING_SLOTS, TRAFFIC_LIGHTS, Light, StampedRows
from tuling_fsm.world.perceived import (
    LightStates,
    ObservedSlot,
    PerceivedSlot,
    TableReader,
    read_lights,
    read_lines,
    read_slots,
    remember_lights,
    remember_slots,
)

pytestmark = pytest.mark.clause("SAF-3")

MOST_ROWS, MOST_POSES, SAME_SLOT_M = 2000, 50, 2.0
MOST_RESTRICTIVE = [
    Light.RED, Light.RED_YELLOW, Light.UNKNOWN, Light.DARK, Light.YELLOW, Light.FLASHING_YELLOW, Light.GREEN,
]  # fmt: skip


def test_no_table_says_nothing_and_nothing_is_wrong_with_it() -> None:
    assert read_lights(None, 0.5) == ({}, ())
    assert read_slots(None) == ((), ())
    for empty in (None, StampedRows(0.0, np.zeros(0, LANE_LINES))):
        assert read_lines(empty) == ((), ())


@pytest.mark.clause("INT-2")
def test_of_each_light_the_most_restrictive_sure_state_counts_and_two_states_are_told_of() -> None:
    draw, spoilt, differing = np.random.default_rng(1), 0, 0
    for _ in range(120):
        rows = np.zeros(int(draw.integers(0, 9)), TRAFFIC_LIGHTS)
        rows["signal"] = draw.integers(1, 5, len(rows))
        rows["state"] = draw.choice([0, 1, 2, 3, 3, 3, 4, 5, 6, 6, 7, 200], len(rows))
        rows["confidence"] = draw.choice([0.0, 0.39, 0.4, 0.41, 1.0, 1.0, 1.01, -0.01, math.nan], len(rows))
        states: dict[int, list[Light]] = {}
        twice = []
        bad = [int(row["signal"]) for row in rows if row["state"] > 6 or not 0.0 <= row["confidence"] <= 1.0]
        for row in rows:
            if row["state"] <= 6 and np.float32(0.4) <= row["confidence"] <= 1.0:
                told = states.setdefault(int(row["signal"]), [])
                told.append(Light(int(row["state"])))
                twice += [int(row["signal"])] * (told[-1] is not told[0])
        lights, faults = read_lights(StampedRows(0.0, rows), 0.4)
        assert lights == {signal: min(told, key=MOST_RESTRICTIVE.index) for signal, told in states.items()}
        expected = ["traffic_lights range"] * bool(bad) + ["traffic_lights states"] * bool(twice)
        assert [fault.key for fault in faults] == expected
        assert not bad or f"signal {bad[0]} first" in faults[0].text
        assert not twice or f"signal {twice[0]} first" in faults[-1].text
        spoilt, differing = spoilt + bool(bad), differing + bool(twice)
    assert 20 < spoilt < 110
    assert 20 < differing < 110


@pytest.mark.clause("INT-2", "INT-5")
@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((Light.FLASHING_YELLOW, Light.RED), Light.RED),
        ((Light.UNKNOWN, Light.RED_YELLOW), Light.RED_YELLOW),
        ((Light.YELLOW, Light.DARK), Light.DARK),
        ((Light.FLASHING_YELLOW, Light.YELLOW), Light.YELLOW),
        ((Light.GREEN, Light.FLASHING_YELLOW), Light.FLASHING_YELLOW),
        ((Light.GREEN, Light.UNKNOWN, Light.RED), Light.RED),
    ],
)
def test_of_two_states_of_a_light_the_one_that_forbids_more_counts_whichever_is_told_first(
    states: tuple[Light, ...], expected: Light
) -> None:
    for told in itertools.permutations(states):
        rows = np.array([(7, state, 1.0) for state in told], TRAFFIC_LIGHTS)
        assert read_lights(StampedRows(0.0, rows), 0.5)[0] == {7: expected}


def test_two_heads_of_a_light_that_show_the_same_are_nothing_to_tell_of() -> None:
    rows = np.array([(7, Light.RED, 1.0), (8, Light.GREEN, 1.0), (7, Light.RED, 0.9)], TRAFFIC_LIGHTS)
    assert read_lights(StampedRows(0.0, rows), 0.5) == ({7: Light.RED, 8: Light.GREEN}, ())


@pytest.mark.clause("INT-2")
def test_lights_of_which_a_table_says_nothing_stay_as_they_were_for_a_while() -> None:
    draw = np.random.default_rng(2)
    for _ in range(120):
        signals = draw.choice(9, 5, replace=False).tolist()
        seen = {signal: float(draw.choice([3.9, 4.0, 4.1, 6.0])) for signal in signals}
        before = LightStates({signal: Light(int(draw.integers(1, 7))) for signal in signals}, seen)
        rows = np.zeros(4, TRAFFIC_LIGHTS)
        rows["signal"], rows["state"], rows["confidence"] = draw.integers(0, 9, 4), draw.integers(0, 7, 4), 1.0
        # Of one the table is not sure: it is told, and so it is unknown.
        rows["confidence"][0] = 0.1
        table = StampedRows(6.5, rows)
        told, _ = read_lights(table, 0.5)
        now = remember_lights(told, table, before, 4.0)
        for signal in range(9):
            if signal in rows["signal"]:
                expected, when = told.get(signal), 6.5
            else:
                fresh = signal in seen and seen[signal] >= 4.0
                expected, when = (before.state[signal], seen[signal]) if fresh else (None, 0.0)
            assert now.state.get(signal) == expected
            assert now.seen.get(signal) == (None if expected is None else when)
        silent = remember_lights({}, None, before, 4.0)
        assert silent.seen == {signal: stamp for signal, stamp in seen.items() if stamp >= 4.0}
        assert silent.state == {signal: before.state[signal] for signal in silent.seen}


def test_every_parking_space_with_a_box_is_told() -> None:
    draw, names = np.random.default_rng(3), ("x", "y", "heading", "length", "width")
    for _ in range(150):
        rows = np.zeros(int(draw.integers(0, 5)), PARKING_SLOTS)
        for name in PARKING_SLOTS.names or ():
            rows[name] = draw.uniform(1.0, 9.0, len(rows))
        rows[rows.dtype.names[0]] = draw.permutation(len(rows))
        rows[rows.dtype.names[1]] = draw.integers(0, 3, len(rows))
        if len(rows) and draw.random() < 0.6:
            rows[draw.choice(names)][draw.integers(len(rows))] = draw.choice([math.nan, math.inf, 0.0, -1.0, 0.01])
        good = [
            row for row in rows
            if all(math.isfinite(row[name]) for name in names) and row["length"] > 0.0 and row["width"] > 0.0
        ]  # fmt: skip
        number, occupied = rows.dtype.names[:2]
        slots, faults = read_slots(StampedRows(0.0, rows))
        assert [slot.number for slot in slots] == [row[number] for row in good]
        assert [slot.occupied for slot in slots] == [row[occupied] > 0 for row in good]
        told = [[getattr(slot, name) for name in names] for slot in slots]
        assert told == [[float(row[name]) for name in names] for row in good]
        assert [fault.key for fault in faults] == ["parking_slots range"] * (len(good) < len(rows))
        if faults:
            first = next(row[number] for row in rows if row not in good)
            assert f"slot {first} first" in faults[0].text


def test_a_parking_space_is_where_the_mean_of_what_was_told_says_it_is() -> None:
    """After many tables an old one counts less and less; heading by heading the short way round."""
    draw, observed = np.random.default_rng(4), dict[int, ObservedSlot]()
    means = {number: np.array([30.0 * number, -7.0, 3.1]) for number in range(3)}
    counts = dict.fromkeys(range(3), 0)
    for k in range(130):
        told, latest = [], {}
        for number in range(3):
            if draw.random() < 0.8:
                off = draw.uniform(-0.9, 0.9, 3) * (1.0, 1.0, 0.1)
                x, y, heading = np.array([30.0 * number, -7.0, 3.1]) + off
                latest[number] = (x, y, heading)
                told.append(PerceivedSlot(number, bool(k % 2), x, y, float(wrap_angle(heading)), 5.0 + k, 2.5))
        slots, observed = remember_slots(tuple(told), 0.05 * k, observed, 0.05 * k - 3.0)
        assert [(slot.number, slot.occupied, slot.length) for slot in slots] == [
            (slot.number, slot.occupied, slot.length) for slot in told
        ]
        for slot in slots:
            counts[slot.number] = min(counts[slot.number] + 1, MOST_POSES)
            share = 1.0 / counts[slot.number]
            means[slot.number] = (1.0 - share) * means[slot.number] + share * np.array(latest[slot.number])
            assert (slot.x, slot.y) == pytest.approx(means[slot.number][:2])
            assert wrap_angle(slot.heading - means[slot.number][2]) == pytest.approx(0.0, abs=1e-9)
            assert observed[slot.number].poses == counts[slot.number]
    assert min(counts.values()) == MOST_POSES


@pytest.mark.clause("PRK-3")
def test_a_parking_space_lies_along_its_heading_told_either_way() -> None:
    observed = dict[int, ObservedSlot]()
    for k in range(30):
        heading = 1.5 + (math.pi if k % 3 == 1 else 0.0)
        told = PerceivedSlot(4, False, 3.0, 4.0, float(wrap_angle(heading)), 5.0, 2.5)
        (slot,), observed = remember_slots((told,), 0.05 * k, observed, 0.05 * k - 3.0)
        assert math.sin(slot.heading - 1.5) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.clause("SAF-3", "PRK-3")
@pytest.mark.parametrize("occupied", [(0, 1), (1, 0)])
def test_a_parking_space_that_is_told_twice_is_occupied_if_one_says_so(occupied: tuple[int, int]) -> None:
    rows = np.array([(4, each, 3.0, 4.0, 0.2, 5.0, 2.5) for each in occupied], PARKING_SLOTS)
    told, faults = read_slots(StampedRows(1.0, rows))
    assert [fault.key for fault in faults] == ["parking_slots twice"]
    (slot,), observed = remember_slots(told, 1.0, {}, -2.0)
    assert slot.occupied and observed[4].poses == 1
    first, second = (told[k : k + 1] for k in (0, 1))
    (slot,), _ = remember_slots(second, 1.0, remember_slots(first, 1.0, {}, -2.0)[1], -2.0)
    assert slot.occupied, "in two tables of one time"


@pytest.mark.parametrize(
    ("away", "age", "same"), [(1.9, 0.1, True), (2.1, 0.1, False), (0.0, 2.9, True), (0.0, 3.1, False)]
)
def test_a_parking_space_is_the_same_while_it_is_near_and_not_forgotten(away: float, age: float, same: bool) -> None:
    first = PerceivedSlot(4, False, 3.0, 4.0, 0.2, 5.0, 2.5)
    for x, y in ((away, 0.0), (0.0, -away), (0.6 * away, 0.8 * away)):
        _, observed = remember_slots((first,), 1.0, {}, -2.0)
        moved = PerceivedSlot(4, False, 3.0 + x, 4.0 + y, 0.2, 5.0, 2.5)
        (slot,), now = remember_slots((moved,), 1.0 + age, observed, 1.0 + age - 3.0)
        assert now[4].poses == (2 if same else 1)
        assert (slot.x, slot.y) == pytest.approx((3.0 + 0.5 * x, 4.0 + 0.5 * y) if same else (moved.x, moved.y))
        _, later = remember_slots((), 1.0 + age, observed, 1.0 + age - 3.0)
        assert (4 in later) == (age <= 3.0)


def test_lines_are_the_points_of_a_number_in_their_order_and_need_two() -> None:
    draw, several = np.random.default_rng(5), 0
    for _ in range(150):
        rows = np.zeros(int(draw.integers(1, 12)), LANE_LINES)
        rows["line"], rows["kind"] = draw.integers(0, 4, len(rows)), draw.choice([0, 1, 6, 7], len(rows))
        rows["x"], rows["y"] = draw.uniform(-9.0, 9.0, (2, len(rows)))
        while draw.random() < 0.4:
            name, value = ("x", math.nan) if draw.random() < 0.5 else ("kind", draw.integers(8, 200))
            rows[name if draw.random() < 0.7 or name == "kind" else "y"][draw.integers(len(rows))] = value
        good = [bool(np.isfinite(row["x"]) and np.isfinite(row["y"]) and row["kind"] <= 7) for row in rows]
        by_line: dict[int, list[int]] = {}
        for k in np.flatnonzero(good).tolist():
            by_line.setdefault(int(rows["line"][k]), []).append(k)
        expected = {number: at for number, at in sorted(by_line.items()) if len(at) >= 2}
        lines, faults = read_lines(StampedRows(0.0, rows))
        assert [line.number for line in lines] == list(expected)
        for line, at in zip(lines, expected.values(), strict=True):
            assert line.kind == rows["kind"][at[0]]
            np.testing.assert_array_equal(line.points, np.column_stack((rows["x"][at], rows["y"][at])))
        assert [fault.key for fault in faults] == ["lane_lines range"] * (not all(good))
        assert all(good) or f"line {rows['line'][good.index(False)]} first" in faults[0].text
        several += len(lines) > 1
    assert several > 30


def test_of_a_long_table_the_first_two_thousand_rows_are_looked_at() -> None:
    for many in (MOST_ROWS, MOST_ROWS + 1):
        rows = np.ones(many, TRAFFIC_LIGHTS)
        rows["signal"] = np.arange(many)
        lights, faults = read_lights(StampedRows(0.0, rows), 0.5)
        assert list(lights) == list(range(MOST_ROWS))
        assert [fault.key for fault in faults] == ["traffic_lights count"] * (many > MOST_ROWS)


def test_a_table_is_read_once_however_often_it_is_given() -> None:
    read: list[StampedRows | None] = []

    def count(table: StampedRows | None) -> int:
        read.append(table)
        return len(read)

    reader = TableReader(count)
    one, other = (StampedRows(1.0, np.zeros(0, PARKING_SLOTS)) for _ in range(2))
    assert [reader(table) for table in (None, one, one, other, other, one, None)] == [1, 2, 2, 3, 3, 4, 5]
    assert read == [None, one, other, one, None]

"""The engine against an independent model, and by hand where a number matters."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.machine.elements import Leaf, Priority, Region, Row
from tuling_fsm.machine.engine import Engine
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.machine.table import Table

TICK = 0.05
Flags = tuple[bool, ...]


def _flag(i: int) -> Callable[[Flags], bool]:
    def guard(flags: Flags) -> bool:
        return flags[i]

    guard.__name__ = f"flag_{i}"
    return guard


GUARDS = [_flag(i) for i in range(6)]
ROWS: tuple[Row[Flags], ...] = (
    Row("road/a", "road/b", GUARDS[0], Priority.PROGRESS, 0, clause="T-1", deadline=True),
    Row("road/a", "yard", GUARDS[1], Priority.FAILURE, 1, clause="T-2", dwell_s=0.1),
    Row("road/a", "road/b", GUARDS[2], Priority.FAILURE, 0, clause="T-3", dwell_s=0.2),
    Row("road/b", "road/a", GUARDS[3], Priority.MISSION, 0, clause="T-4", dwell_s=0.0, min_dwell_s=0.0, deadline=True),
    Row("road", "yard/q", GUARDS[4], Priority.SAFETY, 0, clause="T-5", dwell_s=0.0),
    Row("road", "road/a", GUARDS[5], Priority.MISSION, 1, clause="T-6", dwell_s=0.6),
    Row("yard/p", "road", GUARDS[0], Priority.PROGRESS, 0, clause="T-7", deadline=True),
    Row("yard/q", "road/b", GUARDS[1], Priority.PROGRESS, 0, clause="T-8", deadline=True),
)
TREE = (
    Region("road", "a", (Leaf("a", None), Leaf("b", None, min_dwell_s=0.25))),
    Region("yard", "p", (Leaf("p", None), Leaf("q", None, min_dwell_s=0.0))),
)
TABLE: Table[Flags, None] = Table("test", "road", TREE, ROWS)
MIN_DWELL = {"road/a": 0.5, "road/b": 0.25, "yard/p": 0.5, "yard/q": 0.0}
INITIALS = {"road": "road/a", "yard": "yard/p"}


def _engine(record: StateRecord[None] | None = None) -> Engine[Flags, None, None]:
    return Engine(TABLE, record or TABLE.start(None))


@dataclass
class Model:
    """DWELL-1, 2 and 4 written down a second time: it looks back over the whole history instead of keeping timers."""

    state: str = "road/a"
    entered: int = 0

    def fired(self, history: list[Flags]) -> Row[Flags] | None:
        """The row that fires on the last tick of the history, in whole ticks of 50 ms."""
        now = len(history) - 1
        matured = []
        for row in ROWS:
            composite = row.source != self.state
            if composite and not self.state.startswith(row.source + "/"):
                continue
            since = self._since(history, ROWS.index(row), composite)
            if since is None:
                continue
            minimum = MIN_DWELL[self.state] if row.min_dwell_s is None else row.min_dwell_s
            minimum = 0.0 if row.priority is Priority.SAFETY else minimum
            if now - since >= round(row.dwell_s / TICK) and now - self.entered >= round(minimum / TICK):
                matured.append(row)
        return min(matured, key=lambda row: (row.priority, row.order)) if matured else None

    def _since(self, history: list[Flags], row: int, composite: bool) -> int | None:
        guard = int(ROWS[row].guard.__name__[-1])
        since = None
        for tick in range(len(history) - 1, -1, -1):
            if not history[tick][guard] or tick < (self.composite_since[row] if composite else self.leaf_since):
                break
            since = tick
        return since

    def __post_init__(self) -> None:
        self.leaf_since = 0
        self.composite_since = dict.fromkeys(range(len(ROWS)), 0)

    def enter(self, row: Row[Flags], now: int) -> None:
        old = self.state
        self.state = INITIALS.get(row.dest, row.dest)
        self.entered = now
        self.leaf_since = now + 1
        for i, other in enumerate(ROWS):
            stays = old.startswith(other.source + "/") and self.state.startswith(other.source + "/")
            if other is row or not stays:
                self.composite_since[i] = now + 1


histories = st.lists(
    st.tuples(
        st.tuples(*[st.booleans()] * 4, st.integers(0, 9).map(lambda n: n == 0), st.booleans()), st.integers(1, 14)
    ),
    min_size=1,
    max_size=25,
).map(lambda runs: [flags for flags, ticks in runs for _ in range(ticks)])


@pytest.mark.clause("DWELL-1", "DWELL-2", "DWELL-4")
@settings(max_examples=150, deadline=None)
@given(histories)
@pytest.mark.medium
def test_the_engine_agrees_with_the_model(history: list[Flags]) -> None:
    engine, model = _engine(), Model()
    for i, flags in enumerate(history):
        engine.advance(10.0 + i * TICK)
        step = engine.step(flags)
        expected = model.fired(history[: i + 1])
        assert step.fired is expected
        if expected is not None:
            model.enter(expected, i)
        assert engine.record.path == model.state


@pytest.mark.clause("EST-2")
@settings(max_examples=80, deadline=None)
@given(histories, st.data())
@pytest.mark.medium
def test_a_freeze_changes_nothing_but_the_stamp(history: list[Flags], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(history) - 1))
    frozen_ticks = data.draw(st.integers(1, 40))
    plain, frozen = _engine(), _engine()
    stamp = 10.0
    for i, flags in enumerate(history):
        plain.advance(10.0 + i * TICK)
        expected = plain.step(flags)
        stamp += TICK
        frozen.advance(stamp)
        assert [p.dest for p in frozen.step(flags).pending] == [p.dest for p in expected.pending]
        if i == at:
            for _ in range(frozen_ticks):
                stamp += TICK
                assert frozen.freeze(stamp) == 0.0
            frozen = _engine(pickle.loads(pickle.dumps(frozen.record)))
        assert frozen.record.path == plain.record.path
        assert frozen.record.in_state_s == pytest.approx(plain.record.in_state_s, abs=1e-6)
        ours, theirs = dict(frozen.record.true_since), dict(plain.record.true_since)
        assert ours.keys() == theirs.keys()
        for key in ours:
            assert frozen.record.clock - ours[key] == pytest.approx(plain.record.clock - theirs[key], abs=1e-6)


def _run(engine: Engine[Flags, None, None], flags: Flags, start: float, ticks: int) -> list[str]:
    paths = []
    for i in range(ticks):
        engine.advance(start + i * TICK)
        engine.step(flags)
        paths.append(engine.record.path)
    return paths


def _only(*on: int) -> Flags:
    return tuple(i in on for i in range(6))


@pytest.mark.clause("DWELL-1")
def test_one_false_sample_starts_the_dwell_anew() -> None:
    engine = _engine()
    _run(engine, _only(), 0.0, 20)
    assert _run(engine, _only(0), 1.0, 6) == ["road/a"] * 6
    _run(engine, _only(), 1.3, 1)
    assert _run(engine, _only(0), 1.35, 6) == ["road/a"] * 6
    assert _run(engine, _only(0), 1.65, 1) == ["road/b"]


@pytest.mark.clause("DWELL-1", "DWELL-2")
def test_a_safety_row_fires_on_the_first_tick() -> None:
    assert _run(_engine(), _only(4), 0.0, 1) == ["yard/q"]


@pytest.mark.clause("DWELL-4")
def test_one_transition_a_tick_and_the_losers_are_named() -> None:
    engine = _engine()
    for i in range(11):
        engine.advance(i * TICK)
        step = engine.step(_only(0, 1, 2))
    assert step.fired is ROWS[2]
    assert [row.dest for row in step.rejected] == ["yard", "road/b"]
    assert engine.record.path == "road/b"


@pytest.mark.clause("EXPL-1")
def test_pending_rows_tell_how_far_their_dwell_has_come() -> None:
    engine = _engine()
    _run(engine, _only(5), 0.0, 2)
    engine.advance(0.10)
    (pending,) = engine.step(_only(5)).pending
    assert (pending.dest, pending.guard, pending.clause, pending.dwell_s) == ("road/a", "flag_5", "T-6", 0.6)
    assert pending.held_s == pytest.approx(0.1)
    assert pending.remaining_s == pytest.approx(0.5)


@pytest.mark.clause("DWELL-5")
@pytest.mark.parametrize("jump", [-3.0, 1.5])
def test_a_jump_of_time_resets_dwell_is_told_and_fires_nothing(jump: float) -> None:
    engine = _engine()
    _run(engine, _only(), 0.0, 20)
    _run(engine, _only(0), 1.0, 5)
    in_state = engine.record.in_state_s
    stamp = 1.2 + jump
    assert engine.advance(stamp) == pytest.approx(jump)
    assert engine.step(_only(0)).fired is None
    assert engine.record.in_state_s == in_state
    assert _run(engine, _only(0), stamp + TICK, 5) == ["road/a"] * 5
    assert _run(engine, _only(0), stamp + 6 * TICK, 1) == ["road/b"]


@pytest.mark.clause("DWELL-5")
def test_ticks_that_are_the_longest_step_apart_are_no_jumps_for_all_rounding_of_their_stamps() -> None:
    engine: Engine[Flags, None, None] = Engine(TABLE, TABLE.start(None), max_gap_s=0.1)
    assert [engine.advance(tick / 10) for tick in range(100)] == [0.0] * 100
    assert engine.record.clock == pytest.approx(9.9)
    assert engine.advance(9.9 + 0.1001) == pytest.approx(0.1001)


@pytest.mark.clause("DWELL-5")
def test_a_jump_while_frozen_resets_dwell_too() -> None:
    engine = _engine()
    _run(engine, _only(5), 0.0, 3)
    assert engine.freeze(-5.0) == pytest.approx(-5.1)
    assert engine.record.true_since == ()


def test_an_unreadable_stamp_is_a_jump_and_the_next_one_is_taken() -> None:
    engine = _engine()
    _run(engine, _only(), 0.0, 3)
    assert engine.advance(float("nan")) != 0.0
    engine.advance(1.0)
    engine.advance(1.0 + TICK)
    assert engine.record.clock == pytest.approx(0.1 + TICK)


def test_a_composite_is_entered_at_its_initial_leaf() -> None:
    engine = _engine()
    _run(engine, _only(), 0.0, 10)
    assert _run(engine, _only(1), 0.5, 3)[-1] == "yard/p"


def test_a_record_of_another_table_is_refused() -> None:
    with pytest.raises(InputError, match=r"record of test: unknown state 'nowhere'"):
        _engine(StateRecord("nowhere", None))


def test_remembering_replaces_the_memory_and_nothing_else() -> None:
    engine: Engine[Flags, None, str | None] = Engine(TABLE, TABLE.start(None))
    before = engine.record
    engine.remember("something")
    assert engine.record.memory == "something"
    assert (engine.record.path, engine.record.clock, engine.record.stamp) == (before.path, before.clock, before.stamp)


@pytest.mark.clause("DWELL-1")
def test_a_row_that_has_fired_has_to_hold_for_its_whole_dwell_again() -> None:
    engine, fired = _engine(), []
    for tick in range(60):
        engine.advance(tick * TICK)
        if engine.step((False, False, False, False, False, True)).fired is not None:
            fired.append(tick)
    assert [later - earlier for earlier, later in itertools.pairwise(fired)] == [13, 13, 13]

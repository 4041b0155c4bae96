"""Every configuration of every machine that can be reached, with every input: no trap, no doubt, no endless round."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.machine.elements import Leaf, Priority, Region, Row
from tuling_fsm.machine.table import Table

from .flagged import HIERARCHY, MACHINES, FlaggedRow, FlaggedTable, Holding
from .holding import HOLDING
from .model import FREEZE, Checker, Config, CounterexampleError, Edge, subsets
from .oracle import landing, ready, rows_out_of, winner

REST = {HIERARCHY: (states.NORMAL, states.PARKED), "emergency_stop": ("armed",)}
"""Where all is well; for any other supervisor its initial state."""


STRENGTH = 2
"""Guards that hold at once; all but one and all of them are tried besides. Any number: see the slow test."""


@pytest.fixture(scope="module")
def checkers() -> dict[str, Checker]:
    """A checker of every machine that has been everywhere, and found every tick as contracted."""
    checkers = {}
    for name, machine in MACHINES.items():
        checkers[name] = checker = Checker(machine, STRENGTH)
        checker.explore(checker.start(), functools.partial(_as_contracted, checker))
    return checkers


def _as_contracted(checker: Checker, edge: Edge) -> str | None:
    """DWELL-1, 2, 4 and EST-2 for one tick: what fires, where it leads, and what becomes of every timer."""
    machine, before = checker.machine, edge.before
    rows = _rows_out_of(checker, before.path)
    if edge.holding is FREEZE:
        return None if edge.after == before else "a frozen machine has moved"
    held = dict(before.held)
    holding = {row.key: held.get(row.key, 0) for row in rows if row.guard_name in edge.holding}
    matured = [row for row in rows
               if row.key in holding and ready(machine, before.path, row, holding[row.key], before.age)]  # fmt: skip
    expected = winner(machine, before.path, matured)
    if edge.fired is not expected:
        return f"{expected and expected.key} should have fired"
    kept, path, age = holding, before.path, before.age
    if expected is not None:
        path, age = landing(machine, expected.dest), 0
        outer = _rows_around(checker, before.path, path)
        kept = {key: ticks for key, ticks in holding.items() if key in outer and key != expected.key}
    on = sorted((key, min(checker.cap, ticks + 1)) for key, ticks in kept.items())
    wanted = Config(path, min(checker.cap, age + 1), tuple(on))
    return None if edge.after == wanted else f"it should have become {wanted}, not {edge.after}"


@functools.cache
def _rows_around(checker: Checker, path: str, other: str) -> frozenset[str]:
    """Keys of the rows of the composites around both leaves."""
    around = (row for row in checker.machine.rows if all(leaf.startswith(row.source + "/") for leaf in (path, other)))
    return frozenset(row.key for row in around)


@functools.cache
def _rows_out_of(checker: Checker, path: str) -> tuple[FlaggedRow, ...]:
    return rows_out_of(checker.machine, path)


@pytest.mark.clause("DWELL-1", "DWELL-2", "DWELL-4", "EST-2")
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.medium
def test_in_every_configuration_every_tick_is_as_contracted(name: str, checkers: dict[str, Checker]) -> None:
    checker = checkers[name]
    assert {config.path for config in checker.came_by} == {
        path for path, leaf in checker.machine.leaves.items() if leaf.enabled
    }


@pytest.mark.slow
@pytest.mark.clause("DWELL-1", "DWELL-2", "DWELL-4", "EST-2")
@pytest.mark.parametrize("name", MACHINES)
def test_with_any_number_of_guards_at_once(name: str) -> None:
    checker = Checker(MACHINES[name])
    checker.explore(checker.start(), functools.partial(_as_contracted, checker))


@pytest.mark.clause("USE-2", "SAF-4")
@pytest.mark.parametrize("name", MACHINES)
def test_there_is_a_way_to_rest_from_every_configuration(name: str, checkers: dict[str, Checker]) -> None:
    checker = checkers[name]
    rest = REST.get(name, (checker.start().path,))
    safe = {config for config in checker.came_by if config.path in rest}
    frontier = list(safe)
    while frontier:
        new = checker.ways.get(frontier.pop(), set()) - safe
        safe |= new
        frontier += new
    trapped = sorted(set(checker.came_by) - safe, key=lambda config: len(checker.way_to(config)))
    if trapped:
        raise CounterexampleError(f"no way from {trapped[0]} to {rest}", checker.way_to(trapped[0]))


def _with_deadline(machine: FlaggedTable, path: str) -> Iterator[Holding]:
    """All inputs in which a deadline of the state has passed; a row back to itself is a new beginning, and left out."""
    rows = rows_out_of(machine, path)
    again = {row.guard_name for row in rows if landing(machine, row.dest) == path}
    deadlines = {row.guard_name for row in rows if row.deadline}
    others = {row.guard_name for row in rows} - again - deadlines
    for deadline in sorted(deadlines):
        for more in subsets(others, STRENGTH):
            yield more | {deadline}


@pytest.mark.clause("USE-2", "SAF-4")
@pytest.mark.medium
def test_when_its_deadline_has_passed_every_state_is_left_whatever_else_holds(checkers: dict[str, Checker]) -> None:
    checker = checkers[HIERARCHY]
    machine = checker.machine
    inputs = {path: list(_with_deadline(machine, path)) for path in machine.leaves}
    moving = [config for config in sorted(checker.came_by, key=str) if inputs[config.path]]
    assert {config.path for config in moving} >= {
        path for path, leaf in machine.leaves.items() if leaf.enabled and not leaf.terminal and leaf.retry_s is None
    }
    for config, stay in checker.longest_stays(moving, inputs.__getitem__):
        if stay[-1].fired is None:
            raise CounterexampleError(f"{config.path} goes on for ever", stay)
        assert len(stay) <= 2 * checker.cap + 1


NORMAL_DRIVING = (states.NORMAL, states.SAFE_DRIVING, states.SLOT_SEARCH)
"""USE-2: driving along the route; each has a no-progress deadline."""
STANDING = ("not_localized", "attempts_exhausted", "no_path", "no_progress", "no_way_round", "nothing_blocked")
"""Guards that hold only where the car stands and says why: the request is a `Hold`, or its plan has failed."""
BOUNDED = ("way_to_route", "route_switched", "junction_over")
"""Guards that hold only so often, which a table can't tell: it is the behaviour that counts. `test_adversary` drives it
round each of these cycles as often as it lets itself be driven, and sees it come to its end.
"""


@pytest.mark.clause("SAF-4")
def test_nothing_goes_round_for_ever_without_normal_driving_or_a_reported_standstill() -> None:
    machine = MACHINES[HIERARCHY]
    waits = {path for path, leaf in machine.leaves.items() if leaf.terminal or leaf.retry_s is not None} | {*HOLDING}
    ways = {
        path: [row for row in rows_out_of(machine, path)
               if row.guard_name not in (*STANDING, *BOUNDED) and landing(machine, row.dest) != path]
        for path in machine.leaves
        if path not in waits and path not in NORMAL_DRIVING
    }  # fmt: skip
    for path in ways:
        round_trip = _round_trip(machine, ways, path)
        if round_trip:
            edges = [Edge(Config(row.source, 0, ()), frozenset((row.guard_name,)), row, Config(row.dest, 0, ()))
                     for row in round_trip]  # fmt: skip
            raise CounterexampleError("round and round", edges)


def _round_trip(machine: FlaggedTable, ways: dict[str, list[Row[Holding]]], start: str) -> list[Row[Holding]]:
    """Rows that lead from a state back to it, or none."""
    came_by: dict[str, list[Row[Holding]]] = {start: []}
    queue = [start]
    while queue:
        path = queue.pop(0)
        for row in ways.get(path, ()):
            dest = landing(machine, row.dest)
            if dest == start:
                return [*came_by[path], row]
            if dest not in came_by:
                came_by[dest] = [*came_by[path], row]
                queue.append(dest)
    return []


class TestOfTheCheckerItself:
    """It finds what is planted."""

    @staticmethod
    def _machine() -> FlaggedTable:
        def guard(name: str) -> Callable[[Holding], bool]:
            def hold(holding: Holding) -> bool:
                return name in holding

            hold.__name__ = name
            return hold

        rows = (("a", "b", "late", 0, 0.3), ("b/c", "b/d", "on", 0, 0.0), ("b/d", "a", "back", 1, 0.0))
        leaves = (Leaf("a", None), Region("b", "c", (Leaf("c", None), Leaf("d", None))))
        made = tuple(Row(source, dest, guard(name), Priority.FAILURE, order,
                         clause="T-1", dwell_s=dwell, deadline=True)
                     for source, dest, name, order, dwell in rows)  # fmt: skip
        return Table("planted", "a", leaves, made)

    def test_a_deadline_that_another_row_keeps_from_maturing_is_found(self) -> None:
        checker = Checker(self._machine())

        def flickering(path: str) -> list[Holding]:
            return [frozenset(("late",)), frozenset()]

        stay = checker.longest_stay(checker.start(), flickering)
        assert stay[-1].fired is None, "a guard that flickers keeps the state for ever"
        assert checker.longest_stay(checker.start(), lambda path: [frozenset(("late",))])[-1].fired is not None

    def test_the_counterexample_is_the_shortest_and_a_table(self) -> None:
        checker = Checker(self._machine())
        with pytest.raises(CounterexampleError) as caught:
            checker.explore(checker.start(), lambda edge: "reached" if edge.after.path == "b/d" else None)
        lines = str(caught.value).splitlines()
        assert lines[0] == "reached"
        assert lines[1].split() == ["tick", "state", "age", "guards", "that", "hold", "fires"]
        assert [line.split()[1] for line in lines[2:]] == ["a", "a", "a", "b/c", "b/c"]
        assert lines[-1].split()[-2:] == ["b/d", "[T-1]"]

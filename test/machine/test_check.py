"""Every kind of bad table is refused with a line that names it."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.machine.elements import Leaf, Priority, Region, Row
from tuling_fsm.machine.table import Table

Parts = dict[str, Any]


def yes(_: object) -> bool:
    return True


def no(_: object) -> bool:
    return False


TO_B: Row[object] = Row("r/a", "r/b", yes, Priority.PROGRESS, 0, clause="T-1", deadline=True)
TO_A: Row[object] = Row("r/b", "r/a", no, Priority.PROGRESS, 0, clause="T-2", deadline=True)
A, B = Leaf("a", None), Leaf("b", None)


def _parts() -> Parts:
    return {"name": "t", "initial": "r", "children": (Region("r", "a", (A, B)),), "rows": (TO_B, TO_A)}


def _rows(*rows: Row[object]) -> Parts:
    return {"rows": rows}


def _leaves(*leaves: Leaf[None], rows: tuple[Row[object], ...] = (TO_B, TO_A)) -> Parts:
    return {"children": (Region("r", "a", leaves),), "rows": rows}


def _changed(row: Row[object], **fields: Any) -> Row[object]:
    return dataclasses.replace(row, **fields)


BAD = {
    "unknown source": (_rows(TO_B, TO_A, _changed(TO_A, source="r/x")), "unknown state 'r/x'"),
    "unknown dest": (_rows(TO_B, _changed(TO_A, dest="a")), "unknown state 'a'"),
    "lambda guard": (_rows(TO_B, _changed(TO_A, guard=lambda _: True)), "unknown guard"),
    "nameless guard": (_rows(TO_B, _changed(TO_A, guard=partial(yes))), "unknown guard"),
    "guard by name": (_rows(TO_B, _changed(TO_A, guard="no")), "unknown guard"),
    "no clause": (_rows(TO_B, _changed(TO_A, clause="")), "no clause"),
    "negative dwell": (_rows(TO_B, _changed(TO_A, dwell_s=-0.1)), "dwell_s is -0.1"),
    "endless dwell": (_rows(TO_B, _changed(TO_A, dwell_s=float("inf"))), "dwell_s is inf"),
    "safety with dwell": (_rows(TO_B, _changed(TO_A, priority=Priority.SAFETY)), "on a safety row"),
    "same order": (_rows(TO_B, TO_A, _changed(TO_B, guard=no)), "same priority and order as r/a > r/b : yes"),
    "same order above": (_rows(TO_B, TO_A, _changed(TO_B, source="r", guard=no)), "same priority and order"),
    "same row twice": (_rows(TO_B, TO_A, _changed(TO_B, order=1)), "declared twice"),
    "unreachable": (_leaves(A, B, Leaf("c", None)), "t/r/c: cannot be reached"),
    "no exit": (_rows(TO_B), "t/r/b: no exit"),
    "no exit but itself": (_rows(TO_B, _changed(TO_A, dest="r/b")), "t/r/b: no exit"),
    "no deadline": (_rows(TO_B, _changed(TO_A, deadline=False)), "t/r/b: no deadline"),
    "negative minimum": (_leaves(A, Leaf("b", None, min_dwell_s=-1.0)), "min_dwell_s is -1.0"),
    "unreadable retry": (_leaves(A, Leaf("b", None, retry_s=float("nan"))), "retry_s is nan"),
    "separator in a name": (_leaves(A, B, Leaf("c/d", None)), "bad state name 'c/d'"),
    "name twice": (_leaves(A, B, B), "declared twice"),
    "unknown initial": ({"initial": "s"}, "t: no initial state 's'"),
    "composite without initial": ({"children": (Region("r", "", (A, B)),)}, "t/r: no initial state ''"),
    "disabled initial": (_leaves(Leaf("a", None, enabled=False), B), "initial state r/a is disabled"),
    "exit only to a disabled state": (_leaves(A, Leaf("b", None, enabled=False)), "t/r/a: no exit"),
    "unknown rest": ({"rest": ("r/x",)}, "unknown state of rest 'r/x'"),
}


@pytest.mark.clause("USE-2")
@pytest.mark.parametrize("kind", sorted(BAD))
def test_a_bad_table_is_refused(kind: str) -> None:
    changed, message = BAD[kind]
    with pytest.raises(InputError) as error:
        Table(**(_parts() | changed))
    assert message in str(error.value)


@pytest.mark.clause("USE-2")
def test_states_that_lead_only_to_one_another_are_a_trap() -> None:
    c, d = Leaf("c", None), Leaf("d", None)
    rows = (
        TO_B,
        TO_A,
        Row("r/a", "r/c", no, Priority.FAILURE, 0, clause="T-3"),
        Row("r/c", "r/d", no, Priority.FAILURE, 0, clause="T-4", deadline=True),
        Row("r/d", "r/c", yes, Priority.FAILURE, 0, clause="T-5", deadline=True),
    )
    with pytest.raises(InputError, match="t/r/c: a trap"):
        Table(**(_parts() | _leaves(A, B, c, d, rows=rows) | {"rest": ("r/b",)}))


@pytest.mark.clause("USE-2")
def test_two_guards_of_one_name_are_refused() -> None:
    def other(_: object) -> bool:
        return False

    other.__name__ = "yes"
    with pytest.raises(InputError, match="two guards have this name"):
        Table(**(_parts() | _rows(TO_B, _changed(TO_A, guard=other))))


@pytest.mark.clause("USE-2")
def test_terminal_waiting_and_disabled_states_need_less() -> None:
    rows = (_changed(TO_B, deadline=False), Row("r/c", "r/a", no, Priority.MISSION, 0, clause="T-3"))
    leaves = (Leaf("a", None, retry_s=5.0), Leaf("b", None, terminal=True), Leaf("c", None, enabled=False))
    table = Table(**(_parts() | _leaves(*leaves, rows=rows)))
    assert set(table.rows_from["r/a"]) == {rows[0]}
    assert table.rows_from["r/c"] == ()


def test_a_good_table_resolves_composites_and_orders_rows() -> None:
    urgent = Row("r", "r/a", no, Priority.SAFETY, 0, clause="T-3", dwell_s=0.0)
    table: Table[object, None] = Table(**(_parts() | _rows(TO_B, TO_A, urgent)))
    assert table.resolve("r") == "r/a"
    assert table.rows_from["r/b"] == (urgent, TO_A)

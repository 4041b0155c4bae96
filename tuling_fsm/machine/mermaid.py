"""Draws a table as a Mermaid state diagram, which GitHub and most Markdown viewers render."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tuling_fsm.core.errors import assert_never
from tuling_fsm.machine.elements import SEPARATOR, Leaf, Region, Row
from tuling_fsm.machine.table import Table


def mermaid(table: Table[Any, Any]) -> str:
    """The diagram's text: every state nested, every row with guard, dwell, priority and clause, supervisors beside."""
    lines = [
        "stateDiagram-v2",
        f"    [*] --> {_id(table.initial)}",
        *_states(table.children, "", 1),
        *_rows(table.rows, "", 1),
    ]
    for supervisor in table.beside:
        prefix = supervisor.name + SEPARATOR
        lines += [
            f"    state {supervisor.name} {{",
            f"        [*] --> {_id(prefix + supervisor.initial)}",
            *_states(supervisor.children, prefix, 2),
            *_rows(supervisor.rows, prefix, 2),
            "    }",
        ]
    return "\n".join(lines) + "\n"


def mermaid_composites(table: Table[Any, Any]) -> str:
    """A small diagram: the outermost states only, and which of them leads to which; supervisors beside, by name."""
    outermost = [child.name for child in table.children if table.leaves[table.resolve(child.name)].enabled]
    pairs = dict.fromkeys((_outermost(row.source), _outermost(row.dest)) for row in table.rows)
    lines = [
        "stateDiagram-v2",
        f"    [*] --> {_outermost(table.initial)}",
        *(f"    {name}" for name in (*outermost, *(supervisor.name for supervisor in table.beside))),
        *(f"    {source} --> {dest}" for source, dest in pairs if source != dest),
    ]
    return "\n".join(lines) + "\n"


def _outermost(path: str) -> str:
    return path.partition(SEPARATOR)[0]


def _id(path: str) -> str:
    return path.replace(SEPARATOR, "__")


def _states(children: Sequence[Leaf[Any] | Region[Any]], prefix: str, depth: int) -> Iterator[str]:
    pad = "    " * depth
    for child in children:
        path = prefix + child.name
        match child:
            case Region():
                yield f'{pad}state "{child.name}" as {_id(path)} {{'
                yield f"{pad}    [*] --> {_id(path + SEPARATOR + child.initial)}"
                yield from _states(child.children, path + SEPARATOR, depth + 1)
                yield f"{pad}}}"
            case Leaf():
                note = "" if child.enabled else " (disabled)"
                yield f'{pad}state "{child.name}{note}" as {_id(path)}'
                if child.terminal:
                    yield f"{pad}{_id(path)} --> [*]"
            case _:
                assert_never(child)


def _rows(rows: Sequence[Row[Any]], prefix: str, depth: int) -> Iterator[str]:
    pad = "    " * depth
    for row in rows:
        label = f"{row.guard_name} {row.dwell_s:g} s, {row.priority.name.lower()} {row.order} [{row.clause}]"
        yield f"{pad}{_id(prefix + row.source)} --> {_id(prefix + row.dest)} : {label}"

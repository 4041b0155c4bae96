"""What stands between marks on pages and comes from the code: states and rows, and which actor has which action.

cd test && python -m architecture.marked writes it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tuling_fsm.behaviour import table
from tuling_fsm.machine.mermaid import mermaid_composites
from tuling_fsm.output_file import put_between_marks
from tuling_fsm.sim.scenario.actions import ACTIONS

ROOT = Path(__file__).resolve().parents[2]


def _composites() -> str:
    return f"```mermaid\n{mermaid_composites(table())}```\n"


def _rows() -> str:
    """Every row by the state that it leaves, in the order in which rows win; a composite's own come last."""
    hierarchy = table()
    lines = ["| from | to | guard | holds for | class | clause |", "|---|---|---|---|---|---|"]
    for machine in (hierarchy, *hierarchy.beside):
        prefix = "" if machine is hierarchy else f"{machine.name}/"
        sources = dict.fromkeys(sorted((row.source for row in machine.rows), key=list(machine.states).index))
        for source in sources:
            for row in sorted((row for row in machine.rows if row.source == source), key=lambda row: row.rank):
                lines.append(
                    f"| `{prefix}{source}` | `{prefix}{row.dest}` | `{row.guard_name}` | {row.dwell_s:g} s "
                    f"| {row.priority.name.lower()} | {row.clause} |"
                )
    return "\n".join(lines) + "\n"


def _actions() -> str:
    rows = ((f"`{kind}`", ", ".join(f"`{name}`" for name in sorted(own)) or "none") for kind, own in ACTIONS.items())
    lines = (("kind of actor", "understands"), ("---", "---"), *rows)
    return "".join(f"| {first} | {second} |\n" for first, second in lines).replace("| --- | --- |", "|---|---|")


MARKED: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "docs/states.md": {"composites": _composites, "rows": _rows},
    "docs/scenarios.md": {"understood": _actions},
}
"""By page: the marks around it, and what has to stand there."""


def written(page: str) -> str:
    """A page as it has to be."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for mark, make in MARKED[page].items():
        text = put_between_marks(text, mark, make(), page)
    return text


if __name__ == "__main__":
    for name in MARKED:
        (ROOT / name).write_text(written(name), encoding="utf-8")

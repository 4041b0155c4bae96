"""What stands between marks on pages and comes from the code: the diagram, and which actor has which action.

cd test && python -m architecture.marked writes it anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tuling_fsm.behaviour import table
from tuling_fsm.machine.mermaid import mermaid
from tuling_fsm.sim.scenario.actions import ACTIONS

ROOT = Path(__file__).resolve().parents[2]


def _diagram() -> str:
    return f"```mermaid\n{mermaid(table())}```\n"


def _actions() -> str:
    rows = ((f"`{kind}`", ", ".join(f"`{name}`" for name in sorted(own)) or "none") for kind, own in ACTIONS.items())
    lines = (("kind of actor", "understands"), ("---", "---"), *rows)
    return "".join(f"| {first} | {second} |\n" for first, second in lines).replace("| --- | --- |", "|---|---|")


MARKED: Mapping[str, tuple[str, Callable[[], str]]] = {
    "docs/states.md": ("diagram", _diagram),
    "docs/scenarios.md": ("understood", _actions),
}
"""By page: the mark around it, and what has to stand there."""


def written(page: str) -> str:
    """A page as it has to be."""
    mark, make = MARKED[page]
    text = (ROOT / page).read_text(encoding="utf-8")
    around = re.compile(rf"(?<=<!-- {mark} -->\n).*?(?=<!-- /{mark} -->)", re.DOTALL)
    text, count = around.subn(lambda _: make(), text)
    assert count == 1, f"{page}: {count} marks {mark!r}"
    return text


if __name__ == "__main__":
    for name in MARKED:
        (ROOT / name).write_text(written(name), encoding="utf-8")

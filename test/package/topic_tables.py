"""The tables of the documentation that say what `core.topics` says. As a program it writes them anew."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tuling_fsm.core.topics import INPUTS, OUTPUTS, Topic

DOCS = Path(__file__).resolve().parents[2] / "docs"


def code(word: str) -> str:
    return f"`{word}`" if word else ""


def row(cells: Iterable[str]) -> str:
    return "|" + "".join(f" {cell} |".replace("  |", " |") for cell in cells) + "\n"


def table(*lines: Iterable[str]) -> str:
    heading, *rows = map(tuple, lines)
    return row(heading) + "|" + "---|" * len(heading) + "\n" + "".join(map(row, rows))


def directions() -> str:
    """Of every topic how it is sent."""
    rows = (
        (code(each.name), way, str(each.qos), code(each.frame), code(each.max_age))
        for way, topics in (("in", INPUTS), ("out", OUTPUTS))
        for each in topics
    )
    return table(("topic", "direction", "quality of service", "`frame_id`", "too old after"), *rows)


def connections() -> str:
    """Of every topic what is connected to it, the inputs with what drives the ticks first."""
    rows = ((code(each.name), code(each.type), str(each.qos), each.doc) for each in (*reversed(INPUTS), *OUTPUTS))
    return table(("topic", "type", "quality of service", "from or to"), *rows)


def columns(topic: Topic) -> str:
    """Of a table."""
    rows = ((code(each.name), code(each.type), each.doc) for each in topic.columns)
    return table((f"column of {code(topic.name)}", "type", "what it is"), *rows)


TABLES = {
    "messages.md": (directions(), *(columns(topic) for topic in INPUTS if topic.columns)),
    "vehicle.md": (connections(),),
}
"""By page; a table is the one on it with the same first two headings."""


def written(page: str) -> str:
    """A page with its tables as they have to be."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for new in TABLES[page]:
        start = " | ".join(new.split(" | ")[:2])
        text, count = re.subn(rf"^{re.escape(start)} \|.*\n(?:\|.*\n)+", lambda _, new=new: new, text, flags=re.M)
        assert count == 1, f"{page}: {count} tables that begin with {start}"
    return text


if __name__ == "__main__":
    for name in TABLES:
        (DOCS / name).write_text(written(name), encoding="utf-8")

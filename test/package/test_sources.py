"""Docstrings point to their sources by keys, and every key is an entry of docs/bibliography.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
BUILT_ON, _, READ = PAGE.partition("## Read, and not built on")
KEY = re.compile(r"^### (.+)$", re.MULTILINE)
CITED = re.compile(r"\[(\w+)\]\[\]")
LOOSE = re.compile(r"\bet al\b|arXiv|\bdoi\b")
"""How a source is named that has no key."""
FILES = sorted((ROOT / "tuling_fsm").rglob("*.py"))


def cited(text: str) -> set[str]:
    """Those in docstrings and comments; no code is written like that."""
    return set(CITED.findall(text))


def test_every_key_that_is_cited_is_an_entry_and_every_entry_is_of_use() -> None:
    used = set[str]().union(*(cited(file.read_text(encoding="utf-8")) for file in FILES))
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name != "bibliography.md"]
    used |= {key for page in pages for key in re.findall(r"bibliography\.md#(\w+)", page.read_text(encoding="utf-8"))}
    entries = set(KEY.findall(BUILT_ON))
    assert len(entries) > 25
    assert used - entries - set(KEY.findall(READ)) == set(), "cited, and no entry"
    assert entries - used == set(), "an entry that nothing points to"


def test_keys_are_unique_and_anchors_as_they_stand() -> None:
    keys = KEY.findall(PAGE)
    assert len(keys) == len(set(keys))
    assert [key for key in keys if not re.fullmatch(r"[a-z0-9]+", key)] == []


def test_no_source_is_named_without_its_key() -> None:
    loose = {file.name: found for file in FILES if (found := LOOSE.findall(file.read_text(encoding="utf-8")))}
    assert loose == {}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('"""Offsets ([werling2010][])."""', {"werling2010"}),
        ("x = y[k][0]", set()),
        ('X = 1\n"""[a][], [b][]."""', {"a", "b"}),
    ],
)
def test_a_citation_is_seen(text: str, keys: set[str]) -> None:
    assert cited(text) == keys

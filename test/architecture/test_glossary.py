"""docs/glossary.md and the names of the public classes agree: no word that is not explained or plain, no name twice."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import tuling_fsm

PACKAGE = Path(tuling_fsm.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS, _, PLAIN = PAGE.partition("## Plain words")
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
PUBLIC_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("s", ""))


@cache
def _classes() -> tuple[str, ...]:
    texts = (file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py")))
    return tuple(name for text in texts for name in PUBLIC_CLASS.findall(text))


def _singular(word: str) -> str:
    word = word.lower()
    for ending, instead in ENDINGS:
        if word.endswith(ending) and not word.endswith(("ss", "us")) and len(word) > 3:
            return word[: -len(ending)] + instead
    return word


def _words(text: str) -> set[str]:
    return {_singular(word) for word in WORD.findall(text)}


def _explained() -> set[str]:
    rows = [line.split("|")[1] for line in TERMS.splitlines() if line.startswith("| ")]
    return set[str]().union(*map(_words, rows))


def test_every_word_of_a_public_class_is_a_term_or_plain() -> None:
    known = _explained() | _words(PLAIN)
    strange = {name: sorted(_words(name) - known) for name in _classes() if _words(name) - known}
    assert not strange, "words of the field, with their source, belong into docs/glossary.md"


def test_no_plain_word_is_a_term_or_unused() -> None:
    used = set[str]().union(*map(_words, _classes()))
    assert not _words(PLAIN) & _explained()
    assert not _words(PLAIN) - used


def test_one_name_means_one_thing() -> None:
    assert [name for name, count in Counter(_classes()).items() if count > 1] == []

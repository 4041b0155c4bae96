"""Both READMEs say the same: short, each with a link to the other, the same commands and the same pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGLISH, CHINESE = "README.md", "README.zh-CN.md"
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in (ENGLISH, CHINESE)}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_LINES = 150


def commands(text: str) -> list[str]:
    """Every command of the blocks, without what is said of it, in their order; and every line of code."""
    lines = [line.split(" #")[0].rstrip() for _, body in FENCE.findall(text) for line in body.splitlines()]
    return [line for line in lines if line]


def within(text: str) -> set[str]:
    """Commands and files that are named in a sentence."""
    return {span for span in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)) if span.isascii()}


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_short(name: str) -> None:
    assert len(TEXTS[name].splitlines()) <= MOST_LINES


def test_each_links_the_other() -> None:
    assert f"]({CHINESE})" in TEXTS[ENGLISH]
    assert f"]({ENGLISH})" in TEXTS[CHINESE]


def test_they_name_the_same_commands() -> None:
    english = commands(TEXTS[ENGLISH])
    assert english == commands(TEXTS[CHINESE])
    assert {"make demo", "make test", "tuling-fsm diagram"} <= set(english)
    assert within(TEXTS[ENGLISH]) == within(TEXTS[CHINESE])


def test_they_lead_to_the_same_pages() -> None:
    links = {name: re.findall(r"\]\(([^)]+)\)", text) for name, text in TEXTS.items()}
    assert sorted({*links[ENGLISH]} - {CHINESE}) == sorted({*links[CHINESE]} - {ENGLISH})


@pytest.mark.slow
def test_the_lines_of_python_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    (code,) = (body for language, body in FENCE.findall(TEXTS[ENGLISH]) if language == "python")
    exec(compile(code, ENGLISH, "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("goal ")
    assert "a red light" in said

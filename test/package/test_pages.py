"""Every page of the project: its links lead somewhere, its commands are ones that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tuling_fsm.cli import command_line

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("README*.md"),
        ROOT / "CONTRIBUTING.md",
        ROOT / "benchmark" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """What the headings of a page are linked as."""
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", text(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def commands() -> list[str]:
    """Lines of the command line, in blocks and within the text."""
    lines = [line for page in PAGES for block in FENCE.findall(text(page)) for line in block.splitlines()]
    within = [span for page in PAGES for span in re.findall(r"`(tuling-fsm [^`\n]+)`", FENCE.sub("", text(page)))]
    return [re.split(r" +#| > ", line)[0] for line in (*lines, *within) if line.startswith("tuling-fsm ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", FENCE.sub("", text(page))):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_every_command_is_understood(line: str) -> None:
    """Whether it does what is said of it is tested where that can be."""
    _, *arguments = shlex.split(re.sub(r"\[(\w+)\]", r"\1", line))
    assert callable(command_line().parse_args(arguments).verb)


def test_every_target_of_make_that_is_named_is_there() -> None:
    named = {name for page in PAGES for name in re.findall(r"(?:`|^)make ([\w-]+)", text(page), re.MULTILINE)}
    assert {"demo", "test", "check", "install"} <= named <= TARGETS


def test_every_picture_is_shown() -> None:
    shown = {image for page in PAGES for image in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text(page))}
    assert {Path(image).name for image in shown} == {file.name for file in (ROOT / "docs" / "images").iterdir()}

"""The page as a file, and the verb that makes it."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path

import pytest

from tuling_fsm.cli import main
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.columns import unpacked

from .drives import record

PAGE = Path(__file__).resolve().parents[2] / "tuling_fsm" / "viewer" / "page"
LOADED = re.compile(r"""(?:src|href)\s*=\s*["']|url\(|@import|fetch\(|https?://[^\s"'<)]+""")
CREDITS = ("https://github.com/leeoniya/uPlot",)
"""Addresses in the page that nobody goes to: a line that names its author."""


def runs_of(page: Path) -> list[dict[str, object]]:
    found = re.findall(r'<script type="text/plain" class="run">(.*?)</script>', page.read_text(encoding="utf-8"))
    return [unpacked(b64decode(each))[0] for each in found]


def needed(module: str) -> set[str]:
    """A module with all that it imports, and so on."""
    found = {module}
    for name in re.findall(
        r'^import [^(]*?"#film/(\w+\.js)";$', (PAGE / module).read_text(encoding="utf-8"), re.MULTILINE
    ):
        found |= needed(name)
    return found


def test_every_module_is_of_some_page() -> None:
    entries = {
        name for file in PAGE.glob("*.html") for name in re.findall(r'import "#film/(\w+\.js)"', file.read_text())
    }
    assert set().union(*map(needed, entries)) == {file.name for file in PAGE.glob("*.js")}


@pytest.mark.medium
def test_the_page_is_one_file_that_loads_nothing(film: Path) -> None:
    text = film.read_text(encoding="utf-8")
    assert [each for each in LOADED.findall(text) if not each.startswith(CREDITS)] == []
    modules = json.loads(re.findall(r'<script type="importmap">(.*?)</script>', text)[0])["imports"]
    assert set(modules) == {f"#film/{name}" for name in needed("main.js")}
    assert all(address.startswith("data:text/javascript;base64,") for address in modules.values())


def test_the_licence_of_the_charts_goes_with_them(film: Path) -> None:
    text = film.read_text(encoding="utf-8")
    assert "The MIT License (MIT)" in text
    assert "Leon Sorokin" in text
    assert "(v1.6.32)" in text


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_the_verb_writes_beside_the_bag(bag: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["report", str(bag), "--out", str(tmp_path / "sub" / "one.html")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "sub" / "one.html")
    (header,) = runs_of(tmp_path / "sub" / "one.html")
    assert header["title"] == "drive on course, seed 4"


@pytest.mark.medium
def test_two_bags_are_on_one_page(bag: Path, course: RoadMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = record(tmp_path / "other", course, shift_s=1.7e9)
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(bag), str(other)]) == 0
    assert [header["title"] for header in runs_of(tmp_path / "report.html")] == ["drive on course, seed 4", "other"]


@pytest.mark.medium
def test_what_cannot_be_shown_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path, bag: Path) -> None:
    assert main(["report", str(tmp_path / "none")]) == 2
    assert "no such file or folder" in capsys.readouterr().err
    assert main(["report", str(bag), "--map", str(tmp_path / "no.xodr")]) == 2
    assert capsys.readouterr().err.count("\n") == 1

"""`why --png`: states, speed with what limited it, and stops with their reasons."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontEntry

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import MotionSample, Timeline, read_timeline
from tuling_fsm.cli import main
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.figures import as_written, new_figure, png
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer import timeline_picture
from tuling_fsm.viewer.timeline_picture import draw_timeline, limit_bars, state_bars, timeline_figure

from .drives import END_S, STANDS, TICK_S, record

STATES = ["on_road/normal", "intersection/safe_driving"]


def bars(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Label by label, from when to when its bars are (s)."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    boxes = [[path.get_extents() for path in each.get_paths()] for each in axes.collections]
    return {name: [(box.x0, box.x1) for box in own] for name, own in zip(names, boxes, strict=True)}


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_states_limits_and_stops_are_those_of_the_bag(bag: Path) -> None:
    timeline = read_timeline(BagSource(bag))
    above, speed, below, listed = timeline_figure(timeline, "drive").axes
    assert list(bars(above)) == STATES
    assert bars(above)[STATES[1]] == [pytest.approx((1.0, 4.0), abs=0.01)]
    assert bars(below)["LEADER"] == [pytest.approx((0.0, 7.0), abs=0.25)]
    assert bars(below)["RED_LIGHT"] == [pytest.approx((7.0, END_S), abs=0.25)]
    (curve,) = (line for line in speed.lines if line.get_gid() == "speed")
    assert curve.get_xydata() == pytest.approx(np.array([(each.t, each.v) for each in timeline.motion]))
    for code, t_from in (("LEADER", 0.0), ("RED_LIGHT", 7.0)):
        (drawn,) = (each for each in speed.collections if isinstance(each, LineCollection) and each.get_gid() == code)
        assert drawn.get_segments()[0][0, 0] == pytest.approx(t_from, abs=0.25)
    (stop,) = (patch for patch in speed.patches if patch.get_gid() == "stop")
    assert (stop.get_x(), stop.get_x() + stop.get_width()) == pytest.approx(STANDS, abs=2 * TICK_S)
    (words,) = (text.get_text() for text in listed.texts)
    assert "RED_LIGHT" in words
    assert f"for    {STANDS[1] - STANDS[0]:.2f} s" in words
    assert "a red light, signal 1 red" in words


@pytest.mark.medium
def test_a_folder_whose_name_is_no_utf_8_is_a_title(bag: Path, tmp_path: Path) -> None:
    folder, picture = tmp_path / os.fsdecode("地图".encode("gbk")), tmp_path / "why.png"
    shutil.copytree(bag, folder)
    assert main(["why", str(folder), "--png", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.medium
def test_names_that_look_like_formulas_are_words(bag: Path, tmp_path: Path) -> None:
    timeline, odd = read_timeline(BagSource(bag)), "run$_{a$"
    stops = tuple(replace(each, causes=(each.primary._replace(words=odd),)) for each in timeline.stops)
    changes = tuple(each._replace(source=odd) for each in timeline.changes)
    draw_timeline(tmp_path / "why.png", replace(timeline, stops=stops, changes=changes), odd)
    assert (tmp_path / "why.png").is_file()


def test_chinese_names_leave_no_warning_of_python(tmp_path: Path) -> None:
    figure = new_figure(4.0, 1.0)
    figure.suptitle("\u573a\u5730/\u8857\u9053", **as_written())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert png(figure).startswith(b"\x89PNG")


def test_letters_come_from_the_fonts_that_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuling_fsm.figures.fontManager.ttflist", [FontEntry(name="SimHei"), FontEntry(name="Arial")])
    as_written.cache_clear()
    assert as_written("monospace")["family"] == ["monospace", "SimHei"]
    as_written.cache_clear()


def test_codes_have_the_colours_of_the_film() -> None:
    text = (Path(timeline_picture.__file__).parent / "page" / "palette.js").read_text(encoding="utf-8")
    (table,) = re.findall(r"const CODES = \{(.*?)\};", text, re.DOTALL)
    film = dict(re.findall(r'(\w+): "(#\w+)"', table))
    film.pop("won")  # Of candidates.
    assert film == timeline_picture.CODE_COLOURS
    assert set(film) <= {reason.value for reason in Reason}


@pytest.mark.medium
def test_a_bag_of_a_clock_is_counted_from_its_beginning(course: RoadMap, tmp_path: Path, bag: Path) -> None:
    shifted = read_timeline(BagSource(record(tmp_path / "clock", course, shift_s=1.7e9)))
    assert shifted.origin == shifted.begin
    for bars_of in (state_bars, limit_bars):
        ours, theirs = list(bars_of(read_timeline(BagSource(bag)), 0.0)), list(bars_of(shifted, shifted.origin))
        assert [label for *_, label in ours] == [label for *_, label in theirs]
        assert [times[:2] for times in ours] == [pytest.approx(times[:2], abs=1e-3) for times in theirs]


@pytest.mark.parametrize(
    ("motion", "said"), [((MotionSample(0.5, Pose(0.0, 0.0, 0.0), 3.0),), "never stood"), ((), "is not in the bag")]
)
def test_a_drive_that_never_stood_says_so_and_one_whose_motion_is_not_known_does_not(
    motion: tuple[MotionSample, ...], said: str
) -> None:
    timeline = Timeline(0.0, 1.0, (), (), (), ((0.0, "state", "on_road/normal"),), motion)
    above, _, _, listed = timeline_figure(timeline, "short").axes
    assert bars(above) == {"on_road/normal": [pytest.approx((0.0, 1.0))]}
    assert said in listed.texts[0].get_text()


@pytest.mark.medium
def test_the_verb_writes_it_and_tells_the_rest(bag: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["why", str(bag), "--png", str(tmp_path / "sub" / "why.png")]) == 0
    assert "stands for" in capsys.readouterr().out
    assert (tmp_path / "sub" / "why.png").read_bytes().startswith(b"\x89PNG")
    assert main(["why", str(bag), "--time", "--png", str(tmp_path / "no.png")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["why", str(bag), "--png", str(tmp_path / "file" / "why.png")]) == 2
    assert "cannot be written" in capsys.readouterr().err

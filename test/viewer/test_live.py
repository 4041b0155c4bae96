"""A drive that goes on, in patches: their sum is the film of its bag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bag.test_timeline import with_a_stamp, with_resets

from tuling_fsm.bag.drive_clock import DriveClock
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer import plans
from tuling_fsm.viewer.columns import unpacked
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.viewer.plans import MarkerHistory, MarkerSpan
from tuling_fsm.viewer.recording import FilmSource, record
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.markers import RED, MarkerDrawing, MarkerShape, pack_markers
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.text import pack_string
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import Odometry

from .drives import STANDS
from .live_drive import patches, sum_of

PIECES = ("road.", "limit.", "track.", "object.")
"""Columns that are cut otherwise: all of the map, the limit once a patch at the least, tracks in pieces."""


@pytest.fixture(scope="module")
def parts(bag: Path, course: RoadMap) -> list[bytes]:
    return list(patches(LiveFilm(LiveSource("drive on course, seed 4", str(bag), course)), bag))


@pytest.fixture(scope="module")
def whole(bag: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    ticks = [(k * 0.05, 2.0 + k % 3) for k in range(240)]
    header, columns = unpacked(record(FilmSource(BagSource(bag), tick_ms=ticks)).data)
    return header, columns


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_the_sum_of_all_patches_is_the_film_of_the_bag(parts: list[bytes], whole: tuple[Any, Any]) -> None:
    header, columns = sum_of(parts)
    film, kept = whole
    assert len(parts) > 100
    assert set(columns) == set(kept)
    texts = {name for name in kept if name in ("why.code", "why.words", "why.next", "candidate.fate", "also.line",
                                               "dwell.dest", "dwell.guard", "dwell.clause")}  # fmt: skip
    for name, values in kept.items():
        if name.startswith(PIECES):
            continue
        if name in texts:
            said = [[table[int(number)] for number in numbers] for table, numbers in (
                (header["lists"]["texts"], columns[name]), (film["texts"], values))]  # fmt: skip
            assert said[0] == said[1], name
        else:
            assert np.allclose(columns[name], values, atol=1e-9), name
    for name in ("changes", "stops", "routes"):
        assert header["lists"][name] == film[name], name
    for name in ("title", "origin", "begin", "end", "map", "vehicle", "kinds", "lights", "result", "predicted_points"):
        assert header[name] == film[name], name
    assert header["lists"]["supervisors.rain_fog"] == film["supervisors"]["rain_fog"]
    assert header["lists"]["words.state"] == film["words"]["state"]
    assert [span["words"] for span in header["lists"]["spans"]] == [span["words"] for span in film["spans"]]


def test_a_track_is_told_in_pieces_with_the_numbers_of_their_messages(
    parts: list[bytes], whole: tuple[Any, Any]
) -> None:
    _, columns = sum_of(parts)
    _, kept = whole
    for track in range(len(kept["track.id"])):
        mine = np.flatnonzero(columns["track.id"] == kept["track.id"][track])
        first, count = columns["track.first"][mine], columns["track.n"][mine]
        assert first[0] == kept["track.first"][track]
        assert (first[1:] == first[:-1] + count[:-1]).all()
        assert count.sum() == kept["track.n"][track]
    assert len(columns["object.x"]) == len(kept["object.x"])


def test_a_patch_costs_what_is_new(parts: list[bytes]) -> None:
    middle = [len(part) for part in parts[20:-1]]
    assert max(middle) < 0.1 * len(parts[0])
    assert np.median(middle[-20:]) < 1.5 * np.median(middle[:20])


def test_of_walls_those_that_are_new_or_have_changed_are_told_and_no_others_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[MarkerSpan] = []

    def entry(span: MarkerSpan, t_to: float) -> dict[str, object]:
        looked_at.append(span)
        return entry_of(span, t_to)

    entry_of = plans._entry
    monkeypatch.setattr(plans, "_entry", entry)
    history, told = MarkerHistory(0.1, PageOrigin()), dict[int, dict[str, object]]()
    for k in range(40):
        wall = np.array([(10.0 * (k // 4), -2.0), (10.0 * (k // 4), 2.0)])
        drawing = MarkerDrawing("walls", MarkerShape.LINE_LIST, RED, 0.25, wall)
        history.take(0.1 * k, pack_markers(k * 10**8, (drawing,)))
        looked_at.clear()
        told |= history.news(1e9)
        assert len(looked_at) <= 2
        assert [told[number] for number in range(len(told))] == history.spans(1e9)
    assert len(told) == 10
    assert history.news(1e9) == []


@pytest.mark.medium
def test_a_stop_is_told_while_it_lasts(bag: Path, course: RoadMap) -> None:
    told = []
    for patch in patches(LiveFilm(LiveSource("drive", "BAG", course)), bag):
        for part in unpacked(patch)[0]["parts"]:
            told += [(entry["from"], entry["to"]) for _, entry in part["lists"].get("stops", ())]
    assert len(told) > 10
    assert {begin for begin, _ in told} == {STANDS[0]}
    assert [end for _, end in told] == sorted(end for _, end in told)
    assert told[-1][1] == STANDS[1]


def test_what_no_one_can_use_is_left_out_and_nothing_is_shown_before_the_car(course: RoadMap) -> None:
    film = LiveFilm(LiveSource("drive", "BAG", course))
    assert film.patch() is None
    film.take("why", b"no diagnostics")
    film.take("state", b"")
    film.take("odometry", b"\x00" * 40)
    assert film.patch() is None


@pytest.mark.medium
def test_without_time_nothing_is_predicted(bag: Path, course: RoadMap) -> None:
    film = LiveFilm(LiveSource("drive", "BAG", course))
    film.lagging = True
    _, columns = sum_of(list(patches(film, bag)))
    assert len(columns["predicted.t"]) == 0
    assert len(columns["ego.t"]) == 240


def at(film: LiveFilm, stamp: float, *, x: float = 20.0, v: float = 4.0) -> None:
    """A tick of a drive, with a stamp (s), a place (m) and a speed (m/s)."""
    ns, pose = nanoseconds(stamp), Pose(x, -2.0, 0.0)
    film.take("odometry", pack_odometry(ns, Odometry(stamp, pose, v, 0.0)))
    film.take("trajectory", pack_trajectory(ns, Trajectory.standing(stamp, pose)))


class Page:
    """What a page has of a film that may begin anew: header and columns of the patches since it was opened."""

    def __init__(self) -> None:
        self.film = LiveFilm(LiveSource("drive"), self._reload)
        self.opened = 1
        self._patches: list[bytes] = []

    def _reload(self) -> None:
        self.opened += 1
        self._patches.clear()

    def tick(self, stamp: float, v: float = 4.0) -> None:
        at(self.film, stamp, v=v)
        self.show()

    def show(self) -> None:
        self._patches += filter(None, [self.film.patch()])

    @property
    def content(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return sum_of(self._patches)


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_a_patch_costs_no_more_for_a_long_stand() -> None:
    page, sizes = Page(), []
    for k in range(200):
        stamp = 100.0 + 0.5 * k
        at(page.film, stamp, v=0.0)
        why = DiagnosticStatus("limit", f"object {k // 2 % 7}", (("code", ("LEADER", "RED_LIGHT")[k // 2 % 2]),))
        page.film.take("why", pack_diagnostics(nanoseconds(stamp), (why,)))
        if k % 4 == 3 and (patch := page.film.patch()) is not None:
            sizes.append(len(patch))
    stops = unpacked(patch)[0]["parts"][0]["lists"]["stops"]
    assert [(number, stop["from"], stop["to"]) for number, stop in stops] == [(0, 100.0, 199.5)]
    assert max(sizes[-5:]) < 1.05 * max(sizes[5:10])


@pytest.mark.clause("DWELL-5")
def test_a_bag_that_is_played_again_and_again_is_shown_lap_by_lap() -> None:
    page = Page()
    page.film.take("state", pack_string("on_road/normal"))
    for lap in (1, 2, 3):
        for k in range(40):
            page.tick(100.0 + 0.05 * k)
            assert page.opened == lap
        header, columns = page.content
        assert (header["title"], header["begin"], header["end"]) == ("drive", 100.0, 101.95)
        assert columns["ego.t"].tolist() == pytest.approx([100.0 + 0.05 * k for k in range(40)])
        assert len(columns["plan.t"]) == 20
        assert [word for _, word in header["lists"]["words.state"]] == ["on_road/normal"]


@pytest.mark.clause("DWELL-5")
@pytest.mark.parametrize("wrong", [0.0, 8600.0])
def test_after_a_stamp_that_is_wrong_the_drive_goes_on(wrong: float) -> None:
    page = Page()
    for k in range(20):
        page.tick(5000.0 + 0.05 * k)
    page.tick(wrong)
    for k in range(20, 60):
        page.tick(5000.0 + 0.05 * k)
    header, columns = page.content
    assert (header["begin"], header["end"]) == (5001.0, 5002.95)
    assert len(columns["plan.t"]) == 20


@pytest.mark.clause("DWELL-5")
def test_odometry_of_another_clock_than_the_planners_begins_no_drive_after_drive() -> None:
    page = Page()
    for k in range(40):
        page.film.take("why", pack_diagnostics(nanoseconds(5.0 + 0.05 * k), ()))
        page.tick(1.7e9 + 0.05 * k)
    assert page.opened == 1
    assert len(page.content[1]["ego.t"]) == 40


@pytest.mark.clause("DWELL-5")
@pytest.mark.parametrize("wrong", [0.0, 8600.0])
def test_after_one_message_whose_stamp_is_wrong_the_drive_goes_on(wrong: float) -> None:
    page = Page()
    for k in range(20):
        page.tick(5000.0 + 0.05 * k)
    page.film.take("odometry", pack_odometry(nanoseconds(wrong), Odometry(wrong, Pose(20.0, -2.0, 0.0), 4.0, 0.0)))
    page.film.take("why", pack_diagnostics(nanoseconds(5001.0), ()))
    for k in range(20, 60):
        page.tick(5000.0 + 0.05 * k)
    header, columns = page.content
    assert (header["begin"], header["end"]) == (5001.0, 5002.95)
    assert len(columns["ego.t"]) == 40


@pytest.mark.clause("DWELL-5")
def test_a_planner_that_was_silent_for_long_goes_on_with_the_drive() -> None:
    clock = DriveClock()
    stamps = [("odometry", 100.0), ("why", 100.0), *(("odometry", 100.0 + 5.0 * k) for k in range(300))]
    assert not any(clock.begins_anew(*each) for each in [*stamps, ("why", 1595.0)])
    assert clock.begins_anew("why", 2300.0)


@pytest.mark.clause("EXPL-1", "DWELL-5")
def test_no_film_has_a_tick_from_before_the_clock_was_set(tmp_path: Path) -> None:
    bag, page = with_a_stamp(tmp_path, 0.0, 0), Page()
    for message in read_messages(BagSource(bag)):
        page.film.take(message.topic, message.data)
    page.tick(1.7e9 + 6.0)
    live, _ = page.content
    film, columns = unpacked(record(FilmSource(BagSource(bag))).data)
    assert (film["origin"]["t"], film["begin"], film["end"]) == (1.7e9, 0.0, 5.95)
    assert (columns["ego.t"][0], columns["ego.t"][-1]) == (0.0, pytest.approx(5.95))
    assert [(stop["from"], stop["to"]) for stop in film["stops"]] == [(2.0, 5.95)]
    assert film["words"]["state"] == live["lists"]["words.state"] == [[0.0, "on_road/normal"]]
    assert (live["origin"]["t"], live["begin"], live["end"]) == (1.7e9, 0.0, 6.0)


@pytest.mark.clause("EXPL-1", "DWELL-5")
def test_of_a_simulator_that_is_reset_the_film_shows_the_longest_drive_and_the_page_the_last(tmp_path: Path) -> None:
    bag, page = with_resets(tmp_path, 3.0, 6.0, 5.0), Page()
    for message in read_messages(BagSource(bag)):
        page.film.take(message.topic, message.data)
        page.show()
    film, shown = unpacked(record(FilmSource(BagSource(bag))).data), page.content
    for (header, columns), number, end in ((film, 2, 5.95), (shown, 3, 4.95)):
        assert (header["begin"], header["end"]) == (0.0, end)
        assert set(columns["ego.v"].tolist()) == {number}
        assert len(columns["why.t"]) == round((end + 0.05) / 0.05)
    assert [change["clause"] for change in film[0]["changes"]] == ["NOR-2"]
    assert [change["clause"] for change in shown[0]["lists"]["changes"]] == ["NOR-3"]
    assert page.opened == 3


@pytest.mark.clause("EXPL-1")
def test_over_a_silence_no_stop_goes_on() -> None:
    page = Page()
    for stamp in (*range(100, 104), *range(120, 123)):
        page.tick(float(stamp), v=0.0)
    told = page.content[0]["lists"]["stops"]
    assert [(stop["from"], stop["to"]) for stop in told] == [(100.0, 103.0), (120.0, 122.0)]


def test_silence_and_messages_that_overtake_one_another_begin_no_other_drive() -> None:
    page = Page()
    for stamp in (100.0, 100.05, 108.0, 108.05, 150.0):
        page.tick(stamp)
        page.film.take("why", pack_diagnostics(nanoseconds(stamp - 8.0), ()))
    at(page.film, 149.5)
    page.tick(150.05)
    assert page.opened == 1
    assert page.content[0]["begin"] == 100.0

"""A drive that goes on, in patches: their sum is the film of its bag; the log and the server that hand them on."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import threading
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bag.test_timeline import with_a_stamp, with_resets

from tuling_fsm.agent import Parameters
from tuling_fsm.bag.drive_clock import DriveClock
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file
from tuling_fsm.viewer import plans
from tuling_fsm.viewer.columns import ColumnWriter, joined, unpacked
from tuling_fsm.viewer.live.child import LAGGING_TICKS, show
from tuling_fsm.viewer.live.log import BLOCK, PatchLog
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.live.pipe import DriveTick, frames, read_frames, read_tick_ms, result_message, tick_ms_message
from tuling_fsm.viewer.live.process import LiveProcess, LiveView
from tuling_fsm.viewer.live.server import MOST_PAGES, LiveServer
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
    header, columns = unpacked(record(FilmSource(bag, tick_ms=ticks)).data)
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
    for message in read_messages(bag):
        page.film.take(message.topic, message.data)
    page.tick(1.7e9 + 6.0)
    live, _ = page.content
    film, columns = unpacked(record(FilmSource(bag)).data)
    assert (film["origin"]["t"], film["begin"], film["end"]) == (1.7e9, 0.0, 5.95)
    assert (columns["ego.t"][0], columns["ego.t"][-1]) == (0.0, pytest.approx(5.95))
    assert [(stop["from"], stop["to"]) for stop in film["stops"]] == [(2.0, 5.95)]
    assert film["words"]["state"] == live["lists"]["words.state"] == [[0.0, "on_road/normal"]]
    assert (live["origin"]["t"], live["begin"], live["end"]) == (1.7e9, 0.0, 6.0)


@pytest.mark.clause("EXPL-1", "DWELL-5")
def test_of_a_simulator_that_is_reset_the_film_shows_the_longest_drive_and_the_page_the_last(tmp_path: Path) -> None:
    bag, page = with_resets(tmp_path, 3.0, 6.0, 5.0), Page()
    for message in read_messages(bag):
        page.film.take(message.topic, message.data)
        page.show()
    film, shown = unpacked(record(FilmSource(bag)).data), page.content
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


def packed(value: int) -> bytes:
    columns = ColumnWriter()
    columns.add("x", [value])
    return columns.packed({"value": value})


def test_joined_parts_have_all_rows_and_headers() -> None:
    header, columns = unpacked(joined([packed(value) for value in (3, 1, 2)]))
    assert columns["x"].tolist() == [3, 1, 2]
    assert header["parts"] == [{"value": 3}, {"value": 1}, {"value": 2}]


def test_the_log_has_old_patches_in_blocks_and_new_ones_alone() -> None:
    log = PatchLog()
    for value in range(2 * BLOCK + 50):
        log.append(packed(value))
    found, number = [], 0
    steps = 0
    while (each := log.at(number)) is not None:
        found += unpacked(each.data)[1]["x"].tolist()
        number = each.following
        steps += 1
    assert found == list(range(2 * BLOCK + 50))
    assert number == log.end
    assert steps == 1 + BLOCK + 50
    assert log.at(BLOCK - 1) is None
    assert log.at(-1) is None


def test_the_log_wakes_whoever_waits() -> None:
    log = PatchLog()
    assert log.wait(0, 0.0) is False
    threading.Timer(0.05, log.close).start()
    assert log.wait(0, 30.0) is True


def test_frames_come_back_and_half_a_one_is_none() -> None:
    messages = [("odometry", b"abc"), tick_ms_message(DriveTick(1.5, 20.0, 3)), ("why", b"")]
    raw = frames(messages)
    assert list(read_frames(io.BytesIO(raw))) == messages
    assert list(read_frames(io.BytesIO(raw[:-7]))) == messages[:1]
    assert read_tick_ms(messages[1][1]) == (1.5, 20.0, 3)


@pytest.fixture
def server() -> Iterator[LiveServer]:
    made = LiveServer("a <drive>")
    yield made
    made.close(0.0)


def get(server: LiveServer, path: str, **headers: str) -> http.client.HTTPResponse:
    address = server.url.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.request("GET", path, headers={"Host": address, **headers})
    return connection.getresponse()


def events(response: http.client.HTTPResponse, count: int) -> list[tuple[str, str]]:
    """The next events: id or name, and data."""
    found = []
    while len(found) < count:
        lines = []
        while (line := response.readline().decode()) != "\n":
            assert line, "the stream has ended"
            lines.append(line.rstrip("\n"))
        if lines and not lines[0].startswith(":"):
            found.append((lines[0], lines[1].removeprefix("data:").strip()))
    return found


def test_the_page_is_served_with_its_title(server: LiveServer) -> None:
    response = get(server, "/")
    text = response.read().decode()
    assert response.status == 200
    assert "<title>a &lt;drive&gt;</title>" in text
    assert 'data-kind="live"' in text
    assert get(server, "/favicon.ico").status == 204
    assert get(server, "/result.json").status == 404


def test_patches_come_as_they_are_made_and_the_end_is_told(server: LiveServer) -> None:
    server.log.append(packed(1))
    response = get(server, "/stream")
    ((first, data),) = events(response, 1)
    assert first == f"id: {server.token} 1"
    assert unpacked(b64decode(data))[1]["x"].tolist() == [1]
    server.log.append(packed(2))
    server.log.close()
    (second, _), (over, _) = events(response, 2)
    assert (second, over) == (f"id: {server.token} 2", "event: over")


def test_a_page_goes_on_where_it_was_and_is_opened_anew_for_another_drive(server: LiveServer) -> None:
    for value in range(3):
        server.log.append(packed(value))
    ((name, _),) = events(get(server, "/stream", **{"Last-Event-ID": f"{server.token} 2"}), 1)
    assert name == f"id: {server.token} 3"
    for other in ("0123 2", f"{server.token} x", f"{server.token} 9"):
        if other.endswith("9"):
            server.log.close()
        assert events(get(server, "/stream", **{"Last-Event-ID": other}), 1)[0][0] == "event: anew"


def test_pages_are_opened_anew_when_another_drive_begins(server: LiveServer) -> None:
    server.log.append(packed(1))
    page, late = get(server, "/stream"), server.token
    assert events(page, 1)[0][0] == f"id: {server.token} 1"
    server.begin_anew()
    assert events(page, 1)[0][0] == "event: anew"
    assert events(get(server, "/stream", **{"Last-Event-ID": f"{late} 1"}), 1)[0][0] == "event: anew"
    server.log.append(packed(2))
    ((name, data),) = events(get(server, "/stream"), 1)
    assert name == f"id: {server.token} 1"
    assert unpacked(b64decode(data))[1]["x"].tolist() == [2]


class Interrupted(LiveServer):
    """While another drive begins, a page of the one before comes back."""

    came: str | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        old = getattr(self, "token", None)
        super().__setattr__(name, value)
        if old is not None and self.came is None and name in ("log", "token"):
            self.came = ""
            page = get(self, "/stream", **{"Last-Event-ID": f"{old} 0"})
            self.log.append(packed(1))
            self.came = events(page, 1)[0][0]


def test_a_page_that_comes_back_while_another_drive_begins_is_opened_anew() -> None:
    server = Interrupted("demo")
    server.begin_anew()
    server.close(0.0)
    assert server.came == "event: anew"


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:99", 200), ("[::1]:99", 200), ("192.168.1.7", 200), ("evil.example", 421), ("", 421)],
)
def test_only_names_of_this_machine_are_answered(server: LiveServer, host: str, status: int) -> None:
    assert get(server, "/", Host=host).status == status


@pytest.mark.medium
def test_pages_are_counted_and_one_that_takes_nothing_holds_up_no_other(server: LiveServer) -> None:
    server.log.append(packed(1))
    address = server.url.removeprefix("http://").rstrip("/").split(":")
    idle = [socket.create_connection((address[0], int(address[1]))) for _ in range(MOST_PAGES - 1)]
    for each in idle:
        each.sendall(b"GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert each.recv(12) == b"HTTP/1.0 200"
    last = get(server, "/stream")
    assert len(events(last, 1)) == 1
    assert get(server, "/stream").status == 503
    for value in range(300):
        server.log.append(packed(value))
    assert len(events(last, 300)) == 300
    for each in idle:
        each.close()


def test_what_cannot_be_listened_on_is_one_line(server: LiveServer) -> None:
    taken = int(server.url.rstrip("/").rpartition(":")[2])
    with pytest.raises(InputError, match="cannot be listened on"):
        LiveServer("drive", port=taken)
    with pytest.raises(InputError, match="cannot be listened on"):
        LiveServer("drive", host="203.0.113.9")


def test_a_page_is_listened_for_at_an_address_of_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    made = LiveServer("drive", "::1")
    assert re.fullmatch(r"http://\[::1\]:\d+/", made.url)
    assert get(made, "/").status == 200
    made.close(0.0)


@pytest.mark.medium
def test_where_nothing_can_be_listened_for_what_would_be_right_is_said_once() -> None:
    with LiveProcess(LiveView("203.0.113.9")) as shown:
        shown.prepare("drive", Path(share_file("config", "course", "course.xodr")), Parameters(), None)
        with pytest.raises(InputError, match=r"^--view: 203\.0\.113\.9:0: cannot be listened on: ") as said:
            shown.begin()
    assert str(said.value).count("expected") == 1


@pytest.mark.parametrize(("waiting", "predicted"), [(0, True), (LAGGING_TICKS + 1, False)])
@pytest.mark.medium
def test_the_process_of_the_page_leaves_predictions_out_while_ticks_wait(
    server: LiveServer, bag: Path, course: RoadMap, waiting: int, predicted: bool
) -> None:
    messages: list[tuple[str, bytes]] = []
    for message in read_messages(bag):
        if message.topic != "run":
            messages.append((message.topic, message.data))
        if message.topic == "odometry":
            messages.append(tick_ms_message(DriveTick(message.ns * 1e-9, 2.0, waiting)))
    raw = frames([*messages, result_message(json.loads((bag / "result.json").read_text(encoding="utf-8")))])
    show(LiveFilm(LiveSource("drive", "BAG", course)), server, io.BytesIO(raw))
    parts, number = [], 0
    while (found := server.log.at(number)) is not None:
        parts.append(found.data)
        number = found.following
    header, columns = sum_of(parts)
    assert (len(columns["predicted.t"]) > 10) is predicted
    assert len(columns["ego.t"]) == 240
    assert header["result"]["end"] == "goal"

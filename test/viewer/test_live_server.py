"""The log and the server that hand the patches of a drive on to pages, and the process that they live in."""

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

import pytest

from tuling_fsm.agent import Parameters
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file
from tuling_fsm.viewer.columns import ColumnWriter, joined, unpacked
from tuling_fsm.viewer.live.child import LAGGING_TICKS, show
from tuling_fsm.viewer.live.log import BLOCK, PatchLog
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.live.pipe import DriveTick, frames, read_frames, read_tick_ms, result_message, tick_ms_message
from tuling_fsm.viewer.live.process import LiveProcess, LiveView
from tuling_fsm.viewer.live.server import MOST_PAGES, LiveServer

from .live_drive import sum_of


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
    for message in read_messages(BagSource(bag)):
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

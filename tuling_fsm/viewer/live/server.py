"""A small HTTP server for open pages: the page itself, and what is new as Server-Sent Events (WHATWG HTML, 9.2).

Each page has a thread, which waits for its browser alone: a slow one gets what it missed in larger pieces, one that
takes nothing for `SILENCE_S` is let go. The drive never waits for any of them.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from base64 import b64encode
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

from tuling_fsm.core.errors import InputError
from tuling_fsm.viewer.film_page import live_page
from tuling_fsm.viewer.live.log import PatchLog

LOOPBACK = "127.0.0.1"
STREAM = "/stream"
SILENCE_S = 10.0
"""A browser that takes nothing for so long is let go, s; an idle one is written to as often."""
MOST_PAGES = 16
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class LiveServer:
    """Serves one drive until it is closed.

    Args:
        title: of the page.
        host: address to listen on, IPv4 or IPv6.
        port: to listen on; 0 takes a free one.

    Raises:
        InputError: nothing can listen there.
    """

    def __init__(self, title: str, host: str = LOOPBACK, port: int = 0) -> None:
        self.log, self.token = PatchLog(), secrets.token_hex(8)
        self._page = live_page(title).encode()
        self._host = host
        try:
            self._http = _Http((host, port), self)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"{host}:{port}", f"cannot be listened on: {error}", "an address of this machine"
            ) from None
        self._pages = threading.BoundedSemaphore(MOST_PAGES)
        self._streaming = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self._http.server_address[:2]
        name = "localhost" if str(host) in ("0.0.0.0", "::") else str(host)
        return f"http://{f'[{name}]' if ':' in name else name}:{port}/"

    def begin_anew(self) -> None:
        """Another drive: pages that show the one before are opened anew."""
        before = self.log
        self.token = secrets.token_hex(8)  # First, so that no page of the drive before finds the log of this one.
        self.log = PatchLog()
        before.close()

    def close(self, within_s: float) -> None:
        """No more comes: pages get the rest, and are told so, as long as they take it within a time (s)."""
        self.log.close()
        deadline = time.monotonic() + within_s
        while self._streaming and time.monotonic() < deadline:
            time.sleep(0.02)
        self._http.shutdown()
        self._http.server_close()

    def allows(self, host: str) -> bool:
        """Whether a request may name this host: a page of another site that calls itself ours by its name server may
        not read along (DNS rebinding).
        """
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        name = name.strip("[]").lower()
        if name in (*_LOCAL_NAMES, self._host.lower()):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """One GET."""
        address = request.path.partition("?")[0]
        if not self.allows(request.headers.get("Host", "")):
            request.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        elif address in ("/", "/index.html"):
            self._send(request, HTTPStatus.OK, "text/html; charset=utf-8", self._page)
        elif address == "/favicon.ico":
            self._send(request, HTTPStatus.NO_CONTENT, "image/x-icon", b"")
        elif address != STREAM:
            request.send_error(HTTPStatus.NOT_FOUND)
        elif not self._pages.acquire(blocking=False):
            request.send_error(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_PAGES} pages are open already")
        else:
            try:
                self._count(1)
                self._stream(request)
            finally:
                self._count(-1)
                self._pages.release()

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: HTTPStatus, kind: str, content: bytes) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(content)))
        request.send_header("Cache-Control", "no-store")
        request.end_headers()
        request.wfile.write(content)

    def _stream(self, request: BaseHTTPRequestHandler) -> None:
        """All patches from the one that the page has not yet."""
        request.send_response(HTTPStatus.OK)
        request.send_header("Content-Type", "text/event-stream")
        request.send_header("Cache-Control", "no-store")
        request.end_headers()
        log, token = self.log, self.token
        number = _first(log, token, request.headers.get("Last-Event-ID", ""))
        while number >= 0:
            if not log.wait(number, SILENCE_S):
                request.wfile.write(b":\n\n")
                continue
            found = log.at(number)
            if found is None or log is not self.log:
                number = self._over(request, log, number)
                continue
            number = found.following
            request.wfile.write(f"id: {token} {number}\ndata: ".encode() + b64encode(found.data) + b"\n\n")

    def _over(self, request: BaseHTTPRequestHandler, log: PatchLog, number: int) -> int:
        """Tell a page that it has all, or that it has to be opened anew."""
        whole = log is self.log and log.closed and number == log.end
        request.wfile.write(b"event: " + (b"over" if whole else b"anew") + b"\ndata:\n\n")
        return -1

    def _count(self, step: int) -> None:
        with self._lock:
            self._streaming += step


def _first(log: PatchLog, token: str, last: str) -> int:
    """The number that a page goes on with, by the id of the last event that it had; beyond all where it saw another
    drive.
    """
    seen, _, number = last.partition(" ")
    if not seen:
        return 0
    return int(number) if seen == token and number.isdecimal() else log.end + 1


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], server: LiveServer) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = SILENCE_S

            def do_GET(self) -> None:
                """A page that has gone is no matter."""
                try:
                    server.answer(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Nothing: standard error is for the run."""

        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, Handler)

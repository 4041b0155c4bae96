"""Foxglove itself, in headless Chromium.

The package `@foxglove/studio-base` of npm is Foxglove's open-source application as one script, which Lichtblick was
forked from. It asks whoever embeds it for a place where layouts are kept, and here gets one with a single layout.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODULES = Path(__file__).resolve().parents[1] / "viewer" / "javascript" / "node_modules"
HERE = Path(__file__).with_suffix(".html")
FOLDERS = {
    "studio": MODULES / "@foxglove" / "studio-base" / "assets",
    "react": MODULES / "react" / "umd",
    "react-dom": MODULES / "react-dom" / "umd",
}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm"}


class FoxgloveServer:
    """The application, a layout and a bag on a port of this computer."""

    def __init__(self, bag: Path) -> None:
        self.bag, self.layout = bag, b"{}"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, layout: dict[str, Any]) -> str:
        """Where the application opens a layout with the bag."""
        self.layout = json.dumps(layout).encode()
        here = f"http://127.0.0.1:{self._server.server_port}"
        return f"{here}/?ds=remote-file&ds.url={here}/bag.mcap"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def content(self, path: str) -> tuple[str, bytes] | None:
        """Type and bytes of what stands at a path."""
        folder, _, name = path.removeprefix("/").rpartition("/")
        if path == "/layout.json":
            return _TYPES[".json"], self.layout
        file = {"/": HERE, "/bag.mcap": self.bag}.get(path) or FOLDERS.get(folder, MODULES) / name
        return (_TYPES.get(file.suffix, "application/octet-stream"), file.read_bytes()) if file.is_file() else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, of: FoxgloveServer, *arguments: Any) -> None:
        self._of = of
        super().__init__(*arguments)

    def handle(self) -> None:
        """A page that is closed leaves what it asked for."""
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        """A file, or a part of it: of a bag the application reads the index first."""
        found = self._of.content(self.path.partition("?")[0])
        if found is None:
            self.send_error(404)
            return
        kind, raw = found
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        self.send_response(206 if part else 200)
        if part:
            begin, end = int(part[1]), int(part[2] or len(raw) - 1)
            self.send_header("Content-Range", f"bytes {begin}-{end}/{len(raw)}")
            raw = raw[begin : end + 1]
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(raw))), ("Accept-Ranges", "bytes")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: a test says what it looks at."""

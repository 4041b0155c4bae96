"""The process that shows a drive: `python -m tuling_fsm.viewer.live.child`.

It is one of its own, so that neither unpacking nor a browser takes time from the drive. Standard input is a line of
JSON with its settings, and then messages; the first line on standard output is the address of the page, or says why
there is none.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from tuling_fsm.agent import Parameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import load, nest
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.live.pipe import RESULT, TICK_MS, read_frames, read_tick_ms
from tuling_fsm.viewer.live.server import LiveServer

PATCH_S = 0.1
"""Between two patches, s."""
LAGGING_TICKS = 40
"""As long as more wait, nothing is predicted: that costs more than all else."""
CLOSING_S = 3.0
"""How long pages are given to take the rest, s."""


def main() -> int:
    """Serve until standard input ends; what a terminal sends to all of its processes is the drive's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line = sys.stdin.buffer.readline()
    if not line:  # There is no drive after all.
        return 0
    settings: dict[str, Any] = json.loads(line)
    try:
        server = LiveServer(settings["title"], settings["host"], settings["port"])
        road_map = read_map(Path(settings["map"]))
        parameters: Parameters = load(Parameters, nest(settings["parameters"]))
    except InputError as error:
        print(InputError(error.where, error.what), flush=True)  # The drive says what would be right.
        return 2
    print(server.url, flush=True)
    film = LiveFilm(LiveSource(settings["title"], settings["bag"], road_map, parameters), server.begin_anew)
    show(film, server, sys.stdin.buffer)
    server.close(CLOSING_S)
    return 0


def show(film: LiveFilm, server: LiveServer, stream: BinaryIO) -> None:
    """Messages of a stream to pages, until it ends."""
    result: dict[str, Any] | None = None
    patched = time.monotonic()
    for topic, raw in read_frames(stream):
        if topic == TICK_MS:
            tick = read_tick_ms(raw)
            film.take_tick_ms(tick.stamp, tick.tick_ms)
            film.lagging = tick.waiting > LAGGING_TICKS
        elif topic == RESULT:
            result = json.loads(raw)
        else:
            film.take(topic, raw)
        if time.monotonic() - patched >= PATCH_S:
            patched = _patch(film, server)
    _patch(film, server, result)


def _patch(film: LiveFilm, server: LiveServer, result: dict[str, Any] | None = None) -> float:
    patch = film.patch(result)
    if patch is not None:
        server.log.append(patch)
    return time.monotonic()


if __name__ == "__main__":
    sys.exit(main())

"""The drive of `drives`, message by message into a film that goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.viewer.columns import joined, unpacked
from tuling_fsm.viewer.live.patches import LiveFilm

PATCH_TICKS = 2


def patches(film: LiveFilm, bag: Path, tick_ms: bool = True) -> Iterator[bytes]:
    """A patch every so many ticks; the last one with the result."""
    ticks = 0
    for message in read_messages(BagSource(bag)):
        if message.topic == "odometry":
            ticks += 1
            if ticks % PATCH_TICKS == 0:
                yield from filter(None, [film.patch()])
        film.take(message.topic, message.data)
        if message.topic == "trajectory" and tick_ms:
            film.take_tick_ms(message.ns * 1e-9, 2.0 + (ticks - 1) % 3)
    yield from filter(None, [film.patch(json.loads((bag / "result.json").read_text(encoding="utf-8")))])


def sum_of(all_patches: list[bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and columns as a page has them after all patches."""
    head, columns = unpacked(joined(all_patches))
    header: dict[str, Any] = {"lists": {}}
    for part in head["parts"]:
        for each in part["parts"]:
            header |= each["scalars"]
            for name, entries in each["lists"].items():
                found = header["lists"].setdefault(name, [])
                for number, entry in entries:
                    found[number:] = [entry, *found[number + 1 :]]
    return header, columns

"""What the planner said of itself, as columns: what limits it, how far dwell timers are, supervisors, reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.bag.timeline import StateChange, Timeline, WhyMessage
from tuling_fsm.core.standstills import StandstillCause
from tuling_fsm.viewer.columns import ColumnWriter, TextTable

_DWELL = re.compile(r"(.*) \((.*)\) for ([\d.]+) of ([\d.]+) s")
"""A row of the status `state` whose guard holds, as `wire.why` says it."""
_PLACE = re.compile(r" in [\d.]+ m$")
"""The end of the words of a limit that is ahead, which the distance tells already."""
_NO_NUMBER = -1.0


class DwellProgress(NamedTuple):
    """A transition whose guard holds, and for how long of what it has to (s)."""

    dest: str
    guard: str
    clause: str
    held_s: float
    dwell_s: float


def thinned(whys: Iterable[WhyMessage], origin: float, period_s: float) -> list[tuple[float, WhyMessage]]:
    """By time of the film (s), one a period; more only where the code changes."""
    kept: list[tuple[float, WhyMessage]] = []
    for why in whys:
        t = why.t - origin
        if not kept or t - kept[-1][0] >= period_s - 1e-3 or why.code != kept[-1][1].code:
            kept.append((t, why))
    return kept


def dwells(why: WhyMessage) -> Iterator[DwellProgress]:
    """The dwell timers that run."""
    for status in why.statuses:
        for dest, words in status.values if status.name == "state" else ():
            found = _DWELL.fullmatch(words)
            if found is not None:
                yield DwellProgress(dest, found[1], found[2], float(found[3]), float(found[4]))


def add_whys(columns: ColumnWriter, whys: list[tuple[float, WhyMessage]], texts: TextTable, first: int = 0) -> None:
    """As `why.*` a message, `dwell.*` a timer that runs, `also.*` a line of anything else that was said; the messages
    are counted from `first`.
    """
    rows, running, also = [], [], []
    for number, (t, why) in enumerate(whys, first):
        rows.append((t, *_limit(why, texts)))
        for each in dwells(why):
            names = (texts.number(text) for text in (each.dest, each.guard, each.clause))
            running.append((number, *names, each.held_s, each.dwell_s))
        also += [(number, texts.number(line)) for line in _also(why)]
    _add(columns, "why", rows, {"t": 1e-3, "code": 1, "words": 1, "level": 1, "distance": 0.1, "blocker": 1,
                                "held": 0.01, "in_state": 0.01, "next": 1, "timeout_left": 0.01})  # fmt: skip
    steps = {"why": 1, "dest": 1, "guard": 1, "clause": 1, "held": 0.01, "of": 0.01}
    _add(columns, "dwell", running, steps)
    _add(columns, "also", also, {"why": 1, "line": 1})


def _add(columns: ColumnWriter, name: str, rows: list[Any], steps: dict[str, float]) -> None:
    table = np.array(rows, dtype=np.float64).reshape(-1, len(steps))
    for column, (field, step) in enumerate(steps.items()):
        columns.add(f"{name}.{field}", table[:, column], step)


def _limit(why: WhyMessage, texts: TextTable) -> tuple[float, ...]:
    """Code, words, level, distance, blocker, how long, time in state, next state, time left; -1 where not said."""
    first = why.statuses[0] if why.statuses else None
    values = dict(first.values) if first is not None else {}
    state = {key: value for status in why.statuses if status.name == "state" for key, value in status.values}
    return (
        texts.number(values.get("code", "")),
        texts.number(_PLACE.sub("", first.message) if first is not None else ""),
        0 if first is None else int(first.level),
        *(_number(values.get(key, "")) for key in ("distance", "blocker")),
        _held(why.t, _number(values.get("since", ""))),
        _number(state.get("time_in_state", "")),
        texts.number(values.get("next_state", "")),
        _number(values.get("timeout_left", "")),
    )


def _held(now: float, since: float) -> float:
    """How long it has limited the car, s."""
    return now - since if 0.0 <= since <= now else _NO_NUMBER


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return _NO_NUMBER
    return value if np.isfinite(value) else _NO_NUMBER


def _also(why: WhyMessage) -> Iterator[str]:
    """Candidates summed up, rows that lost, reports."""
    for status in why.statuses[1:]:
        if status.name in ("candidates", "rejected", "report") and status.message:
            yield f"{status.name}: {status.message}"
            if status.name == "rejected":
                yield from (f"not to {value}" for _, value in status.values)


def supervisors(whys: list[tuple[float, WhyMessage]]) -> dict[str, list[tuple[float, str]]]:
    """Of each supervisor, since when (s) it was in which state."""
    found: dict[str, list[tuple[float, str]]] = {}
    for t, why in whys:
        for status in why.statuses:
            for name, state in status.values if status.name == "supervisors" else ():
                changes = found.setdefault(name, [])
                if not changes or changes[-1][1] != state:
                    changes.append((round(t, 3), state))
    return found


def spoken(timeline: Timeline, origin: float) -> dict[str, object]:
    """Changes, stops and words for the header, by time of the film (s)."""
    return {
        "changes": [change_entry(change, origin) for change in timeline.changes],
        "stops": [stop_entry(stop.summary, origin) for stop in timeline.stops],
        "words": {
            topic: [(round(t - origin, 3), word) for t, name, word in timeline.words if name == topic]
            for topic in ("state", "sensors", "indicators")
        },
    }


def change_entry(change: StateChange, origin: float) -> dict[str, object]:
    """A change of state for the header, by time of the film (s)."""
    return {
        "t": round(change.t - origin, 3), "from": change.source, "to": change.dest, "clause": change.clause,
        "guard": change.guard, "dwell": change.dwell_s, "supervisor": change.supervisor,
        "rejected": list(change.rejected),
    }  # fmt: skip


def stop_entry(stop: StandstillCause, origin: float) -> dict[str, object]:
    """A stop, summed up, for the header, by time of the film (s)."""
    return {
        "from": round(stop.t_from - origin, 3),
        "to": round(stop.t_to - origin, 3),
        "code": stop.code,
        "words": stop.words or "no reason was given",
    }

"""What the planner meant to do and what it weighed, as columns: trajectories, stop walls, targets, candidates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.bag.timeline import WhyMessage
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import MARKERS
from tuling_fsm.viewer.columns import ColumnWriter, TextTable
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.wire.cdr import pose_value, unpack
from tuling_fsm.wire.markers import MarkerShape
from tuling_fsm.wire.trajectory import unpack_trajectory

MOST_POINTS = 20
"""Of a trajectory, that are kept."""
POSITION_M, SPEED_M_S, STEER_RAD = 0.05, 0.05, 1e-3
"""What columns are rounded to."""
SAME_M = 0.1
"""A wall or a target that moves by less is the same one."""


class Plans:
    """The topic `trajectory`, thinned to a period.

    Args:
        period_s: of the trajectories that are kept, s.
        origin: of the film.
        wheelbase: of the car, m.
    """

    def __init__(self, period_s: float, origin: PageOrigin, wheelbase: float) -> None:
        self._period_s = period_s
        self._origin = origin
        self._wheelbase = wheelbase
        self._last = -np.inf
        self._stamps: list[float] = []
        self._points: list[FloatArray] = []
        self._curvatures: list[float] = []

    def take(self, t: float, raw: bytes) -> None:
        """A message, at a time (s) of the film; one that no controller could use is left out."""
        if t - self._last < self._period_s - 1e-3:
            return
        try:
            plan = unpack_trajectory(raw)
        except InputError:
            return
        moved = bool(np.ptp(plan.x) + np.ptp(plan.y) > POSITION_M)
        rows = np.unique(np.linspace(0, len(plan.t) - 1, MOST_POINTS if moved else 1).astype(np.int64))
        self._last = t
        self._stamps.append(t)
        self._points.append(np.column_stack((plan.x, plan.y, plan.v))[rows])
        self._curvatures.append(float(plan.curvature[0]))

    def add_to(self, columns: ColumnWriter) -> None:
        """As `plan.t`, `plan.n`, `plan.x`, `plan.y`, `plan.v`, and the steering angle (rad) in `plan.steer`."""
        columns.add("plan.t", self._stamps, 1e-3, order=2)
        columns.add("plan.n", [len(points) for points in self._points], order=0)
        points = self._origin.local(np.vstack([np.zeros((0, 3)), *self._points]))
        for column, (name, step) in enumerate((("x", POSITION_M), ("y", POSITION_M), ("v", SPEED_M_S))):
            columns.add(f"plan.{name}", points[:, column], step)
        columns.add("plan.steer", elementwise.arctan(self._wheelbase * np.array(self._curvatures)), STEER_RAD)

    def forget(self) -> None:
        """What was added already; the period goes on."""
        self._stamps, self._points, self._curvatures = [], [], []


@dataclass
class MarkerSpan:
    """A stop wall or a target for as long as it was sent: four numbers of the page, and its words."""

    name: str
    t_from: float
    t_to: float
    numbers: tuple[float, float, float, float]
    words: str = ""


class _Drawn(NamedTuple):
    """What a message of markers shows."""

    spans: list[MarkerSpan]
    lost: FloatArray
    won: FloatArray


class MarkerHistory:
    """The topic `markers`, thinned to a period: spans of walls and targets, and where candidates end.

    Args:
        period_s: of the messages that are kept, s.
        origin: of the film.
    """

    def __init__(self, period_s: float, origin: PageOrigin) -> None:
        self._period_s = period_s
        self._origin = origin
        self._last = -np.inf
        self._spans: list[MarkerSpan] = []
        self._open: list[MarkerSpan] = []
        self._unsettled: dict[int, dict[str, object]] = {}
        self.ends: dict[float, tuple[FloatArray, FloatArray]] = {}
        """By time (s): where lost and won candidates end (N, 2), m of the page."""

    def take(self, t: float, raw: bytes) -> None:
        """A message, at a time (s) of the film; one of another program is left out."""
        if t - self._last < self._period_s - 1e-3:
            return
        try:
            drawn = _drawn(t, raw, self._origin)
        except InputError:
            return
        before, self._open = self._open, []
        for span in drawn.spans:
            kept = next((other for other in before if _same(other, span)), span)
            if kept is span:
                self._unsettled[len(self._spans)] = {}
                self._spans.append(span)
            self._open.append(kept)
        for span in (*before, *self._open):  # What is not sent any more held until it was not.
            span.t_to = t
        self._last = t
        self.ends[t] = drawn.lost, drawn.won

    def forget(self, before: float) -> None:
        """Where candidates ended before a time (s)."""
        self.ends = {t: ends for t, ends in self.ends.items() if t >= before}

    def spans(self, end: float) -> list[dict[str, object]]:
        """For the header; those that are open hold to the end (s)."""
        held = {id(span) for span in self._open}
        return [_entry(span, end if id(span) in held else span.t_to) for span in self._spans]

    def news(self, end: float) -> list[tuple[int, dict[str, object]]]:
        """Of `spans` those that are new or have changed since the last call, with their numbers."""
        held, found = {id(span) for span in self._open}, []
        for number, before in list(self._unsettled.items()):
            span = self._spans[number]
            entry = _entry(span, end if id(span) in held else span.t_to)
            if entry != before:
                found.append((number, entry))
            if id(span) in held:
                self._unsettled[number] = entry
            else:
                del self._unsettled[number]
        return found


def _entry(span: MarkerSpan, t_to: float) -> dict[str, object]:
    return {
        "name": span.name, "from": round(span.t_from, 3), "to": round(t_to, 3),
        "numbers": [round(value, 2) for value in span.numbers], "words": span.words,
    }  # fmt: skip


def _same(one: MarkerSpan, other: MarkerSpan) -> bool:
    apart = max(abs(a - b) for a, b in zip(one.numbers, other.numbers, strict=True))
    return (one.name, one.words) == (other.name, other.words) and apart < SAME_M


def _drawn(t: float, raw: bytes, origin: PageOrigin) -> _Drawn:
    found = _Drawn([], np.zeros((0, 2)), np.zeros((0, 2)))
    for marker in unpack(raw, MARKERS, "markers").markers:
        points = origin.local(np.array([(point.x, point.y) for point in marker.points]).reshape(-1, 2))
        match marker.ns, marker.type:
            case "walls", MarkerShape.LINE_LIST if len(points) == 2:
                found.spans.append(MarkerSpan("wall", t, t, (*points[0], *points[1])))
            case "walls", MarkerShape.TEXT if found.spans:
                found.spans[-1].words = str(marker.text)
            case "target", _:
                pose = pose_value(marker.pose, "markers: target")
                x, y = pose.x - origin.x, pose.y - origin.y
                found.spans.append(MarkerSpan("target", t, t, (x, y, pose.heading, 0.0)))
            case "candidates", _:
                found = found._replace(lost=points)
            case "winner", _:
                found = found._replace(won=points)
    return found


_CANDIDATE = re.compile(r"lane ([+-]\d+), ([+-][\d.]+) m")
_FATE = re.compile(r"(\w+), cost (\S+)")
WON = "won"


def add_candidates(
    columns: ColumnWriter, whys: list[tuple[float, WhyMessage]], ends: dict[float, tuple[FloatArray, FloatArray]],
    texts: TextTable,
) -> None:  # fmt: skip
    """Candidates with where they end, where both topics tell of the same moment.

    Columns: `weighed.t` and `weighed.n` a moment; `candidate.x`, `.y`, `.shift`, `.offset` (m), `.fate` (number of the
    text: `won`, or the code of what it lost by) and `.cost` a row.
    """
    stamps, counts, rows = [], [], []
    for t, why in whys:
        if t in ends:
            found = _candidates(why, *ends[t], texts)
            stamps.append(t)
            counts.append(len(found))
            rows += found
    columns.add("weighed.t", stamps, 1e-3, order=2)
    columns.add("weighed.n", counts, order=0)
    table = np.array(rows).reshape(-1, 6)
    steps = {"x": POSITION_M, "y": POSITION_M, "shift": 1.0, "offset": 0.01, "fate": 1.0, "cost": 0.1}
    for column, (name, step) in enumerate(steps.items()):
        columns.add(f"candidate.{name}", table[:, column], step)


_MOST_COST = 1e5


def _candidates(why: WhyMessage, lost: FloatArray, won: FloatArray, texts: TextTable) -> list[tuple[float, ...]]:
    """Those of a moment; the winners and the losers of `why` are in the order of the points of `markers`."""
    said = [pair for status in why.statuses if status.name == "candidates" for pair in status.values]
    points = {True: iter(won.tolist()), False: iter(lost.tolist())}
    rows: list[tuple[float, ...]] = []
    for name, fate in said:
        where, what = _CANDIDATE.fullmatch(name), _FATE.fullmatch(fate)
        point = None if what is None else next(points[what[1] == WON], None)
        if where is None or what is None or point is None:
            continue
        cost = min(float(what[2]), _MOST_COST) if what[2] not in ("inf", "nan") else _MOST_COST
        rows.append((*point, float(where[1]), float(where[2]), float(texts.number(what[1])), cost))
    return rows

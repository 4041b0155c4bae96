"""A drive as patches of a film: each has what came since the last one, as rows of the same columns.

What a page has of a drive is the sum of all patches: columns grow at their ends, and entries of the header's lists are
set by their number. So a patch costs what is new, however long the drive has been going on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from tuling_fsm.agent import Parameters
from tuling_fsm.bag.drive_clock import DriveClock
from tuling_fsm.bag.timeline import CLOCK_TIME_S, STAMPED, WORDS, MotionSample, WhyMessage, motion_samples, state_change
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.standstills import LimitChange, StandstillCause, StandstillWatch
from tuling_fsm.core.topics import BY_NAME, INPUTS, LATCHED
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.speed_limits import SpeedLimits
from tuling_fsm.viewer.columns import ColumnWriter, TextTable
from tuling_fsm.viewer.film_topics import FilmPeriods, FilmTopics
from tuling_fsm.viewer.motion import add_limits, add_motion, add_tick_ms
from tuling_fsm.viewer.origin import PageOrigin, origin_of
from tuling_fsm.viewer.plans import add_candidates
from tuling_fsm.viewer.reasons import add_whys, change_entry, stop_entry
from tuling_fsm.viewer.recording import constants, run_title, shown_result
from tuling_fsm.viewer.road_columns import add_roads
from tuling_fsm.wire.cdr import seconds, stamp_ns_if_any
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.inputs import OPERATOR, unpack_input, with_input
from tuling_fsm.wire.text import unpack_string
from tuling_fsm.wire.transition import unpack_transition
from tuling_fsm.world.inputs import Inputs

PERIODS = FilmPeriods.of(0.0)
OPEN_S = 1e9
"""The end (s) of what still lasts."""
UNMATCHED_S = 1.0
"""How long a reason waits for the candidates of its moment, s."""
_INPUTS = frozenset(topic.name for topic in INPUTS) | {"route_answer"}
_LASTING = frozenset(name for name, topic in BY_NAME.items() if topic.qos == LATCHED)
"""Topics whose last message holds until the next one, however late one begins to listen."""
_ONCE: dict[str, Any] = {"route_answers": (), **dict.fromkeys(OPERATOR, False)}


@dataclass(frozen=True)
class LiveSource:
    """Which drive it is.

    Args:
        title: of the page.
        bag: where the drive is being recorded, for the commands that the page shows.
        road_map: what is driven on; without it neither map nor predictions are shown.
        parameters: of the planner.
    """

    title: str
    bag: str = "BAG"
    road_map: RoadMap | None = None
    parameters: Parameters = field(default_factory=Parameters)


class LiveFilm:
    """Messages in, patches out.

    Time that jumps, as when a bag is played in a loop, begins another drive: its first patch is that of a page without
    any.

    Args:
        source: which drive it is.
        anew: called before the first patch of another drive is made.
    """

    def __init__(self, source: LiveSource, anew: Callable[[], None] = lambda: None) -> None:
        self._source = source
        self._anew = anew
        self._origin = PageOrigin()
        self._clock: float | None = None
        self._jumps = DriveClock()
        self._lasting: dict[str, bytes] = {}
        self._early: list[tuple[str, bytes]] = []
        self._drive: _Drive | None = None
        self._opening: ColumnWriter | None = None
        self._shown = False
        self._roads: dict[str, object] | None = None
        self.lagging = False
        """Whether there is no time for predictions, which cost more than all else."""

    def take(self, topic: str, raw: bytes) -> None:
        """A message of a topic of `core.topics`, in the order in which they came; one that the planner could not use
        either is left out.
        """
        if topic in STAMPED and (ns := stamp_ns_if_any(raw)) is not None:
            self._clock = seconds(ns)
            if self._jumps.begins_anew(topic, self._clock):
                self._drive, self._early = None, list(self._lasting.items())
        if topic in _LASTING:
            self._lasting[topic] = raw
        if self._clock is None:
            self._early.append((topic, raw))
            return
        if self._drive is None:
            self._begin(self._clock)
        assert self._drive is not None
        for name, early in self._early:
            self._drive.take(self._clock, name, early, self.lagging)
        self._early.clear()
        self._drive.take(self._clock, topic, raw, self.lagging)

    def take_tick_ms(self, stamp: float, tick_ms: float) -> None:
        """How long (ms) the tick of a stamp (s) took."""
        if self._drive is not None:
            self._drive.ticks.append((stamp, tick_ms))

    def patch(self, result: Mapping[str, Any] | None = None) -> bytes | None:
        """What came since the last one; None where nothing moved yet.

        Args:
            result: what the drive came to, with its last patch.
        """
        if self._drive is None or not self._drive.moved:
            return None
        columns, first = self._opening or ColumnWriter(), self._opening is not None
        self._opening = None
        if not first:
            _add_no_roads(columns)
        elif self._shown:
            self._anew()
        self._shown = True
        header = self._drive.add_to(columns)
        if first:
            source = self._source
            header["scalars"] |= {
                **constants(source.bag, source.road_map, source.parameters.vehicle, self._origin),
                "title": source.title, "roads": self._roads, "result": None,
            }  # fmt: skip
        if result is not None:
            header["scalars"] |= {"title": run_title(result) or self._source.title, "result": shown_result(result)}
        return columns.packed({"parts": [header]})

    def _begin(self, stamp: float) -> None:
        """The map, once."""
        begin = stamp if stamp > CLOCK_TIME_S else 0.0
        road_map = self._source.road_map
        self._origin = PageOrigin(begin) if road_map is None else origin_of(road_map, begin)
        self._drive = _Drive(self._source, self._origin)
        self._opening = ColumnWriter()
        if road_map is None:
            _add_no_roads(self._opening)
        else:
            self._roads = add_roads(self._opening, road_map, self._origin)


def _add_no_roads(columns: ColumnWriter) -> None:
    for name in ("kind", "n", "x", "y"):
        columns.add(f"road.{name}", [])


class _Drive:
    """What has come so far, and what of it is in no patch yet."""

    def __init__(self, source: LiveSource, origin: PageOrigin) -> None:
        parameters, road_map = source.parameters, source.road_map
        self._origin = origin
        self._limits = None if road_map is None else SpeedLimits(road_map, parameters.vehicle.max_speed)
        self._topics = FilmTopics(PERIODS, origin, parameters, road_map)
        self._inputs = Inputs(0.0)
        self._begin: float | None = None
        self._motion: list[MotionSample] = []
        self._last: MotionSample | None = None
        self._whys: list[tuple[float, WhyMessage]] = []
        self._unmatched: list[tuple[float, WhyMessage]] = []
        self._why_count = 0
        self._texts = TextTable()
        self._stops = StandstillWatch()
        self._stop: StandstillCause | None = None
        self._lists: dict[str, list[Any]] = {
            "changes": [], "routes": self._topics.routes, "texts": self._texts.texts, "stops": self._stops.over
        }  # fmt: skip
        self._told: Counter[str] = Counter()
        self._end = 0.0
        self.ticks: list[tuple[float, float]] = []
        self.moved = False
        self._take: dict[str, Callable[[float, bytes], None]] = {
            **self._topics.take,
            "odometry": self._odometry,
            "why": self._why,
            "transition": self._transition,
        }

    def take(self, stamp: float, topic: str, raw: bytes, lagging: bool) -> None:
        """A message at a stamp (s)."""
        t = stamp - self._origin.t
        self._end = max(self._end, t)
        self._begin = t if self._begin is None else self._begin
        with suppress(InputError):
            if topic in self._take:
                self._take[topic](t, raw)
            elif topic in WORDS:
                self._word(t, topic, unpack_string(raw, topic))
            predictions = self._topics.predictions
            if topic in _INPUTS and predictions is not None and not lagging:
                self._inputs = with_input(self._inputs, topic, unpack_input(topic, raw, stamp))
                if topic == "odometry":
                    predictions.take([replace(self._inputs, stamp=stamp)])
                    self._inputs = replace(self._inputs, **_ONCE)

    def _odometry(self, t: float, raw: bytes) -> None:
        samples = motion_samples(t + self._origin.t, raw)
        self._motion += samples
        for each in samples:
            self._stops.move(each.t, each.v)
        self.moved = self.moved or bool(samples)

    def _why(self, t: float, raw: bytes) -> None:
        why = WhyMessage(t + self._origin.t, unpack_diagnostics(raw, "why"))
        self._whys.append((t, why))
        self._stops.say(LimitChange(why.t, why.code, why.words))
        for status in why.statuses:
            for name, state in status.values if status.name == "supervisors" else ():
                self._word(t, name, state, "supervisors")

    def _transition(self, t: float, raw: bytes) -> None:
        self._lists["changes"].append(change_entry(state_change(unpack_transition(raw, "transition")), self._origin.t))

    def _word(self, t: float, name: str, word: str, table: str = "words") -> None:
        said = self._lists.setdefault(f"{table}.{name}", [])
        if not said or said[-1][1] != word:
            said.append((round(t, 3), word))

    def add_to(self, columns: ColumnWriter) -> dict[str, Any]:
        """What is new as rows of the columns; the header's part of the patch."""
        kept = add_motion(columns, self._motion, self._origin, None if self._last is None else self._last.pose.heading)
        add_limits(columns, self._limits, kept, self._origin.t)
        self._last, self._motion = kept[-1] if kept else self._last, []
        self._topics.add_to(columns)
        points = self._topics.predicted_points
        self._add_reasons(columns)
        add_tick_ms(columns, self.ticks, self._origin.t)
        self.ticks = []
        self._topics.forget()
        scalars: dict[str, Any] = {"begin": round(self._begin or 0.0, 3), "end": round(self._end, 3)}
        if points:
            scalars["predicted_points"] = points
        news, spans = self._news(), self._topics.markers.news(OPEN_S)
        return {"scalars": scalars, "lists": news | {"spans": spans} if spans else news}

    def _add_reasons(self, columns: ColumnWriter) -> None:
        add_whys(columns, self._whys, self._texts, self._why_count)
        self._why_count += len(self._whys)
        waiting, ends = [*self._unmatched, *self._whys], self._topics.markers.ends
        newest = max(ends, default=-OPEN_S)
        add_candidates(columns, [pair for pair in waiting if pair[0] <= newest], ends, self._texts)
        self._unmatched = [pair for pair in waiting if pair[0] > max(newest, self._end - UNMATCHED_S)]
        self._whys = []
        self._topics.markers.forget(newest + 1e-6)

    def _news(self) -> dict[str, list[tuple[int, Any]]]:
        """By name of the list, the entries that are new, and the stop that goes on, with their numbers."""
        news: dict[str, list[tuple[int, Any]]] = {}
        for name, entries in self._lists.items():
            if len(entries) > self._told[name]:
                news[name] = list(enumerate(entries[self._told[name] :], self._told[name]))
                self._told[name] = len(entries)
        stops, before, self._stop = news.pop("stops", []), self._stop, self._stops.now
        if self._stop is not None and self._stop != before:
            stops.append((len(self._stops.over), self._stop))
        if stops:
            news["stops"] = [(number, stop_entry(stop, self._origin.t)) for number, stop in stops]
        return news

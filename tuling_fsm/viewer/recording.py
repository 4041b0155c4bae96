"""A bag as the data of a film: everything that can be seen or read at a moment, with the seconds from its beginning."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tuling_fsm.agent import Parameters
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.replay import map_of, parameters_of, recorded_map
from tuling_fsm.bag.run_result import result_beside
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import ours, read_run_record, ticks
from tuling_fsm.bag.timeline import Timeline, by_stamp, read_timeline
from tuling_fsm.bag.topic_names import Message
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.input_file import is_file
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.speed_limits import SpeedLimits
from tuling_fsm.viewer.columns import ColumnWriter, TextTable
from tuling_fsm.viewer.film_topics import FilmPeriods, FilmTopics
from tuling_fsm.viewer.motion import add_limits, add_motion, add_tick_ms
from tuling_fsm.viewer.origin import PageOrigin, origin_near, origin_of
from tuling_fsm.viewer.plans import add_candidates
from tuling_fsm.viewer.reasons import add_whys, spoken, supervisors, thinned
from tuling_fsm.viewer.road_columns import add_roads
from tuling_fsm.viewer.tracks import KINDS, LIGHTS


@dataclass
class FilmRun:
    """What is packed into the page: `data` as `columns.ColumnWriter.packed` makes it, its name, its origin."""

    title: str
    data: bytes
    origin: PageOrigin = field(default_factory=PageOrigin)


@dataclass(frozen=True)
class FilmSource:
    """Where the data come from.

    Args:
        bag: the recorded drive.
        map_file: OpenDRIVE map instead of the one that the bag names.
        tick_ms: stamp (s) and time (ms) of each tick, which no bag has.
    """

    bag: BagSource
    map_file: Path | None = None
    tick_ms: Iterable[tuple[float, float]] = ()


def record(source: FilmSource, beside: FilmRun | None = None) -> FilmRun:
    """Read a bag, twice: once for what was said, once for what was seen.

    Args:
        source: where the data come from.
        beside: another run, over which this one is shown.

    Raises:
        InputError: no bag, a damaged one, one in which nothing moves, or a map that cannot be read.
    """
    timeline = read_timeline(source.bag, silent=True)
    if not timeline.motion:
        raise InputError(str(source.bag), "no car moves in it", "the topic odometry or trajectory")
    run = read_run_record(source.bag)
    parameters = _parameters(run, source)
    road_map = _road_map(run, source)
    film = _Film(source, timeline, _origin(timeline, road_map, beside), parameters, road_map)
    film.read()
    return film.packed(result_beside(source.bag.path, run))


def _origin(timeline: Timeline, road_map: RoadMap | None, beside: FilmRun | None) -> PageOrigin:
    if beside is not None:
        return beside.origin._replace(t=timeline.origin)
    if road_map is not None:
        return origin_of(road_map, timeline.origin)
    begin = timeline.motion[0].pose
    return origin_near(begin.x, begin.y, timeline.origin)


def _parameters(run: Mapping[str, Any], source: FilmSource) -> Parameters:
    """Those of the bag; where another version has recorded what there is no more, those of now."""
    try:
        found: Parameters = parameters_of(run, str(source.bag))
    except InputError:
        return Parameters()
    return found


def _road_map(run: Mapping[str, Any], source: FilmSource) -> RoadMap | None:
    """The map of the bag, if it names one that is still there; what the caller names has to be."""
    if source.map_file is None and not is_file(recorded_map(run)):
        return None
    return read_map(map_of(run, str(source.bag), source.map_file, source.bag.report))


class _Film:
    """One bag on its way into columns."""

    def __init__(
        self,
        source: FilmSource,
        timeline: Timeline,
        origin: PageOrigin,
        parameters: Parameters,
        road_map: RoadMap | None,
    ) -> None:
        self._source = source
        self._timeline = timeline
        self._origin = origin
        self._map = road_map
        self._vehicle = parameters.vehicle
        self._periods = FilmPeriods.of(timeline.end - timeline.begin)
        self._topics = FilmTopics(self._periods, origin, parameters, road_map)

    def read(self) -> None:
        """All that was seen and meant."""
        messages, predictions = self._handed_on(self._topics.take), self._topics.predictions
        if predictions is None:
            deque(messages, maxlen=0)
        else:
            predictions.take(ticks(messages, str(self._source.bag), lambda line: None))

    def _handed_on(self, take: Mapping[str, Callable[[float, bytes], None]]) -> Iterator[Message]:
        """Every message of ours, after it was taken."""
        messages = ours(read_messages(self._source.bag))
        for stamp, message in by_stamp(messages, self._timeline.drive):
            if message.topic in take:
                with suppress(InputError):  # The planner could not use it either.
                    take[message.topic](stamp - self._origin.t, message.data)
            yield message

    def packed(self, result: Mapping[str, Any] | None) -> FilmRun:
        """All columns with their header."""
        columns, texts, timeline, road_map = ColumnWriter(), TextTable(), self._timeline, self._map
        motion = add_motion(columns, timeline.motion, self._origin)
        self._topics.add_to(columns)
        whys = thinned(timeline.whys, self._origin.t, self._periods.whys)
        add_whys(columns, whys, texts)
        add_candidates(columns, whys, self._topics.markers.ends, texts)
        add_tick_ms(columns, self._source.tick_ms, self._origin.t)
        driven = np.array([(each.pose.x, each.pose.y) for each in motion])
        roads = None if road_map is None else add_roads(columns, road_map, self._origin, driven)
        limits = None if road_map is None else SpeedLimits(road_map, self._vehicle.max_speed)
        add_limits(columns, limits, motion, self._origin.t)
        title = _title(self._source.bag.path, result)
        header = {
            **self._header(),
            "title": title,
            "roads": roads,
            "supervisors": supervisors(whys),
            "result": None if result is None else shown_result(result),
            "texts": texts.texts,
        }
        return FilmRun(title, columns.packed(header), self._origin)

    def _header(self) -> dict[str, object]:
        """What does not come with columns."""
        end = self._timeline.end - self._origin.t
        return {
            **constants(str(self._source.bag), self._map, self._vehicle, self._origin),
            "begin": round(self._timeline.begin - self._origin.t, 3),
            "end": round(end, 3),
            "predicted_points": self._topics.predicted_points,
            **spoken(self._timeline, self._origin.t),
            "spans": self._topics.markers.spans(end),
            "routes": self._topics.routes,
        }


def constants(bag: str, road_map: RoadMap | None, vehicle: Vehicle, origin: PageOrigin) -> dict[str, object]:
    """What a header says of the whole drive: its bag, map, car, when and where it is zero, and words of codes."""
    return {
        "format": 1,
        "bag": bag,
        "map": None if road_map is None else road_map.name,
        "origin": origin._asdict(),
        "vehicle": {name: getattr(vehicle, name) for name in _BODY},
        "kinds": KINDS,
        "lights": LIGHTS,
    }


_BODY = ("wheelbase", "front_overhang", "rear_overhang", "width")


def run_title(result: Mapping[str, Any]) -> str:
    """Of a simulated run; empty where nothing tells it."""
    if {"scenario", "map", "seed"} <= set(result):
        return f"{result['scenario']} on {result['map']}, seed {result['seed']}"
    return ""


def _title(bag: Path, result: Mapping[str, Any] | None) -> str:
    found = run_title(result or {})
    if found:
        return found
    folder = bag if bag.is_dir() else bag.parent
    return folder.resolve().name or str(bag)


_SHOWN = ("finished", "end", "sim_s", "distance_m", "services", "infractions", "flaps", "tick_ms", "seed", "version")


def shown_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Of `result.json`, what the page shows."""
    found = {name: result[name] for name in _SHOWN if name in result}
    score = result.get("score")
    if isinstance(score, dict):
        found["score"] = {name: score[name] for name in ("closed_loop", "driving") if name in score}
    return found

"""Where vehicles stop for lights and signs, worked out from where signals hold and where lines are painted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.records import replace
from tuling_fsm.map.connecting import entries, leads_into
from tuling_fsm.map.lanes import DRIVING, Lane, LaneId, StopLine
from tuling_fsm.map.opendrive.document import examples
from tuling_fsm.map.opendrive.road import Road
from tuling_fsm.map.opendrive.signals import LIGHT, LINE, STOP, YIELD, RoadSignal, SignalPlacement

SAME_PLACE_M = 15.0
"""Signals on one lane nearer together than this mean one place to stop, unless a painted line of its own says
otherwise: a light outranks a stop sign, that a yield sign.
"""

TWO_LIGHTS_M = 10.0
"""Different lights farther apart along a lane are at two places."""

ONE_LINE_M = 3.0
"""Paint this near together is one line: some write it as object and as signal."""

AT_EDGE_M = 1.0
"""A signal this near to a junction stands at its edge."""

RANK = {LIGHT: 0, STOP: 1, YIELD: 2, LINE: 3}


class StopPlace(NamedTuple):
    """A place to stop before it is merged with others: lane, arc length (m), kind, signal number (-1: paint alone), and
    the connecting lane that it holds for (None: every way on).
    """

    lane: LaneId
    s: float
    kind: str
    signal: int
    way: LaneId | None = None


def find_stops(
    signals: Sequence[RoadSignal],
    painted: Mapping[str, Sequence[StopPlace]],
    roads: Mapping[str, Road],
    lanes: Mapping[LaneId, Lane],
) -> list[StopPlace]:
    """Every lane that a light, sign or painted line holds for, at the place where it is to be obeyed.

    A light or sign that is linked to a stop line is obeyed there. One that is for others than cars alone makes its
    line one for these.

    Args:
        signals: all of the map.
        painted: stop lines that are objects, by id.
        roads: of the map.
        lanes: of the map.
    """
    lines: dict[tuple[str, str], list[StopPlace]] = {}
    for signal in signals:
        if signal.kind == LINE:
            lines.setdefault(("signal", signal.id), []).extend(_stops_of(signal, roads, lanes))
    lines.update((("object", number), list(places)) for number, places in painted.items())
    linked = _linked_lines(signals, lines)
    stops: list[StopPlace] = []
    for signal in signals:
        if signal.kind is not None and signal.kind != LINE:
            own = [place for line in linked[signal.number] for place in lines[line]]
            stops.extend(_moved(_stops_of(signal, roads, lanes), own, signal.kind, signal.number))
    cars, others = (
        {line for signal in signals if signal.for_others is who for line in linked[signal.number]}
        for who in (False, True)
    )
    stops.extend(place for line, places in lines.items() if line in cars or line not in others for place in places)
    return stops


def _linked_lines(
    signals: Sequence[RoadSignal], lines: Collection[tuple[str, str]]
) -> dict[int, list[tuple[str, str]]]:
    """Stop lines of each signal by its number, whichever of the two says so."""
    linked = {signal.number: [line for line in sorted(signal.references) if line in lines] for signal in signals}
    by_id: dict[str, list[int]] = {}
    for signal in signals:
        by_id.setdefault(signal.id, []).append(signal.number)
    for signal in signals:
        for kind, other in signal.references if signal.kind == LINE else ():
            for number in by_id.get(other, ()) if kind == "signal" else ():
                linked[number].append(("signal", signal.id))
    return linked


def _moved(stops: list[StopPlace], lines: Sequence[StopPlace], kind: str, number: int) -> list[StopPlace]:
    """The stops of a signal at its stop lines; a signal that holds for none of their lanes holds for all of these."""
    at = {line.lane: line.s for line in lines}
    if not at or any(stop.lane in at for stop in stops):
        return [stop._replace(s=at.get(stop.lane, stop.s)) for stop in stops]
    return [StopPlace(lane, s, kind, number) for lane, s in at.items()]


def _stops_of(signal: RoadSignal, roads: Mapping[str, Road], lanes: Mapping[LaneId, Lane]) -> list[StopPlace]:
    """Every lane that a signal holds for, at its own place."""
    held = [(lane, p) for p in signal.placements for lane in _lanes_of(p, roads[p.road], lanes)]
    if not held and len(signal.placements) == 1:
        widened = signal.placements[0]._replace(lanes=None)
        held = [(lane, widened) for lane in _lanes_of(widened, roads[widened.road], lanes)]
    return [
        StopPlace(n, s, signal.kind or LINE, signal.number, way)
        for lane, placement in held
        for n, s, way in _approaches(lane, placement, lanes)
    ]


def unheeded(signals: Iterable[RoadSignal], stop_lines: Iterable[StopLine]) -> str | None:
    """What is to be told of lights that stop nobody; None where there are none."""
    heeded = {line.signal for line in stop_lines}
    lost = [signal.id for signal in signals if signal.kind == LIGHT and signal.number not in heeded]
    if not lost:
        return None
    return (
        f"lights that stop nobody: {len(lost)} ({examples(lost)}); they hold for no driving lane, or another one "
        "counts at their stop line"
    )


def _lanes_of(placement: SignalPlacement, road: Road, lanes: Mapping[LaneId, Lane]) -> list[Lane]:
    """The driving lanes that a signal holds for. Lanes said by number count whatever the orientation (CARLA's do
    not agree). One at the edge of a junction that would hold for leaving vehicles alone is for those that approach it:
    some write which way the signal faces.
    """
    section = road.section_at(min(placement.s, road.length))
    driving = {
        number: lanes[lane_id]
        for number in road.sections[section].lanes
        if (lane_id := LaneId(road.id, section, number)) in lanes and lanes[lane_id].type == DRIVING
    }
    if placement.lanes is not None:
        return [lane for number, lane in driving.items() if number in placement.lanes]
    forward = {number: road.forward(road.sections[section].lanes[number]) for number in driving}
    along, against = ([lane for number, lane in driving.items() if forward[number] == way] for way in (True, False))
    if placement.orientation == "none":
        return list(driving.values())
    held, others = (along, against) if placement.orientation == "+" else (against, along)
    if held and all(_leaves_junction(lane, placement, lanes) for lane in held):
        return [lane for lane in others if _comes_to_junction(lane, placement, lanes)] or held
    return held


def _place_on(lane: Lane, placement: SignalPlacement) -> float:
    order = np.argsort(lane.road_s)
    return float(np.interp(placement.s, lane.road_s[order], lane.center.s[order]))


def _leaves_junction(lane: Lane, placement: SignalPlacement, lanes: Mapping[LaneId, Lane]) -> bool:
    comes_from = any(lanes[n].junction is not None for n in lane.predecessors)
    return lane.junction is None and comes_from and _place_on(lane, placement) <= AT_EDGE_M


def _comes_to_junction(lane: Lane, placement: SignalPlacement, lanes: Mapping[LaneId, Lane]) -> bool:
    leads_to = any(lanes[n].junction is not None for n in lane.successors)
    return leads_to and _place_on(lane, placement) >= lane.length - AT_EDGE_M


def _approaches(
    lane: Lane, placement: SignalPlacement, lanes: Mapping[LaneId, Lane]
) -> list[tuple[LaneId, float, LaneId | None]]:
    """Where to stop: beside the signal, or for one that stands in a junction where the lanes before it end, and on
    which way through.
    """
    if lane.junction is None:
        return [(lane.id, _place_on(lane, placement), None)]
    before = [lanes[n] for n in entries(lanes, lane.id) if lanes[n].junction is None]
    ways = [(each, n) for each in before for n in each.successors if n == lane.id or leads_into(lanes, n, lane.id)]
    return [(each.id, each.length, way) for each, way in ways] or [(lane.id, 0.0, None)]


def merge(stops: Iterable[StopPlace], lanes: Mapping[LaneId, Lane]) -> tuple[StopLine, ...]:
    """One stop line for each place: the highest ranking reason, moved to the painted line if there is one; paint
    alone is a stop. Where ways on have lights of their own, one for each way.
    """
    pieces = _Pieces(lanes)
    by_lane: dict[LaneId, list[StopPlace]] = {}
    for stop in stops:
        at = min(max(stop.s, 0.0), lanes[stop.lane].length)
        whole, s = pieces.to_whole(stop.lane, at)
        by_lane.setdefault(whole, []).append(stop._replace(lane=whole, s=s))
    lines: dict[LaneId, list[StopLine]] = {lane_id: [] for lane_id in lanes}
    for found in by_lane.values():
        places = _places(found)
        for first, *others in places:
            lane, s = pieces.of_whole(first.lane, first.s)
            for line in _by_way([first._replace(lane=lane, s=s), *others], lanes, _is_lit(first, places)):
                lines[line.lane].append(line)
    return tuple(line for found in lines.values() for line in sorted(found, key=lambda line: line.s))


class _Pieces:
    """Lanes of the file of which the pieces are lanes of the map: what is one place to stop may lie on two of these. A
    whole one is called as its first piece.
    """

    def __init__(self, lanes: Mapping[LaneId, Lane]) -> None:
        found: dict[tuple[str, int, int], list[Lane]] = {}
        for lane in lanes.values():
            found.setdefault((lane.id.road, lane.section, lane.id.lane), []).append(lane)
        self._of: dict[LaneId, list[Lane]] = {}
        for pieces in found.values():
            pieces.sort(
                key=lambda lane: float(lane.road_s[0]), reverse=bool(pieces[0].road_s[0] > pieces[0].road_s[-1])
            )
            self._of.update((piece.id, pieces) for piece in pieces)

    def to_whole(self, lane_id: LaneId, s: float) -> tuple[LaneId, float]:
        """The whole lane of a piece, and where along it (m) a place of the piece is."""
        pieces = self._of[lane_id]
        before = itertools.takewhile(lambda piece: piece.id != lane_id, pieces)
        return pieces[0].id, s + math.fsum(piece.length for piece in before)

    def of_whole(self, first: LaneId, s: float) -> tuple[LaneId, float]:
        """The piece that a place of a whole lane is on, and where (m); at a cut that is the one before it."""
        *others, last = self._of[first]
        for piece in others:
            if s <= piece.length:
                return piece.id, s
            s -= piece.length
        return last.id, s


def _places(stops: Sequence[StopPlace]) -> list[list[StopPlace]]:
    """The heads at each place of a lane: at the first one's s, which is the one to be heeded."""
    ranked = sorted(stops, key=lambda stop: RANK[stop.kind])
    paint = _painted_lines(ranked)
    places: list[list[StopPlace]] = []
    for stop in (each for each in ranked if each.kind != LINE):
        place = next((heads for heads in places if _is_one_place(stop, heads[0], paint)), None)
        if place is None:
            places.append([stop])
        else:
            place.append(stop)
    chosen, taken = [heads[0] for heads in places], set[int]()
    for line in sorted(paint, key=lambda line: min((abs(line.s - stop.s) for stop in chosen), default=0.0)):
        near = _nearest(line.s, chosen)
        if near is None:
            places.append([line._replace(kind=STOP)])
        elif near not in taken:
            places[near][0] = chosen[near]._replace(s=line.s)
            taken.add(near)
    return places


def _painted_lines(stops: Iterable[StopPlace]) -> list[StopPlace]:
    """Paint by place: what is written last says where."""
    lines: list[StopPlace] = []
    for paint in (each for each in stops if each.kind == LINE):
        lines = [other for other in lines if abs(other.s - paint.s) > ONE_LINE_M]
        lines.append(paint)
    return lines


def _is_one_place(stop: StopPlace, other: StopPlace, paint: Sequence[StopPlace]) -> bool:
    """Whether two lights or signs of a lane are heads at one line."""
    gap = abs(stop.s - other.s)
    if gap > SAME_PLACE_M or stop.signal == other.signal:
        return gap <= SAME_PLACE_M
    lines = _nearest(stop.s, paint), _nearest(other.s, paint)
    if None not in lines and lines[0] != lines[1]:
        return False
    return gap <= TWO_LIGHTS_M or not stop.kind == other.kind == LIGHT


def _nearest(s: float, stops: Sequence[StopPlace]) -> int | None:
    """Index of the nearest within reach of an arc length (m)."""
    near = [(abs(stop.s - s), i) for i, stop in enumerate(stops) if abs(stop.s - s) <= SAME_PLACE_M]
    return min(near)[1] if near else None


def _by_way(heads: Sequence[StopPlace], lanes: Mapping[LaneId, Lane], lit: bool) -> Iterator[StopLine]:
    """The stop lines of a place: one for all ways on, or of lights that are not the same for all one for each way. A
    way without a light of its own heeds the one of the lane, which may be a little before (`lit`), or the first. Signs
    that are not the same for all ways are for their own.
    """
    first, lane = heads[0], lanes[heads[0].lane]
    line = _across(lane, first)
    lights = [head for head in heads if head.kind == LIGHT]
    of_lane = next((light for light in lights if light.way is None), None)
    own = {light.way: light for light in reversed(lights)}
    ways = [n for n in lane.successors if lanes[n].junction is not None and lanes[n].type == DRIVING]
    signs = {way: next((head for head in heads if head.way in (None, way)), None) for way in ways}
    if not lights and len({sign and sign.kind for sign in signs.values()}) > 1:
        for way, sign in signs.items():
            if sign is not None:
                yield _for_way(line, way, lane, sign)
        return
    heeded = {way: own.get(way, of_lane or first).signal for way in ways}
    if of_lane is None and lit and not own.keys().isdisjoint(ways):
        heeded = {way: signal for way, signal in heeded.items() if way in own}
    if len(heeded) == len(ways) and len(set(heeded.values())) < 2:
        yield line
        return
    for way, signal in heeded.items():
        yield _for_way(line, way, lane, first._replace(signal=signal))


def _for_way(line: StopLine, way: LaneId, lane: Lane, stop: StopPlace) -> StopLine:
    """The line across a lane for one way on from there, of its own light or sign."""
    return replace(line, lane=way, s=line.s - lane.length, kind=stop.kind, signal=stop.signal, approach=lane.id)


def _is_lit(place: StopPlace, places: Sequence[Sequence[StopPlace]]) -> bool:
    """Whether a light for all ways on is at another place of a lane that is near."""
    others = (heads for heads in places if heads[0] is not place and abs(heads[0].s - place.s) <= SAME_PLACE_M)
    return any(head.kind == LIGHT and head.way is None for heads in others for head in heads)


def _across(lane: Lane, stop: StopPlace) -> StopLine:
    """The stop as a segment across its lane, from the left edge to the right one."""
    pose = lane.center.at(stop.s)
    left = float(np.interp(stop.s, lane.center.s, lane.left))
    right = float(np.interp(stop.s, lane.center.s, lane.right))
    sin, cos = elementary.sin_cos(pose.heading)
    return StopLine(
        lane=lane.id,
        s=stop.s,
        x0=pose.x - left * sin,
        y0=pose.y + left * cos,
        x1=pose.x + right * sin,
        y1=pose.y - right * cos,
        kind=stop.kind,
        signal=stop.signal,
    )

"""From an OpenDRIVE 1.4 to 1.8 file to a `RoadMap`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import FAR_M
from tuling_fsm.input_file import in_letters
from tuling_fsm.map.connecting import junctions_from
from tuling_fsm.map.lanes import Lane, LaneId, Signal, StopLine
from tuling_fsm.map.opendrive.document import Element, Warnings, number, parse, raw_dict, read_content, where
from tuling_fsm.map.opendrive.junction import read_junction
from tuling_fsm.map.opendrive.lane_builder import build_lanes, sample_roads
from tuling_fsm.map.opendrive.objects import read_objects
from tuling_fsm.map.opendrive.pieces import in_pieces
from tuling_fsm.map.opendrive.road import Road, read_road, user_data
from tuling_fsm.map.opendrive.signals import RoadSignal, read_controllers, read_signals
from tuling_fsm.map.opendrive.stop_lines import find_stops, merge, unheeded
from tuling_fsm.map.opendrive.topology import connect, runs_by_rule
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.surface import build_index

F4_ULPS = 536_870_912.0
"""Neighbouring numbers of single precision are so many times as far apart as those of double precision."""


def read_map(path: str | Path) -> RoadMap:
    """Read an OpenDRIVE map. What real maps are sloppy about is repaired and listed in `RoadMap.warnings`.

    A file that holds what it held before gives the same map, so that the runs of a process share what is built of it.

    Raises:
        InputError: not readable, not XML, not OpenDRIVE, or an element lacks what the roads cannot be built without;
            the line gives file, line number, element, what is wrong and what would be right.
    """
    return _build(Path(path), read_content(Path(path)))


@lru_cache(maxsize=4)
def _build(path: Path, content: bytes) -> RoadMap:
    warnings = Warnings()
    root = parse(content, path, warnings)
    _check_header(root, warnings)
    roads = _read_roads(root, warnings)
    junctions = [read_junction(element, warnings) for element in root.findall("junction")]
    by_id = {junction.id: junction for junction in junctions}
    shapes = sample_roads(roads)
    lanes = build_lanes(roads, shapes, connect(roads, by_id, shapes, warnings))
    if not lanes:
        raise InputError(where(root), "no road has a lane", "at least one lane beside a centre lane")
    _check_place(root, lanes, warnings)
    index = build_index(list(lanes.values()))
    written = read_signals(roads, warnings)
    named = frozenset().union(*(signal.stop_objects for signal in written))
    objects = read_objects(roads, root.findall("junction"), lanes, index, named, warnings)
    stop_lines = merge(find_stops(written, objects.painted_stops, roads, lanes), lanes)
    left_hand = _left_hand(roads, warnings)
    _check_rule(root, runs_by_rule(roads, junctions), warnings)
    lost = unheeded(written, stop_lines)
    warnings.extend([f"{where(root)}: {lost}"] if lost else [])
    controls = read_controllers(root)
    return RoadMap(
        name=_name(root, path),
        sha256=hashlib.sha256(content).hexdigest(),
        left_hand=left_hand,
        lanes=lanes,
        index=index,
        road_lengths={road.id: road.length for road in roads.values()},
        junction_ids=tuple(by_id),
        signals=_signals(written, roads, controls, lanes, stop_lines),
        stop_lines=stop_lines,
        controllers=_controllers(written, controls),
        junction_controllers={junction.id: junction.controllers for junction in junctions if junction.controllers},
        crosswalks=tuple(objects.crosswalks),
        slots=tuple(objects.slots),
        objects=tuple(objects.others),
        user_data=_user_data(root, roads),
        warnings=warnings.lines(),
    )


def _name(root: Element, path: Path) -> str:
    header = root.find("header")
    return (header.get("name") if header is not None else None) or in_letters(path.stem)


def _check_header(root: Element, warnings: list[str]) -> None:
    header = root.find("header")
    if header is None:
        warnings.append(f"{where(root)}: no <header>; read as OpenDRIVE 1.8")
        return
    major, minor = number(header, "revMajor", 1.0), number(header, "revMinor", 8.0)
    if major != 1.0:
        raise InputError(where(header), f"OpenDRIVE {major:g}.{minor:g}", "version 1.4 to 1.8")
    if not 4.0 <= minor <= 8.0:
        warnings.append(f"{where(header)}: OpenDRIVE 1.{minor:g} is outside 1.4 to 1.8; read all the same")


def _check_place(root: Element, lanes: Mapping[LaneId, Lane], warnings: list[str]) -> None:
    """Coordinates of a survey, such as UTM, are beyond what a tracker can tell of in single precision."""
    reach = max(float(np.abs(lane.center.xy).max()) for lane in lanes.values())
    if reach >= FAR_M:
        warnings.append(
            f"{where(root)}: the roads lie up to {0.001 * reach:.0f} km from the origin, where x and y of objects and "
            f"parking slots that are sent as f4 are in steps of {F4_ULPS * math.ulp(reach):.2g} m; send them as f8, or "
            "count map and localization from a point nearby"
        )


def _read_roads(root: Element, warnings: Warnings) -> dict[str, Road]:
    roads: dict[str, Road] = {}
    for element in root.findall("road"):
        road = in_pieces(read_road(element, warnings))
        if road.id in roads:
            raise InputError(where(element), f"a second road has id {road.id!r}", "unique road ids")
        roads[road.id] = road
    if not roads:
        raise InputError(where(root), "no road", "at least one <road>")
    return roads


def _left_hand(roads: Mapping[str, Road], warnings: list[str]) -> bool:
    """Whether the map's traffic keeps to the left: that of most of its roads, by their length."""
    left = [road for road in roads.values() if road.left_hand]
    right = [road for road in roads.values() if not road.left_hand]
    mostly = sum(road.length for road in left) > sum(road.length for road in right)
    if left and right:
        odd, rule, general = (right[0], "RHT", "LHT") if mostly else (left[0], "LHT", "RHT")
        warnings.append(
            f"{where(odd.element)}: rule={rule!r} on a map that is mostly {general}: its lanes run by it, but "
            f"right of way, kerb and indicators are {general} everywhere"
        )
    return mostly


def _check_rule(root: Element, by_rule: Sequence[bool], warnings: list[str]) -> None:
    """Tell of a map that says no rule and of which most links of junctions lead against the right-hand traffic that it
    is taken to have.
    """
    against = by_rule.count(False)
    if 2 * against > len(by_rule):
        warnings.append(
            f"{where(root)}: looks as if made for left-hand traffic: {against} of {len(by_rule)} links of junctions "
            "lead against the lanes of roads without rule=, which are read as right-hand traffic; "
            'rule="LHT" on each <road> would say it'
        )


def _controllers(signals: Sequence[RoadSignal], controls: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    """Signal numbers of every controller that controls a signal of the map."""
    numbers: dict[str, list[int]] = {}
    for signal in signals:
        numbers.setdefault(signal.id, []).append(signal.number)
    found = {name: tuple(n for each in ids for n in numbers.get(each, ())) for name, ids in controls.items()}
    return {name: members for name, members in found.items() if members}


def _signals(
    written: Sequence[RoadSignal],
    roads: Mapping[str, Road],
    controls: Mapping[str, tuple[str, ...]],
    lanes: Mapping[LaneId, Lane],
    stop_lines: Sequence[StopLine],
) -> dict[int, Signal]:
    controller_of = {signal_id: name for name, ids in controls.items() for signal_id in ids}
    junction_of = {line.signal: next(iter(junctions_from(lanes, line.lane)), None) for line in reversed(stop_lines)}
    signals = {}
    for signal in written:
        place = signal.placements[0]
        pose = roads[place.road].pose(place.s, signal.t, signal.heading)
        signals[signal.number] = Signal(
            number=signal.number,
            id=signal.id,
            type=signal.type,
            subtype=signal.subtype,
            dynamic=signal.dynamic,
            road=place.road,
            s=place.s,
            pose=pose,
            controller=controller_of.get(signal.id),
            junction=junction_of.get(signal.number),
        )
    return signals


def _user_data(root: Element, roads: Mapping[str, Road]) -> dict[str, tuple[dict[str, Any], ...]]:
    """`<userData>` by road; key `""` for what stands outside roads."""
    own = [element for element in root.iter("userData") if next(element.iterancestors("road"), None) is None]
    found = {"": tuple(raw_dict(element) for element in own)}
    found.update((road.id, user_data(road.element)) for road in roads.values())
    return {key: data for key, data in found.items() if data}

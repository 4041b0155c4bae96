"""Roads as OpenDRIVE writes them: sections, lanes, links, speed records; checked, not yet sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.map.lanes import DRIVING, canonical
from tuling_fsm.map.opendrive.access import AccessRecords, read_access
from tuling_fsm.map.opendrive.cubic import ZERO, PiecewiseCubic, read_cubic
from tuling_fsm.map.opendrive.document import Element, Warnings, integer, number, raw_dict, text, where
from tuling_fsm.map.opendrive.reference_line import ReferenceLine, SampledCurve, read_reference_line
from tuling_fsm.map.opendrive.road_mark import RoadMark, read_road_marks
from tuling_fsm.map.opendrive.speed import read_lane_speeds, read_road_speeds

PERMANENT = "permanent"
"""The layer of lanes (OpenDRIVE 1.9) that is read; others hold for a time, as beside road works."""


class RoadLink(NamedTuple):
    """What a road touches at one of its ends: a road (at its `contact` end) or a junction."""

    kind: str
    """`road` or `junction`."""
    id: str
    contact: str | None
    """`start` or `end`; None for a junction, or where the link is tied to a station of the other road."""


@dataclass(frozen=True, eq=False)
class RoadLane:
    """A lane as written: its number, shape over ds of its section, links and outer marks."""

    number: int
    type: str
    width: PiecewiseCubic | None
    border: PiecewiseCubic | None
    predecessors: tuple[int, ...]
    successors: tuple[int, ...]
    marks: tuple[RoadMark, ...]
    speeds: tuple[tuple[float, float], ...]
    """Own limits: from road station (m), m/s."""
    access: AccessRecords
    reversed: bool


@dataclass(frozen=True, eq=False)
class LaneSection:
    """A lane section from road station `start` to `end` (m), lanes by number from left to right; or a piece of the one
    with that `index` in the file.
    """

    index: int
    start: float
    end: float
    lanes: dict[int, RoadLane]


@dataclass(frozen=True, eq=False)
class Road:
    """A road: reference line, profiles, sections and what it is linked to."""

    id: str
    element: Element
    length: float
    junction: str | None
    left_hand: bool
    line: ReferenceLine
    elevation: PiecewiseCubic
    lane_offset: PiecewiseCubic
    sections: tuple[LaneSection, ...]
    predecessor: RoadLink | None
    successor: RoadLink | None
    speeds: tuple[tuple[float, float], ...]
    """Limits by road station: from s (m), m/s."""

    def forward(self, lane: RoadLane) -> bool:
        """Whether traffic in the lane runs along increasing s."""
        right_side = lane.number < 0
        return (right_side != self.left_hand) != lane.reversed

    def curve(self, s: FloatArray) -> SampledCurve:
        """The reference line at road stations."""
        return self.line.at(s)

    def pose(self, s: float, t: float = 0.0, heading: float = 0.0) -> Pose:
        """The pose at road coordinates s, t (m), turned by `heading` from the reference line."""
        curve = self.line.at(np.array([s]))
        x, y, turn = float(curve.x[0]), float(curve.y[0]), float(curve.heading[0])
        sine, cosine = elementwise.sin_cos(turn)
        return Pose(x - t * float(sine), y + t * float(cosine), turn + heading)

    def section_at(self, s: float) -> int:
        """Index of the section that holds station `s`, clamped to the road."""
        starts = [section.start for section in self.sections]
        return max(int(np.searchsorted(starts, s + 1e-6, side="right")) - 1, 0)


def read_road(element: Element, warnings: Warnings) -> Road:
    """One `<road>`.

    Raises:
        InputError: something that the lanes cannot be built without is missing or is no number.
    """
    line, permanent = read_reference_line(element, warnings), _permanent_lanes(element, warnings)
    drawn = line.geometries[-1].s + line.geometries[-1].length
    length = number(element, "length", drawn, low=0.0)
    if abs(length - drawn) > 0.1:
        warnings.append(f"{where(element)}: length is {length:g} m but its geometry ends at {drawn:g} m")
    length = min(length, drawn) if drawn > 0.0 else length
    rule = element.get("rule", "RHT")
    if rule not in ("RHT", "LHT"):
        raise InputError(where(element), f"rule={rule!r} is unknown", "RHT or LHT")
    offsets = [e for lanes in permanent for e in lanes.findall("laneOffset")]
    return Road(
        id=text(element, "id"),
        element=element,
        length=length,
        junction=_junction(element),
        left_hand=rule == "LHT",
        line=line,
        elevation=read_cubic(element.findall("elevationProfile/elevation"), "s", warnings, length) or ZERO,
        lane_offset=read_cubic(offsets, "s", warnings, length) or ZERO,
        sections=_read_sections(element, permanent, length, warnings),
        predecessor=_read_link(element.find("link/predecessor"), warnings),
        successor=_read_link(element.find("link/successor"), warnings),
        speeds=read_road_speeds(element),
    )


def user_data(road: Element) -> tuple[dict[str, Any], ...]:
    """The road's `<userData>` elements, at whatever depth, as plain data."""
    return tuple(raw_dict(element) for element in road.iter("userData"))


def _junction(road: Element) -> str | None:
    junction = road.get("junction", "-1").strip()
    return None if junction in ("-1", "") else junction


def _read_link(element: Element | None, warnings: Warnings) -> RoadLink | None:
    if element is None:
        return None
    kind = element.get("elementType", "road")
    contact = element.get("contactPoint")
    if kind not in ("road", "junction") or contact not in (None, "start", "end"):
        name = f"elementType={kind!r} contactPoint={contact!r}"
        warnings.one_of("links of roads to what is unknown", element, name, "ignored")
        return None
    return RoadLink(kind, text(element, "elementId"), contact)


def _permanent_lanes(road: Element, warnings: list[str]) -> list[Element]:
    """The `<lanes>` of a road but those of temporary layers (OpenDRIVE 1.9), which are told of."""
    every = road.findall("lanes")
    permanent = [lanes for lanes in every if lanes.get("layer", PERMANENT) == PERMANENT]
    for lanes in every:
        if lanes not in permanent:
            warnings.append(f"{where(lanes)}: layer={lanes.get('layer')!r} of the lanes is left out")
    return permanent


def _read_sections(
    road: Element, permanent: Sequence[Element], length: float, warnings: Warnings
) -> tuple[LaneSection, ...]:
    elements = [section for lanes in permanent for section in lanes.findall("laneSection")]
    if not elements:
        raise InputError(where(road), "road without lanes", "<lanes> with at least one <laneSection>")
    starts = [number(element, "s", low=0.0) for element in elements]
    if starts != sorted(starts):
        raise InputError(where(elements[0]), "lane sections are not in ascending s", "sorted sections")
    starts[0] = 0.0
    ends = [*starts[1:], max(length, starts[-1])]
    lanes = [_read_lanes(*each, warnings) for each in zip(elements, starts, ends, strict=True)]
    for i, element in enumerate(elements[1:], start=1):
        if element.get("singleSide") in ("true", "1"):
            lanes[i - 1], lanes[i] = _carried_on(lanes[i - 1], lanes[i])
    return tuple(
        LaneSection(index, start, min(end, max(length, start)), own)
        for index, (start, end, own) in enumerate(zip(starts, ends, lanes, strict=True))
    )


Lanes = dict[int, RoadLane]


def _read_lanes(section: Element, start: float, end: float, warnings: Warnings) -> Lanes:
    lanes: Lanes = {}
    for side, sign in (("left", 1), ("center", 0), ("right", -1)):
        for element in section.findall(f"{side}/lane"):
            lane = _read_lane(element, start, end, warnings)
            if lane.number in lanes:
                raise InputError(where(element), f"a second lane has id {lane.number}", "unique lane ids in a section")
            if _side(lane.number) != sign:
                name = f"lane {lane.number} of road {_road_of(element)} in <{side}>"
                warnings.one_of("lanes on another side than their id says", element, name, "the id decides")
            lanes[lane.number] = lane
    return dict(sorted(lanes.items(), reverse=True))


def _side(number: int) -> int:
    """1 left of the reference line, -1 right of it, 0 on it."""
    return (number > 0) - (number < 0)


def _carried_on(before: Lanes, single: Lanes) -> tuple[Lanes, Lanes]:
    """The lanes of two sections of which the second one is valid for a side only: those of its other sides go on from
    the first one, as their records do, for these are by road station.
    """
    told = {_side(number) for number in single}
    gone_on = {number: lane for number, lane in before.items() if _side(number) not in told}
    first = {number: replace(lane, successors=(number,)) for number, lane in gone_on.items()}
    second = {number: replace(lane, predecessors=(number,)) for number, lane in gone_on.items()}
    return {**before, **first}, dict(sorted({**single, **second}.items(), reverse=True))


def _read_lane(element: Element, start: float, end: float, warnings: Warnings) -> RoadLane:
    lane_id = integer(element, "id")
    width = read_cubic(element.findall("width"), "sOffset", warnings, end, start)
    border = read_cubic(element.findall("border"), "sOffset", warnings, end, start)
    if width is None and border is None and lane_id != 0:
        name = f"lane {lane_id} of road {_road_of(element)}"
        warnings.one_of("lanes with neither width nor border", element, name, "taken as 0 m wide")
    kind = element.get("type", "none")
    if kind == "bidirectional" or (element.get("direction") == "both" and canonical(kind) == DRIVING):
        name = f"lane {lane_id} of road {_road_of(element)}"
        warnings.one_of("lanes that are driven both ways", element, name, "read as one-way")
    return RoadLane(
        number=lane_id,
        type=kind,
        width=width,
        border=border if width is None else None,
        predecessors=_lane_links(element, "predecessor"),
        successors=_lane_links(element, "successor"),
        marks=read_road_marks(element, start),
        speeds=read_lane_speeds(element, start),
        access=read_access(element, start),
        reversed=element.get("direction") == "reversed",
    )


def _road_of(lane: Element) -> str:
    """The id of the road of a lane."""
    return next(lane.iterancestors("road")).get("id", "")


def _lane_links(lane: Element, name: str) -> tuple[int, ...]:
    links = lane.findall(f"link/{name}")
    return tuple(integer(link, "id") for link in links if link.get("layer", PERMANENT) == PERMANENT)

"""Small OpenDRIVE towns for tests: crossroads with one lane each way, with or without lights, signs and crosswalks."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap

HALF_M = 12.0
"""From a crossing's centre to the ends of its arms, m."""
LANE_M = 3.5
LIGHT, STOP_SIGN, YIELD_SIGN = ("1000001", "yes"), ("206", "no"), ("205", "no")
SIDES = {"E": 0.0, "N": 0.5 * math.pi, "W": math.pi, "S": -0.5 * math.pi}


@dataclass
class Arm:
    """One road of a crossing: which end of it lies there (`start` or `end`), and the direction in which it leaves."""

    road: int
    end: str
    angle: float


@dataclass
class Town:
    """Roads and junctions as they are written out. Road ids count from 1, connecting roads from 100."""

    roads: list[str] = field(default_factory=list)
    junctions: list[str] = field(default_factory=list)
    connecting: int = 100

    def road(
        self, number: int, x: float, y: float, angle: float, length: float, links: tuple[str, str], signals: str = "",
        objects: str = "", curvature: float = 0.0,
    ) -> None:  # fmt: skip
        """A road with one lane each way."""
        geometry = _geometry(x, y, angle, length, curvature)
        self.roads.append(_road(number, -1, length, geometry, *links, _lanes(True), signals, objects))

    def cross(self, number: int, x: float, y: float, arms: list[Arm]) -> None:
        """Every way from arm to arm, but back."""
        connections = []
        for one in arms:
            for other in arms:
                if one is other:
                    continue
                connections.append(self._connect(number, len(connections), x, y, one, other))
        self.junctions.append(f'<junction id="{number}" name="j{number}">{"".join(connections)}</junction>')

    def _connect(self, junction: int, index: int, x: float, y: float, one: Arm, other: Arm) -> str:
        road, self.connecting = self.connecting, self.connecting + 1
        turn = (other.angle - one.angle - math.pi + math.pi) % (2.0 * math.pi) - math.pi
        straight = abs(turn) < 0.1 or abs(abs(turn) - 2.0 * math.pi) < 0.1
        length = 2.0 * HALF_M if straight else HALF_M * 0.5 * math.pi
        curvature = 0.0 if straight else math.copysign(1.0 / HALF_M, turn)
        start_x, start_y = x + HALF_M * math.cos(one.angle), y + HALF_M * math.sin(one.angle)
        geometry = _geometry(start_x, start_y, one.angle + math.pi, length, curvature)
        entry, leave = (1 if one.end == "start" else -1), (-1 if other.end == "start" else 1)
        links = (
            f'<predecessor elementType="road" elementId="{one.road}" contactPoint="{one.end}"/>',
            f'<successor elementType="road" elementId="{other.road}" contactPoint="{other.end}"/>',
        )
        link = f'<link><predecessor id="{entry}"/><successor id="{leave}"/></link>'
        self.roads.append(_road(road, junction, length, geometry, *links, _lanes(False, link), "", ""))
        return (
            f'<connection id="{index}" incomingRoad="{one.road}" connectingRoad="{road}" contactPoint="start">'
            f'<laneLink from="{entry}" to="-1"/></connection>'
        )

    def read(self, folder: Path, name: str) -> RoadMap:
        """Write the town and read it."""
        path = folder / f"{name}.xodr"
        body = "".join(self.roads) + "".join(self.junctions)
        path.write_text(
            f'<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="{name}"/>{body}</OpenDRIVE>'
        )
        return read_map(path)


def crossroads(
    folder: Path, name: str = "cross", signs: dict[str, tuple[str, str]] | None = None, crosswalks: str = "",
    arm_m: float = 120.0, sides: str = "ENWS",
) -> RoadMap:  # fmt: skip
    """One crossing at the origin; arms E, N, W, S, those of `sides`, are roads 1 to 4 that lead away from it.

    `signs` maps an arm to what stands at its stop line, 1 m before the junction; signals are numbered as the roads.
    `crosswalks` names the arms with a crosswalk, 3 m to 6 m before the junction.
    """
    town, arms = Town(), []
    for number, (side, angle) in enumerate(SIDES.items(), start=1):
        if side not in sides:
            continue
        sign = (signs or {}).get(side)
        signals = _signal(number, 1.0, *sign) if sign else ""
        objects = _crosswalk(number, 4.5, 3.0) if side in crosswalks else ""
        links = ('<predecessor elementType="junction" elementId="9"/>', "")
        town.road(number, HALF_M * math.cos(angle), HALF_M * math.sin(angle), angle, arm_m, links, signals, objects)
        arms.append(Arm(number, "start", angle))
    town.cross(9, 0.0, 0.0, arms)
    return town.read(folder, name)


def double_crossing(folder: Path, between_m: float) -> RoadMap:
    """Two crossings on the x axis, `between_m` of road 5 between them; W arm 1, E arm 2, N and S arms 3, 4 and 6, 7."""
    town, shift = Town(), 2.0 * HALF_M + between_m
    first, second = '<{} elementType="junction" elementId="8"/>', '<{} elementType="junction" elementId="9"/>'
    start, end = "predecessor", "successor"
    east, north, west, south = (SIDES[side] for side in "ENWS")
    town.road(1, -HALF_M, 0.0, west, 120.0, (first.format(start), ""))
    town.road(2, shift + HALF_M, 0.0, east, 120.0, (second.format(start), ""))
    town.road(5, HALF_M, 0.0, east, between_m, (first.format(start), second.format(end)))
    sides = ((3, 0.0, north, first), (4, 0.0, south, first), (6, shift, north, second), (7, shift, south, second))
    for number, x, angle, link in sides:
        town.road(number, x, math.copysign(HALF_M, math.sin(angle)), angle, 120.0, (link.format(start), ""))
    town.cross(
        8, 0.0, 0.0, [Arm(1, "start", west), Arm(5, "start", east), Arm(3, "start", north), Arm(4, "start", south)]
    )
    town.cross(
        9, shift, 0.0, [Arm(5, "end", west), Arm(2, "start", east), Arm(6, "start", north), Arm(7, "start", south)]
    )
    return town.read(folder, "double")


def turn_lane(folder: Path) -> RoadMap:
    """A road along +x with two lanes there and one back, 100 m long, each of the two with a light at 99 m: light 1 of
    the left one, which leads straight on (road 2), light 2 of the right one, which turns right (road 3).
    """
    town, junction = Town(), '<{} elementType="junction" elementId="9"/>'
    mark = '<roadMark sOffset="0" type="broken" width="0.1"/>'
    lanes = (
        f'<lanes><laneSection s="0"><left>{_lane(1, "")}</left><center><lane id="0" type="none" level="false">{mark}'
        f"</lane></center><right>{_lane(-1, '')}{_lane(-2, '')}</right></laneSection></lanes>"
    )
    onwards = [_signal(number, 99.0, *LIGHT).replace('orientation="-"', 'orientation="+"') for number in (1, 2)]
    signals = "".join(text.replace('Lane="1"', f'Lane="{-number}"') for number, text in enumerate(onwards, start=1))
    before, after = junction.format("predecessor"), junction.format("successor")
    town.roads.append(_road(1, -1, 100.0, _geometry(0.0, 0.0, 0.0, 100.0, 0.0), "", after, lanes, signals, ""))
    town.road(2, 100.0 + 2.0 * HALF_M, 0.0, 0.0, 100.0, (before, ""))
    town.road(3, 100.0 + HALF_M, -LANE_M - HALF_M, SIDES["S"], 100.0, (before, ""))
    connections = []
    for lane, curvature in ((-1, 0.0), (-2, -1.0 / HALF_M)):
        number, to = 99 - lane, 1 - lane
        length = 0.5 * math.pi * HALF_M if curvature else 2.0 * HALF_M
        links = [
            f'<{kind} elementType="road" elementId="{road}" contactPoint="{end}"/>'
            for kind, road, end in (("predecessor", 1, "end"), ("successor", to, "start"))
        ]
        link = f'<link><predecessor id="{lane}"/><successor id="-1"/></link>'
        geometry = _geometry(100.0, LANE_M * (lane + 1), 0.0, length, curvature)
        town.roads.append(_road(number, 9, length, geometry, links[0], links[1], _lanes(False, link), "", ""))
        connections.append(
            f'<connection id="{number}" incomingRoad="1" connectingRoad="{number}" contactPoint="start">'
            f'<laneLink from="{lane}" to="-1"/></connection>'
        )
    town.junctions.append(f'<junction id="9" name="j9">{"".join(connections)}</junction>')
    return town.read(folder, "turn_lane")


def divided(road_map: Path, stations: tuple[float, ...]) -> RoadMap:
    """The town of a file, all roads outside junctions divided into sections that begin at these stations (m)."""
    tree = ElementTree.parse(road_map)
    for lanes in (road.find("lanes") for road in tree.iter("road") if road.get("junction") == "-1"):
        assert lanes is not None
        whole = lanes[0]
        for number, station in enumerate((0.0, *stations)):
            section = deepcopy(whole)
            section.set("s", repr(station))
            for lane in section.iter("lane"):
                for which, joined in (("predecessor", number > 0), ("successor", number < len(stations))):
                    if joined and lane.get("id") != "0":
                        _linked(lane).append(ElementTree.Element(which, id=lane.get("id", "")))
            lanes.append(section)
        lanes.remove(whole)
    path = road_map.with_name(f"{road_map.stem}_divided.xodr")
    tree.write(path)
    return read_map(path)


def _linked(lane: ElementTree.Element) -> ElementTree.Element:
    link = lane.find("link")
    if link is None:
        link = ElementTree.Element("link")
        lane.insert(0, link)
    return link


MIRRORED = ("y", "hdg", "curvature", "t", "v", "hOffset")
"""Attributes whose sign changes in a mirror."""
LANES = {"lane": ("id",), "laneLink": ("from", "to"), "validity": ("fromLane", "toLane")}


def mirrored(road_map: Path) -> RoadMap:
    """A town for left-hand traffic: the one of a file, as it is seen in a mirror along the x axis."""
    tree = ElementTree.parse(road_map)
    for element in tree.iter():
        names = (*MIRRORED, *LANES.get(element.tag, ()))
        for name in (name for name in names if name in element.attrib):
            element.set(name, repr(-float(element.attrib[name])) if name in MIRRORED else _other(element.attrib[name]))
        if element.tag == "road":
            element.set("rule", "LHT")
        if element.tag == "lane":
            for link in (*element.iterfind("link/predecessor"), *element.iterfind("link/successor")):
                link.set("id", _other(link.attrib["id"]))
        if element.tag == "laneSection":
            left, right = element.find("left"), element.find("right")
            for side, tag in ((left, "right"), (right, "left")):
                if side is not None:
                    side.tag = tag
            element[:] = sorted(element, key=lambda side: ("left", "center", "right").index(side.tag))
    path = road_map.with_name(f"{road_map.stem}_mirrored.xodr")
    tree.write(path)
    return read_map(path)


def _other(lane: str) -> str:
    return str(-int(lane))


def _geometry(x: float, y: float, angle: float, length: float, curvature: float) -> str:
    kind = f'<arc curvature="{curvature!r}"/>' if curvature else "<line/>"
    return f'<geometry s="0" x="{x!r}" y="{y!r}" hdg="{angle!r}" length="{length!r}">{kind}</geometry>'


def _lane(number: int, link: str) -> str:
    return (
        f'<lane id="{number}" type="driving" level="false">{link}<width sOffset="0" a="{LANE_M}" b="0" c="0" d="0"/>'
        '<roadMark sOffset="0" type="solid" color="white" width="0.1"/></lane>'
    )


def _lanes(both: bool, link: str = "") -> str:
    left = f"<left>{_lane(1, '')}</left>" if both else ""
    mark = '<roadMark sOffset="0" type="broken" width="0.1"/>'
    center = f'<center><lane id="0" type="none" level="false">{mark}</lane></center>'
    return f'<lanes><laneSection s="0">{left}{center}<right>{_lane(-1, link)}</right></laneSection></lanes>'


def _road(
    number: int, junction: int, length: float, geometry: str, before: str, after: str, lanes: str,
    signals: str, objects: str,
) -> str:  # fmt: skip
    return (
        f'<road id="{number}" name="r{number}" length="{length!r}" junction="{junction}"><link>{before}{after}</link>'
        f'<type s="0" type="town"><speed max="50" unit="km/h"/></type><planView>{geometry}</planView>{lanes}'
        f"<objects>{objects}</objects><signals>{signals}</signals></road>"
    )


def _signal(number: int, s: float, kind: str, dynamic: str) -> str:
    """Stands on the right of those that come in along the +1 lane."""
    return (
        f'<signal id="{number}" name="s{number}" s="{s}" t="4.5" zOffset="2" hOffset="0" orientation="-" '
        f'dynamic="{dynamic}" country="OpenDRIVE" type="{kind}" subtype="-1" value="-1" height="1" width="1">'
        '<validity fromLane="1" toLane="1"/></signal>'
    )


def _crosswalk(number: int, s: float, width: float) -> str:
    corners = ((-0.5 * width, -LANE_M), (0.5 * width, -LANE_M), (0.5 * width, LANE_M), (-0.5 * width, LANE_M))
    outline = "".join(f'<cornerLocal u="{u}" v="{v}" z="0" height="0"/>' for u, v in corners)
    return (
        f'<object id="{900 + number}" type="crosswalk" name="crosswalk" s="{s}" t="0" zOffset="0" hdg="0" '
        f'orientation="none"><outline>{outline}</outline></object>'
    )

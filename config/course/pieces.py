"""What a course is made of: roads with lane sections, what stands on them, junctions that join their ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from pen import Pen, Pose

LANE_WIDTH = 3.5
"""Of driving lanes, m."""


class Mark(NamedTuple):
    """A line from `s` (m into the lane section) on; `change` is OpenDRIVE's `laneChange`."""

    kind: str
    change: str = "none"
    s: float = 0.0
    color: str = "standard"


SOLID = Mark("solid")
BROKEN = Mark("broken", "both")
DOUBLE = Mark("solid solid", color="yellow")
NO_MARK = Mark("none", "both")
VIRTUAL = Mark("none", "none")


class LaneSpec(NamedTuple):
    """A lane of a section. Lanes of the same `key` on the same side are linked where sections or roads meet.

    `width` is a pair where it changes (smoothly) from begin to end of the section; `marks` are on its outer side.
    """

    key: str
    kind: str
    width: tuple[float, float]
    marks: tuple[Mark, ...]


class Section(NamedTuple):
    """A lane section from station `s` on; lanes from the centre outwards."""

    s: float
    left: tuple[LaneSpec, ...]
    center: tuple[Mark, ...]
    right: tuple[LaneSpec, ...]


class Signal(NamedTuple):
    """A light or sign for the lanes that travel with (`+`) or against (`-`) the road."""

    id: int
    name: str
    s: float
    t: float
    orientation: str
    kind: str
    dynamic: bool
    lanes: tuple[int, int]


class Thing(NamedTuple):
    """An object: centre, heading against the road's, length along that heading, width (m, rad)."""

    id: str
    kind: str
    s: float
    t: float
    heading: float
    length: float
    width: float


class Tunnel(NamedTuple):
    """A stretch of a road under a roof: where it begins, and its length (m)."""

    id: int
    s: float
    length: float


@dataclass
class Road:
    """A road. `links` are predecessor and successor: (`road`, id, contact point) or (`junction`, id, empty)."""

    id: int
    name: str
    pen: Pen
    sections: list[Section]
    limit_kmh: float
    elevation: tuple[float, float] = (0.0, 0.0)
    """Height at begin and end, m; level at both ends."""
    junction: int = -1
    links: list[tuple[str, int, str] | None] = field(default_factory=lambda: [None, None])
    lane_links: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    """For the one lane of a connecting road."""
    signals: list[Signal] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    tunnels: list[Tunnel] = field(default_factory=list)


class Arm(NamedTuple):
    """One end of a road at a junction: `start` or `end`."""

    road: Road
    contact: str

    @property
    def section(self) -> Section:
        """The lanes at this end."""
        return self.road.sections[0 if self.contact == "start" else -1]

    def lane(self, key: str, into: bool) -> tuple[int, Pose]:
        """Number and left edge (facing travel) of the lane with this key into or out of the junction."""
        right = (self.contact == "end") is into
        lanes = self.section.right if right else self.section.left
        at = 0 if self.contact == "start" else 1
        place = [lane.key for lane in lanes].index(key)
        inside = sum(lane.width[at] for lane in lanes[:place])
        pose = self.road.pen.start if self.contact == "start" else self.road.pen.at
        facing = pose if right else pose.moved(0.0, 0.0, math.pi)
        return (-1 if right else 1) * (place + 1), facing.moved(0.0, -inside)


@dataclass
class Junction:
    """A junction and its connecting roads; `major` ones have the right of way over the others."""

    id: int
    name: str
    roads: list[Road] = field(default_factory=list)
    connections: list[tuple[int, Road, int]] = field(default_factory=list)
    """Incoming road, connecting road, incoming lane."""
    major: list[int] = field(default_factory=list)
    controllers: tuple[int, ...] = ()

    def join(self, source: Arm, key: str, target: Arm, target_key: str, major: bool = False) -> None:
        """Lead one lane of an arm into one of another."""
        out, start = source.lane(key, into=True)
        into, goal = target.lane(target_key, into=False)
        name = f"{source.road.name} to {target.road.name}"
        road = Road(
            id=self.id * 100 + len(self.roads) + 1,
            name=name,
            pen=Pen(start).to(goal),
            sections=[Section(0.0, (), (VIRTUAL,), (LaneSpec("d1", "driving", (LANE_WIDTH, LANE_WIDTH), (VIRTUAL,)),))],
            limit_kmh=min(source.road.limit_kmh, target.road.limit_kmh),
            elevation=(source.road.elevation[source.contact == "end"],) * 2,
            junction=self.id,
            links=[("road", source.road.id, source.contact), ("road", target.road.id, target.contact)],
            lane_links={-1: (out, into)},
        )
        self.roads.append(road)
        self.connections.append((source.road.id, road, out))
        if major:
            self.major.append(road.id)
        for arm in (source, target):
            arm.road.links[0 if arm.contact == "start" else 1] = ("junction", self.id, "")


class Controller(NamedTuple):
    """Signals that change together."""

    id: int
    name: str
    signals: tuple[int, ...]


@dataclass
class Course:
    """Everything that is written to the file."""

    name: str
    roads: list[Road]
    junctions: list[Junction]
    controllers: list[Controller]


def chain(*roads: Road) -> None:
    """Link roads that follow one another, end to start."""
    for before, after in pairwise(roads):
        before.links[1] = ("road", after.id, "start")
        after.links[0] = ("road", before.id, "end")

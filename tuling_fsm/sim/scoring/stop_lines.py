"""Stop lines that the car passes: lights, dark lights, stop signs (two infractions of the CARLA leaderboard, and ours).

A line counts where a bumper really crosses it in its direction, on the route or off it; also on the lanes of the other
direction beside it. Where several ways through a junction begin at one place, each with a signal of its own, the one
counts that the car then takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import Pose, shifted, wrap_angle
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.collisions import SAME_LEVEL_M
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.world.inputs import Light

LINE_SPAN_M = 1.0
"""A bumper this far outside the ends of a stop line still passes it, where no other line is nearer."""
LINE_HEADING = math.radians(60.0)
NEAR_LINE_M = 8.0
ONE_PLACE_M = 3.0
"""Lines no farther apart along the road are at one place."""
SIDE_STEP_M = 0.5
"""Steps in which the road beside a line is looked at, and how far before it."""
OTHER_SIDE_M = 30.0
"""No road goes on farther beside a line."""
SAME_WAY = 0.7
"""Cosine between headings that agree (45 degrees)."""
DARK_STOP_S = 3.0
"""A light that is out is passed like a stop sign (Vienna Convention, article 5; MUTCD 4A): after a stop of so long."""
CLOSED = (Light.RED, Light.RED_YELLOW)
WITHOUT_SIGN = (Light.UNKNOWN, Light.DARK)


class LineDistance(NamedTuple):
    """A stop line within reach: its row, how far the bumper is past it and beyond its ends (m, negative: before,
    between them).
    """

    row: int
    past: float
    beyond: float


class StopLines:
    """All of a map, for the question which of them a bumper is at."""

    def __init__(self, road_map: RoadMap) -> None:
        self.all: tuple[StopLine, ...] = tuple(road_map.stop_lines)
        ends = np.array([(line.x0, line.y0, line.x1, line.y1) for line in self.all]).reshape(-1, 4)
        places = [(road_map.lanes[lane], s) for lane, s in map(road_map.place_of, self.all)]
        headings = np.array([lane.center.at(s).heading for lane, s in places])
        self._z = np.array([lane.height(s) for lane, s in places])
        self._middle = 0.5 * (ends[:, :2] + ends[:, 2:])
        self._half = 0.5 * elementwise.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1])
        (self._sin, self._cos), self._heading = elementwise.sin_cos(headings), headings
        self._inward = -1.0 if road_map.left_hand else 1.0
        self._other_side = np.array([self._find_other_side(road_map, i) for i in range(len(self.all))]).reshape(-1, 2)

    def _find_other_side(self, road_map: RoadMap, index: int) -> tuple[float, float]:
        """From where to where lanes of the other direction lie beside a line's own: m beyond its inward end."""
        line, half = self.all[index], float(self._half[index])
        before = SIDE_STEP_M + (0.0 if road_map.lanes[line.lane].junction is None else line.s)
        if before > ONE_PLACE_M:
            return math.inf, -math.inf
        x, y = self._middle[index].tolist()
        place = shifted(Pose(x, y, float(self._heading[index])), -before)
        across = Pose(place.x, place.y, place.heading + self._inward * 0.5 * math.pi)
        found: list[float] = []
        gap = 0.0
        for beyond in np.arange(0.5 * SIDE_STEP_M, OTHER_SIDE_M, SIDE_STEP_M).tolist():
            way = _way_of_road(road_map, shifted(across, half + beyond), place.heading)
            gap = 0.0 if way else gap + SIDE_STEP_M
            if gap > LINE_SPAN_M or (found and way > 0):
                break
            if way < 0:
                found.append(beyond)
        return (found[0] - 0.5 * SIDE_STEP_M, found[-1] + 0.5 * SIDE_STEP_M) if found else (math.inf, -math.inf)

    def near(self, bumper: Pose, z: float) -> list[LineDistance]:
        """Lines within reach that a bumper, looking where it goes, heads for on its level `z` (m, NaN: any)."""
        if not self.all:
            return []
        dx, dy = bumper.x - self._middle[:, 0], bumper.y - self._middle[:, 1]
        past, aside = self._cos * dx + self._sin * dy, self._cos * dy - self._sin * dx
        beyond, inward = np.abs(aside) - self._half, self._inward * aside - self._half
        on_other_side = (self._other_side[:, 0] < inward) & (inward < self._other_side[:, 1])
        elsewhere = np.abs(self._z - z) > SAME_LEVEL_M
        close = (np.abs(past) < NEAR_LINE_M) & ((beyond < LINE_SPAN_M) | on_other_side) & ~elsewhere
        return [
            LineDistance(int(i), float(past[i]), float(beyond[i]))
            for i in np.flatnonzero(close)
            if abs(wrap_angle(bumper.heading - self._heading[i])) < LINE_HEADING
        ]


def _way_of_road(road_map: RoadMap, place: Pose, heading: float) -> int:
    """Which way lanes outside junctions run at a place: 1 that of a heading (rad), -1 against it, 0: none does."""
    at = [each for each in road_map.positions(place.x, place.y) if road_map.lanes[each.lane].junction is None]
    along = [elementary.cos(each.heading - heading) for each in at]
    if any(each > SAME_WAY for each in along):
        return 1
    return -1 if any(each < -SAME_WAY for each in along) else 0


@dataclass
class _LineState:
    """What is known of a line that the car is at: how far past it the bumper was (m), how long the car has stood
    before it (s), and the light when the bumper reached it.
    """

    past: float
    stood: float = 0.0
    light: int | None = None


class _Passed(NamedTuple):
    """Lines of connecting lanes at one place that were passed at once: when, what each would mean, and on which of
    these lanes the middle of the car was last.
    """

    stamp: float
    junction: str
    verdicts: Mapping[LaneId, tuple[str, str] | None]
    last: LaneId | None = None


class StopLineWatch:
    """Follows both bumpers over lines."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, parameters: RefereeParameters) -> None:
        self.lines = StopLines(road_map)
        self._map, self._vehicle, self._p = road_map, vehicle, parameters
        self._states: dict[int, _LineState] = {}
        self._passed: _Passed | None = None

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        pose = frame.ego.pose
        back = shifted(pose, -self._vehicle.rear_overhang)
        bumpers = shifted(pose, self._vehicle.front), Pose(back.x, back.y, wrap_angle(pose.heading + math.pi))
        near = [line for bumper in bumpers for line in self.lines.near(bumper, frame.ego.z)]
        crossed = [line for line in near if self._follow(frame, line)]
        self._states = {line.row: self._states[line.row] for line in near}
        if crossed:
            self._judge(frame, crossed, near, log)
        self._decide(frame, log)

    def _follow(self, frame: RefereeFrame, line: LineDistance) -> bool:
        """Bring a line's state up to date; whether it has just been passed."""
        new = line.row not in self._states
        known = self._states.setdefault(line.row, _LineState(line.past))
        before, known.past = known.past, line.past
        stands = abs(frame.ego.v) < self._p.standing
        if stands and -self._p.stop_zone < line.past <= self._p.stop_line:
            known.stood += frame.dt
        if before < 0.0 <= line.past or (0.0 <= line.past <= self._p.stop_line and (stands or new)):
            # A car that stands within the tolerance has arrived, and goes on by the light that it then has.
            known.light = frame.lights.get(self.lines.all[line.row].signal, Light.UNKNOWN)
        return before <= self._p.stop_line < line.past

    def _judge(
        self, frame: RefereeFrame, crossed: list[LineDistance], near: list[LineDistance], log: InfractionLog
    ) -> None:
        """At every place the line of the lane that the bumper is in; of connecting lanes all, until it is known."""
        lanes = {line.row: self._map.lanes[self.lines.all[line.row].lane] for line in near}
        ways = [line.row for line in crossed if lanes[line.row].junction is not None]
        own = [line for line in crossed if line.row not in ways]
        if own:
            nearest = min(own, key=lambda line: (max(line.beyond, 0.0), abs(line.beyond), line.row))
            # On the other side of the road no lane tells which line it is: one that may be passed is enough.
            others = near if nearest.beyond >= LINE_SPAN_M else ()
            beside = [
                each.row
                for each in others
                if lanes[each.row].junction is None and abs(each.past - nearest.past) < ONE_PLACE_M
            ]
            if all(self._verdict(row) is not None for row in beside):
                self._note(frame.stamp, self._verdict(nearest.row), log)
        if ways:
            verdicts = {lanes[row].id: self._verdict(row) for row in ways}
            junction = lanes[ways[0]].junction
            assert junction is not None
            if len(set(verdicts.values())) == 1:
                self._note(frame.stamp, next(iter(verdicts.values())), log)
            else:
                self._passed = _Passed(frame.stamp, junction, verdicts)

    def _decide(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Once the car has left the junction it is known which of the ways it has taken."""
        passed, position = self._passed, frame.ego.position
        if passed is None or position is None:
            return
        if position.lane in passed.verdicts:
            self._passed = passed._replace(last=position.lane)
            return
        lane = self._map.lanes[position.lane]
        if lane.junction is None:
            verdicts = [passed.verdicts[way] for way in self._taken(passed, lane.id)]
            if verdicts and None not in verdicts:
                self._note(passed.stamp, verdicts[0], log)
        if lane.junction != passed.junction and lane.id not in self._approaches(passed):
            self._passed = None

    def _taken(self, passed: _Passed, reached: LaneId) -> list[LaneId]:
        """The way that the middle of the car was on last, if that leads to the road that it has come to; else those
        that lead to its lane, else to one beside it.
        """
        beside = self._map.same_direction(reached)
        leading = [way for way in passed.verdicts if not set(beside).isdisjoint(self._map.lanes[way].successors)]
        if passed.last in leading:
            return [passed.last]
        return [way for way in leading if reached in self._map.lanes[way].successors] or leading

    def _approaches(self, passed: _Passed) -> set[LaneId]:
        """Lanes that the middle of the car may still be on when its bumper is over the line."""
        return {before for way in passed.verdicts for before in self._map.lanes[way].predecessors}

    def _verdict(self, index: int) -> tuple[str, str] | None:
        """The infraction that passing a line is, with its detail; None where it is none."""
        line, known = self.lines.all[index], self._states[index]
        if line.kind == "stop" and known.stood <= 0.0:
            return "stop_sign", f"sign {line.signal}"
        if line.kind == "light" and known.light in CLOSED:
            return "red_light", f"signal {line.signal}"
        if line.kind == "light" and known.light in WITHOUT_SIGN and known.stood < DARK_STOP_S - 1e-6:
            return "dark_light", f"signal {line.signal}"
        return None

    def _note(self, stamp: float, verdict: tuple[str, str] | None, log: InfractionLog) -> None:
        if verdict is not None:
            kind, detail = verdict
            log.note(stamp, f"{kind} {detail}", kind, detail)

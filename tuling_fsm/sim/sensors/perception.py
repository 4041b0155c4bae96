"""What the car is told of the world, in the number formats of the wire; what a sensor sees in which weather (RFG-1).

Rain and fog blind lidar and camera; what the radar sees is left, and what a history map remembers: things that stood
there, and were seen, before the weather turned.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.map.lanes import Lane, LaneId, LaneMark, LanePosition, MarkKind
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.scenario.choices import PerceivedAs
from tuling_fsm.sim.scoring.collisions import SAME_LEVEL_M, boxes_touched
from tuling_fsm.world.inputs import LANE_LINES, Kind, Occupancy, Odometry, Source, rows_of

FACE_BEYOND_LINE_M = 12.0
"""A light can be seen from its stop line: a signal face is at least this far beyond it (MUTCD 4D.14: 40 feet), whatever
the place that a map gives its pole.
"""
WEAK_RADAR_RANGE_M = 50.0
"""The radar sees weak reflectors up to this far."""
STANDS, MOVED_M = VEHICLE_STANDS, 0.3
"""Below this speed (m/s) a thing is mapped; once it has moved so far (m) the history map knows nothing of it."""

LIDAR, RADAR, CAMERA, HISTORY_MAP = (
    np.uint8(source) for source in (Source.LIDAR, Source.RADAR, Source.CAMERA, Source.HISTORY_MAP)
)

REFLECTS_STRONGLY: dict[Kind, bool] = {
    Kind.CAR: True, Kind.TRUCK: True, Kind.BUS: True, Kind.MOTORCYCLE: True, Kind.BARRIER: True,
    Kind.BICYCLE: False, Kind.PEDESTRIAN: False, Kind.ANIMAL: False,
}  # fmt: skip
"""Kinds that the radar sees: whether they reflect strongly (metal, water). Lidar and camera see every kind."""


class SensorVisibility:
    """Says by which sensors each object is seen; remembers what stood where while it could be seen well.

    Args:
        lidar: reach of the lidar, m.
        radar: of the radar.
        camera: of the camera.
    """

    def __init__(self, lidar: float = math.inf, radar: float = math.inf, camera: float = math.inf) -> None:
        self._lidar, self._camera = lidar, camera
        self._mapped: dict[int, tuple[float, float]] = {}
        reflects = np.array([REFLECTS_STRONGLY.get(kind) is not None for kind in Kind])
        self._radar_range = np.where(
            [REFLECTS_STRONGLY.get(kind, False) for kind in Kind], math.inf, WEAK_RADAR_RANGE_M
        )
        self._radar_range[~reflects] = -math.inf
        self._radar_range = np.minimum(self._radar_range, radar)

    def sources(self, agents: AgentBoxes, distance: FloatArray, reach: float, blind: bool) -> npt.NDArray[np.uint8]:
        """Bits of `Source` (N,) of each object, 0 where no sensor sees it.

        Args:
            agents: N objects.
            distance: from the car to each (N,), m.
            reach: of every sensor, m.
            blind: whether lidar and camera see nothing.
        """
        radar = distance <= np.minimum(self._radar_range[agents.kinds], reach)
        bits: npt.NDArray[np.uint8] = radar * RADAR
        if not blind:
            bits |= (distance <= min(self._lidar, reach)) * LIDAR
            bits |= (distance <= min(self._camera, reach)) * CAMERA
        elif self._mapped:
            bits |= ((distance <= reach) & self._known(agents)) * HISTORY_MAP
        return bits

    def remember(self, agents: AgentBoxes, seen: BoolArray) -> None:
        """Note where those stand (N,) that lidar or camera have seen."""
        for number, box in zip(agents.ids[seen].tolist(), agents.boxes[seen].tolist(), strict=True):
            if abs(box[6]) < STANDS:
                self._mapped[number] = box[0], box[1]
            else:
                self._mapped.pop(number, None)

    def _known(self, agents: AgentBoxes) -> BoolArray:
        places = [self._mapped.get(number, (math.inf, math.inf)) for number in agents.ids.tolist()]
        there = np.array(places).reshape(-1, 2)
        moved = elementwise.hypot(agents.boxes[:, 0] - there[:, 0], agents.boxes[:, 1] - there[:, 1])
        return np.asarray(moved < MOVED_M)


CELL_M = 0.25
SIDE = 240
"""Cells along a side: the grid is a square of 60 m, the car in the middle."""
FULL = 100


def occupancy(stamp: float, pose: Pose, boxes: FloatArray) -> Occupancy:
    """The grid around a pose; boxes (N, >= 6) are x, y, z, heading, length, width in `map`, m and rad.

    It is parallel to the axes of `map` and lies on whole cells, so that a cell stays where it is as the car moves.
    """
    left = (math.floor(pose.x / CELL_M) - SIDE // 2) * CELL_M
    low = (math.floor(pose.y / CELL_M) - SIDE // 2) * CELL_M
    cells = np.zeros((SIDE, SIDE), np.int8)
    middles = (np.arange(SIDE) + 0.5) * CELL_M
    x, y = left + middles, (low + middles)[:, None]
    for cx, cy, _, heading, length, width in boxes[:, :6].tolist():
        s, c = elementary.sin_cos(heading)
        along, across = c * (x - cx) + s * (y - cy), c * (y - cy) - s * (x - cx)
        margin = 0.5 * CELL_M
        cells[(np.abs(along) <= 0.5 * length + margin) & (np.abs(across) <= 0.5 * width + margin)] = FULL
    return Occupancy(stamp, CELL_M, Pose(left, low, 0.0), cells)


LINE_AHEAD_M = 30.0
LINE_STEP_M = 2.0
SLOT_TAKEN_SHARE = 0.8
"""A parking space is taken when something stands in this inner part of it."""


class Sensors:
    """Perfect sensors of limited range; in rain and fog lidar and camera tell of no objects, and in fog lights and
    parking spaces are seen within the visual range only.
    """

    def __init__(self, road_map: RoadMap, parameters: SensorParameters) -> None:
        self._map = road_map
        self._p = parameters
        self._sight = SensorVisibility(parameters.lidar_range, parameters.radar_range, parameters.camera_range)
        self._light_at = _signal_faces(road_map)
        slots, reach = road_map.slots, max(map(abs, road_map.bounds))
        self._row = rows_of("objects", reach)
        self._slots = np.zeros(len(slots), rows_of("parking_slots", reach))
        self._slots["slot"] = [slot.number for slot in slots]
        for column, values in (
            ("x", [slot.pose.x for slot in slots]), ("y", [slot.pose.y for slot in slots]),
            ("heading", [slot.pose.heading for slot in slots]), ("length", [slot.length for slot in slots]),
            ("width", [slot.width for slot in slots]),
        ):  # fmt: skip
            self._slots[column] = values

    def odometry(self, stamp: float, pose: Pose, v: float, yaw_rate: float, localized: bool) -> Odometry:
        """The car's own motion; while localization is lost the pose is said to be useless."""
        lost = 0.0 if localized else self._p.lost_position_std
        return Odometry(stamp, pose, v, yaw_rate, lost, 0.0 if localized else math.pi)

    def objects(self, pose: Pose, z: float, agents: AgentBoxes, blind: bool) -> npt.NDArray[np.void]:
        """Rows of the topic `objects` within range and on the car's level; `blind`: in rain or fog."""
        boxes = agents.boxes
        distance = elementwise.hypot(boxes[:, 0] - pose.x, boxes[:, 1] - pose.y)
        sources = self._sight.sources(agents, distance, self._p.range, blind)
        shown = sources > 0
        for row in np.flatnonzero(shown & (np.abs(boxes[:, 2] - z) > SAME_LEVEL_M)).tolist():
            shown[row] = self._on_one_road(pose, z, boxes[row])
        if agents.seen_as:
            shown &= [agents.seen_as.get(number) is not PerceivedAs.OCCUPANCY for number in agents.ids.tolist()]
        rows = np.flatnonzero(shown)
        seen = boxes[rows]
        table = np.zeros(len(rows), self._row)
        table["id"], table["kind"], table["source"] = agents.ids[rows], agents.kinds[rows], sources[rows]
        table["x"], table["y"], table["heading"] = seen[:, 0], seen[:, 1], seen[:, 3]
        sin, cos = elementwise.sin_cos(seen[:, 3])
        left = np.zeros(len(rows)) if agents.sideways is None else agents.sideways[rows]
        table["vx"], table["vy"] = seen[:, 6] * cos - left * sin, seen[:, 6] * sin + left * cos
        table["length"], table["width"], table["existence"] = seen[:, 4], seen[:, 5], 1.0
        return table

    def remember(self, agents: AgentBoxes, rows: npt.NDArray[np.void]) -> None:
        """Let the history map learn from what is left of the rows of `objects` after all faults of the sensors."""
        optical = set(rows["id"][rows["source"] & (LIDAR | CAMERA) > 0].tolist())
        self._sight.remember(agents, np.array([number in optical for number in agents.ids.tolist()], dtype=np.bool_))

    def _on_one_road(self, pose: Pose, z: float, box: FloatArray) -> bool:
        """Whether a box is higher or lower than the car by what the slopes of the road at both make of the way, and
        not on a bridge.
        """
        dx, dy = float(box[0]) - pose.x, float(box[1]) - pose.y
        rise = 0.0
        for x, y, level in ((pose.x, pose.y, z), (float(box[0]), float(box[1]), float(box[2]))):
            position = self._map.project(x, y, z=level)
            if position is not None:
                sine, cosine = elementary.sin_cos(position.heading)
                way = dx * cosine + dy * sine
                rise += 0.5 * self._map.lanes[position.lane].slope(position.s) * way
        return abs(float(box[2]) - z - rise) <= SAME_LEVEL_M

    def slots(self, pose: Pose, agents: AgentBoxes, visual_range: float = math.inf) -> npt.NDArray[np.void]:
        """Rows of the topic `parking_slots` within range, in fog within the visual range (m)."""
        distance = elementwise.hypot(self._slots["x"] - pose.x, self._slots["y"] - pose.y)
        rows = self._slots[distance <= min(self._p.slot_range, visual_range)].copy()
        rows["occupied"] = _taken(rows, agents.boxes)
        return rows

    def lights_in_view(
        self, pose: Pose, table: npt.NDArray[np.void], visual_range: float = math.inf
    ) -> npt.NDArray[np.void]:
        """The rows of the topic `traffic_lights` whose lights are near enough, in fog within the visual range (m), and
        ahead of the car: no row tells of another one.
        """
        if len(table) == 0:
            return table
        at = np.array([self._light_at[number] for number in table["signal"].tolist()])
        dx, dy = at[:, 0] - pose.x, at[:, 1] - pose.y
        distance = elementwise.hypot(dx, dy)
        in_view = distance <= min(self._p.light_range, visual_range)
        if self._p.light_view < math.pi:
            sine, cosine = elementary.sin_cos(pose.heading)
            ahead = cosine * dx + sine * dy
            in_view &= ahead >= elementary.cos(self._p.light_view) * distance
        return np.asarray(table[in_view])

    def lane_lines(
        self, pose: Pose, position: LanePosition | None, route_lanes: Collection[LaneId]
    ) -> npt.NDArray[np.void]:
        """Rows of the topic `lane_lines`: left (0) and right line of the lane ahead of the car, in `base_link`."""
        if position is None:
            return np.zeros(0, LANE_LINES)
        way = 1 if abs(wrap_angle(pose.heading - position.heading)) <= 0.5 * math.pi else -1
        parts = [self._stretch(lane, s, way) for lane, s in self._lanes_ahead(position, way, route_lanes)]
        line, kind, x, y = np.concatenate(parts, axis=1)
        s, c = elementary.sin_cos(pose.heading)
        table = np.zeros(len(x), LANE_LINES)
        table["line"], table["kind"] = line, kind
        table["x"], table["y"] = c * (x - pose.x) + s * (y - pose.y), c * (y - pose.y) - s * (x - pose.x)
        return table[np.argsort(line, kind="stable")]

    def _lanes_ahead(
        self, position: LanePosition, way: int, route_lanes: Collection[LaneId]
    ) -> Sequence[tuple[Lane, FloatArray]]:
        """Lanes from the car on, along its route where that branches, and the stations (m) of their points; `way`: 1
        in the direction of the lanes, -1 against it.
        """
        lane, s, left = self._map.lanes[position.lane], position.s, LINE_AHEAD_M
        found: list[tuple[Lane, FloatArray]] = []
        while left > 0.0:
            end = min(s + left, lane.length) if way > 0 else max(s - left, 0.0)
            stop = max(end, s + 1e-6) if way > 0 else min(end, s - 1e-6)
            stations: FloatArray = np.arange(s, stop, way * LINE_STEP_M, dtype=np.float64)
            found.append((lane, stations))
            left -= max(way * (end - s), 0.1)
            joined = lane.successors if way > 0 else lane.predecessors
            if not joined:
                break
            lane = self._map.lanes[next((n for n in joined if n in route_lanes), joined[0])]
            s = 0.0 if way > 0 else lane.length
        return found

    def _stretch(self, lane: Lane, s: FloatArray, way: int) -> FloatArray:
        """Both lines of a stretch of lane (4, n): number, kind, x, y in `map`."""
        centre = lane.center
        x, y, heading = (np.interp(s, centre.s, row) for row in (centre.xy[:, 0], centre.xy[:, 1], centre.heading))
        left, right = np.interp(s, centre.s, lane.left), -np.interp(s, centre.s, lane.right)
        sides = ((left, lane.left_marks), (right, lane.right_marks))
        parts = []
        for line, (offset, marks) in enumerate(sides[::way]):
            rows = np.empty((4, len(s)))
            rows[0], rows[1] = line, _kinds_at(marks, s)
            sine, cosine = elementwise.sin_cos(heading)
            rows[2], rows[3] = x - offset * sine, y + offset * cosine
            parts.append(rows)
        return np.concatenate(parts, axis=1)


def _signal_faces(road_map: RoadMap) -> dict[int, tuple[float, float]]:
    """Where (m, in `map`) each light is looked for, by its number."""
    faces = {number: (signal.pose.x, signal.pose.y) for number, signal in road_map.signals.items()}
    for lane_id in road_map.lanes:
        for line in road_map.stop_lines_of(lane_id):
            if line.signal not in faces:
                continue
            lane, at = road_map.place_of(line)
            x, y, heading = road_map.lanes[lane].center.at(at)
            s, c = elementary.sin_cos(heading)
            ahead = c * (faces[line.signal][0] - x) + s * (faces[line.signal][1] - y)
            if ahead < FACE_BEYOND_LINE_M:
                faces[line.signal] = x + FACE_BEYOND_LINE_M * c, y + FACE_BEYOND_LINE_M * s
    return faces


@array_kernel
def _taken(slots: npt.NDArray[np.void], boxes: FloatArray) -> BoolArray:
    """Which parking spaces (rows of the topic `parking_slots`) something stands in, of boxes (N, >= 6)."""
    taken = np.zeros(len(slots), np.bool_)
    for i in range(len(slots)):
        slot = slots[i]
        length, width = SLOT_TAKEN_SHARE * slot["length"], SLOT_TAKEN_SHARE * slot["width"]
        inside = boxes_touched(float(slot["x"]), float(slot["y"]), np.nan, float(slot["heading"]), length, width, boxes)
        taken[i] = len(inside) > 0
    return taken


def _kinds_at(marks: Sequence[LaneMark], s: FloatArray) -> FloatArray:
    """The kind of a line at stations (m) of its lane; where two marks meet, that of the first."""
    kinds: FloatArray = np.full(len(s), float(MarkKind.UNKNOWN))
    for mark in reversed(marks):
        kinds[(mark.s_from <= s) & (s <= mark.s_to)] = float(mark.kind)
    return kinds

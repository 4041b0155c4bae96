"""Where the car could stand, and which lines are in the way."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.rectangles import Box, clip, meets_box, outside
from tuling_fsm.core.request import LaneLine
from tuling_fsm.core.scene import Obstacles, Scene
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.route import Route

_DIRECTIONS = 24


def cut_out(segments: FloatArray, pose: Pose, box: Box) -> FloatArray:
    """The segments without what lies in a box in the frame of the pose."""
    enter, leave = clip(segments, pose, box)
    hit = enter <= leave
    return np.concatenate((segments[~hit], outside(segments[hit], enter[hit], leave[hit])))


def is_free(pose: Pose, scene: Scene, vehicle: Vehicle, clearance: float) -> bool:
    """Whether nothing stands where the car would, with some room around its outline."""
    box = vehicle.box(clearance)
    return not _any_edge_in(scene.static_segments, pose, box) and nothing_in(pose, box, scene.obstacles)


def nothing_in(pose: Pose, box: Box, obstacles: Obstacles) -> bool:
    """Whether no object stands in a box x0, x1, y0, y1 in the frame of the pose, which is in the box."""
    o, reach = obstacles, elementary.hypot(max(box[1], -box[0]), max(box[3], -box[2]))
    return not _any_object_in(o.x, o.y, o.heading, o.length, o.width, o.speed, pose, box, reach)


@kernel
def _any_edge_in(edges: FloatArray, pose: Pose, box: Box) -> bool:
    found = False
    for i in range(len(edges)):
        a, b = (edges[i, 0], edges[i, 1]), (edges[i, 2], edges[i, 3])
        found = found or meets_box(a, b, pose, box)
    return found


@kernel
def _any_object_in(
    center_x: FloatArray, center_y: FloatArray, headings: FloatArray, length: FloatArray, width: FloatArray,
    speed: FloatArray, pose: Pose, box: Box, reach: float,
) -> bool:  # fmt: skip
    """Whether an edge of a standing object is in the box, or the pose in an object, which is then around the box."""
    for i in range(len(speed)):
        dx, dy = pose.x - center_x[i, 0], pose.y - center_y[i, 0]
        if speed[i] >= AGENT_MOVES or elementary.hypot(dx, dy) > reach + elementary.hypot(length[i], width[i]) / 2.0:
            continue
        s, c = elementary.sin_cos(headings[i, 0])
        half_length, half_width = length[i] / 2.0, width[i] / 2.0
        if abs(dx * c + dy * s) <= half_length and abs(dy * c - dx * s) <= half_width:
            return True
        for k in range(4):
            ahead, left = (1.0 if k in (0, 3) else -1.0) * half_length, (1.0 if k < 2 else -1.0) * half_width
            next_ahead, next_left = (1.0 if k > 1 else -1.0) * half_length, (1.0 if k in (0, 3) else -1.0) * half_width
            a = (center_x[i, 0] + ahead * c - left * s, center_y[i, 0] + ahead * s + left * c)
            b = (center_x[i, 0] + next_ahead * c - next_left * s, center_y[i, 0] + next_ahead * s + next_left * c)
            if meets_box(a, b, pose, box):
                return True
    return False


def along_route(
    route: Route, s: float, distances: npt.ArrayLike, scene: Scene, vehicle: Vehicle, clearance: float
) -> Pose:
    """The first free pose of the route at the given distances beyond `s` (m); the last one where none is free."""
    pose = route.reference.at(s)
    for distance in np.asarray(distances, dtype=np.float64):
        pose = route.reference.at(s + float(distance))
        if is_free(pose, scene, vehicle, clearance):
            break
    return pose


def along_lanes(
    lanes: Sequence[LaneLine], distances: npt.ArrayLike, scene: Scene, vehicle: Vehicle, clearance: float
) -> tuple[Pose, ...]:
    """Free poses on the lanes at the given distances ahead of the car (m).

    The nearest one of every lane comes first, the car's own lane before its neighbours; then the second nearest.
    """
    pose = scene.ego.pose
    found: list[tuple[int, int, Pose]] = []
    for lane in sorted(lanes, key=lambda lane: abs(lane.shift)):
        s = lane.center.project(pose.x, pose.y).s
        places = [s + float(distance) for distance in np.asarray(distances, dtype=np.float64)]
        poses = [lane.center.at(place) for place in places if place <= lane.center.length]
        free = [place for place in poses if is_free(place, scene, vehicle, clearance)]
        found += [(nth, abs(lane.shift), place) for nth, place in enumerate(free)]
    return tuple(place for _, _, place in sorted(found, key=lambda item: item[:2]))


def around(scene: Scene, route: Route, s: float, reach: float, vehicle: Vehicle, clearance: float) -> tuple[Pose, ...]:
    """Free poses within `reach` (m) of the car, the nearest to the route ahead of `s` first (EXP-1)."""
    ego = scene.ego.pose
    found: list[tuple[float, Pose]] = []
    for radius in (reach, 0.7 * reach, 0.4 * reach):
        for i in range(_DIRECTIONS):
            angle = ego.heading + 2.0 * math.pi * i / _DIRECTIONS
            sine, cosine = elementary.sin_cos(angle)
            place = Pose(ego.x + radius * cosine, ego.y + radius * sine, angle)
            if is_free(place, scene, vehicle, clearance):
                found.append((abs(route.reference.project(place.x, place.y, s_from=s).offset), place))
    return tuple(place for _, place in sorted(found, key=lambda item: item[0]))


def spread(places: Sequence[Pose], gap: float, count: int) -> tuple[Pose, ...]:
    """The first `count` places that are at least `gap` (m) apart, in their order."""
    chosen: list[Pose] = []
    for place in places:
        if len(chosen) < count and all(elementary.hypot(place.x - p.x, place.y - p.y) >= gap for p in chosen):
            chosen.append(place)
    return tuple(chosen)


def crosses(x0: float, y0: float, x1: float, y1: float, segments: FloatArray) -> bool:
    """Whether the straight way between two points meets a segment."""
    length = elementary.hypot(x1 - x0, y1 - y0)
    enter, leave = clip(segments, Pose(x0, y0, elementary.atan2(y1 - y0, x1 - x0)), (0.0, length, -1e-6, 1e-6))
    return bool(np.any(enter <= leave))

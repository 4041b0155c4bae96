"""What is left of a free-space motion up to its next standstill, as a path among what is around."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.request import Maneuver
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import AT_REST, HELD
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space.speed_profile import SHORTEST
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.obstacles.boxes import CarOnLines, ObstacleColumns
from tuling_fsm.planning.obstacles.static import StaticObstacles, gather_static_obstacles
from tuling_fsm.planning.obstacles.surroundings import Surroundings
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import (
    AT_ONCE,
    PCOS,
    PHEADING,
    PKAPPA,
    PLACES,
    PS,
    PSIN,
    PX,
    PY,
    FrenetPath,
    new_path,
    place_body,
)
from tuling_fsm.planning.paths.reference_line import COLUMNS, COS, EXTENSION, HEADING, KAPPA, SIN, S, X, Y
from tuling_fsm.planning.safety.recovery import Recovery, move_path
from tuling_fsm.planning.start_state import StartState

_SPACING = 0.1
_MAX_POINTS = 240
_BESIDE_M = 1.0


class ManeuverSection(NamedTuple):
    """What is left of a motion up to its next standstill: the path, in directions of travel, the speeds (m/s) that it
    was planned with, the gear (+1, -1), the first row of the whole motion that is ahead, and whether the motion ends
    there.
    """

    path: FloatArray
    speed: FloatArray
    gear: float
    row: int
    last: bool


def next_section(kept: Maneuver, start: StartState, parameters: PlanningParameters) -> ManeuverSection | None:
    """What is to be driven next, from the point nearest to the car on."""
    whole, row, limits = kept.whole, kept.row, parameters.maneuver
    moves = np.abs(whole.v) > AT_REST
    while True:
        ahead = row + np.flatnonzero(moves[row:])
        if len(ahead) == 0:
            return None
        gear = float(np.sign(whole.v[ahead[0]]))
        # It ends at the next standstill, where the gear changes or the wheels are turned.
        stands = np.flatnonzero((np.diff(ahead) > 1) | (np.sign(whole.v[ahead[1:]]) != gear))
        driven = ahead[: stands[0] + 1] if len(stands) else ahead
        end = min(int(driven[-1]) + 1, len(whole) - 1)
        path, speed, row_here = _cut(whole, max(0, int(ahead[0]) - 1), end, start.pose, gear)
        dx, dy = start.pose.x - path[0, PX], start.pose.y - path[0, PY]
        along, aside = dx * path[0, PCOS] + dy * path[0, PSIN], dy * path[0, PCOS] - dx * path[0, PSIN]
        turn = wrap_angle(start.pose.heading - path[0, PHEADING] + (math.pi if gear < 0.0 else 0.0))
        away = max(abs(along), abs(aside)) > limits.off_path
        if away or abs(turn) > limits.off_heading or gear * start.v < -HELD:
            return None
        if path[-1, PS] > _least_left(whole, int(ahead[0]), end, limits.cusp) or abs(start.v) > HELD:
            return ManeuverSection(path, speed, gear, row_here, len(stands) == 0)
        row = end + 1


def _least_left(whole: Trajectory, row: int, end: int, cusp: float) -> float:
    """A stretch that a row is in and that ends at another is driven when this much (m) is left of it: no more than
    half of it, as one that has not begun is not driven.
    """
    if cusp <= SHORTEST:
        return cusp
    before = np.flatnonzero(whole.v[:row] * whole.v[row] <= 0.0)
    rows = slice(int(before[-1]) if len(before) else 0, end + 1)
    length = float(elementwise.hypot(np.diff(whole.x[rows]), np.diff(whole.y[rows])).sum())
    return min(cusp, max(0.5 * length, SHORTEST))


def _cut(whole: Trajectory, first: int, end: int, pose: Pose, gear: float) -> tuple[FloatArray, FloatArray, int]:
    """Rows `first` to `end` from the point nearest to a pose on as a path, its speeds, the row before that point."""
    xy = np.column_stack((whole.x[first : end + 1], whole.y[first : end + 1]))
    way = np.diff(xy, axis=0)
    length2 = np.maximum(np.sum(way * way, axis=1), 1e-12)
    share = np.clip(np.sum((np.array(pose[:2]) - xy[:-1]) * way, axis=1) / length2, 0.0, 1.0)
    foot = xy[:-1] + share[:, None] * way
    at = int(np.argmin(elementwise.hypot(*(foot - np.array(pose[:2])).T)))
    s = np.concatenate((np.zeros(1), np.cumsum(np.sqrt(length2))))
    begin = float(s[at] + share[at] * (s[at + 1] - s[at]))
    n = int(min(_MAX_POINTS, max(2, (s[-1] - begin) / _SPACING + 2)))
    samples = np.linspace(begin, float(s[-1]), n)
    rows = slice(first, end + 1)
    path = new_path(n)
    path[:, PX], path[:, PY] = np.interp(samples, s, whole.x[rows]), np.interp(samples, s, whole.y[rows])
    path[:, PHEADING] = np.interp(samples, s, whole.heading[rows]) + (math.pi if gear < 0.0 else 0.0)
    path[:, PKAPPA] = gear * np.interp(samples, s, whole.curvature[rows])
    path[:, PSIN], path[:, PCOS] = elementwise.sin_cos(path[:, PHEADING])
    path[:, PS] = samples - begin
    return path, np.interp(samples, s, np.abs(whole.v[rows])), first + at


def facing(body: Footprint, gear: float) -> Footprint:
    """The body as seen in the direction of travel: in reverse the rear comes first."""
    if gear > 0.0:
        return body
    return Footprint(body.rear, body.front, -body.middle, body.half_length, body.half_width)


@array_kernel
def _as_line(path: FloatArray, back: int) -> FloatArray:
    """The path as a reference line, straight on beyond its end, and for `back` samples straight back before it."""
    n, spacing = len(path), path[len(path) - 1, PS] / (len(path) - 1)
    line = np.zeros((back + n + int(EXTENSION), COLUMNS))
    for i in range(len(line)):
        at, beyond = min(max(i - back, 0), n - 1), max(0.0, i - back - n + 1.0) + min(0.0, i - back) * spacing
        line[i, X], line[i, Y] = path[at, PX] + beyond * path[at, PCOS], path[at, PY] + beyond * path[at, PSIN]
        line[i, COS], line[i, SIN], line[i, HEADING] = path[at, PCOS], path[at, PSIN], path[at, PHEADING]
        line[i, KAPPA], line[i, S] = path[at, PKAPPA] if beyond == 0.0 else 0.0, path[at, PS] + beyond
    return line


def _samples_back(path: FloatArray, body: Footprint) -> int:
    """So many samples of a path cover what of the body is behind its begin, and somebody beside that."""
    spacing = float(path[-1, PS]) / (len(path) - 1)
    return min(_MAX_POINTS, math.ceil((body.rear + _BESIDE_M) / max(spacing, 1e-3)))


def as_driven(stretch: ManeuverSection, pose: Pose, derived: DerivedParameters) -> FloatArray:
    """The path that the car comes by from where it was measured: it goes on with a motion that it is a little off."""
    driven = stretch.path.copy(order="F")
    heading = pose.heading + (math.pi if stretch.gear < 0.0 else 0.0)
    back = Recovery.of(derived.vehicle, derived.parameters.recovery)
    move_path(driven, stretch.speed, Pose(pose.x, pose.y, heading), back)
    return driven


def surroundings_of(
    path: FloatArray, scene: Scene, body: Footprint, derived: DerivedParameters
) -> tuple[FrenetPath, Surroundings]:
    """A path (n, PATH) as a path on itself, and what is around it."""
    back, wanted = _samples_back(path, body), derived.parameters.clearance.wanted
    line = _as_line(path, back)
    surroundings = Surroundings.of(
        scene, _car_on(line, path, scene, body), solid_gap=0.0, wanted=wanted, moving_gaps=derived.moving_gaps,
        passing=derived.passing,
    )  # fmt: skip
    places = np.zeros((PLACES, len(path) + AT_ONCE))
    place_body(path, len(path), body.middle, places)
    return FrenetPath(path, len(path), 1 + back, line, 0, places), surroundings


def static_along(path: FloatArray, scene: Scene, derived: DerivedParameters) -> tuple[FrenetPath, StaticObstacles]:
    """The same of a path that is driven forward and only has to be free of what never moves."""
    line, wanted = _as_line(path, 0), derived.parameters.clearance.wanted
    car = _car_on(line, path, scene, derived.body)
    static = gather_static_obstacles(ObstacleColumns.of(scene.obstacles), scene.static_segments, 0.0, wanted, car, 0.0)
    return FrenetPath(path, len(path), 1, line, 0), static


def _car_on(line: FloatArray, path: FloatArray, scene: Scene, body: Footprint) -> CarOnLines:
    """The car at the begin of a path, which is its line."""
    pose = (float(path[0, PX]), float(path[0, PY]), float(path[0, PHEADING]), float(path[0, PKAPPA]))
    return CarOnLines(
        lines=line[None], points=np.array([len(line)]), offsets=np.zeros(1), pose=pose, v=abs(scene.ego.v),
        body=body,
    )  # fmt: skip

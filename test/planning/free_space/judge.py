"""What makes a free-space trajectory drivable, checked from its rows alone."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import shapely
from shapely import STRtree
from shapely.geometry import LineString, Polygon

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.request import PlanResult
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle

Rows = FloatArray
Shape = Polygon | LineString


def box_of(vehicle: Vehicle) -> Polygon:
    half = vehicle.width / 2.0
    return Polygon(
        [(vehicle.front, half), (-vehicle.rear_overhang, half), (-vehicle.rear_overhang, -half), (vehicle.front, -half)]
    )


def placed_at(box: Polygon, poses: Rows) -> npt.NDArray[np.object_]:
    """A box at each of the poses (x, y, heading), n rows."""
    corners, heading = shapely.get_coordinates(box), poses[:, 2, None]
    sine, cosine = np.sin(heading), np.cos(heading)
    x = poses[:, 0, None] + cosine * corners[:, 0] - sine * corners[:, 1]
    y = poses[:, 1, None] + sine * corners[:, 0] + cosine * corners[:, 1]
    boxes: npt.NDArray[np.object_] = shapely.polygons(np.stack((x, y), axis=-1))
    return boxes


def placed(box: Polygon, x: float, y: float, heading: float) -> Polygon:
    return placed_at(box, np.array(((x, y, heading),)))[0]


def lines_of(segments: FloatArray) -> list[Shape]:
    return [LineString([(x0, y0), (x1, y1)]) for x0, y0, x1, y1 in segments]


def rows_of(plan: PlanResult | Trajectory, vehicle: Vehicle) -> Rows:
    """Rows t, x, y, heading, v, steer."""
    trajectory = plan.trajectory if isinstance(plan, PlanResult) else plan
    assert trajectory is not None
    steer = np.arctan(trajectory.curvature * vehicle.wheelbase)
    return np.column_stack((trajectory.t, trajectory.x, trajectory.y, trajectory.heading, trajectory.v, steer))


def _slope(t: Rows, q: Rows) -> float:
    """Largest rate of change over 0.1 s."""
    later = np.searchsorted(t, t + 0.1 - 1e-9)
    i = np.flatnonzero(later < len(t))
    return float((np.abs(q[later[i]] - q[i]) / (t[later[i]] - t[i])).max(initial=0.0))


def limit_problems(rows: Rows, vehicle: Vehicle, top: float, v0: float = 0.0) -> list[str]:
    t, x, y, _, v, steer = rows.T
    found = []
    step, moving = np.hypot(np.diff(x), np.diff(y)), np.maximum(np.abs(v[:-1]), np.abs(v[1:])) > 1e-3
    if not np.all(np.diff(t) > 0.0):
        found.append("time does not increase")
    if np.any(step > 0.101) or np.any(np.diff(t)[moving] > 0.0501) or np.any(step[~moving] > 1e-3):
        found.append("rows too far apart")
    if abs(abs(v[0]) - v0) > 1e-6 or abs(v[-1]) > 1e-6:
        found.append(f"ends with {v[0]:.3f} and {v[-1]:.3f} m/s")
    if np.any(v[:-1] * v[1:] < 0.0):
        found.append("changes gear without standing")
    accel = max(vehicle.max_accel, vehicle.comfort_decel)
    for name, worst, limit in (
        ("steering", np.abs(steer).max(), vehicle.max_steer),
        ("steering rate", _slope(t, steer), vehicle.max_steer_rate),
        ("speed", v.max(), max(v0, min(top, vehicle.max_speed))),
        ("reverse speed", -v.min(), max(v0, min(top, vehicle.max_reverse_speed))),
        ("acceleration", _slope(t, v), accel),
    ):
        if worst > 1.01 * limit + 1e-6:
            found.append(f"{name} {worst:.3f}")
    return found


def model_error(rows: Rows, vehicle: Vehicle) -> float:
    """Largest departure (m, rad) of the single-track model driven by the rows' speed and steering for a second."""
    t, x, y, h, v, steer = rows.T
    worst, i = 0.0, 0
    while i < len(t) - 1:
        px, py, ph, j = x[i], y[i], h[i], i
        while j < len(t) - 1 and t[j] - t[i] < 1.0:
            dt = (t[j + 1] - t[j]) / 4.0
            for k in range(4):
                s = (k + 0.5) / 4.0
                u = v[j] + s * (v[j + 1] - v[j])
                yaw = u * math.tan(steer[j] + s * (steer[j + 1] - steer[j])) / vehicle.wheelbase
                px += u * math.cos(ph + 0.5 * yaw * dt) * dt
                py += u * math.sin(ph + 0.5 * yaw * dt) * dt
                ph += yaw * dt
            j += 1
        worst = max(worst, math.hypot(px - x[j], py - y[j]), abs(ph - h[j]))
        i = j
    return worst


def first_touch(rows: Rows, vehicle: Vehicle, shapes: Iterable[Shape]) -> int:
    """The first row at or after which the car, placed every 2 cm, touches a shape; -1 if it never does."""
    solid = np.array(list(shapes), dtype=object)
    begin, way = rows[:-1, 1:4], np.diff(rows[:, 1:4], axis=0)
    far = np.hypot(way[:, 0], way[:, 1]) + 4.0 * np.abs(way[:, 2])
    count = np.maximum(1, np.ceil(far / 0.02)).astype(int)
    row = np.repeat(np.arange(len(count)), count)
    share = (np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)) / count[row]
    cars = placed_at(box_of(vehicle), begin[row] + way[row] * share[:, None])
    near, at = STRtree(solid).query(cars, predicate="intersects")
    touch = shapely.intersection(cars[near], solid[at])
    area, length = shapely.area(touch), shapely.length(touch)
    touched = row[near[(area > 1e-6) | ((area == 0.0) & (length > 1e-3))]]
    return int(touched.min(initial=len(rows))) if len(touched) else -1


def problems(
    rows: Rows, vehicle: Vehicle, shapes: Iterable[Shape] = (), top: float = math.inf, v0: float = 0.0
) -> list[str]:
    """Everything that is wrong with a trajectory."""
    found = limit_problems(rows, vehicle, top, v0)
    error = model_error(rows, vehicle)
    if error > 0.01:
        found.append(f"departs from the model by {error:.3f}")
    touch = first_touch(rows, vehicle, shapes)
    if touch >= 0:
        found.append(f"touches something at {rows[touch]}")
    return found


def cusps(rows: Rows) -> int:
    sign = np.sign(rows[np.abs(rows[:, 4]) > 1e-3, 4])
    return int(np.count_nonzero(np.diff(sign)))

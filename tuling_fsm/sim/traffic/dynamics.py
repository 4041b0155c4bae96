"""Motion of a vehicle with dynamics: PID control of pedals and wheels, and a kinematic bicycle that answers them.

The pedals hold the speed that the wanted accelerations add up to, the wheels turn towards a point of the path ahead.
The motor lags, the wheels turn at a limited rate, and the body goes where the wheels point (TM-1, TM-3).
"""

from __future__ import annotations

from tuling_fsm.core import elementary
from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.traffic.collision import Driver
from tuling_fsm.sim.traffic.fleet import AXLE_SHARE, Fleet, nearest_sample, offset_at, path_point
from tuling_fsm.sim.traffic.lane_graph import LaneGraph

PEDAL_P, PEDAL_I, PEDAL_D = 2.0, 0.2, 0.05
WHEEL_P, WHEEL_I, WHEEL_D = 1.0, 0.05, 0.02
"""Times the angle that would lead a bicycle on an arc to the point ahead."""
PEDAL_LAG_S = 0.1
MOTOR = 2.0
"""The motor gives at most this multiple of the usual acceleration."""
MAX_LAG = 0.25
"""The target speed is at most this far from the present one, m/s."""
LOOK_M, LOOK_S = 0.3, 0.15
"""The point ahead of the front axle."""
MAX_STEER, STEER_RATE = 0.75, 2.5
STANDING = 0.05


@kernel
def take_wheel(fleet: Fleet, i: int) -> None:
    """Begin with dynamics: as fast as it is, wheels straight."""
    car = fleet.car
    car.physical[i], car.target[i] = True, car.v[i]
    car.steer[i], car.error[i], car.error_sum[i], car.lag_sum[i] = 0.0, 0.0, 0.0, 0.0


@kernel
def press_pedals(fleet: Fleet, i: int, wanted: float, k: Driver, dt: float) -> float:
    """Speed after `dt` s when `wanted` (m/s^2) is asked for."""
    car = fleet.car
    v = car.v[i]
    target = min(max(car.target[i] + wanted * dt, v - MAX_LAG, 0.0), v + MAX_LAG)
    lag = target - v
    car.lag_sum[i] = min(max(car.lag_sum[i] + lag * dt, -1.0), 1.0)
    change = (lag - (car.target[i] - v)) / dt
    car.target[i] = target
    pedal = wanted + PEDAL_P * lag + PEDAL_I * car.lag_sum[i] + PEDAL_D * change
    pedal = min(max(pedal, -k.max_decel), MOTOR * k.max_accel)
    a = car.a[i] + (pedal - car.a[i]) * dt / (PEDAL_LAG_S + dt)
    if target < STANDING and v < STANDING and wanted <= 0.0:
        car.lag_sum[i] = 0.0
        return 0.0
    return float(max(v + a * dt, 0.0))


@kernel
def turn_wheels(graph: LaneGraph, fleet: Fleet, i: int, k: Driver, dt: float) -> None:
    """Turn the front wheels towards the point of the path ahead."""
    car = fleet.car
    axle = AXLE_SHARE * car.length[i]
    base = 2.0 * axle
    rear_x, rear_y = car.x[i] - axle * elementary.cos(car.heading[i]), car.y[i] - axle * elementary.sin(car.heading[i])
    ahead = base + LOOK_M + LOOK_S * car.v[i]
    offset = offset_at(fleet, i, (ahead - axle) / max(car.v[i], 1.0), k.lane_change_time)
    x, y, _ = path_point(graph, fleet, i, car.arc[i] - axle + ahead, offset)
    way = elementary.hypot(x - rear_x, y - rear_y)
    angle = elementary.atan2(y - rear_y, x - rear_x) - car.heading[i]
    angle = elementary.atan2(elementary.sin(angle), elementary.cos(angle))
    error = elementary.atan(2.0 * base * elementary.sin(angle) / max(way, base))
    rate = (error - car.error[i]) / dt
    car.error[i] = error
    car.error_sum[i] = min(max(car.error_sum[i] + error * dt, -0.5), 0.5)
    wanted = WHEEL_P * error + WHEEL_I * car.error_sum[i] + WHEEL_D * rate
    wanted = min(max(wanted, -MAX_STEER), MAX_STEER)
    car.steer[i] += min(max(wanted - car.steer[i], -STEER_RATE * dt), STEER_RATE * dt)


@kernel
def roll(graph: LaneGraph, fleet: Fleet, i: int, way: float, k: Driver) -> None:
    """Move the body by `way` (m) where its wheels point, and find it on its path."""
    car = fleet.car
    axle = AXLE_SHARE * car.length[i]
    before = car.heading[i]
    turn = way * elementary.tan(car.steer[i]) / (2.0 * axle)
    rear_x, rear_y = car.x[i] - axle * elementary.cos(before), car.y[i] - axle * elementary.sin(before)
    rear_x, rear_y = (
        rear_x + way * elementary.cos(before + 0.5 * turn),
        rear_y + way * elementary.sin(before + 0.5 * turn),
    )
    car.heading[i] = elementary.atan2(elementary.sin(before + turn), elementary.cos(before + turn))
    car.x[i], car.y[i] = rear_x + axle * elementary.cos(car.heading[i]), rear_y + axle * elementary.sin(car.heading[i])
    arc = car.arc[i] - axle + way
    offset = offset_at(fleet, i, -axle / max(car.v[i], 1.0), k.lane_change_time)
    x, y, heading = path_point(graph, fleet, i, arc, offset)
    ahead = (rear_x - x) * elementary.cos(heading) + (rear_y - y) * elementary.sin(heading)
    car.arc[i] = arc + axle + min(max(ahead, -way), way)
    car.z[i] = graph.sample.z[nearest_sample(graph, fleet, i)]

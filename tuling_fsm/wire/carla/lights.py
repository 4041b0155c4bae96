"""CARLA's traffic lights as the map's signals.

CARLA numbers its lights as it likes, and tells where each stands and for which stretch of road it is meant (the trigger
volume). So every light is given the signal of the map that stands and stops nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import Signal, StopLine
from tuling_fsm.wire.carla.messages import LIGHT_INFO, LIGHT_STATUS
from tuling_fsm.wire.cdr import check_finite, pose_value, unpack
from tuling_fsm.world.inputs import TRAFFIC_LIGHTS, Light

STATES = {0: Light.RED, 1: Light.YELLOW, 2: Light.GREEN, 3: Light.DARK, 4: Light.UNKNOWN}
"""By `CarlaTrafficLightStatus.state`."""
REACH_M = 20.0
"""A light and a signal that are further apart than this, by the mean of pole and stop line, are not the same."""


NOWHERE_M = 1.0e6
"""Still further apart makes no difference."""


class CarlaLight(NamedTuple):
    """A light of CARLA: where its pole stands, and the middle of its trigger volume, both in `map`, m."""

    id: int
    pole: tuple[float, float]
    trigger: tuple[float, float]


def unpack_lights(raw: bytes) -> tuple[CarlaLight, ...]:
    """All lights of `/carla/traffic_lights/info`. The trigger volume's centre is given in the frame of the light.

    Raises:
        InputError: a place that is not finite.
    """
    found = []
    for item in unpack(raw, LIGHT_INFO, "traffic_lights/info").traffic_lights:
        where, centre = f"traffic_lights/info: {item.id}", item.trigger_volume.center
        pose = pose_value(item.transform, where)
        check_finite(where, trigger_x=float(centre.x), trigger_y=float(centre.y))
        found.append(CarlaLight(int(item.id), (pose.x, pose.y), _from(pose, float(centre.x), float(centre.y))))
    return tuple(found)


def unpack_states(raw: bytes) -> dict[int, Light]:
    """The state of every light by CARLA's number; one that is not known is unknown."""
    items = unpack(raw, LIGHT_STATUS, "traffic_lights/status").traffic_lights
    return {int(item.id): STATES.get(int(item.state), Light.UNKNOWN) for item in items}


def match_lights(
    lights: Sequence[CarlaLight], signals: Sequence[Signal], stop_lines: Sequence[StopLine]
) -> dict[int, int]:
    """The map's signal number of each light, by CARLA's number; lights that fit no signal are left out.

    One to one, so that the sum of the distances is least: from pole to pole, and from the trigger volume to the middle
    of the signal's nearest stop line where it has one.
    """
    dynamic = [signal for signal in signals if signal.dynamic]
    if not lights or not dynamic:
        return {}
    poles = np.array([(signal.pose.x, signal.pose.y) for signal in dynamic])
    cost = 0.5 * _distances(np.array([light.pole for light in lights]), poles)
    triggers = np.array([light.trigger for light in lights])
    for column, signal in enumerate(dynamic):
        lines = [line for line in stop_lines if line.signal == signal.number]
        if lines:
            middles = np.array([(0.5 * (line.x0 + line.x1), 0.5 * (line.y0 + line.y1)) for line in lines])
            cost[:, column] += 0.5 * _distances(triggers, middles).min(axis=1)
        else:
            cost[:, column] *= 2.0
    rows, columns = linear_sum_assignment(np.minimum(cost, NOWHERE_M))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {lights[row].id: dynamic[column].number for row, column in pairs if cost[row, column] <= REACH_M}


def lights_table(states: Mapping[int, Light], numbers: Mapping[int, int]) -> npt.NDArray[np.void]:
    """Rows of the topic `traffic_lights`: every matched light by the map's number, unknown until a state has come."""
    rows = np.zeros(len(numbers), TRAFFIC_LIGHTS)
    for row, (carla, number) in zip(rows, sorted(numbers.items()), strict=True):
        state = states.get(carla, Light.UNKNOWN)
        row["signal"], row["state"], row["confidence"] = number, state, float(state is not Light.UNKNOWN)
    return rows


def _from(pose: Pose, x: float, y: float) -> tuple[float, float]:
    s, c = elementary.sin_cos(pose.heading)
    return pose.x + c * x - s * y, pose.y + s * x + c * y


def _distances(one: FloatArray, other: FloatArray) -> FloatArray:
    """Of every row (N, 2) from every row (M, 2)."""
    between = one[:, None, :] - other[None, :, :]
    return np.asarray(elementwise.hypot(between[..., 0], between[..., 1]), dtype=np.float64)

"""CARLA's lights find the signals of the map."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.lights import (
    CarlaLight,
    lights_table,
    match_lights,
    unpack_lights,
    unpack_states,
)
from tuling_fsm.wire.carla.messages import new, packed
from tuling_fsm.wire.cdr import TYPES, pose_message
from tuling_fsm.world.inputs import Light

pytestmark = pytest.mark.clause("CAR-1")
VECTOR = TYPES["geometry_msgs/msg/Vector3"]


def light_info(number: int, pose: Pose, centre: tuple[float, float]) -> object:
    box = new("carla_msgs/msg/CarlaBoundingBox", center=VECTOR(*centre, 0.0), size=VECTOR(2.0, 3.5, 2.0))
    return new("carla_msgs/msg/CarlaTrafficLightInfo", id=number, transform=pose_message(pose), trigger_volume=box)


def test_the_trigger_volume_is_turned_with_its_light():
    raw = packed(messages.LIGHT_INFO, traffic_lights=[light_info(41, Pose(10.0, 20.0, math.pi / 2), (3.0, 1.0))])
    (light,) = unpack_lights(raw)
    assert light.id == 41 and light.pole == (10.0, 20.0)
    assert light.trigger == pytest.approx((9.0, 23.0))


def test_states_are_those_of_the_planner():
    items = [new("carla_msgs/msg/CarlaTrafficLightStatus", id=i, state=s) for i, s in enumerate((0, 1, 2, 3, 4, 77))]
    states = unpack_states(packed(messages.LIGHT_STATUS, traffic_lights=items))
    assert list(states.values()) == [
        Light.RED, Light.YELLOW, Light.GREEN, Light.DARK, Light.UNKNOWN, Light.UNKNOWN,
    ]  # fmt: skip


@pytest.mark.parametrize("town", ["carla_Town01", "carla_Town07"])
@pytest.mark.medium
def test_every_light_of_a_town_finds_its_signal_though_poles_and_volumes_are_metres_off(shared_data, town):
    road_map = read_map(shared_data / "maps" / f"{town}.xodr")
    signals = [signal for signal in road_map.signals.values() if signal.dynamic]
    rng = np.random.default_rng(1)
    lights, right = [], {}
    for number, row in enumerate(rng.permutation(len(signals)).tolist()):
        signal = signals[row]
        lines = [line for line in road_map.stop_lines if line.signal == signal.number]
        middle = (0.5 * (lines[0].x0 + lines[0].x1), 0.5 * (lines[0].y0 + lines[0].y1)) if lines else signal.pose[:2]
        pole = tuple((np.array(signal.pose[:2]) + rng.uniform(-1.5, 1.5, 2)).tolist())
        trigger = tuple((np.array(middle) + rng.uniform(-2.0, 2.0, 2)).tolist())
        lights.append(CarlaLight(500 + number, pole, trigger))
        right[500 + number] = signal.number
    assert match_lights(lights, signals, road_map.stop_lines) == right
    stray = CarlaLight(9, (1e4, 1e4), (1e4, 1e4))
    assert match_lights([*lights, stray], signals, road_map.stop_lines) == right


def test_a_map_without_signals_and_a_world_without_lights_match_nothing():
    assert match_lights([], [], []) == {}
    assert match_lights([CarlaLight(1, (0.0, 0.0), (0.0, 0.0))], [], []) == {}


def test_the_table_has_every_matched_light_unknown_until_told():
    rows = lights_table({11: Light.GREEN, 99: Light.RED}, {11: 4, 12: 3})
    assert rows.tolist() == [(4, Light.GREEN, 1.0), (3, Light.UNKNOWN, 0.0)]


def test_lights_at_the_end_of_the_world_match_nothing_and_disturb_no_other(course):
    signal = next(each for each in course.signals.values() if each.dynamic)
    here = (signal.pose.x, signal.pose.y)
    near, far = CarlaLight(1, here, here), CarlaLight(2, (1e300, -1e300), (1e300, 1e308))
    assert set(match_lights([far, near], [signal], [])) == {1}


def test_a_trigger_volume_that_is_nowhere_is_refused():
    raw = packed(messages.LIGHT_INFO, traffic_lights=[light_info(4, Pose(1.0, 2.0, 0.0), (math.nan, 0.0))])
    with pytest.raises(InputError, match="traffic_lights/info: 4: trigger_x is nan"):
        unpack_lights(raw)

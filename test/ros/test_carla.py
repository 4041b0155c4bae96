"""The bridge to CARLA as a process of its own on real Fast DDS, with a planner, against a stand-in for CARLA."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest
from patience import LONG_PATIENCE_S, PATIENCE_S

from ros.carla_stand_in import StandInCarla
from ros.rig import Rig, stop_process
from tuling_fsm.core.geometry import Pose

pytestmark = [pytest.mark.ros, pytest.mark.clause("CAR-1")]

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "config" / "course" / "course.xodr"
BRIDGE = Path(__file__).with_name("carla_program.py")
NO_HURRY: dict[str, object] = {"answer_timeout": 10.0}
"""A planner on a slow machine is not late."""


class CarlaRig(Rig):
    """A planner, the bridge and the stand-in."""

    def start_bridge(self, **parameters: object):
        settings = [part for name, value in (NO_HURRY | parameters).items() for part in ("-p", f"{name}:={value}")]
        return self.start(str(BRIDGE), "--ros-args", "-p", f"map_file:={COURSE}", *settings)

    def carla(self, **how: object) -> StandInCarla:
        return StandInCarla(self.node, lambda: self.executor.spin_once(timeout_sec=0.05), **how)

    def set_bridge(self, name: str, value: str, carla: StandInCarla) -> None:
        from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
        from rcl_interfaces.srv import SetParameters

        client = self.node.create_client(SetParameters, "carla_bridge/set_parameters")
        self.until(client.service_is_ready)
        word = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
        future = client.call_async(SetParameters.Request(parameters=[Parameter(name=name, value=word)]))
        while not future.done():
            carla.tick()
        assert future.result().results[0].successful

    def call_bridge(self, name: str) -> None:
        from std_srvs.srv import Trigger

        client = self.node.create_client(Trigger, f"carla_bridge/{name}")
        self.until(client.service_is_ready)
        future = client.call_async(Trigger.Request())
        self.until(future.done)
        assert future.result().success


@pytest.fixture
def rig():
    with CarlaRig() as rig:
        yield rig


def test_a_thousand_ticks_have_one_command_each_also_standing_and_in_an_emergency_stop(rig, tmp_path):
    (tmp_path / "town.xodr").write_text("map")
    rig.serve_routes()
    rig.start_planner(map_file=tmp_path / "town.xodr", lock_step=True)
    carla = rig.carla(ego=Pose(20.0, -1.75, 0.0))
    rig.start_bridge(emergency_stop="go", waypoints=False)
    rig.activate()
    rig.until(carla.is_heard)
    carla.begin(speed=4.5)
    speeds = []
    for k in range(1000):
        if k in (100, 600):
            rig.set_bridge("emergency_stop", "stop" if k == 100 else "go", carla)
        carla.tick()
        speeds.append(carla.car.v)
    assert len(carla.ticks) >= 1000
    assert carla.answered_stamps() == carla.ticks
    assert 4.5 < speeds[90] < 5.5 and 4.5 < speeds[-1] < 5.5
    assert max(speeds[300:600]) == 0.0
    assert {command.throttle for command in carla.commands[400:600]} == {0.0}
    assert not any(command.throttle > 0.0 and command.brake > 0.0 for command in carla.commands)
    assert carla.car.pose.y == pytest.approx(-1.75, abs=0.05)


def test_paused_worlds_lost_planners_and_the_end_of_the_bridge(rig, tmp_path):
    (tmp_path / "town.xodr").write_text("map")
    rig.serve_routes()
    planner = rig.start_planner(map_file=tmp_path / "town.xodr", lock_step=True)
    carla = rig.carla(ego=Pose(20.0, -1.75, 0.0))
    bridge = rig.start_bridge(answer_timeout=0.5)
    rig.activate()
    rig.until(carla.is_heard)
    carla.begin(speed=4.5)

    rig.call_bridge("pause")
    carla.run_until(lambda: not carla.running)
    ticks = len(carla.ticks)
    for steps in range(1, 4):
        rig.call_bridge("step")
        carla.run_until(partial(carla.has_ticked, ticks + steps))
        assert not carla.running and carla.answered_stamps() == carla.ticks
    rig.call_bridge("play")
    carla.run_until(partial(carla.has_ticked, ticks + 8))
    assert carla.answered_stamps() == carla.ticks

    before = carla.car.v
    stop_process(planner)
    for _ in range(10):
        carla.tick()
    assert carla.car.v < before - 0.5
    assert carla.answered_stamps() == carla.ticks
    said = carla.see_off(bridge)
    assert "no trajectory for" in said
    assert bridge.returncode == 0
    rig.until(lambda: carla.commands[-1].brake > 0.5 and carla.commands[-1].throttle == 0.0)
    assert carla.answered_stamps() == carla.ticks[: len(carla.commands)]


def test_the_map_of_the_world_is_saved_also_for_a_late_subscriber(rig, tmp_path):
    from tuling_fsm.wire.carla import messages

    carla = rig.carla()
    text = COURSE.read_text(encoding="utf-8")
    carla.publish("world_info", messages.WORLD_INFO, map_name="course", opendrive=text)
    file = tmp_path / "deep" / "map.xodr"
    saver = rig.start(str(BRIDGE), "map", "--ros-args", "-p", f"map_file:={file}")
    said, _ = saver.communicate(timeout=PATIENCE_S)
    assert saver.returncode == 0, said
    assert file.read_text(encoding="utf-8") == text
    late = rig.start(
        str(BRIDGE), "map", "--ros-args", "-p", f"map_file:={file}", "-p", "timeout:=0.1", "-r", "/carla/world_info:=/x"
    )
    said, _ = late.communicate(timeout=PATIENCE_S)
    assert late.returncode == 1 and "no /carla/world_info within 0.1 s" in said


@pytest.mark.slow
def test_a_scenario_of_the_simulator_starts_through_the_spawn_services(rig, tmp_path):
    """roam.osc on the course with the product's own planner and route server."""
    planner = (
        "-m",
        "tuling_fsm.ros.executable",
        "planner",
        "--ros-args",
        "-p",
        f"map_file:={COURSE}",
        "-p",
        "lock_step:=true",
    )
    rig.start(*planner)
    rig.start("-m", "tuling_fsm.ros.executable", "route_server", "--ros-args", "-p", f"map_file:={COURSE}")
    carla = rig.carla()
    scenario = ROOT / "config" / "scenarios" / "roam.osc"
    overrides = '{"vehicles": "4", "pedestrians": "2", "length_m": "200"}'
    bridge = rig.start_bridge(
        scenario=scenario, overrides=f"'{overrides}'", ego_type="vehicle.tesla.model3", out=tmp_path
    )
    assert rig.planner.change("configure", LONG_PATIENCE_S)
    assert rig.planner.change("activate", PATIENCE_S)
    while carla.car is None or not carla.is_heard():
        carla.tick()
    carla.begin(speed=1.0)
    start = carla.car.pose
    before = carla.poses()
    for _ in range(120):
        carla.tick()
    assert carla.answered_stamps() == carla.ticks
    moved = {name: math.dist(pose[:2], before[name][:2]) for name, pose in carla.poses().items()}
    assert sum(name.startswith("tuling_10") and way > 5.0 for name, way in moved.items()) >= 3
    assert sum(thing.type.startswith("vehicle.") for thing in carla.things.values()) == 4
    assert sum(thing.type.startswith("walker.") for thing in carla.things.values()) == 2
    assert math.dist(carla.car.pose[:2], start[:2]) > 10.0
    assert "commands" in carla.see_off(bridge)
    rig.until(lambda: all(thing.parent for thing in carla.things.values()))

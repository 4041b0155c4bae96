"""The page for the first day with CARLA says what there is, and its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from patience import PATIENCE_S

from tuling_fsm.cli import main
from tuling_fsm.core.parameters import describe, load, nest
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.ros.carla.actor_spawner import SENSORS
from tuling_fsm.ros.carla.nodes import RUN_SERVICES
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.actors import LIGHTS_SENSOR
from tuling_fsm.wire.carla.messages import HEARD, topic_name

pytestmark = pytest.mark.clause("CAR-1")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "carla.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^(<!-- run -->\n)?```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LAUNCH = (ROOT / "launch" / "carla.launch.py").read_text(encoding="utf-8")
ARGUMENTS = set(re.findall(r'DeclareLaunchArgument\(\s*"(\w+)"', LAUNCH))
PARAMETERS = {spec.name: spec for spec in describe(CarlaParameters)}


def table(heading: str) -> dict[str, str]:
    """Its first two columns."""
    found = re.search(rf"^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None, heading
    rows = [[cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]
    return {name: second for name, second, *_ in rows}


def test_every_launch_argument_and_service_is_told_and_every_parameter_exists():
    assert set(table("launch argument")) == ARGUMENTS
    assert set(table("service")) == set(RUN_SERVICES)
    told = set(table("parameter"))
    assert told <= set(PARAMETERS)
    assert {name for name in PARAMETERS if "." not in name} <= told


def test_every_topic_is_told_with_its_type():
    told = table("topic of CARLA")
    for topic in (*HEARD, messages.COMMAND, messages.RUN, messages.WEATHER_WISH):
        assert told[topic_name(topic, "<role>")] == topic.type
    assert told[topic_name(messages.SET_TRANSFORM, "<actor>")] == messages.SET_TRANSFORM.type
    for sensor in (LIGHTS_SENSOR, *(kind for kind, _ in SENSORS)):
        assert f"`{sensor}`" in PAGE


def test_the_commands_name_what_there_is():
    for _, body in FENCE.findall(PAGE):
        for line in body.splitlines():
            if "ros2 launch tuling_fsm" in line:
                assert "carla.launch.py" in line and set(re.findall(r"(\w+):=", line)) <= ARGUMENTS
            for name, value in re.findall(r"ros2 param set /carla_bridge (\S+) (\S+)", line):
                assert PARAMETERS[name].live
                PARAMETERS[name].check(yaml.safe_load(value))
            for name in re.findall(r"ros2 service call /carla_bridge/(\w+)", line):
                assert name in RUN_SERVICES
    assert all((ROOT / "docs" / link).is_file() for link in re.findall(r"\]\(([^)#:]+)\)", PAGE))


def test_the_parameters_that_the_launch_file_sets_exist_and_the_file_of_the_car_fits():
    bridge = LAUNCH[LAUNCH.index('"carla_bridge",') :]
    assert set(re.findall(r'"(\w+)": ', bridge)) <= set(PARAMETERS)
    values = yaml.safe_load((ROOT / "config" / "carla_model3.yaml").read_text(encoding="utf-8"))
    vehicle = load(CarlaParameters, nest(values["/**"]["ros__parameters"])).vehicle
    assert vehicle != Vehicle()
    assert vehicle.length == pytest.approx(4.79, abs=0.02)


def test_the_message_packages_are_imported_in_one_place_only():
    importing = re.compile(r"^\s*(?:import|from) (?:carla|derived_object_msgs)\b|PACKAGES = ", re.MULTILINE)
    files = [file for file in (ROOT / "tuling_fsm").rglob("*.py") if importing.search(file.read_text(encoding="utf-8"))]
    assert [file.relative_to(ROOT).as_posix() for file in files] == ["tuling_fsm/ros/carla/topics.py"]


@pytest.mark.slow
def test_the_commands_that_need_no_carla_run(tmp_path, monkeypatch, capsys):
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    lines = [line for marked, body in FENCE.findall(PAGE) if marked for line in body.splitlines()]
    assert lines
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "tuling-fsm" and main(arguments) == 0, line


@pytest.mark.ros
def test_without_the_message_packages_the_bridge_ends_with_one_line():
    import subprocess
    import sys

    from tuling_fsm.ros.environment import child_environment

    for name in ("carla_bridge", "carla_map"):
        command = [sys.executable, "-c", f"""
import sys
sys.modules["carla_msgs"] = None
from tuling_fsm.ros.executable import {name}
sys.exit({name}(["{name}"]))
"""]  # fmt: skip
        done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 2
        assert done.stderr.startswith("carla_msgs: cannot be imported: ") and len(done.stderr.splitlines()) == 1

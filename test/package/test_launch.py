"""The launch files describe what there is: executables, their parameters, their arguments, the way to `active`."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from package.launch_stand_in import Said, install
from tuling_fsm.core.parameters import describe
from tuling_fsm.core.topics import INPUTS, OUTPUTS
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.node_parameters import RouteServerParameters
from tuling_fsm.ros.parameter_file import specs_of

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "launch").glob("*.launch.py"))
EXECUTABLES = set(
    re.findall(r'"\w+ = tuling_fsm\.ros\.executable:(\w+)"', (ROOT / "setup.py").read_text(encoding="utf-8"))
)
CONFIGURE, ACTIVATE = 1, 3
STARTED = {
    "planner.launch.py": {"planner", "view"},
    "sim.launch.py": {"planner", "route_server", "sim"},
    "carla.launch.py": {"planner", "route_server", "carla_map", "carla_bridge"},
    "replay.launch.py": {"planner", "route_server"},
}
KNOWN = {
    "planner": {spec.name for spec in specs_of("planner")},
    "sim": {spec.name for spec in specs_of("sim")},
    "route_server": {spec.name for spec in describe(RouteServerParameters)},
    "carla_bridge": {spec.name for spec in describe(CarlaParameters)},
    "view": {spec.name for spec in specs_of("view")},
    "carla_map": {"map_file", "timeout"},
}


def described(file: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """All that a launch file asks for, at once or when something has happened."""
    install(monkeypatch, str(ROOT))
    description = runpy.run_path(str(file))["generate_launch_description"]()
    later = [
        then(Exited(), None)
        for handler in description.every("OnProcessExit")
        if callable(then := handler.named["on_exit"])
    ]
    return Said("all", (description, *later))


class Exited:
    """The event of a process that has done its work."""

    returncode = 0


def parameters(node: Said) -> set[str]:
    """Names that are set one by one."""
    return {name for given in node.named.get("parameters", []) if isinstance(given, dict) for name in given}


def test_there_are_launch_files() -> None:
    assert {file.name for file in FILES} == set(STARTED)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nodes_are_executables_that_there_are_with_parameters_that_they_have(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = described(file, monkeypatch).every("Node", "LifecycleNode")
    assert {node.named["executable"] for node in nodes} == STARTED[file.name] <= EXECUTABLES
    for node in nodes:
        assert node.named["package"] == "tuling_fsm"
        assert parameters(node) - {"use_sim_time"} <= KNOWN[node.named["executable"]]
        assert "map_file" in parameters(node)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_argument_is_declared_explained_and_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = described(file, monkeypatch)
    declared = said.every("DeclareLaunchArgument")
    assert all(each.named["description"] for each in declared)
    used = {each.positional[0] for each in said.every("LaunchConfiguration")}
    assert used == {each.positional[0] for each in declared}
    for each in declared:
        default: Any = each.named.get("default_value", "")
        assert isinstance(default, Said) or not default.startswith(str(ROOT)) or Path(default).is_file(), default


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_planner_is_configured_and_then_activated(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = described(file, monkeypatch)
    (planner,) = said.every("LifecycleNode")
    changes = [each.named["transition_id"] for each in said.every("ChangeState")]
    assert sorted(changes) == [CONFIGURE, ACTIVATE]
    (activation,) = (
        each for each in said.every("OnStateTransition") if each.named["goal_state"] == "inactive"
    )  # fmt: skip
    assert activation.named["target_lifecycle_node"] is planner
    assert [each.named["transition_id"] for each in activation.every("ChangeState")] == [ACTIVATE]
    assert all(each.positional == (planner,) for each in said.every("matches_action"))


def test_the_vehicle_and_the_topics_of_the_planner_are_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    said = described(ROOT / "launch" / "planner.launch.py", monkeypatch)
    (planner,) = said.every("LifecycleNode")
    arguments = {each.positional[0]: each.named for each in said.every("DeclareLaunchArgument")}
    renamed = {name: word.positional[0] for name, word in planner.named["remappings"]}
    topics = {topic.name for topic in (*INPUTS, *OUTPUTS)} - {"/diagnostics"}
    assert renamed == {name: name for name in topics}
    assert all(arguments[name]["default_value"] == name for name in topics)
    (view,) = said.every("Node")
    assert dict(view.named["remappings"]).keys() == renamed.keys()
    assert (view.named["condition"].positional[0].positional, arguments["view"]["default_value"]) == (
        ("view",),
        "false",
    )
    assert arguments["view_host"]["default_value"] == "127.0.0.1"
    files = [each.positional[0] for each in planner.named["parameters"] if isinstance(each, Said)]
    assert files == ["params_file", "vehicle_file"]
    assert arguments["vehicle_file"]["default_value"].positional == ("params_file",)


def test_planner_and_simulator_are_given_the_same_car(monkeypatch: pytest.MonkeyPatch) -> None:
    said = described(ROOT / "launch" / "sim.launch.py", monkeypatch)
    nodes = [*said.every("LifecycleNode"), *(each for each in said.every("Node") if each.named["name"] == "sim")]
    for node in nodes:
        files = [each.positional[0] for each in node.named["parameters"] if isinstance(each, Said)]
        assert files == ["params_file"], node.named["name"]


def test_a_launch_that_has_an_end_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for file in FILES:
        ends = described(file, monkeypatch).every("Shutdown")
        assert len(ends) == (file.name != "planner.launch.py"), file.name


def test_the_replay_plays_the_inputs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    (play,) = described(ROOT / "launch" / "replay.launch.py", monkeypatch).every("ExecuteProcess")
    command = play.named["cmd"]
    assert command[:3] == ["ros2", "bag", "play"]
    assert command[command.index("--topics") + 1 :] == [f"/{topic.name}" for topic in INPUTS]


@pytest.mark.skipif(importlib.util.find_spec("launch_ros") is None, reason="launch_ros is not installed")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_launch_file_is_understood_by_launch_itself(file: Path) -> None:
    description = runpy.run_path(str(file))["generate_launch_description"]()
    executables = {getattr(entity, "node_executable", "") for entity in description.entities}
    assert "planner" in executables

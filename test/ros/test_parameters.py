"""The parameter files are those of the code, and ROS reads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import ParameterSpec, load, nest
from tuling_fsm.ros.node_parameters import PlannerNodeParameters, SimNodeParameters, in_home
from tuling_fsm.ros.parameter_file import parameter_file, specs_of, tuning_guide

CONFIG = Path(__file__).resolve().parents[2] / "config"
LAUNCH = (CONFIG.parent / "launch" / "planner.launch.py").read_text(encoding="utf-8")


@pytest.mark.clause("USE-12")
@pytest.mark.parametrize("node", ["planner", "sim"])
def test_the_file_in_config_is_what_the_declarations_say(node):
    """When this fails: `python -m tuling_fsm.ros.parameter_file planner > config/planner.yaml`."""
    assert (CONFIG / f"{node}.yaml").read_text(encoding="utf-8") == parameter_file(node, specs_of(node))


@pytest.mark.clause("USE-12")
def test_the_page_on_tuning_is_what_the_declarations_say():
    """When this fails: `python -m tuling_fsm.ros.parameter_file guide > docs/tuning.md`."""
    page = (CONFIG.parent / "docs" / "tuning.md").read_text(encoding="utf-8")
    assert page == tuning_guide()
    live = {spec.name for spec in specs_of("planner") if spec.live}
    assert set(re.findall(r"param set /planner (\S+)", page)) <= live
    assert set(re.findall(r"(\w+):=", page)) <= set(re.findall(r'LaunchConfiguration\("(\w+)"\)', LAUNCH))


@pytest.mark.parametrize("node", ["planner", "sim"])
def test_the_file_holds_every_default_with_range_and_unit(node):
    text = (CONFIG / f"{node}.yaml").read_text(encoding="utf-8")
    values = flat(yaml.safe_load(text)["/**"]["ros__parameters"])
    specs = {spec.name: spec for spec in specs_of(node)}
    assert values == {name: spec.default for name, spec in specs.items()}
    assert all(type(values[name]) is type(spec.default) for name, spec in specs.items())
    for spec in specs.values():
        comment = re.search(rf"# (.*)\n *{spec.name.rsplit('.', 1)[-1]}: ", text)
        assert comment is not None
        assert not spec.unit or spec.unit in text


def flat(tree: dict, prefix: str = "") -> dict:
    found = {}
    for name, value in tree.items():
        found.update(flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value})
    return found


def test_the_home_of_the_user_is_known_in_a_file_of_parameters(monkeypatch):
    monkeypatch.setenv("HOME", "/home/driver")
    own = in_home(PlannerNodeParameters(map_file="site~.xodr", record="~/bags", state_file="~/state"))
    named = (own.map_file, own.mission_file, own.record, own.state_file)
    assert named == ("site~.xodr", "", "/home/driver/bags", "/home/driver/state")
    with pytest.raises(InputError, match=r"record: .*home"):
        in_home(PlannerNodeParameters(record="~nobody_of_that_name/bags"))


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize("node", ["route_server", "view", "sim"])
def test_the_home_of_the_user_is_that_of_all_nodes(tmp_path, node):
    name = "scenario" if node == "sim" else "map_file"
    command = [sys.executable, "-m", "tuling_fsm.ros.executable", node, "--ros-args", "-p", f"{name}:=~/absent"]
    home = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=home)
    assert f"{name}: no file {tmp_path / 'absent'}" in done.stderr


def test_the_defaults_load_back():
    values = yaml.safe_load((CONFIG / "sim.yaml").read_text(encoding="utf-8"))["/**"]["ros__parameters"]
    assert load(SimNodeParameters, values) == SimNodeParameters()
    assert load(PlannerNodeParameters, nest({"late_after": 0.2})).late_after == 0.2
    with pytest.raises(InputError, match="late_after"):
        load(PlannerNodeParameters, {"late_after": 99.0})


def test_a_file_nests_groups_and_says_what_is_known_of_each_parameter():
    specs = [
        ParameterSpec("a", 1, "", None, None, "first", "", False, ()),
        ParameterSpec("g.b", 2.5, "m", 0.0, 9.0, "second", "NOR-1", True, ()),
        ParameterSpec("g.h.c", "x", "", None, None, "third", "", False, ("x", "y")),
        ParameterSpec("i.d", True, "", None, 3.0, "fourth", "", False, ()),
    ]
    text = parameter_file("n", specs)
    assert yaml.safe_load(text)["/**"]["ros__parameters"] == {
        "a": 1, "g": {"b": 2.5, "h": {"c": "x"}}, "i": {"d": True},
    }  # fmt: skip
    assert "      # second [m, 0 to 9, NOR-1, live]\n      b: 2.5\n" in text
    assert "# third [x | y]" in text
    assert "# fourth [-inf to 3]" in text


@pytest.mark.parametrize("node", ["planner", "sim"])
def test_every_declaration_makes_a_descriptor(node):
    from tuling_fsm.ros.parameter_server import descriptor

    for spec in specs_of(node):
        made = descriptor(spec)
        assert spec.doc in made.description
        assert bool(made.floating_point_range or made.integer_range) == (spec.low is not None or spec.high is not None)

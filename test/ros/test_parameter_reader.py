"""The planner's parameters from a file as its node takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.parameter_reader import planner_parameters
from tuling_fsm.share import share_file


def test_parameters_are_those_of_the_node_s_file(tmp_path: Path) -> None:
    values = dict(planner_parameters(share_file("config", "planner.yaml")))
    assert "map_file" not in values and values["vehicle.wheelbase"] > 1.0
    file = tmp_path / "own.yaml"
    file.write_text("planner:\n  ros__parameters:\n    vehicle: {wheelbase: 2.5}\n", encoding="utf-8")
    assert planner_parameters(file) == (("vehicle.wheelbase", 2.5),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("planner: 3\n", "planner without ros__parameters"),
        ("- 1\n", "no mapping"),
        ("{}\n", "no parameters of the planner"),
        ("a: [\n", "no YAML"),
        ('"\\U99999999999999999999": 1\n', "no YAML"),
        ("a: 2001-99-99\n", "no YAML"),
        ("[" * 3_000, "no YAML"),
        ("/**: {ros__parameters: {vehicle: &own {wheelbase: *own}}}\n", "own.yaml: vehicle.wheelbase: an alias"),
        (
            "/**: {ros__parameters: {a: &a {x: 1}, b: &b {y: *a, z: *a}, c: {y: *b, z: *b}}}\n",
            "own.yaml: b.y: an alias",
        ),
        ("/**: {ros__parameters: {a: &a [1, 1], b: &b [*a, *a], c: [*b, *b]}}\n", "own.yaml: b: an alias, or a list"),
        ("/**: {ros__parameters: {vehicle.wheels: 3.0}}\n", "own.yaml: vehicle.wheels: no such parameter"),
        ("/**: {ros__parameters: {vehicle.wheelbase: 300.0}}\n", "own.yaml: vehicle.wheelbase"),
    ],
)
def test_a_file_of_parameters_that_is_wrong_is_refused(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        planner_parameters(file)

"""The parameters `scenario` and `overrides` of the nodes that drive a scenario; the planner has no use for a reader."""

from __future__ import annotations

from tuling_fsm.ros.node_parameters import required_file
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.wire.text import parse_json


def read_scenario(path: str, overrides: str) -> Scenario:
    """The scenario of the parameters `scenario` and `overrides`.

    Args:
        path: of the file.
        overrides: a JSON object of variables and their values, as text; empty for none.

    Raises:
        InputError: no such file, a fault in it, or overrides that do not fit.
    """
    values = parse_json(overrides, "overrides") if overrides else {}
    return load_scenario(required_file("scenario", path), {name: str(value) for name, value in values.items()})

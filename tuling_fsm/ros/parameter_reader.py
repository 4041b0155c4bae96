"""The parameters of the planner from a file as the node takes it (`config/planner.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tuling_fsm.agent import Parameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load, nest
from tuling_fsm.ros.node_parameters import PlannerNodeParameters

NODES = ("/**", "planner", "/planner")
"""Names under which the file has those of the planner."""
EXPECTED = "/**: ros__parameters: and names with values, as config/planner.yaml has them"


def planner_parameters(file: Path) -> tuple[tuple[str, Any], ...]:
    """Dotted names and values; what is the node's own alone is left out.

    Raises:
        InputError: no such file, no YAML, an unknown name, a value out of range.
    """
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    # A date or a letter that there is not is no YAMLError.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(str(file), f"no YAML: {' '.join(str(error).split())}", EXPECTED) from error
    own = {spec.name for spec in describe(PlannerNodeParameters)}
    values: dict[str, Any] = {}
    for node in NODES:
        values.update(_flat(_section(content, node, file), f"{file}: ", set()))
    chosen = {name: value for name, value in values.items() if name not in own}
    if not values:
        raise InputError(str(file), "no parameters of the planner", EXPECTED)
    load(Parameters, nest(chosen), f"{file}: ")
    return tuple(sorted(chosen.items()))


def _section(content: object, node: str, file: Path) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise InputError(str(file), "no mapping", EXPECTED)
    section = content.get(node)
    if section is None:
        return {}
    found = section.get("ros__parameters") if isinstance(section, dict) else None
    if not isinstance(found, dict):
        raise InputError(str(file), f"{node} without ros__parameters", EXPECTED)
    return found


def _flat(values: Mapping[str, Any], where: str, met: set[int], prefix: str = "") -> dict[str, Any]:
    """Dotted names and values. By aliases, which ROS does not take, a file could hold more than any memory, or itself:
    no group that was `met` (by identity) is met again, and what a list holds are no groups and no lists.
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        dotted = f"{prefix}{name}"
        if id(value) in met or (isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value)):
            raise InputError(f"{where}{dotted}", "an alias, or a list of lists", "a value, or a group of its own")
        if isinstance(value, dict):
            met.add(id(value))
            flat |= _flat(value, where, met, f"{dotted}.")
        else:
            flat[dotted] = value
    return flat

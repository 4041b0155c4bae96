"""Files that parameters of the nodes name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.load import load_scenario
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.wire.text import parse_json


def required_file(parameter: str, path: str) -> Path:
    """A file that a parameter names.

    Raises:
        InputError: the parameter is not set, or there is no such file.
    """
    if not path:
        raise InputError(parameter, "not set", "a file")
    if not Path(path).is_file():
        raise InputError(parameter, f"no file {path}", "a file")
    return Path(path)


def read_mission(path: str) -> dict[str, Any]:
    """The mission of the parameter `mission_file`.

    Raises:
        InputError: no such file, no JSON, no object.
    """
    file = required_file("mission_file", path)
    try:
        return parse_json(file.read_text(encoding="utf-8-sig"), str(file))
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"no text: {error}", "a mission in UTF-8") from None


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

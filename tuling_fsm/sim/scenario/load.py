"""Reads a scenario file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.compile import compile_scenario
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.scenario.syntax import parse

NOTHING: Mapping[str, str] = {}


def load_scenario(path: str | Path, overrides: Mapping[str, str] = NOTHING) -> Scenario:
    """The scenario of a file; `overrides` are values of its variables as text, e.g. `{"gap": "20m"}`.

    Raises:
        InputError: an unreadable file, a fault in the text (`file:line:column`), an override that does not fit.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}", "an OpenSCENARIO 2 text") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"cannot be read: {error}", "an OpenSCENARIO 2 text in UTF-8") from error
    return compile_text(text, str(path), overrides)


def compile_text(text: str, file: str, overrides: Mapping[str, str] = NOTHING) -> Scenario:
    """The same for text at hand; `file` stands in messages, and other files are looked for beside it.

    Raises:
        InputError: as `load_scenario`.
    """
    try:
        return _only_scenario(text, file, overrides)
    except RecursionError as error:
        raise InputError(file, "something is nested too deeply", "fewer levels") from error


def _only_scenario(text: str, file: str, overrides: Mapping[str, str]) -> Scenario:
    scenarios = parse(text, file)
    if not scenarios:
        raise InputError(f"{file}:1:1", "no scenario in the file", "scenario <name>:")
    if len(scenarios) > 1:
        line, column = scenarios[1].at
        raise InputError(f"{file}:{line}:{column}", "a second scenario in the file", "one scenario a file")
    return compile_scenario(scenarios[0], file, overrides)

"""What a client may send with a command: checked when it comes, for nothing that a client sends may stop the owner."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.traffic.autopilot import Autopilot


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return _whole(value) or (isinstance(value, float) and math.isfinite(value))


def _point(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_number, value))


FITTING: dict[str, tuple[Callable[[Any], bool], str]] = {
    "int": (_whole, "a whole number"),
    "int | None": (lambda value: value is None or _whole(value), "the number of a vehicle, none for all"),
    "float": (_number, "a finite number"),
    "float | None": (lambda value: value is None or _number(value), "a finite number or none"),
    "bool": (lambda value: value in (False, True), "true or false"),
    "Sequence[str]": (lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value), "words"),
    "Sequence[tuple[float, float]]": (lambda value: isinstance(value, list) and all(map(_point, value)), "points x, y"),
}
"""By the annotation of a parameter: whether a value fits, and what would."""


def check_arguments(name: str, given: Sequence[Any]) -> None:
    """Look whether arguments fit a command of `Autopilot`.

    Raises:
        InputError: there are too few or too many, or one is of another kind.
    """
    signature = inspect.signature(getattr(Autopilot, name))
    try:
        bound = signature.bind(None, *given)
    except TypeError as error:
        raise InputError(f"traffic.{name}", str(error), "the arguments that it has") from error
    for parameter, value in list(bound.arguments.items())[1:]:
        fits, expected = FITTING[str(signature.parameters[parameter].annotation)]
        if not fits(value):
            raise InputError(f"traffic.{name}", f"{parameter} is {value!r}", expected)

"""Declared parameters: every number of the product has a default, a unit, a range, a sentence and the clause it serves.

A group is a frozen dataclass whose fields are made with `param`. `load` turns nested mappings (a ROS parameter file,
say) into the same dataclasses with every value checked; `describe` lists them all for the documentation and the ROS
node. A group whose values may contradict one another says so in `__post_init__` (`refuse_above`).
"""

from __future__ import annotations

import dataclasses
import reprlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tuling_fsm.core.errors import InputError

T = TypeVar("T")
Scalar = bool | int | float | str


@dataclass(frozen=True)
class ParameterSpec:
    """What is known of a parameter. Bounds are inclusive; `live` ones take effect on the next tick (USE-12)."""

    name: str
    default: Scalar
    unit: str
    low: float | None
    high: float | None
    doc: str
    clause: str
    live: bool
    choices: tuple[str, ...]

    def check(self, value: object) -> Scalar:
        """The value in the parameter's own type, or `InputError`."""
        kind = type(self.default)
        if (
            kind is float
            and isinstance(value, int)
            and not isinstance(value, bool)
            and abs(value) <= sys.float_info.max
        ):
            value = float(value)
        if type(value) is not kind:
            raise InputError(self.name, f"{_shown(value)} is no {kind.__name__}", self._expected())
        if isinstance(value, float | int) and not isinstance(value, bool):
            inside = (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
            if not inside or not abs(value) <= sys.float_info.max:
                raise InputError(self.name, f"{_shown(value)} is out of range", self._expected())
        if self.choices and value not in self.choices:
            raise InputError(self.name, f"{value!r} is unknown", self._expected())
        return value

    def _expected(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        span = "" if self.low is None and self.high is None else f" from {self.low} to {self.high}"
        unit = f" {self.unit}" if self.unit else ""
        return f"{type(self.default).__name__}{span}{unit}"


def _shown(value: object) -> str:
    """A value in a message: Python writes no whole number of thousands of digits."""
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return "a number that no float can hold"
    return reprlib.repr(value)


def param(
    default: Scalar,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    doc: str = "",
    *,
    clause: str = "",
    live: bool = False,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field that carries its `ParameterSpec`."""
    spec = ParameterSpec("", default, unit, low, high, doc, clause, live, choices)
    return dataclasses.field(default=default, metadata={"spec": spec})


def group(cls: type[T]) -> Any:
    """A dataclass field that holds a nested group with its defaults."""
    return dataclasses.field(default_factory=cls, metadata={"group": cls})


def refuse_above(name: str, value: float, other: str, most: float, unit: str) -> None:
    """The check of a value that must not be above that of another parameter; both in one unit.

    Raises:
        InputError: it is.
    """
    if value > most:
        raise InputError(name, f"{value:g} {unit} is above {other}", f"at most {most:g} {unit}")


def refuse_below(name: str, value: float, other: str, least: float, unit: str) -> None:
    """The same of a value that must not be below.

    Raises:
        InputError: it is.
    """
    if value < least:
        raise InputError(name, f"{value:g} {unit} is below {other}", f"at least {least:g} {unit}")


def describe(cls: type[Any], prefix: str = "") -> Iterator[ParameterSpec]:
    """Every parameter below a group class, with dotted names."""
    for field in dataclasses.fields(cls):
        name = f"{prefix}{field.name}"
        if "group" in field.metadata:
            yield from describe(field.metadata["group"], f"{name}.")
        else:
            yield dataclasses.replace(field.metadata["spec"], name=name)


def _fields(cls: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(cls)}


def load(cls: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """Build a group from nested mappings; what is absent keeps its default.

    Raises:
        InputError: an unknown name, a wrong type, a value out of range, or one that contradicts another; the message
            starts with the dotted name.
    """
    fields = _fields(cls)
    unknown = sorted(str(name) for name in values if name not in fields)
    if unknown:
        raise InputError(f"{where}{unknown[0]}", "no such parameter", "one of " + ", ".join(sorted(fields)))
    built: dict[str, Any] = {}
    for name, value in values.items():
        metadata, dotted = fields[name].metadata, f"{where}{name}"
        if "group" in metadata:
            if not isinstance(value, Mapping):
                raise InputError(dotted, f"{_shown(value)} is no group of parameters", "a mapping")
            built[name] = load(metadata["group"], value, f"{dotted}.")
        else:
            built[name] = dataclasses.replace(metadata["spec"], name=dotted).check(value)
    try:
        return cls(**built)
    except InputError as error:
        raise InputError(f"{where}{error.where}", error.what, error.expected) from None


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.b": 1}` as `{"a": {"b": 1}}`, the form that `load` takes.

    Raises:
        InputError: a name that is a group and a value.
    """
    tree: dict[str, Any] = {}
    for dotted, value in flat.items():
        *parents, leaf = dotted.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
            if not isinstance(node, dict):
                raise InputError(dotted, f"{parent} is a value", "a group of parameters, or a value, but not both")
        node[leaf] = value
    return tree


def flatten(values: Any, prefix: str = "") -> dict[str, Scalar]:
    """The dotted names and present values of a group instance."""
    flat: dict[str, Scalar] = {}
    for field in dataclasses.fields(values):
        value = getattr(values, field.name)
        if "group" in field.metadata:
            flat.update(flatten(value, f"{prefix}{field.name}."))
        else:
            flat[f"{prefix}{field.name}"] = value
    return flat

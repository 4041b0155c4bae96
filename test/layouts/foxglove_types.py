"""Foxglove's own types of layouts, read as a schema.

`foxglove.layouts` of the package foxglove-sdk is made from the schema of the application, for
programs that write layouts: a dataclass for the settings of each panel, whose `_to_dict` says how each field is named
in the file. Here they are used the other way round: what a file says has to be a value of those types.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from foxglove import layouts

PANELS: dict[str, type] = {
    "3D": layouts.ThreeDeeConfig,
    "DiagnosticSummary": layouts.DiagnosticsSummaryConfig,
    "Plot": layouts.PlotConfig,
    "StateTransitions": layouts.StateTransitionsConfig,
    "Table": layouts.TableConfig,
}
"""Settings by the type of the panel, as the name in a file begins."""
TOPICS: dict[str, type] = {
    "nav_msgs/msg/OccupancyGrid": layouts.BaseRendererRosOccupancyGridTopicSettings,
    "nav_msgs/msg/Path": layouts.BaseRendererPosesTopicSettings,
    "visualization_msgs/msg/MarkerArray": layouts.BaseRendererRosMarkerTopicSettings,
}
"""Settings of a topic in the 3D panel by its type of message."""


def faults(value: Any, kind: Any, at: str = "") -> Iterator[str]:
    """What of a value that was read from JSON is not as a type of Foxglove says.

    Args:
        value: As `json` gives it.
        kind: A dataclass of `foxglove.layouts`, or what a field of one may be.
        at: Where that is, for the words.

    Yields:
        A line for every unknown key and every value of another type.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        tried = [list(faults(value, each, at)) for each in inner if each is not type(None)]
        yield from min(tried, key=len)
    elif dataclasses.is_dataclass(kind):
        yield from _faults_of_object(value, kind, at)
    elif origin is Literal:
        yield from () if value in inner else (f"{at}: {value!r} is none of {', '.join(map(repr, inner))}",)
    elif origin is dict and isinstance(value, dict):
        for key, each in value.items():
            yield from faults(each, inner[1], f"{at}.{key}")
    elif origin is list and isinstance(value, list):
        for k, each in enumerate(value):
            yield from faults(each, inner[0], f"{at}[{k}]")
    elif origin is tuple and isinstance(value, list) and len(value) == len(inner):
        for k, (each, part) in enumerate(zip(value, inner, strict=True)):
            yield from faults(each, part, f"{at}[{k}]")
    elif not _is_plain(value, kind):
        yield f"{at}: {value!r} is no {getattr(kind, '__name__', kind)}"


def _faults_of_object(value: Any, kind: Any, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r} is no {kind.__name__}"
        return
    hints, names = get_type_hints(kind), _names(kind)
    for key, each in value.items():
        if key not in names:
            yield f"{at}: {kind.__name__} has no {key}"
        elif isinstance(names[key], _Field):
            yield from faults(each, hints[names[key].name], f"{at}.{key}")
        elif each != names[key]:
            yield f"{at}.{key}: {each!r} is not {names[key]!r}"


def _is_plain(value: Any, kind: Any) -> bool:
    """Of a number or a text; in JSON a whole number is a number too, and a truth is none."""
    if kind is Any:
        return True
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return kind in (bool, str) and isinstance(value, kind)


@dataclasses.dataclass(frozen=True)
class _Field:
    name: str


@functools.cache
def _names(kind: Any) -> dict[str, Any]:
    """Keys in a file: the field that each stands for, or what it always is."""
    blank = object.__new__(kind)
    for field in dataclasses.fields(kind):
        setattr(blank, field.name, _Field(field.name))
    return dict(blank._to_dict())

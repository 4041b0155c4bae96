"""The mission: what to serve, where to end, and how much time there is. Parsed from the JSON of the topic `mission`.

```json
{"tasks": [{"name": "1", "pickup": {"x": 10.0, "y": 2.0, "heading": 0.0}, "dropoff": {"x": 90.0, "y": 2.0}}],
 "goal": {"x": 120.0, "y": 40.0, "heading": 1.57},
 "car_park": {"x": 150.0, "y": 40.0},
 "match_time_s": 900}
```

Every member is optional, but `pickup` and `dropoff` of a task. A point takes `x`, `y` (m, `map`) and optionally
`heading` (rad), `name`, `slots`, a list of boxes with `x`, `y`, `heading`, `length`, `width` (centre, m), and `routes`,
preset routes through a car park that are driven in turn while no slot is free, each a list of `[x, y, heading]`. A
`window` takes `x`, `y`, `time_s` and optionally `speed`, each of both `[from, to]`, `length` and `offset` (m).
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose


class MissionBound(NamedTuple):
    """Least and greatest value, and the unit of both."""

    low: float
    high: float
    unit: str

    def __str__(self) -> str:
        """`a number from 0 to 100 m`."""
        return f"a number from {self.low:g} to {self.high:g} {self.unit}"


_PLACE, _TURN = MissionBound(-1e8, 1e8, "m"), MissionBound(-1e4, 1e4, "rad")
_TIME, _SPEED = MissionBound(0.0, 1e7, "s"), MissionBound(0.0, 1e3, "m/s")
BOUNDS: Mapping[str, MissionBound] = {
    **dict.fromkeys(("x", "y"), _PLACE),
    "heading": _TURN,
    **dict.fromkeys(("length", "width"), MissionBound(0.0, 1e3, "m")),
    "offset": MissionBound(-3.0, 3.0, "m"),
    "match_time_s": _TIME,
    "time_s": _TIME,
    "speed": _SPEED,
}
"""Every number of a mission; what lies beyond is a slip of the pen."""
MOST = 10_000
"""Members of any list: a longer one would only take up time and memory."""


@dataclass(frozen=True)
class MissionSlot:
    """A box to stop in: centre pose in `map`, length and width (m)."""

    pose: Pose
    length: float
    width: float


@dataclass(frozen=True)
class MissionPoint:
    """A place of the mission. `heading` is None where it does not matter (the lane gives it)."""

    name: str
    x: float
    y: float
    heading: float | None
    slots: tuple[MissionSlot, ...] = ()
    routes: tuple[tuple[Pose, ...], ...] = ()
    """Preset routes (PRK-2)."""


@dataclass(frozen=True)
class Task:
    """One passenger: where to get on, where to get off. `name` is empty where none was given."""

    name: str
    pickup: MissionPoint
    dropoff: MissionPoint


@dataclass(frozen=True)
class GoalWindow:
    """A place on the way and when to be there, s from when the mission came, and how fast, m/s: from, to.

    It goes on for `length` m along the route: anywhere there will do, or where the route has a `heading` (rad, from, to
    counter-clockwise). The car passes it `offset` m to the left of the lane's centre.
    """

    x: float
    y: float
    time_s: tuple[float, float]
    speed: tuple[float, float] = (0.0, math.inf)
    length: float = 0.0
    heading: tuple[float, float] | None = None
    offset: float = 0.0


@dataclass(frozen=True)
class Mission:
    """What to do. Without tasks the car drives to `goal`; `car_park` is where it ends after the tasks (PUD-1)."""

    stamp: float
    """Of the tick that first saw it, s."""
    tasks: tuple[Task, ...] = ()
    goal: MissionPoint | None = None
    car_park: MissionPoint | None = None
    match_time_s: float = math.inf
    """Time for all of it, counted from `stamp`, s."""
    window: GoalWindow | None = None


def parse_mission(raw: Mapping[str, Any], stamp: float) -> Mission:
    """Check a mission and make it plain.

    Raises: InputError: an unknown or missing key, a wrong type, or a number that is not finite; names the place in
    the mission.
    """
    _keys("mission", raw, (), ("tasks", "goal", "car_park", "match_time_s", "window"))
    tasks = _list("mission", raw, "tasks", "tasks")
    limit = math.inf
    if raw.get("match_time_s") is not None:
        limit = _number("mission", raw, "match_time_s")
        if limit <= 0.0:
            raise InputError(
                "mission.match_time_s", f"{limit} is out of range", f"more than 0 and up to {_TIME.high:g} s"
            )
    return Mission(
        stamp,
        tuple(_task(f"mission.tasks[{i}]", task) for i, task in enumerate(tasks)),
        _optional_point("mission.goal", raw.get("goal")),
        _optional_point("mission.car_park", raw.get("car_park")),
        limit,
        None if raw.get("window") is None else _window("mission.window", raw["window"]),
    )


def _task(where: str, raw: Any) -> Task:
    _keys(where, raw, ("pickup", "dropoff"), ("name",))
    pickup, dropoff = _point(f"{where}.pickup", raw["pickup"]), _point(f"{where}.dropoff", raw["dropoff"])
    return Task(str(raw.get("name", "")), pickup, dropoff)


def _optional_point(where: str, raw: Any) -> MissionPoint | None:
    return None if raw is None else _point(where, raw)


def _point(where: str, raw: Any) -> MissionPoint:
    _keys(where, raw, ("x", "y"), ("heading", "name", "slots", "routes"))
    heading = None if raw.get("heading") is None else _number(where, raw, "heading")
    slots = _list(where, raw, "slots", "boxes")
    boxes = tuple(_slot(f"{where}.slots[{i}]", slot) for i, slot in enumerate(slots))
    presets = _list(where, raw, "routes", "routes")
    routes = tuple(_route(f"{where}.routes[{i}]", route) for i, route in enumerate(presets))
    return MissionPoint(
        str(raw.get("name", "")), _number(where, raw, "x"), _number(where, raw, "y"), heading, boxes, routes
    )


def _window(where: str, raw: Any) -> GoalWindow:
    _keys(where, raw, ("x", "y", "time_s"), ("speed", "length", "heading", "offset"))
    speed = [0.0, math.inf] if raw.get("speed") is None else _interval(f"{where}.speed", raw["speed"])
    x, y = _number(where, raw, "x"), _number(where, raw, "y")
    length, offset = (0.0 if raw.get(key) is None else _number(where, raw, key) for key in ("length", "offset"))
    heading = None if raw.get("heading") is None else _interval(f"{where}.heading", raw["heading"])
    times = _interval(f"{where}.time_s", raw["time_s"])
    return GoalWindow(x, y, times, (speed[0], speed[1]), length, heading, offset)


def _interval(where: str, raw: Any) -> tuple[float, float]:
    if not isinstance(raw, list | tuple) or len(raw) != 2:
        raise InputError(where, f"{reprlib.repr(raw)} is no interval", "[from, to]")
    bound = BOUNDS[where.rpartition(".")[2]]
    low, high = (_within(f"{where}.{end}", value, bound) for end, value in zip(("from", "to"), raw, strict=True))
    if not low <= high:
        raise InputError(where, f"from {low} to {high} {bound.unit}", "the smaller one first")
    return low, high


def _route(where: str, raw: Any) -> tuple[Pose, ...]:
    if not isinstance(raw, list | tuple) or len(raw) < 2:
        raise InputError(where, f"{reprlib.repr(raw)} is no route", "a list of two poses or more")
    _check_count(where, raw)
    poses = []
    for i, row in enumerate(raw):
        if not isinstance(row, list | tuple) or len(row) != 3:
            raise InputError(f"{where}[{i}]", f"{reprlib.repr(row)} is no pose", "[x, y, heading]")
        values = dict(zip(("x", "y", "heading"), row, strict=True))
        poses.append(Pose(*(_number(f"{where}[{i}]", values, key) for key in values)))
    return tuple(poses)


def _slot(where: str, raw: Any) -> MissionSlot:
    _keys(where, raw, ("x", "y", "heading", "length", "width"), ())
    x, y, heading, length, width = (_number(where, raw, key) for key in ("x", "y", "heading", "length", "width"))
    if min(length, width) <= 0.0:
        raise InputError(where, f"a box of {length} m x {width} m", "length and width above 0 m")
    return MissionSlot(Pose(x, y, heading), length, width)


def _keys(where: str, raw: Any, required: Iterable[str], optional: Iterable[str]) -> None:
    if not isinstance(raw, Mapping):
        raise InputError(where, f"{reprlib.repr(raw)} is no object", "a JSON object")
    known = (*required, *optional)
    unknown = sorted(str(key) for key in raw if key not in known)
    if unknown:
        raise InputError(f"{where}.{unknown[0]}", "no such key", "one of " + ", ".join(known))
    missing = [key for key in required if key not in raw]
    if missing:
        raise InputError(f"{where}.{missing[0]}", "missing", "a value")


def _number(where: str, raw: Mapping[str, Any], key: str) -> float:
    return _within(f"{where}.{key}", raw[key], BOUNDS[key])


def _within(where: str, value: Any, bound: MissionBound) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if not fits:
        raise InputError(where, f"{reprlib.repr(value)} is no finite number", str(bound))
    number = float(value)
    if not bound.low <= number <= bound.high:
        raise InputError(where, f"{number} is out of range", str(bound))
    return number


def _list(where: str, raw: Mapping[str, Any], key: str, what: str) -> list[Any] | tuple[Any, ...]:
    found = raw.get(key, [])
    if not isinstance(found, list | tuple):
        raise InputError(f"{where}.{key}", f"{reprlib.repr(found)} is no list", f"a list of {what}")
    _check_count(f"{where}.{key}", found)
    return found


def _check_count(where: str, found: list[Any] | tuple[Any, ...]) -> None:
    if len(found) > MOST:
        raise InputError(where, f"{len(found)} members", f"at most {MOST}")

"""Missions just inside and just outside of every limit (SAF-3): a slip is named, and all else has its place."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.world.mission import BOUNDS, parse_mission

pytestmark = pytest.mark.clause("SAF-3")

SLOT = {"x": 0.0, "y": 0.0, "heading": 0.0, "length": 5.0, "width": 2.5}
MOST = 10_000
"""Members of a list."""
WINDOW = {"x": 0.0, "y": 0.0, "time_s": [0.0, 9.0]}


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [("x", -1e8, 1e8), ("y", -1e8, 1e8), ("heading", -1e4, 1e4), ("length", 0.0, 1e3), ("width", 0.0, 1e3),
     ("match_time_s", 0.0, 1e7), ("time_s", 0.0, 1e7), ("speed", 0.0, 1e3)],
)  # fmt: skip
def test_numbers_of_a_mission_are_taken_up_to_their_bounds(key: str, low: float, high: float) -> None:
    assert (BOUNDS[key].low, BOUNDS[key].high) == (low, high)

    def raw(value: float) -> dict[str, Any]:
        if key in ("length", "width"):
            return {"goal": {"x": 0.0, "y": 0.0, "slots": [{**SLOT, key: value}]}}
        if key in ("time_s", "speed"):
            return {"window": {**WINDOW, key: [min(value, 1.0), max(value, 1.0)]}}
        return {"match_time_s": value} if key == "match_time_s" else {"goal": {"x": 0.0, "y": 0.0, key: value}}

    positive = key in ("length", "width", "match_time_s")
    for value, is_good in ((high, True), (1.001 * high, False), (low, not positive), (low - 0.001 * high, False),
                           (1, True), (0.001, True)):  # fmt: skip
        if is_good:
            parse_mission(raw(value), 0.0)
        else:
            with pytest.raises(InputError):
                parse_mission(raw(value), 0.0)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ({"goal": [1, 2]}, "mission.goal: [1, 2] is no object (expected a JSON object)"),
        ({"goal": {"y": 2}}, "mission.goal.x: missing"),
        ({"goal": {"x": 1, "y": 2, "slots": [{"x": 0}]}}, "mission.goal.slots[0].y: missing"),
        ({"goal": {"x": 1, "y": 2, "slots": [SLOT, {**SLOT, "width": 0}]}}, "mission.goal.slots[1]: a box of 5.0"),
        ({"goal": {"x": 1, "y": 2, "slots": [{**SLOT, "name": 1}]}}, "mission.goal.slots[0].name: no such key"),
        ({"goal": {"x": 1, "y": -math.inf}}, "mission.goal.y: -inf is no finite number"),
        ({"tasks": [{"pickup": {"x": 1, "y": 2}, "dropoff": {"x": 1, "y": 2}, "at": 3}]}, "mission.tasks[0].at: no"),
        ({"tasks": [{"dropoff": {"x": 1, "y": 2}}]}, "mission.tasks[0].pickup: missing"),
        ({"goal": {"x": 1, "y": 2, "routes": [[[0, 0, 0], [1, 0, 0]], [[0, 0, 0]]]}}, "mission.goal.routes[1]: [[0,"),
        ({"goal": {"x": 1, "y": 2, "routes": [[[0, 0, 0], 5]]}}, "mission.goal.routes[0][1]: 5 is no pose"),
        ({"goal": {"x": 1, "y": 2, "routes": [[[0, 0, 0, 0], [1, 0, 0]]]}}, "mission.goal.routes[0][0]: [0, 0,"),
        ({"window": {**WINDOW, "time_s": [1, 2, 3]}}, "mission.window.time_s: [1, 2, 3] is no interval"),
        ({"window": {**WINDOW, "time_s": [1]}}, "mission.window.time_s: [1] is no interval"),
        ({"window": {**WINDOW, "time_s": [1, None]}}, "mission.window.time_s.to: None is no finite number"),
        ({"window": {**WINDOW, "speed": [2, 1]}}, "mission.window.speed: from 2.0 to 1.0 m/s"),
        ({"window": {**WINDOW, "end": 1}}, "mission.window.end: no such key"),
        ({"match_time_s": 0}, "mission.match_time_s: 0.0 is out of range"),
        ({"tasks": [{}] * (MOST + 1)}, f"mission.tasks: {MOST + 1} members (expected at most {MOST})"),
        ({"goal": {"x": 1, "y": 2, "routes": [[[0, 0, 0]] * (MOST + 1)]}}, f"mission.goal.routes[0]: {MOST + 1} "),
    ],
)  # fmt: skip
def test_a_slip_in_a_mission_is_named_where_it_is(raw: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_mission(raw, 0.0)
    assert str(caught.value).startswith(line)


def test_everything_in_a_mission_has_its_place() -> None:
    point = {"x": 1, "y": 2}
    raw = {
        "tasks": ({"pickup": point, "dropoff": {"x": 3, "y": 4}}, {"name": "b", "pickup": point, "dropoff": point}),
        "goal": {"x": 5, "y": 6, "heading": 0, "slots": [SLOT] * MOST},
        "window": {"x": 7, "y": 8, "time_s": [2, 2], "speed": None, "length": None, "heading": None},
        "car_park": {"x": 1, "y": 2, "routes": [[[0, 0, 0], [1, 0, 0]], [[2, 3, 1], [3, 4, 1], [5, 6, 1]]]},
        "match_time_s": None,
    }
    mission = parse_mission(raw, 4.5)
    assert [task.name for task in mission.tasks] == ["", "b"]
    assert (mission.tasks[0].dropoff.x, mission.tasks[0].dropoff.y) == (3.0, 4.0)
    assert mission.goal is not None and mission.goal.heading == 0.0 and len(mission.goal.slots) == MOST
    assert mission.window is not None and mission.window.time_s == (2.0, 2.0)
    assert (mission.window.speed, mission.window.length, mission.window.heading) == ((0.0, math.inf), 0.0, None)
    assert mission.car_park is not None and [len(route) for route in mission.car_park.routes] == [2, 3]
    assert mission.car_park.routes[1][2] == Pose(5.0, 6.0, 1.0)
    assert (mission.stamp, mission.match_time_s) == (4.5, math.inf)
    assert parse_mission({"tasks": [{"pickup": point, "dropoff": point}] * 2}, 0.0).tasks[1].name == ""

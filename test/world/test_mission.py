from __future__ import annotations

import math
from typing import Any

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.world.mission import GoalWindow, Mission, MissionPoint, MissionSlot, Task, parse_mission

PICKUP = {"x": 1, "y": 2.0, "heading": 0.5, "name": "gate"}
DROPOFF = {"x": 3, "y": 4, "slots": [{"x": 3, "y": 4, "heading": 0, "length": 6, "width": 2.5}]}


def test_a_full_mission_becomes_plain_values() -> None:
    raw = {
        "tasks": [{"pickup": PICKUP, "dropoff": DROPOFF}],
        "goal": {"x": 5, "y": 6},
        "car_park": {"x": 7, "y": 8},
        "match_time_s": 900,
    }
    dropoff = MissionPoint("", 3.0, 4.0, None, (MissionSlot(Pose(3.0, 4.0, 0.0), 6.0, 2.5),))
    task = Task("", MissionPoint("gate", 1.0, 2.0, 0.5), dropoff)
    assert parse_mission(raw, 12.0) == Mission(
        12.0, (task,), MissionPoint("", 5.0, 6.0, None), MissionPoint("", 7.0, 8.0, None), 900.0
    )
    assert parse_mission({}, 0.0) == Mission(0.0, match_time_s=math.inf)


def test_a_window_is_a_place_a_time_and_perhaps_a_speed() -> None:
    window = {"x": 1, "y": 2, "time_s": [3, 4]}
    assert parse_mission({"window": window}, 0.0).window == GoalWindow(1.0, 2.0, (3.0, 4.0), (0.0, math.inf))
    fast = parse_mission({"window": {**window, "speed": [5, 6.5]}}, 0.0).window
    assert fast == GoalWindow(1.0, 2.0, (3.0, 4.0), (5.0, 6.5))
    longer = parse_mission({"window": {**window, "length": 20}}, 0.0).window
    assert longer == GoalWindow(1.0, 2.0, (3.0, 4.0), length=20.0)
    east = parse_mission({"window": {**window, "heading": [-0.2, 0.2]}}, 0.0).window
    assert east == GoalWindow(1.0, 2.0, (3.0, 4.0), heading=(-0.2, 0.2))
    right = parse_mission({"window": {**window, "offset": -0.5}}, 0.0).window
    assert right == GoalWindow(1.0, 2.0, (3.0, 4.0), offset=-0.5)


@pytest.mark.clause("PRK-2")
def test_preset_routes_become_poses() -> None:
    mission = parse_mission({"car_park": {"x": 7, "y": 8, "routes": [[[0, 1, 0.5], [2, 3, 0.5]]]}}, 0.0)
    assert mission.car_park is not None
    assert mission.car_park.routes == ((Pose(0.0, 1.0, 0.5), Pose(2.0, 3.0, 0.5)),)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ({"task": []}, "mission.task: no such key"),
        ({"tasks": {}}, "mission.tasks: {} is no list"),
        ({"tasks": [{"pickup": PICKUP}]}, "mission.tasks[0].dropoff: missing"),
        ({"tasks": [{"pickup": PICKUP, "dropoff": 3}]}, "mission.tasks[0].dropoff: 3 is no object"),
        ({"goal": {"x": "1", "y": 2}}, "mission.goal.x: '1' is no finite number"),
        ({"goal": {"x": math.nan, "y": 2}}, "mission.goal.x: nan is no finite number"),
        (
            {"goal": {"x": 1, "y": 10**400}},
            "mission.goal.y: 100000000000000000...0000000000000000000 is no finite number",
        ),
        ({"goal": {"x": True, "y": 2}}, "mission.goal.x: True is no finite number"),
        ({"window": {"x": 1, "y": 2}}, "mission.window.time_s: missing"),
        ({"window": {"x": 1, "y": 2, "time_s": 4}}, "mission.window.time_s: 4 is no interval"),
        ({"window": {"x": 1, "y": 2, "time_s": [5, 4]}}, "mission.window.time_s: from 5.0 to 4.0"),
        ({"window": {"x": 1, "y": 2, "time_s": [5, 6], "heading": 0.2}}, "mission.window.heading: 0.2 is no interval"),
        ({"window": {"x": 1, "y": 2, "time_s": [5, 6], "speed": ["a", 4]}}, "mission.window.speed.from: 'a' is no"),
        ({"window": {"x": 1, "y": 2, "time_s": [5, 6], "offset": 4}}, "mission.window.offset: 4.0 is out of range"),
        ({"car_park": {"x": 1, "y": 2, "slots": 4}}, "mission.car_park.slots: 4 is no list"),
        ({"car_park": {"x": 1, "y": 2, "routes": 4}}, "mission.car_park.routes: 4 is no list"),
        (
            {"car_park": {"x": 1, "y": 2, "routes": [[[0, 0, 0]]]}},
            "mission.car_park.routes[0]: [[0, 0, 0]] is no route",
        ),
        (
            {"car_park": {"x": 1, "y": 2, "routes": [[[0, 0], [1, 0]]]}},
            "mission.car_park.routes[0][0]: [0, 0] is no pose",
        ),
        (
            {"car_park": {"x": 1, "y": 2, "routes": [[[0, 0, 0], [1, "0", 0]]]}},
            "mission.car_park.routes[0][1].y: '0' is no finite number",
        ),
        ({"match_time_s": -1}, "mission.match_time_s: -1.0 is out of range"),
        (
            {"goal": {"x": 1, "y": 2, "slots": [{"x": 0, "y": 0, "heading": 0, "length": 0, "width": 1}]}},
            "mission.goal.slots[0]: a box of 0.0 m x 1.0 m",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(raw: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_mission(raw, 0.0)
    assert str(caught.value).startswith(line)

"""Messages just inside and just outside of every limit (SAF-3): what is refused says why, all else is taken."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BOOL, INPUTS
from tuling_fsm.world.inputs import (
    LANE_LINES,
    OBJECTS,
    PARKING_SLOTS,
    TABLES,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Occupancy,
    Odometry,
    StampedRows,
)
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.received import FLAGS, Received, in_floats, receive

pytestmark = pytest.mark.clause("SAF-3")

P = WorldParameters(
    max_coordinate=500.0, future_tolerance=0.05, odometry_max_age=0.2, objects_max_age=0.5, occupancy_max_age=2.0,
    lights_max_age=1.0, lines_max_age=0.6, slots_max_age=1.5,
)  # fmt: skip
ODOMETRY = Odometry(10.0, Pose(1.0, 2.0, 0.3), 5.0, 0.1, 0.1, 0.01)
GRID = Occupancy(10.0, 0.5, Pose(1.0, 2.0, 0.3), np.zeros((3, 4), np.int8))
AGES = {
    "odometry": 0.2, "objects": 0.5, "occupancy": 2.0, "traffic_lights": 1.0, "lane_lines": 0.6, "parking_slots": 1.5,
}  # fmt: skip


def message(name: str, stamp: float) -> Odometry | Occupancy | StampedRows:
    if name == "odometry":
        return dataclasses.replace(ODOMETRY, stamp=stamp)
    return (
        dataclasses.replace(GRID, stamp=stamp) if name == "occupancy" else StampedRows(stamp, np.zeros(1, TABLES[name]))
    )


def judge(stamp: float, last: Received | None = None, **given: Any) -> tuple[Received, Received, dict[str, str]]:
    kept, fresh, faults = receive(Inputs(stamp, **given), last or Received(), P)
    return kept, fresh, {fault.key: fault.text for fault in faults}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"v": 80.0}, ""), ({"v": -80.0}, ""), ({"v": 80.1}, "speed"), ({"v": -80.1}, "speed"),
        ({"yaw_rate": 6.0}, ""), ({"yaw_rate": -6.0}, ""), ({"yaw_rate": 6.1}, "yaw"), ({"yaw_rate": -6.1}, "yaw"),
        ({"position_std": 0.0, "heading_std": 0.0}, ""), ({"position_std": -0.1}, "negative"),
        ({"heading_std": -0.1}, "negative"), ({"position_std": math.nan}, "finite"),
        ({"heading_std": math.inf}, "finite"), ({"yaw_rate": math.nan}, "finite"), ({"v": math.inf}, "finite"),
        ({"pose": Pose(500.0, -500.0, 0.0)}, ""), ({"pose": Pose(-500.1, 0.0, 0.0)}, "position"),
        ({"pose": Pose(0.0, 500.1, 0.0)}, "position"), ({"pose": Pose(0.0, math.nan, 0.0)}, "finite"),
        ({"pose": Pose(0.0, 0.0, 1e4)}, ""), ({"pose": Pose(0.0, 0.0, -1e4)}, ""),
        ({"pose": Pose(0.0, 0.0, 1.1e4)}, "heading"), ({"pose": Pose(0.0, 0.0, -1.1e4)}, "heading"),
        ({"pose": Pose(0.0, 0.0, math.nan)}, "finite"),
    ],
)  # fmt: skip
def test_odometry_is_taken_up_to_its_limits(change: dict[str, Any], word: str) -> None:
    given = dataclasses.replace(ODOMETRY, **change)
    kept, fresh, faults = judge(10.0, odometry=given)
    assert (kept.odometry is given) is (fresh.odometry is given) is (not word)
    assert list(faults) == ["odometry refused"] * bool(word)
    assert all(word in text for text in faults.values())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"resolution": 0.001}, ""), ({"resolution": 0.0009}, "resolution"), ({"resolution": 100.0}, ""),
        ({"resolution": 100.1}, "resolution"), ({"resolution": -0.5}, "resolution"),
        ({"resolution": math.nan}, "resolution"),
        ({"origin": Pose(500.0, -500.0, 0.0)}, ""), ({"origin": Pose(-500.1, 0.0, 0.0)}, "origin"),
        ({"origin": Pose(0.0, 500.1, 0.0)}, "origin"), ({"origin": Pose(math.inf, 0.0, 0.0)}, "not finite"),
        ({"origin": Pose(0.0, 0.0, math.nan)}, "not finite"),
        ({"origin": Pose(0.0, 0.0, -1e4)}, ""), ({"origin": Pose(0.0, 0.0, 1.1e4)}, "turned"),
        ({"origin": Pose(0.0, 0.0, -1.1e4)}, "turned"),
        ({"cells": np.zeros((0, 0), np.int8)}, ""), ({"cells": np.zeros((3, 3), np.uint8)}, "int8"),
        ({"cells": np.zeros(3, np.int8)}, "dimensions"), ({"cells": np.zeros((1, 3, 3), np.int8)}, "dimensions"),
    ],
)  # fmt: skip
def test_a_grid_is_taken_up_to_its_limits(change: dict[str, Any], word: str) -> None:
    given = dataclasses.replace(GRID, **change)
    kept, _, faults = judge(10.0, occupancy=given)
    assert (kept.occupancy is given) is (not word)
    assert list(faults) == ["occupancy refused"] * bool(word)
    assert all(word in text for text in faults.values())


@pytest.mark.parametrize("name", ["objects", "lane_lines", "traffic_lights", "parking_slots"])
def test_a_table_has_its_own_columns_and_is_flat(name: str) -> None:
    types = {
        "objects": OBJECTS,
        "lane_lines": LANE_LINES,
        "traffic_lights": TRAFFIC_LIGHTS,
        "parking_slots": PARKING_SLOTS,
    }
    for rows in (np.zeros(0, types[name]), np.zeros(3, types[name])):
        kept, _, faults = judge(10.0, **{name: StampedRows(10.0, rows)})
        assert getattr(kept, name).rows is rows and not faults
    others = [dtype for other, dtype in types.items() if other != name]
    for rows in (np.zeros((2, 2), types[name]), np.zeros((), types[name]), *(np.zeros(1, dtype) for dtype in others)):
        kept, _, faults = judge(10.0, **{name: StampedRows(10.0, rows)})
        assert getattr(kept, name) is None and list(faults) == [f"{name} refused"]


@pytest.mark.parametrize("name", list(AGES))
def test_a_message_counts_until_its_age_and_never_goes_back_in_time(name: str) -> None:
    first = message(name, 10.0)
    for age, is_fresh in ((0.0, True), (AGES[name], True), (AGES[name] + 0.01, False), (2.0 * AGES[name], False)):
        kept, _, _ = judge(10.0, **{name: first})
        kept, fresh, faults = judge(10.0 + age, kept, **{name: first})
        assert getattr(kept, name) is first and (getattr(fresh, name) is first) is is_fresh
        assert list(faults) == [f"{name} stale"] * (not is_fresh)
        # The others say nothing of it.
        assert all(getattr(fresh, other) is None for other in AGES if other != name)
    for stamp, at, is_taken in ((10.04, 10.0, True), (10.06, 10.0, False), (9.9, 10.0, False), (10.0, 10.1, True)):
        other = message(name, stamp)
        kept, _, faults = judge(at, judge(10.0, **{name: first})[0], **{name: other})
        assert (getattr(kept, name) is other) is is_taken
        assert list(faults) == [f"{name} refused"] * (not is_taken)
        if not is_taken:
            assert ("ahead" if stamp > at else "out of order") in faults[f"{name} refused"]


def test_without_anything_new_everything_goes_on() -> None:
    given: dict[str, Any] = {name: message(name, 10.0) for name in AGES}
    given |= {name: BoolMessage(10.0, name == "rain_fog") for name in FLAGS}
    kept, fresh, faults = judge(10.1, **given)
    assert not faults and all(getattr(fresh, name) is each for name, each in given.items())
    for again in (given, {}):
        later, fresh, faults = judge(10.19, kept, **again)
        assert later is kept and fresh is kept and not faults
    later, fresh, faults = judge(10.65, kept)
    assert later is kept and list(faults) == ["odometry stale", "objects stale", "lane_lines stale"]
    assert [name for name in AGES if getattr(fresh, name) is not None] == [
        "occupancy",
        "traffic_lights",
        "parking_slots",
    ]


@pytest.mark.clause("EST-3")
@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_holds_as_it_was_told_and_when_unless_the_clock_was_set_back(name: str) -> None:
    told = BoolMessage(10.0, True)
    kept, fresh, _ = judge(10.0, **{name: told})
    assert getattr(kept, name) is told and getattr(fresh, name) is told
    assert getattr(judge(500.0, kept)[1], name) is told, "it never grows too old"
    assert getattr(judge(500.0, kept, **{name: told})[0], name) is told
    new = BoolMessage(12.0, False)
    assert getattr(judge(12.0, kept, **{name: new})[0], name) is new
    # Set back: it counts from now on, and once that is known it is the same one.
    back = judge(4.0, kept, **{name: told})[0]
    assert getattr(back, name) == BoolMessage(4.0, True)
    assert getattr(judge(4.5, back, **{name: told})[0], name) is getattr(back, name)
    assert getattr(judge(3.0, back, **{name: told})[0], name) == BoolMessage(3.0, True)
    other = judge(4.5, back, **{name: BoolMessage(10.0, False)})[0]
    assert getattr(other, name) == BoolMessage(4.5, False)
    first = judge(4.0, **{name: told})[0]
    assert getattr(first, name) == BoolMessage(4.0, True)


def test_the_flags_are_the_topics_of_a_truth() -> None:
    assert {topic.field for topic in INPUTS if topic.type == BOOL} == set(FLAGS) == {
        "rain_fog", "emergency_stop", "radar_health",
    }  # fmt: skip


def test_whole_numbers_and_those_of_a_library_become_plain_ones() -> None:
    plain = Odometry(1.0, Pose(1.0, 2.0, 3.0), 4.0, 0.0)
    assert in_floats(plain) is plain
    for given in (
        Odometry(1, Pose(1, 2, 3), 4, 0), Odometry(np.float32(1.0), Pose(1.0, np.float64(2.0), 3.0), 4.0, 0.0),
        dataclasses.replace(plain, v=np.int64(4)), dataclasses.replace(plain, pose=Pose(1.0, 2.0, 3)),
    ):  # fmt: skip
        told = in_floats(given)
        assert told == plain
        numbers = (told.stamp, *told.pose, told.v, told.yaw_rate, told.position_std, told.heading_std)
        assert {type(number) for number in numbers} == {float}
    flag = in_floats(BoolMessage(3, True))
    assert type(flag.stamp) is float and flag.value is True
    assert in_floats({"stamp": 3}) == {"stamp": 3}

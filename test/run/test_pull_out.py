"""Out of a bay beside the road like a driver: in one go where there is room, backing up once where there is little."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.agent import Tick
from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.share import share_file

from .drives import drive

pytestmark = [pytest.mark.slow, pytest.mark.clause("REG-1", "REG-2", "REG-3", "TPO-1")]

TICK_S = 0.05
SCENARIO = """
import osc.standard

scenario bay:
    map.set_map_file("MAP")
    ego: vehicle
    start: pose_3d with:
        keep(it.position == map.create_xyz_point(x: 184.75m, y: 206.58m))
        keep(it.orientation.yaw == 90deg)
    goal: odr_point = map.create_odr_point(road_id: "15", lane_id: "-1", s: 75m)
"""
PARKED = """
    {name}: stationary_object with:
        keep(it.kind == barrier)
        keep(it.length == 4.6m)
        keep(it.width == 1.9m)
    at_{name}: pose_3d with:
        keep(it.position == map.create_xyz_point(x: 184.75m, y: {y}m))
        keep(it.orientation.yaw == 90deg)
"""
DRIVE = """
    do parallel(duration: 20s):
        ego.assign_position(start)
        ego.drive() with:
            along(map.create_route([goal]))
"""
NEAR_M = {"ahead": 213.65, "behind": 202.35}
"""Middles of parked cars a metre before and behind the car, along the bay."""


def leaving(folder: Path, *parked: str) -> list[Tick]:
    """The ticks from the order to the car's being back on the road."""
    declared = "".join(PARKED.format(name=name, y=NEAR_M[name]) for name in parked)
    placed = "".join(f"        {name}.assign_position(at_{name})\n" for name in parked)
    run = drive(Path(share_file("config", "course", "course.xodr")), SCENARIO + declared + DRIVE + placed, folder)
    assert run.faults == []
    reached = [tick.state for tick in run.ticks].index(states.NORMAL)
    return [tick for tick in run.ticks[: reached + 1] if tick.state != states.PLAN_ONCE]


def changes_of_gear(ticks: list[Tick]) -> int:
    speeds = np.array([tick.world.ego.v for tick in ticks])
    return int(np.count_nonzero(np.diff(np.sign(speeds[np.abs(speeds) > 0.02]))))


def steering_s(ticks: list[Tick]) -> float:
    """How long the car stood to turn its wheels, s."""
    return TICK_S * sum(tick.limit.reason is Reason.STEERING for tick in ticks)


def test_with_room_ahead_it_merges_in_one_curve_and_steers_as_it_rolls(tmp_path: Path) -> None:
    ticks = leaving(tmp_path)
    assert TICK_S * len(ticks) <= 8.0
    assert changes_of_gear(ticks) == 0
    assert steering_s(ticks) == 0.0


def test_between_parked_cars_it_backs_up_once_and_drives_out(tmp_path: Path) -> None:
    ticks = leaving(tmp_path, "ahead", "behind")
    assert TICK_S * len(ticks) <= 15.0
    assert changes_of_gear(ticks) <= 2
    assert steering_s(ticks) <= 2.0

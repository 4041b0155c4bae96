"""Lanes in which a vehicle waits in line that could be passed (NOR-11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.traffic.memory import TrafficRuleMemory
from tuling_fsm.behaviour.traffic.parameters import QueueWallParameters
from tuling_fsm.behaviour.traffic.queues import queue_walls
from tuling_fsm.behaviour.traffic.rules import traffic_rules
from tuling_fsm.core.request import LaneLine, Reason, StopWall
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world import objects as ob
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.traffic import PredictedLanes

from ..worlds import FAR_Y, LENGTH, NEAR_Y, VEHICLE
from .alone import FRONT, Other, at, situation, traffic

P = QueueWallParameters()
LONG, NARROW = 2.2, 0.8
"""Of the motorcycle that waits."""
REAR = 20.0
"""Its rear bumper is so far ahead of the car's front, m."""


def waits(ahead: float = REAR, y: float = NEAR_Y, heading: float = 0.0, waiting: bool = True) -> PredictedLanes:
    """A motorcycle, by its rear bumper."""
    found = traffic([Other(FRONT + ahead + 0.5 * LONG, y, length=LONG, kind=Kind.MOTORCYCLE)])
    found.body[0, ob.WIDTH], found.body[0, ob.HEADING] = NARROW, heading
    return replace(
        found,
        waiting=np.array([waiting]),
        line_size=np.array([1]),
        line_still=np.array([12.0]),
        line_seen_moving=np.array([True]),
    )


def walls(
    road: RoadMap, width: float, found: PredictedLanes, many: int = 1, **more: Any
) -> list[tuple[float, StopWall]]:
    """The walls where the car's lane is so wide; of two lanes a usual one lies to its left."""
    x = np.linspace(0.0, LENGTH, 50)
    own = LaneLine.along(np.column_stack((x, np.full(50, NEAR_Y))), width)
    beside = LaneLine.along(np.column_stack((x, np.full(50, FAR_Y))), 3.5, shift=1)
    return list(queue_walls(situation(road, traffic=found, lanes=(own, beside)[:many], **more)))


@pytest.mark.clause("NOR-11", "EXPL-1")
def test_the_whole_width_of_a_wide_lane_is_closed_behind_one_that_waits_in_it(road: RoadMap) -> None:
    ((s, wall),) = walls(road, 6.3, waits())
    assert s == pytest.approx(FRONT + REAR - P.gap)
    assert at(road, wall) == pytest.approx(s)
    assert sorted((wall.y0, wall.y1)) == pytest.approx([NEAR_Y - 3.15, NEAR_Y + 3.15])
    assert (wall.reason, wall.blocker) == (Reason.QUEUE, 7)
    assert wall.detail == "behind a vehicle that waits, moved 12 s ago"


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(
    ("width", "found", "v", "many"),
    [
        (2.0 * (VEHICLE.width + 0.5 * NARROW) + 0.02, waits(), 0.0, 1),
        (2.0 * (VEHICLE.width + 0.5 * NARROW) - 0.02, waits(), 0.0, 0),
        (3.5, waits(y=NEAR_Y - 1.0), 0.0, 1),
        (6.3, waits(waiting=False), 0.0, 0),
        (6.3, waits(y=NEAR_Y + 3.3), 0.0, 0),
        (6.3, waits(heading=0.7), 0.0, 1),
        (6.3, waits(heading=0.9), 0.0, 0),
        (6.3, waits(P.horizon - LONG), 0.0, 1),
        (6.3, waits(P.horizon), 0.0, 0),
        (6.3, waits(0.1), 0.0, 1),
        (6.3, waits(-0.1), 0.0, 0),
        (6.3, waits(P.gap + 9.0), 7.9, 1),
        (6.3, waits(P.gap + 9.0), 8.0, 0),
    ],
)
def test_it_is_closed_where_one_waits_ahead_with_room_beside_and_was_seen_in_time(
    road: RoadMap, width: float, found: PredictedLanes, v: float, many: int
) -> None:
    assert len(walls(road, width, found, v=v)) == many


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(("many", "y", "at_y"), [(1, NEAR_Y, None), (2, NEAR_Y, NEAR_Y), (2, FAR_Y, FAR_Y)])
def test_with_another_lane_beside_the_whole_body_has_to_be_on_that_before_one_that_waits_is_passed(
    road: RoadMap, many: int, y: float, at_y: float | None
) -> None:
    found = walls(road, 3.5, waits(y=y), many)
    assert [0.5 * (wall.y0 + wall.y1) for _, wall in found] == pytest.approx([] if at_y is None else [at_y])
    assert all(abs(wall.y0 - wall.y1) == pytest.approx(3.5) for _, wall in found)


@pytest.mark.clause("NOR-11")
def test_one_that_waits_nearer_than_the_gap_keeps_the_car_where_it_is(road: RoadMap) -> None:
    ((s, wall),) = walls(road, 6.3, waits(1.0))
    assert (s, at(road, wall)) == pytest.approx((FRONT, FRONT))


@pytest.mark.clause("NOR-11")
def test_the_wall_is_one_of_the_rules(road: RoadMap) -> None:
    lane = LaneLine.along(np.array(((0.0, NEAR_Y), (LENGTH, NEAR_Y))), 6.3)
    now = situation(road, traffic=waits(), lanes=(lane,))
    rules = traffic_rules(now.world, road, VEHICLE, TrafficRuleMemory(), now.parameters)
    assert [wall.reason for wall in rules.walls] == [Reason.QUEUE]

"""Lanes that a car may not use by `<access>`."""

from __future__ import annotations

from pathlib import Path

import pytest

from map import xodr
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import DRIVING, LaneId
from tuling_fsm.map.routing import plan_route


def access(rule: str, *users: str, at: float = 0.0) -> str:
    """As up to OpenDRIVE 1.7, an element for each road user."""
    said = f'rule="{rule}" ' if rule else ""
    return "".join(f'<access sOffset="{at}" {said}restriction="{user}"/>' for user in users)


def nested(rule: str, *users: str) -> str:
    """As since OpenDRIVE 1.8."""
    return f'<access sOffset="0" rule="{rule}">{"".join(f"<restriction type={user!r}/>" for user in users)}</access>'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", DRIVING),
        (access("allow", "bus"), "bus"),
        (access("", "bus"), "bus"),
        (access("allow", "bicycle", "taxi"), "taxi"),
        (access("allow", "emergency"), "restricted"),
        (access("allow", "bus", "passengerCar"), DRIVING),
        (access("allow", "bus", "autonomousTraffic"), DRIVING),
        (access("allow", "none"), DRIVING),
        (access("allow", "throughTraffic"), DRIVING),
        (access("deny", "passengerCar"), "restricted"),
        (access("deny", "autonomousTraffic"), "restricted"),
        (access("deny", "passengerCar") + access("allow", "bus"), "bus"),
        (access("deny", "truck", "none"), DRIVING),
        (access("allow", "passengerCar") + access("allow", "bus", at=1e-6), DRIVING),
        (nested("allow", "bus", "taxi"), "bus"),
        (nested("allow", "bus", "car"), DRIVING),
        (nested("deny", "bicycle", "passengerCar"), "restricted"),
    ],
)
def test_a_lane_that_is_closed_to_cars_is_not_driven(tmp_path: Path, text: str, kind: str) -> None:
    """Which rows are closed is as netconvert reads them, but for traffic that drives by itself: that is what we are."""
    lanes = [xodr.lane(-1, mark="broken"), xodr.lane(-2, mark="solid", inside=text)]
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)]))
    assert [lane.type for lane in road_map.lanes.values()] == [DRIVING, kind]
    route = plan_route(road_map, Pose(5.0, -5.25, 0.0), Pose(95.0, -5.25, 0.0)).route
    assert route is not None
    assert {stretch.lane.lane for stretch in route.lanes} == {-2 if kind == DRIVING else -1}


def test_only_driving_lanes_are_closed(tmp_path: Path) -> None:
    lane = xodr.lane(-2, kind="biking", inside=access("allow", "bicycle"))
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1), lane])]))
    assert [lane.type for lane in road_map.lanes.values()] == [DRIVING, "biking"]


@pytest.mark.parametrize(("junction", "kinds"), [("-1", [DRIVING, "bus", DRIVING]), ("7", ["bus"])])
def test_a_bus_lane_begins_and_ends_inside_a_section(tmp_path: Path, junction: str, kinds: list[str]) -> None:
    text = access("allow", "bus", at=30.0) + access("allow", "none", at=60.0)
    lanes = [xodr.lane(-1), xodr.lane(-2, inside=text)]
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)], junction=junction))
    assert [road_map.lanes[LaneId("1", i, -2)].type for i in range(len(kinds))] == kinds
    assert len(road_map.lanes) == 2 * len(kinds)

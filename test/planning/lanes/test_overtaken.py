"""Others come past the car from behind while it goes aside, or turns off (NOR-4). They keep their way and speed."""

from __future__ import annotations

import math

import pytest

from tuling_fsm.core.request import LaneLine, Reason

from ..lane_drives import VEHICLE, run, straight
from ..scenes import Thing, gap_to, road, scene

pytestmark = [pytest.mark.clause("NOR-4"), pytest.mark.medium]

CREEPS = 0.3
PARKED = Thing(7, 36.0, -0.87, length=4.0, width=1.6)
BUS = Thing(8, 0.0, 3.5, length=12.0, width=2.5)
CYCLIST = Thing(8, 0.0, 2.3, length=1.8, width=0.6)


def least_gap_in_motion(log: list[tuple[float, float, float]]) -> float:
    """Of a log of stamp, gap (m) and speed (m/s)."""
    return min((gap for _, gap, v in log if abs(v) > CREEPS), default=math.inf)


@pytest.mark.parametrize(("start_y", "heading", "v"), [(0.75, 0.08, 3.0), (0.6, 0.1, 4.0)])
@pytest.mark.parametrize(
    ("body", "behind", "faster"),
    [(BUS, 2.0, 2.0), (BUS, 5.0, 3.0), (CYCLIST, 2.0, 2.0), (CYCLIST, 5.0, 3.0)],
    ids=["bus beside", "bus behind", "cyclist beside", "cyclist behind"],
)
def test_a_car_half_way_out_past_a_parked_one_does_not_drive_into_one_that_overtakes_it(
    body: Thing, behind: float, faster: float, start_y: float, heading: float, v: float
) -> None:
    """Its front is so far behind the car's rear axle at first; what is left of the way out is less than half of it."""
    other = Thing(8, 20.0 - behind - 0.5 * body.length, body.y, 0.0, v + faster, 0.0, body.length, body.width)
    log = run(straight(2, 0, limit=6.0), scene(y=start_y, heading=heading, v=v), 6.0, (PARKED, other), speed_limit=6.0)
    seen = [(t, gap_to(other.at(t), now.ego.pose, VEHICLE), now.ego.v) for t, now, _ in log]
    assert least_gap_in_motion(seen) > 0.0
    assert all(gap_to(PARKED, now.ego.pose, VEHICLE) > 0.0 for _, now, _ in log)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("behind", "v"), [(3.0, 6.5), (5.0, 7.0), (8.0, 8.0)])
def test_a_car_that_turns_lets_a_cyclist_by_that_goes_straight_on_beside_it(
    behind: float, v: float, side: float
) -> None:
    """The cyclist comes along in the same lane, on the inside of the turn."""
    pieces = ((40.0, 0.0), (11.0, side * 0.14), (60.0, 0.0))

    def lanes(_: float) -> tuple[LaneLine, ...]:
        return road(pieces=pieces, window=(-10.0, 80.0), at=20.0)

    cyclist = Thing(8, 20.0 - behind, side * 1.4, 0.0, v, 0.0, 1.8, 0.6)
    log = run(lanes, scene(v=7.0), 9.0, (cyclist,))
    seen = [(t, gap_to(cyclist.at(t), now.ego.pose, VEHICLE), now.ego.v) for t, now, _ in log]
    assert least_gap_in_motion(seen) > 0.0
    assert Reason.CROSSING in {result.limit.reason for _, _, result in log}
    assert log[-1][1].ego.pose.x > 45.0, "it turns behind the cyclist"

"""An obstacle sanctions that lines are crossed in the lane that it stands in, and no other; the edge of the road only
where no other lane leads past.
"""

from __future__ import annotations

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind

from .staging import LANE_Y, Leg, Other, Scene, play

RIGHT_Y = LANE_Y - 3.5
ALONGSIDE = [Leg(1.8, 2.9, -0.3), Leg(1.8, 2.9, 0.3), Leg(4.0, 2.9)]
"""Some 2.4 m over to the right, and on there."""


def barrier(x: float, y: float) -> Other:
    return Other(Pose(x, y, 0.0), 0.0, Kind.BARRIER, 0.5, 1.6)


@pytest.mark.parametrize(
    ("others", "faults"),
    [
        ([barrier(120.0, RIGHT_Y), barrier(124.0, LANE_Y)], []),
        ([barrier(120.0, RIGHT_Y), barrier(140.0, LANE_Y)], ["off_road"]),
        ([barrier(120.0, RIGHT_Y)], ["off_road"]),
        ([barrier(120.0, LANE_Y)], ["solid_line", "off_road"]),
        ([Other(Pose(112.0, LANE_Y - 0.4, 0.0))], ["solid_line", "off_road"]),
        ([Other(Pose(112.0, LANE_Y - 0.4, 0.0)), barrier(120.0, RIGHT_Y)], []),
        ([], ["solid_line", "off_road"]),
    ],
)
def test_the_edge_is_left_for_what_stands_in_the_own_lane_and_beside_it(
    two_lanes: RoadMap, others: list[Other], faults: list[str]
) -> None:
    scene = Scene(
        "to the right off the road", "two_lanes", Pose(100.0, RIGHT_Y, 0.0), [Leg(3.2, 0.0), *ALONGSIDE], others
    )
    assert play(two_lanes, scene).faults == faults


def test_the_lane_that_was_left_stays_the_own_one_while_the_car_goes_round(two_lanes: RoadMap) -> None:
    """Three pairs of barriers in a row, each out of reach of the one before."""
    row = [barrier(x, y) for x in (120.0, 155.0, 190.0) for y in (RIGHT_Y, LANE_Y)]
    legs = [*ALONGSIDE, Leg(45.0, 2.9)]
    assert play(two_lanes, Scene("along works", "two_lanes", Pose(100.0, RIGHT_Y, 0.0), legs, row)).faults == []


@pytest.mark.parametrize(("beside", "faults"), [([], ["off_road"]), ([barrier(124.0, LANE_Y)], [])])
def test_on_the_way_back_the_edge_is_lifted_only_for_who_was_to_leave_the_road(
    two_lanes: RoadMap, beside: list[Other], faults: list[str]
) -> None:
    a_little_over = [Leg(1.0, 2.9, -0.3), Leg(1.0, 2.9, 0.3), Leg(30.0, 2.9)]
    scene = Scene(
        "over the edge", "two_lanes", Pose(100.0, RIGHT_Y - 0.5, 0.0), [Leg(3.2, 0.0), *a_little_over],
        [barrier(120.0, RIGHT_Y + 0.5), *beside],
    )  # fmt: skip
    assert play(two_lanes, scene).faults == faults

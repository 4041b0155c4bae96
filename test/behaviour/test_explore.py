"""`on_road/explore`, and keeping the perceived lane (EXP)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.on_road.lane_keeping import perceived_lane
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.perceived import PerceivedLine

from .descents import clauses
from .worlds import (
    NEAR_Y,
    WIDTH,
    Drive,
    Place,
    departed,
    in_normal,
    plan,
    route_along,
)


def _explore(road: RoadMap) -> Drive:
    drive = departed(Place(road, y=9.0), route_along(road))
    drive.result = plan(False)
    drive.until(states.EXPLORE, 3.0)
    return drive


@pytest.mark.clause("EXP-1", "EXP-3")
def test_explore_looks_for_a_place_within_10_m_near_the_route(road: RoadMap) -> None:
    drive = _explore(road)
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.free_heading
    assert np.allclose(np.abs(request.lines[:, [1, 3]]), 2.0 * WIDTH), "the road's edges, and no lane lines"
    assert request.speed_limit <= 5.0 / 3.6
    assert math.hypot(request.goal.x - 50.0, request.goal.y - 9.0) <= 10.0 + 1e-6
    assert request.goal.y < 0.0


@pytest.mark.clause("EXP-1")
def test_explore_goes_on_looking_when_nothing_works(road: RoadMap) -> None:
    drive = _explore(road)
    requests = [decision.request for decision in drive.run(6.0)]
    goals = [request.goal for request in requests if isinstance(request, FreeSpace)]
    assert len(set(goals)) == 4
    beyond_edges = [len(request.lines) == 0 for request in requests if isinstance(request, FreeSpace)]
    assert beyond_edges.index(True) >= 4, "each is tried on the road first"
    rest = next(i for i, request in enumerate(requests) if isinstance(request, Hold))
    assert isinstance(requests[rest + 21], FreeSpace)


@pytest.mark.clause("EXP-2")
def test_a_path_toward_the_route_leads_back_to_regression(road: RoadMap) -> None:
    drive = _explore(road)
    probe = next(decision.probe for decision in drive.decisions[::-1] if decision.probe)
    assert isinstance(probe, FreeSpace)
    assert probe.goal.y == pytest.approx(NEAR_Y)
    assert probe.goal.x > 100.0
    drive.probe = plan(False)
    drive.run(2.0)
    assert drive.last.state == states.EXPLORE
    drive.probe = plan()
    drive.until(states.REGRESSION, 1.0)
    assert clauses(drive)[-1] == "EXP-2"


@pytest.mark.clause("EXP-4")
@pytest.mark.medium
def test_three_timeouts_of_30_seconds_park_the_car(road: RoadMap) -> None:
    drive = _explore(road)
    drive.place.localized = False
    drive.run(40.0)
    assert drive.last.state == states.EXPLORE
    drive.place.localized = True
    begin = drive.stamp
    drive.until(states.REPLAN, 31.0)
    assert drive.stamp - begin == pytest.approx(30.0, abs=0.6)
    drive.until(states.PARKED, 120.0)
    assert clauses(drive)[-1] == "EXP-4"
    assert drive.states().count(states.EXPLORE) == 3
    assert drive.last.hold_reason is Reason.TIMEOUT
    drive.probe = drive.result = plan()
    assert {decision.state for decision in drive.run(60.0)} == {states.PARKED}


@pytest.mark.clause("EXP-4")
@pytest.mark.medium
def test_the_time_adds_up_over_visits_until_normal_is_reached(road: RoadMap) -> None:
    drive = _explore(road)
    drive.run(20.0)
    drive.probe = plan()
    drive.until(states.REGRESSION, 2.0)
    drive.probe, drive.result = plan(False), plan(False)
    drive.until(states.EXPLORE, 3.0)
    begin = drive.stamp
    drive.until(states.REPLAN, 31.0)
    assert drive.stamp - begin < 11.0
    drive.until(states.EXPLORE, 20.0)
    drive.probe, drive.result = plan(), plan()
    drive.until(states.REGRESSION, 10.0)
    drive.place.y = NEAR_Y
    drive.until(states.NORMAL, 2.0)
    assert drive.behaviour.record.machine.memory.on_road.exploring.timeouts == 0


@pytest.mark.clause("USE-1")
@pytest.mark.medium
def test_a_path_that_turns_out_to_be_none_is_believed_later_each_time(road: RoadMap) -> None:
    drive = _explore(road)
    drive.probe = plan()
    for _ in range(600):
        drive.result = plan(False)
        drive.tick()
    entries = [d.stamp for d in drive.decisions if d.transition and d.transition.dest == states.EXPLORE]
    gaps = np.diff(entries)
    assert len(gaps) >= 3
    assert all(b >= a - 0.2 for a, b in itertools.pairwise(gaps))
    assert gaps[-1] > 4.0


@pytest.mark.clause("EXP-1")
@pytest.mark.medium
def test_not_localized_the_perceived_lane_is_kept(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.place.localized = False
    x = np.arange(0.0, 20.0)
    lines = (
        PerceivedLine(1, 1, np.column_stack((x, 0 * x + 1.8))),
        PerceivedLine(2, 1, np.column_stack((x, 0 * x - 1.6))),
        PerceivedLine(3, 1, np.column_stack((x, 0 * x + 5.3))),
    )
    for _ in range(6):
        drive.tick(perceived_lines=lines)
    request = drive.last.request
    assert isinstance(request, FollowLanes)
    assert request.keep_lane
    assert request.speed_limit <= 5.0 / 3.6
    (lane,) = request.lanes
    assert lane.center.project(60.0, NEAR_Y + 0.1).offset == pytest.approx(0.0, abs=1e-9)
    assert lane.left == pytest.approx(np.full(len(lane.left), 1.7))
    assert drive.tick().hold_reason is Reason.NOT_LOCALIZED
    assert drive.tick(odometry_fresh=False, perceived_lines=lines).hold_reason is Reason.NO_ODOMETRY
    drive.run(90.0)
    assert drive.last.state == states.EXPLORE


@pytest.mark.clause("EXP-1")
def test_one_perceived_line_is_enough_and_none_is_not() -> None:
    left = PerceivedLine(1, 1, np.array([[0.0, 1.5], [12.0, 1.5]]))
    lane = perceived_lane((left,), Pose(0.0, 0.0, math.pi / 2.0), 1.0)
    assert lane is not None
    assert lane.center.at(5.0).x == pytest.approx(0.25)
    assert perceived_lane((), Pose(0.0, 0.0, 0.0), 1.0) is None
    short = PerceivedLine(1, 1, np.array([[0.0, 1.5], [2.0, 1.5]]))
    assert perceived_lane((short,), Pose(0.0, 0.0, 0.0), 1.0) is None
    squeezed = PerceivedLine(2, 1, np.array([[0.0, -0.4], [12.0, -0.4]]))
    assert perceived_lane((left, squeezed), Pose(0.0, 0.0, 0.0), 1.0) is None

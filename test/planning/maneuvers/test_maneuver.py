"""Free-space motions are found once and driven to their end. The car is where its plan says (perfect tracking)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.request import FreeSpace, Hold, PlanResult, Reason, StopWall
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check

from ..scenes import PEDESTRIAN, Log, Thing, drive, gap_to, regulations_for, scene
from .closed_loop import PARAMETERS, PLANNER, VEHICLE, drive_checked, searched
from .places import slot

AHEAD = FreeSpace(Pose(15.0, 2.0, 0.0))


def kept(log: Log) -> int:
    """How many different motions were driven."""
    return len({id(result.maneuver.whole) for _, _, result in log if result.maneuver is not None})


@pytest.mark.clause("USE-8", "USE-9")
@pytest.mark.medium
def test_a_parallel_slot_is_entered_with_one_plan_driven_to_each_cusp() -> None:
    request = FreeSpace(Pose(0.0, -3.0, 0.0))
    log = drive_checked(request, scene(0.0, segments=slot()), 32.0)
    end = log[-1][1].ego
    assert math.hypot(end.pose.x, end.pose.y + 3.0) < 0.1
    assert abs(end.pose.heading) < 0.05
    assert end.v == 0.0
    assert log[-1][2].limit.reason is Reason.ARRIVED
    assert kept(log) == 1
    begun = next(result for _, _, result in log if result.maneuver is not None)
    assert begun.uses_reverse
    speeds = np.array([now.ego.v for _, now, _ in log])
    assert speeds.min() < -0.3
    turned = np.flatnonzero(np.diff(np.sign(speeds[np.abs(speeds) > 1e-3])))
    whole = begun.maneuver
    assert whole is not None
    planned = np.flatnonzero(np.diff(np.sign(whole.whole.v[np.abs(whole.whole.v) > 1e-3])))
    assert len(turned) == len(planned)
    assert Reason.GEAR_CHANGE in {result.limit.reason for _, _, result in log}


@pytest.mark.clause("USE-9")
def test_one_false_scan_makes_no_new_plan() -> None:
    first = PLANNER.plan(AHEAD, scene(0.0, v=1.0), None)
    assert first.trajectory is not None and first.maneuver is not None
    pose, curvature, v, a = first.trajectory.sample(0.5)
    seen = scene(*pose, v=v, a=a, curvature=curvature, stamp=0.5, things=(Thing(1, 9.0, 1.0),))
    flicker = PLANNER.plan(AHEAD, seen, first)
    assert flicker.maneuver is not None and flicker.trajectory is not None
    assert flicker.maneuver.whole is first.maneuver.whole
    assert flicker.limit.reason in (Reason.OBSTACLE, Reason.NONE, Reason.CURVATURE, Reason.SPEED_LIMIT)
    assert flicker.trajectory.x.max() + VEHICLE.front < 9.0 - 2.25
    gone = PLANNER.plan(AHEAD, replace(scene(*pose, v=v, stamp=0.55)), flicker)
    assert gone.maneuver is not None and gone.trajectory is not None
    assert gone.maneuver.whole is first.maneuver.whole
    assert gone.trajectory.x[-1] > flicker.trajectory.x.max() + 2.0


@pytest.mark.clause("USE-8", "USE-9")
@pytest.mark.medium
@pytest.mark.parametrize(("scans", "motions"), [(1, 1), (9, 1), (14, 2)])
def test_what_a_standing_car_seems_to_be_blocked_by_for_a_moment_makes_no_new_plan(scans: int, motions: int) -> None:
    """Something is seen close before the car in the gear in which it is to go on, where that changes."""
    seen: list[PlanResult] = []

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        changes = previous is not None and stamp > 6.0 and now.ego.v == 0.0
        if (changes or seen) and len(seen) < scans:
            ahead = shifted(now.ego.pose, VEHICLE.front + 0.15)
            now = replace(now, obstacles=scene(things=(Thing(9, ahead.x, ahead.y, length=0.2, width=0.2),)).obstacles)
            seen.append(PLANNER.plan(request, now, previous))
            return seen[-1]
        return PLANNER.plan(request, now, previous)

    request = FreeSpace(Pose(0.2, -3.0, 0.0))
    log = drive(plan, scene(0.0, segments=slot()), 40.0)
    assert seen[0].limit.reason is Reason.OBSTACLE and seen[0].limit.blocker == 9
    assert seen[0].trajectory is not None and seen[0].trajectory.stands
    assert kept(log) == motions
    assert log[-1][2].limit.reason is Reason.ARRIVED


@pytest.mark.clause("USE-8")
@pytest.mark.medium
def test_what_stays_in_the_way_is_stopped_for_and_planned_around() -> None:
    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        return PLANNER.plan(AHEAD, now, previous)

    log = drive(plan, scene(0.0), 3.0)
    stamp, now, _result = log[-1]
    blocked = Scene(stamp, now.ego, scene(things=(Thing(1, 11.0, -0.2),)).obstacles, np.zeros((0, 4)))
    log = drive(plan, blocked, 25.0, (Thing(1, 11.0, -0.2),))
    end = log[-1][1].ego.pose
    assert math.hypot(end.x - 15.0, end.y - 2.0) < 0.4
    assert min(gap_to(Thing(1, 11.0, -0.2), now.ego.pose, VEHICLE) for _, now, _ in log) > 0.0


@pytest.mark.medium
def test_a_pedestrian_in_the_way_is_waited_for() -> None:
    walker = Thing(9, 8.0, -8.0, heading=0.5 * math.pi, v=1.4, length=0.5, width=0.5, kind=PEDESTRIAN)
    log = drive_checked(AHEAD, scene(0.0), 22.0, (walker,))
    assert min(gap_to(walker.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log) > 0.4
    assert Reason.PEDESTRIAN in {result.limit.reason for _, _, result in log}
    assert log[-1][2].limit.reason is Reason.ARRIVED
    assert kept(log) == 1


@pytest.mark.clause("NOR-4")
@pytest.mark.medium
@pytest.mark.parametrize("x", [-0.5, 0.6, 1.5, 2.5])
def test_one_that_walks_up_to_the_side_of_a_car_in_reverse_is_waited_for(x: float) -> None:
    """The pedestrian comes to the car's flank as it is at first, beside its rear, its middle or its front."""
    walker = Thing(9, x, -1.0 - 1.2 * 3.0, heading=0.5 * math.pi, v=1.2, length=0.5, width=0.5, kind=PEDESTRIAN)
    log = drive_checked(FreeSpace(Pose(-9.0, 0.0, 0.0)), scene(0.0), 2.9, (walker,))
    assert abs(log[-1][1].ego.v) < 0.1
    assert log[-1][2].limit.reason is Reason.PEDESTRIAN


@pytest.mark.clause("USE-8", "USE-9")
@pytest.mark.medium
def test_a_motion_is_gone_on_with_after_a_moment_in_which_the_car_had_to_stop() -> None:
    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        waits = 3.0 <= stamp < 4.0
        return PLANNER.plan(Hold(Reason.OBJECTS_STALE) if waits else AHEAD, now, previous)

    log = drive(plan, scene(0.0), 20.0)
    assert min(now.ego.v for stamp, now, _ in log if 3.0 < stamp < 4.5) < 0.5 * log[59][1].ego.v
    assert kept(log) == 1
    assert log[-1][2].limit.reason is Reason.ARRIVED


@pytest.mark.clause("USE-6")
@pytest.mark.medium
def test_pulling_out_waits_for_what_comes_from_behind() -> None:
    other = Thing(9, -30.0, 3.0, v=7.0)
    log = drive_checked(FreeSpace(Pose(15.0, 3.0, 0.0)), scene(0.0), 20.0, (other,))
    assert min(gap_to(other.at(stamp), now.ego.pose, VEHICLE) for stamp, now, _ in log) > 0.25
    assert log[-1][2].limit.reason is Reason.ARRIVED


def test_it_comes_no_faster_towards_what_stands_behind_than_would_take_a_second() -> None:
    """nuPlan's bound of the time to collision is 0.95 s, at every moment."""
    parked = Thing(1, -6.0 - VEHICLE.rear_overhang - 0.2 - 2.25, 0.3)
    log = drive_checked(FreeSpace(Pose(-6.0, 0.0, 0.0)), scene(0.0, things=(parked,)), 16.0, (parked,))
    assert log[-1][2].limit.reason is Reason.ARRIVED
    gaps = [(gap_to(parked, now.ego.pose, VEHICLE), -now.ego.v) for _, now, _ in log]
    assert max(speed for _, speed in gaps) > 1.2, "where there is room it is not slow"
    assert min(gap / speed for gap, speed in gaps if speed > 0.05) > 0.95


@pytest.mark.medium
def test_it_swings_round_what_stands_no_faster_than_it_could_meet_that_in_a_second() -> None:
    """Nor would it, for as long as that bound, if it went straight on from anywhere on the way."""
    truck = Thing(1, 12.0, -0.3, length=7.5, width=2.3)
    log = drive_checked(FreeSpace(Pose(25.0, 2.5, 0.0), speed_limit=2.5), scene(0.0, things=(truck,)), 25.0, (truck,))
    assert log[-1][2].limit.reason is Reason.ARRIVED
    assert max(now.ego.v for _, now, _ in log) > 2.0
    for _, now, _ in log:
        for seconds in (0.3, 0.6, 0.95):
            later = shifted(now.ego.pose, seconds * now.ego.v)
            assert gap_to(truck, later, VEHICLE) > 0.0


def test_a_wall_stops_a_motion_until_it_is_gone() -> None:
    wall = StopWall(9.0, 6.0, 9.0, -4.0, Reason.RED_LIGHT, "signal 3", 3)
    log = drive_checked(replace(AHEAD, walls=(wall,)), scene(0.0), 9.0)
    stamp, now, result = log[-1]
    assert now.ego.v == 0.0
    assert result.limit.reason is Reason.RED_LIGHT and result.limit.blocker == 3
    assert 8.2 < now.ego.pose.x + VEHICLE.front < 9.0
    green = PLANNER.plan(AHEAD, Scene(stamp + 0.05, now.ego), result)
    assert green.trajectory is not None and green.maneuver is not None and result.maneuver is not None
    assert green.maneuver.whole is result.maneuver.whole
    assert green.trajectory.x[-1] > now.ego.pose.x + 3.0


@pytest.mark.clause("USE-3")
@pytest.mark.parametrize("behind", [-0.2, 0.0, 0.5, 2.0])
def test_a_line_behind_the_car_is_none_to_stop_at_in_reverse(behind: float) -> None:
    """Its front bumper has passed it."""
    x = -VEHICLE.rear_overhang - behind
    line = StopWall(x, 3.0, x, -3.0, Reason.RED_LIGHT, "signal 3", 3)
    log = drive_checked(FreeSpace(Pose(-6.0, 0.0, 0.0), walls=(line,)), scene(0.0), 9.0)
    assert log[-1][1].ego.pose.x < -5.5
    assert Reason.RED_LIGHT not in {result.limit.reason for _, _, result in log}


def test_another_goal_makes_another_plan() -> None:
    first = PLANNER.plan(AHEAD, scene(0.0), None)
    second = PLANNER.plan(FreeSpace(Pose(12.0, -1.0, 0.0)), scene(0.0, stamp=0.05), first)
    assert first.maneuver is not None and second.maneuver is not None
    assert second.maneuver.whole is not first.maneuver.whole


@pytest.mark.clause("USE-7")
def test_what_cannot_be_planned_says_why_and_still_stops() -> None:
    taken = PLANNER.plan(FreeSpace(Pose(15.0, 0.0, 0.0)), scene(0.0, v=1.5, things=(Thing(1, 17.0, 0.0),)), None)
    assert not taken.feasible
    assert taken.reason is Reason.GOAL_OCCUPIED
    assert taken.trajectory is not None
    assert taken.trajectory.v[-1] == 0.0


@pytest.mark.clause("RFG-1")
def test_a_motion_that_will_reverse_is_given_up_when_that_is_no_longer_allowed() -> None:
    request = FreeSpace(Pose(0.0, -3.0, 0.0))
    start = scene(0.0, segments=slot())
    begun = searched(request, start)
    assert begun.uses_reverse
    assert PLANNER.plan(request, replace(start, stamp=0.05), begun).uses_reverse
    forward = searched(replace(request, allow_reverse=False), replace(start, stamp=0.05), begun)
    assert not forward.uses_reverse
    assert forward.trajectory is not None and forward.trajectory.v.min() >= 0.0


@pytest.mark.clause("EXPL-1")
def test_a_car_that_turns_its_wheels_on_the_spot_says_so() -> None:
    standing = scene(0.0, curvature=-0.15, segments=slot())
    result = searched(FreeSpace(Pose(0.0, -3.0, 0.0)), standing)
    assert result.trajectory is not None
    waits = float(result.trajectory.t[np.flatnonzero(np.abs(result.trajectory.v) > 1e-3)[0]])
    assert waits > 0.1
    assert result.limit.reason is Reason.STEERING


@pytest.mark.clause("EXPL-1")
def test_wheels_that_stayed_turned_while_the_car_waited_are_turned_as_it_goes_on_from_where_they_are() -> None:
    """The plan of the wait does not say that they are turned already: the car would leave its path at once."""
    standing = scene(0.0, curvature=-0.15)
    wall = StopWall(VEHICLE.front + 0.04, 4.0, VEHICLE.front + 0.04, -4.0, Reason.RED_LIGHT)
    result = PLANNER.plan(replace(AHEAD, walls=(wall,)), standing, None)
    for k in range(1, 20):
        assert result.trajectory is not None and result.trajectory.stands
        assert result.limit.reason is Reason.RED_LIGHT
        assert np.all(result.trajectory.curvature == -0.15)
        result = PLANNER.plan(replace(AHEAD, walls=(wall,)), replace(standing, stamp=0.05 * k), result)
    free = PLANNER.plan(AHEAD, replace(standing, stamp=1.0), result)
    assert free.trajectory is not None
    assert free.limit.reason is not Reason.STEERING
    steer = np.arctan(VEHICLE.wheelbase * free.trajectory.curvature)
    assert free.trajectory.curvature[0] == pytest.approx(-0.15)
    assert np.all(np.abs(np.diff(steer)) <= VEHICLE.max_steer_rate * np.diff(free.trajectory.t) + 1e-6)


@pytest.mark.clause("USE-6", "USE-8")
def test_a_start_is_kept_for_what_moves_not_for_what_the_motion_leads_past() -> None:
    request = FreeSpace(Pose(15.0, 6.0, 0.0), allow_reverse=False)
    barrier = Thing(7, VEHICLE.front + 1.3, -0.6, length=0.4, width=0.4, kind=9)
    standing = scene(0.0, things=(barrier, Thing(8, 0.0, -12.0, v=0.5)))
    begun = searched(request, standing)
    assert begun.maneuver is not None
    for blocker, waits in ((8, True), (7, False), (-1, True)):
        ahead = VEHICLE.front + 0.05
        wall = StopWall(ahead, 9.0, ahead, -4.0, Reason.OBSTACLE, f"object {blocker} in the start path", blocker)
        now = replace(standing, stamp=0.05)
        result = PLANNER.plan(replace(request, walls=(wall,)), now, begun)
        assert result.trajectory is not None and result.maneuver is not None
        assert result.trajectory.stands is waits
        assert (result.limit.blocker == blocker and result.limit.reason is Reason.OBSTACLE) is waits
        assert result.maneuver.whole is begun.maneuver.whole


@pytest.mark.clause("USE-8")
@pytest.mark.medium
@pytest.mark.parametrize("cusp", [0.05, 0.5])
def test_strokes_shorter_than_what_may_be_left_of_one_are_driven(cusp: float) -> None:
    """Out of a gap of 0.4 m before and behind the car."""
    planner = Planner(VEHICLE, replace(PARAMETERS, maneuver=replace(PARAMETERS.maneuver, cusp=cusp)))
    ends = (VEHICLE.front + 0.4, -VEHICLE.rear_overhang - 0.4)
    edges = np.array([(x, -1.0, x, 1.0) for x in ends])
    request = FreeSpace(Pose(12.0, 3.0, 0.0))
    log = drive(lambda stamp, now, previous: planner.plan(request, now, previous), scene(0.0, segments=edges), 30.0)
    assert log[-1][2].limit.reason is Reason.ARRIVED
    assert kept(log) == 1
    gears = np.sign([now.ego.v for _, now, _ in log if abs(now.ego.v) > 0.05])
    assert np.count_nonzero(np.diff(gears)) >= 2


@pytest.mark.clause("SAF-2")
def test_a_motion_at_the_limit_of_jerk_is_not_over_it_for_all_rounding_of_its_rows() -> None:
    strict = replace(PARAMETERS, check=replace(PARAMETERS.check, jerk=1.0))
    request = FreeSpace(Pose(0.0, -3.0, 0.0))

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        result = PLANNER.plan(request, now, previous)
        assert result.trajectory is not None
        assert check(result.trajectory, now, regulations_for(request), VEHICLE, strict) is None, stamp
        return result

    assert drive(plan, scene(0.0, segments=slot()), 3.0)[-1][1].ego.v > 0.5

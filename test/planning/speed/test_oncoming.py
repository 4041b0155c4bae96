"""What comes towards the car in its own lane, in plain sight from afar, is stood before in comfort, or gone aside from
(NOR-4, SAF-2, USE-15).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.obstacles.beside import ONCOMING, PassingLimits, _curve_of, passing_speed
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, meet_accel, ramp_of
from tuling_fsm.planning.speed.roll_out import FREE, YIELDING, Progress, StopTarget, no_traffic, traffic_demand
from tuling_fsm.world.inputs import Kind

from ..lane_drives import PARAMETERS, PLANNER, VEHICLE, run, straight
from ..scenes import Log, Thing, follow, gap_to, road, scene

D = LongitudinalLimits.of(VEHICLE, PARAMETERS)
RAMP = ramp_of(D)
PEDESTRIAN, BICYCLE = int(Kind.PEDESTRIAN), int(Kind.BICYCLE)

pytestmark = pytest.mark.clause("NOR-4")


def stopped(gap: float, other_v: float, v: float = 8.0) -> tuple[float, float]:
    """Hardest acceleration of a car that rolls, before something that comes on at constant speed, and how far off that
    is when the car stands.
    """
    hardest, a = 0.0, 0.0
    while v > 0.0:
        asked = meet_accel(gap, v, other_v, a, RAMP, D)
        change = (D.jerk if asked > -1.3 * D.decel - 1e-9 else D.hard_jerk) * STEP_S
        a = min(max(asked, a - change), a + change, 0.0)
        hardest = min(hardest, a) if v > 0.5 else hardest
        v = max(0.0, v + a * STEP_S)
        gap -= (v + other_v) * STEP_S
    return hardest, gap


@pytest.mark.parametrize("other_v", [0.5, 1.0, 3.0, 5.0, 8.0, 14.0])
def test_a_car_brakes_in_comfort_and_stands_before_one_that_comes_towards_it(other_v: float) -> None:
    """So far off that the other, which reacts late, stands as well; that takes longer the faster it is."""
    hardest, left = stopped(200.0, other_v)
    assert hardest >= -1.3 * D.decel - 1e-9
    assert left >= other_v * D.rss.response + 0.5 * other_v**2 / D.rss.brake
    assert left <= 3.0 * other_v + other_v**2 / D.rss.brake, "and no farther than that takes"


@pytest.mark.parametrize("other_v", [1.0, 3.0, 5.0, 8.0])
def test_one_that_appears_late_is_braked_for_as_hard_as_it_takes(other_v: float) -> None:
    """The car stands before the other is there, if emergency braking can do it."""
    shortest = (0.5 * 8.0**2 + 8.0 * other_v) / D.emergency
    hardest, left = stopped(1.4 * shortest + 1.0, other_v)
    assert -D.emergency <= hardest < -1.3 * D.decel
    assert left > -0.5 * PARAMETERS.speed.crossing_gap, "which is kept besides"


def test_a_car_that_stands_waits_for_what_is_there_soon() -> None:
    assert meet_accel(6.0, 0.0, 3.0, 0.0, RAMP, D) == 0.0
    assert meet_accel(60.0, 0.0, 3.0, 0.0, RAMP, D) > 0.0
    assert meet_accel(6.0, 0.2, 3.0, 0.0, RAMP, D) < 0.0


def test_what_comes_towards_the_car_counts_beside_the_leader_and_the_stop() -> None:
    traffic, now = no_traffic(), Progress(2.0, 8.0, 0.0)
    assert traffic_demand(traffic, StopTarget(math.inf, 0.0), 4, 0.1, now, RAMP, D).reason == FREE
    traffic.oncoming_s[4], traffic.oncoming_v[4], traffic.oncoming_id[4] = 30.0, 5.0, 7
    told = traffic_demand(traffic, StopTarget(100.0, 0.0), 4, 0.1, now, RAMP, D)
    assert (told.reason, told.blame) == (YIELDING, 7)
    assert told.distance == pytest.approx(30.0 - 0.5 - 2.0), "it has come on since the prediction step"
    assert told.accel == meet_accel(27.5, 8.0, 5.0, 0.0, RAMP, D)


def until_met(thing: Thing) -> Log:
    """A drive in one lane until the thing has come to the car, or for 20 s."""
    met = (thing.x - 20.0) / (8.0 + thing.v)
    return run(straight(), scene(v=8.0), min(20.0, 2.5 * met), (thing,))


@pytest.mark.medium
@pytest.mark.parametrize(
    "thing",
    [
        Thing(7, 90.0, 0.2, math.pi, 1.0, length=0.5, width=0.5, kind=PEDESTRIAN),
        Thing(7, 120.0, 0.1, math.pi, 3.0, length=1.8, width=0.6, kind=BICYCLE),
        Thing(7, 140.0, 0.0, math.pi, 5.0),
        Thing(7, 160.0, 0.0, math.pi, 8.0),
        Thing(7, 120.0, 0.0, math.pi, 5.0, a=-0.5),
    ],
    ids=["walker", "cyclist", "car", "fast car", "car that stops"],
)
def test_what_comes_towards_the_car_in_its_lane_is_stood_before_in_comfort(thing: Thing) -> None:
    log = until_met(thing)
    gaps = np.array([gap_to(thing.at(t), now.ego.pose, VEHICLE) for t, now, _ in log])
    stands = int(np.argmax([now.ego.v < 0.02 for _, now, _ in log]))
    assert stands > 0
    assert min(now.ego.a for _, now, _ in log) >= -1.3 * VEHICLE.comfort_decel - 1e-9
    assert np.all(gaps[: stands + 1] > 1.5)
    met = next((i for i, gap in enumerate(gaps) if gap < 0.05), len(log))
    assert all(now.ego.v < 0.1 for _, now, _ in log[stands:met])


@pytest.mark.medium
def test_a_car_drives_on_as_soon_as_what_came_towards_it_has_left_the_lane() -> None:
    """A car that turns off at an angle, so that it is predicted to be gone."""
    thing = Thing(7, 75.0, -0.4, math.pi - 0.12, 5.0)
    log = run(straight(), scene(v=8.0), 12.0, (thing,))
    assert all(gap_to(thing.at(t), now.ego.pose, VEHICLE) > 0.3 for t, now, _ in log)
    assert min(now.ego.a for _, now, _ in log) >= -3.5
    assert log[-1][1].ego.v > 5.0


@pytest.mark.medium
def test_one_that_goes_straight_on_across_the_cars_turn_is_let_pass_and_not_met() -> None:
    """As it passes it is at a small angle to the path: it leaves that all the same."""
    lanes = road(pieces=((40.0, 0.0), (20.0 * math.pi, 1.0 / 40.0), (80.0, 0.0)), window=(-10.0, 140.0))
    thing = Thing(7, 65.0, 3.5, math.pi, 8.0)
    log = run(lambda _: lanes, scene(v=8.0), 10.0, (thing,))
    assert all(gap_to(thing.at(t), now.ego.pose, VEHICLE) > 1.0 for t, now, _ in log)
    assert min(now.ego.a for _, now, _ in log) > -2.5
    assert log[-1][1].ego.pose.y > thing.y


@pytest.mark.medium
@pytest.mark.clause("USE-15")
@pytest.mark.parametrize(
    ("thing", "clear"),
    [
        (Thing(7, 150.0, 1.8, math.pi, 8.0), 0.55),
        (Thing(7, 120.0, 1.7, math.pi, 5.0), 0.45),
        (Thing(7, 90.0, -1.4, math.pi, 3.0, length=1.8, width=0.6, kind=BICYCLE), 0.8),
    ],
    ids=["car 0.9 m over the centre line", "slow car 1 m over it", "cyclist along the edge"],
)
def test_what_comes_along_partly_in_the_lane_is_passed_within_the_lane_without_standing(
    thing: Thing, clear: float
) -> None:
    """The less room there is, the slower."""
    log = run(straight(), scene(v=8.0), 13.0, (thing,))
    gaps = [gap_to(thing.at(t), now.ego.pose, VEHICLE) for t, now, _ in log]
    nearest = int(np.argmin(gaps))
    assert gaps[nearest] > clear
    assert log[nearest][1].ego.v < 1.0 + 9.0 * (gaps[nearest] - 0.3) + 0.3
    assert all(now.ego.v > 2.0 for _, now, _ in log)
    assert max(abs(now.ego.pose.y) for _, now, _ in log) + 0.5 * VEHICLE.width < 1.76
    assert min(now.ego.a for _, now, _ in log) >= -1.3 * VEHICLE.comfort_decel - 1e-9


@pytest.mark.medium
@pytest.mark.clause("USE-15")
def test_one_that_comes_along_its_own_lane_neither_slows_the_car_nor_moves_it_aside() -> None:
    log = run(straight(), scene(v=8.0), 10.0, (Thing(7, 150.0, 2.72, math.pi, 8.0),))
    assert min(now.ego.v for _, now, _ in log) > 7.9
    assert max(abs(now.ego.pose.y) for _, now, _ in log) < 0.05


@pytest.mark.clause("USE-15")
@given(st.floats(AGENT_STANDS, 14.0), st.floats(AGENT_STANDS, 14.0), st.floats(0.0, 2.0))
def test_past_one_that_comes_over_its_lane_the_car_is_the_slower_the_faster_that_is(
    one: float, other: float, gap: float
) -> None:
    """Never faster than past one that stands, and never slower than half as fast where there is little room."""
    limits = PassingLimits.of(VEHICLE, PARAMETERS.passing)
    slow, fast = sorted((one, other))
    allowed = [passing_speed(*_curve_of(ONCOMING, v - AGENT_STANDS, limits), gap) for v in (AGENT_STANDS, slow, fast)]
    standing = passing_speed(*limits.standing, gap)
    assert standing == allowed[0] >= allowed[1] >= allowed[2]
    assert allowed[2] >= standing - 0.5 * limits.standing.speed - 1e-9


@pytest.mark.clause("USE-15")
@pytest.mark.parametrize(("since", "aside"), [(0, True), (24, False)], ids=["steadily", "at last"])
def test_one_that_is_predicted_to_come_over_its_lane_at_last_is_not_gone_aside_from(since: int, aside: bool) -> None:
    """It may turn off."""
    now = scene(v=8.0, things=(Thing(7, 80.0, 2.72, math.pi, 8.0),))
    y = now.obstacles.y.copy()
    y[:, since:] -= 0.4
    plan = PLANNER.plan(follow(straight()(20.0)), replace(now, obstacles=replace(now.obstacles, y=y)), None)
    assert plan.trajectory is not None
    assert bool(plan.trajectory.y.min() < -0.1) is aside

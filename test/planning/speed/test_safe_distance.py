"""The safe distance of `rss` as the envelope of following."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.request import PlanResult
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.obstacles.rss import Rss, following_distance, safe_speed
from tuling_fsm.planning.parameters import RssParameters
from tuling_fsm.planning.planner import Planner

from ..lane_drives import PARAMETERS, VEHICLE
from ..scenes import Log, Thing, drive, follow, gap_to, road, scene

RSS = Rss.of(PARAMETERS.rss)
HASTY = replace(PARAMETERS, speed=replace(PARAMETERS.speed, headway=0.3, standstill_gap=0.8))
"""Follows so closely that only the safe distance keeps it apart."""
LONG = ((400.0, 0.0),)


@given(
    st.floats(0.0, 30.0),
    st.floats(0.0, 30.0),
    st.builds(
        RssParameters, response=st.floats(0.05, 3.0), accel=st.floats(0.0, 6.0), brake=st.floats(0.5, 10.0),
        brake_hardest=st.floats(0.5, 12.0),
    ),
)  # fmt: skip
def test_the_safe_speed_is_the_one_that_needs_the_gap(v: float, ahead: float, p: RssParameters) -> None:
    rss = Rss.of(p)
    gap = following_distance(v, ahead, rss)
    safe, slope = safe_speed(gap, ahead, rss)
    if gap > 0.0:
        assert safe == pytest.approx(v, abs=1e-6)
        more, _ = safe_speed(gap + 1e-4, ahead, rss)
        assert (more - safe) / 1e-4 == pytest.approx(slope, rel=0.05, abs=1e-6)
    else:
        assert safe >= v - 1e-6


def following(leader: Thing, v: float, seconds: float) -> Log:
    planner = Planner(VEHICLE, HASTY)

    def plan(_: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        return planner.plan(follow(road(pieces=LONG, at=now.ego.pose.x)), now, previous)

    return drive(plan, scene(v=v), seconds, (leader,))


def margins(leader: Thing, log: Log) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Gap less safe distance on every tick."""
    return np.array(
        [
            gap_to(leader.at(stamp), now.ego.pose, VEHICLE) - following_distance(now.ego.v, leader.at(stamp).v, RSS)
            for stamp, now, _ in log
        ]
    )


@settings(max_examples=5)
@given(st.floats(0.0, 8.0), st.floats(0.0, 8.0), st.floats(0.0, 20.0))
@pytest.mark.medium
def test_a_follower_is_never_nearer_than_the_safe_distance(v: float, ahead: float, spare: float) -> None:
    far = 20.0 + VEHICLE.front + following_distance(v, ahead, RSS) + 1.0 + spare + 2.25
    leader = Thing(7, far, 0.0, v=ahead, moving=True)
    log = following(leader, v, 8.0)
    assert margins(leader, log).min() > -0.1
    assert log[-1][1].ego.v == pytest.approx(min(ahead, VEHICLE.max_speed), abs=1.5)


@pytest.mark.medium
def test_the_safe_distance_is_kept_without_swinging() -> None:
    leader = Thing(7, 50.0, 0.0, v=6.0)
    log = following(leader, 8.0, 20.0)
    margin = margins(leader, log)
    assert margin.min() > -0.1
    assert margin[-1] < 1.0
    accelerations = np.array([now.ego.a for stamp, now, _ in log if stamp > 2.0])
    turns = np.count_nonzero(np.diff(np.sign(np.where(np.abs(accelerations) < 0.05, 0.0, accelerations))))
    assert turns <= 3


def test_room_is_made_for_a_vehicle_that_cuts_in() -> None:
    leader = Thing(7, 20.0 + VEHICLE.front + 4.0 + 2.25, 0.0, v=7.0)
    log = following(leader, 8.0, 8.0)
    margin = margins(leader, log)
    assert margin[0] < -3.0
    braking = min(now.ego.a for _, now, _ in log)
    assert -PARAMETERS.rss.brake - 1e-6 <= braking < -VEHICLE.comfort_decel
    assert margin[-1] > -0.1


@pytest.mark.medium
def test_a_safe_gap_that_is_smaller_than_wanted_is_opened_gently() -> None:
    """Behind a leader at its own speed, at the safe distance: those that follow the car are not made to brake."""
    planner, v = Planner(VEHICLE, PARAMETERS), 8.0
    gap = following_distance(v, v, RSS) + 0.3
    leader = Thing(7, 20.0 + VEHICLE.front + gap + 2.25, 0.0, v=v)

    def plan(_: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        return planner.plan(follow(road(pieces=LONG, at=now.ego.pose.x)), now, previous)

    log = drive(plan, scene(v=v), 20.0, (leader,))
    wanted = PARAMETERS.speed.standstill_gap + PARAMETERS.speed.headway * v
    assert gap < wanted - 2.0
    assert min(now.ego.a for _, now, _ in log) > -0.7 * VEHICLE.comfort_decel
    assert min(now.ego.v for _, now, _ in log) > v - 1.0
    assert gap_to(leader.at(log[-1][0]), log[-1][1].ego.pose, VEHICLE) == pytest.approx(wanted, abs=1.0)

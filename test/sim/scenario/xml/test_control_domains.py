"""What gives way to what: a trajectory with times moves its actor along and aside, one without only aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.map.road_map import RoadMap

from .files import STRAIGHT_ON, TIMING, after, drive, event, npc, run, speed, story, text, trajectory, vertex

pytestmark = pytest.mark.clause("OSC-1")

SLOWLY = '<SpeedActionDynamics dynamicsShape="linear" value="10" dynamicsDimension="time"/>'


def test_a_trajectory_with_times_ends_a_speed_that_was_asked_for(tmp_path: Path, two_lanes: RoadMap) -> None:
    way = event("way", after(1.0), trajectory(STRAIGHT_ON))
    simulation = run(tmp_path, two_lanes, text(story(event("faster", after(0.0), speed(25.0, SLOWLY)), way)))
    drive(simulation, 1.1)
    assert simulation.scripted.maneuver_over("npc", 2)
    drive(simulation, 4.9)
    assert (npc(simulation).pose.x, npc(simulation).speed) == pytest.approx((110.0, 10.0), abs=0.6)


def test_a_trajectory_with_times_that_leads_nowhere_ends_no_speed(tmp_path: Path, two_lanes: RoadMap) -> None:
    way = event("way", after(1.0), trajectory(vertex(60.0, -1.75, 0.0) + vertex(60.0, -1.75, 3.0)))
    simulation = run(tmp_path, two_lanes, text(story(event("faster", after(0.0), speed(20.0, SLOWLY)), way)))
    drive(simulation, 2.0)
    assert not simulation.scripted.maneuver_over("npc", 2)
    drive(simulation, 9.0)
    assert npc(simulation).speed == pytest.approx(20.0)


def test_a_speed_that_is_asked_for_ends_a_trajectory_with_times_and_that_alone(
    tmp_path: Path, two_lanes: RoadMap
) -> None:
    stop = event("stop", after(2.0), speed(0.0))
    for time in (TIMING, "<None/>"):
        way = event("way", after(0.0), trajectory(STRAIGHT_ON, time))
        simulation = run(tmp_path, two_lanes, text(story(way, stop)))
        drive(simulation, 3.0)
        assert npc(simulation).pose[:2] == pytest.approx((80.0, -1.75), abs=1.0)
        assert npc(simulation).speed == 0.0
        assert simulation.scripted.maneuver_over("npc", 2) == (time == TIMING)

"""Where an actor is in the beginning that Init gives a trajectory and no place, as Euro NCAP's pedestrians have it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tuling_fsm.map.road_map import RoadMap

from .files import TIMING, drive, init, lane, load, npc, run, speed, teleport, text, trajectory, vertex

pytestmark = pytest.mark.clause("OSC-1")
ACROSS = vertex(60.0, -8.0, 0.0) + vertex(60.0, 4.0, 8.0)
FACING_WEST = ACROSS.replace('y="-8.0"', 'y="-8.0" h="3.0"')
BY_SPEED = trajectory(ACROSS, "<None/>")
STEERED_FOR = BY_SPEED.replace('followingMode="position"', 'followingMode="follow"')
NOWHERE = "'npc' is never in the world"


@pytest.mark.parametrize(
    ("way", "y", "heading"),
    [
        (BY_SPEED, -8.0, 0.5 * math.pi),
        (trajectory(ACROSS, TIMING), -8.0, 0.5 * math.pi),
        (BY_SPEED.replace("<FollowTrajectoryAction", '<FollowTrajectoryAction initialDistanceOffset="5"'), -3.0, 1.571),
        (trajectory(FACING_WEST, "<None/>"), -8.0, 3.0),
        (STEERED_FOR, -8.0, 0.5 * math.pi),
    ],
)
def test_an_actor_without_a_place_is_where_its_trajectory_begins(
    tmp_path: Path, two_lanes: RoadMap, way: str, y: float, heading: float
) -> None:
    simulation = run(tmp_path, two_lanes, text(npc=init("npc", way)))
    state = npc(simulation)
    assert state.pose == pytest.approx((60.0, y, heading), abs=1e-3) and state.speed == 0.0
    assert not any(NOWHERE in note for note in load(tmp_path, text(npc=init("npc", way))).notes)


def test_it_goes_on_from_there(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(npc=init("npc", BY_SPEED, speed(1.5))))
    drive(simulation, 2.0)
    assert (npc(simulation).pose.x, npc(simulation).pose.y) == pytest.approx((60.0, -5.0), abs=0.1)


@pytest.mark.parametrize("order", [1, -1])
def test_a_place_of_its_own_goes_first(tmp_path: Path, order: int) -> None:
    actions = (BY_SPEED, teleport(lane(30.0)))[::order]
    placed = load(tmp_path, text(npc=init("npc", teleport(lane(30.0))))).actors[0].placement
    assert load(tmp_path, text(npc=init("npc", *actions))).actors[0].placement == placed


def test_a_way_that_begins_where_it_is_puts_it_nowhere(tmp_path: Path) -> None:
    segment = '<ClothoidSplineSegment curvatureStart="0" curvatureEnd="0" length="40"/>'
    spline = f"<ClothoidSpline>{segment}</ClothoidSpline>"
    way = BY_SPEED.replace(f"<Polyline>{ACROSS}</Polyline>", spline)
    notes = load(tmp_path, text(npc=init("npc", way))).notes
    assert [NOWHERE in note for note in notes] == [True]

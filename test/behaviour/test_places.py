"""Geometry of places and lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.behaviour.places import crosses, cut_out, is_free, spread
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.rectangles import clip
from tuling_fsm.core.scene import Ego, Scene

from .worlds import VEHICLE, Thing, scene

BOX = (-1.0, 10.0, -2.0, 2.0)
coordinates = st.floats(-30.0, 30.0)
poses = st.builds(Pose, coordinates, coordinates, st.floats(-math.pi, math.pi))
segments = st.lists(st.tuples(*[coordinates] * 4), min_size=1, max_size=8).map(np.array)


def _in_box(x: float, y: float, pose: Pose, slack: float) -> bool:
    dx, dy = x - pose.x, y - pose.y
    along = dx * math.cos(pose.heading) + dy * math.sin(pose.heading)
    across = dy * math.cos(pose.heading) - dx * math.sin(pose.heading)
    return BOX[0] + slack <= along <= BOX[1] - slack and BOX[2] + slack <= across <= BOX[3] - slack


@given(segments, poses)
@pytest.mark.medium
def test_cutting_out_removes_what_is_inside_and_nothing_else(lines: np.ndarray, pose: Pose) -> None:
    left = cut_out(lines, pose, BOX)
    for u in np.linspace(0.0, 1.0, 21):
        for x, y in left[:, :2] + u * (left[:, 2:] - left[:, :2]):
            assert not _in_box(x, y, pose, 1e-6)
    enter, leave = clip(lines, pose, BOX)
    lengths = np.hypot(*(lines[:, 2:] - lines[:, :2]).T)
    inside = float((np.clip(leave - enter, 0.0, 1.0) * lengths).sum())
    remaining = float(np.hypot(*(left[:, 2:] - left[:, :2]).T).sum())
    assert remaining + inside == pytest.approx(float(lengths.sum()), abs=1e-6)


def _scene(*things: Thing, walls: np.ndarray | None = None) -> Scene:
    empty = scene(0.0, Ego(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0), things)
    return empty if walls is None else Scene(0.0, empty.ego, empty.obstacles, walls)


@pytest.mark.parametrize(
    ("thing", "free"),
    [
        (Thing(50.0, 0.0), False),
        (Thing(50.0, 0.0, speed=3.0), True),
        (Thing(50.0 + VEHICLE.front + 2.5, 0.0), True),
        (Thing(50.0 + VEHICLE.front + 2.4, 0.0), False),
        (Thing(51.5, 2.1), True),
        (Thing(51.5, 1.9), False),
        (Thing(51.0, 0.0, length=60.0, width=20.0), False),
        (Thing(51.0, 0.2, length=0.3, width=0.3), False),
        (Thing(51.0, 4.0, heading=math.pi / 2.0, length=6.0), False),
    ],
)
def test_a_place_is_free_where_nothing_stands(thing: Thing, free: bool) -> None:
    assert is_free(Pose(50.0, 0.0, 0.0), _scene(thing), VEHICLE, 0.2) is free


def test_solid_edges_take_a_place_too() -> None:
    wall = np.array([[45.0, 1.0, 60.0, 1.0]])
    assert not is_free(Pose(50.0, 0.0, 0.0), _scene(walls=wall), VEHICLE, 0.2)
    assert is_free(Pose(50.0, -1.0, 0.0), _scene(walls=wall), VEHICLE, 0.2)
    assert is_free(Pose(50.0, 0.0, 0.0), _scene(), VEHICLE, 0.2)


def test_places_are_spread() -> None:
    places = [Pose(float(x), 0.0, 0.0) for x in range(10)]
    assert [place.x for place in spread(places, 3.0, 3)] == [0.0, 3.0, 6.0]


def test_a_barrier_between_two_points_is_found() -> None:
    barrier = np.array([[5.0, -1.0, 5.0, 1.0]])
    assert crosses(0.0, 0.0, 10.0, 0.0, barrier)
    assert not crosses(0.0, 0.0, 4.0, 0.0, barrier)
    assert not crosses(0.0, 2.0, 10.0, 2.0, barrier)

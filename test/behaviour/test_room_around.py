"""Where something stands, and where the car could: boxes and objects in every direction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.behaviour.places import along_lanes, along_route, around, crosses, is_free, nothing_in
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.rectangles import clip
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.map.corridor import lane_lines
from tuling_fsm.map.road_map import RoadMap

from .worlds import FAR_Y, LENGTH, NEAR_Y, VEHICLE, Thing, route_along, scene

HERE = Pose(40.0, 30.0, 0.6)
EGO = Ego(HERE, 0.0, 0.0, 0.0)
BOX = (-2.0, 6.0, -1.0, 1.5)


def place(along: float, across: float) -> tuple[float, float]:
    """A point in the frame of the pose."""
    c, s = math.cos(HERE.heading), math.sin(HERE.heading)
    return HERE.x + c * along - s * across, HERE.y + s * along + c * across


def thing(
    along: float, across: float, turned: float = 0.0, length: float = 4.0, width: float = 1.0, **more: float
) -> Thing:
    return Thing(*place(along, across), HERE.heading + turned, length, width, **more)


QUARTER = 0.5 * math.pi
SIDES = [
    # Just inside and just outside of the box, on each side, along it and across, where nothing but one edge comes near.
    (thing(7.9, 0.0), False), (thing(8.1, 0.0), True), (thing(-3.9, 0.0), False), (thing(-4.1, 0.0), True),
    (thing(2.0, 1.9), False), (thing(2.0, 2.1), True), (thing(2.0, -1.4), False), (thing(2.0, -1.6), True),
    (thing(6.4, 0.0, QUARTER), False), (thing(6.6, 0.0, QUARTER), True), (thing(-2.4, 0.0, QUARTER), False),
    (thing(-2.6, 0.0, QUARTER), True), (thing(2.0, 3.4, QUARTER), False), (thing(2.0, 3.6, QUARTER), True),
    (thing(2.0, -2.9, QUARTER), False), (thing(2.0, -3.1, QUARTER), True),
    (thing(2.0, 0.2, length=0.2, width=0.2), False),
    (thing(2.0, 0.0, length=40.0, width=20.0), False), (thing(9.0, 9.0, length=40.0, width=40.0), False),
    (thing(2.0, 0.0, speed=0.49), False), (thing(2.0, 0.0, speed=0.5), True),
    (thing(2.0, 0.0, length=40.0, width=20.0, speed=0.5), True),
    (thing(2.0, 2.25, 0.25 * math.pi, 2.0, 0.2), False), (thing(2.0, 2.35, 0.25 * math.pi, 2.0, 0.2), True),
]  # fmt: skip


@pytest.mark.parametrize(("what", "nothing"), SIDES)
def test_what_reaches_into_a_box(what: Thing, nothing: bool) -> None:
    assert nothing_in(HERE, BOX, scene(0.0, EGO, (what,)).obstacles) is nothing
    far = thing(60.0, 0.0)
    assert nothing_in(HERE, BOX, scene(0.0, EGO, (far, what, far)).obstacles) is nothing
    assert nothing_in(HERE, BOX, scene(0.0, EGO).obstacles)


def test_things_stand_where_they_are_and_not_where_they_will_be() -> None:
    for what, nothing in SIDES[:16]:
        now = scene(0.0, EGO, (what,)).obstacles
        later = {name: getattr(now, name).copy() for name in ("x", "y", "heading")}
        for row, change in (("x", 30.0), ("y", 30.0), ("heading", 0.8)):
            later[row][:, 1:] += change
        assert nothing_in(HERE, BOX, replace(now, **later)) is nothing


@pytest.mark.parametrize(
    ("along", "across", "free"),
    [
        (VEHICLE.front + 0.19, 0.0, False),
        (VEHICLE.front + 0.21, 0.0, True),
        (-VEHICLE.rear_overhang - 0.19, 0.0, False),
        (-VEHICLE.rear_overhang - 0.21, 0.0, True),
        (1.0, 0.5 * VEHICLE.width + 0.19, False),
        (1.0, 0.5 * VEHICLE.width + 0.21, True),
        (1.0, -0.5 * VEHICLE.width - 0.19, False),
        (1.0, -0.5 * VEHICLE.width - 0.21, True),
    ],
)
def test_room_for_the_car(along: float, across: float, free: bool) -> None:
    x, y = place(along, across)
    wall = np.array([(x, y, x + 1e-4, y + 1e-4)])
    assert is_free(HERE, Scene(0.0, EGO, static_segments=wall), VEHICLE, 0.2) is free
    small = thing(along, across, length=1e-3, width=1e-3)
    assert is_free(HERE, scene(0.0, EGO, (small,)), VEHICLE, 0.2) is free


def test_segments_along_the_sides_of_a_box() -> None:
    rows = np.array([(*place(-9.0, y), *place(9.0, y)) for y in (1.4, 1.6, -0.9, -1.1)])
    enter, leave = clip(rows, HERE, BOX)
    assert list(enter <= leave) == [True, False, True, False]
    assert (enter[0], leave[0]) == pytest.approx((7.0 / 18.0, 15.0 / 18.0))
    dot = np.array([(*place(1.0, 1.0), *place(1.0, 1.0)), (*place(7.0, 1.0), *place(7.0, 1.0))])
    enter, leave = clip(dot, HERE, BOX)
    assert list(enter <= leave) == [True, False]


@pytest.mark.parametrize(
    ("segment", "meets"),
    [
        ((5.0, -1.0, 5.0, 1.0), True),
        ((9.9, -1.0, 9.9, 1.0), True),
        ((10.1, -1.0, 10.1, 1.0), False),
        ((-0.1, -1.0, -0.1, 1.0), False),
        ((5.0, 0.1, 5.0, 1.0), False),
    ],
)
def test_the_straight_way_between_two_points(segment: tuple[float, ...], meets: bool) -> None:
    (x0, y0), (x1, y1) = place(0.0, 0.0), place(10.0, 0.0)
    row = np.array([(*place(*segment[:2]), *place(*segment[2:]))])
    assert crosses(x0, y0, x1, y1, row) is meets


def test_the_first_free_spotof_a_route(road: RoadMap) -> None:
    route = route_along(road)
    ego = Ego(Pose(50.0, NEAR_Y, 0.0), 0.0, 0.0, 0.0)
    for things, x in (((), 70.0), ((Thing(72.0, NEAR_Y),), 80.0), ((Thing(80.0, NEAR_Y, length=40.0),), 85.0)):
        spot = along_route(route, 50.0, (20.0, 25.0, 30.0, 35.0), scene(0.0, ego, things), VEHICLE, 0.2)
        assert spot[:2] == pytest.approx((x, NEAR_Y)), "the last one where none is free"


def test_free_places_of_all_lanes_the_car_s_own_first(road: RoadMap) -> None:
    route = route_along(road)
    ego = Ego(Pose(50.0, NEAR_Y, 0.0), 0.0, 0.0, 0.0)
    lanes = lane_lines(road, route, 50.0)
    found = along_lanes(lanes, (15.0, 20.0), scene(0.0, ego, (Thing(66.0, NEAR_Y),)), VEHICLE, 0.2)
    assert [(round(spot.x), spot.y) for spot in found] == [
        (70, pytest.approx(NEAR_Y)),
        (65, pytest.approx(FAR_Y)),
        (70, pytest.approx(FAR_Y)),
    ]
    found = along_lanes(lanes[::-1], (15.0, 20.0), scene(0.0, ego), VEHICLE, 0.2)
    assert [(round(spot.x), round(spot.y, 2)) for spot in found] == [
        (65, NEAR_Y), (65, FAR_Y), (70, NEAR_Y), (70, FAR_Y)
    ]  # fmt: skip
    end = Ego(Pose(LENGTH - 17.0, NEAR_Y, 0.0), 0.0, 0.0, 0.0)
    found = along_lanes(lane_lines(road, route, LENGTH - 17.0), (15.0, 20.0), scene(0.0, end), VEHICLE, 0.2)
    assert {round(spot.x) for spot in found} == {398}


def test_free_places_around_the_nearest_to_the_route_first(road: RoadMap) -> None:
    route = route_along(road)
    ego = Ego(Pose(50.0, 6.0, 0.3), 0.0, 0.0, 0.0)
    found = around(scene(0.0, ego), route, 48.0, 10.0, VEHICLE, 0.2)
    assert len(found) == 3 * 24
    radii = sorted({round(math.dist(spot[:2], ego.pose[:2]), 3) for spot in found})
    assert radii == [4.0, 7.0, 10.0]
    offsets = [abs(route.reference.project(spot.x, spot.y, s_from=48.0).offset) for spot in found]
    assert offsets == sorted(offsets)
    for spot in found:
        away = math.atan2(spot.y - 6.0, spot.x - 50.0)
        assert math.cos(spot.heading - away) == pytest.approx(1.0)
    blocked = around(scene(0.0, ego, (Thing(50.0, -3.0, length=60.0),)), route, 48.0, 10.0, VEHICLE, 0.2)
    assert 0 < len(blocked) < len(found)

"""Pedestrians on a crosswalk, and what hides one: tables on a straight road, with the bounds on both sides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tuling_fsm.behaviour.traffic.pedestrians import hidden_crosswalks
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind

from .alone import FRONT, Other, X, crosswalk, left_of_route, situation
from .walkers import FAR, askew_road, stops, walker


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The straight road in a direction in which no sine or cosine is 0 or 1."""
    return askew_road(tmp_path_factory.mktemp("map"))


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("offset", "towards", "waits"),
    [
        (-2.0, 0.0, True),
        (5.2, 0.0, True),
        (5.2, -0.29, True),
        (5.2, -0.31, False),
        (5.3, 0.0, False),
        (5.3, 1.0, True),
        # Off the road: only a pedestrian that comes on the crosswalk or at its end, and in time.
        (-5.6, 0.0, False),
        (-5.6, 0.6, True),
        (-5.6, 0.4, False),
        (-6.7, 1.0, True),
        (-6.8, 1.0, False),
        (-6.7, -1.0, False),
    ],
)
def test_on_a_crosswalk(road: RoadMap, offset: float, towards: float, waits: bool) -> None:
    crosswalks = (crosswalk(road, FAR - 1.5, FAR + 1.5),)
    assert stops(situation(road, walker(FAR, offset, towards), v=3.0, crosswalks=crosswalks)) is waits


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("s", "offset", "waits"),
    [
        (FAR + 2.9, -2.2, True),
        (FAR + 3.1, -2.2, False),
        (FAR - 2.9, -2.2, True),
        (FAR - 3.1, -2.2, False),
        (FAR + 2.4, -6.4, True),
        (FAR + 2.6, -6.6, False),
    ],
)
def test_one_that_is_near_a_crosswalk_is_on_it(road: RoadMap, s: float, offset: float, waits: bool) -> None:
    far = crosswalk(road, FAR - 1.5, FAR + 1.5)._replace(s_from=FAR + 90.0, s_to=FAR + 93.0)
    here = crosswalk(road, FAR - 1.5, FAR + 1.5)
    towards = 0.0 if offset > -5.0 else 1.0
    for crosswalks, expected in (((here,), waits), ((far,), False)):
        assert stops(situation(road, walker(s, offset, towards), v=3.0, crosswalks=crosswalks)) is expected


@pytest.mark.parametrize(
    ("before", "beyond", "near"), [(4.4, 0.0, True), (4.6, 0.0, False), (0.0, 4.4, True), (0.0, 4.6, False)]
)
def test_a_crosswalk_that_lies_askew_is_looked_for_along_the_route_too(
    road: RoadMap, before: float, beyond: float, near: bool
) -> None:
    askew = crosswalk(road, FAR - 9.0, FAR + 9.0)._replace(s_from=FAR + before, s_to=FAR - beyond)
    assert stops(situation(road, walker(FAR, -2.2), v=3.0, crosswalks=(askew,))) is near


def test_beside_the_road_nobody_counts_however_wide_the_lane_is_but_on_a_crosswalk(road: RoadMap) -> None:
    (own,) = (lane for lane in situation(road).world.lanes if lane.shift == 0)
    for width in (3.0, 6.0):
        wide = (replace(own, right=0.0 * own.right + width),)
        assert not stops(situation(road, walker(FAR, -5.6, 1.0), lanes=wide))
        passage = (crosswalk(road, FAR - 1.5, FAR + 1.5),)
        assert stops(situation(road, walker(FAR, -5.6, 1.0), lanes=wide, crosswalks=passage))
        assert stops(situation(road, walker(FAR, -5.6), lanes=wide, crosswalks=passage)) is (width == 6.0)


DIAMOND = ((8.0, 0.0), (0.0, 8.0), (-8.0, 0.0), (0.0, -8.0))
HOOK = ((-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (4.0, 9.0), (4.0, -4.5), (-4.0, -4.5), (-4.0, 9.0), (-9.0, 9.0))


@pytest.mark.parametrize(
    ("shape", "s", "offset", "inside"),
    [
        (DIAMOND, 0.0, -2.2, True),
        (DIAMOND, 3.0, -2.2, True),
        (DIAMOND, -3.0, 2.2, True),
        (DIAMOND, -3.0, -2.2, True),
        (DIAMOND, 3.0, 2.2, True),
        (DIAMOND, 0.0, 4.9, True),
        (DIAMOND, 7.7, -2.2, True),
        (DIAMOND, -7.7, 2.2, True),
        (DIAMOND, 8.1, -2.2, False),
        (DIAMOND, -8.1, -2.2, False),
        (DIAMOND, 8.1, 2.2, False),
        (DIAMOND, -8.1, 2.2, False),
        (DIAMOND, -5.3, -5.1, False),
        (DIAMOND, 12.0, -2.2, False),
        (DIAMOND, -12.0, 2.2, False),
        (HOOK, -6.5, 3.0, True),
        (HOOK, 6.5, 3.0, True),
        (HOOK, 0.0, 3.0, False),
        (HOOK, -12.0, 3.0, False),
        (HOOK, 12.0, 3.0, False),
    ],
)
def test_a_crosswalk_of_any_shape(
    road: RoadMap, shape: tuple[tuple[float, float], ...], s: float, offset: float, inside: bool
) -> None:
    corners = [(FAR + along, left_of_route(across)) for along, across in shape]
    there = crosswalk(road, FAR - 30.0, FAR + 30.0, corners)
    assert stops(situation(road, walker(FAR + s, offset), crosswalks=(there,))) is inside


@pytest.mark.clause("USE-13")
@pytest.mark.parametrize(
    ("changes", "hides"),
    [
        ({}, True),
        ({"length": 2.1}, True),
        ({"length": 2.0}, False),
        ({"vx": 0.2}, True),
        ({"vx": 0.3}, False),
        ({"y": left_of_route(2.1)}, True),
        ({"y": left_of_route(1.9)}, False),
        ({"y": left_of_route(7.9)}, True),
        ({"y": left_of_route(8.1)}, False),
        ({"y": left_of_route(-2.1)}, True),
        ({"x": FAR - 7.9}, True),
        ({"x": FAR - 8.1}, False),
        ({"x": FAR + 0.4}, True),
        ({"x": FAR + 0.6}, False),
    ],
)
def test_what_hides_a_crosswalk(road: RoadMap, changes: dict[str, float], hides: bool) -> None:
    parked = Other(FAR - 4.0, left_of_route(3.5), length=4.0, kind=Kind.CAR)
    now = situation(road, replace(parked, **changes), crosswalks=(crosswalk(road, FAR, FAR + 3.0),))
    zones = hidden_crosswalks(now)
    assert bool(zones) is hides
    if hides:
        assert zones[0] == pytest.approx((FAR - 1.0 - (FRONT - X), FAR + 3.0 - (FRONT - X), 3.0))


@pytest.mark.clause("USE-13")
@pytest.mark.parametrize(("s", "counts"), [(-0.9, True), (-1.1, False), (39.9, True), (40.1, False)])
def test_which_crosswalks_are_looked_at(road: RoadMap, s: float, counts: bool) -> None:
    first = crosswalk(road, FRONT + s, FRONT + s + 3.0)
    parked = Other(FRONT + s - 1.0, left_of_route(3.5), length=4.0, kind=Kind.CAR)
    passed = crosswalk(road, FRONT - 20.0, FRONT - 17.0)
    assert bool(hidden_crosswalks(situation(road, parked, crosswalks=(passed, first)))) is counts

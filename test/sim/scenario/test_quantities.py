"""Distances and times between bodies, against shapely and against moving them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import Point, Polygon

from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.conditions import Acceleration, Direction, DistanceMode, Speed, TimeHeadway
from tuling_fsm.sim.scenario.measurements import (
    corners,
    measure,
    object_distance,
    point_distance,
    time_headway,
    time_to_collision,
)
from tuling_fsm.sim.scenario.model import ActorState

from .storyboards import View, body

BODIES = st.builds(
    ActorState,
    st.builds(Pose, st.floats(-30.0, 30.0), st.floats(-30.0, 30.0), st.floats(-4.0, 4.0)),
    st.floats(-3.0, 12.0),
    st.just(0.0),
    st.floats(0.5, 12.0),
    st.floats(0.4, 3.0),
    st.floats(-1.0, 2.0),
)
BOXES, POINTS = DistanceMode.BOUNDING_BOXES, DistanceMode.REFERENCE_POINTS


def polygon(actor: ActorState, t: float = 0.0) -> Polygon:
    dx = actor.speed * math.cos(actor.pose.heading) * t
    dy = actor.speed * math.sin(actor.pose.heading) * t
    return Polygon([(x + dx, y + dy) for x, y in corners(actor)])


@given(BODIES, BODIES)
def test_the_gap_of_bodies_is_that_of_polygons(a: ActorState, b: ActorState) -> None:
    found = object_distance(a, b, Direction.EUCLIDEAN, BOXES)
    assert found == pytest.approx(polygon(a).distance(polygon(b)), abs=1e-6)


@given(BODIES, st.floats(-30.0, 30.0), st.floats(-30.0, 30.0))
def test_the_gap_to_a_point_is_that_of_the_polygon(a: ActorState, x: float, y: float) -> None:
    found = point_distance(a, Pose(x, y, 0.0), Direction.EUCLIDEAN, BOXES)
    assert found == pytest.approx(polygon(a).distance(Point(x, y)), abs=1e-6)


def test_directions_are_those_of_the_actor() -> None:
    a, b = body(heading=math.pi / 2.0), body(3.0, 10.0)
    expected = {
        (Direction.LONGITUDINAL, POINTS): 10.0,
        (Direction.LATERAL, POINTS): 3.0,
        (Direction.EUCLIDEAN, POINTS): math.hypot(3.0, 10.0),
        (Direction.LONGITUDINAL, BOXES): 10.0 - 2.0 - 1.0,
        (Direction.LATERAL, BOXES): 0.0,
        (Direction.EUCLIDEAN, BOXES): 7.0,
    }
    found = {key: object_distance(a, b, *key) for key in expected}
    assert found == pytest.approx(expected)
    assert point_distance(a, Pose(3.0, 4.0, 0.0), Direction.EUCLIDEAN, POINTS) == pytest.approx(5.0)


@pytest.mark.clause("OSC-1")
@given(BODIES, BODIES)
@pytest.mark.medium
def test_bodies_touch_after_the_time_to_collision_and_not_before(a: ActorState, b: ActorState) -> None:
    time = time_to_collision(a, b)
    if math.isinf(time):
        assert all(not polygon(a, 0.25 * k).buffer(-1e-6).intersects(polygon(b, 0.25 * k)) for k in range(120))
    else:
        assert polygon(a, time).distance(polygon(b, time)) < 1e-5
        assert all(
            not polygon(a, time * k / 8.0).buffer(-1e-6).intersects(polygon(b, time * k / 8.0))
            for k in range(8)
            if time
        )


@pytest.mark.clause("OSC-1")
def test_time_to_collision_of_plain_cases() -> None:
    assert time_to_collision(body(speed=10.0), body(24.0, speed=5.0)) == pytest.approx(4.0)
    assert time_to_collision(body(speed=5.0), body(24.0, speed=10.0)) == math.inf
    assert time_to_collision(body(speed=5.0), body(24.0, y=2.5)) == math.inf
    assert time_to_collision(body(), body(1.0)) == 0.0


@pytest.mark.clause("OSC-1")
def test_headway_is_along_the_road_ahead() -> None:
    assert time_headway(5.0, 20.0) == 4.0
    assert time_headway(5.0, -20.0) == math.inf
    assert time_headway(0.0, 20.0) == math.inf
    view = View(actors={"npc": body(speed=5.0), "ego": body()}, gaps={("npc", "ego"): 10.0})
    assert measure(TimeHeadway("npc", "ego"), view) == 2.0
    assert measure(TimeHeadway("ego", "npc"), view) is None


@pytest.mark.clause("OSC-1")
def test_speed_and_acceleration_are_those_of_the_actor() -> None:
    view = View(actors={"npc": ActorState(Pose(0.0, 0.0, 0.0), 5.0, -1.5, 4.0, 2.0)})
    assert (measure(Speed("npc"), view), measure(Acceleration("npc"), view)) == (5.0, -1.5)
    assert measure(Speed("ego"), view) is None

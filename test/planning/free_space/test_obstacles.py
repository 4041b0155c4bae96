from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString, Polygon

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.scene import Ego, Obstacles, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.obstacles import box_outlines, covered, held_lines, held_static, solid_segments
from tuling_fsm.world.inputs import Kind

from .places import scene, with_object

CAR = Vehicle()
HERE = Pose(3.0, -2.0, 0.5)
FOOTPRINT = Polygon(CAR.footprint(HERE))


def at(ahead: float, left: float) -> tuple[float, float]:
    """A point in the frame of the car."""
    c, s = math.cos(HERE.heading), math.sin(HERE.heading)
    return HERE.x + c * ahead - s * left, HERE.y + s * ahead + c * left


def chain(*points: tuple[float, float]) -> FloatArray:
    """Segments through points given in the frame of the car."""
    xy = np.array([at(*p) for p in points])
    return np.hstack((xy[:-1], xy[1:]))


def near(ahead: float, left: float, length: float, width: float, turn: float = 0.0) -> FloatArray:
    """Outline of a box given in the frame of the car."""
    x, y = at(ahead, left)
    return box_outlines(
        np.array((x,)), np.array((y,)), np.array((HERE.heading + turn,)), np.array((length,)), np.array((width,))
    )


def touching(segments: FloatArray) -> bool:
    return any(LineString([s[:2], s[2:]]).intersects(FOOTPRINT) for s in segments)


def test_outlines_are_closed_and_have_the_size_of_the_box() -> None:
    outline = box_outlines(np.array((1.0,)), np.array((2.0,)), np.array((0.3,)), np.array((4.0,)), np.array((1.5,)))
    assert np.array_equal(outline[:, 2:], np.roll(outline[:, :2], -1, axis=0))
    assert Polygon(outline[:, :2]).area == pytest.approx(6.0)
    assert outline[:, :2].mean(axis=0) == pytest.approx((1.0, 2.0))


def test_static_things_and_standing_movers_are_solid() -> None:
    base = scene(Pose(0.0, 0.0, 0.0), np.array(((5.0, 5.0, 6.0, 6.0),)))
    for moving, speed, edges in ((False, 0.0, 5), (False, 2.0, 5), (True, 0.1, 5), (True, 2.0, 1)):
        where = with_object(base, Pose(9.0, 9.0, 0.2), moving, speed)
        assert len(solid_segments(where)) == edges
        assert covered(where, 9.5, 9.2) == (edges == 5)
        assert not covered(where, 12.0, 12.0)


@pytest.mark.parametrize(("kind", "roadside_slot"), [(Kind.CAR, 0.06), (Kind.PEDESTRIAN, 0.06), (Kind.BARRIER, 0.0)])
def test_what_may_drive_or_walk_is_kept_clear_of_by_more_than_a_path_is_off(kind: Kind, roadside_slot: float) -> None:
    where = Scene(5.0, Ego(HERE, 0.0, 0.0, 0.0), Obstacles.straight_on([[20.0, 0.0, 0.0, 4.5, 1.8]], kind=int(kind)))
    edges = solid_segments(where)
    size = edges[:, ::2].max() - edges[:, ::2].min(), edges[:, 1::2].max() - edges[:, 1::2].min()
    assert size == pytest.approx((4.5 + 2.0 * roadside_slot, 1.8 + 2.0 * roadside_slot))


def test_lines_that_are_not_touched_all_hold() -> None:
    lines = chain((-9.0, 1.5), (0.0, 1.5), (9.0, 1.5))
    assert held_lines(lines, HERE, CAR, 6.0) is lines
    assert len(held_lines(np.zeros((0, 4)), HERE, CAR, 6.0)) == 0


@pytest.mark.clause("REG-2")
def test_a_touched_line_is_dropped_near_the_car_and_what_is_joined_to_it_too() -> None:
    under = chain(*((a, 0.4) for a in np.arange(-20.0, 20.1, 2.0)))
    other = chain((-20.0, 3.0), (20.0, 3.0))
    held = held_lines(np.concatenate((under, other)), HERE, CAR, 6.0)
    middle = at(0.5 * (CAR.front - CAR.rear_overhang), 0.0)
    assert not touching(held)
    assert any(np.allclose(s, other[0]) for s in held)
    rest = [s for s in held if not np.allclose(s, other[0])]
    apart = [LineString([s[:2], s[2:]]).distance(LineString([middle, middle])) for s in rest]
    assert min(apart) == pytest.approx(6.0, abs=1e-6)
    length = sum(math.hypot(s[2] - s[0], s[3] - s[1]) for s in rest)
    assert length == pytest.approx(40.0 - 2.0 * math.sqrt(36.0 - 0.4**2), abs=1e-6)


def test_a_line_is_dropped_at_least_as_far_as_the_car_reaches() -> None:
    assert not touching(held_lines(chain((-20.0, 0.4), (20.0, 0.4)), HERE, CAR, 0.0))


def test_what_is_deep_in_the_car_is_no_false_measurement() -> None:
    assert held_static(near(1.4, CAR.width / 2.0 + 1.0 - 0.3, 5.0, 2.0), HERE, CAR, 0.1) is None
    assert held_static(chain((1.0, -5.0), (1.0, 5.0)), HERE, CAR, 0.1) is None
    apart = near(1.4, CAR.width / 2.0 + 1.01, 5.0, 2.0)
    assert held_static(apart, HERE, CAR, 0.1) is apart


@pytest.mark.clause("USE-6")
@given(
    st.sampled_from(((1.4, CAR.width / 2.0 + 1.0, 5.0, 2.0), (CAR.front + 0.5, 0.3, 1.0, 6.0), (-1.4, -1.2, 1.0, 0.5))),
    st.floats(0.0, 0.09),
    st.floats(-0.01, 0.01),
)
@settings(max_examples=60)
def test_a_shallow_overlap_is_moved_out_by_little(
    box: tuple[float, float, float, float], depth: float, turn: float
) -> None:
    ahead, left, length, width = box
    away = (
        (0.0, math.copysign(1.0, left))
        if abs(ahead - 1.4) < 2.0 and length > width
        else (math.copysign(1.0, ahead), 0.0)
    )
    outline = near(ahead - depth * away[0], left - depth * away[1], length, width, turn)
    held = held_static(outline, HERE, CAR, 0.1)
    if held is None:
        return
    assert not touching(held)
    assert len(held) == 4
    assert np.abs(held - outline).max() <= 0.25


def test_what_pokes_in_across_the_side_is_cut() -> None:
    poke = chain((1.0, CAR.width / 2.0 - 0.05), (1.0, 4.0))
    held = held_static(poke, HERE, CAR, 0.1)
    assert held is not None
    assert not touching(held)
    assert held[0, 2:] == pytest.approx(poke[0, 2:])

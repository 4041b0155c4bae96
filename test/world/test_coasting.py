"""Objects that perception misses for a moment (USE-9)."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from crossroads import crossroads
from scenes import row, table, walker

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.estimates import ESTIMATE, MeasuredNoise
from tuling_fsm.world.inputs import Inputs, Kind, Odometry, StampedRows
from tuling_fsm.world.objects import BODY, Detections
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.tracks import PAST, SEEN, Tracks, associate, follow
from tuling_fsm.world.world import World

pytestmark = pytest.mark.clause("USE-9")

P = WorldParameters()
BARRIER = row(7, 1.75, -40.0, kind=Kind.BARRIER)
TICK_S = 0.05
ROWS = dict[int, tuple[float, ...]]


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> WorldBuilder:
    return WorldBuilder(crossroads(tmp_path_factory.mktemp("maps")), Vehicle(), P)


def seen(builder: WorldBuilder, *tables: tuple[tuple[float, ...], ...], parameters: WorldParameters = P) -> list[World]:
    """A World for each table, one a tick."""
    worlds: list[World] = []
    for k, rows in enumerate(tables):
        stamp = k * TICK_S
        inputs = Inputs(stamp, Odometry(stamp, Pose(1.75, -80.0, 1.57), 0.0, 0.0), StampedRows(stamp, table(*rows)))
        worlds.append(builder.build(inputs, worlds[-1] if worlds else None, None))
    return worlds


def ids(world: World) -> list[int]:
    return [int(number) for number in world.traffic.id]


def test_what_was_seen_for_long_goes_on_for_as_long_as_the_parameter_says(builder: WorldBuilder) -> None:
    worlds = seen(builder, *20 * ((BARRIER,),), *20 * ((),))
    unseen = [(k - 19) * TICK_S for k, world in enumerate(worlds) if k > 19 and ids(world)]
    assert unseen[-1] == pytest.approx(P.coasting)
    assert all(world.scene.obstacles.x.shape[0] > 0 for world in worlds[:25])


def test_half_of_the_rows_missing_at_random_leave_no_tick_without_the_object(builder: WorldBuilder) -> None:
    shown = np.random.default_rng(3).random(200) < 0.5
    worlds = seen(builder, *10 * ((BARRIER,),), *(((BARRIER,) if there else ()) for there in shown))
    assert all(ids(world) == [7] for world in worlds)


def test_a_ghost_of_one_message_goes_with_it(builder: WorldBuilder) -> None:
    assert [ids(world) for world in seen(builder, (), (BARRIER,), (), ())] == [[], [7], [], []]


def test_nothing_goes_on_for_longer_than_it_was_seen(builder: WorldBuilder) -> None:
    worlds = seen(builder, *4 * ((BARRIER,),), *8 * ((),))
    assert [bool(ids(world)) for world in worlds] == [True] * 7 + [False] * 5


def test_it_moves_on_by_its_velocity_and_is_itself_when_it_comes_back(builder: WorldBuilder) -> None:
    there = [(walker(3, 6.0 - 0.05 * k, -40.0, vx=-1.0),) for k in range(20)]
    shown = [rows if k not in range(12, 16) else () for k, rows in enumerate(there)]
    worlds = seen(builder, *shown)
    whole = seen(builder, *there)
    for k, (world, other) in enumerate(zip(worlds, whole, strict=True)):
        np.testing.assert_allclose(world.traffic.body, other.traffic.body, atol=1e-6, err_msg=str(k))
    np.testing.assert_array_equal(worlds[-1].tracks.past, whole[-1].tracks.past)


def test_others_come_and_go_meanwhile(builder: WorldBuilder) -> None:
    worlds = seen(builder, *10 * ((BARRIER, walker(3, 6.0, -40.0)),), (walker(9, 8.0, -40.0), walker(3, 6.0, -40.0)))
    assert ids(worlds[-1]) == [9, 3, 7]
    assert list(worlds[-1].tracks.id) == [3, 7, 9]


def test_no_more_than_the_table_may_have(tmp_path_factory: pytest.TempPathFactory) -> None:
    builder = WorldBuilder(crossroads(tmp_path_factory.mktemp("maps")), Vehicle(), WorldParameters(max_objects=10))
    first = tuple(row(k, 6.0 * k, -40.0) for k in range(8))
    then = tuple(row(100 + k, 6.0 * k, -60.0) for k in range(8))
    assert len(ids(seen(builder, *10 * (first,), then)[-1])) == 10


def test_a_pickled_world_goes_on_the_same_way(builder: WorldBuilder) -> None:
    world = seen(builder, *10 * ((BARRIER,),), ())[-1]
    inputs = Inputs(world.stamp + TICK_S)
    again = [builder.build(inputs, pickle.loads(pickle.dumps(each)), None) for each in (world, world)]
    assert [ids(each) for each in again] == [[7], [7]]


def test_what_coasts_keeps_its_past() -> None:
    draw = np.random.default_rng(3)
    past, estimates = draw.uniform(size=(3, PAST)), draw.uniform(size=(3, ESTIMATE))
    previous = Tracks(np.array([3, 7, 9], np.uint32), past, estimates, MeasuredNoise())
    numbers, kinds = np.array([7, 9, 3], np.uint32), np.full(3, Kind.CAR, np.uint8)
    found = Detections(numbers, kinds, np.zeros(3, np.uint8), np.zeros((3, BODY)), np.array([2, 0, 1]), seen=1)
    now = follow(previous, associate(previous, found, 5.0), found, 5.0, P)
    assert now.past[0, SEEN] == 5.0
    np.testing.assert_array_equal(now.past[1:], past[[2, 0]])
    np.testing.assert_array_equal(now.estimates[1:], estimates[[2, 0]])

from __future__ import annotations

import math

import numpy as np
import pytest
from crossroads import crossroads
from scenes import row, walker
from traffic_drive import Drive, route_between

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason
from tuling_fsm.map.road_map import RoadMap

NORTH = 0.5 * math.pi


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"))


@pytest.fixture
def standing(town: RoadMap) -> Drive:
    """The car has stood for 2 s, its bumper 40 m into the route northwards."""
    drive = Drive(town, route_between(town, Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)))
    drive.put_front(40.0)
    drive.tick(2.0)
    return drive


BUMPER_Y = -110.0 + 40.0


@pytest.mark.clause("USE-6")
def test_no_start_while_something_is_before_the_bumper_nor_right_after(standing: Drive) -> None:
    standing.objects = [walker(3, 1.2, BUMPER_Y + 0.8)]
    standing.tick()
    reasons = [wall.reason for wall in standing.rules.walls]
    assert Reason.PEDESTRIAN in reasons
    standing.objects = []
    standing.tick(1.9)
    assert standing.walls(Reason.OBSTACLE), "clear for a moment only"
    standing.tick(0.2)
    assert not standing.rules.walls


@pytest.mark.clause("USE-6")
@pytest.mark.parametrize("noise", [0.3, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_noise_of_what_stands_beside_the_start_path_does_not_keep_the_car(
    standing: Drive, noise: float, seed: int
) -> None:
    draw, kept = np.random.default_rng(seed), []
    for _ in range(200):
        x, y, vx, vy = draw.normal(0.0, noise, 4)
        car = row(7, -1.4 + x, BUMPER_Y + 3.5 + y, -NORTH)
        standing.objects = [(*car[:6], vx, vy, *car[8:])]
        standing.tick()
        kept.append(bool(standing.rules.walls))
    assert not any(kept[80:]), "its noise is known by then"
    standing.objects = [walker(3, 1.2, BUMPER_Y + 0.8)]
    standing.tick()
    assert standing.rules.walls, "and an agent in it does"


@pytest.mark.clause("USE-6")
def test_one_that_walks_into_the_start_path_keeps_the_car_from_half_a_metre_on(standing: Drive) -> None:
    edge = 1.75 + 0.97
    for number, (gap, vx, kept) in enumerate(
        (
            (0.9, -1.0, True),
            (3.5, -1.0, False),
            (0.4, 0.5, True),
            (0.9, 0.0, False),
            (0.9, 1.0, False),
        )
    ):
        standing.objects = [walker(number, edge + gap + 0.25, BUMPER_Y + 0.5, vx)]
        standing.tick()
        assert standing.memory.start_blocked is kept, (gap, vx)
        standing.objects = []
        standing.tick(2.2)


@pytest.mark.clause("USE-6")
def test_once_kept_it_takes_more_room_to_start(standing: Drive) -> None:
    edge = 1.75 + 0.97
    standing.objects = [walker(3, edge + 0.4 + 0.25, BUMPER_Y + 0.5, 0.3)]
    assert standing.tick().memory.start_blocked
    standing.objects = [walker(3, edge + 0.6 + 0.25, BUMPER_Y + 0.5, 0.3)]
    assert standing.tick(3.0).memory.start_blocked
    standing.objects = [walker(3, edge + 0.9 + 0.25, BUMPER_Y + 0.5, 0.3)]
    assert not standing.tick(2.2).memory.start_blocked


@pytest.mark.clause("USE-6")
def test_one_may_always_drive_away_from_what_stands_near(standing: Drive) -> None:
    standing.objects = [
        walker(1, 3.2, BUMPER_Y + 0.5),
        row(2, -0.4, BUMPER_Y - 1.0, NORTH),
        row(3, 1.75, BUMPER_Y - 8.0, NORTH),
        row(4, 1.75, BUMPER_Y + 5.0, NORTH),
    ]
    assert not standing.tick(1.0).memory.start_blocked


def test_a_moving_car_is_none_of_its_business(standing: Drive) -> None:
    standing.v = 3.0
    standing.objects = [row(4, 1.75, BUMPER_Y + 2.5, NORTH)]
    standing.tick()
    assert not standing.memory.start_blocked


@pytest.mark.clause("USE-5", "USE-6")
def test_one_that_stands_before_the_bumper_keeps_the_car_until_both_have_stood_for_long(standing: Drive) -> None:
    """Then the plan keeps clear of it; when it moves it is waited for again."""
    standing.objects = [walker(3, 1.2, BUMPER_Y + 0.8)]
    standing.tick(4.0)
    assert standing.walls(Reason.PEDESTRIAN)
    standing.tick(2.0)
    assert standing.rules.memory.released == (3,)
    assert not standing.walls(Reason.PEDESTRIAN)
    standing.objects = [walker(3, 1.2, BUMPER_Y + 0.8, vx=1.0)]
    standing.tick()
    assert standing.walls(Reason.PEDESTRIAN)

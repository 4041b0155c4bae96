"""Vehicles that stand in line, and for how long that is waited for (NOR-11)."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from crossroads import YIELD_SIGN, crossroads
from map import towns
from scenes import row, table, walker
from watching import P, Watch

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.scene import Ego
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind, Light
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.queues import follow_lines
from tuling_fsm.world.tracks import PAST, STILL
from tuling_fsm.world.traffic import PredictedLanes

EAST, NORTH, WEST = 0.0, 0.5 * math.pi, math.pi
LANE_X = 1.75
HEAD = row(1, LANE_X, -15.5, NORTH)
"""Its front bumper is before the line of the southern arm."""
SECOND, THIRD = row(2, LANE_X, -22.0, NORTH), row(3, LANE_X, -30.0, NORTH)
ON_ROAD = row(1, LANE_X, -40.0, NORTH)
BEHIND = row(2, LANE_X, -47.0, NORTH)

Row = tuple[float, ...]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"))


@pytest.fixture(scope="module")
def yields(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "yields", dict.fromkeys("NS", YIELD_SIGN))


def after(
    road_map: RoadMap, seconds: float, *rows: Row, lights: dict[int, Light] | None = None, p: WorldParameters = P
) -> PredictedLanes:
    """What is seen once these have stood for so long."""
    watch = Watch(road_map, parameters=p)
    watch.see(table(*rows), 0.0, lights)
    return watch.see(table(*rows), seconds, lights)[0]


@pytest.mark.clause("NOR-11")
def test_one_that_stands_behind_another_is_in_line_and_the_first_alone_has_broken_down(plain: RoadMap) -> None:
    traffic = after(plain, 100.0, ON_ROAD, BEHIND, row(3, LANE_X, -54.0, NORTH), row(4, LANE_X, -80.0, NORTH))
    assert traffic.waiting.tolist() == [False, True, True, False]
    assert traffic.moving.tolist() == [False, True, True, False]
    assert traffic.line_size.tolist() == [0, 2, 3, 0]
    assert traffic.line_still.tolist() == [0.0, 100.0, 100.0, 0.0]
    assert [traffic.waits(number) for number in (1, 2, 9)] == [False, True, False]


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(
    ("state", "waits"),
    [(Light.RED, True), (Light.YELLOW, True), (Light.DARK, True), (None, True), (Light.GREEN, False),
     (Light.FLASHING_YELLOW, False)],
)  # fmt: skip
def test_before_a_light_that_is_not_known_to_be_green_a_head_waits(
    lit: RoadMap, state: Light | None, waits: bool
) -> None:
    lights = {} if state is None else {4: state}
    traffic = after(lit, 200.0, HEAD, SECOND, lights=lights)
    assert traffic.waiting.tolist() == [waits, True]
    assert after(lit, 30.0, HEAD, lights=lights).waiting.tolist() == [True], "so long it may be about to go"
    short = row(1, LANE_X, -24.0, NORTH)
    assert after(lit, 30.0, short, lights=lights).waiting.tolist() == [waits], "it has stopped 9 m before the line"


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("before", [1.0, 9.0])
def test_a_head_waits_for_the_lights_of_the_ways_on_at_a_line_well_before_they_part(
    tmp_path: Path, before: float
) -> None:
    light = '<signals><signal id="{}" s="1" t="4" orientation="+" dynamic="yes" type="1000001"/></signals>'
    size = 'hdg="1.5707963" length="3.3" width="0.4"'
    line = f'<objects><object id="1" type="roadMark" name="StopLine" s="14" t="1.75" {size}/></objects>'
    road_map = towns.crossing(tmp_path, {1: line, 103: light.format(201), 104: light.format(202)})
    head = row(1, towns.HALF_M + 14.0 + before + 2.3, LANE_X, WEST)
    for state in (Light.RED, Light.GREEN):
        traffic = after(road_map, 200.0, head, lights=dict.fromkeys((201, 202), state))
        assert traffic.waiting.tolist() == [state is Light.RED]


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(
    ("other", "waits"),
    [
        (row(9, 0.0, -1.75, EAST), True),
        (row(9, -6.0, -1.75, EAST, speed=6.0), True),
        (row(9, LANE_X, 2.0, NORTH), True),
        (row(9, LANE_X, 17.0, NORTH), True),
        (row(9, LANE_X, 17.0, NORTH, speed=8.0), False),
        (row(9, LANE_X, 45.0, NORTH), False),
        (row(9, -40.0, -1.75, EAST), False),
        (row(9, 0.0, -1.75, EAST, kind=Kind.CONE), False),
    ],
    ids=["jam in it", "cross traffic", "stands in it", "no room behind", "leaves", "far behind", "far away", "a cone"],
)
@pytest.mark.parametrize("town", ["plain", "yields"])
def test_before_a_full_junction_a_head_waits_and_before_a_free_one_not_for_ever(
    town: str, other: Row, waits: bool, request: pytest.FixtureRequest
) -> None:
    road_map: RoadMap = request.getfixturevalue(town)
    traffic = after(road_map, 200.0, HEAD, SECOND, other)
    assert traffic.waiting[:2].tolist() == [waits, True]


@pytest.mark.clause("NOR-11")
def test_before_a_free_junction_a_head_waits_only_where_it_may_have_to_give_way(
    plain: RoadMap, yields: RoadMap
) -> None:
    with_priority = row(1, -15.5, -LANE_X, EAST)
    for road_map, head, waits in (
        (yields, with_priority, False), (yields, HEAD, True), (plain, with_priority, True), (plain, HEAD, True),
    ):  # fmt: skip
        assert after(road_map, 30.0, head).waiting.tolist() == [waits]
        assert after(road_map, 50.0, head).waiting.tolist() == [False]
    assert after(yields, 30.0, with_priority, row(9, 0.0, 1.75, NORTH)).waiting[0], "one stands across its way"
    watch = Watch(yields)
    watch.see(table(row(1, -18.0, -LANE_X, EAST, speed=3.0)), 0.0)
    watch.see(table(with_priority), 1.0)
    assert watch.see(table(with_priority), 30.0)[0].waiting.tolist() == [True], "it has come there, and may turn off"


@pytest.mark.clause("NOR-11", "EXPL-1")
def test_of_a_line_that_has_stood_since_it_is_known_nobody_says_when_it_moved(plain: RoadMap) -> None:
    watch = Watch(plain)
    watch.see(table(ON_ROAD, BEHIND), 0.0)
    assert watch.see(table(ON_ROAD, BEHIND), 30.0)[0].line_words(1) == "in a line of 2, seen standing for 30 s"
    watch.see(table(ON_ROAD, row(2, LANE_X, -47.3, NORTH, speed=1.0)), 31.0)
    watch.see(table(ON_ROAD, BEHIND), 32.0)
    assert watch.see(table(ON_ROAD, BEHIND), 50.0)[0].line_words(1) == "in a line of 2, moved 19 s ago"


@pytest.mark.clause("NOR-11")
def test_one_that_is_parked_at_the_kerb_is_in_no_line_but_may_be_stood_behind(lit: RoadMap) -> None:
    red = {4: Light.RED}
    at_kerb = row(1, LANE_X + 1.0, -15.5, NORTH)
    assert after(lit, 10.0, at_kerb, lights=red).waiting.tolist() == [False]
    assert after(lit, 10.0, at_kerb, lights=red, p=replace(P, queue_kerb=1.2)).waiting.tolist() == [True]
    rest = (row(2, LANE_X + 1.1, -22.0, NORTH), row(3, LANE_X - 0.9, -28.0, NORTH))
    assert after(lit, 10.0, at_kerb, *rest, lights=red).waiting.tolist() == [False, False, False]
    assert after(lit, 10.0, at_kerb, row(2, LANE_X, -22.0, NORTH), lights=red).waiting.tolist() == [False, True]


@pytest.mark.clause("NOR-11")
def test_a_line_moves_when_one_in_it_does_and_not_when_others_join(plain: RoadMap) -> None:
    watch = Watch(plain)
    watch.see(table(ON_ROAD, BEHIND), 0.0)
    joined = (ON_ROAD, BEHIND, row(3, LANE_X, -54.0, NORTH))
    watch.see(table(*joined[:2], row(3, LANE_X, -60.0, NORTH, speed=3.0)), 198.0)
    watch.see(table(*joined[:2], row(3, LANE_X, -54.0, NORTH, speed=0.6)), 200.0)
    traffic, _ = watch.see(table(*joined), 299.0)
    assert traffic.line_still.tolist() == [0.0, 299.0, 99.0]
    traffic, _ = watch.see(table(*joined), 301.0)
    assert (traffic.waiting.tolist(), traffic.given_up.tolist()) == ([False, False, True], [False, True, False])
    creeps = (row(1, LANE_X, -39.0, NORTH, speed=1.0), *joined[1:])
    traffic, _ = watch.see(table(*creeps), 302.0)
    assert (traffic.waiting.tolist(), traffic.line_still.tolist()) == ([False, True, True], [0.0, 0.0, 0.0])


@pytest.mark.clause("NOR-11", "NOR-7")
def test_a_line_that_has_not_moved_for_the_patience_is_static_at_once(lit: RoadMap) -> None:
    watch, red = Watch(lit, parameters=replace(P, queue_patience=50.0)), {4: Light.RED}
    for stamp, waits in ((0.0, True), (49.0, True), (51.0, False), (90.0, False)):
        traffic, obstacles = watch.see(table(HEAD, SECOND, THIRD), stamp, red)
        assert traffic.waiting.tolist() == [waits] * 3
        assert traffic.given_up.tolist() == [not waits] * 3
        assert obstacles.moving.tolist() == [waits] * 3


@pytest.mark.clause("NOR-11")
def test_a_jammed_ring_is_one_line_without_a_head() -> None:
    past = np.zeros((5, PAST))
    past[:, STILL] = (10.0, 40.0, 20.0, 0.0, 5.0)
    leader = np.array((1, 2, 0, 0, -1))
    line = follow_lines(np.ones(5, np.bool_), leader, np.zeros(5, np.bool_), past, 100.0, 300.0)
    assert line.waiting.tolist() == [True, True, True, True, False]
    assert line.size.tolist() == [3, 3, 3, 4, 0]
    assert line.still.tolist() == [60.0, 60.0, 60.0, 60.0, 0.0]


@pytest.mark.clause("NOR-11")
def test_neither_the_car_nor_one_that_walks_nor_an_unknown_thing_makes_a_line(plain: RoadMap) -> None:
    behind_car = Watch(plain, Ego(Pose(LANE_X, -41.0, NORTH), 0.0, 0.0, 0.0))
    assert behind_car.see(table(BEHIND), 0.0)[0].waiting.tolist() == [False]
    things = (row(1, LANE_X, -40.0, NORTH, kind=Kind.UNKNOWN), row(2, LANE_X, -47.0, NORTH, kind=Kind.UNKNOWN))
    watch = Watch(plain)
    assert watch.see(table(*things), 0.0)[0].waiting.tolist() == [False, False]
    assert watch.see(table(walker(1, LANE_X, -40.0), BEHIND), 1.0)[0].waiting.tolist() == [False, False]
    rolled = tuple(row(k, LANE_X, y, NORTH, speed=2.5, kind=Kind.UNKNOWN) for k, y in ((4, -40.0), (5, -47.0)))
    watch.see(table(*rolled), 2.0)
    stood = tuple(row(k, LANE_X, y, NORTH, kind=Kind.UNKNOWN) for k, y in ((4, -40.0), (5, -47.0)))
    assert watch.see(table(*stood), 3.0)[0].waiting.tolist() == [False, True], "they have been seen to move"


@pytest.mark.clause("NOR-11")
def test_one_that_has_a_way_past_the_one_ahead_is_not_behind_it(plain: RoadMap) -> None:
    aside = row(1, LANE_X + 1.7, -40.0, NORTH, width=1.6)
    assert after(plain, 50.0, aside, row(2, LANE_X - 0.3, -47.0, NORTH)).waiting.tolist() == [False, False]
    assert after(plain, 50.0, ON_ROAD, row(2, LANE_X, -60.0, NORTH)).waiting.tolist() == [False, False]
    assert after(plain, 50.0, ON_ROAD, row(2, -LANE_X, -47.0, -NORTH)).waiting.tolist() == [False, False]


@pytest.mark.clause("NOR-11", "EST-2")
def test_what_is_remembered_of_a_line_can_be_written_down(plain: RoadMap) -> None:
    watch = Watch(plain)
    watch.see(table(ON_ROAD, BEHIND), 0.0)
    watch.tracks = pickle.loads(pickle.dumps(watch.tracks))
    assert watch.see(table(ON_ROAD, BEHIND), 77.0)[0].line_still.tolist() == [0.0, 77.0]


@pytest.mark.clause("NOR-7", "NOR-11")
def test_one_that_stands_some_way_before_a_red_light_is_no_obstacle_until_others_would_have_moved_off(
    lit: RoadMap,
) -> None:
    far, at_kerb = row(1, LANE_X, -38.0, NORTH), row(2, LANE_X + 1.1, -29.0, NORTH)
    for lone, moves in ((far, True), (at_kerb, False), (ON_ROAD, True), (row(1, LANE_X, -50.0, NORTH), False)):
        watch, red, green = Watch(lit), {4: Light.RED}, {4: Light.GREEN}
        for stamp in range(0, 101, 2):
            traffic, _ = watch.see(table(lone), float(stamp), red)
        assert (traffic.moving[0], traffic.waiting[0]) == (moves, False)
        assert watch.see(table(lone), 104.0, green)[0].moving[0] == moves
        assert not watch.see(table(lone), 106.0, green)[0].moving[0]
        assert not watch.see(table(lone), 107.0, red)[0].moving[0], "a car may be on its way round it"

"""Whom the referee takes to wait in a queue, by its own eyes (NOR-11)."""

from __future__ import annotations

import ast
import inspect
import math
from pathlib import Path

import numpy as np
import pytest
from crossroads import LIGHT, crossroads
from map import towns

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.scoring import agent_tracks, queue_overtaking
from tuling_fsm.sim.scoring.agent_tracks import QUEUE_S, WAITS_AT_FREE_LINE_S, AgentTracks
from tuling_fsm.sim.scoring.infraction_log import RefereeFrame
from tuling_fsm.sim.scoring.lane_yielding import brakes_for_another, brakes_for_line
from tuling_fsm.world.inputs import Kind, Light

from .staging import On, resolved

NORTH, EAST = 0.5 * math.pi, 0.0
LANE_X = 1.75
DT = 0.5
Box = tuple[float, float, float]
"""Middle (m) and heading (rad)."""
HEAD, ON_ROAD = (LANE_X, -15.5, NORTH), (LANE_X, -40.0, NORTH)


def behind(x: float, y: float, gap: float = 2.5) -> Box:
    return x, y - 4.5 - gap, NORTH


@pytest.fixture(scope="module")
def lit(folder: Path) -> RoadMap:
    return crossroads(folder, "lit_lines", dict.fromkeys("ENWS", LIGHT))


@pytest.fixture(scope="module")
def plain(folder: Path) -> RoadMap:
    return crossroads(folder, "plain_lines")


def queues(
    road_map: RoadMap, seconds: float, *boxes: Box, light: Light = Light.RED, moves: tuple[int, float] | None = None
) -> list[bool]:
    """Which queue after so long; one of them may move once, at a time before the end (s)."""
    tracks = AgentTracks(road_map)
    rows = np.array([(x, y, 0.0, heading, 4.5, 1.8, 0.0) for x, y, heading in boxes])
    ids, kinds = np.arange(len(boxes), dtype=np.uint32), np.full(len(boxes), int(Kind.CAR), np.uint8)
    for k in range(round(seconds / DT) + 1):
        now = rows.copy()
        if moves is not None and abs(seconds - k * DT - moves[1]) < 0.1:
            now[moves[0], 6] = 1.0
        tracks.watch(k * DT, DT, AgentBoxes(now, kinds, ids), {4: light})
    return [tracks.queues(row) for row in range(len(boxes))]


@pytest.mark.clause("NOR-11")
def test_one_that_stands_behind_another_queues_until_the_line_has_not_moved_for_five_minutes(plain: RoadMap) -> None:
    line = (ON_ROAD, behind(*ON_ROAD[:2]), behind(LANE_X, -47.0))
    assert queues(plain, 10.0, *line) == [False, True, True]
    assert queues(plain, QUEUE_S - 1.0, *line) == [False, True, True]
    assert queues(plain, QUEUE_S + 1.0, *line) == [False, False, False]
    assert queues(plain, QUEUE_S + 60.0, *line, moves=(0, 100.0)) == [False, True, True], "the first has moved"
    assert queues(plain, QUEUE_S + 60.0, *line, moves=(2, 100.0)) == [False, False, True], "the last has closed up"
    assert queues(plain, 10.0, ON_ROAD, behind(*ON_ROAD[:2], gap=12.0)) == [False, False]


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(
    ("other", "waits"),
    [((0.0, -1.75, EAST), True), ((LANE_X, 17.0, NORTH), False), ((-50.0, -1.75, EAST), False)],
    ids=["in it", "behind it", "far away"],
)
def test_before_a_full_junction_the_first_queues_longer_than_before_a_free_one(
    plain: RoadMap, other: Box, waits: bool
) -> None:
    long = WAITS_AT_FREE_LINE_S + 20.0
    assert queues(plain, long, HEAD, other)[0] is waits
    assert queues(plain, WAITS_AT_FREE_LINE_S - 1.0, HEAD, other)[0]


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(("light", "waits"), [(Light.RED, True), (Light.DARK, True), (Light.GREEN, False)])
def test_before_a_light_the_first_queues_while_it_is_not_green(lit: RoadMap, light: Light, waits: bool) -> None:
    assert queues(lit, WAITS_AT_FREE_LINE_S + 20.0, HEAD, light=light) == [waits]
    assert queues(lit, QUEUE_S + 1.0, HEAD, light=light) == [False]


LEFT, STRAIGHT, PAINTED_M = 201, 202, 14.0


@pytest.fixture(scope="module")
def two_ways(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Two ways on from the eastern arm have a light of their own, and a line painted before they part."""
    light = '<signals><signal id="{}" s="1" t="4" orientation="+" dynamic="yes" type="1000001"/></signals>'
    size = 'hdg="1.5707963" length="3.3" width="0.4"'
    line = f'<objects><object id="1" type="roadMark" name="StopLine" s="{PAINTED_M}" t="1.75" {size}/></objects>'
    inside = {1: line, 103: light.format(STRAIGHT), 104: light.format(LEFT)}
    return towns.crossing(tmp_path_factory.mktemp("maps"), inside)


def driving(speed: float, before: float) -> AgentBoxes:
    """One that comes from the east, with its middle so far before the painted line."""
    row = (towns.HALF_M + PAINTED_M + before, 1.75, 0.0, math.pi, 4.5, 1.8, speed)
    return AgentBoxes(np.array([row]), np.full(1, int(Kind.CAR), np.uint8), np.zeros(1, np.uint32))


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("red", [LEFT, STRAIGHT, None])
def test_the_first_queues_while_the_light_of_any_way_on_is_not_green(two_ways: RoadMap, red: int | None) -> None:
    tracks, agents = AgentTracks(two_ways), driving(0.0, 3.0)
    lights = {signal: Light.RED if signal == red else Light.GREEN for signal in (LEFT, STRAIGHT)}
    for k in range(round((WAITS_AT_FREE_LINE_S + 20.0) / DT)):
        tracks.watch(k * DT, DT, agents, lights)
    assert tracks.queues(0) is (red is not None)


@pytest.mark.parametrize("red", [LEFT, STRAIGHT, None])
def test_one_that_brakes_for_a_line_does_so_wherever_the_ways_part(two_ways: RoadMap, red: int | None) -> None:
    tracks = AgentTracks(two_ways)
    lights = {signal: int(Light.RED if signal == red else Light.GREEN) for signal in (LEFT, STRAIGHT)}
    for k, speed in enumerate((10.0, 10.0, 9.0, 8.0, 7.0)):
        agents = driving(speed, 20.0)
        tracks.watch(k * 0.2, 0.2, agents, {})
    ego = EgoState(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0, None, "")
    frame = RefereeFrame(0.8, 0.2, ego, np.zeros((4, 2)), agents, lights, frozenset())
    assert tracks.brakes_hard(0)
    assert brakes_for_line(frame, 0, tracks, two_ways) is (red is not None)


@pytest.mark.clause("NOR-11")
def test_a_line_round_a_bend_is_one(plain: RoadMap) -> None:
    """As in a ring: the one ahead is 40 degrees round an arc of 13.75 m, and not straight ahead."""
    bend = [
        (-12.0 + 13.75 * math.cos(angle), -12.0 + 13.75 * math.sin(angle), NORTH + angle)
        for angle in (math.radians(62.0), math.radians(22.0))
    ]
    assert queues(plain, 100.0, *bend) == [False, True]


def test_one_that_was_gone_has_not_stood_meanwhile(plain: RoadMap) -> None:
    tracks = AgentTracks(plain)
    box = np.array([(*ON_ROAD[:2], 0.0, NORTH, 4.5, 1.8, 0.0)])
    for k in range(100):
        there = 0 if 60 <= k < 80 else 1
        kinds, ids = np.full(there, int(Kind.CAR), np.uint8), np.zeros(there, np.uint32)
        tracks.watch(k * DT, DT, AgentBoxes(box[:there], kinds, ids), {})
    assert tracks.stood(0) == pytest.approx(19 * DT)


def test_the_referees_notion_shares_no_code_with_the_planners() -> None:
    for module in (agent_tracks, queue_overtaking):
        nodes = ast.walk(ast.parse(inspect.getsource(module)))
        taken = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
        assert not [name for name in taken if name.startswith(("tuling_fsm.behaviour", "tuling_fsm.planning"))]
        assert {name for name in taken if name.startswith("tuling_fsm.world")} <= {"tuling_fsm.world.inputs"}


def test_one_behind_another_on_a_bend_brakes_for_it(course: RoadMap) -> None:
    places = [resolved(course, On("8", 0, -1, s)) for s in (30.0, 50.0)]
    rows = np.array([(x, y, 0.0, heading, 4.5, 1.8, 5.0) for x, y, heading in places])
    agents = AgentBoxes(rows, np.full(2, int(Kind.CAR), np.uint8), np.arange(2, dtype=np.uint32))
    tracks = AgentTracks(course)
    tracks.watch(DT, DT, agents, {})
    ego = EgoState(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0, None, "")
    frame = RefereeFrame(DT, DT, ego, np.zeros((4, 2)), agents, {}, frozenset())
    assert [brakes_for_another(frame, row, tracks) for row in (0, 1)] == [True, False]

"""Vehicles that wait in line, found again without kernels: from the places of all and the lines of the map (NOR-11)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from crossroads import LIGHT, STOP_SIGN, YIELD_SIGN, crossroads, double_crossing

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.right_of_way import gives_way
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.lane_kernels import CANDIDATES, LanePlaces, chains, locate
from tuling_fsm.world.objects import BODY, HEADING, LENGTH, SPEED, WIDTH, X, Y
from tuling_fsm.world.prediction_kernels import GAP, LINE, look_ahead
from tuling_fsm.world.queues import QueueParameters, Waiting, _junctions, _taken, follow_lines, waiting_lines
from tuling_fsm.world.tracks import FIRST, MOVED, PAST, ROAD_LANE, STILL
from world.bodies import DECEL, LATERAL, MAX_HEADING, REACH_M

GREEN_SIGNAL = 2
"""The light of the northern arm; that of the southern one is not known."""
P = QueueParameters(
    standing=0.5, creeping=2.0, gap=12.0, kerb=0.9, kerb_side=-1.0, turn=40.0, patience=300.0
)  # fmt: skip
NOW = 1000.0
AT_LINE_M, OVER_LINE_M, TO_JUNCTION_M, BESIDE_M = 5.0, 2.5, 20.0, 1.0
QUEUEING = (Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BICYCLE)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    signs = {"E": STOP_SIGN, "N": LIGHT, "W": YIELD_SIGN, "S": LIGHT}
    return crossroads(tmp_path_factory.mktemp("maps"), "signs", signs, arm_m=40.0)


@pytest.fixture(scope="module")
def two_junctions(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return double_crossing(tmp_path_factory.mktemp("maps"), 11.0)


def crowd(
    town: RoadMap, many: int, seed: int, spread: float = 0.5
) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Kinds, bodies and pasts of a jam on the last metres before the junction and in it, as far beside the middle as
    `spread` (m) says; the last body is the car.
    """
    draw, body, past = np.random.default_rng(seed), np.zeros((many + 1, BODY)), np.zeros((many, PAST))
    kind = draw.choice([Kind.CAR, Kind.CAR, Kind.BUS, Kind.BICYCLE, Kind.UNKNOWN, Kind.CONE], many).astype(np.uint8)
    ways = [town.lanes[lane] for lane in town.driving_lanes()]
    entries = [lane for lane in ways if len(lane.successors) > 1]
    for i in range(many + 1):
        # Every other one is about to enter the junction.
        lanes, reach = (entries, (2.5, 9.0)) if i % 2 else (ways, (0.0, 26.0))
        lane = lanes[draw.integers(len(lanes))]
        pose = lane.center.at(max(0.0, lane.length - draw.uniform(*reach)))
        aside = draw.normal(0.0, spread)
        body[i, X], body[i, Y] = pose.x - aside * math.sin(pose.heading), pose.y + aside * math.cos(pose.heading)
        body[i, HEADING], body[i, SPEED] = pose.heading, draw.choice([0.0, 0.0, 0.0, 0.3, 1.5, 6.0])
        body[i, LENGTH], body[i, WIDTH] = draw.uniform(2.0, 6.0), draw.uniform(1.0, 2.2)
    past[:, STILL] = NOW - draw.choice([2.0, 39.0, 60.0, 299.0, 400.0], many)
    past[:, MOVED] = np.where(draw.random(many) < 0.5, -np.inf, past[:, STILL])
    past[:, ROAD_LANE] = -1.0
    past[::2, FIRST] = past[::2, STILL]
    return kind, body, past


@dataclass
class Crowd:
    """A jam, and which of it wait by the words of the clause."""

    town: RoadMap
    kind: FloatArray
    body: FloatArray
    past: FloatArray

    def __post_init__(self) -> None:
        lanes, n = lane_index(self.town).arrays, len(self.kind)
        self.lanes, self.count = lanes, n
        self.places = locate(lanes, self.body, np.ones(n + 1, np.bool_), MAX_HEADING)
        self.found = chains(lanes, self.body, self.past, self.places, REACH_M, LATERAL, DECEL)
        closed = np.zeros(len(lanes.line_s), np.bool_)
        self.ahead = look_ahead(
            lanes, closed, np.zeros(0, np.int64), self.body, self.places, self.found, DECEL
        )  # fmt: skip
        self.moved = [self.past[i, MOVED] > -math.inf for i in range(n)]
        self.queues = [self.kind[i] in QUEUEING or (self.kind[i] == Kind.UNKNOWN and self.moved[i]) for i in range(n)]
        self.green = lanes.line_signal == GREEN_SIGNAL

    def told(self) -> Waiting:
        """What the kernel says."""
        return waiting_lines(
            self.lanes, self.green, self.kind, self.body, self.past, self.places, self.found, self.ahead, NOW, P
        )

    def stands(self, i: int) -> bool:
        return self.queues[i] and bool(self.body[i, SPEED] <= P.standing) and not self.is_parked(i)

    def ways(self, i: int) -> list[int]:
        return [b for b in range(len(self.found.row)) if self.found.row[b] == i]

    def is_parked(self, i: int) -> bool:
        """At the outer edge of the lane that it fits best: the right one."""
        return any(-self.found.side[b] > P.kerb for b in self.ways(i)[:1])

    def room_on(self, number: int) -> set[int]:
        """Which vehicles take room on a lane."""
        return {
            i for i in range(self.count) for k in range(CANDIDATES)
            if self.queues[i] and self.places.lane[i, k] == number
            and abs(self.places.offset[i, k]) < 0.5 * self.body[i, WIDTH] + BESIDE_M
        }  # fmt: skip

    def leader(self, i: int) -> int:
        """The one that it stands close behind, -1 for none; of its ways, the last that has one within the table."""
        leader = -1
        for b in self.ways(i):
            j = int(self.ahead.leader[b])
            if leader >= 0 or not 0 <= j < self.count or not (self.kind[j] in QUEUEING or self.moved[j]):
                continue
            on = [
                abs(self.places.offset[j, k] - self.found.side[b]) for k in range(CANDIDATES)
                if self.places.lane[j, k] >= 0 and self.places.lane[j, k] in self.found.chain[b]
            ]  # fmt: skip
            touches = min(on, default=math.inf) < 0.5 * (self.body[i, WIDTH] + self.body[j, WIDTH])
            close = self.body[j, SPEED] <= P.creeping and self.ahead.distance[b, GAP] < P.gap
            leader = j if close and touches else -1
        return leader

    def is_held_up(self, i: int, b: int) -> bool:
        """Before a light that is not known to be green, or before a junction in which or behind which is no room."""
        if not self.ahead.distance[b, LINE] < P.gap:
            return False
        front, inside, beyond = 0.5 * self.body[i, LENGTH], False, math.inf
        for number, begin in zip(self.found.chain[b].tolist(), self.found.begin[b].tolist(), strict=True):
            entry = begin - front
            if number < 0 or (entry > TO_JUNCTION_M and not inside):
                break
            lane = self.town.lanes[lane_index(self.town).ids[number]]
            for line in self.town.stop_lines_of(lane.id):
                dark = line.kind == "light" and line.signal != GREEN_SIGNAL
                if dark and -OVER_LINE_M < entry + line.s < P.gap:
                    return True
            if lane.junction is not None and (inside or entry > -OVER_LINE_M):
                inside = True
                rows = range(self.lanes.conflict_start[number], self.lanes.conflict_start[number + 1])
                crossing = [int(self.lanes.conflict[k]) for k in rows]
                if any(self.room_on(each) - {i} for each in (number, *crossing)):
                    return True
            elif inside:
                beyond = entry
                break
        j = int(self.ahead.leader[b])
        jam = 0 <= j < self.count and self.body[j, SPEED] <= P.creeping
        return bool(jam and inside and self.ahead.distance[b, GAP] < beyond + P.gap)

    def may_give_way(self, i: int, b: int) -> bool:
        """At a line, or on a way through a junction that somebody meets who does not give way to it."""
        front, inside = 0.5 * self.body[i, LENGTH], False
        for number, begin in zip(self.found.chain[b].tolist(), self.found.begin[b].tolist(), strict=True):
            entry = begin - front
            ids = lane_index(self.town).ids
            if number < 0 or (entry > AT_LINE_M and not inside):
                break
            lane = self.town.lanes[ids[number]]
            if any(-OVER_LINE_M < entry + line.s < AT_LINE_M for line in self.town.stop_lines_of(lane.id)):
                return True
            if inside and lane.junction is None:
                break
            inside = inside or (lane.junction is not None and entry > -OVER_LINE_M)
            rows = range(self.lanes.conflict_start[number], self.lanes.conflict_start[number + 1])
            meets = [ids[self.lanes.conflict[k]] for k in rows] if inside else []
            if any(not gives_way(self.town, other, lane.id) for other in meets):
                return True
        return False

    def has_reason(self, i: int) -> bool:
        ways = self.ways(i)
        turns = ways if self.past[i, STILL] > self.past[i, FIRST] else ways[:1]
        lately = NOW - self.past[i, STILL] <= P.turn
        turn = lately and any(self.ahead.distance[b, LINE] < AT_LINE_M and self.may_give_way(i, b) for b in turns)
        return turn or any(self.is_held_up(i, b) for b in ways)


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(("many", "seed"), [(14, k) for k in range(10)] + [(4, k) for k in range(20)])
def test_in_a_jam_the_same_ones_wait_for_the_same_time(town: RoadMap, many: int, seed: int) -> None:
    compare(Crowd(town, *crowd(town, many, seed)))


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize(("many", "seed"), [(24, k) for k in range(4)] + [(3, k) for k in range(24)])
def test_between_two_junctions_close_by_it_is_the_same(two_junctions: RoadMap, many: int, seed: int) -> None:
    compare(Crowd(two_junctions, *crowd(two_junctions, many, 50 + seed, 1.2)))


def compare(jam: Crowd) -> None:
    """What the kernel says of each of a jam with what the clause does."""
    told, standing = jam.told(), [i for i in range(jam.count) if jam.stands(i)]
    leaders = [jam.leader(i) if i in standing else -1 for i in range(jam.count)]
    for i in range(jam.count):
        line: list[int] = []
        if i in standing and (leaders[i] >= 0 or jam.has_reason(i)):
            j = i
            while j >= 0 and j not in line:
                line.append(j)
                j = leaders[j]
        still = min((NOW - jam.past[j, STILL] for j in line), default=0.0)
        assert told.size[i] == len(line)
        assert told.still[i] == pytest.approx(still)
        assert told.given_up[i] == (still > P.patience)
        assert told.waiting[i] == (len(line) > 0 and still <= P.patience)


@pytest.mark.clause("NOR-11")
def test_jams_have_those_that_wait_and_those_that_do_not(town: RoadMap) -> None:
    jams = [Crowd(town, *crowd(town, 14, seed)) for seed in range(12)]
    waiting = sum(int(jam.told().waiting.sum()) for jam in jams)
    standing = sum(jam.stands(i) for jam in jams for i in range(jam.count))
    in_line = sum(int((jam.told().size > 1).sum()) for jam in jams)
    assert 20 < waiting < standing - 10 and in_line > 10


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("seed", range(3))
def test_a_lane_is_taken_by_those_that_are_nearer_to_its_middle_than_half_their_width_and_a_metre(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(30):
        n = int(draw.integers(1, 7))
        lane = np.array([draw.permutation(8)[:CANDIDATES] for _ in range(n + 1)])
        lane[draw.random(lane.shape) < 0.4] = -1
        offset, body = draw.uniform(-2.5, 2.5, lane.shape), np.zeros((n + 1, BODY))
        body[:, WIDTH], queueing = draw.uniform(0.6, 2.6, n + 1), draw.random(n) < 0.7
        places = LanePlaces(lane, np.zeros(lane.shape), offset, np.zeros(lane.shape))
        taken = [
            {number for number, far in zip(lane[i], offset[i], strict=True)
             if number >= 0 and queueing[i] and abs(far) < 0.5 * body[i, WIDTH] + BESIDE_M}
            for i in range(n)
        ]  # fmt: skip
        junctions = _junctions(8, places, body, queueing)
        assert junctions.many.tolist() == [sum(number in lanes for lanes in taken) for number in range(8)]
        for i in range(n):
            for number in range(8):
                others = any(number in taken[j] for j in range(n) if j != i)
                assert _taken(junctions, places.lane, i, number) == others


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("seed", range(6))
def test_a_line_is_all_from_one_to_its_head_or_once_round_whoever_leads_whom(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(40):
        n = int(draw.integers(1, 12))
        leader = np.where(draw.random(n) < 0.3, -1, draw.integers(0, n, n))
        standing, reason, past = draw.random(n) < 0.8, draw.random(n) < 0.3, np.zeros((n, PAST))
        # A clock that was set back a little makes nobody stand for less than no time.
        past[:, STILL] = NOW - draw.choice([-3.0, 0.0, 5.0, 299.0, 301.0, 900.0], n)
        told = follow_lines(standing, leader, reason, past, NOW, 300.0)
        for i in range(n):
            line: list[int] = []
            j = i if standing[i] and (reason[i] or leader[i] >= 0) else -1
            while j >= 0 and j not in line:
                line.append(j)
                j = int(leader[j])
            still = max(min((NOW - past[j, STILL] for j in line), default=0.0), 0.0)
            assert (told.size[i], told.still[i]) == (len(line), still)
            assert told.given_up[i] == (still > 300.0)
            assert told.waiting[i] == (len(line) > 0 and still <= 300.0)

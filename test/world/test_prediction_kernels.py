"""What lies on the ways of others, found once more object by object and line by line, and where that lets them come."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crossroads import LIGHT, STOP_SIGN, YIELD_SIGN, crossroads
from scenes import row, table
from watching import Watch

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, wrap_angle
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.lane_index import LaneIndex, lane_index
from tuling_fsm.world.lane_kernels import CANDIDATES, DEPTH, LaneChains, LanePlaces, chains, locate
from tuling_fsm.world.objects import BODY, HEADING, LENGTH, SPEED, WIDTH, X, Y
from tuling_fsm.world.prediction_kernels import GAP, LINE, STOP_AT, _leader, _occupants, look_ahead
from tuling_fsm.world.prediction_kernels import LIGHT as TO_LIGHT
from tuling_fsm.world.tracks import PAST, ROAD_LANE
from world.bodies import DECEL, LATERAL, MAX_HEADING, REACH_M, scattered

SIGNS = {"E": STOP_SIGN, "N": LIGHT, "W": YIELD_SIGN, "S": LIGHT}
RED_SIGNAL = 4
"""The light of the southern arm; that of the northern one is green."""
LINE_GAP_M, OVER_LINE_M, STOP_SIGN_DONE_M, BESIDE_M = 0.3, 2.5, 2.0, 1.0
NARROW_M, FILTERING_M = 1.2, 0.1


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "signs", SIGNS, arm_m=60.0)


class Traffic:
    """Bodies on the town's lanes, their ways, and what the kernel says of these."""

    def __init__(self, town: RoadMap, body: FloatArray, held: tuple[int, ...] = ()) -> None:
        self.town, self.index, self.body = town, lane_index(town), body
        lanes, past = self.index.arrays, np.zeros((len(body) - 1, PAST))
        past[:, ROAD_LANE] = -1.0
        self.held = np.array(held, dtype=np.int64)
        self.places: LanePlaces = locate(lanes, body, np.ones(len(body), np.bool_), MAX_HEADING)
        self.found: LaneChains = chains(lanes, body, past, self.places, REACH_M, LATERAL, DECEL)
        self.closed = (lanes.line_kind == 1) | (lanes.line_signal == RED_SIGNAL)
        self.ahead = look_ahead(lanes, self.closed, self.held, body, self.places, self.found, DECEL)

    def way(self, b: int) -> list[tuple[int, float]]:
        """Lanes of a chain and where they begin before the object."""
        pairs = zip(self.found.chain[b].tolist(), self.found.begin[b].tolist(), strict=True)
        return [(number, begin) for number, begin in pairs if number >= 0]

    def leader(self, b: int) -> tuple[int, float]:
        """The next body on a way, and the gap to it: of all that are, on the first lane of the way that has any."""
        i = int(self.found.row[b])
        for number, begin in self.way(b):
            gaps = [
                (begin + self.places.arc[j, k] - 0.5 * (self.body[i, LENGTH] + self.body[j, LENGTH]), j)
                for j in range(len(self.body)) for k in range(CANDIDATES)
                if j != i and self.places.lane[j, k] == number
                and abs(self.places.offset[j, k]) < 0.5 * self.body[j, WIDTH] + BESIDE_M
                and begin + self.places.arc[j, k] > 0.4 * self.body[i, LENGTH]
                and not self.rides_past(b, j, float(self.places.offset[j, k]))
            ]  # fmt: skip
            if gaps:
                return min(gaps)[1], min(gaps)[0]
        return -1, math.inf

    def rides_past(self, b: int, j: int, offset: float) -> bool:
        """Whether it is a two-wheeler with room beside another that is so far beside the middle of the way."""
        i = int(self.found.row[b])
        apart = abs(offset - self.found.side[b]) - 0.5 * (self.body[i, WIDTH] + self.body[j, WIDTH])
        return bool(self.body[i, WIDTH] < NARROW_M and apart > FILTERING_M)

    def lines(self, b: int) -> tuple[float, float, float]:
        """Where it can stop before what is closed, the first closed light, and the first line or junction."""
        i = int(self.found.row[b])
        front, v = 0.5 * self.body[i, LENGTH], self.body[i, SPEED]
        shut = {
            int(other) for number in self.held for other, first in zip(*conflicts(self.index, number), strict=True)
            if not first
        }  # fmt: skip
        stop, light, line = [math.inf], [math.inf], [math.inf]
        for number, begin in self.way(b):
            lane = self.town.lanes[self.index.ids[number]]
            entry = begin - front
            line += [entry] if lane.junction is not None and entry > -OVER_LINE_M else []
            stop += [max(entry, 0.0)] if number in shut and entry > -LINE_GAP_M and can_stop(v, entry) else []
            for each in self.town.stop_lines_of(lane.id):
                room = begin + each.s - front
                if room < -OVER_LINE_M:
                    continue
                closed = each.kind == "stop" or each.signal == RED_SIGNAL
                line.append(room)
                light += [room] if closed and each.kind != "stop" else []
                done = each.kind == "stop" and v < 2.0 and room < STOP_SIGN_DONE_M
                stop += [max(room, 0.0)] if closed and room >= -LINE_GAP_M and not done and can_stop(v, room) else []
        return min(stop), min(light), min(line)


def can_stop(v: float, room: float) -> bool:
    return v * v <= 2.0 * DECEL * max(room, 0.1)


def conflicts(index: LaneIndex, number: int) -> tuple[list[int], list[bool]]:
    rows = slice(index.arrays.conflict_start[number], index.arrays.conflict_start[number + 1])
    return index.arrays.conflict[rows].tolist(), index.arrays.gives_way[rows].tolist()


def straight_on(town: RoadMap, road: str) -> int:
    index = lane_index(town)
    ways = [town.lanes[lane] for lane in index.number if town.lanes[lane].junction is not None]
    straight = [lane for lane in ways if abs(lane.center.heading[-1] - lane.center.heading[0]) < 0.1]
    return next(index.number[lane.id] for lane in straight if lane.predecessors[0].road == road)


@pytest.mark.parametrize("seed", range(4))
def test_the_one_ahead_is_the_next_on_the_way(town: RoadMap, seed: int) -> None:
    body, draw = scattered(town, 40, seed), np.random.default_rng(seed)
    body[:, LENGTH], body[:, WIDTH] = draw.uniform(1.0, 9.0, 40), draw.uniform(0.4, 2.4, 40)
    traffic = Traffic(town, body)
    for b in range(len(traffic.found.row)):
        leader, gap = traffic.leader(b)
        assert traffic.ahead.leader[b] == leader
        assert traffic.ahead.distance[b, GAP] == pytest.approx(gap)
    assert np.sum(traffic.ahead.leader >= 0) > 10


def leader_on(
    chain: list[int], begin: list[float], bodies: list[tuple[int, float, float]], side: float = 0.0, width: float = 1.9
) -> tuple[int, float]:
    """Which is ahead of the last of these, each on a lane, at an arc length, and so long. All are 1.9 m wide
    and in the middle of it but the last.
    """
    n, way, at = len(bodies), np.full(DEPTH, -1), np.zeros(DEPTH)
    way[: len(chain)], at[: len(begin)] = chain, begin
    places = LanePlaces(np.full((n, CANDIDATES), -1), *np.zeros((3, n, CANDIDATES)))
    body = np.zeros((n, BODY))
    places.lane[:, 0], places.arc[:, 0], body[:, LENGTH] = zip(*bodies, strict=True)
    body[:, WIDTH], body[-1, WIDTH] = 1.9, width
    found = _leader(n - 1, way, at, side, _occupants(9, places, body), places, body)
    return int(found[0]), float(found[1])


def test_nobody_follows_itself_round_a_ring_and_one_that_is_on_the_nearer_lane_is_ahead() -> None:
    """A ring of two lanes of 30 m; the way on is led once round it."""
    ring, begin, own = [0, 1, 0, 1], [-10.0, 20.0, 50.0, 80.0], (0, 10.0, 4.0)
    assert leader_on(ring, begin, [own]) == (-1, math.inf)
    assert leader_on(ring, begin, [(0, 5.0, 6.0), own]) == (0, 50.0), "behind it, and so at the end of the round"
    assert leader_on(ring, begin, [(1, 25.0, 6.0), (1, 5.0, 2.0), own]) == (1, 22.0)
    assert leader_on(ring, begin, [(0, 11.7, 4.0), own]) == (0, pytest.approx(-2.3))
    assert leader_on(ring, begin, [(0, 11.5, 4.0), own]) == (0, 57.5), "it is beside it"
    assert leader_on(ring, begin, [(0, 29.0, 1.0), (1, 4.0, 18.0), own]) == (0, 16.5), "a bicycle beside a lorry"
    assert leader_on([0], [-10.0], [(1, 5.0, 4.0), own]) == (-1, math.inf)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_cyclist_that_has_room_beside_a_car_does_not_wait_behind_it(side: float) -> None:
    """A car that is as far aside does, and is expected to come back to the middle."""
    ahead = [(0, 20.0, 4.5), (0, 10.0, 1.8)]
    for width, aside, follows in ((0.6, 1.0, True), (0.6, 1.4, False), (1.9, 1.4, True), (1.9, 2.1, True)):
        leader, gap = leader_on([0], [-10.0], ahead, side * aside, width)
        assert (leader == 0) is follows, (width, aside)
        assert gap == (pytest.approx(10.0 - 3.15) if follows else math.inf)


@pytest.mark.parametrize("holds", [None, "1", "4"])
def test_lines_and_closed_lanes_on_the_way_are_those_of_the_map(town: RoadMap, holds: str | None) -> None:
    held = () if holds is None else (straight_on(town, holds),)
    traffic, stops = Traffic(town, scattered(town, 150, 8), held), 0
    for b in range(len(traffic.found.row)):
        expected = traffic.lines(b)
        told = [traffic.ahead.distance[b, column] for column in (STOP_AT, TO_LIGHT, LINE)]
        np.testing.assert_allclose(told, expected, atol=1e-9)
        stops += expected[0] < math.inf
    assert stops > 10


@pytest.mark.parametrize("holds", ["1", "2", "4"])
def test_those_that_are_about_to_cross_a_line_are_judged_by_the_metres_that_are_left(town: RoadMap, holds: str) -> None:
    """Bumpers are from three metres before a line or a junction to three metres beyond it, speeds as that asks for."""
    draw, body = np.random.default_rng(3), scattered(town, 300, 8)
    entries = [town.lanes[lane] for lane in lane_index(town).ids if town.lanes[lane].successors]
    for one in body[:-1]:
        lane = entries[draw.integers(len(entries))]
        places = [lane.length, *(line.s for line in town.stop_lines_of(lane.id))]
        one[LENGTH], far = draw.uniform(3.0, 6.0), draw.uniform(-3.0, 3.0)
        one[[X, Y, HEADING]] = lane.center.at(places[draw.integers(len(places))] - far - 0.5 * one[LENGTH])
        one[SPEED] = draw.choice([0.0, 0.7, 1.0, 1.9, 2.1, 3.0, 5.0])
    traffic, near = Traffic(town, body, (straight_on(town, holds),)), 0
    for b in range(len(traffic.found.row)):
        expected = traffic.lines(b)
        told = [traffic.ahead.distance[b, column] for column in (STOP_AT, TO_LIGHT, LINE)]
        np.testing.assert_allclose(told, expected, atol=1e-9)
        near += expected[0] < 3.0
    assert near > 10


def center_of(town: RoadMap, traffic: Traffic, b: int) -> tuple[Polyline, float, float]:
    """The centre line along a way, where on it the object is, and how far the line is led."""
    numbers = [number for number, _ in traffic.way(b)]
    lanes = [town.lanes[traffic.index.ids[number]] for number in numbers]
    points = np.concatenate([lanes[0].center.xy, *(lane.center.xy[1:] for lane in lanes[1:])])
    return Polyline.of(points), -traffic.way(b)[0][1], sum(lane.length for lane in lanes)


def test_along_its_way_an_object_keeps_its_speed_and_settles_on_the_centre(town: RoadMap) -> None:
    """At 4.5 m/s no bend of the town asks for less. Offsets fall with the way, of one that is turned away from the
    centre when it has come to rest sideways; headings come to that of the lane.
    """
    body = scattered(town, 60, 12)
    body[:, SPEED] = 4.5
    checked = turned_away = 0
    for one in body:
        watch = Watch(town)
        rows = table(row(1, one[0], one[1], one[HEADING], 4.5))
        seen, obstacles = watch.see(rows, 0.0, {})
        traffic = Traffic(town, np.concatenate((seen.body, [[-500.0, 500.0, 0.0, 0.0, 0.0, 0.0, 4.5, 1.9]])))
        ways = [center_of(town, traffic, b) for b in range(len(traffic.found.row))]
        skews = [
            wrap_angle(turned - center.at(max(begin, 0.0)).heading)
            for turned, (center, begin, _) in zip(obstacles.heading[:, 0], ways, strict=False)
        ]
        for b, ((center, begin, end), skew) in enumerate(zip(ways, skews, strict=True)):
            if traffic.ahead.distance[b, STOP_AT] < 40.0:
                continue
            side, last = float(traffic.found.side[b]), math.inf
            steps = np.hypot(np.diff(obstacles.x[b]), np.diff(obstacles.y[b]))
            away = math.copysign(4.5 * math.sin(min(map(abs, skews))), side * skew)
            swings = math.ceil(min(max(0.0, away), 1.2) / 0.4 / PREDICTION_STEP_S)
            turned_away += swings > 1
            if swings:
                side += math.copysign(0.5 * min(away, 1.2) * swings * PREDICTION_STEP_S + 0.13, side)
            for k in range(1 + swings, PREDICTION_STEPS):
                s = begin + 4.5 * PREDICTION_STEP_S * k
                if s > end - 0.5:
                    break
                frame = center.at(s)
                dx, dy = obstacles.x[b, k] - frame.x, obstacles.y[b, k] - frame.y
                along = dx * math.cos(frame.heading) + dy * math.sin(frame.heading)
                aside = dy * math.cos(frame.heading) - dx * math.sin(frame.heading)
                assert abs(along) < 0.25, "chords are shorter than what they cut off"
                assert abs(aside) <= min(last, abs(side)) + 0.06 and aside * side >= -0.06 * abs(side) - 0.06
                settled = math.exp(-4.5 * PREDICTION_STEP_S * (k - swings) / 12.0)
                assert abs(aside) >= (abs(side) - 0.26 * bool(swings)) * settled - 0.06
                last = abs(aside) + 0.02
                askew = wrap_angle(obstacles.heading[b, k] - frame.heading)
                assert abs(askew) <= abs(skew) * (1.0 + 4.5 * PREDICTION_STEP_S / 4.0) ** (swings - k) + 0.13
            assert steps.max() <= 4.5 * PREDICTION_STEP_S * (1.0 + 3.0 / (10.25 - 3.0)) + 0.1
            checked += 1
    assert checked > 20 and turned_away > 5


def test_one_that_can_stop_at_a_closed_line_comes_no_farther_than_its_bumper_there(town: RoadMap) -> None:
    (line,) = (each for each in town.stop_lines if each.signal == RED_SIGNAL)
    x, y = town.lanes[line.lane].center.at(line.s)[:2]
    for far, speed in ((30.0, 9.0), (10.0, 6.0), (8.0, 3.0), (3.0, 0.6)):
        rows = table(row(1, float(x), float(y) - far, 0.5 * math.pi, speed))
        _, obstacles = Watch(town).see(rows, 0.0, {RED_SIGNAL: Light.RED})
        assert np.all(obstacles.y[:, -1] <= y - 2.25 + 0.01)
        assert np.all(obstacles.y[:, -1] >= min(y - 2.25, y - far + 5.0 * speed) - 0.3)

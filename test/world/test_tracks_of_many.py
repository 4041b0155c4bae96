"""What is remembered of many objects at once, kept once more object by object in plain records."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.coasting import coast
from tuling_fsm.world.estimates import ESTIMATE, NIS, VAR_V, MeasuredNoise
from tuling_fsm.world.estimates import SEEN as ESTIMATED_AT
from tuling_fsm.world.inputs import Inputs, Kind, Odometry
from tuling_fsm.world.objects import BODY, HEADING, SPEED, VX, VY, WIDTH, Detections, X, Y
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.tracks import (
    ANCHOR_X,
    ANCHOR_Y,
    ASIDE,
    ASIDE_SINCE,
    FIRST,
    GAINS,
    MOVED,
    NO_TRACKS,
    PACE,
    PAST,
    ROAD_LANE,
    SEEN,
    STILL,
    YAW_RATE,
    Tracks,
    associate,
    follow,
    remember,
)
from tuling_fsm.world.tracks import HEADING as LAST_HEADING
from tuling_fsm.world.world import World
from world.no_objects import no_traffic

P = WorldParameters(moving_speed=0.7)
WALKS = (Kind.PEDESTRIAN, Kind.ANIMAL)
LEFT_M, TURN_FILTER_S, FASTEST_TURN, WALKING_MPS = 1.0, 0.2, 1.0, 0.25
PACE_S, SURE, HARDEST, VAGUE, LEAP = 0.5, 2.0, 3.0, 1.0, 3.0


@dataclass
class Memory:
    """What is remembered of one object."""

    first: float
    seen: float
    moved: float
    still: float
    stood_at: complex
    heading: float
    yaw_rate: float = 0.0
    road_lane: float = -1.0
    aside: float = 0.0
    aside_since: float = 0.0
    pace: float = 0.0
    gains: float = 0.0


def went_on(last: Memory | None, kind: int, body: FloatArray, stamp: float, variance: float) -> Memory:
    """After one more sight of it, its velocity known with a variance along each axis."""
    at, heading = complex(body[X], body[Y]), float(body[HEADING])
    moves = bool(body[SPEED] > (WALKING_MPS if kind in WALKS else P.moving_speed))
    if last is None:
        return Memory(
            stamp, stamp, stamp if moves else -math.inf, stamp, at, heading, aside_since=stamp, pace=body[SPEED]
        )
    moves = moves or abs(at - last.stood_at) > LEFT_M
    dt = max(stamp - last.seen, 0.0)
    turned = math.remainder(heading - last.heading, 2.0 * math.pi)
    rate = float(np.clip(turned / max(dt, 0.001), -FASTEST_TURN, FASTEST_TURN))
    share = dt / (dt + TURN_FILTER_S)
    now = Memory(last.first, stamp, last.moved, last.still, last.stood_at, heading, 0.0, last.road_lane)
    now.aside, now.aside_since = last.aside, last.aside_since
    now.yaw_rate = (1.0 - share) * last.yaw_rate + share * rate
    now.pace = (PACE_S * last.pace + dt * body[SPEED]) / (PACE_S + dt)
    now.gains = float(np.clip((body[SPEED] - now.pace - SURE * math.sqrt(variance)) / PACE_S, 0.0, HARDEST))
    if SURE * math.sqrt(variance) > VAGUE or body[SPEED] - now.pace > LEAP:
        now.pace, now.gains = body[SPEED], 0.0
    if moves:
        now.moved, now.still, now.stood_at = stamp, stamp, at
    return now


def columns(memory: Memory) -> list[float]:
    out = np.zeros(PAST)
    out[[FIRST, SEEN, MOVED, STILL]] = memory.first, memory.seen, memory.moved, memory.still
    out[[ANCHOR_X, ANCHOR_Y, LAST_HEADING]] = memory.stood_at.real, memory.stood_at.imag, memory.heading
    out[[YAW_RATE, ROAD_LANE]] = memory.yaw_rate, memory.road_lane
    out[[ASIDE, ASIDE_SINCE, PACE, GAINS]] = memory.aside, memory.aside_since, memory.pace, memory.gains
    return out.tolist()


def detections(ids: list[int], kinds: list[int], body: FloatArray) -> Detections:
    numbers = np.array(ids, dtype=np.uint32)
    order = np.argsort(numbers, kind="stable")
    kind = np.array(kinds, dtype=np.uint8)
    return Detections(numbers, kind, np.arange(len(ids), dtype=np.uint8), body, order, len(ids))


@pytest.mark.clause("NOR-7", "USE-9")
@pytest.mark.parametrize("seed", range(3))
def test_of_each_one_it_is_remembered_since_when_it_stands_and_how_it_turns_and_gathers_speed(seed: int) -> None:
    """Objects come and go, at uneven times, in any order. Without noise everyone is where the table says."""
    draw, tracks, stamp = np.random.default_rng(seed), NO_TRACKS, 5.0
    known: dict[int, Memory] = {}
    kinds = draw.choice([Kind.CAR, Kind.BUS, Kind.PEDESTRIAN, Kind.ANIMAL, Kind.BARRIER], 9)
    # Far from one another, and slow: nobody is taken for another one, or for noise.
    places, speeds = 100.0 * np.arange(9) + 0j, draw.choice([0.0, 0.2, 0.3, 0.6, 0.8, 3.0], 9)
    headings = draw.uniform(-3.1, 3.1, 9)
    for _ in range(120):
        dt = float(draw.choice([0.0, 0.05, 0.11, 0.6]))
        stamp += dt
        there = draw.permutation(9)[: draw.integers(0, 10)].tolist()
        speeds = np.where(draw.random(9) < 0.05, draw.choice([0.0, 0.2, 0.3, 0.6, 0.8, 3.0], 9), speeds)
        places += dt * speeds * np.exp(1j * headings)
        headings += draw.choice([0.0, 0.01, -0.03, 0.4], 9) * (dt > 0.0)
        body = np.zeros((len(there), BODY))
        body[:, X], body[:, Y] = places[there].real, places[there].imag
        body[:, HEADING], body[:, SPEED] = np.mod(headings[there], 2.0 * math.pi), speeds[there]
        body[:, VX], body[:, VY] = (part * speeds[there] for part in (np.cos(headings[there]), np.sin(headings[there])))
        found = detections(there, kinds[there].tolist(), body)
        association = associate(tracks, found, stamp)
        now = follow(tracks, association, found, stamp, P)
        for k, i in enumerate(there):
            known[i] = went_on(known.get(i), int(kinds[i]), body[k], stamp, now.estimates[k, VAR_V])
            np.testing.assert_allclose(now.past[k], columns(known[i]), atol=1e-9)
        # As if it had been on this lane.
        now.past[:, ROAD_LANE], now.past[:, ASIDE] = there, -np.array(there)
        for i in there:
            known[i].road_lane, known[i].aside = i, -i
        tracks = remember(tracks, association.taken, now, found.order, stamp, 1.0)
        known = {i: each for i, each in sorted(known.items()) if stamp - each.seen <= 1.0}
        assert tracks.id.tolist() == list(known)
        np.testing.assert_allclose(tracks.past, np.array([columns(each) for each in known.values()]).reshape(-1, PAST))
        np.testing.assert_array_equal(tracks.estimates[:, ESTIMATED_AT], tracks.past[:, SEEN])


def test_every_column_has_a_name() -> None:
    assert (BODY, PAST, ESTIMATE) == (WIDTH + 1, GAINS + 1, NIS + 1)
    for tracks in (NO_TRACKS, replace(NO_TRACKS)):
        assert (tracks.past.shape, tracks.estimates.shape) == ((0, PAST), (0, ESTIMATE))


def test_one_row_a_number_is_kept_of_now_before_what_was_and_of_two_the_first() -> None:
    draw = np.random.default_rng(2)
    for _ in range(150):
        old = sorted(draw.choice(12, draw.integers(0, 7), replace=False).tolist())
        new = draw.integers(0, 12, draw.integers(0, 7)).tolist()
        taken, ages = draw.random(len(old)) < 0.3, draw.choice([0.4, 1.9, 2.0, 2.1, 5.0], len(old))
        pasts = [np.zeros((len(ids), PAST)) for ids in (old, new)]
        pasts[0][:, SEEN], pasts[1][:, SEEN] = 50.0 - ages, 50.0
        pasts[0][:, FIRST], pasts[1][:, FIRST] = -1.0 - np.arange(len(old)), np.arange(len(new))
        before, now = (
            Tracks(np.array(ids, dtype=np.uint32), past, np.repeat(past[:, :1], ESTIMATE, axis=1), MeasuredNoise(noise))
            for ids, past, noise in zip((old, new), pasts, (0.1, 0.2), strict=True)
        )
        order = np.argsort(now.id, kind="stable")
        kept = remember(before, taken, now, order, 50.0, 2.0)
        expected = {number: -1.0 - k for k, number in enumerate(old) if not taken[k] and ages[k] <= 2.0}
        expected |= {number: float(k) for k, number in reversed(list(enumerate(new)))}
        assert kept.id.tolist() == sorted(expected)
        assert kept.past[:, FIRST].tolist() == [expected[number] for number in sorted(expected)]
        np.testing.assert_array_equal(kept.estimates[:, 0], kept.past[:, SEEN])
        assert kept.noise.position == 0.2


@pytest.fixture(scope="module")
def empty_world(course: RoadMap) -> World:
    inputs = Inputs(8.0, Odometry(8.0, Pose(0.0, 0.0, 0.0), 0.0, 0.0))
    return WorldBuilder(course, Vehicle(), P).build(inputs, None, None)


def some(draw: np.random.Generator, ids: list[int]) -> Detections:
    return detections(ids, draw.integers(0, 11, len(ids)).tolist(), draw.uniform(-9.0, 9.0, (len(ids), BODY)))


@pytest.mark.clause("USE-9")
def test_those_that_go_on_unseen_are_moved_on_and_come_after_those_that_are_seen(empty_world: World) -> None:
    """Whoever is not seen, is still remembered, and has been seen for as long as it has not been."""
    draw, went, full = np.random.default_rng(6), 0, 0
    for _ in range(150):
        shown = draw.choice(20, 7, replace=False).tolist()
        tracked = sorted(draw.choice(20, 9, replace=False).tolist())
        past = np.zeros((9, PAST))
        past[:, SEEN] = 10.0 - draw.choice([0.0, 0.1, 0.3, 0.5, 0.6], 9)
        past[:, FIRST] = past[:, SEEN] - draw.choice([0.0, 0.05, 0.25, 0.45, 2.0], 9)
        taken, found, before = draw.random(9) < 0.4, some(draw, [101, 100, 102]), some(draw, shown)
        tracks = Tracks(np.array(tracked, dtype=np.uint32), past, np.zeros((9, ESTIMATE)), MeasuredNoise())
        traffic = replace(no_traffic(), id=before.id, kind=before.kind, source=before.source, body=before.body)
        world = replace(empty_world, stamp=9.8, traffic=traffic, tracks=tracks)
        room = int(draw.integers(0, 4))
        told = coast(found, world, taken, now=10.0, longest=0.5, room=room)
        lost = []
        for number in shown:
            row = tracked.index(number) if number in tracked else -1
            if row >= 0 and not taken[row]:
                unseen, known = 10.0 - past[row, SEEN], past[row, SEEN] - past[row, FIRST]
                lost += [number] if unseen <= min(0.5, known) + 1e-9 else []
        full += len(lost) > room
        lost = lost[:room]
        went += len(lost)
        assert told.id.tolist() == [101, 100, 102, *lost] and told.seen == 3
        assert told.id[told.order].tolist() == sorted(told.id.tolist())
        np.testing.assert_array_equal(told.body[:3], found.body)
        for k, number in enumerate(lost, start=3):
            row = shown.index(number)
            expected = before.body[row].copy()
            expected[[X, Y]] += 0.2 * expected[[VX, VY]]
            np.testing.assert_allclose(told.body[k], expected, atol=1e-12)
            assert (told.kind[k], told.source[k]) == (before.kind[row], before.source[row])
    assert went > 50 and full > 20


@pytest.mark.clause("USE-9")
def test_where_nothing_was_or_nothing_is_lost_the_table_alone_counts(empty_world: World) -> None:
    found = some(np.random.default_rng(1), [3, 4])
    assert coast(found, None, np.zeros(0, np.bool_), 10.0, 0.5, 9) is found
    assert coast(found, empty_world, np.zeros(0, np.bool_), 10.0, 0.5, 9) is found

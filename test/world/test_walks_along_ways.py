"""Where objects come in six seconds, walked once more step by step: on whole lines, one object at a time."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.lane_index import LaneArrays, lane_index
from tuling_fsm.world.lane_kernels import DEPTH, LaneChains
from tuling_fsm.world.objects import BODY, HEADING, LENGTH, SPEED, VX, VY, WIDTH, X, Y
from tuling_fsm.world.prediction_kernels import GAP, STOP_AT, LookAhead, PredictionParameters, predict
from tuling_fsm.world.tracks import ASIDE_SINCE, GAINS, PAST, YAW_RATE

STEP_S, STEPS = 0.2, 31
SETTLE_M, ALIGN_M, FADE_S = 12.0, 4.0, 2.0
CHANGE_MPS, BACK_MPS2 = 1.2, 0.4
NOW, HELD_S, HELD_M = 7.0, 1.0, 0.4
GAIN_FADE_S, FARTHER_M, FARTHER = 3.6, 3.0, 0.25
EXPECTED = PredictionParameters(
    lane_heading=0.8, lateral=3.0, decel=3.0, follow_gap=1.3, standing=0.5, stopped_leader=20.0
)  # fmt: skip


class Line:
    """A lane's centre: points, unevenly far apart, and headings that change from point to point."""

    def __init__(self, draw: np.random.Generator, x: float, y: float, heading: float, many: int) -> None:
        chords = draw.choice([0.15, 0.19, 0.5, 1.5, 3.7], many)
        sharp = draw.choice([0.0, 0.02, 0.1, 0.25])
        self.widened = float(draw.choice([1.0, 1.4, 3.0]))
        self.limit = float(draw.choice([4.0, 9.0, 20.0]))
        self.left, self.right = draw.uniform(0.5, 3.5, (2, many + 1))
        self.s = np.concatenate(([0.0], np.cumsum(chords)))
        self.heading = heading + np.concatenate(([0.0], np.cumsum(draw.uniform(-sharp, sharp, many) * chords)))
        middle = 0.5 * (self.heading[1:] + self.heading[:-1])
        self.x = x + np.concatenate(([0.0], np.cumsum(chords * np.cos(middle))))
        self.y = y + np.concatenate(([0.0], np.cumsum(chords * np.sin(middle))))

    @property
    def length(self) -> float:
        return float(self.s[-1])

    def chord(self, s: float) -> int:
        """The one that a place is on, or the nearest one."""
        return min(max(int(np.searchsorted(self.s, s)) - 1, 0), len(self.s) - 2)

    def at(self, s: float) -> tuple[complex, float, complex]:
        """Point and heading at an arc length, straight on beyond the ends, and the direction of the chord."""
        k = self.chord(s)
        points = self.x + 1j * self.y
        along = complex(points[k + 1] - points[k])
        step = float(self.s[k + 1] - self.s[k])
        return (
            complex(points[k]) + along * (s - self.s[k]) / step,
            float(np.interp(s, self.s, self.heading)),
            along / step,
        )

    def fastest(self, s: float, lateral: float) -> float:
        """What the chord's bend allows one that cuts it, m/s; a very short one is no bend."""
        k = self.chord(s)
        step, turn = self.s[k + 1] - self.s[k], abs(self.heading[k + 1] - self.heading[k])
        return math.sqrt(lateral * self.widened * step / turn) if step > 0.2 and turn > 0.0 else math.inf


Way = list[tuple[Line, float]]
"""Lines and where each begins, m ahead of the body."""


def slip_of(body: FloatArray) -> float:
    """From where it points to where it moves: 0 where that is not ahead."""
    course = cmath.phase(complex(body[VX], body[VY]) * cmath.exp(-1j * body[HEADING]))
    return course if abs(course) < 0.25 * math.pi and math.hypot(body[VX], body[VY]) > 0.0 else 0.0


def skew_of(way: Way, body: FloatArray) -> float:
    """From where a way's first line leads to where the body moves."""
    _, on, _ = way[0][0].at(-way[0][1])
    return float((body[HEADING] + slip_of(body) - on + math.pi) % (2.0 * math.pi) - math.pi)


def stays_aside(way: Way, side: float, body: FloatArray, car: FloatArray, since: float) -> bool:
    """Whether it comes towards the car and has been over the edge of its lane for some time."""
    line, at = way[0][0], -way[0][1]
    edge = float(np.interp(at, line.s, line.left if side > 0.0 else line.right))
    towards = math.cos(body[HEADING] - car[HEADING]) < 0.0
    return towards and abs(side) >= HELD_M and abs(side) + 0.5 * body[WIDTH] > edge and NOW - since >= HELD_S


def gained(accel: float, t: float) -> float:
    """How much farther one has come that accelerates ever less, m."""
    return accel * GAIN_FADE_S * (t - GAIN_FADE_S * (1.0 - math.exp(-t / GAIN_FADE_S)))


def walk(
    way: Way, side: float, body: FloatArray, least_skew: float, limit: float, room: float, speed_ahead: float,
    stays: bool, accel: float = 0.0, accel_ahead: float = 0.0,
) -> tuple[FloatArray, float]:  # fmt: skip
    """Points and headings (T, 3) along the lines of a way, `side` (m, + left) of them at first; how far it comes."""
    speed, slip, out, far = body[SPEED], slip_of(body), np.empty((STEPS, 3)), 0.0
    skew, left = skew_of(way, body), 1.0 if side >= 0.0 else -1.0
    inward = max(CHANGE_MPS, -left * speed * math.sin(skew))
    outward = min(left * speed * math.sin(math.copysign(least_skew, skew)), CHANGE_MPS)
    offset, lag, share = side, -slip, 1.0
    for k in range(STEPS):
        line, begin = [each for each in way if each[1] <= far or each is way[0]][-1]
        point, on, direction = line.at(far - begin)
        point += 1j * direction * share * offset
        out[k] = point.real, point.imag, on + skew + lag
        faster = (gained(accel, STEP_S * (k + 1)) - gained(accel, STEP_S * k)) / STEP_S
        free = max(min(speed + faster, line.limit), speed)
        pace = min(free, line.fastest(far - begin, EXPECTED.lateral))
        ahead = room + speed_ahead * STEP_S * (k + 1) + gained(accel_ahead, STEP_S * (k + 1))
        step = max(min(far + pace * STEP_S, limit, ahead) - far, 0.0)
        far, lag = far + step, lag / (1.0 + step / ALIGN_M)
        if outward > 0.0:
            # Still on its way out: it comes to rest sideways before it turns back.
            offset += math.copysign(outward * step / free, offset)
            outward -= BACK_MPS2 * STEP_S
            continue
        least = share - inward * STEP_S / max(abs(offset), 1e-6)
        share, skew = share if stays else max(share / (1.0 + step / SETTLE_M), least), skew / (1.0 + step / ALIGN_M)
    out[0, :2] = body[X], body[Y]
    return out, far


def drift(body: FloatArray, moves: bool, yaw_rate: float) -> FloatArray:
    """Points and headings (T, 3) off the lanes: the velocity turns on, less and less."""
    faded = yaw_rate * np.exp(-STEP_S * np.arange(STEPS - 1) / FADE_S) * STEP_S
    turned = np.concatenate(([0.0], np.cumsum(faded)))
    steps = (body[VX] + 1j * body[VY]) * np.exp(1j * turned[1:]) * STEP_S * moves
    points = body[X] + 1j * body[Y] + np.concatenate(([0.0], np.cumsum(steps)))
    return np.column_stack((points.real, points.imag, body[HEADING] + turned))


def network(draw: np.random.Generator, many: int, chords: int) -> list[Line]:
    lines = [Line(draw, *draw.uniform(-9.0, 9.0, 2), draw.uniform(-3.0, 3.0), int(draw.integers(1, chords)))]
    for _ in range(many - 1):
        last = lines[-1]
        lines.append(
            Line(draw, last.x[-1], last.y[-1], last.heading[-1] + draw.normal(0.0, 0.02), int(draw.integers(1, chords)))
        )
    return lines


def arrays_of(lanes: LaneArrays, lines: list[Line]) -> LaneArrays:
    columns = {
        name: np.concatenate([getattr(line, name) for line in lines])
        for name in ("x", "y", "s", "heading", "left", "right")
    }
    start, widened = np.concatenate(([0], np.cumsum([len(line.s) for line in lines]))), [line.widened for line in lines]
    limit = np.array([line.limit for line in lines])
    return lanes._replace(start=start, widened=np.array(widened), limit=limit, **columns)


def bodies(draw: np.random.Generator, many: int) -> FloatArray:
    """Some stand, some slide, some roll back; the last one is the car."""
    body = np.zeros((many, BODY))
    body[:, [X, Y]], body[:, HEADING] = draw.uniform(-9.0, 9.0, (many, 2)), draw.uniform(-3.2, 3.2, many)
    body[:, SPEED] = draw.choice([0.0, 0.3, 0.45, 0.55, 2.0, 7.0, 15.0], many)
    course = body[:, HEADING] + draw.choice([0.0, 0.0, 0.1, -0.25, 0.7, -0.9, 1.7, 3.1], many)
    body[:, VX], body[:, VY] = body[:, SPEED] * np.cos(course), body[:, SPEED] * np.sin(course)
    body[:, LENGTH], body[:, WIDTH] = 4.5, 1.9
    return body


@pytest.mark.parametrize("seed", range(8))
def test_everyone_comes_where_a_walk_step_by_step_leads(course: RoadMap, seed: int) -> None:
    """A row for each way of one that moves on lanes, and one more where it gathers speed; else one row: of what stands,
    walks or drives elsewhere.
    """
    draw = np.random.default_rng(seed)
    kind = draw.choice([Kind.CAR, Kind.CAR, Kind.BICYCLE, Kind.UNKNOWN, Kind.PEDESTRIAN, Kind.ANIMAL], 24).astype(
        np.uint8
    )
    lines, body = network(draw, 20, 9 if seed % 2 else 3), bodies(draw, 25)
    lanes = arrays_of(lane_index(course).arrays, lines)
    past = np.zeros((24, PAST))
    past[:, ASIDE_SINCE] = NOW - draw.choice([0.0, 0.9, 1.1, 60.0], 24)
    past[:, YAW_RATE] = draw.choice([0.0, 0.3, -0.5, 0.9], 24)
    past[:, GAINS] = draw.choice([0.0, 0.0, 0.2, 1.5, 3.0], 24)
    rows, chain, begin = [], np.full((60, DEPTH), -1), np.zeros((60, DEPTH))
    ways: list[Way] = []
    for i in range(24):
        for _ in range(draw.integers(0, 3) if kind[i] != Kind.PEDESTRIAN else 0):
            first, deep = int(draw.integers(0, 5)), int(draw.choice([1, 2, 5, 12, DEPTH]))
            at = -float(draw.uniform(-0.4, lines[first].length))
            # Most are about as the lane that they are on points.
            if draw.random() < 0.7:
                turned = float(draw.normal(0.0, 0.3)) - body[i, HEADING] + lines[first].at(-at)[1]
                velocity = (body[i, VX] + 1j * body[i, VY]) * cmath.exp(1j * turned)
                body[i, HEADING] += turned
                body[i, VX], body[i, VY] = velocity.real, velocity.imag
            way = []
            for number in range(first, min(first + deep, len(lines))):
                chain[len(rows), len(way)], begin[len(rows), len(way)] = number, at
                way.append((lines[number], at))
                at += lines[number].length
            ways.append(way)
            rows.append(i)
    m = len(rows)
    side = draw.choice([0.0, 0.4, -0.7, 1.6, -2.9], m) + draw.uniform(-0.05, 0.05, m)
    ahead = LookAhead(draw.choice([-1, 0, 3, 8, 24], m), np.zeros((m, 4)))
    ahead.distance[:, GAP] = draw.choice([0.9, 4.0, 25.0], m)
    ahead.distance[:, STOP_AT] = draw.choice([np.inf, np.inf, 0.0, 7.7, 40.0], m)
    found = LaneChains(np.array(rows), chain[:m], begin[:m], side)
    told_rows, *told = predict(lanes, kind, body, past, NOW, found, ahead, EXPECTED)
    expected: list[tuple[int, FloatArray]] = []
    for i in range(24):
        one, walks = body[i], kind[i] in (Kind.PEDESTRIAN, Kind.ANIMAL)
        moves = one[SPEED] > (0.0 if walks else 0.5)
        mine = [b for b in range(m) if rows[b] == i] if moves else []
        least_skew = min((abs(skew_of(ways[b], one)) for b in mine), default=math.inf)
        for b in mine:
            j = ahead.leader[b]
            room = max(ahead.distance[b, GAP] - EXPECTED.follow_gap, 0.0) if j >= 0 else math.inf
            speed_ahead = body[j, SPEED] if 0 <= j < 24 else 0.0
            stays, limit = (
                stays_aside(ways[b], side[b], one, body[-1], past[i, ASIDE_SINCE]),
                ahead.distance[b, STOP_AT],
            )
            poses, far = walk(ways[b], side[b], one, least_skew, limit, room, speed_ahead, stays)
            expected.append((i, poses))
            accel = past[i, GAINS], past[j, GAINS] if 0 <= j < 24 else 0.0
            faster, farther = walk(ways[b], side[b], one, least_skew, limit, room, speed_ahead, stays, *accel)
            if past[i, GAINS] > 0.0 and farther > far + max(FARTHER_M, FARTHER * far):
                expected.append((i, faster))
        if not mine:
            turns = moves and not walks
            expected.append((i, drift(one, moves, past[i, YAW_RATE] if turns else 0.0)))
    assert told_rows.tolist() == [i for i, _ in expected]
    assert np.any(told_rows[1:] == told_rows[:-1])
    for r, (_, poses) in enumerate(expected):
        np.testing.assert_allclose(told[0][r], poses[:, 0], atol=1e-8)
        np.testing.assert_allclose(told[1][r], poses[:, 1], atol=1e-8)
        np.testing.assert_allclose(told[2][r], poses[:, 2], atol=1e-8)

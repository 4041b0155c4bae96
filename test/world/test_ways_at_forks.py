"""Chains of lanes that fork and fork again, on networks that are drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from tuling_fsm.world.lane_kernels import LaneChains, _choices, _Driver, _extend, _Forks, _too_fast
from world.bodies import DECEL, LATERAL

BACK_RAD, LEAST_WAY_M = 2.4, 0.5
MOST_WAYS, MOST_LANES = 3, 16


class Network(NamedTuple):
    """Lanes: how long they are, how they turn (rad, + left), bend (1/m) and where (m), and where they lead."""

    length: list[float]
    turn: list[float]
    bend: list[float]
    bend_at: list[float]
    onward: list[list[int]]

    @property
    def forks(self) -> _Forks:
        """As the kernels have it."""
        start = np.concatenate(([0], np.cumsum([len(ways) for ways in self.onward])))
        successor = np.array([n for ways in self.onward for n in ways], dtype=np.int64)
        columns = (np.array(column) for column in (self.length, self.turn, self.bend, self.bend_at))
        return _Forks(*columns, start, successor)


def network(draw: np.random.Generator, many: int, longest: float) -> Network:
    """Lanes of which each leads to none up to five others, or to itself."""
    return Network(
        draw.uniform(0.3 * longest, longest, many).tolist(),
        draw.choice([-1.0, 1.0], many).tolist() * draw.choice([0.1, 0.9, 1.6, 2.3, 2.5, 3.1], many)
        + draw.uniform(-0.09, 0.09, many),
        draw.choice([0.0, 0.02, 0.1, 0.3], many) * draw.uniform(0.9, 1.1, many),
        draw.uniform(0.0, 0.3 * longest, many).tolist(),
        [draw.choice(many, draw.integers(0, 6), replace=False).tolist() for _ in range(many)],
    )


def is_too_bent(net: Network, lane: int, distance: float, speed: float) -> bool:
    """Whether it comes to the bend faster than it can be taken, however early it brakes."""
    at_bend = speed**2 - 2.0 * DECEL * max(distance + net.bend_at[lane], LEAST_WAY_M)
    return net.bend[lane] > 1e-6 and at_bend > LATERAL / net.bend[lane]


def ways_on(net: Network, lane: int, distance: float, speed: float) -> list[int]:
    """The straightest, the leftmost, the rightmost, then the straightest of the rest, ways back after all others."""
    onward = net.onward[lane]
    ways = [n for n in onward if not is_too_bent(net, n, distance, speed)] or list(onward)
    ahead = [n for n in ways if abs(net.turn[n]) <= BACK_RAD]
    back = [n for n in ways if n not in ahead]
    straightest = sorted(ahead, key=lambda n: abs(net.turn[n])) + sorted(back, key=lambda n: abs(net.turn[n]))
    chosen = straightest[:1]
    for sign in (1.0, -1.0):
        outer = sorted((n for n in ahead if n not in chosen), key=lambda n: sign * net.turn[n])
        chosen += outer[-1:]
    return (chosen + [n for n in straightest if n not in chosen])[:MOST_WAYS]


@pytest.mark.parametrize("seed", range(3))
def test_at_any_fork_the_ways_are_those_in_the_order_of_the_rule(seed: int) -> None:
    draw, several = np.random.default_rng(seed), 0
    out = np.zeros(MOST_WAYS, np.int64)
    for _ in range(150):
        net, speed, distance = network(draw, 8, 30.0), draw.uniform(0.0, 14.0), draw.uniform(-1.0, 30.0)
        for lane in range(8):
            count = _choices(net.forks, lane, distance, _Driver(speed, LATERAL, DECEL), out)
            expected = ways_on(net, lane, distance, speed)
            assert out[:count].tolist() == expected
            several += len(net.onward[lane]) > len(expected) > 0
    assert several > 100


def grown(net: Network, first: list[tuple[int, float]], horizon: float, speed: float) -> list[list[tuple[int, float]]]:
    """Chains of lanes and where they begin: the one followed first, then what forks off, as long as there is room."""
    chains = [list(first)]
    for chain in chains:
        while len(chain) < MOST_LANES:
            lane, begin = chain[-1]
            end = begin + net.length[lane]
            ways = ways_on(net, lane, end, speed) if end <= horizon else []
            if not ways:
                break
            chains += [[*chain, (way, end)] for way in ways[1:]][: MOST_WAYS - len(chains)]
            chain.append((ways[0], end))
    return chains


@pytest.mark.parametrize(("seed", "longest"), [(0, 40.0), (1, 40.0), (2, 8.0), (3, 4.0)])
def test_chains_reach_to_the_horizon_and_fork_while_there_is_room(seed: int, longest: float) -> None:
    """An object's chains come after those of others, which stay as they are."""
    draw, forked, full = np.random.default_rng(seed), 0, 0
    for _ in range(120):
        net = network(draw, 12, longest)
        speed, horizon, base = draw.uniform(0.0, 12.0), draw.uniform(5.0, 80.0), int(draw.integers(0, 3))
        first = [(int(draw.integers(12)), -float(draw.uniform(0.0, 3.0)))]
        if draw.random() < 0.3:
            first.append((int(draw.integers(12)), first[0][1] + net.length[first[0][0]]))
        room = base + MOST_WAYS + 2
        made = LaneChains(
            np.full(room, -7), np.full((room, MOST_LANES), -1), np.zeros((room, MOST_LANES)), np.full(room, -0.5)
        )  # fmt: skip
        made.row[base], made.side[base] = 5, 0.7
        made.chain[base, : len(first)], made.begin[base, : len(first)] = zip(*first, strict=True)
        count, b, options = base + 1, base, np.zeros(MOST_WAYS, np.int64)
        while b < count:
            count = _extend(net.forks, made, b, base, count, horizon, _Driver(speed, LATERAL, DECEL), options)
            b += 1
        expected = grown(net, first, horizon, speed)
        assert count - base == len(expected)
        for k, chain in enumerate(expected, start=base):
            n = len(chain)
            assert made.chain[k].tolist() == [lane for lane, _ in chain] + [-1] * (MOST_LANES - n)
            np.testing.assert_allclose(made.begin[k, :n], [begin for _, begin in chain], atol=1e-9)
            assert made.row[k] == 5 and made.side[k] == 0.7
            full += n == MOST_LANES
        assert np.all(made.row[:base] == -7) and np.all(made.row[count:] == -7)
        assert np.all(made.chain[:base] == -1) and np.all(made.chain[count:] == -1)
        forked += len(expected) == MOST_WAYS
    assert forked > 20 and (full > 5 or longest > 10.0)


def test_a_fork_at_the_last_lane_of_a_chain_gives_chains_that_are_as_long() -> None:
    onward = [[k + 1] for k in range(14)] + [[15, 16, 17], [0], [0], [0]]
    net = Network([2.0] * 18, [0.0] * 15 + [0.1, 1.0, -1.0], [0.0] * 18, [0.0] * 18, onward)
    made = LaneChains(np.zeros(4, np.int64), np.full((4, MOST_LANES), -1), np.zeros((4, MOST_LANES)), np.zeros(4))
    made.chain[0, 0], count, b = 0, 1, 0
    while b < count:
        count = _extend(
            net.forks, made, b, 0, count, 900.0, _Driver(2.0, LATERAL, DECEL), np.zeros(MOST_WAYS, np.int64)
        )
        b += 1
    assert made.chain[:count].tolist() == [[*range(15), last] for last in (15, 16, 17)]
    assert made.begin[:count].tolist() == [[2.0 * k for k in range(16)]] * 3


@pytest.mark.parametrize(
    ("speed", "bend", "distance", "too_fast"),
    [
        (6.0, 0.1, 1.1, False), (6.0, 0.1, 0.9, True), (3.0, 0.2, 0.0, False), (5.0, 0.2, 0.0, True),
        (4.2, 0.2, 0.0, False), (4.3, 0.2, 0.0, True), (4.3, 0.2, 0.6, False), (60.0, 0.0, 0.0, False),
    ],
)  # fmt: skip
def test_a_bend_is_too_sharp_for_one_that_can_not_slow_down_for_it(
    speed: float, bend: float, distance: float, too_fast: bool
) -> None:
    """A bend of 10 m is taken at 5.5 m/s, one of 5 m at 3.9 m/s; of the way to it half a metre is always left."""
    assert _too_fast(bend, distance, _Driver(speed, LATERAL, DECEL)) is too_fast

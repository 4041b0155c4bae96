"""One step of a whole crowd: all choose, then all move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.orca.crowd import Crowd, IntArray
from tuling_fsm.sim.orca.half_planes import agent_lines
from tuling_fsm.sim.orca.neighbours import Tree, build_tree, near_agents, new_tree
from tuling_fsm.sim.orca.program import Lines, in_all, least_bad, new_lines
from tuling_fsm.sim.orca.wall_planes import wall_lines
from tuling_fsm.sim.orca.walls import Walls, build_walls, near_edges


class Desk(NamedTuple):
    """Room to work in: half-planes, those of the third program, neighbours and edges with their squared distances,
    stamps of the edges that were seen, and the chosen velocities (N,).
    """

    lines: Lines
    turned: Lines
    near: IntArray
    apart: FloatArray
    edges: IntArray
    edge_apart: FloatArray
    seen: IntArray
    new_vx: FloatArray
    new_vy: FloatArray


@kernel
def nudge(seed: int, frame: int, i: int, size: float) -> tuple[float, float]:
    """A vector of at most `size` m/s that depends on its arguments alone (SplitMix64, Steele et al. 2014)."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(frame) * np.uint64(0x100000001) + np.uint64(i + 1))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    angle = 2.0 * math.pi * float(z >> np.uint64(32)) / 4294967296.0
    length = size * float(z & np.uint64(0xFFFFFFFF)) / 4294967296.0
    return length * elementary.cos(angle), length * elementary.sin(angle)


@kernel
def choose(
    crowd: Crowd, walls: Walls, tree: Tree, desk: Desk, dt: float, weight: float, size: float, seed: int, frame: int
) -> None:
    """New velocities of all agents into the desk, for a step of `dt` s.

    `weight` and `seed` are those of `Avoidance`, `size` is its `perturbation`.
    """
    build_tree(tree, crowd)
    desk.seen[:] = -1
    for k in range(len(tree.order)):
        i = tree.order[k]
        count = 0
        if len(walls.x) > 0:
            reach = crowd.horizon_obst[i] * crowd.max_speed[i] + crowd.radius[i]
            number = near_edges(walls, crowd.x[i], crowd.y[i], reach, desk.seen, k, desk.edges, desk.edge_apart)
            count = wall_lines(crowd, i, walls, desk.edges, number, desk.lines)
        fixed = count
        number = near_agents(tree, k, crowd.neighbour_dist[i], crowd.max_neighbours[i], desk.near, desk.apart)
        count = agent_lines(crowd, i, tree, desk.near, number, dt, desk.lines, count)
        wish_x, wish_y, fastest = crowd.wish_x[i], crowd.wish_y[i], crowd.max_speed[i]
        if size > 0.0:
            more_x, more_y = nudge(seed, frame, i, size)
            wish_x, wish_y = wish_x + more_x, wish_y + more_y
        satisfied, x, y = in_all(desk.lines, count, fastest, wish_x, wish_y, False)
        if satisfied < count:
            x, y = least_bad(desk.lines, count, fixed, satisfied, fastest, weight, x, y, desk.turned)
        desk.new_vx[i], desk.new_vy[i] = x, y


@kernel
def step_crowd(
    crowd: Crowd, walls: Walls, tree: Tree, desk: Desk, dt: float, weight: float, size: float, seed: int, frame: int
) -> None:
    """All choose, then all move by `dt` s; the numbers are those of `choose`."""
    choose(crowd, walls, tree, desk, dt, weight, size, seed, frame)
    for i in range(len(crowd.x)):
        crowd.vx[i], crowd.vy[i] = desk.new_vx[i], desk.new_vy[i]
        crowd.x[i] += crowd.vx[i] * dt
        crowd.y[i] += crowd.vy[i] * dt


class Avoidance:
    """A crowd among walls that is moved step by step.

    `weight` is how far the third program turns a half-plane towards the one that is worst violated (1: half-way, as
    the RVO2 library does). `perturbation` (m/s) is added to the preferred velocities in directions drawn from `seed`:
    agents that meet exactly head-on would else stand for ever.
    """

    def __init__(
        self,
        crowd: Crowd,
        polygons: Sequence[npt.ArrayLike] = (),
        weight: float = 1.0,
        perturbation: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not weight > 0.0:
            raise InputError("orca.weight", f"{weight} is not positive", "more than 0; 1 is half-way")
        if not perturbation >= 0.0:
            raise InputError("orca.perturbation", f"{perturbation} is negative", "0 m/s or more")
        if not 0 <= seed < 2**63:
            raise InputError("orca.seed", f"{seed} is out of range", "0 to 2^63 - 1")
        self.crowd = crowd
        self.weight, self.perturbation = weight, perturbation
        self.frame = 0
        self._seed = seed
        self._tree = new_tree(len(crowd.x))
        self.wall_in(polygons)

    def wall_in(self, polygons: Sequence[npt.ArrayLike]) -> None:
        """Replace all obstacles."""
        self.walls = build_walls(polygons)
        n, edges = len(self.crowd.x), len(self.walls.x)
        most = int(self.crowd.max_neighbours.max(initial=0))
        self._desk = Desk(
            new_lines(most + edges), new_lines(most + edges), np.zeros(most + 1, np.int32), np.zeros(most + 1),
            np.zeros(edges, np.int32), np.zeros(edges), np.zeros(edges, np.int32), np.zeros(n), np.zeros(n),
        )  # fmt: skip

    def step(self, dt: float) -> None:
        """Everybody chooses a velocity for the preferred one and moves by `dt` s."""
        step_crowd(
            self.crowd, self.walls, self._tree, self._desk, dt, self.weight, self.perturbation, self._seed, self.frame
        )
        self.frame += 1

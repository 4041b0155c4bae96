"""One step of a whole crowd: all choose, then all move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.kernels import compiled_for, inlined_kernel, kernel
from tuling_fsm.sim.orca.crowd import Crowd
from tuling_fsm.sim.orca.half_planes import agent_lines, wall_lines
from tuling_fsm.sim.orca.linear_program import HalfPlanes, in_all, least_bad, new_lines
from tuling_fsm.sim.orca.neighbours import AgentGrid, near_agents, new_grid, sort_agents
from tuling_fsm.sim.orca.walls import EdgeSearch, ObstacleEdges, build_walls, near_edges


class StepBuffers(NamedTuple):
    """Room to work in: half-planes, those of the third program, neighbours with their squared distances, edges, and the
    chosen velocities (N,).
    """

    lines: HalfPlanes
    turned: HalfPlanes
    near: Int32Array
    apart: FloatArray
    edges: EdgeSearch
    new_vx: FloatArray
    new_vy: FloatArray


class StepSettings(NamedTuple):
    """Of one step: its length (s) and number; weight, perturbation (m/s) and seed as for `Avoidance`."""

    dt: float
    frame: int
    weight: float
    perturbation: float
    seed: int


@kernel
def nudge(seed: int, frame: int, i: int, size: float) -> tuple[float, float]:
    """A vector of at most `size` m/s that depends on its arguments alone (SplitMix64, [steele2014][])."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(frame) * np.uint64(0x100000001) + np.uint64(i + 1))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    angle = 2.0 * math.pi * float(z >> np.uint64(32)) / 4294967296.0
    length = size * float(z & np.uint64(0xFFFFFFFF)) / 4294967296.0
    sine, cosine = elementary.sin_cos(angle)
    return length * cosine, length * sine


@inlined_kernel
def choose_velocities(
    crowd: Crowd, walls: ObstacleEdges, grid: AgentGrid, buffers: StepBuffers, settings: StepSettings
) -> None:
    """New velocities of all agents into the buffers."""
    sort_agents(grid, crowd)
    buffers.edges.seen[:] = -1
    for k in range(len(grid.order)):
        i = grid.order[k]
        count = 0
        if len(walls.x) > 0:
            reach = crowd.horizon_obst[i] * crowd.max_speed[i] + crowd.radius[i]
            number = near_edges(walls, crowd.x[i], crowd.y[i], reach, k, buffers.edges)
            count = wall_lines(crowd, i, walls, buffers.edges.found, number, buffers.lines)
        fixed = count
        number = near_agents(grid, k, crowd.neighbour_dist[i], crowd.max_neighbours[i], buffers.near, buffers.apart)
        count = agent_lines(
            crowd, i=i, grid=grid, near=buffers.near, number=number, dt=settings.dt, lines=buffers.lines, count=count
        )
        vx, vy, fastest = crowd.preferred_vx[i], crowd.preferred_vy[i], crowd.max_speed[i]
        if settings.perturbation > 0.0:
            more_x, more_y = nudge(settings.seed, settings.frame, i, settings.perturbation)
            vx, vy = vx + more_x, vy + more_y
        satisfied, x, y = in_all(buffers.lines, count, fastest, vx, vy, False)
        if satisfied < count:
            x, y = least_bad(
                buffers.lines,
                count=count,
                fixed=fixed,
                first=satisfied,
                radius=fastest,
                weight=settings.weight,
                x=x,
                y=y,
                room=buffers.turned,
            )
        buffers.new_vx[i], buffers.new_vy[i] = x, y


@kernel
def step_crowd(
    crowd: Crowd, walls: ObstacleEdges, grid: AgentGrid, buffers: StepBuffers, settings: StepSettings
) -> None:
    """All choose, then all move."""
    choose_velocities(crowd, walls, grid, buffers, settings)
    for i in range(len(crowd.x)):
        crowd.vx[i], crowd.vy[i] = buffers.new_vx[i], buffers.new_vy[i]
        crowd.x[i] += crowd.vx[i] * settings.dt
        crowd.y[i] += crowd.vy[i] * settings.dt


def _room_for(crowd: Crowd, walls: ObstacleEdges) -> StepBuffers:
    """Room for the steps of a crowd among walls; nothing in it outlasts a step."""
    n, edges = len(crowd.x), len(walls.x)
    most = int(crowd.max_neighbours.max(initial=0))
    return StepBuffers(
        lines=new_lines(most + edges),
        turned=new_lines(most + edges),
        near=np.zeros(most + 1, np.int32),
        apart=np.zeros(most + 1),
        edges=EdgeSearch(np.zeros(edges, np.int32), np.zeros(edges), np.zeros(edges, np.int32)),
        new_vx=np.zeros(n),
        new_vy=np.zeros(n),
    )


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
        self._grid = new_grid(len(crowd.x))
        self.walls = build_walls(polygons)
        self._buffers = _room_for(crowd, self.walls)
        # Once: other walls have the same types.
        self._step = compiled_for(step_crowd, self.crowd, self.walls, self._grid, self._buffers, self._settings(0.0))

    def wall_in(self, polygons: Sequence[npt.ArrayLike]) -> None:
        """Replace all obstacles."""
        before, self.walls = len(self.walls.x), build_walls(polygons)
        if len(self.walls.x) != before:
            self._buffers = _room_for(self.crowd, self.walls)

    def _settings(self, dt: float) -> StepSettings:
        return StepSettings(float(dt), self.frame, float(self.weight), float(self.perturbation), self._seed)

    def step(self, dt: float) -> None:
        """Every agent chooses a velocity next to its preferred one, then all move by `dt` s."""
        self._step(self.crowd, self.walls, self._grid, self._buffers, self._settings(dt))
        self.frame += 1

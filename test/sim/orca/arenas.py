"""Crowds that want to go somewhere, and the same ones in the RVO2 library, which reckons in single precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.sim.orca.crowd import Crowd, new_crowd
from tuling_fsm.sim.orca.step import Avoidance

DT = 0.25
Polygons = Sequence[FloatArray]


def circle(count: int, radius: float) -> tuple[FloatArray, FloatArray]:
    """Places on a circle, and the opposite ones as goals."""
    angle = np.arange(count) * 2.0 * math.pi / count
    places = radius * np.column_stack((np.cos(angle), np.sin(angle)))
    return places, -places


def blocks(side: int) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Four squads of `side` x `side` in the corners that want to the opposite ones, between four square blocks."""
    places, goals = [], []
    for i in range(side):
        for j in range(side):
            for sx, sy in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
                places.append((sx * (55.0 + i * 10.0), sy * (55.0 + j * 10.0)))
                goals.append((-sx * 75.0, -sy * 75.0))
    corners = np.array([(10.0, 10.0), (40.0, 10.0), (40.0, 40.0), (10.0, 40.0)])
    moved = [corners - (50.0 * (k % 2), 50.0 * (k // 2)) for k in range(4)]
    return np.array(places), np.array(goals), moved


def head_for(crowd: Crowd, goals: FloatArray, noise: FloatArray | float = 0.0) -> None:
    """Let every agent prefer 1 m/s towards its goal, in numbers that single precision holds."""
    way = goals - np.column_stack((crowd.x, crowd.y))
    wish = way / np.maximum(np.hypot(*way.T), 1.0)[:, None] + noise
    crowd.preferred_vx[:], crowd.preferred_vy[:] = wish.astype(np.float32).T


class Library:
    """The same agents and obstacles in the library."""

    def __init__(self, crowd: Crowd, polygons: Polygons = (), dt: float = DT) -> None:
        pyrvo = pytest.importorskip("pyrvo")
        self._crowd = crowd
        self._simulator: Any = pyrvo.RVOSimulator(dt, 1.0, 1, 1.0, 1.0, 1.0, 1.0)
        for i in range(len(crowd.x)):
            self._simulator.add_agent((float(crowd.x[i]), float(crowd.y[i])))
            self._simulator.set_agent_radius(i, float(crowd.radius[i]))
            self._simulator.set_agent_max_speed(i, float(crowd.max_speed[i]))
            self._simulator.set_agent_neighbor_dist(i, float(crowd.neighbour_dist[i]))
            self._simulator.set_agent_max_neighbors(i, int(crowd.max_neighbours[i]))
            self._simulator.set_agent_time_horizon(i, float(crowd.horizon[i]))
            self._simulator.set_agent_time_horizon_obst(i, float(crowd.horizon_obst[i]))
        for polygon in polygons:
            self._simulator.add_obstacle([tuple(point) for point in polygon.tolist()])
        self._simulator.process_obstacles()

    def copy_state(self) -> None:
        """Take over where the crowd is and how it moves, both rounded to single precision."""
        crowd = self._crowd
        for array in (crowd.x, crowd.y, crowd.vx, crowd.vy):
            array[:] = array.astype(np.float32)
        for i in range(len(crowd.x)):
            self._simulator.set_agent_position(i, (float(crowd.x[i]), float(crowd.y[i])))
            self._simulator.set_agent_velocity(i, (float(crowd.vx[i]), float(crowd.vy[i])))

    def step(self) -> tuple[FloatArray, FloatArray]:
        """One step with the preferred velocities of the crowd: positions and velocities (N, 2)."""
        crowd, simulator = self._crowd, self._simulator
        for i in range(len(crowd.x)):
            simulator.set_agent_pref_velocity(i, (float(crowd.preferred_vx[i]), float(crowd.preferred_vy[i])))
        simulator.do_step()
        n = range(len(crowd.x))
        places = [simulator.get_agent_position(i).to_tuple() for i in n]
        return np.array(places), np.array([simulator.get_agent_velocity(i).to_tuple() for i in n])


def velocities(crowd: Crowd) -> FloatArray:
    """(N, 2)."""
    return np.column_stack((crowd.vx, crowd.vy))


def places_of(crowd: Crowd) -> FloatArray:
    """(N, 2)."""
    return np.column_stack((crowd.x, crowd.y))


def ring(
    count: int = 60, perturbation: float = 0.0, seed: int = 0, weight: float = 1.0
) -> tuple[Avoidance, FloatArray]:
    """A circle of discs of 1.5 m that want across."""
    places, goals = circle(count, 40.0)
    crowd = new_crowd(places, radius=1.5, horizon=10.0, horizon_obst=10.0)
    return Avoidance(crowd, (), weight, perturbation, seed), goals

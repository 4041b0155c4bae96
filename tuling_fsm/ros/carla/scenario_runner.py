"""Runs a scenario in CARLA: the run itself, its actors there, its weather, its result. No ROS here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.ros.carla.actor_spawner import ActorClient, ActorSpawner, height_at
from tuling_fsm.ros.carla.scenario import CarlaScenario
from tuling_fsm.run import write_results
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.reporting.result import result_of
from tuling_fsm.sim.reporting.run_log import RunLog
from tuling_fsm.sim.scenario.choices import ServerBehaviour
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.wire.carla.actors import pack_pose, pack_weather
from tuling_fsm.world.inputs import Inputs, Odometry, StampedRows


class WorldClient(ActorClient, Protocol):
    """CARLA's services and topics for actors and weather."""

    def weather(self, message: bytes) -> None:
        """Set the weather."""


class ScenarioRunner:
    """One run.

    Args:
        road_map: of the CARLA world.
        scenario: to be run.
        seed: of everything random.
        vehicle: the planner's.
        role: role name of the ego.
        client: of CARLA's services and topics.
        report: told of what CARLA refuses.

    Raises:
        InputError: the scenario does not fit the map.
    """

    def __init__(
        self,
        road_map: RoadMap,
        scenario: Scenario,
        seed: int,
        vehicle: Vehicle,
        role: str,
        client: WorldClient,
        report: Callable[[str], None],
    ) -> None:
        self._map, self._vehicle, self._role, self._client = road_map, vehicle, role, client
        self._scenario = CarlaScenario(road_map, scenario, seed, vehicle)
        self._spawner = ActorSpawner(road_map, client, report)
        self._weather = (0.0, math.inf)
        self._began: float | None = None
        self._first_stamp = 0.0

    @property
    def start(self) -> tuple[Pose, Pose, float]:
        """Where the ego's rear axle and its origin have to be, and the height of the road there."""
        rear = self._scenario.start
        return rear, self._origin(rear), height_at(self._map, rear) or 0.0

    @property
    def ego(self) -> EgoCar:
        """The car as CARLA tells it."""
        return self._scenario.ego

    @property
    def preset(self) -> Route | None:
        """The route that the scenario asks for."""
        return self._scenario.simulation.preset

    @property
    def server_behaviour(self) -> ServerBehaviour:
        """How the scenario wants the route server to answer."""
        return self._scenario.simulation.server.settings.behaviour

    @property
    def braking(self) -> bool:
        """Whether the scenario has taken the car from the planner."""
        return self._scenario.braking

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return self._scenario.simulation.finished

    @property
    def stamp(self) -> float:
        """Time since the beginning, s."""
        return self._scenario.simulation.stamp

    def spawn_all(self) -> bool:
        """Spawn all actors that are there from the beginning; whether they have come."""
        self._spawner.synchronize(self._scenario.simulation.agents())
        return self._spawner.complete

    def step(
        self,
        odometry: Odometry,
        lights: npt.NDArray[np.void],
        objects: StampedRows,
        plan: Trajectory | None,
        state: str,
    ) -> Inputs:
        """One tick: what the planner is told of it. All other agents are put where they are now."""
        if self._began is None:
            self._began, self._first_stamp = time.monotonic(), odometry.stamp
            self._scenario.begin(odometry, lights)
        else:
            self._scenario.advance(odometry, lights, plan, state)
        self._spawner.synchronize(self._scenario.simulation.agents())
        self._set_weather()
        wanted, self._scenario.ego.wanted = self._scenario.ego.wanted, None
        if wanted is not None:
            self._client.place(self._role, pack_pose(self._origin(wanted), height_at(self._map, wanted) or 0.0))
        return self._scenario.inputs(objects, self._spawner.numbers)

    def in_map(self, plan: Trajectory) -> Trajectory:
        """A plan as it is to be driven."""
        return self._scenario.in_map(plan)

    def destroy_all(self) -> None:
        """Take all actors away."""
        self._spawner.destroy_all()

    def result(self, log: RunLog, out: str) -> dict[str, Any]:
        """The content of `result.json`, written with the report where a folder is given."""
        for rows in (log.transitions, log.supervisors):
            rows[:] = [row._replace(t=row.t - self._first_stamp) for row in rows]
        result = result_of(self._scenario.simulation, log, time.monotonic() - (self._began or time.monotonic()))
        if out:
            write_results(Path(out), self._map, log, result)
        return result

    def _origin(self, rear: Pose) -> Pose:
        """CARLA's origin of a car is the middle of its body."""
        return shifted(rear, 0.5 * (self._vehicle.front - self._vehicle.rear_overhang))

    def _set_weather(self) -> None:
        environment = self._scenario.simulation.environment
        weather = (environment.rain, environment.visual_range)
        if weather != self._weather:
            self._weather = weather
            self._client.weather(pack_weather(*weather))

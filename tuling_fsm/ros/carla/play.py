"""A scenario on CARLA's stage: the run itself, its actors in CARLA, its weather, its result. No ROS here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.ros.carla.stage import Stage
from tuling_fsm.ros.carla.troupe import Stagehand, Troupe, height_at
from tuling_fsm.run import write_results
from tuling_fsm.sim.result import result_of
from tuling_fsm.sim.run_log import RunLog
from tuling_fsm.sim.scenario.choices import ServerMood
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.wire.carla.actors import pack_pose, pack_weather
from tuling_fsm.wire.carla.vehicle import ahead_of
from tuling_fsm.world.inputs import Inputs, Odometry, Table


class WeatherHand(Stagehand, Protocol):
    """CARLA's services and topics for actors and weather."""

    def weather(self, message: bytes) -> None:
        """Set the weather."""


class Play:
    """One run.

    Args:
        road_map: of the CARLA world.
        scenario: what to play.
        seed: of everything random.
        vehicle: the planner's.
        role: role name of the ego.
        hand: acts in CARLA.
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
        hand: WeatherHand,
        report: Callable[[str], None],
    ) -> None:
        self._map, self._vehicle, self._role, self._hand = road_map, vehicle, role, hand
        self._stage = Stage(road_map, scenario, seed, vehicle)
        self._troupe = Troupe(road_map, hand, report)
        self._weather = (0.0, math.inf)
        self._began: float | None = None
        self._first_stamp = 0.0

    @property
    def start(self) -> tuple[Pose, Pose, float]:
        """Where the ego's rear axle and its origin have to be, and the height of the road there."""
        rear = self._stage.start
        return rear, self._origin(rear), height_at(self._map, rear) or 0.0

    @property
    def preset(self) -> Route | None:
        """The route that the scenario asks for."""
        return self._stage.simulation.preset

    @property
    def mood(self) -> ServerMood:
        """How the scenario wants the route server to answer."""
        return self._stage.simulation.server.wish.mood

    @property
    def braking(self) -> bool:
        """Whether the scenario has taken the car from the planner."""
        return self._stage.braking

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return self._stage.simulation.finished

    @property
    def stamp(self) -> float:
        """Time since the beginning, s."""
        return self._stage.simulation.stamp

    def gather(self) -> bool:
        """Spawn everybody who is there from the beginning; whether they have come."""
        self._troupe.follow(self._stage.simulation.actors())
        return self._troupe.complete

    def step(
        self,
        odometry: Odometry,
        lights: npt.NDArray[np.void],
        objects: Table,
        plan: Trajectory | None,
        state: str,
    ) -> Inputs:
        """One tick: what the planner is told of it. Everybody else is put where they are now."""
        if self._began is None:
            self._began, self._first_stamp = time.monotonic(), odometry.stamp
            self._stage.begin(odometry, lights)
        else:
            self._stage.advance(odometry, lights, plan, state)
        self._troupe.follow(self._stage.simulation.actors())
        self._set_weather()
        wanted, self._stage.ego.wanted = self._stage.ego.wanted, None
        if wanted is not None:
            self._hand.place(self._role, pack_pose(self._origin(wanted), height_at(self._map, wanted) or 0.0))
        return self._stage.inputs(objects, self._troupe.numbers)

    def in_map(self, plan: Trajectory) -> Trajectory:
        """A plan as it is to be driven."""
        return self._stage.in_map(plan)

    def dismiss(self) -> None:
        """Take all actors away."""
        self._troupe.dismiss()

    def result(self, log: RunLog, out: str) -> dict[str, Any]:
        """The content of `result.json`, written with the report where a folder is given."""
        for rows in (log.transitions, log.supervisors):
            rows[:] = [row._replace(t=row.t - self._first_stamp) for row in rows]
        result = result_of(self._stage.simulation, log, time.monotonic() - (self._began or time.monotonic()))
        if out:
            write_results(Path(out), self._map, log, result)
        return result

    def _origin(self, rear: Pose) -> Pose:
        """CARLA's origin of a car is the middle of its body."""
        return ahead_of(rear, 0.5 * (self._vehicle.front - self._vehicle.rear_overhang))

    def _set_weather(self) -> None:
        environment = self._stage.simulation.environment
        weather = (environment.rain, environment.visual_range)
        if weather != self._weather:
            self._weather = weather
            self._hand.weather(pack_weather(*weather))

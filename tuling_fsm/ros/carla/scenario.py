"""A scenario of the simulator run in CARLA: the ego and the lights are CARLA's, all other agents are moved by the
simulator and put in CARLA where it has them.

The storyboard, the traffic and the referee are the very ones of an embedded run, so the same file runs in both.
Nothing here imports rclpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import Int32Array
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.topics import BOOL, INPUTS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.parameters import LightParameters
from tuling_fsm.sim.scenario.commands import ChangeSpeed
from tuling_fsm.sim.scenario.model import EGO, Action, Scenario, nodes
from tuling_fsm.sim.sensors.localization import NOWHERE, PoseOffset, shift_from
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Inputs, Kind, Light, Odometry, StampedRows

PROPS = (Kind.CONE, Kind.BARRIER, Kind.DEBRIS)
"""CARLA's table of objects has vehicles and walkers only: these are added to it."""
FIRST_PROP_ID = 2_000_000_000
"""CARLA's own numbers stay below."""
TELEPORT_M = 0.5
CRAWL = 0.1
"""Below this speed (m/s) the steering angle cannot be told from the yaw rate."""
_STAMPED = tuple(topic.field for topic in INPUTS if topic.stamped or topic.type == BOOL)
"""Fields of `Inputs` whose values bear a stamp."""


class ReportedEgo(EgoCar):
    """The ego as CARLA reports it: it goes where it is said to have gone."""

    _reported: Odometry | None = None
    wanted: Pose | None = None
    """Where the scenario wants it put; None when it is there."""

    def report(self, odometry: Odometry) -> None:
        """Where it will be found after the next step."""
        self._reported = odometry

    def place(self, pose: Pose, speed: float) -> None:
        """Ask for the car to be put somewhere else."""
        if distance(pose[:2], self.pose[:2]) > TELEPORT_M:
            self.wanted = pose
        super().place(pose, speed)

    def drive(self, trajectory: Trajectory | None, stamp: float, h: float, steps: int) -> None:
        """Take the reported motion."""
        if self._reported is None:
            return
        (x, y, heading), v, rate = self._reported.pose, self._reported.v, self._reported.yaw_rate
        steer = elementary.atan(rate * self._limits.wheelbase / v) if abs(v) > CRAWL else 0.0
        self._state[:] = (x, y, heading, v, (v - self.v) / (h * steps), steer)

    def brake(self, h: float, steps: int) -> None:
        """Take the reported motion."""
        self.drive(None, 0.0, h, steps)


class ReportedLights(TrafficLights):
    """The lights as CARLA reports them; what the scenario forces goes before that, for the car and for the traffic.

    Args:
        road_map: has the signals.
        before: what they follow on: what the scenario has forced there stays so.
    """

    def __init__(self, road_map: RoadMap, before: TrafficLights) -> None:
        super().__init__(road_map, np.random.SeedSequence(0), LightParameters())
        self._forced, self._unseen, self.silent = dict(before._forced), set(before._unseen), before.silent
        self._reported: dict[int, Light] = {}

    def report(self, table: npt.NDArray[np.void]) -> None:
        """Rows of the topic `traffic_lights`."""
        self._reported = {int(row["signal"]): Light(int(row["state"])) for row in table}

    def states(self, stamp: float) -> Int32Array:
        """The state of every signal; of which CARLA says nothing, red to the traffic."""
        known = {**self._reported, **self._forced}
        states = [known.get(number, Light.UNKNOWN) for number in self.numbers]
        return np.array([Light.RED if state is Light.UNKNOWN else state for state in states], dtype=np.int32)

    def table(self, stamp: float) -> npt.NDArray[np.void]:
        """All states as the car sees them: what is not known is unknown."""
        rows = super().table(stamp)
        for row in rows:
            number = int(row["signal"])
            if number not in self._forced and self._reported.get(number, Light.UNKNOWN) is Light.UNKNOWN:
                row["state"], row["confidence"] = Light.UNKNOWN, 0.0
        return rows


class CarlaScenario:
    """A scenario's run, in step with CARLA's ticks.

    Args:
        road_map: of the CARLA world.
        scenario: to be run.
        seed: of everything random.
        vehicle: the planner's.

    Raises:
        InputError: the scenario does not fit the map, or asks of the car what cannot be done to CARLA's.
    """

    def __init__(self, road_map: RoadMap, scenario: Scenario, seed: int, vehicle: Vehicle) -> None:
        _refuse_ego_speeds(scenario)
        self.simulation = Simulation(road_map, scenario, seed, vehicle)
        p = self.simulation.settings
        self.start = self.simulation.ego.pose
        """Where the ego's rear axle has to be at the beginning."""
        self.ego = ReportedEgo(self.start, 0.0, vehicle, p.dynamics, p.tracker)
        self.lights = ReportedLights(road_map, self.simulation.lights)
        self.simulation.ego, self.simulation.lights = self.ego, self.lights
        self._first: Odometry | None = None
        self._latest: Odometry | None = None
        self._restamped: dict[str, tuple[Any, Any]] = {}
        self._offset = NOWHERE

    @property
    def braking(self) -> bool:
        """Whether the scenario has taken the car from the planner: it is to be braked."""
        return not self.simulation.environment.ego_controlled

    def begin(self, odometry: Odometry, lights: npt.NDArray[np.void]) -> None:
        """The first tick."""
        self._first = self._latest = odometry
        self.lights.report(lights)
        self.ego.report(odometry)
        self.ego.drive(None, 0.0, self.simulation.dt, 1)
        self.ego.wanted = None

    def advance(self, odometry: Odometry, lights: npt.NDArray[np.void], plan: Trajectory | None, state: str) -> None:
        """One tick on.

        Args:
            odometry: of the ego on the new tick.
            lights: rows of `traffic_lights` as CARLA has them.
            plan: what the planner answered to the tick before.
            state: of its machine.
        """
        assert self._latest is not None
        left = odometry.stamp - self._latest.stamp
        self._latest = odometry
        self.lights.report(lights)
        self.ego.report(odometry)
        longest = self.simulation.settings.stepping
        most = longest.max_substep_delta * longest.max_substeps
        while left > 1e-6 and not self.simulation.finished:
            delta = self.simulation.dt if abs(left - self.simulation.dt) < 1e-4 else min(left, most)
            self.simulation.advance(plan, state, delta)
            left -= delta

    def inputs(self, objects: StampedRows, mine: Mapping[int, int]) -> Inputs:
        """What the planner is told of the present tick, by CARLA's time.

        Args:
            objects: CARLA's.
            mine: number in the scenario of each of CARLA's numbers that the scenario has spawned.
        """
        assert self._first is not None and self._latest is not None
        inputs, now = self.simulation.inputs(), self._latest
        lost = not self.simulation.environment.localized
        believed = inputs.odometry.pose if lost and inputs.odometry is not None else now.pose
        self._offset = shift_from(now.pose, believed) if lost else NOWHERE
        rows = self._offset.table(self._with_velocities(objects.rows, mine))
        rows = np.concatenate((rows, _placed_objects(inputs)))
        changes: dict[str, Any] = {name: self._in_carla_time(name, inputs) for name in _STAMPED}
        changes["objects"] = StampedRows(now.stamp, rows)
        if inputs.odometry is not None and inputs.odometry.stamp == inputs.stamp and not lost:
            changes["odometry"] = replace(now, position_std=inputs.odometry.position_std)
        return replace(inputs, stamp=now.stamp, **changes)

    def in_map(self, plan: Trajectory) -> Trajectory:
        """A plan that was made in the frame of a believed pose, as it is to be driven."""
        if self._offset == NOWHERE or self._latest is None:
            return plan
        back = -self._offset.turn
        s, c = elementary.sin_cos(back)
        x, y = self._offset.x, self._offset.y
        return PoseOffset(back, -(c * x - s * y), -(s * x + c * y)).trajectory(plan)

    def _with_velocities(self, rows: npt.NDArray[np.void], mine: Mapping[int, int]) -> npt.NDArray[np.void]:
        """An actor that is put from place to place has no velocity in CARLA: it is the scenario's."""
        speeds = {actor.id: actor.v for actor in self.simulation.agents()}
        moved = rows.copy()
        for row in moved:
            number = mine.get(int(row["id"]))
            if number is not None:
                v, heading = speeds.get(number, 0.0), float(row["heading"])
                sine, cosine = elementary.sin_cos(heading)
                row["vx"], row["vy"] = v * cosine, v * sine
        return moved

    def _in_carla_time(self, name: str, inputs: Inputs) -> Any:
        """A field with CARLA's stamp; the same object as long as it is the same message."""
        value = getattr(inputs, name)
        known = self._restamped.get(name)
        if value is None or (known is not None and known[0] is value):
            return None if known is None or value is None else known[1]
        assert self._first is not None and self._latest is not None
        age = inputs.stamp - value.stamp
        moved = replace(value, stamp=self._latest.stamp - age if age > 1e-6 else self._latest.stamp)
        self._restamped[name] = (value, moved)
        return moved


def _refuse_ego_speeds(scenario: Scenario) -> None:
    expected = "no assign_speed and no change_speed of the ego in CARLA"
    if scenario.ego_speed != 0.0:
        raise InputError(scenario.file, f"the ego begins at {scenario.ego_speed:g} m/s", expected)
    for node in nodes(scenario.storyboard):
        for command in node.begin if isinstance(node, Action) else ():
            if isinstance(command, ChangeSpeed) and command.actor == EGO:
                raise InputError(scenario.where(node.at), "the speed of CARLA's car cannot be set", expected)


def _placed_objects(inputs: Inputs) -> npt.NDArray[np.void]:
    """Rows of what stands about, as the simulator's sensors see it."""
    assert inputs.objects is not None
    rows = inputs.objects.rows[np.isin(inputs.objects.rows["kind"], PROPS)].copy()
    rows["id"] += FIRST_PROP_ID
    return rows

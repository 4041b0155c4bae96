"""A planner in forty lines: holds its lane at 5 m/s, and stands while the emergency stop is on."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tuling_fsm.behaviour.decision import BehaviourRecord
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.supervisors.rain_fog import RainFogMemory
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import group, param, refuse_above
from tuling_fsm.core.request import Hold, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Ego
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.world.inputs import Inputs, RouteRequest
from tuling_fsm.world.mission import Mission


@dataclass(frozen=True)
class Parameters:
    vehicle: Vehicle = group(Vehicle)
    speed: float = param(5.0, "m/s", 0.0, 10.0, "cruising speed", live=True)
    fail_at_x: float = param(1e9, "m", doc="raises when the car is beyond it")
    slow_at_x: float = param(1e9, "m", doc="takes long when the car is beyond it")

    def __post_init__(self) -> None:
        refuse_above("speed", self.speed, "vehicle.max_speed", self.vehicle.max_speed, "m/s")


COMPILED = "FAKE_COMPILED"
"""Variable of the environment that names the file."""


class FakeAgent:
    def __init__(self, road_map: Any, parameters: Parameters) -> None:
        self.road_map = road_map
        self.parameters = parameters
        self.asked = 0
        self.state = "departure/plan_once"
        self.seen: list[Inputs] = []
        self.repeated = 0
        self.mission: Mission | None = None

    def warm_up(self) -> None:
        """For ever, as compiling may seem to, on a map that says so; the file that it names tells of the beginning."""
        if "takes for ever" in self.road_map:
            Path(self.road_map.partition(": ")[2]).touch()
            while True:
                time.sleep(0.05)

    def reconfigure(self, parameters: Parameters) -> None:
        self.parameters = parameters

    def repeat(self) -> None:
        self.repeated += 1

    @property
    def record(self) -> BehaviourRecord:
        beside = StateRecord("", None)
        weather = StateRecord("", RainFogMemory())
        return BehaviourRecord(
            StateRecord(self.state, Memory(mission=MissionProgress(self.mission))), beside, weather, beside, self.asked
        )

    def restore(self, record: BehaviourRecord) -> None:
        self.state, self.asked = record.machine.path, record.seq

    def step(self, inputs: Inputs) -> SimpleNamespace:
        self.seen.append(inputs)
        odometry = inputs.odometry
        pose = Pose(0.0, 0.0, 0.0) if odometry is None else odometry.pose
        if pose.x > self.parameters.fail_at_x:
            raise RuntimeError("beyond the world's end")
        stopped = inputs.emergency_stop is not None and inputs.emergency_stop.value
        requests: tuple[RouteRequest, ...] = ()
        if odometry is not None and self.asked == 0:
            self.asked = 1
            requests = (RouteRequest(1, "initial", pose, Pose(100.0, 0.0, 0.0)),)
        event = None
        if any(len(answer.points) for answer in inputs.route_answers):
            event = SimpleNamespace(
                seq=1, stamp=inputs.stamp, source=self.state, dest="on_road/normal", clause="DEP-2",
                guard="route_found", dwell_s=0.0, rejected=(),
            )  # fmt: skip
            self.state = "on_road/normal"
        moving = odometry is not None and not stopped and self.state == "on_road/normal"
        reason = Reason.EMERGENCY_STOP if stopped else Reason.NONE if moving else Reason.NO_ROUTE
        trajectory = self.cruise(inputs.stamp, pose) if moving else Trajectory.standing(inputs.stamp, pose)
        memory = SimpleNamespace(mission=MissionProgress(goal=MissionGoal(GoalKind.PICKUP)))
        decision = SimpleNamespace(
            route_requests=requests, route_blocked=None, transition=event, supervisor_transitions=(),
            supervisors=(("emergency_stop", "link_lost" if stopped else "armed"),), state=self.state,
            record=SimpleNamespace(machine=SimpleNamespace(memory=memory)), pending=(),
            timeout=None, time_in_state_s=1.0, request=Hold(reason), reports=(), flaps=0,
        )  # fmt: skip
        world = SimpleNamespace(
            route=None, junctions=(), reports=(), ego=Ego(pose, odometry.v if odometry else 0.0, 0.0, 0.0)
        )
        result = PlanResult(moving, trajectory, Limit(reason))
        return SimpleNamespace(
            stamp=inputs.stamp, state=self.state, trajectory=trajectory, transition=event, decision=decision,
            result=result, world=world, limit=result.limit,
        )  # fmt: skip

    def cruise(self, stamp: float, pose: Pose) -> Trajectory:
        t = 0.1 * np.arange(40)
        v = self.parameters.speed * np.clip((4.0 - t) / 2.0, 0.0, 1.0)
        v[-1] = 0.0
        x = pose.x + np.concatenate(([0.0], np.cumsum(0.05 * (v[1:] + v[:-1]))))
        zero = np.zeros(len(t))
        return Trajectory(stamp, t, x, zero + pose.y, zero + pose.heading, zero, v, np.gradient(v, t))


class FakeMap(str):
    left_hand = False


def read_map(path: Path) -> FakeMap:
    text = path.read_text()
    if "map" not in text:
        raise InputError(f"{path}:1", "no map", "a map")
    return FakeMap(text)


def compile_until_seen(report: Callable[[str], None]) -> None:
    """Where a file is named: compiles, and tells of it, until that is there."""
    while COMPILED in os.environ and not Path(os.environ[COMPILED]).exists():
        report("compiling kernels, once: 1 of 2 parts, 3 s")
        time.sleep(0.05)


def fake_factory() -> Any:
    from tuling_fsm.ros.planner import PlannerFactory

    return PlannerFactory(Parameters, read_map, FakeAgent, compile_until_seen)


def main() -> int:
    from tuling_fsm.ros.environment import require_rclpy

    require_rclpy()
    from tuling_fsm.ros.planner import PlannerNode
    from tuling_fsm.ros.served_node import run_node

    return run_node(lambda: PlannerNode(fake_factory()), sys.argv)


if __name__ == "__main__":
    sys.exit(main())

"""Anything at all, 100 ticks of it: stamps jump, inputs vanish or are nonsense, routes and missions change."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tuling_fsm.agent import Agent, Tick
from tuling_fsm.behaviour import table
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import (
    LANE_LINES,
    OBJECTS,
    PARKING_SLOTS,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Light,
    Occupancy,
    Odometry,
    RouteAnswer,
    StampedRows,
)

from .flagged import REAL
from .loop import Log, forced, written_down
from .monitor import Monitor

TICK = 0.05
ENABLED = [path for path, leaf in table().leaves.items() if leaf.enabled]
SOUTH, NORTH, EAST = Pose(1.75, -110.0, math.pi / 2), Pose(1.75, 110.0, math.pi / 2), Pose(110.0, -1.75, 0.0)
NONSENSE = [math.nan, math.inf, -1e30]
SILENCE_S = 0.2
"""Without odometry for longer the output is a stop (SAF-1)."""


class Anything(RuleBasedStateMachine):
    """An agent in a car that follows its plans, and a world that does as it likes."""

    town: ClassVar[RoadMap]
    routes: ClassVar[list[Route]]

    def __init__(self) -> None:
        super().__init__()
        self.log = Log()
        with written_down(self.log):
            self.agent = Agent(self.town)
        gap = self.agent.parameters.behaviour.switching.max_gap
        self.monitors = {name: Monitor(machine, gap) for name, machine in REAL.items()}
        self.seen = dict.fromkeys(REAL, 0)
        self.stamp, self.pose, self.v = 100.0, SOUTH, 0.0
        self.light, self.missing, self.things = Light.GREEN, frozenset[str](), np.zeros(0, OBJECTS)
        self.remote: bool | None = False
        self.rain: bool | None = None
        self.mission: Any = {"goal": NORTH._asdict()}
        self.number = 0
        self.heard_at = self.stamp
        self.std = 0.0

    # What happens.

    @rule(ticks=st.integers(1, 3))
    def drive_on(self, ticks: int) -> None:
        for _ in range(ticks):
            self._tick()

    @rule(route=st.integers(0, 3), pushed=st.booleans())
    def route_comes(self, route: int, pushed: bool) -> None:
        points = self.routes[route].poses() if route < len(self.routes) else np.zeros((0, 3))
        self._tick(route_answers=(RouteAnswer(self.stamp, -1 if pushed else self.number, points),))

    @rule(value=st.sampled_from(NONSENSE), column=st.integers(0, 2))
    def route_is_nonsense(self, value: float, column: int) -> None:
        points = self.routes[0].poses().copy()
        points[::3, column] = value
        self._tick(route_answers=(RouteAnswer(self.stamp, -1, points),))

    @rule(name=st.sampled_from(["odometry", "objects", "traffic_lights", "mission"]))
    def input_vanishes_or_returns(self, name: str) -> None:
        self.missing = self.missing ^ {name}
        self._tick()

    @rule(step=st.sampled_from([-5.0, -TICK, 0.0, 0.3, 0.9, 1.5, 60.0]))
    def time_jumps(self, step: float) -> None:
        self.stamp += step
        self._tick()

    @rule(field=st.sampled_from(["x", "y", "heading", "v", "yaw_rate"]), value=st.sampled_from(NONSENSE))
    def odometry_is_nonsense(self, field: str, value: float) -> None:
        good = self._odometry()
        pose = good.pose._replace(**{field: value}) if field in Pose._fields else good.pose
        bad = replace(good, pose=pose) if field in Pose._fields else replace(good, **{field: value})
        if field == "heading" and math.isfinite(value):
            return  # an angle of any size is one
        refused = not any("odometry" in key for key in self._complaints())
        tick = self._tick(odometry=bad)
        if refused and "odometry" not in self.missing:
            assert sum("odometry" in line for line in tick.world.reports) == 1, "one clear report (SAF-3)"

    @rule(column=st.sampled_from(["x", "vx", "length", "existence"]), value=st.sampled_from(NONSENSE))
    def objects_are_nonsense(self, column: str, value: float) -> None:
        rows = self._around(1)
        rows[column] = value
        self._tick(objects=StampedRows(self.stamp, rows))

    @rule(
        cells=arrays(np.int8, st.sampled_from([(0, 0), (1, 7), (30, 30), (200, 120)]), elements=st.integers(-1, 100)),
        resolution=st.sampled_from([0.05, 0.5, 3.0, 1e-45, *NONSENSE]),
        aside=st.floats(-30.0, 30.0),
    )
    def a_grid_comes(self, cells: np.ndarray[Any, np.dtype[np.int8]], resolution: float, aside: float) -> None:
        origin = self.pose._replace(x=self.pose.x + aside, y=self.pose.y - 20.0)
        self._tick(occupancy=Occupancy(self.stamp, resolution, origin, cells))

    @rule(value=st.sampled_from([*NONSENSE, 0.0, 5.0]), count=st.integers(0, 5))
    def lines_and_slots_are_nonsense(self, value: float, count: int) -> None:
        lines = np.array([(k % 2, k, value, 1.7) for k in range(count)], dtype=LANE_LINES)
        slots = np.array([(k, k, self.pose.x, value, 0.0, 5.0, value) for k in range(count)], dtype=PARKING_SLOTS)
        self._tick(lane_lines=StampedRows(self.stamp, lines), parking_slots=StampedRows(self.stamp, slots))

    @rule(count=st.integers(0, 6), ahead=st.floats(-15.0, 30.0))
    def things_stand_about(self, count: int, ahead: float) -> None:
        self.things = self._around(count, ahead)
        self._tick()

    @rule(light=st.sampled_from(list(Light)))
    def light_changes(self, light: Light) -> None:
        self.light = light
        self._tick()

    @rule(value=st.sampled_from([True, False, None]), clear=st.booleans())
    def remote_calls(self, value: bool | None, clear: bool) -> None:
        self.remote = value
        self._tick(clear_emergency_stop=clear)

    @rule(std=st.sampled_from([0.0, 0.0, 9.0]))
    def localization_comes_and_goes(self, std: float) -> None:
        self.std = std
        self._tick()

    @rule(kind=st.integers(0, 4))
    def mission_changes(self, kind: int) -> None:
        task = {"pickup": {"x": 1.75, "y": -60.0}, "dropoff": {"x": 60.0, "y": -1.75}}
        self.mission = (
            None,
            {"goal": EAST._asdict()},
            {"tasks": [task], "goal": NORTH._asdict(), "match_time_s": 60.0},
            {"tasks": [task, task], "car_park": EAST._asdict()},
            {"goal": {"x": math.nan, "y": 0.0}},
        )[kind]
        self._tick()

    @rule(reset=st.booleans(), skip=st.booleans(), rain=st.sampled_from([None, False, True]))
    def operator_and_weather(self, reset: bool, skip: bool, rain: bool | None) -> None:
        self.rain = rain
        self._tick(reset=reset, skip_task=skip)

    @rule(x=st.floats(-8.0, 8.0), turn=st.sampled_from([0.0, 0.8, math.pi]))
    def car_is_elsewhere(self, x: float, turn: float) -> None:
        self.pose = self.pose._replace(x=self.pose.x + x, heading=math.remainder(self.pose.heading + turn, math.tau))
        self._tick()

    @precondition(lambda self: self.log.behaviour)
    @rule(path=st.sampled_from(ENABLED))
    def state_is(self, path: str) -> None:
        self.agent.restore(forced(self.agent.record, path))
        self._tick()

    # What always holds.

    def _tick(self, **changes: Any) -> Tick:
        inputs = self._inputs(changes)
        if inputs.odometry is not None and "odometry" not in changes:
            self.heard_at = self.stamp
        tick = self.agent.step(inputs)
        self._check_output(tick)
        self._check_switching()
        for request in tick.decision.route_requests:
            self.number = request.number
        trajectory = tick.trajectory
        self.stamp += TICK
        self.pose, _, self.v, _ = trajectory.sample(self.stamp)
        return tick

    def _check_output(self, tick: Tick) -> None:
        """SAF-1, and that nonsense goes no farther than the door (SAF-3)."""
        trajectory, request = tick.trajectory, tick.decision.request
        assert len(trajectory.t) >= 1
        for name in ("t", "x", "y", "heading", "curvature", "v", "a"):
            assert np.isfinite(getattr(trajectory, name)).all(), name
        assert all(math.isfinite(value) for value in (*tick.world.ego.pose, tick.world.ego.v))
        assert tick.state in ENABLED
        if isinstance(request, Hold):
            assert request.reason is not Reason.NONE or request.detail
        if self.stamp - self.heard_at > SILENCE_S + TICK:
            assert trajectory.v[-1] == 0.0, "no odometry for long, and no stop"

    def _check_switching(self) -> None:
        """DWELL-1 to DWELL-5."""
        for name, moments in self.log.machines.items():
            for moment in moments[self.seen[name] :]:
                self.monitors[name].see(moment)
            self.seen[name] = len(moments)

    def _complaints(self) -> tuple[str, ...]:
        return self.log.behaviour[-1].world.complaints if self.log.behaviour else ()

    def _odometry(self) -> Odometry:
        return Odometry(self.stamp, self.pose, self.v, 0.0, position_std=self.std)

    def _around(self, count: int, ahead: float = 20.0) -> np.ndarray[Any, np.dtype[np.void]]:
        rows = np.zeros(count, OBJECTS)
        for i in range(count):
            along = ahead + 4.0 * i
            rows[i]["id"], rows[i]["kind"], rows[i]["source"], rows[i]["existence"] = i + 1, 1 + i % 6, 3, 1.0
            rows[i]["x"] = self.pose.x + along * math.cos(self.pose.heading)
            rows[i]["y"] = self.pose.y + along * math.sin(self.pose.heading)
            rows[i]["length"], rows[i]["width"], rows[i]["vx"] = 4.0, 1.8, (i % 3) - 1.0
        return rows

    def _inputs(self, changes: dict[str, Any]) -> Inputs:
        lights = np.array([(4, int(self.light), 1.0)], dtype=TRAFFIC_LIGHTS)
        given: dict[str, Any] = {
            "odometry": self._odometry(),
            "objects": StampedRows(self.stamp, self.things),
            "traffic_lights": StampedRows(self.stamp, lights),
            "mission": self.mission,
            "emergency_stop": None if self.remote is None else BoolMessage(self.stamp, self.remote),
            "rain_fog": None if self.rain is None else BoolMessage(self.stamp, self.rain),
        }
        return Inputs(self.stamp, **{**given, **dict.fromkeys(self.missing), **changes})

"""What comes in on hostile ticks: a drive as it should be, and at random what no sensor should send."""

from __future__ import annotations

import copy
import json
import math
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.agent import Tick
from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.fuzz.mutation import mutate_json
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import TABLES, BoolMessage, Inputs, Occupancy, Odometry, RouteAnswer, StampedRows

STEP_S = 0.05
_ROUNDING_S = 1e-6
"""Of a stamp since 1970."""
_EXTREMES = (0.0, -0.0, 1e-320, 1.0, -1.0, 90.0, 1e4, 1e6, 1e30, 3e38, 1e308, -1e308, math.nan, math.inf, -math.inf)
_JUMPS_S = (-60.0, -1.0, -STEP_S, 0.0, 1e-9, 0.3, 0.9, 5.0, 3600.0)
_HOSTILE_SHARE = 0.35
_MOST_ROWS = 400
_FLAGS = ("rain_fog", "emergency_stop", "radar_health")
_CALLS = ("clear_emergency_stop", "reset", "skip_task")
_LASTS = 40
"""Ticks for which something stays as it has come, at the most."""
_HEARD = 8


class HostileWorld:
    """A car that is where its plan says, on a route, and everything around it.

    Args:
        random: draws what happens.
        route: that the car is on at first.
    """

    def __init__(self, random: Random, route: Route) -> None:
        self._random, self._route = random, route
        self._draw = np.random.default_rng(random.getrandbits(32))
        self._stamp = random.choice((0.0, 100.0, 1.7e9))
        self._heard = deque[float](maxlen=_HEARD)
        """Stamps of the latest odometry that was sound. The clock may have been set since, and a tick without a time is
        at that of the one before, a step earlier than its odometry."""
        self._pose, self._v = route.reference.at(0.0), 0.0
        self._mission: Any = {"goal": route.reference.at(route.length)._asdict()}
        self._kept: dict[str, tuple[int, Any]] = {}
        self._ticks = 0
        self._question = -1
        self.said = "nothing odd"
        """What was odd about the last tick's inputs."""

    def silent_s(self, stamp: float) -> float:
        """How long, up to the stamp (s) of a tick, the car was told nothing of where it is, s."""
        heard = [heard for heard in self._heard if heard <= stamp + STEP_S + _ROUNDING_S]
        return min((abs(stamp - each) for each in heard), default=math.inf)

    def inputs(self) -> Inputs:
        """Those of the next tick."""
        given = self._as_it_should_be()
        odd: list[str] = []
        if self._ticks > 2 and self._random.random() < _HOSTILE_SHARE:
            for _ in range(self._random.choice((1, 1, 2, 4))):
                name, happen = self._random.choice(_HAPPENINGS)
                given.update(happen(self, given))
                odd.append(name)
        if odd:
            self.said = ", ".join(odd)
        self._keep(given)
        self._ticks += 1
        odometry = given["odometry"]
        if odometry is not None and odometry.stamp == self._stamp and _in_range(odometry):
            self._heard.append(self._stamp)
        return Inputs(given.pop("stamp", self._stamp), **given)

    def follow(self, tick: Tick) -> None:
        """Be where the plan says a tick later."""
        for request in tick.decision.route_requests:
            self._question = request.number
        self._stamp += STEP_S
        pose, _, v, _ = tick.trajectory.sample(tick.stamp + STEP_S)
        if all(map(math.isfinite, (*pose, v))):
            self._pose, self._v = Pose(*pose), v

    def _as_it_should_be(self) -> dict[str, Any]:
        points = self._route.poses() if self._question >= 0 or self._ticks == 1 else None
        answers = () if points is None else (RouteAnswer(self._stamp, self._question, points),)
        self._question = -1
        given: dict[str, Any] = {
            "odometry": Odometry(self._stamp, self._pose, self._v, 0.0),
            "objects": StampedRows(self._stamp, self._rows("objects", self._random.choice((0, 0, 3)))),
            "traffic_lights": StampedRows(self._stamp, np.zeros(0, TABLES["traffic_lights"])),
            "route_answers": answers,
            "mission": self._mission,
        }
        self._kept = {name: (left - 1, value) for name, (left, value) in self._kept.items() if left > 0}
        return {**given, **{name: value for name, (_, value) in self._kept.items()}}

    def _keep(self, given: dict[str, Any]) -> None:
        """Now and then something stays for a while: a sensor that is stuck, or away."""
        if self._random.random() < 0.05:
            name = self._random.choice(
                ("odometry", "objects", "occupancy", "emergency_stop", "rain_fog", "parking_slots")
            )
            self._kept[name] = self._random.randrange(1, _LASTS), self._random.choice((None, given.get(name)))

    def _rows(self, topic: str, count: int) -> npt.NDArray[np.void]:
        """Rows around the car."""
        rows = np.zeros(count, TABLES[topic])
        for name in rows.dtype.names or ():
            kind = rows.dtype[name].kind
            rows[name] = self._draw.uniform(0.0, 8.0, count).astype(rows.dtype[name]) if kind in "iuf" else 0
        if "x" in (rows.dtype.names or ()):
            rows["x"] = self._pose.x + self._draw.uniform(-60.0, 60.0, count)
            rows["y"] = self._pose.y + self._draw.uniform(-60.0, 60.0, count)
        return rows

    def extreme(self) -> float:
        """A number that is none, or nearly."""
        return self._random.choice(_EXTREMES)

    def time_jumps(self, given: dict[str, Any]) -> dict[str, Any]:
        """The clock is set."""
        self._stamp += self._random.choice(_JUMPS_S)
        return {"odometry": Odometry(self._stamp, self._pose, self._v, 0.0)}

    def stamp_is_none(self, given: dict[str, Any]) -> dict[str, Any]:
        """A tick without a time."""
        return {"stamp": self._random.choice((math.nan, math.inf, -math.inf)), "odometry": None}

    def odometry_is_odd(self, given: dict[str, Any]) -> dict[str, Any]:
        """One of its numbers is."""
        values = [self._stamp, *self._pose, self._v, 0.0, 0.0, 0.0]
        values[self._random.randrange(len(values))] = self.extreme()
        stamp, x, y, heading, v, rate, position, turn = values
        return {"odometry": Odometry(stamp, Pose(x, y, heading), v, rate, position, turn)}

    def car_is_elsewhere(self, given: dict[str, Any]) -> dict[str, Any]:
        """A metre aside, in a field, turned round, or anywhere on the route."""
        reference = self._route.reference
        self._pose = self._random.choice(
            (
                self._pose._replace(x=self._pose.x + self._random.uniform(-3.0, 3.0)),
                self._pose._replace(y=self._pose.y + self._random.uniform(-500.0, 500.0)),
                self._pose._replace(heading=self._pose.heading + self._random.uniform(-4.0, 4.0)),
                reference.at(self._random.uniform(0.0, self._route.length)),
            )
        )
        self._v = self._random.choice((self._v, 0.0, -1.0, 8.0))
        return {"odometry": Odometry(self._stamp, self._pose, self._v, 0.0)}

    def table_is_odd(self, given: dict[str, Any]) -> dict[str, Any]:
        """Too many rows, extremes in a column, or the rows of another table."""
        topic = self._random.choice(tuple(TABLES))
        rows = self._rows(topic, self._random.choice((0, 1, 5, 60, _MOST_ROWS)))
        floats = [name for name in rows.dtype.names or () if rows.dtype[name].kind == "f"]
        if self._random.random() < 0.6 and len(rows):
            with np.errstate(over="ignore"):
                rows[self._random.choice(floats)][:: self._random.choice((1, 3))] = self.extreme()
        if self._random.random() < 0.1:
            rows = self._rows(self._random.choice(tuple(TABLES)), 3)
        stamp = self._random.choice((self._stamp, self._stamp, self._stamp - 0.1, self.extreme()))
        return {topic: StampedRows(stamp, rows)}

    def things_close_in(self, given: dict[str, Any]) -> dict[str, Any]:
        """Many objects around and over the car."""
        rows = self._rows("objects", self._random.choice((1, 8, 80)))
        reach = self._random.choice((1.0, 6.0, 30.0))
        rows["x"] = self._pose.x + self._draw.uniform(-reach, reach, len(rows))
        rows["y"] = self._pose.y + self._draw.uniform(-reach, reach, len(rows))
        rows["existence"] = 1.0
        return {"objects": StampedRows(self._stamp, rows)}

    def grid_is_odd(self, given: dict[str, Any]) -> dict[str, Any]:
        """Of any shape, anywhere, full or half full."""
        shape = self._random.choice(((0, 0), (1, 9), (40, 40), (300, 200)))
        cells = self._draw.integers(self._random.choice((-1, 90)), 101, shape).astype(np.int8)
        size = self._random.choice((0.05, 0.2, 0.5, 3.0, self.extreme()))
        origin = self._pose._replace(
            x=self._pose.x - 10.0, y=self._pose.y - 10.0, heading=self._random.choice((0.0, 0.7))
        )
        if self._random.random() < 0.2:
            origin = origin._replace(x=self.extreme())
        return {"occupancy": Occupancy(self._stamp, size, origin, cells)}

    def flags_come(self, given: dict[str, Any]) -> dict[str, Any]:
        """Flags of any time, and calls of the operator."""
        stamp = self._random.choice((self._stamp, self._stamp, self.extreme()))
        flag = BoolMessage(stamp, self._random.random() < 0.5)
        return {self._random.choice(_FLAGS): flag, self._random.choice(_CALLS): self._random.random() < 0.5}

    def route_is_odd(self, given: dict[str, Any]) -> dict[str, Any]:
        """Broken, turned round, elsewhere, or of numbers that are none."""
        points: FloatArray = self._route.poses().copy()
        points[:: self._random.choice((1, 3, 50)), self._random.randrange(3)] = self.extreme()
        chosen = self._random.choice(
            (points, self._route.poses()[::-1], self._route.poses()[::40], np.zeros((0, 3)), points[:1])
        )
        return {"route_answers": (RouteAnswer(self._stamp, self._random.choice((-1, 0, 1, 7)), chosen),)}

    def mission_is_odd(self, given: dict[str, Any]) -> dict[str, Any]:
        """One that was mutated, or none any more."""
        place = self._route.reference.at(self._random.uniform(0.0, self._route.length))._asdict()
        task = {"pickup": place, "dropoff": self._route.reference.at(self._route.length)._asdict()}
        slot = {**place, "length": 6.0, "width": 2.4}
        parts = {"goal": place, "tasks": [task, task], "car_park": {**place, "slots": [slot]}, "match_time_s": 60.0}
        mission: Any = {name: part for name, part in parts.items() if self._random.random() < 0.5}
        if self._random.random() < 0.5:
            try:
                mission = json.loads(mutate_json(json.dumps(mission).encode(), self._random))
            except (ValueError, RecursionError):
                mission = None
        self._mission = copy.deepcopy(mission)
        return {"mission": self._mission}

    def wall_ahead(self, given: dict[str, Any]) -> dict[str, Any]:
        """Something stands right before the car, at any distance."""
        rows = self._rows("objects", 1)
        far = self._random.choice((0.5, 3.0, 6.0, 12.0, 25.0))
        sine, cosine = elementary.sin_cos(self._pose.heading)
        rows["x"] = self._pose.x + far * cosine
        rows["y"] = self._pose.y + far * sine
        rows["vx"], rows["vy"], rows["existence"], rows["id"] = 0.0, 0.0, 1.0, self._random.randrange(3)
        return {"objects": StampedRows(self._stamp, rows)}


def _in_range(odometry: Odometry) -> bool:
    """Whether the planner may have taken it; where it may not, the car has heard nothing."""
    numbers = (*odometry.pose, odometry.v, odometry.yaw_rate, odometry.position_std, odometry.heading_std)
    return all(math.isfinite(each) for each in numbers)


_HAPPENINGS: tuple[tuple[str, Callable[[HostileWorld, dict[str, Any]], dict[str, Any]]], ...] = (
    ("time jumps", HostileWorld.time_jumps),
    ("stamp is none", HostileWorld.stamp_is_none),
    ("odometry is odd", HostileWorld.odometry_is_odd),
    ("car is elsewhere", HostileWorld.car_is_elsewhere),
    ("table is odd", HostileWorld.table_is_odd),
    ("things close in", HostileWorld.things_close_in),
    ("grid is odd", HostileWorld.grid_is_odd),
    ("flags come", HostileWorld.flags_come),
    ("route is odd", HostileWorld.route_is_odd),
    ("mission is odd", HostileWorld.mission_is_odd),
    ("wall ahead", HostileWorld.wall_ahead),
)

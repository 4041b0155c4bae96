"""An agent in a car that follows its plans, on a road that is empty but for what a test puts there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tuling_fsm.agent import Agent, Tick
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Odometry, RouteAnswer, StampedRows

STEP_S = 0.05

Around = Callable[[float], dict[str, Any]]
"""Other inputs at a stamp (s)."""


def drive(agent: Agent, route: Route, ticks: int, around: Around = lambda _: {}) -> Iterator[Tick]:
    """A drive from the beginning of a route on."""
    pose, v = route.reference.at(0.0), 0.0
    for k in range(ticks):
        stamp = k * STEP_S
        given: dict[str, Any] = {
            "odometry": Odometry(stamp, pose, v, 0.0),
            "objects": StampedRows(stamp, np.zeros(0, OBJECTS)),
            "traffic_lights": StampedRows(stamp, np.zeros(0, TRAFFIC_LIGHTS)),
            "route_answers": (RouteAnswer(stamp, -1, route.poses()),) if k == 1 else (),
            "mission": {"goal": route.reference.at(route.length)._asdict()},
        }
        tick = agent.step(Inputs(stamp, **{**given, **around(stamp)}))
        pose, _, v, _ = tick.trajectory.sample(stamp + STEP_S)
        yield tick

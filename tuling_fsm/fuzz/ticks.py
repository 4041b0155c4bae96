"""Hostile ticks: a car that follows its plans, and a world that sends what no sensor should, at random.

A file says the seed and the number of ticks; from them everything follows. What has to hold of every tick, whatever
came in (SAF-1 to SAF-3, SAF-5): an answer with finite numbers that the check has nothing against where it counts as a
plan, a stop when odometry stays away, one line for each complaint, and no more processor time than a plan may take.
"""

from __future__ import annotations

import json
import math
import time
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from tuling_fsm.agent import Agent, Tick
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.fuzz.files import course
from tuling_fsm.fuzz.hostile_inputs import HostileWorld
from tuling_fsm.fuzz.trial import BrokenRuleError
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.planning.planner import Planner
from tuling_fsm.wire.text import parse_json

STEP_S = 0.05
DEADLINE_S = 0.15
"""What a tick may take, processor time: `late_after` of the node, beyond which the rest of the last plan is sent."""
SILENCE_S = 0.2
"""Without odometry for longer the output is a stop (SAF-1)."""
TICKS = 200
_MOST_TICKS = 100_000
_COLUMNS = ("t", "x", "y", "heading", "curvature", "v", "a")


def drive_seeds() -> list[bytes]:
    """One drive, to be mutated into others."""
    return [json.dumps({"seed": 0, "ticks": TICKS}).encode()]


def mutate_drive(content: bytes, random: Random) -> bytes:
    """Another seed."""
    ticks = json.loads(content)["ticks"]
    return json.dumps({"seed": random.getrandbits(32), "ticks": ticks}).encode()


def drive_file(file: Path) -> int:
    """Drive what a file says; returns the number of ticks.

    Raises:
        InputError: no such file of ours.
        BrokenRuleError: something does not hold that always has to.
    """
    value = parse_json(file.read_text(encoding="utf-8"), str(file))
    seed, ticks = value.get("seed"), value.get("ticks")
    if not isinstance(seed, int) or not isinstance(ticks, int) or not 0 < ticks <= _MOST_TICKS:
        raise InputError(str(file), "no drive", f"seed and ticks, the latter from 1 to {_MOST_TICKS}")
    drive(seed, ticks)
    return ticks


@cache
def _way(number: int) -> tuple[RoadMap, Route]:
    return course(), random_route(course(), np.random.default_rng(number), 300.0)


@cache
def _warm() -> None:
    """Load what ticks need, so that none of them is timed with it."""
    Agent(course()).warm_up()


def drive(seed: int, ticks: int, deadline_s: float = DEADLINE_S) -> None:
    """As many ticks of an agent in a world with this seed; none may take longer than `deadline_s`, processor time.

    Raises:
        BrokenRuleError: something does not hold that always has to.
    """
    _warm()
    random = Random(seed)
    road_map, route = _way(random.randrange(8))
    agent, world = Agent(road_map), HostileWorld(random, route)
    judge = _Judge(agent, deadline_s)
    for _ in range(ticks):
        inputs = world.inputs()
        began = time.process_time()
        tick = agent.step(inputs)
        if time.process_time() - began > deadline_s:
            judge.time_again(world.said)
        judge.check(tick, world)
        world.follow(tick)


class _Judge:
    """What has to hold of every tick."""

    def __init__(self, agent: Agent, deadline_s: float) -> None:
        self._agent, self._deadline_s = agent, deadline_s
        self._planner = Planner(agent.parameters.vehicle, agent.parameters.planning)

    def time_again(self, said: str) -> None:
        """A tick that took too long, twice more: a machine may be busy, the code is slow each time."""
        took = []
        for _ in range(2):
            began = time.process_time()
            self._agent.repeat()
            took.append(time.process_time() - began)
        if min(took) > self._deadline_s:
            raise BrokenRuleError(f"a tick takes too long: {1e3 * min(took):.0f} ms of processor time after {said}")

    def check(self, tick: Tick, world: HostileWorld) -> None:
        """Raise `BrokenRuleError` where something does not hold."""
        fault = (
            _not_finite(tick.trajectory)
            or _unexplained(tick)
            or self._unchecked(tick)
            or _no_stop(tick, world.silent_s(tick.stamp))
        )
        if fault:
            raise BrokenRuleError(f"{fault}: in {tick.state} at {tick.stamp:.2f} s after {world.said}")

    def _unchecked(self, tick: Tick) -> str:
        """What the check has against what counts as a plan; below an emergency stop there is nothing."""
        decision = tick.decision
        if isinstance(decision.request, Hold) or not tick.result.feasible or not tick.world.odometry_fresh:
            return ""
        _, violation = self._planner.checked(tick.result, decision.request, tick.world.scene, decision.regulations)
        return "" if violation is None else f"a plan fails the check for {violation.breach.value}: {violation.detail}"


def _not_finite(trajectory: Trajectory) -> str:
    if len(trajectory.t) < 1:
        return "an empty trajectory"
    names = [name for name in _COLUMNS if not np.isfinite(getattr(trajectory, name)).all()]
    return f"{names[0]} of a trajectory that is not finite" if names else ""


def _unexplained(tick: Tick) -> str:
    """A complaint of several lines, a car that is nowhere, or a stand without a reason."""
    if any(not line.isprintable() for line in tick.world.reports):
        return "a complaint that is no line"
    if not all(math.isfinite(value) for value in (*tick.world.ego.pose, tick.world.ego.v)):
        return "a car that is nowhere"
    request = tick.decision.request
    if isinstance(request, Hold) and request.reason is Reason.NONE and not request.detail:
        return "a stand without a reason"
    return ""


def _no_stop(tick: Tick, silent_s: float) -> str:
    return "no stop without odometry" if silent_s > SILENCE_S + STEP_S and tick.trajectory.v[-1] != 0.0 else ""

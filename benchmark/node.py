"""The planner as a process: from an odometry message being published to the trajectory of its stamp being received."""

from __future__ import annotations

import gc
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.core.topics import BY_NAME
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.ros.environment import require_rclpy
from tuling_fsm.ros.processes import ProcessGroup, bring_up, node_command
from tuling_fsm.run import chosen_map
from tuling_fsm.share import share_file
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import nanoseconds, stamp_ns
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import Inputs, RouteAnswer

STEP_S = 0.02
WARM, TICKS = 250, 1000
"""Ticks before those that count, and those. The node's own times are of its last thousand."""
CARS, PEOPLE = 70, 62
"""Asked for on the whole course, so that about a hundred move; not all cars find room."""
FARTHEST = 1000.0
"""Everybody on the course is seen (m)."""
MOVE_S = 0.006
"""So long before the next odometry the car moves on at the latest, with or without a new plan."""
FIND_S = 30.0
"""How long the planner is given to hear all topics."""
LAST_S = 1.0
"""How long the last answers are waited for."""


class Sent(NamedTuple):
    """An odometry message: its stamp, when it was published, and how many objects went before it."""

    ns: int
    began: float
    objects: int


@dataclass
class Heard:
    """What comes back: times of arrival by stamp (ns), the latest trajectory, what the node says of itself."""

    arrived: dict[int, float] = field(default_factory=dict)
    trajectory: bytes = b""
    diagnostics: bytes = b""

    def plan(self, raw: bytes) -> None:
        """A trajectory."""
        self.arrived.setdefault(stamp_ns(raw), time.perf_counter())
        self.trajectory = raw

    def health(self, raw: bytes) -> None:
        """A message of `/diagnostics`."""
        self.diagnostics = raw


def run() -> Table:
    """Drive the course's first stretch in traffic, and time every exchange."""
    require_rclpy()
    from tuling_fsm.ros.lifecycle_client import node_beside

    simulation, map_file = _scene()
    _rehearse(_scene()[0])
    with tempfile.TemporaryDirectory() as folder, ProcessGroup() as group:
        group.start("planner", node_command(Path(folder), "planner", {"map_file": str(map_file)}))
        with node_beside(group.environment, "tuling_fsm_bench", hurried=True) as (node, executor):
            link = Link(node, executor)
            bring_up(group, node, executor)
            link.find()
            sent = link.drive(simulation)[WARM:]
    heard = link.heard
    times = [1e3 * (heard.arrived[each.ns] - each.began) for each in sent if each.ns in heard.arrived]
    own = dict(unpack_diagnostics(heard.diagnostics, "/diagnostics")[0].values)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("odometry to trajectory, ms, p50", percentile(times, 0.5), "<= 3"),
        ("odometry to trajectory, ms, p99", percentile(times, 0.99), "<= 10"),
        ("odometry to trajectory, ms, worst", max(times, default=math.nan), ""),
        ("ticks without a trajectory of their stamp, %", 100.0 * (1.0 - len(times) / len(sent)), "0"),
        ("the node's own tick, ms, p50", float(own["tick_ms p50"]), ""),
        ("the node's own tick, ms, p99", float(own["tick_ms p99"]), ""),
        ("objects in a table, mean", sum(each.objects for each in sent) / len(sent), "100"),
        ("driven in all, m", simulation.distance_m, ""),
    )
    return Table(
        "Planner node",
        (f"{1.0 / STEP_S:g} Hz, Fast DDS", "ours", "goal"),
        rows,
        f"{TICKS} ticks after {WARM} that do not count; by the clock on the wall",
        (
            "The course's first stretch, out of the car park, with everybody on the course in the table of objects; "
            "all other inputs as the simulator sends them, the route pushed.",
            "From just before odometry is published, the last message of a tick, to the callback of the trajectory, in "
            "one process that plays the world; the planner is another one. Both and DDS share the cores.",
            "Whatever else wants the cores shows up here; `chrt -r 20` before the command keeps it away.",
            "The planner does its last tick once more before the next odometry, as it does by default (`keep_warm`).",
            "The node's own tick begins with reading its inputs and ends with the plan, before that is serialized.",
        ),
    )


def _scene() -> tuple[Simulation, Path]:
    """The world of one scenario in steps of the odometry, and its map."""
    overrides = {"vehicles": str(CARS), "pedestrians": str(PEOPLE)}
    scenario = load_scenario(share_file("config", "scenarios", "round.osc"), overrides)
    map_file = chosen_map(scenario, None).resolve()
    settings = SimParameters()
    settings = replace(
        settings,
        stepping=replace(settings.stepping, fixed_delta=STEP_S),
        sensors=replace(settings.sensors, range=FARTHEST),
    )
    return Simulation(read_map(map_file), scenario, 1, Vehicle(), settings), map_file


def _rehearse(simulation: Simulation) -> None:
    """Compile what plays the world: one that falls silent for that in mid-drive stops the car for good."""
    previous = simulation.inputs()
    assert previous.odometry is not None
    for plan in (None, Trajectory.standing(previous.stamp, previous.odometry.pose)):
        simulation.advance(plan)
        list(pack_inputs(simulation.inputs(), previous))


class Link:
    """The world's end of the planner's topics."""

    def __init__(self, node: Any, executor: Any) -> None:
        from tuling_fsm.ros.qos import input_publishers, message_class, profile

        self._executor = executor
        self.heard = Heard()
        self._publishers = input_publishers(node)
        for name, receive in (("trajectory", self.heard.plan), ("/diagnostics", self.heard.health)):
            topic = BY_NAME[name]
            node.create_subscription(message_class(topic.type), name, receive, profile(topic.qos), raw=True)

    def find(self) -> None:
        """Wait until the planner hears all that is sent."""
        self._spin_until(time.perf_counter() + FIND_S, self._found)

    def drive(self, simulation: Simulation) -> list[Sent]:
        """All ticks at their rate; the last answers are waited for."""
        sent: list[Sent] = []
        inputs = _with_route(simulation)
        messages = list(pack_inputs(inputs))
        gc.collect()
        gc.freeze()
        due = time.perf_counter() + STEP_S
        for _ in range(WARM + TICKS):
            self._spin_until(due)
            due = max(due, time.perf_counter() - STEP_S) + STEP_S
            sent.append(self._publish(inputs, messages))
            answered = partial(self.heard.arrived.__contains__, sent[-1].ns)
            self._spin_until(due - MOVE_S, answered)
            simulation.advance(unpack_trajectory(self.heard.trajectory) if self.heard.trajectory else None)
            previous, inputs = inputs, simulation.inputs()
            messages = list(pack_inputs(inputs, previous))
        self._spin_until(time.perf_counter() + LAST_S)
        gc.unfreeze()
        return sent

    def _publish(self, inputs: Inputs, messages: list[tuple[str, bytes]]) -> Sent:
        """A tick's messages; odometry is the last of them."""
        *first, (last, odometry) = messages
        for topic, raw in first:
            self._publishers[topic].publish(raw)
        began = time.perf_counter()
        self._publishers[last].publish(odometry)
        return Sent(nanoseconds(inputs.stamp), began, 0 if inputs.objects is None else len(inputs.objects.rows))

    def _found(self) -> bool:
        return all(publisher.get_subscription_count() for publisher in self._publishers.values())

    def _spin_until(self, end: float, done: Callable[[], bool] = lambda: False) -> None:
        while not done() and (left := end - time.perf_counter()) > 0.0:
            self._executor.spin_once(timeout_sec=left)


def _with_route(simulation: Simulation) -> Inputs:
    """The first frame, in which the route is pushed."""
    inputs = simulation.inputs()
    assert simulation.preset is not None
    return replace(inputs, route_answers=(RouteAnswer(inputs.stamp, -1, simulation.preset.poses()),))

"""The node `sim`: sends a frame, waits for the trajectory with its stamp, goes on to the next frame (SIM-1)."""

from __future__ import annotations

import json
import struct
import time
from functools import partial
from pathlib import Path

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from std_srvs.srv import Trigger

from tuling_fsm.agent import Parameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.ros.node_parameters import SimNodeParameters
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.planner import required_file
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.route_service import SERVER_MOOD
from tuling_fsm.ros.run_watch import RunWatch
from tuling_fsm.run import chosen_map, progress_line, write_results
from tuling_fsm.sim.result import result_of
from tuling_fsm.sim.scenario.commands import ServerMood
from tuling_fsm.sim.scenario.load import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, nanoseconds, stamp_ns
from tuling_fsm.wire.inputs import FLAGS, OPERATOR, pack_inputs
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_string
from tuling_fsm.wire.topics import BY_NAME, INPUTS, LATCHED, PATH, RELIABLE, STRING, Qos
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import Inputs

CLOCK = "rosgraph_msgs/msg/Clock"
WATCHED = ("state", "transition", "why", "trajectory")
"""Served in this order: the trajectory is the last message of a tick."""
UNSTAMPED = (*FLAGS, "mission", "route")
PROGRESS_PERIOD_S = 1.0
_POLL_S = 0.05
_FLUSH = Duration(seconds=1.0)


class SimNode(Node):
    """Everything comes from `Simulation`; here it only meets DDS.

    Raises:
        InputError: scenario or map cannot be used, or a parameter is bad.
    """

    def __init__(self) -> None:
        super().__init__("sim", automatically_declare_parameters_from_overrides=True)
        settings = ParameterServer(self, describe(SimNodeParameters), lambda: True)
        self._own = load(SimNodeParameters, settings.values)
        self._simulation = _open(self._own)
        self.finished = False
        self.interruptible = True
        self.exit_code = 0
        self._previous: Inputs | None = None
        self._asked_at: float | None = None
        self._resent_at = self._began = time.monotonic()
        self._said_at = -PROGRESS_PERIOD_S
        self._watch = RunWatch()
        self._make_topics()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_POLL_S, self._poll, clock=steady)

    def stop(self) -> None:
        """Nothing to bring to rest: the simulated car stands when nobody steps it."""

    def _make_topics(self) -> None:
        self._publishers_by_topic = {
            topic.name: self.create_publisher(
                message_class(topic.type), topic.name, profile(Qos(True, topic.qos.depth, topic.qos.latched))
            )
            for topic in INPUTS
        }
        self._clock_publisher = self.create_publisher(message_class(CLOCK), "/clock", profile(RELIABLE))
        self._preset = self.create_publisher(message_class(PATH), "preset_route", profile(LATCHED))
        self._moods = self.create_publisher(message_class(STRING), SERVER_MOOD, profile(LATCHED))
        self._mood = ServerMood.WELL
        self._operator = {name: self.create_client(Trigger, f"planner/{name}") for name in OPERATOR}
        for name in WATCHED:
            topic = BY_NAME[name]
            self.create_subscription(
                message_class(topic.type), name, partial(self._receive, name), profile(topic.qos), raw=True
            )

    def _poll(self) -> None:
        """Start once everybody is there; send a frame again, and give up, when no trajectory comes."""
        now = time.monotonic()
        if self._asked_at is None:
            if self._peers_are_there():
                self._begin()
            elif now - self._began > self._own.start_timeout:
                self._fail(f"planner or route server not there within {self._own.start_timeout:g} s")
        elif now - self._asked_at > self._own.answer_timeout:
            self._fail(f"no trajectory for {self._simulation.stamp:.3f} s within {self._own.answer_timeout:g} s")
        elif now - self._resent_at > self._own.resend_after:
            self._send(self._simulation.inputs(), None, again=True)

    def _peers_are_there(self) -> bool:
        everybody = [*self._publishers_by_topic.values(), self._preset]
        return all(publisher.get_subscription_count() for publisher in everybody) and all(
            self.count_publishers(name) for name in WATCHED
        )

    def _begin(self) -> None:
        if self._simulation.preset is not None:
            self._preset.publish(pack_path(0, self._simulation.preset.poses()))
            self._preset.wait_for_all_acked(_FLUSH)
        self._began = time.monotonic()
        self._send_frame()

    def _send_frame(self) -> None:
        """Send the present frame, after the route server's mood and what the operator does on it."""
        inputs, self._asked_at = self._simulation.inputs(), time.monotonic()
        mood = self._simulation.server.wish.mood
        if mood is not self._mood:
            self._mood = mood
            self._moods.publish(pack_string(mood.value))
            self._moods.wait_for_all_acked(_FLUSH)
        self._operate([name for name in OPERATOR if getattr(inputs, name)], inputs)

    def _operate(self, calls: list[str], inputs: Inputs) -> None:
        """Make the operator's calls one after the other, then send the frame."""
        if not calls:
            self._send(inputs, self._previous)
            return
        client, rest = self._operator[calls[0]], calls[1:]
        if client.service_is_ready():
            client.call_async(Trigger.Request()).add_done_callback(lambda _: self._operate(rest, inputs))
        else:
            self._operate(rest, inputs)

    def _send(self, inputs: Inputs, previous: Inputs | None, again: bool = False) -> None:
        """First what bears no stamp, acknowledged, then the tables, last the odometry; `again` only what bears one."""
        ns = nanoseconds(inputs.stamp)
        self._clock_publisher.publish(LITTLE_ENDIAN + struct.pack("<iI", *divmod(ns, 1_000_000_000)))
        messages = [pair for pair in pack_inputs(inputs, previous) if pair[0] in self._publishers_by_topic]
        first = [(topic, message) for topic, message in messages if topic in UNSTAMPED and not again]
        for topic, message in first:
            self._publishers_by_topic[topic].publish(message)
        for topic, _ in first:
            if _says_something_new(topic, inputs, previous):
                self._publishers_by_topic[topic].wait_for_all_acked(_FLUSH)
        for topic, message in messages:
            if topic not in UNSTAMPED:
                self._publishers_by_topic[topic].publish(message)
        self._resent_at = time.monotonic()

    def _receive(self, topic: str, raw: bytes) -> None:
        try:
            if topic == "trajectory":
                self._answered(raw)
            else:
                self._watch.receive(topic, raw)
        except InputError as error:
            self.get_logger().warning(str(error))

    def _answered(self, raw: bytes) -> None:
        """Advance by the trajectory of the present frame; those of other stamps were repeated, or tell of silence."""
        simulation = self._simulation
        if self.finished or self._asked_at is None or stamp_ns(raw) != nanoseconds(simulation.stamp):
            return
        trajectory = unpack_trajectory(raw)
        inputs = simulation.inputs()
        self._watch.note(inputs, 1e3 * (time.monotonic() - self._asked_at))
        if inputs.stamp - self._said_at >= PROGRESS_PERIOD_S:
            self._said_at = inputs.stamp
            print(progress_line(self._watch.log.rows[-1], simulation.route_completion), flush=True)
        simulation.advance(trajectory, self._watch.state)
        self._previous = inputs
        if simulation.finished:
            self._finish()
        else:
            self._send_frame()

    def _fail(self, why: str) -> None:
        self.get_logger().error(why)
        self._simulation.abort()
        self.exit_code = 1
        self._finish()

    def _finish(self) -> None:
        self.finished = True
        if not self._watch.log.rows:
            return
        result = result_of(self._simulation, self._watch.log, time.monotonic() - self._began)
        if self._own.out:
            write_results(Path(self._own.out), self._simulation.road_map, self._watch.log, result)


def _says_something_new(topic: str, inputs: Inputs, previous: Inputs | None) -> bool:
    """Whether it is more than a heartbeat: an acknowledgement costs milliseconds."""
    before = None if previous is None else getattr(previous, topic, None)
    return topic not in FLAGS or before is None or before.value != getattr(inputs, topic).value


def _open(own: SimNodeParameters) -> Simulation:
    try:
        overrides = json.loads(own.overrides) if own.overrides else {}
    except json.JSONDecodeError as error:
        raise InputError("overrides", f"no JSON: {error}", "an object of variables and their values") from None
    scenario = load_scenario(required_file("scenario", own.scenario), overrides)
    map_file = chosen_map(scenario, Path(own.map_file) if own.map_file else None)
    return Simulation(read_map(map_file), scenario, own.seed, Parameters().vehicle)

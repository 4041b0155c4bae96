"""The node `sim`: sends a frame, waits for the trajectory with its stamp, goes on to the next frame (SIM-1)."""

from __future__ import annotations

import struct
import time
from pathlib import Path

from rclpy.clock import Clock, ClockType

from tuling_fsm.agent import Parameters
from tuling_fsm.core.parameters import describe, load, nest
from tuling_fsm.core.topics import RELIABLE
from tuling_fsm.drive_status import DriveStatus
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.ros.node_parameters import STATUS, SimNodeParameters, in_home, planner_specs
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.planner_link import PlannerLink
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.scenario_parameter import read_scenario
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.run import RunProgress, chosen_map, write_results
from tuling_fsm.sim.reporting.result import result_of
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, nanoseconds, stamp_ns
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import Inputs

CLOCK = "rosgraph_msgs/msg/Clock"
_POLL_S = 0.05
_FLUSH_S = 30.0
"""What bears no stamp is waited for, on a machine that stalls too: a run would not repeat without."""


class SimNode(ServedNode):
    """Everything comes from `Simulation`; here it only meets DDS. Of a file of the planner's parameters it takes those
    of the car.

    Raises:
        InputError: scenario or map cannot be used, or a parameter is bad.
    """

    def __init__(self) -> None:
        super().__init__("sim", automatically_declare_parameters_from_overrides=True)
        of_planner = {spec.name for spec in planner_specs(Parameters)}
        settings = ParameterServer(self, describe(SimNodeParameters), of_others=of_planner)
        self._own = in_home(load(SimNodeParameters, nest(settings.values)))
        self._simulation = _open(self._own)
        self._previous: Inputs | None = None
        self._asked_at: float | None = None
        self._resent_at = self._began = time.monotonic()
        self._link = PlannerLink(self, self._answered, _FLUSH_S)
        status = _print_status if self._own.status_lines else None
        self._tell = RunProgress(self._simulation, self._link.watch.log, _print_line, status)
        self._clock_publisher = self.create_publisher(message_class(CLOCK), "/clock", profile(RELIABLE))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(_POLL_S, self._poll, clock=steady)

    def _poll(self) -> None:
        """Start once planner and route server are connected; send a frame again, and give up, without a trajectory."""
        now = time.monotonic()
        if self._asked_at is None:
            if self._link.all_connected():
                self._begin()
            elif now - self._began > self._own.start_timeout:
                self._fail(f"planner or route server not there within {self._own.start_timeout:g} s")
        elif self._link.lost:
            self._fail(f"what was sent did not arrive within {_FLUSH_S:g} s")
        elif now - self._asked_at > self._own.answer_timeout:
            self._fail(f"no trajectory for {self._simulation.stamp:.3f} s within {self._own.answer_timeout:g} s")
        elif now - self._resent_at > self._own.resend_after:
            self._tell_time(self._simulation.stamp)
            self._link.send_again(self._simulation.inputs())
            self._resent_at = time.monotonic()

    def _begin(self) -> None:
        self._link.preset_route(self._simulation.preset)
        self._began = time.monotonic()
        self._send_frame()

    def _send_frame(self) -> None:
        inputs, self._asked_at = self._simulation.inputs(), time.monotonic()
        self._tell_time(inputs.stamp)
        self._link.send_frame(inputs, self._previous, self._simulation.server.settings.behaviour)
        self._resent_at = time.monotonic()

    def _tell_time(self, stamp: float) -> None:
        seconds_ns = divmod(nanoseconds(stamp), 1_000_000_000)
        self._clock_publisher.publish(LITTLE_ENDIAN + struct.pack("<iI", *seconds_ns))

    def _answered(self, raw: bytes) -> None:
        """Advance by the trajectory of the present frame; those of other stamps were repeated, or tell of silence."""
        simulation, watch = self._simulation, self._link.watch
        if self.finished or self._asked_at is None or stamp_ns(raw) != nanoseconds(simulation.stamp):
            return
        trajectory = unpack_trajectory(raw)
        inputs = simulation.inputs()
        watch.note(inputs.stamp, simulation.ego, 1e3 * (time.monotonic() - self._asked_at))
        self._tell.tick(watch.timers)
        simulation.advance(trajectory, watch.state)
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
        log = self._link.watch.log
        if not log.rows:
            return
        result = result_of(self._simulation, log, time.monotonic() - self._began)
        if self._own.out:
            write_results(Path(self._own.out), self._simulation.road_map, log, result)


def _print_line(line: str) -> None:
    print(line, flush=True)


def _print_status(status: DriveStatus) -> None:
    print(f"{STATUS}{status.to_json()}", flush=True)


def _open(own: SimNodeParameters) -> Simulation:
    mission_file = Path(own.mission_file) if own.mission_file else None
    scenario = read_scenario(own.scenario, own.overrides).with_mission(mission_file)
    map_file = chosen_map(scenario, Path(own.map_file) if own.map_file else None)
    return Simulation(read_map(map_file), scenario, own.seed, own.vehicle)

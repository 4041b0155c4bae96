"""The bridge between CARLA and the planner, tick by tick: exactly one command each (CAR-1). No ROS here.

A tick begins with the first message that bears its stamp. When all of it is there it goes to the planner; the
trajectory with its stamp becomes the command. Before the planner is there, when something of a tick is missing or when
no trajectory comes in time, the command holds the car or brakes it. Nothing is sent while nothing comes, as when CARLA
is paused.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.standing import LINGERS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.ros.carla.actor_spawner import ActorClient, EgoSpawner
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.carla.scenario_runner import ScenarioRunner
from tuling_fsm.ros.carla.view import CarlaView
from tuling_fsm.ros.last_resort import braking, is_elsewhere
from tuling_fsm.ros.run_watch import RunWatch
from tuling_fsm.sim.ego.tracker import control, course, gains
from tuling_fsm.sim.scenario.choices import ServerBehaviour
from tuling_fsm.wire.carla.pedals import PedalController, Pedals, TrackerOutput, pack_pedals
from tuling_fsm.wire.carla.vehicle import AxleOffsets, EgoMotion
from tuling_fsm.wire.cdr import seconds, stamp_ns
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import BoolMessage, Inputs, Odometry, StampedRows


class EgoController:
    """One command a tick, with a plan or without.

    Args:
        parameters: of the node.
    """

    def __init__(self, parameters: CarlaParameters) -> None:
        self._parameters = parameters
        self._pedals = PedalController(parameters.pedals)
        self._max_steer = parameters.vehicle.max_steer
        self._gains = gains(parameters.vehicle, parameters.dynamics, parameters.tracker)
        self._steer = 0.0
        self._last: Trajectory | None = None

    def update_parameters(self, parameters: CarlaParameters) -> None:
        """Live parameters for the next tick."""
        self._parameters = parameters
        self._pedals.parameters = parameters.pedals

    def update_axles(self, axles: AxleOffsets) -> None:
        """Wheelbase and steering of the car that is really there."""
        vehicle = _with_axles(self._parameters.vehicle, axles)
        self._max_steer = axles.max_steer
        self._gains = gains(vehicle, self._parameters.dynamics, self._parameters.tracker)

    def warm_up(self) -> None:
        """Compile the tracker."""
        standing = Trajectory.standing(0.0, Pose(0.0, 0.0, 0.0))
        control(course(standing), 0.0, np.zeros(6), self._gains)

    def follow(self, plan: Trajectory, motion: EgoMotion, dt: float) -> Pedals:
        """The command of a tick of `dt` s that begins with this motion."""
        self._forget_where_off(motion.odometry)
        self._last = plan
        return self._track(plan, motion, dt)

    def stop(self, motion: EgoMotion | None, dt: float) -> Pedals:
        """Brake along the last plan, without one or off it straight on; hold where the car stands or nothing is known
        of it.
        """
        if motion is None or abs(motion.odometry.v) < LINGERS:
            hold = TrackerOutput(self._steer, 0.0, 1.0, True)
            return self._pedals.press(hold, 0.0, 0.0, self._max_steer, dt)
        odometry, decel = motion.odometry, self._parameters.vehicle.comfort_decel
        self._forget_where_off(odometry)
        if self._last is not None and self._last.end_stamp > odometry.stamp:
            self._last = braking(self._last, odometry.stamp, decel)
            return self._track(self._last, motion, dt)
        output = TrackerOutput(self._steer, -decel, math.copysign(1.0, odometry.v), False)
        return self._pedals.press(output, odometry.v, motion.pitch, self._max_steer, dt)

    def full_stop(self) -> Pedals:
        """Brake hard, the wheels as they are."""
        parameters = self._parameters
        brake = min(parameters.vehicle.emergency_decel / parameters.pedals.full_brake_decel, 1.0)
        return Pedals(0.0, brake, min(max(-self._steer / self._max_steer, -1.0), 1.0), False)

    def _forget_where_off(self, odometry: Odometry) -> None:
        """Where the last plan is none for this car, nothing that was done on it says what to do now."""
        if self._last is not None and _is_off(self._last, odometry):
            self._last, self._steer = None, 0.0
            self._pedals.forget()

    def _track(self, plan: Trajectory, motion: EgoMotion, dt: float) -> Pedals:
        odometry = motion.odometry
        state = np.array((*odometry.pose, odometry.v, 0.0, self._steer))
        wanted = control(course(plan), odometry.stamp - plan.stamp + 0.5 * dt, state, self._gains)
        self._steer = float(wanted.steer)
        output = TrackerOutput(self._steer, float(wanted.accel), float(wanted.gear), bool(wanted.hold))
        return self._pedals.press(output, odometry.v, motion.pitch, self._max_steer, dt)


def _is_off(plan: Trajectory, odometry: Odometry) -> bool:
    """Whether a plan is none for this car: of a world that was there before, or the car was put elsewhere."""
    return odometry.stamp < plan.stamp or is_elsewhere(plan, odometry.stamp, odometry.pose)


def _with_axles(vehicle: Vehicle, axles: AxleOffsets) -> Vehicle:
    return replace(vehicle, wheelbase=axles.wheelbase, max_steer=axles.max_steer)


WORLD_RELOADED_NS = 1_000_000_000
"""A stamp that lies further back than this belongs to a new world; a nearer one came late, unless its topic goes on
from there."""


class PendingTicks:
    """Keeps count of CARLA's ticks, and of which one waits for its command."""

    def __init__(self) -> None:
        self.last: int | None = None
        """Stamp (ns) of the last tick that was heard of."""
        self.pending: int | None = None
        """Stamp of the tick that has no command yet."""
        self.commands = 0
        self.dropped = 0
        """Ticks that were over before their command was there."""
        self._heard: dict[str, int] = {}
        """The latest stamp of each topic since the last tick began."""
        self._set_back: set[str] = set()
        """Topics whose stamps have gone back since then."""

    def begin_tick(self, topic: str, ns: int) -> bool:
        """A message of the tick with this stamp has come; whether that is a new tick."""
        if self.last is not None and self.last - WORLD_RELOADED_NS <= ns <= self.last and not self._goes_on(topic, ns):
            return False
        self._heard, self._set_back = {topic: ns}, set()
        self.dropped += self.pending is not None
        self.last = self.pending = ns
        return True

    def _goes_on(self, topic: str, ns: int) -> bool:
        """Whether a topic goes on from where its stamps have gone back to. A topic that is late keeps its order, and a
        single message of it that is overtaken is followed by none.
        """
        before, self._heard[topic] = self._heard.get(topic, ns), ns
        if ns < before:
            self._set_back.add(topic)
        assert self.last is not None
        return topic in self._set_back and before < ns < self.last

    def settle(self, ns: int) -> bool:
        """Whether a command for this tick is to be sent now; then it counts as sent."""
        if self.pending != ns:
            return False
        self.pending = None
        self.commands += 1
        return True


EGO_STATUS = "{role}/vehicle_status"
EGO_ODOMETRY = "{role}/odometry"
RESEND_SHARE = 0.5
"""A frame is sent again after this share of the time in which it has to be answered."""


class CarlaClient(ActorClient, Protocol):
    """CARLA's topics and services: `CarlaTopics`."""

    def command(self, message: bytes) -> None:
        """Send the ego's command."""

    def weather(self, message: bytes) -> None:
        """Set the weather."""

    def has_publisher(self, name: str) -> bool:
        """Whether a topic of `HEARD` has a publisher."""

    def ready_to_spawn(self) -> bool:
        """Whether the services are there."""


class PlannerClient(Protocol):
    """The planner's topics: `PlannerLink`."""

    watch: RunWatch

    def all_connected(self) -> bool:
        """Planner and route server."""

    def planner_connected(self) -> bool:
        """The planner."""

    def preset_route(self, route: Route | None) -> None:
        """What the route server shall answer."""

    def send_frame(
        self, inputs: Inputs, previous: Inputs | None, server_behaviour: ServerBehaviour = ServerBehaviour.WELL
    ) -> None:
        """Send a frame."""

    def send_again(self, inputs: Inputs) -> None:
        """Send it once more."""


class CarlaDrive:
    """From CARLA's messages to CARLA's commands.

    Args:
        parameters: of the node.
        road_map: of the CARLA world.
        runner: of the scenario, if there is one.
        carla: its topics and services.
        planner: its topics.
        report: told in one line of what is wrong.
        clock: seconds of wall time; nothing but how long an answer takes is judged by it.
    """

    def __init__(
        self,
        parameters: CarlaParameters,
        road_map: RoadMap,
        runner: ScenarioRunner | None,
        carla: CarlaClient,
        planner: PlannerClient,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parameters, self._runner, self._carla, self._planner = parameters, runner, carla, planner
        self._report, self._clock = report, clock
        self.view = CarlaView(road_map, parameters.vehicle, report)
        self.ticks = PendingTicks()
        self._controller = EgoController(parameters)
        self._controller.warm_up()
        start = None if runner is None else runner.start
        self._ego_spawner = EgoSpawner(parameters.role, parameters.ego_type, start, carla, report)
        self._pending_since = self._resent_at = 0.0
        self._sent: Inputs | None = None
        """The frame that the planner has been given last."""
        self._asked_ns: int | None = None
        self._plan: Trajectory | None = None
        self._rain = BoolMessage(0.0, False)
        self.late = 0
        """Ticks that were braked because no trajectory came."""
        self._late_before = False
        self.ended_with: int | None = None
        """Stamp of the tick whose command was the last brake; None while it is not sent."""
        self._ending = False

    @property
    def finished(self) -> bool:
        """Whether the scenario is over."""
        return self._runner is not None and self._runner.finished

    @property
    def driving(self) -> bool:
        """Whether the planner has been given a frame."""
        return self._sent is not None

    def update_parameters(self, parameters: CarlaParameters) -> None:
        """Live parameters for the next tick."""
        self._parameters = parameters
        self._controller.update_parameters(parameters)

    def receive(self, name: str, raw: bytes) -> None:
        """A message of CARLA."""
        try:
            self.view.take(name, raw)
            if name == "{role}/vehicle_info":
                self._controller.update_axles(self.view.axles)
            elif name in (EGO_STATUS, EGO_ODOMETRY):
                self._tick(name, stamp_ns(raw))
        except InputError as error:
            self._report(str(error))
        self._send_when_complete()

    def answered(self, raw: bytes) -> None:
        """A trajectory of the planner; one of another stamp was sent again, or came too late."""
        ns = stamp_ns(raw)
        if ns != self.ticks.pending or ns != self._asked_ns or self._sent is None or self.view.motion is None:
            return
        plan = unpack_trajectory(raw)
        self._late_before = False
        self._log_row()
        self._plan = plan if self._runner is None else self._runner.in_map(plan)
        if self._runner is not None and self._runner.braking:
            self._send(ns, self._stop())
        else:
            self._send(ns, self._controller.follow(self._plan, self.view.motion, self.view.delta))

    def poll(self) -> None:
        """Every now and then: spawn what has to be there, send a frame again, brake where no answer comes."""
        if self._carla.ready_to_spawn():
            self._ego_spawner.spawn()
        pending, waited = self.ticks.pending, self._clock() - self._pending_since
        if pending is None:
            return
        if waited > self._parameters.answer_timeout:
            self._time_out(pending)
        elif (
            pending == self._asked_ns
            and self._clock() - self._resent_at > RESEND_SHARE * self._parameters.answer_timeout
        ):
            self._resent_at = self._clock()
            assert self._sent is not None
            self._planner.send_again(self._sent)

    def end(self) -> None:
        """Brake from now on whatever the planner says: CARLA goes on with the last command."""
        self._ending = True
        if self.ticks.pending is not None:
            self._send_last(self.ticks.pending)

    def end_without_a_tick(self) -> None:
        """No tick has come to be answered with the brake: better one command too many than the throttle left on."""
        if self.driving and self.ended_with is None and self.ticks.last is not None:
            self._carla.command(pack_pedals(self.ticks.last, self._controller.full_stop()))

    def destroy_all(self) -> None:
        """Take away from CARLA what was put there."""
        if self._runner is not None:
            self._runner.destroy_all()
        self._ego_spawner.destroy_all()

    def _send_last(self, ns: int) -> None:
        """The brake that stays on."""
        self._send(ns, self._controller.full_stop())
        self.ended_with = ns

    def _time_out(self, pending: int) -> None:
        """Brake, and say so once until a trajectory has come again."""
        self.late += 1
        if not self._late_before:
            what = "trajectory" if pending == self._asked_ns else "odometry and objects of CARLA"
            self._report(
                f"no {what} for {seconds(pending):.3f} s within {self._parameters.answer_timeout:g} s: braking"
            )
        self._late_before = True
        self._send(pending, self._stop())

    def _tick(self, name: str, ns: int) -> None:
        """A message of the ego: its tick is owed a command, at once where nothing more will come."""
        if self.ticks.begin_tick(name, ns):
            self._pending_since = self._resent_at = self._clock()
        if self._ending and self.ticks.pending == ns:
            self._send_last(ns)
        if name == EGO_STATUS and self.ticks.pending == ns and not self._carla.has_publisher(EGO_ODOMETRY):
            self._send(ns, self._stop())

    def _send_when_complete(self) -> None:
        """Give the tick to the planner once all of it is there."""
        ns = self.ticks.pending
        if ns is None or ns == self._asked_ns or not self.view.complete(ns):
            return
        if not self.driving and not self._all_ready():
            self._send(ns, self._stop())
            return
        inputs = self._frame()
        if self.finished:
            self._send(ns, self._stop())
            return
        previous, self._sent, self._asked_ns = self._sent, inputs, ns
        self._planner.send_frame(
            inputs, previous, ServerBehaviour.WELL if self._runner is None else self._runner.server_behaviour
        )

    def _all_ready(self) -> bool:
        """Whether the first frame can be sent."""
        motion = self.view.motion
        assert motion is not None
        if self._runner is None:
            return self._planner.planner_connected()
        spawned = self._carla.ready_to_spawn() and self._runner.spawn_all()
        return self._ego_spawner.at_start(motion.odometry) and spawned and self._planner.all_connected()

    def _frame(self) -> Inputs:
        """What the planner is told of this tick."""
        motion, objects = self.view.motion, self.view.objects
        assert motion is not None and objects is not None
        odometry, lights = motion.odometry, self.view.lights()
        if self._runner is not None:
            if not self.driving:
                self._planner.preset_route(self._runner.preset)
            inputs = self._runner.step(odometry, lights, objects, self._plan, self._planner.watch.state)
            rain = inputs.rain_fog
            return self._flags(inputs, rain is not None and rain.value)
        inputs = Inputs(odometry.stamp, odometry, objects, traffic_lights=StampedRows(odometry.stamp, lights))
        if self._parameters.waypoints and self.view.waypoints is not None:
            inputs = replace(inputs, route_answers=(self.view.waypoints,))
            self.view.waypoints = None
        if self._parameters.emergency_stop != "none":
            inputs = replace(
                inputs, emergency_stop=BoolMessage(inputs.stamp, self._parameters.emergency_stop == "stop")
            )
        return self._flags(inputs, self.view.rain_fog)

    def _flags(self, inputs: Inputs, rains: bool) -> Inputs:
        """The same with rain and fog also by parameter, and a message of it only when it changes. What CARLA tells of
        the objects stands for a radar that works.
        """
        value = rains or self._parameters.rain_fog
        if value != self._rain.value or not self.driving:
            self._rain = BoolMessage(inputs.stamp, value)
        changes: dict[str, Any] = {"rain_fog": self._rain, "radar_health": BoolMessage(inputs.stamp, True)}
        return replace(inputs, **changes)

    def _stop(self) -> Pedals:
        fresh = self.view.motion_ns == self.ticks.last
        return self._controller.stop(self.view.motion if fresh else None, self.view.delta)

    def _send(self, ns: int, pedals: Pedals) -> None:
        """The tick's one command."""
        if self.ticks.settle(ns):
            self._carla.command(pack_pedals(ns, pedals))

    def _log_row(self) -> None:
        """A row for the report, by the scenario's own time."""
        if self._runner is not None:
            took_ms = 1e3 * (self._clock() - self._pending_since)
            self._planner.watch.note(self._runner.stamp, self._runner.ego, took_ms)

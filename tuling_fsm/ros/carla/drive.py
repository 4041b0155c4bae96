"""The bridge between CARLA and the planner, tick by tick: exactly one command each (CAR-1). No ROS here.

A tick begins with the first message that bears its stamp. When all of it is there it goes to the planner; the
trajectory with its stamp becomes the command. Before the planner is there, when something of a tick is missing or when
no trajectory comes in time, the command holds the car or brakes it. Nothing is sent while nothing comes, as when CARLA
is paused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.ros.carla.chauffeur import Chauffeur
from tuling_fsm.ros.carla.ego import EgoBerth
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.carla.play import Play
from tuling_fsm.ros.carla.ticks import Ticks
from tuling_fsm.ros.carla.troupe import Stagehand
from tuling_fsm.ros.carla.view import CarlaView
from tuling_fsm.ros.run_watch import RunWatch
from tuling_fsm.sim.scenario.choices import ServerMood
from tuling_fsm.wire.carla.pedals import Pedals, pack_pedals
from tuling_fsm.wire.cdr import seconds, stamp_ns
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import Flag, Inputs, Table

STATUS_OF_THE_EGO = "{role}/vehicle_status"
ODOMETRY_OF_THE_EGO = "{role}/odometry"
RESEND_SHARE = 0.5
"""A frame is sent again after this share of the time in which it has to be answered."""


class Carla(Stagehand, Protocol):
    """CARLA's topics and services: `CarlaTopics`."""

    def command(self, message: bytes) -> None:
        """Send the ego's command."""

    def weather(self, message: bytes) -> None:
        """Set the weather."""

    def speaks(self, name: str) -> bool:
        """Whether anybody publishes a topic of `HEARD`."""

    def ready_to_spawn(self) -> bool:
        """Whether the services are there."""


class Planner(Protocol):
    """The planner's topics: `PlannerLink`."""

    watch: RunWatch

    def everybody_is_there(self) -> bool:
        """Planner and route server."""

    def planner_is_there(self) -> bool:
        """The planner."""

    def preset_route(self, route: Route | None) -> None:
        """What the route server shall answer."""

    def send_frame(self, inputs: Inputs, previous: Inputs | None, mood: ServerMood = ServerMood.WELL) -> None:
        """Send a frame."""

    def send_again(self, inputs: Inputs) -> None:
        """Send it once more."""


class CarlaDrive:
    """From CARLA's messages to CARLA's commands.

    Args:
        own: the node's parameters.
        road_map: of the CARLA world.
        play: the scenario, if one is played.
        carla: its topics and services.
        planner: its topics.
        report: told in one line of what is wrong.
        clock: seconds of wall time; nothing but how long an answer takes is judged by it.
    """

    def __init__(
        self,
        own: CarlaParameters,
        road_map: RoadMap,
        play: Play | None,
        carla: Carla,
        planner: Planner,
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own, self._play, self._carla, self._planner = own, play, carla, planner
        self._report, self._clock = report, clock
        self.view = CarlaView(road_map, own.vehicle, report)
        self.ticks = Ticks()
        self._chauffeur = Chauffeur(own)
        self._chauffeur.warm_up()
        start = None if play is None else play.start
        self._berth = EgoBerth(own.role, own.ego_type, start, carla, report)
        self._owed_at = self._resent_at = 0.0
        self._sent: Inputs | None = None
        """The frame that the planner has been given last."""
        self._asked_ns: int | None = None
        self._plan: Trajectory | None = None
        self._rain = Flag(0.0, False)
        self.late = 0
        """Ticks that were braked because no trajectory came."""
        self._late_before = False
        self.ended_with: int | None = None
        """Stamp of the tick whose command was the last brake; None while it is not sent."""
        self._ending = False

    @property
    def finished(self) -> bool:
        """Whether the scenario is over."""
        return self._play is not None and self._play.finished

    @property
    def driving(self) -> bool:
        """Whether the planner has been given a frame."""
        return self._sent is not None

    def take_parameters(self, own: CarlaParameters) -> None:
        """Live parameters for the next tick."""
        self._own = own
        self._chauffeur.take_parameters(own)

    def hear(self, name: str, raw: bytes) -> None:
        """A message of CARLA."""
        try:
            self.view.take(name, raw)
            if name == "{role}/vehicle_info":
                self._chauffeur.take_axles(self.view.axles)
            elif name in (STATUS_OF_THE_EGO, ODOMETRY_OF_THE_EGO):
                self._tick(name, stamp_ns(raw))
        except InputError as error:
            self._report(str(error))
        self._go_on()

    def answered(self, raw: bytes) -> None:
        """A trajectory of the planner; one of another stamp was sent again, or came too late."""
        ns = stamp_ns(raw)
        if ns != self.ticks.owed or ns != self._asked_ns or self._sent is None or self.view.motion is None:
            return
        plan = unpack_trajectory(raw)
        self._late_before = False
        self._note()
        self._plan = plan if self._play is None else self._play.in_map(plan)
        if self._play is not None and self._play.braking:
            self._send(ns, self._stop())
        else:
            self._send(ns, self._chauffeur.follow(self._plan, self.view.motion, self.view.delta))

    def poll(self) -> None:
        """Every now and then: spawn what has to be there, send a frame again, brake where no answer comes."""
        if self._carla.ready_to_spawn():
            self._berth.spawn()
        owed, waited = self.ticks.owed, self._clock() - self._owed_at
        if owed is None:
            return
        if waited > self._own.answer_timeout:
            self._give_up(owed)
        elif owed == self._asked_ns and self._clock() - self._resent_at > RESEND_SHARE * self._own.answer_timeout:
            self._resent_at = self._clock()
            assert self._sent is not None
            self._planner.send_again(self._sent)

    def end(self) -> None:
        """Brake from now on whatever the planner says: CARLA goes on with the last command."""
        self._ending = True
        if self.ticks.owed is not None:
            self._send_last(self.ticks.owed)

    def end_without_a_tick(self) -> None:
        """No tick has come to be answered with the brake: better one command too many than the throttle left on."""
        if self.driving and self.ended_with is None and self.ticks.last is not None:
            self._carla.command(pack_pedals(self.ticks.last, self._chauffeur.full_stop()))

    def dismiss(self) -> None:
        """Take away from CARLA what was put there."""
        if self._play is not None:
            self._play.dismiss()
        self._berth.dismiss()

    def _send_last(self, ns: int) -> None:
        """The brake that stays on."""
        self._send(ns, self._chauffeur.full_stop())
        self.ended_with = ns

    def _give_up(self, owed: int) -> None:
        """Brake, and say so once until a trajectory has come again."""
        self.late += 1
        if not self._late_before:
            what = "trajectory" if owed == self._asked_ns else "odometry and objects of CARLA"
            self._report(f"no {what} for {seconds(owed):.3f} s within {self._own.answer_timeout:g} s: braking")
        self._late_before = True
        self._send(owed, self._stop())

    def _tick(self, name: str, ns: int) -> None:
        """A message of the ego: its tick is owed a command, at once where nothing more will come."""
        if self.ticks.heard(ns):
            self._owed_at = self._resent_at = self._clock()
        if self._ending and self.ticks.owed == ns:
            self._send_last(ns)
        if name == STATUS_OF_THE_EGO and self.ticks.owed == ns and not self._carla.speaks(ODOMETRY_OF_THE_EGO):
            self._send(ns, self._stop())

    def _go_on(self) -> None:
        """Give the tick to the planner once all of it is there."""
        ns = self.ticks.owed
        if ns is None or ns == self._asked_ns or not self.view.complete(ns):
            return
        if not self.driving and not self._everything_is_there():
            self._send(ns, self._stop())
            return
        inputs = self._frame()
        if self.finished:
            self._send(ns, self._stop())
            return
        previous, self._sent, self._asked_ns = self._sent, inputs, ns
        self._planner.send_frame(inputs, previous, ServerMood.WELL if self._play is None else self._play.mood)

    def _everything_is_there(self) -> bool:
        """Whether the first frame can be sent."""
        motion = self.view.motion
        assert motion is not None
        if self._play is None:
            return self._planner.planner_is_there()
        gathered = self._carla.ready_to_spawn() and self._play.gather()
        return self._berth.is_there(motion.odometry) and gathered and self._planner.everybody_is_there()

    def _frame(self) -> Inputs:
        """What the planner is told of this tick."""
        motion, objects = self.view.motion, self.view.objects
        assert motion is not None and objects is not None
        odometry, lights = motion.odometry, self.view.lights()
        if self._play is not None:
            if not self.driving:
                self._planner.preset_route(self._play.preset)
            told = self._play.step(odometry, lights, objects, self._plan, self._planner.watch.state)
            rain = told.rain_fog
            return self._flags(told, rain is not None and rain.value)
        told = Inputs(odometry.stamp, odometry, objects, traffic_lights=Table(odometry.stamp, lights))
        if self._own.waypoints and self.view.waypoints is not None:
            told = replace(told, route_answers=(self.view.waypoints,))
            self.view.waypoints = None
        if self._own.emergency_stop != "none":
            told = replace(told, emergency_stop=Flag(told.stamp, self._own.emergency_stop == "stop"))
        return self._flags(told, self.view.rain_fog)

    def _flags(self, told: Inputs, rains: bool) -> Inputs:
        """The same with rain and fog also by parameter, and a message of it only when it changes."""
        value = rains or self._own.rain_fog
        if value != self._rain.value or not self.driving:
            self._rain = Flag(told.stamp, value)
        changes: dict[str, Any] = {"rain_fog": self._rain}
        return replace(told, **changes)

    def _stop(self) -> Pedals:
        fresh = self.view.motion_ns == self.ticks.last
        return self._chauffeur.stop(self.view.motion if fresh else None, self.view.delta)

    def _send(self, ns: int, pedals: Pedals) -> None:
        """The tick's one command."""
        if self.ticks.pay(ns):
            self._carla.command(pack_pedals(ns, pedals))

    def _note(self) -> None:
        """A row for the report, by the scenario's own time."""
        assert self._sent is not None
        if self._play is not None:
            mine = replace(self._sent, stamp=self._play.stamp)
            self._planner.watch.note(mine, 1e3 * (self._clock() - self._owed_at))

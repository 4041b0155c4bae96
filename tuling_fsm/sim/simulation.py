"""The closed loop in fixed steps: gives a frame's inputs, waits for the plan, moves everything, judges, goes on
(SIM-1).

All that is random comes from the seed; nothing reads a clock, iterates over sets or depends on the process: the same
map, scenario and seed give the same trace, bit for bit (SIM-2).
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.bodies import center_ahead
from tuling_fsm.sim.ego import EgoCar
from tuling_fsm.sim.ego_way import EgoWay
from tuling_fsm.sim.ending import Ending, time_limit
from tuling_fsm.sim.environment import Environment
from tuling_fsm.sim.feed import Feed
from tuling_fsm.sim.ground import ground_under
from tuling_fsm.sim.history import History
from tuling_fsm.sim.lights import TrafficLights
from tuling_fsm.sim.on_map import check_on_map
from tuling_fsm.sim.opening import road_users
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.sim.referee import CarState, Infraction, Referee
from tuling_fsm.sim.roll_call import Actor, RollCall
from tuling_fsm.sim.route_server import RouteServer
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.model import EGO, ActorState, Scenario
from tuling_fsm.sim.scenario.storyboard import Storyboard
from tuling_fsm.sim.seeds import Seeds, generator
from tuling_fsm.sim.server_link import ServerLink, frames_of
from tuling_fsm.sim.services import Services
from tuling_fsm.sim.setting import ego_setting
from tuling_fsm.sim.traffic.vehicle_lights import Weather
from tuling_fsm.sim.view import View
from tuling_fsm.sim.walkers import Walkers
from tuling_fsm.world.inputs import Inputs, RouteRequest


class Simulation:
    """One run. `inputs` and `request_route` speak for the present frame, `advance` goes to the next one."""

    def __init__(
        self, road_map: RoadMap, scenario: Scenario, seed: int, vehicle: Vehicle, settings: SimParameters | None = None
    ) -> None:
        self.road_map, self.scenario, self.seed, self.vehicle = road_map, scenario, seed, vehicle
        self.settings = settings if settings is not None else SimParameters()
        p = self.settings
        self.dt = p.stepping.fixed_delta
        """Length of a frame, s."""
        p.stepping.substeps(self.dt)
        self._ns = 0
        self.frame = 0
        check_on_map(scenario, road_map)
        seeds = Seeds.of(seed)
        setting = ego_setting(road_map, scenario, generator(seeds.setting), center_ahead(vehicle))
        self.preset = setting.route
        """The route that the scenario asks for; None where a mission leads."""
        self.ego = EgoCar(setting.start, scenario.ego_speed, vehicle, p.dynamics, p.tracker)
        self._feed = Feed(road_map, scenario, setting.route, p.sensors, seeds.sensors)
        self.services = Services(self._feed.mission, road_map, vehicle)
        self.lights = TrafficLights(road_map, seeds.lights, p.lights)
        users = road_users(road_map, scenario, setting, self.lights.numbers, seeds, p.traffic)
        self.traffic, self.cast = users.traffic, users.cast
        self.walkers = Walkers(road_map, scenario.population.pedestrians, seeds.walkers, p.walkers)
        self.environment = Environment()
        self._storyboard = Storyboard(scenario, generator(seeds.storyboard))
        self.server = ServerLink(road_map, RouteServer(road_map, setting.route))
        self._way = EgoWay(road_map, vehicle, users.lanes, p.traffic.prediction)
        self._way.take_route(setting.route)
        self.referee = Referee(road_map, vehicle, p.referee)
        self._roll_call = RollCall(self.traffic, self.cast, self.walkers)
        limit = time_limit(scenario, setting.route, p.end, self._feed.mission.get("match_time_s") or math.inf)
        self._ending = Ending(setting.route, limit, vehicle, p.end, p.referee.standing)
        self.history = History(self.dt)
        self._trace = hashlib.sha256()
        self.distance_m = 0.0
        self.machine_state = ""
        self._command()
        self._look()

    # What the planner sees of the present frame.

    @property
    def stamp(self) -> float:
        """Time of the present frame, s."""
        return self._ns / 1e9

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return self._ending.end is not None

    @property
    def end(self) -> str | None:
        """Why it is over: `goal`, `parked`, `time`, `collision`, `error`; None while it goes on."""
        return self._ending.end

    @property
    def infractions(self) -> tuple[Infraction, ...]:
        """What the referee has written down."""
        return tuple(self.referee.infractions)

    @property
    def route(self) -> Route | None:
        """The route that the server has answered with last."""
        return self._way.route

    @property
    def route_completion(self) -> float:
        """Share of the scenario's route that is behind the ego, or of a mission's stops and its parking, 0 to 1."""
        if self.preset is not None:
            return self._ending.completion
        return (self.services.stops + (self.end == "parked")) / (self.services.wanted_stops + 1)

    def inputs(self) -> Inputs:
        """All that the planner is told of the present frame; the same on every call."""
        return self._inputs

    def request_route(self, request: RouteRequest) -> None:
        """Ask the route server; the answer comes a fixed number of frames later."""
        found = self.server.ask(request, self.stamp)
        if found is not None:
            due = self.frame + self.settings.sensors.route_latency + frames_of(found.delay, self.dt)
            self._feed.post(due, found.answer)
            self._way.take_route(self.server.server.current)

    def report_block(self, points: FloatArray) -> None:
        """Tell the route server that a stretch (points (N, >= 2), m) cannot be driven."""
        self.server.server.report_block(points, self.stamp)

    def clear_emergency_stop(self) -> None:
        """The operator's explicit clear, seen on the next frame (EST-3)."""
        self.environment.call("clear_emergency_stop")

    def again(self, seed: int) -> Simulation:
        """The same world from its beginning; it has no seed of its own to begin with again (SIM-2)."""
        return Simulation(self.road_map, self.scenario, seed, self.vehicle, self.settings)

    def abort(self) -> None:
        """End the run because something broke."""
        self._ending.end = "error"

    def actors(self) -> tuple[Actor, ...]:
        """Everybody but the ego, for drawing."""
        return self._roll_call.actors()

    def trace_sha256(self) -> str:
        """Digest of everything that has moved and happened so far."""
        digest = self._trace.copy()
        digest.update(repr((self.infractions, self.end)).encode())
        return digest.hexdigest()

    # From frame to frame.

    def advance(self, trajectory: Trajectory | None, state: str = "", delta: float | None = None) -> None:
        """Apply the plan of the present frame and go to the next one.

        Args:
            trajectory: what to follow; None when no plan came: the last one is followed on.
            state: the machine's state, which decides whether lines and road edges hold.
            delta: length of this frame (s) instead of the fixed one; such a run does not repeat.

        Raises:
            InputError: the frame is too long for its sub-steps.
            RuntimeError: the run is over.
        """
        if self.finished:
            raise RuntimeError("the run is over")
        dt = self.dt if delta is None else delta
        steps = self.settings.stepping.substeps(dt)
        self.machine_state = state
        lights = self.lights.states(self.stamp)
        light_of = dict(zip(self.lights.numbers, lights.tolist(), strict=True))
        pose, v = self.ego.pose, self.ego.v
        request = self._way.request(self.stamp, v, light_of, self._ground.junction_lanes)
        ego_boxes = self._way.boxes(pose, self._ground.z, v, self.ego.yaw_rate)
        ego_rows = np.column_stack((ego_boxes, np.zeros((len(ego_boxes), 2))))
        others = np.vstack((ego_rows, self._roll_call.predicted(self._free, self.settings.traffic.prediction)))
        heroes = np.array([(pose.x, pose.y)])
        self.traffic.weather = Weather(rain=self.environment.rains, fog=self.environment.foggy)
        goes = self.traffic.step(self.stamp, dt, others, lights, request, heroes)
        self._way.granted(goes)
        self.walkers.step(dt, self._roll_call.vehicles(self._free, ego_boxes[0]), light_of)
        self.cast.step(dt)
        if self.environment.ego_controlled:
            self.ego.drive(self._feed.in_map(trajectory), self.stamp, dt / steps, steps)
        else:
            self.ego.brake(dt / steps, steps)
        self.distance_m += 0.5 * abs(v + self.ego.v) * dt
        self.frame += 1
        self._ns += round(dt * 1e9)
        self._command()
        self._look()
        self._judge(dt, light_of)

    def _command(self) -> None:
        """All commands of the storyboard for this frame, in a batch (SIM-2)."""
        view = View(self.road_map, self.cast, self.stamp, self._ego_state())
        for command in self._storyboard.step(view):
            try:
                self._carry_out(command)
            except InputError as error:
                raise InputError(self.scenario.where_issued(command), error.what, error.expected) from error

    def _carry_out(self, command: commands.Command) -> None:
        if isinstance(command, commands.EnvironmentCommand):
            self.environment.apply(command)
        elif isinstance(command, commands.LightsCommand):
            self.lights.apply(command)
        elif isinstance(command, commands.SetRouteServer):
            self.server.apply(command)
        elif isinstance(command, commands.DisturbSensor):
            self._feed.channels.apply(command)
        elif isinstance(command, commands.PropsCommand):
            self.cast.apply_to_props(command, self.ego.pose)
        elif isinstance(command, commands.ActorCommand):
            if command.actor != EGO:
                self.cast.apply(command, self.ego.pose)
            elif isinstance(command, commands.EgoCommand):
                self._command_ego(command)
            else:
                raise InputError(EGO, f"the ego cannot {type(command).__name__}", "an action of the ego")
        else:
            assert_never(command)

    def _command_ego(self, command: commands.EgoCommand) -> None:
        match command:
            case commands.ActivateController(_, lateral, longitudinal):
                self.environment.ego_controlled = lateral or longitudinal
            case commands.Place(_, placement, speed):
                pose = self.cast.pose_of(placement, self.ego.pose)
                if pose is None:
                    raise InputError(EGO, f"no place {placement} on this map", "a place on the map")
                self.ego.place(pose, speed)
            case commands.ChangeSpeed(_, target, rate):
                self.ego.change_speed(target, rate)
            case _:
                assert_never(command)

    def _ego_state(self) -> ActorState:
        vehicle = self.vehicle
        return ActorState(self.ego.pose, self.ego.v, self.ego.a, vehicle.length, vehicle.width, center_ahead(vehicle))

    def _car_state(self) -> CarState:
        ego, ground = self.ego, self._ground
        return CarState(ego.pose, ground.z, ego.v, ego.a, ego.yaw_rate, ground.position, self.machine_state)

    def _look(self) -> None:
        """Gather what can be seen on the new frame, make the inputs, note the trace."""
        pose = self.ego.pose
        self._way.see(pose)
        self._ground = ground_under(self.road_map, self.referee.rules, self.vehicle, pose)
        self._free = self._roll_call.free()
        self._others = self._roll_call.others(self._free)
        self.environment.look()
        self._inputs = self._feed.inputs(
            self.frame, self.stamp, self._car_state(), self._way.lanes, self._others, self.lights, self.environment
        )
        self._trace.update(self.ego.state.tobytes())
        self._trace.update(self._others.boxes.tobytes())
        self._trace.update(self.lights.states(self.stamp).tobytes())
        self.history.note(self.frame, self.stamp, pose, self.ego.v, self._others)

    def _judge(self, dt: float, lights: dict[int, int]) -> None:
        car, environment = self._car_state(), self.environment
        lost = not environment.localized or not environment.odometry
        held = environment.emergency_stop or not environment.emergency_link or lost or not environment.ego_controlled
        self.referee.watch(self.stamp, dt, car, self._others, lights, self._way.lanes, held)
        self.services.watch(dt, car.pose, car.v)
        self._ending.watch(self.stamp, dt, car, self.referee.at_fault_collision)

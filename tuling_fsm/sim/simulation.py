"""The closed loop in fixed steps: gives a frame's inputs, waits for the plan, moves everything, judges, goes on
(SIM-1).

All that is random comes from the seed; nothing reads a clock, iterates over sets or depends on the process: the same
map, scenario and seed give the same trace, bit for bit (SIM-2).
"""

from __future__ import annotations

import dataclasses
import hashlib
import math

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.actors.agent_states import AgentState, AgentTable, EgoState, History
from tuling_fsm.sim.actors.foreign import ForeignStart, ForeignTraffic
from tuling_fsm.sim.actors.scripted import ON_MAP, StoryboardView
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.environment.route_server import RouteServer, ServerLink, frames_of
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.environment.weather import Environment
from tuling_fsm.sim.initial_state import ego_setting, initial_agents
from tuling_fsm.sim.parameters import SimParameters, TrackingErrorParameters
from tuling_fsm.sim.pedestrians.population import CrossingHabits, Pedestrians, RudePedestrians
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.maneuvers import ManeuverCommand
from tuling_fsm.sim.scenario.model import EGO, ActorState, Population, RandomRoute, Scenario
from tuling_fsm.sim.scenario.placements import in_words
from tuling_fsm.sim.scenario.storyboard import Storyboard
from tuling_fsm.sim.scenario.validation import check_on_map
from tuling_fsm.sim.scoring.completion import (
    EndConditions,
    Services,
    car_park_slots,
    final_slots,
    mission_goal,
    time_limit,
)
from tuling_fsm.sim.scoring.referee import Referee
from tuling_fsm.sim.scoring.road_rules import Ground, ground_under, level_before
from tuling_fsm.sim.scoring.score import Infraction
from tuling_fsm.sim.seeds import SeedStreams, generator
from tuling_fsm.sim.sensors.feed import InputFeed
from tuling_fsm.sim.sensors.localization import LocalizationError
from tuling_fsm.sim.traffic.ego_agent import EgoAgent
from tuling_fsm.sim.traffic.manager import EGO_AS_SEEN
from tuling_fsm.sim.traffic.rude.drivers import RudeDrivers
from tuling_fsm.sim.traffic.rude.parameters import RudeParameters
from tuling_fsm.sim.traffic.stages import LightConditions
from tuling_fsm.world.inputs import Inputs, RouteRequest

SHORTER_M = 1.0
"""A random route that is shorter than asked by more than this is so for want of lanes, and not for their joints."""


class Simulation:
    """One run. `inputs` and `request_route` speak for the present frame, `advance` goes to the next one.

    Raises:
        InputError: the scenario cannot be driven on this map, or is over before the first frame.
    """

    def __init__(
        self,
        road_map: RoadMap,
        scenario: Scenario,
        seed: int,
        vehicle: Vehicle,
        settings: SimParameters | None = None,
        foreign: ForeignTraffic | None = None,
    ) -> None:
        self.road_map, self.scenario, self.seed, self.vehicle = road_map, scenario, seed, vehicle
        self.foreign = foreign
        """Traffic that another simulator drives, instead of the one here; None where there is none."""
        own = scenario if foreign is None else dataclasses.replace(scenario, population=Population())
        self.settings = settings if settings is not None else SimParameters()
        p = self.settings
        self.dt = p.stepping.fixed_delta
        """Length of a frame, s."""
        p.stepping.substeps(self.dt)
        self._ns = 0
        self.frame = 0
        check_on_map(scenario, road_map)
        seeds = SeedStreams.of(seed)
        setting = ego_setting(road_map, scenario, generator(seeds.setting), center_ahead(vehicle))
        self.preset = setting.route
        """The route that the scenario asks for; None where a mission leads."""
        self._made_up = setting.made_up
        self.ego = EgoCar(setting.start, scenario.ego_speed, vehicle, p.dynamics, p.tracker)
        self._feed = InputFeed(road_map, scenario, setting.route, p.sensors, seeds.sensors)
        self.mission_sha256 = self._feed.mission_sha256
        """Of the mission's file as it was read; None without one."""
        self.services = Services(self._feed.mission, road_map, vehicle)
        self.lights = TrafficLights(road_map, seeds.lights, p.lights)
        initial = initial_agents(road_map, own, setting, self._ego_actor_state(), self.lights.numbers, seeds, p.traffic)
        self.traffic, self.scripted = initial.traffic, initial.scripted_actors
        self.rude: RudeDrivers | None = None
        """The rude part of the traffic; None where the scenario has none."""
        rude_pedestrians = self._make_rude(seeds) if own.population.rude > 0.0 else None
        self.pedestrians = Pedestrians(
            road_map, own.population.pedestrians, seeds.pedestrians, p.pedestrians, rude_pedestrians
        )
        self.wanted = own.population
        """The population that the scenario asks for, without what another simulator drives."""
        self.populated = dataclasses.replace(
            own.population, vehicles=initial.vehicles, pedestrians=len(self.pedestrians.pedestrians)
        )
        """The part of it that has room on the map."""
        self.environment = Environment()
        self._storyboard = Storyboard(scenario, generator(seeds.storyboard))
        self.server = ServerLink(road_map, RouteServer(road_map, setting.route))
        self._ego_agent = EgoAgent(road_map, vehicle, initial.lanes, p.traffic.prediction)
        self._ego_agent.take_route(setting.route)
        self._route_lanes = self._ego_agent.lanes
        """Of the route of the scenario, or round where that is closed; of a mission, of the present one."""
        self._routes_under_way: list[tuple[int, Route, bool]] = []
        """The frame on which each comes, and whether the car is judged by it from then on."""
        self.referee = Referee(road_map, vehicle, p.referee, car_park_slots(road_map, self._feed.mission))
        self._agent_table = AgentTable(self.traffic, self.scripted, self.pedestrians, foreign)
        limit = time_limit(scenario, setting.route, p.end, self._feed.mission.get("match_time_s") or math.inf)
        slots = final_slots(road_map, self._feed.mission)
        goal = mission_goal(road_map, self._feed.mission)
        self._ending = EndConditions(setting.route, limit, vehicle, p.end, p.referee.standing, slots, goal)
        self.history = History(self.dt)
        self._trace, self._motion = hashlib.sha256(), hashlib.sha256()
        self.distance_m = 0.0
        self.machine_state = ""
        self._ground = ground_under(road_map, self.referee.rules, vehicle, self.ego.pose)
        self._step_storyboard()
        if self.finished:
            raise InputError(scenario.file, "over before the first frame", "an end that comes after the start")
        self._begin_foreign(seeds)
        self._observe()

    def _begin_foreign(self, seeds: SeedStreams) -> None:
        if self.foreign is not None:
            start = ForeignStart(
                stamp=self.stamp,
                dt=self.dt,
                ego=self._ego_actor_state(),
                route=self.preset,
                population=self.scenario.population,
                parameters=self.settings.traffic,
                stream=seeds.traffic,
            )
            self.foreign.begin(start, self._light_states())

    def _light_states(self) -> dict[int, int]:
        """States of the lights on the present frame, by signal number."""
        return dict(zip(self.lights.numbers, self.lights.states(self.stamp).tolist(), strict=True))

    def _make_rude(self, seeds: SeedStreams) -> RudePedestrians:
        """Make a share of the traffic rude; returns which pedestrians shall be."""
        share, p, traffic = self.scenario.population.rude, RudeParameters(), self.traffic
        drivers, pedestrians = seeds.rude.spawn(2)
        self.rude = RudeDrivers(traffic, range(len(self.scripted.rows), len(traffic.ids)), share, drivers, p)
        return RudePedestrians(share, CrossingHabits(p.red_share, p.run_out_share, p.run_out_rate), pedestrians)

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
        """Why it is over: `goal`, `parked`, `time`, `collision`, `scenario`, `error`; None while it goes on."""
        return self._ending.end

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the scenario has no effect, on this map or on any, a line each."""
        counts = [
            ("vehicles", self.populated.vehicles, self.wanted.vehicles),
            ("pedestrians", self.populated.pedestrians, self.wanted.pedestrians),
        ]
        place = f"{self.scenario.file}: populate"
        short = [
            f"{place}: {there} of {asked} {what}: the map has no room for more"
            for what, there, asked in counts
            if there < asked
        ]
        return (*self.scenario.notes, *self._route_notes(), *short)

    def _route_notes(self) -> tuple[str, ...]:
        """What the route is not that the scenario asks for."""
        file, asked, route = self.scenario.file, self.scenario.route, self.preset
        if isinstance(asked, RandomRoute) and route is not None and route.length < asked.length_m - SHORTER_M:
            length = f"route of {route.length:.0f} m of {asked.length_m:.0f} m asked"
            return (f"{file}: {length}: no better one was found on the map",)
        if self.scored_completion is None:
            return (f"{file}: the script ended the run, and states no route: no progress is scored",)
        return ()

    @property
    def infractions(self) -> tuple[Infraction, ...]:
        """What the referee has written down."""
        return tuple(self.referee.infractions)

    @property
    def route(self) -> Route | None:
        """The route that the server has answered with last."""
        return self._ego_agent.route

    @property
    def goal(self) -> Pose | None:
        """Where the run ends, the end of the route or a mission's goal; None where only a parking slot ends it."""
        return None if self._ending.goal is None else self._ending.goal.pose

    @property
    def route_completion(self) -> float:
        """Share of the scenario's route that is behind the ego, or of a mission's stops and its end, 0 to 1."""
        if self.preset is not None:
            return self._ending.completion
        return (self.services.stops + self._ending.completion) / (self.services.wanted_stops + 1)

    @property
    def scored_completion(self) -> float | None:
        """What of the route's completion says something of the car: None where the script has ended the run on a way
        that was made up for it. How far the car comes on that depends on when the script ends.
        """
        ended = self.end == "scenario" or (self.end == "time" and self.scenario.max_duration_s is not None)
        return None if self._made_up and ended else self.route_completion

    def inputs(self) -> Inputs:
        """All that the planner is told of the present frame; the same on every call."""
        return self._inputs

    def request_route(self, request: RouteRequest) -> None:
        """Ask the route server; the answer comes a fixed number of frames later."""
        found = self.server.ask(request, self.stamp)
        if found is not None:
            due = self.frame + self.settings.sensors.route_latency + frames_of(found.delay, self.dt)
            self._feed.post(due, found.answer)
            if found.route is not None:
                judged = self.preset is None or self._ending.is_closed(self._standing())
                self._routes_under_way.append((due, found.route, judged))

    def report_block(self, points: FloatArray) -> None:
        """Tell the route server that a stretch (points (N, >= 2), m) cannot be driven."""
        self.server.server.report_block(points, self.stamp)

    def clear_emergency_stop(self) -> None:
        """The operator's explicit clear, seen on the next frame (EST-3)."""
        self.environment.call("clear_emergency_stop")

    def inject(self, command: commands.Command) -> None:
        """Carry out a command that no storyboard has issued: it is seen on the next frame.

        Raises:
            InputError: it cannot be carried out here.
        """
        self._apply(command)

    def disturb_localization(self, error: LocalizationError) -> None:
        """Let the localization be off, without its saying so, from the next frame on."""
        self._feed.reckoning.error = error

    def disturb_tracking(self, errors: TrackingErrorParameters | None) -> None:
        """Let the tracker of objects get things wrong from the next frame on; None: as the parameters say."""
        self._feed.tracker.parameters = self.settings.sensors.tracking_errors if errors is None else errors

    def restarted(self, seed: int) -> Simulation:
        """The same world from its beginning; it has no seed of its own to begin with again (SIM-2)."""
        return Simulation(self.road_map, self.scenario, seed, self.vehicle, self.settings, self.foreign)

    def abort(self) -> None:
        """End the run because something broke."""
        self._ending.end = "error"

    def agents(self) -> tuple[AgentState, ...]:
        """All agents but the ego, one by one."""
        return self._agent_table.states()

    def trace_sha256(self) -> str:
        """Digest of everything that has moved and happened so far."""
        digest = self._trace.copy()
        digest.update(repr((self.infractions, self.end)).encode())
        return digest.hexdigest()

    def motion_sha256(self) -> str:
        """Digest of how the ego and all agents have moved so far: runs that are equal in it are one and the same drive,
        whatever the lights were that nobody met.
        """
        return self._motion.hexdigest()

    # From frame to frame.

    def advance(self, trajectory: Trajectory | None, state: str = "", delta: float | None = None) -> None:
        """Apply the plan of the present frame and go to the next one.

        Args:
            trajectory: what to follow; None when no plan came: the last one is followed on.
            state: the machine's state, for the viewer; nothing is judged by it.
            delta: length of this frame (s) instead of the fixed one; such a run does not repeat.

        Raises:
            InputError: the frame is too long for its sub-steps, or not fixed among foreign traffic.
            RuntimeError: the run is over.
        """
        if self.finished:
            raise RuntimeError("the run is over")
        if self.foreign is not None and delta is not None:
            raise InputError("stepping", "a variable step, which foreign traffic does not have", "fixed steps")
        dt = self.dt if delta is None else delta
        steps = self.settings.stepping.substeps(dt)
        self.machine_state = state
        light_of, v = self._light_states(), self.ego.v
        self._step_agents(dt, light_of)
        if self.environment.ego_controlled:
            self.ego.drive(self._feed.in_map(trajectory), self.stamp, dt / steps, steps)
        else:
            self.ego.brake(dt / steps, steps)
        self.distance_m += 0.5 * abs(v + self.ego.v) * dt
        self.frame += 1
        self._ns += round(dt * 1e9)
        self._step_storyboard()
        if self.foreign is not None:
            self.foreign.step(self.stamp, self._ego_actor_state(), self.route, self._light_states())
        self._observe()
        self._judge(dt, light_of)

    def _step_agents(self, dt: float, light_of: dict[int, int]) -> None:
        """Everybody but the ego, and but those that another simulator drives."""
        lights, pose, v = self.lights.states(self.stamp), self.ego.pose, self.ego.v
        request = self._ego_agent.request(self.stamp, v, light_of, self._ground.junction_lanes)
        ego_boxes = self._ego_agent.boxes(pose, self._ground.z, v, self.ego.yaw_rate)
        ego_rows = np.column_stack((ego_boxes, np.zeros((len(ego_boxes), 2))))
        other_boxes = np.vstack((ego_rows, self._agent_table.predicted(self._free, self.settings.traffic.prediction)))
        if self.rude is not None:
            as_seen = self._ego_agent.boxes(pose, self._ground.z, v, self.ego.yaw_rate, along_route=False)
            number, person = np.full(len(as_seen), float(EGO_AS_SEEN)), np.zeros(len(as_seen))
            other_boxes = np.vstack((other_boxes, np.column_stack((as_seen, number, person))))
            self.rude.step(self.stamp, dt, ego_boxes[0], lights)
        heroes = np.array([(pose.x, pose.y)])
        self.traffic.weather = LightConditions(rain=self.environment.rains, fog=self.environment.foggy)
        goes = self.traffic.step(self.stamp, dt, other_boxes, lights, request, heroes)
        self._ego_agent.granted(goes)
        self.pedestrians.step(dt, self._agent_table.vehicles(self._free, ego_boxes[0]), light_of)
        self.scripted.step(dt, self._view())

    def _step_storyboard(self) -> None:
        """All commands of the storyboard for this frame, in a batch (SIM-2)."""
        for command in self._storyboard.step(self._view()):
            try:
                self._apply(command)
            except InputError as error:
                raise InputError(self.scenario.where_issued(command), error.what, error.expected) from error

    def _view(self) -> StoryboardView:
        """The present frame as the storyboard and scripted actors see it."""
        ego, stamp = self._ego_actor_state(), self.stamp
        return StoryboardView(
            self.road_map, self.scripted, stamp, ego, self.distance_m, lambda number: self.lights.state(number, stamp)
        )

    def _apply(self, command: commands.Command) -> None:
        if isinstance(command, commands.EnvironmentCommand):
            self.environment.apply(command)
        elif isinstance(command, commands.LightsCommand):
            self.lights.apply(command)
        elif isinstance(command, commands.SetRouteServer):
            self.server.apply(command)
        elif isinstance(command, commands.SensorCommand):
            self._feed.channels.apply(command)
        elif isinstance(command, commands.PlacedObjectsCommand):
            self.scripted.apply_to_placed_objects(command, self.ego.pose)
        elif isinstance(command, commands.ActorCommand):
            if command.actor != EGO:
                self.scripted.apply(command, self.ego.pose)
            elif isinstance(command, commands.EgoCommand):
                self._apply_to_ego(command)
            else:
                raise InputError(EGO, f"the ego cannot {type(command).__name__}", "an action of the ego")
        elif isinstance(command, ManeuverCommand):
            self.scripted.maneuver(command, self._view())
        elif isinstance(command, commands.EndRun):
            self._ending.end = "scenario"
        else:
            assert_never(command)

    def _apply_to_ego(self, command: commands.EgoCommand) -> None:
        match command:
            case commands.ActivateController(_, lateral, longitudinal):
                self.environment.ego_controlled = lateral or longitudinal
            case commands.Place(_, placement, speed):
                pose = self.scripted.pose_of(placement, self.ego.pose)
                if pose is None:
                    raise InputError(EGO, f"no {in_words(placement)} on this map now", ON_MAP)
                self.ego.place(pose, self.ego.v if speed is None else speed)
                known, _ = level_before(pose, self._ground)
                self._ground = Ground(None, self.scripted.level(placement, pose, ActorKind.VEHICLE, known), (), pose)
            case commands.ChangeSpeed(_, target, rate):
                self.ego.change_speed(target, rate)
            case _:
                assert_never(command)

    def _ego_actor_state(self) -> ActorState:
        vehicle = self.vehicle
        return ActorState(
            pose=self.ego.pose,
            speed=self.ego.v,
            acceleration=self.ego.a,
            length=vehicle.length,
            width=vehicle.width,
            center_ahead=center_ahead(vehicle),
        )

    def _ego_state(self) -> EgoState:
        ego, ground = self.ego, self._ground
        return EgoState(
            pose=ego.pose,
            z=ground.z,
            v=ego.v,
            a=ego.a,
            yaw_rate=ego.yaw_rate,
            position=ground.position,
            state=self.machine_state,
        )

    def _take_route(self) -> None:
        """Take the latest route that has come with an answer; those asked for before it have been overtaken."""
        arrived = [place for place, (due, *_) in enumerate(self._routes_under_way) if due <= self.frame]
        if not arrived:
            return
        _, route, judged = self._routes_under_way[arrived[-1]]
        self._routes_under_way = self._routes_under_way[arrived[-1] + 1 :]
        self._ego_agent.take_route(route)
        if judged:
            self._route_lanes = self._ego_agent.lanes

    def _observe(self) -> None:
        """Gather what can be seen on the new frame, make the inputs, note the trace."""
        pose = self.ego.pose
        self._take_route()
        self._ego_agent.localize(pose)
        self._ground = ground_under(self.road_map, self.referee.rules, self.vehicle, pose, self._ground)
        self._free = self._agent_table.free()
        self._agents = self._agent_table.boxes(self._free)
        self.environment.look()
        self._inputs = self._feed.inputs(
            frame=self.frame,
            stamp=self.stamp,
            ego=self._ego_state(),
            route_lanes=self._ego_agent.lanes,
            agents=self._agents,
            lights=self.lights,
            environment=self.environment,
        )
        for moved in (self.ego.state.tobytes(), self._agents.boxes.tobytes()):
            self._trace.update(moved)
            self._motion.update(moved)
        self._trace.update(self.lights.states(self.stamp).tobytes())
        self.history.note(self.frame, self.stamp, pose, self.ego.v, self._agents)

    def _judge(self, dt: float, lights: dict[int, int]) -> None:
        ego, environment = self._ego_state(), self.environment
        lost = not environment.localized or not environment.odometry
        held = environment.emergency_stop or not environment.emergency_link or lost or not environment.ego_controlled
        self.referee.watch(
            stamp=self.stamp,
            dt=dt,
            ego=ego,
            agents=self._agents,
            lights=lights,
            route_lanes=self._route_lanes,
            held=held,
        )
        self.services.watch(dt, ego.pose, ego.v)
        self._ending.watch(self.stamp, dt, ego, self.referee.at_fault_collision, self._standing())

    def _standing(self) -> FloatArray:
        """The boxes of agents that stand (N, 7)."""
        boxes = self._agents.boxes
        return boxes[np.abs(boxes[:, 6]) < VEHICLE_STANDS]

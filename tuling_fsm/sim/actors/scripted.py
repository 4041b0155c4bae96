"""The scripted actors of a scenario: carries out the storyboard's commands, and shows it where all actors are.

A vehicle that drives along lanes is a row of the traffic's fleet; on a free path or standing it is a body, as are
persons and barriers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.sim.actors.bodies import DEFAULT_RATE, FreeActor, PlacedObjects
from tuling_fsm.sim.actors.default_controller import DefaultController
from tuling_fsm.sim.actors.lane_state import LaneState
from tuling_fsm.sim.actors.levels import level_at, road_of
from tuling_fsm.sim.actors.longitudinal import ActorSurroundings
from tuling_fsm.sim.actors.road_distance import ROAD_REACH_M, road_distance
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import ActorCommand, PlacedObjectsCommand
from tuling_fsm.sim.scenario.maneuvers import ManeuverCommand, ShiftLane
from tuling_fsm.sim.scenario.measurements import body_gap
from tuling_fsm.sim.scenario.model import EGO, ActorState, ScenarioActor
from tuling_fsm.sim.scenario.placements import Anywhere, OnMap, OnPath, Placement, Relation, in_words, place
from tuling_fsm.sim.scenario.road_places import locate
from tuling_fsm.sim.traffic.fleet import AXLE_SHARE, GIVEN_PATH, OFF
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.world.inputs import Light

ON_MAP = "a place on the map"
"""What is expected of a placement."""
DRAWN = (Anywhere, OnPath)
"""Placements that the seed decides."""
DRAWS = 100
"""How often a place is drawn that turns out to be taken, at most."""
LANE_REACH_M = 3.0
"""A vehicle this near a lane can be told to drive along it."""


class ScriptedActors:
    """All scripted actors but the ego. Vehicle `n` of the scenario is row `n` of the fleet."""

    def __init__(
        self,
        road_map: RoadMap,
        actors: tuple[ScenarioActor, ...],
        traffic: TrafficManager,
        lanes: Mapping[LaneId, int],
        random: np.random.Generator,
    ) -> None:
        self._map = road_map
        self._traffic = traffic
        self._lanes = lanes
        self._random = random
        self.bodies = {
            each.name: FreeActor(
                each.kind, each.length, each.width, v=each.speed, seen_as=each.seen_as, center_ahead=each.center_ahead
            )
            for each in actors
        }
        vehicles = [actor for actor in actors if actor.kind is ActorKind.VEHICLE]
        self.rows = {actor.name: row for row, actor in enumerate(vehicles)}
        self.ids = {actor.name: i + 1 for i, actor in enumerate(actors)}
        self.placed_objects = PlacedObjects(road_map)
        self._on_map: dict[OnMap, Pose | None] = {}  # Conditions ask on every step.
        self._controllers = {
            actor.name: DefaultController(road_map, actor.name, self.bodies[actor.name])
            for actor in actors
            if actor.default_controller
        }
        for actor in vehicles:
            row = self.rows[actor.name]
            traffic.fleet.car.length[row], traffic.fleet.car.width[row] = actor.length, actor.width
            traffic.ids[row] = self.ids[actor.name]

    def enter(self, actors: tuple[ScenarioActor, ...], ego: ActorState) -> None:
        """Put all actors in place that are there from the beginning: those that are drawn one by one, in the order of
        the text, when whoever has a place without a draw is there.

        Raises:
            InputError: the map has no such place, or none that is free.
        """
        waiting = [actor for actor in actors if actor.placement is not None]
        while waiting:
            known = self.poses(ego.pose)
            left = [each for each in waiting if isinstance(each.placement, DRAWN) or not self._enter(each, known)]
            if len(left) == len(waiting):
                drawn = next((each for each in left if isinstance(each.placement, DRAWN)), left[0])
                self._draw(drawn, ego)
                left.remove(drawn)
            waiting = left

    def _enter(self, actor: ScenarioActor, known: Mapping[str, Pose]) -> bool:
        return actor.placement is None or self._place(actor.name, actor.placement, actor.speed, known)

    def _draw(self, actor: ScenarioActor, ego: ActorState) -> None:
        """Put an actor in a drawn place, one that may be anywhere not into another one."""
        name, where, known = actor.name, actor.placement, self.poses(ego.pose)
        for _ in range(DRAWS):
            if not self._enter(actor, known):
                raise InputError(name, f"no {'place' if where is None else in_words(where)} on this map", ON_MAP)
            if not isinstance(where, Anywhere) or self._is_clear(name, ego):
                return
        raise InputError(name, f"no place on this map that is free after {DRAWS} draws", ON_MAP)

    def _is_clear(self, name: str, ego: ActorState) -> bool:
        """Whether the body of an actor keeps clear of the ego's start and meets no other one."""
        own = self.state(name)
        others = [self.state(other) for other in self.bodies if other != name]
        gaps = [body_gap(own, other) for other in others if own is not None and other is not None]
        to_ego = math.inf if own is None else body_gap(own, ego)
        return min(gaps, default=math.inf) > 0.0 and to_ego > self._traffic.parameters.start_clearance

    def step(self, dt: float, around: ActorSurroundings) -> None:
        """Move the actors that the traffic does not move by `dt` s."""
        for name, body in self.bodies.items():
            controller, before = self._controllers.get(name), body.pose
            state = None if controller is None else self.state(name)
            if controller is not None and state is not None:
                controller.step(dt, state, around)
            elif not self.on_lanes(name):
                body.step(dt)
            if body.pose is not None and body.pose != before:
                body.z = level_at(self._map, body.pose, body.z)

    def maneuver(self, command: ManeuverCommand, around: ActorSurroundings) -> None:
        """Let an actor's default controller carry out a command; nothing happens to one that is not in the world.

        Raises:
            InputError: there is no lane where one is required.
        """
        name, state = command.actor, self.state(command.actor)
        if state is None:
            return
        self._controllers[name].begin(command, state, around)
        if isinstance(command, ShiftLane) and command.required and self._controllers[name].over(command.number):
            raise InputError(name, f"{name!r} has no such lane beside it where it is", "a road with that lane there")

    def maneuver_over(self, name: str, number: int) -> bool:
        """Whether an actor's maneuver of a number is no longer going on."""
        return name not in self._controllers or self._controllers[name].over(number)

    def traveled(self, name: str) -> float:
        """Way of an actor with a default controller since the run began, m."""
        return self._controllers[name].way if name in self._controllers else 0.0

    def at_end_of_road(self, name: str) -> bool:
        """Whether no lane goes on from where an actor with a default controller is."""
        return name in self._controllers and self._controllers[name].at_end_of_road

    def free(self) -> Iterator[tuple[int, Pose, FreeActor]]:
        """Actors that are in the world and not moved by the traffic: id, centre, body."""
        for name, body in self.bodies.items():
            if body.pose is not None and not self.on_lanes(name):
                yield self.ids[name], body.pose, body

    def on_lanes(self, name: str) -> bool:
        """Whether an actor is driven by the traffic."""
        return name in self.rows and bool(np.asarray(self._traffic.fleet.car)["mode"][self.rows[name]] != OFF)

    def state(self, name: str) -> ActorState | None:
        """The reference point and motion of an actor; None while it is not in the world."""
        body = self.bodies[name]
        if self.on_lanes(name):
            fleet, row = self._traffic.fleet, self.rows[name]
            centre = Pose(float(fleet.car.x[row]), float(fleet.car.y[row]), float(fleet.car.heading[row]))
            reference, v, a = shifted(centre, -body.reference_behind), float(fleet.car.v[row]), float(fleet.car.a[row])
        else:
            found = body.reference()
            if found is None:
                return None
            reference, v, a = found, body.v, body.a
        return ActorState(reference, v, a, body.length, body.width, body.reference_behind)

    def arrived(self, name: str) -> bool:
        """Whether an actor has come to the end of its route, path or walk, or left it on the way, put elsewhere or
        removed.
        """
        if self.state(name) is None:
            return True
        return self.bodies[name].arrived or (self.on_lanes(name) and self._traffic.arrived(self.rows[name]))

    def in_lane(self, name: str) -> bool:
        """Whether an actor is through with its last change of lanes."""
        return not self.on_lanes(name) or self._traffic.in_lane(self.rows[name])

    def poses(self, ego: Pose) -> dict[str, Pose]:
        """Reference points of all actors in the world, for relative placements."""
        found = {"ego": ego}
        for name in self.bodies:
            state = self.state(name)
            if state is not None:
                found[name] = state.pose
        return found

    def apply_to_placed_objects(self, command: PlacedObjectsCommand, ego: Pose) -> None:
        """Carry out a command for what stands about.

        Raises:
            InputError: there is no road where it would be closed.
        """
        where, z = None, math.nan
        if isinstance(command, commands.CloseRoad):
            where = self.pose_of(command.placement, ego)
            z = z if where is None else self.level(command.placement, where, ActorKind.VEHICLE)
        self.placed_objects.apply(command, where, z)
        if isinstance(command, commands.CloseRoad | commands.OpenRoad):
            closed = self.placed_objects.closed_lanes
            self._traffic.close_lanes([self._lanes[lane] for lane in sorted(closed) if lane in self._lanes])

    def apply(self, command: ActorCommand, ego: Pose) -> None:
        """Carry out a command for a scripted actor.

        Raises:
            InputError: it cannot be done where the actor is now.
        """
        match command:
            case commands.Place(actor, placement, speed):
                if not self._place(actor, placement, speed, self.poses(ego)):
                    raise InputError(actor, f"no {in_words(placement)} on this map now", ON_MAP)
            case commands.Remove(actor):
                self._remove(actor)
            case commands.Drive(actor, speed):
                self._drive(actor, speed)
            case commands.ChangeSpeed(actor, target, rate):
                self._change_speed(actor, target, rate)
            case commands.ChangeLane(actor, lanes):
                self._change_lane(actor, lanes)
            case commands.FollowRoute(actor, placements, speed):
                self._follow_route(actor, self._poses_of(placements, actor, ego), speed)
            case commands.FollowPath(actor, points, speed) | commands.Walk(actor, points, speed):
                self._follow_points(actor, self._poses_of(points, actor, ego), speed)
            case commands.ActivateController(actor, lateral, longitudinal):
                self._activate_controller(actor, lateral or longitudinal)
            case _:
                assert_never(command)

    def _drive(self, name: str, speed: float | None) -> None:
        self._need_lane(name)
        self._traffic.drive_on(self.rows[name])
        self._traffic.set_speed(self.rows[name], speed)

    def _change_lane(self, name: str, lanes: int) -> None:
        self._need_lane(name)
        if not self._traffic.change_lane(self.rows[name], lanes):
            side = "left" if lanes > 0 else "right"
            what = f"{name!r} has no {abs(lanes)} lanes to its {side} where it is"
            raise InputError(name, what, "a lane of its direction there")

    def _follow_points(self, name: str, poses: list[Pose], speed: float) -> None:
        self._need_state(name)
        self._to_body(name)
        self.bodies[name].follow([pose[:2] for pose in poses], speed)

    def _need_state(self, name: str) -> ActorState:
        state = self.state(name)
        if state is None:
            raise InputError(name, f"{name!r} is not in the world now", "assign_position before")
        return state

    def _need_lane(self, name: str) -> None:
        """Let the traffic drive a vehicle."""
        self._need_state(name)
        if not self._to_lanes(name):
            what = f"{name!r} stands on no driving lane within {LANE_REACH_M:g} m"
            raise InputError(name, what, "a place on a lane, facing its way")

    def _activate_controller(self, name: str, on: bool) -> None:
        """To the traffic's controller, or to none: then it brakes and stands."""
        if on:
            self._drive(name, None)
        else:
            self._change_speed(name, 0.0, DEFAULT_RATE)

    def pose_of(self, placement: Placement, ego: Pose) -> Pose | None:
        """Where a placement is; None when it is not on the map."""
        if not isinstance(placement, OnMap):
            return place(placement, self._map, self._random, self.poses(ego))
        if placement not in self._on_map:
            self._on_map[placement] = place(placement, self._map, self._random, {})
        return self._on_map[placement]

    def _poses_of(self, placements: tuple[Placement, ...], actor: str, ego: Pose) -> list[Pose]:
        body = self.bodies[actor]
        known = self.poses(ego)
        found = [
            place(each, self._map, self._random, known, body.kind, body.reference_behind) for each in placements
        ]  # fmt: skip
        poses = [pose for pose in found if pose is not None]
        if len(poses) < len(placements):
            missing = placements[found.index(None)]
            raise InputError(actor, f"no {in_words(missing)} on this map", "places on the map")
        return poses

    def _remove(self, name: str) -> None:
        on_route = self._on_route(name)
        self._leave_lanes(name)
        self.bodies[name].remove()
        self.bodies[name].arrived |= on_route
        if name in self._controllers:
            self._controllers[name].forget()

    def _place(self, name: str, placement: Placement, speed: float | None, known: Mapping[str, Pose]) -> bool:
        body = self.bodies[name]
        pose = place(placement, self._map, self._random, known, body.kind, body.reference_behind)
        if pose is None:
            return False
        body.z = self.level(placement, pose, body.kind)
        before = self.state(name)
        v = speed if speed is not None else body.v if before is None else before.speed
        if name in self._controllers:
            self._controllers[name].place(pose, v)
            return True
        drives_on = speed is None and self.on_lanes(name)
        on_route = self._on_route(name)
        self._leave_lanes(name)
        body.place(pose, v)
        body.arrived |= on_route
        if drives_on:
            self._to_lanes(name)  # As it drove before, whatever it was told.
        elif v > 0.0 and self._to_lanes(name):
            self._traffic.set_speed(self.rows[name], v)
        return True

    def _on_route(self, name: str) -> bool:
        """Whether the traffic drives an actor along a route."""
        return self.on_lanes(name) and int(self._traffic.fleet.car.mode[self.rows[name]]) == GIVEN_PATH

    def level(self, placement: Placement, pose: Pose, kind: ActorKind | None, before: float = math.nan) -> float:
        """Height of the road that a placement at a pose is on, m: next to an actor the one that this is on, else, if
        the placement does not say it, the nearest to that `before` (NaN: unknown).
        """
        z = self._z(placement.actor) if isinstance(placement, Relation) and placement.actor != EGO else before
        return level_at(self._map, pose, z, road_of(self._map, placement), kind)

    def _z(self, name: str) -> float:
        """The level that an actor is on, m."""
        return float(self._traffic.fleet.car.z[self.rows[name]]) if self.on_lanes(name) else self.bodies[name].z

    def _change_speed(self, name: str, target: float, rate: float) -> None:
        self._need_state(name)
        body = self.bodies[name]
        if target > 0.0:
            body.end_path()
        if not self.on_lanes(name) and (body.path is not None or not self._to_lanes(name)):
            body.set_speed(target, rate)
            return
        row = self.rows[name]
        if target > 0.0:
            self._traffic.drive_on(row)
        self._traffic.set_speed(row, target, rate)
        if math.isinf(rate):
            self._traffic.fleet.car.v[row] = target

    def _leave_lanes(self, name: str) -> None:
        if name in self.rows:
            self._traffic.remove(self.rows[name])

    def _to_body(self, name: str) -> None:
        """From the lanes to free movement, in place."""
        state = self.state(name)
        if self.on_lanes(name) and state is not None:
            self.bodies[name].z = self._z(name)
            self._leave_lanes(name)
            self.bodies[name].place(state.pose, state.speed)

    def _to_lanes(self, name: str) -> bool:
        """Let the traffic drive a vehicle from where it is; False where there is no lane."""
        body = self.bodies[name]
        if self.on_lanes(name):
            return True
        if name not in self.rows or body.pose is None:
            return False
        found = self._map.project(body.pose.x, body.pose.y, body.pose.heading, body.z, radius=LANE_REACH_M)
        if found is None or found.lane not in self._lanes:
            return False
        self._traffic.place(self.rows[name], self._lanes[found.lane], found.s, body.v, found.offset)
        return True

    def _follow_route(self, name: str, poses: list[Pose], speed: float | None) -> None:
        state = self._need_state(name)
        route = plan_route(self._map, state.pose, poses[-1], via=poses[:-1]).route
        if route is None:
            raise InputError(
                name, f"no lanes lead {name!r} from where it is along this route", "places that lanes join"
            )
        if any(lane.change for lane in route.lanes) or not self._to_lanes(name):
            self._to_body(name)
            pace = speed if speed is not None else min(self._map.lanes[lane.lane].limit for lane in route.lanes)
            self.bodies[name].follow([(float(x), float(y)) for x, y in route.reference.xy[1:]], pace)
            return
        body = self.bodies[name]
        centre = shifted(state.pose, AXLE_SHARE * body.length)
        first, last = route.lanes[0], route.lanes[-1]
        s = self._map.lanes[first.lane].center.project(centre.x, centre.y).s
        lanes = [self._lanes[lane.lane] for lane in route.lanes]
        row = self.rows[name]
        body.arrived = False
        self._traffic.follow(row, lanes, s, last.lane_to + AXLE_SHARE * body.length)
        self._traffic.set_speed(row, speed)


class StoryboardView:
    """One frame for the storyboard (`SimulationView`)."""

    def __init__(
        self,
        road_map: RoadMap,
        scripted: ScriptedActors,
        stamp: float,
        ego: ActorState,
        ego_way: float,
        light: Callable[[int], Light],
    ) -> None:
        """`ego_way` is what the ego has driven since the run began, m; `light` says the state of a signal."""
        self._map = road_map
        self._scripted = scripted
        self._ego = ego
        self._stamp = stamp
        self._ego_way = ego_way
        self.light = light

    @property
    def stamp(self) -> float:
        """Simulated time, s."""
        return self._stamp

    def actor(self, name: str) -> ActorState | None:
        """The state of an actor, None while it is not in the world."""
        return self._ego if name == EGO else self._scripted.state(name)

    def arrived(self, name: str) -> bool:
        """Whether the actor has come to the end of its way."""
        return name != EGO and self._scripted.arrived(name)

    def in_lane(self, name: str) -> bool:
        """Whether the actor is through with its last change of lanes."""
        return name == EGO or self._scripted.in_lane(name)

    def road_distance(self, name: str, reference: str) -> float | None:
        """Distance along the road from an actor to another, the shorter way where the road is a loop (m, + ahead); None
        when no road joins them.
        """
        one, other = self.actor(name), self.actor(reference)
        if one is None or other is None:
            return None
        ahead = road_distance(self._map, one.pose, other.pose)
        behind = road_distance(self._map, other.pose, one.pose, ROAD_REACH_M if ahead is None else ahead)
        return ahead if behind is None or (ahead is not None and ahead <= behind) else -behind

    def pose_of(self, placement: Placement) -> Pose | None:
        """Where a placement is."""
        return self._scripted.pose_of(placement, self._ego.pose)

    def traveled(self, name: str) -> float:
        """Way of an actor since the run began, m."""
        return self._ego_way if name == EGO else self._scripted.traveled(name)

    def maneuver_over(self, name: str, number: int) -> bool:
        """Whether an actor's maneuver of a number is no longer going on."""
        return self._scripted.maneuver_over(name, number)

    def on_road(self, name: str) -> bool:
        """Whether the reference point of an actor is on a lane of any type."""
        state = self.actor(name)
        return state is not None and locate(self._map, state.pose, radius=0.0) is not None

    def at_end_of_road(self, name: str) -> bool:
        """Whether no lane goes on from where an actor is."""
        if name != EGO:
            return self._scripted.at_end_of_road(name)
        lane = LaneState.of(self._map, self._ego.pose)
        return lane is not None and lane.ends_here()

    def others(self, name: str) -> list[ActorState]:
        """All actors in the world but this one."""
        names = [EGO, *self._scripted.bodies]
        states = [self.actor(other) for other in names if other != name]
        return [state for state in states if state is not None]

"""Worlds on one straight road, made by hand: every field can be set, and nothing happens by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from world.no_objects import no_traffic

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, PlanResult, Reason
from tuling_fsm.core.scene import PREDICTION_STEPS, Ego, Obstacles, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.corridor import lane_lines
from tuling_fsm.map.lanes import Junction, LaneId
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import route_through
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.mission import Mission, MissionPoint
from tuling_fsm.world.pose_correction import PoseCorrection
from tuling_fsm.world.received import Received
from tuling_fsm.world.tracks import NO_TRACKS
from tuling_fsm.world.traffic import PredictedLanes
from tuling_fsm.world.world import EmergencyInput, RouteMatch, World

TICK = 0.05
LENGTH = 400.0
WIDTH = 3.5
NEAR_LANE, FAR_LANE = LaneId("1", 0, -1), LaneId("1", 0, -2)
ONCOMING_LANE = LaneId("1", 0, 1)
NEAR_Y, FAR_Y, ONCOMING_Y = -WIDTH / 2.0, -1.5 * WIDTH, WIDTH / 2.0
VEHICLE = Vehicle()


def write_road(folder: Path, centre: str = "solid") -> Path:
    """A straight road along x: lanes -1, -2 with it, 1, 2 against it, broken lines between lanes of one direction."""
    lanes = {
        side: "".join(
            f'<lane id="{number}" type="driving"><width sOffset="0" a="{WIDTH}" b="0" c="0" d="0"/>'
            f'<roadMark sOffset="0" type="{"broken" if abs(number) == 1 else "solid"}" weight="standard" color="white" '
            'width="0.12"/></lane>'
            for number in numbers
        )
        for side, numbers in (("left", (2, 1)), ("right", (-1, -2)))
    }
    file = folder / f"{centre}.xodr"
    file.write_text(
        f'<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="straight"/>'
        f'<road id="1" name="" length="{LENGTH}" junction="-1"><planView>'
        f'<geometry s="0" x="0" y="0" hdg="0" length="{LENGTH}"><line/></geometry></planView>'
        f'<lanes><laneSection s="0"><left>{lanes["left"]}</left>'
        f'<center><lane id="0" type="none"><roadMark sOffset="0" type="{centre}" weight="standard" color="white" '
        f'width="0.12"/></lane></center><right>{lanes["right"]}</right></laneSection></lanes></road></OpenDRIVE>'
    )
    return file


def straight_road(folder: Path, centre: str = "solid") -> RoadMap:
    """The map of `write_road`."""
    return read_map(write_road(folder, centre))


def route_along(road_map: RoadMap, lane: LaneId = NEAR_LANE, begin: float = 0.0, end: float = LENGTH) -> Route:
    """A route along one lane."""
    return route_through(road_map, (lane,), begin, end)


def junction(s_from: float, s_to: float) -> JunctionAhead:
    return JunctionAhead(s_from, s_to, Junction("j", (), {}, False), 0, 0, s_from)


@dataclass(frozen=True)
class Thing:
    """Something in the way: centre, heading, size, speed."""

    x: float
    y: float
    heading: float = 0.0
    length: float = 4.5
    width: float = 1.8
    speed: float = 0.0
    moving: bool = False
    id: int = 7
    kind: Kind = Kind.CAR


def scene(stamp: float, ego: Ego, things: Sequence[Thing] = ()) -> Scene:
    """The scene with these things, predicted to stay."""

    def column(name: str) -> Any:
        return np.array([getattr(thing, name) for thing in things], dtype=np.float64)

    def rows(name: str) -> Any:
        return np.repeat(column(name)[:, None], PREDICTION_STEPS, axis=1).reshape(-1, PREDICTION_STEPS)

    obstacles = Obstacles(
        id=np.array([thing.id for thing in things], dtype=np.uint32),
        kind=np.array([thing.kind for thing in things], dtype=np.uint8),
        moving=np.array([thing.moving for thing in things], dtype=np.bool_),
        length=column("length"),
        width=column("width"),
        x=rows("x"),
        y=rows("y"),
        heading=rows("heading"),
        speed=column("speed"),
    )
    return Scene(stamp, ego, obstacles)


def mission(x: float = LENGTH - 20.0, y: float = NEAR_Y, stamp: float = 0.0) -> Mission:
    """A mission with nothing but a goal."""
    return Mission(stamp, goal=MissionPoint("", x, y, 0.0))


@dataclass
class Place:
    """What the world looks like apart from what the behaviour decides; a test changes it from tick to tick."""

    road_map: RoadMap
    x: float = 50.0
    y: float = NEAR_Y
    heading: float = 0.0
    v: float = 0.0
    localized: bool = True
    things: tuple[Thing, ...] = ()
    emergency: EmergencyInput = field(default_factory=EmergencyInput)
    mission: Mission | None = None
    traffic: PredictedLanes = field(default_factory=no_traffic)

    def world(self, stamp: float, route: Route | None, answers: Sequence[RouteMatch] = (), **changes: Any) -> World:
        """A real World of this place."""
        ego = Ego(Pose(self.x, self.y, self.heading), self.v, 0.0, 0.0)
        here = None if route is None else route.reference.project(self.x, self.y)
        s = 0.0 if here is None else here.s
        error = 0.0 if here is None else math.remainder(self.heading - here.heading, 2.0 * math.pi)
        on_road = here is not None and (
            -2.0 * WIDTH <= self.y <= 0.0 if abs(here.heading) < 1.0 else 0.0 <= self.y <= WIDTH
        )
        world = World(
            stamp=stamp, dt=TICK, ego=ego, standing_for=0.0, localized=self.localized,
            pose_correction=PoseCorrection(), odometry_history=(), odometry_fresh=True,
            objects_fresh=True, radar_seen=stamp, radar_fresh=True, route=route, route_s=s,
            route_offset=0.0 if here is None else here.offset,
            heading_error=error, route_remaining=0.0 if route is None else route.length - s, on_reference_road=on_road,
            lanes=() if route is None else lane_lines(self.road_map, route, s), scene=scene(stamp, ego, self.things),
            traffic=self.traffic, tracks=NO_TRACKS, lights={}, light_seen={}, light_since={},
            emergency=self.emergency, reset=False, skip_task=False, rain_fog=None,
            route_answers=tuple(answers), mission=self.mission, slots=(), observed_slots={}, perceived_lines=(),
            occupancy=None, junctions=(), stop_lines=(), crosswalks=(), reports=(), complaints=(), received=Received(),
        )  # fmt: skip
        return replace(world, **changes)


def plan(
    feasible: bool = True, reach: float = 20.0, reason: Reason = Reason.NONE, blocker: int = -1, reverse: bool = False
) -> PlanResult:
    """A result that gets `reach` metres far, limited by `reason`."""
    t = np.array((0.0, 5.0))
    row = np.zeros(2)
    trajectory = Trajectory(0.0, t, np.array((0.0, reach)), row, row, row, row + reach / 5.0, row) if feasible else None
    limit = Limit(reason, blocker=blocker)
    return PlanResult(feasible, trajectory, limit, Reason.NONE if feasible else Reason.NO_PATH, uses_reverse=reverse)


class Drive:
    """Ticks a behaviour in a place. The planner is the test's: `result` and `probe` answer every request."""

    def __init__(self, place: Place, parameters: BehaviourParameters | None = None, stamp: float = 100.0) -> None:
        self.place = place
        self.behaviour = Behaviour(place.road_map, VEHICLE, parameters or BehaviourParameters())
        self.stamp = stamp
        self.result: PlanResult | None = plan()
        self.probe: PlanResult | None = None
        self.route: Route | None = None
        self.decisions: list[Decision] = []

    def tick(self, *answers: RouteMatch, step: float = TICK, **changes: Any) -> Decision:
        """One tick; answers of the route server arrive on it."""
        world = self.place.world(self.stamp, self.route, answers, **changes)
        decision = self.behaviour.step(world, self.result if self.decisions else None, self.probe)
        self.stamp += step
        self.place.x += self.place.v * step * math.cos(self.place.heading)
        self.route = decision.route
        self.decisions.append(decision)
        return decision

    def run(self, seconds: float, **changes: Any) -> list[Decision]:
        """Several ticks."""
        return [self.tick(**changes) for _ in range(round(seconds / TICK))]

    def answer(self, route: Route | None) -> Decision:
        """The route server answers the latest request."""
        return self.tick(RouteMatch(self.number, route))

    @property
    def number(self) -> int:
        """Of the latest route request."""
        return self.behaviour.record.machine.memory.routing.number

    @property
    def last(self) -> Decision:
        """The latest decision."""
        return self.decisions[-1]

    def until(self, state: str, seconds: float = 10.0) -> Decision:
        """Tick until a state is reached."""
        for _ in range(round(seconds / TICK)):
            if self.tick().state == state:
                return self.last
        raise AssertionError(f"{state} not reached, still in {self.last.state}")

    def states(self) -> list[str]:
        """The states that were run through."""
        return [path for path, _ in groupby(decision.state for decision in self.decisions)]


def departed(place: Place, route: Route, **options: Any) -> Drive:
    """A drive that has its route and is in `on_road/regression`."""
    if place.mission is None:
        place.mission = mission()
    drive = Drive(place, **options)
    drive.tick()
    drive.answer(route)
    drive.until("on_road/regression")
    return drive


def in_normal(place: Place, route: Route, **options: Any) -> Drive:
    """A drive that is in `on_road/normal`."""
    drive = departed(place, route, **options)
    drive.until("on_road/normal")
    return drive

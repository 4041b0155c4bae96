"""A behaviour on its way through a crossing, with real Worlds; the test moves the car and is planner and route server.

The crossing lies in the middle of two roads with two lanes each way, whose lines are solid over the last 40 m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

import numpy as np
from scenes import table

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Hold, PlanResult, Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import TRAFFIC_LIGHTS, BoolMessage, Inputs, Light, Odometry, StampedRows
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import RouteMatch, World

from ..worlds import plan

TICK_S = 0.05
LANE_M = 3.5
ARM_M = 150.0
HALF_M = 12.0
SOLID_M = 40.0
LIGHT_NUMBER = 41
VEHICLE = Vehicle()
INNER_Y, OUTER_Y = -0.5 * LANE_M, -1.5 * LANE_M
ENTRY_S, EXIT_S = ARM_M - 10.0, ARM_M - 10.0 + 2.0 * HALF_M
"""Where the route along the x axis enters and leaves the junction: it begins 10 m from the end of the road."""
ZONE_S = ENTRY_S - SOLID_M
LINE_S = ENTRY_S - 1.0


def write_junction(folder: Path, kind: str = "light") -> Path:
    """Straight on along x through a junction; the inner lane goes on, the outer one ends there.

    `kind` is `light`, `stop` or nothing: what stands at the line 1 m before it.
    """
    types = {"light": ("1000001", "yes"), "stop": ("206", "no")}
    signal = ""
    if kind in types:
        number, dynamic = types[kind]
        signal = (
            f'<signal id="{LIGHT_NUMBER}" name="" s="{ARM_M - 1.0}" t="-8" zOffset="2" hOffset="0" orientation="+" '
            f'dynamic="{dynamic}" country="OpenDRIVE" type="{number}" subtype="-1" value="-1" height="1" width="1"/>'
        )
    begin = -HALF_M - ARM_M
    file = folder / f"junction_{kind}.xodr"
    file.write_text(
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="junction"/>'
        + _road(1, -1, begin, ARM_M, '<successor elementType="junction" elementId="9"/>', True, signal)
        + _road(2, -1, HALF_M, ARM_M, '<predecessor elementType="junction" elementId="9"/>', False, "")
        + _road(
            100, 9, -HALF_M, 2.0 * HALF_M,
            '<predecessor elementType="road" elementId="1" contactPoint="end"/>'
            '<successor elementType="road" elementId="2" contactPoint="start"/>', False, "",
        )
        + '<junction id="9" name="j"><connection id="0" incomingRoad="1" connectingRoad="100" contactPoint="start">'
        '<laneLink from="-1" to="-1"/></connection></junction></OpenDRIVE>'
    )  # fmt: skip
    return file


def _road(number: int, junction: int, x: float, length: float, link: str, solid_end: bool, signals: str) -> str:
    inside = junction >= 0
    marks = '<roadMark sOffset="0" type="broken" width="0.1"/>'
    if solid_end:
        marks += f'<roadMark sOffset="{length - SOLID_M}" type="solid" width="0.1"/>'
    joined = '<link><predecessor id="-1"/><successor id="-1"/></link>' if inside else ""
    lanes = _lane(-1, '<roadMark sOffset="0" type="solid" width="0.1"/>' if inside else marks, joined)
    if not inside:
        lanes += _lane(-2, '<roadMark sOffset="0" type="solid" width="0.1"/>', "")
    return (
        f'<road id="{number}" name="" length="{length}" junction="{junction}"><link>{link}</link>'
        f'<type s="0" type="town"><speed max="50" unit="km/h"/></type>'
        f'<planView><geometry s="0" x="{x}" y="0" hdg="0" length="{length}"><line/></geometry></planView>'
        f'<lanes><laneSection s="0"><center><lane id="0" type="none"><roadMark sOffset="0" type="solid" width="0.1"/>'
        f"</lane></center><right>{lanes}</right></laneSection></lanes><signals>{signals}</signals></road>"
    )


def _lane(number: int, marks: str, link: str) -> str:
    width = f'<width sOffset="0" a="{LANE_M}" b="0" c="0" d="0"/>'
    return f'<lane id="{number}" type="driving" level="false">{link}{width}{marks}</lane>'


def junction_map(folder: Path, kind: str = "light") -> RoadMap:
    """The map of `write_junction`."""
    return read_map(write_junction(folder, kind))


def straight_on(road_map: RoadMap) -> Route:
    """From one end to the other along the inner lane."""
    far = HALF_M + ARM_M - 10.0
    route = plan_route(road_map, Pose(-far, INNER_Y, 0.0), Pose(far, INNER_Y, 0.0)).route
    assert route is not None
    return route


@dataclass
class Ride:
    """The car with its front bumper at `front` of the route; what it is told is changed from tick to tick."""

    road_map: RoadMap
    route: Route
    front: float = 50.0
    v: float = 0.0
    offset: float = 0.0
    turn: float = 0.0
    std: float = 0.02
    stamp: float = 100.0
    lights: dict[int, Light] = field(default_factory=dict)
    objects: list[tuple[float, ...]] = field(default_factory=list)
    stopped: bool = False
    parameters: BehaviourParameters = field(default_factory=BehaviourParameters)
    result: PlanResult | None = field(default_factory=plan)
    probe: PlanResult | None = None
    answers: list[RouteMatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.builder = WorldBuilder(self.road_map, VEHICLE, WorldParameters())
        self.behaviour = Behaviour(self.road_map, VEHICLE, self.parameters)
        self.world: World | None = None
        self.used: Route | None = None
        self.decisions: list[Decision] = []

    def tick(self) -> Decision:
        """One tick; the car goes on by its speed."""
        self.stamp += TICK_S
        self.front += self.v * TICK_S
        on = self.route.reference.at(self.front - VEHICLE.front)
        pose = Pose(
            on.x - self.offset * math.sin(on.heading), on.y + self.offset * math.cos(on.heading), on.heading + self.turn
        )
        lights = np.array([(k, int(v), 1.0) for k, v in self.lights.items()], dtype=TRAFFIC_LIGHTS)
        goal = self.route.reference.at(self.route.length)
        inputs = Inputs(
            self.stamp,
            Odometry(self.stamp, pose, self.v, 0.0, self.std, 0.0),
            objects=StampedRows(self.stamp, table(*self.objects)),
            traffic_lights=StampedRows(self.stamp, lights),
            emergency_stop=BoolMessage(self.stamp, self.stopped),
            mission={"goal": {"x": goal.x, "y": goal.y, "heading": goal.heading}},
        )
        world = self.builder.build(inputs, self.world, self.used)
        answers, self.answers = self.answers, []
        decision = self.behaviour.step(
            replace(world, route_answers=tuple(answers)), self.result if self.decisions else None, self.probe
        )
        self.world, self.used = world, decision.route
        self.decisions.append(decision)
        return decision

    def depart(self) -> None:
        """Get the route, and stand on it."""
        request = self.tick().route_requests[0]
        self.answers = [RouteMatch(request.number, self.route)]
        self.until("on_road/regression")

    def run(self, seconds: float) -> Decision:
        """Several ticks."""
        for _ in range(round(seconds / TICK_S)):
            self.tick()
        return self.last

    def until(self, state: str, seconds: float = 10.0) -> Decision:
        """Tick until a state is reached."""
        for _ in range(round(seconds / TICK_S)):
            if self.tick().state == state:
                return self.last
        raise AssertionError(f"{state} not reached, still in {self.last.state}")

    @property
    def last(self) -> Decision:
        """The latest decision."""
        return self.decisions[-1]

    @property
    def clause(self) -> str:
        """Of the latest transition."""
        return next(d.transition.clause for d in reversed(self.decisions) if d.transition is not None)

    def walls(self) -> list[Reason]:
        """Why the latest request has walls."""
        request = self.last.request
        assert not isinstance(request, Hold)
        return [wall.reason for wall in request.walls]

    def states(self) -> Sequence[str]:
        """The states that were run through."""
        return [path for path, _ in groupby(decision.state for decision in self.decisions)]


def in_safe_driving(ride: Ride) -> Ride:
    """The same ride in `intersection/safe_driving`, standing where it is."""
    ride.depart()
    ride.until(states.SAFE_DRIVING)
    return ride


def in_no_line_free(ride: Ride) -> Ride:
    """In `intersection/no_line_free`, because there was no path; now there is one."""
    in_safe_driving(ride).result = plan(False)
    ride.until(states.JUNCTION_NO_LINE_FREE)
    ride.result = plan()
    return ride


def in_regression(ride: Ride) -> Ride:
    """In `intersection/regression`, off the road."""
    ride.offset = 6.0
    ride.depart()
    ride.until(states.JUNCTION_REGRESSION)
    return ride

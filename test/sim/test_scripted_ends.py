"""Scripted actors at the ends of roads, routes and paths, and how they go on from there."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.bodies import FreeActor
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import (
    ChangeLane,
    ChangeSpeed,
    Command,
    Drive,
    FollowPath,
    FollowRoute,
    Place,
    Remove,
    SetRain,
    Walk,
)
from tuling_fsm.sim.scenario.conditions import Arrived, Condition, Elapsed, InLane, Reached
from tuling_fsm.sim.scenario.model import Action, ActorState, Node, Parallel, RouteTo, ScenarioActor, Serial, Wait
from tuling_fsm.sim.scenario.placements import AtPose, OnLane
from tuling_fsm.sim.simulation import Simulation

from .scenes import simulation

EGO_AT, GOAL = AtPose(20.0, -1.75, 0.0), RouteTo(AtPose(350.0, -1.75, 0.0))


def run(road_map: RoadMap, actor: ScenarioActor, *nodes: Node) -> Simulation:
    return simulation(road_map, ego=EGO_AT, route=GOAL, actors=(actor,), storyboard=Serial(nodes))


def car(x: float, speed: float = 0.0, y: float = -1.75) -> ScenarioActor:
    return ScenarioActor("npc", ActorKind.VEHICLE, 4.5, 1.8, AtPose(x, y, 0.0), speed)


def walker() -> ScenarioActor:
    return ScenarioActor("npc", ActorKind.PERSON, 0.6, 0.6, AtPose(100.0, -12.0, 0.0), 0.0)


def states(sim: Simulation, seconds: float) -> list[ActorState]:
    found = []
    for _ in range(round(seconds / sim.dt)):
        sim.advance(None)
        state = sim.scripted.state("npc")
        assert state is not None
        found.append(state)
    return found


@pytest.mark.parametrize(("x", "speed"), [(370.0, 8.0), (250.0, 20.0)])
def test_a_vehicle_that_comes_to_a_dead_end_stops_and_stays_there(two_lanes: RoadMap, x: float, speed: float) -> None:
    sim = run(two_lanes, car(x, speed), Action((Drive("npc", speed),)))
    track = states(sim, 30.0)
    ways = [after.pose.x - before.pose.x for before, after in pairwise(track)]
    assert min(ways) > -0.01
    assert track[-1].speed == 0.0
    assert track[-1].pose.x == pytest.approx(400.0 - 0.8 * 4.5, abs=0.6)
    assert sim.scripted.on_lanes("npc")


QUARTER = AtPose(130.0, -1.75, 0.0)
WAYS: list[tuple[ScenarioActor, Command]] = [
    (car(100.0), FollowRoute("npc", (QUARTER,), 10.0)),
    (car(100.0), FollowPath("npc", (QUARTER,), 10.0)),
    (walker(), Walk("npc", (AtPose(104.0, -12.0, 0.0),), 1.4)),
]


@pytest.mark.parametrize(("actor", "way"), WAYS, ids=("route", "path", "walk"))
@pytest.mark.parametrize("rate", [2.0, math.inf])
def test_what_has_come_to_the_end_of_its_way_can_be_given_a_speed(
    two_lanes: RoadMap, actor: ScenarioActor, way: Command, rate: float
) -> None:
    target = 1.0 if actor.kind is ActorKind.PERSON else 6.0
    story = Action((way,), Arrived("npc")), Action((ChangeSpeed("npc", target, rate),))
    track = states(run(two_lanes, actor, *story), 16.0)
    assert track[-1].speed == pytest.approx(target, abs=0.1)
    assert track[-1].pose.x > (105.0 if actor.kind is ActorKind.PERSON else 140.0)


@pytest.mark.parametrize("way", [WAYS[0][1], WAYS[1][1]], ids=("route", "path"))
def test_what_has_come_to_the_end_of_its_way_drives_on_when_told(two_lanes: RoadMap, way: Command) -> None:
    story = Action((way,), Arrived("npc")), Action((Drive("npc", 6.0),))
    assert states(run(two_lanes, car(100.0), *story), 16.0)[-1].speed == pytest.approx(6.0, abs=0.1)


def test_a_stop_leaves_what_is_at_the_end_of_its_path_as_it_stands(two_lanes: RoadMap) -> None:
    aslant = FollowPath("npc", (AtPose(112.0, -5.25, 0.0),), 5.0)
    sim = run(two_lanes, car(100.0), Action((aslant,), Arrived("npc")), Action((ChangeSpeed("npc", 0.0, 2.0),)))
    last = states(sim, 9.0)[-1]
    assert last.pose.heading == pytest.approx(-math.atan2(3.5, 12.0), abs=0.01)
    assert (last.speed, sim.scripted.on_lanes("npc")) == (0.0, False)


def test_a_way_to_where_it_is_leads_nowhere() -> None:
    body = FreeActor(ActorKind.PERSON, 0.6, 0.6)
    body.place(Pose(5.0, 5.0, 0.0), 0.0)
    body.follow([(5.0, 5.0)], 1.4)
    for _ in range(40):
        body.step(0.05)
    assert (body.arrived, body.pose) == (True, Pose(5.0, 5.0, 0.0))


def test_a_route_goes_on_in_the_lane_that_is_changed_to(two_lanes: RoadMap) -> None:
    changed = Serial((Wait(Elapsed(3.0)), Action((ChangeLane("npc", -1),), InLane("npc"))))
    route = Action((FollowRoute("npc", (AtPose(200.0, -1.75, 0.0),), 8.0),))
    sim = run(two_lanes, car(60.0), route, changed)
    states(sim, 9.0)
    assert (sim.scripted.in_lane("npc"), sim.scripted.arrived("npc")) == (True, False)
    last = states(sim, 25.0)[-1]
    assert sim.scripted.arrived("npc")
    assert (last.speed, *last.pose[:2]) == pytest.approx((0.0, 200.0, -5.25), abs=1.0)


def _road(number: str, x: int, side: str, other: str, contact: str, lanes: int) -> str:
    """A road along x, 200 m long; its left lane is joined to that of another road."""
    joined = f'<{side} id="-1"/>'
    right = "".join(
        f'<lane id="-{n}" type="driving" level="false"><link>{joined if n == 1 else ""}</link>'
        '<width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane>'
        for n in range(1, lanes + 1)
    )
    return (
        f'<road id="{number}" length="200" junction="-1">'
        f'<link><{side} elementType="road" elementId="{other}" contactPoint="{contact}"/></link>'
        f'<planView><geometry s="0" x="{x}" y="0" hdg="0" length="200"><line/></geometry></planView><lanes>'
        '<laneSection s="0"><center><lane id="0" type="none" level="false"/></center>'
        f"<right>{right}</right></laneSection></lanes></road>"
    )


@pytest.fixture(scope="session")
def two_roads(folder: Path) -> RoadMap:
    """Two roads, 200 m each: the left lane of the first one leads on to the second, the right one ends."""
    roads = _road("1", 0, "successor", "2", "start", 2) + _road("2", 200, "predecessor", "1", "end", 1)
    path = folder / "two_roads.xodr"
    path.write_text(
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="6" name="two_roads"/>' + roads + "</OpenDRIVE>"
    )
    return read_map(path)


def test_a_change_to_a_lane_from_which_the_route_cannot_be_followed_ends_the_run(two_roads: RoadMap) -> None:
    story = (
        Action((FollowRoute("npc", (OnLane("2", -1, 50.0),), 8.0),)),
        Wait(Elapsed(3.0)),
        Action((ChangeLane("npc", -1),)),
    )
    with pytest.raises(InputError, match="no lanes lead along its route"):
        states(run(two_roads, car(20.0), *story), 5.0)


@pytest.mark.clause("OSC-1")
@pytest.mark.parametrize(
    ("actor", "command", "until"),
    [
        (walker(), Walk("npc", (AtPose(150.0, -12.0),), 1.0), Arrived("npc")),
        (car(100.0), FollowPath("npc", (AtPose(150.0, -1.75),), 3.0), Arrived("npc")),
        (car(100.0), FollowRoute("npc", (AtPose(200.0, -1.75, 0.0),), 3.0), Arrived("npc")),
        (car(100.0), ChangeSpeed("npc", 20.0, 1.0), Reached("npc", 20.0)),
    ],
)
def test_what_one_does_is_over_when_it_leaves_the_world(
    two_lanes: RoadMap, actor: ScenarioActor, command: Command, until: Condition
) -> None:
    back = (Place("npc", AtPose(60.0, -1.75, 0.0)),)
    for leaves in ((Remove("npc"),), (Remove("npc"), *back)) if isinstance(until, Arrived) else ((Remove("npc"),),):
        doing = Serial((Action((command,), until), Action((SetRain(1.0),))))
        leaving = Serial((Wait(Elapsed(1.0)), Action(leaves)))
        sim = run(two_lanes, actor, Parallel((doing, leaving)))
        for _ in range(19):
            sim.advance(None)
        assert sim.environment.rain == 0.0
        for _ in range(3):
            sim.advance(None)
        assert (sim.scripted.state("npc") is None) is (len(leaves) == 1)
        assert sim.environment.rain == 1.0

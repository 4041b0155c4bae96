"""Where roads cross above one another: which level an actor is on, and what is above is nothing to the car."""

from __future__ import annotations

import math

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.levels import level_at
from tuling_fsm.sim.scenario.choices import ActorKind, Material, PerceivedAs
from tuling_fsm.sim.scenario.commands import CloseRoad, Place, Walk
from tuling_fsm.sim.scenario.model import EGO, Population, RouteTo, ScenarioActor
from tuling_fsm.sim.scenario.placements import AtPose, OnLane, RelativeTo
from tuling_fsm.sim.simulation import Simulation

from .scenes import simulation

BRIDGE_M = 8.0
BELOW, ABOVE = OnLane("1", -1, 51.75), OnLane("2", -1, 48.25)
"""One place, on either road."""


@pytest.fixture(scope="module")
def bridge(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """A road of 100 m along x, and one with a pavement 8 m above it that crosses it half-way."""
    across = xodr.geometry(0.0, 50.0, -50.0, 0.5 * math.pi, 100.0)
    high = f'<elevationProfile><elevation s="0" a="{BRIDGE_M}" b="0" c="0" d="0"/></elevationProfile>'
    above = xodr.section([xodr.lane(-1), xodr.lane(-2, 2.0, "sidewalk")])
    return xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(xodr.section([xodr.lane(-1)]), "1"),
        xodr.road(above, "2", across, kind=high),
    )


def actor(kind: ActorKind, placement: OnLane, speed: float = 0.0, default: bool = False) -> ScenarioActor:
    return ScenarioActor("npc", kind, 4.0, 1.8, placement, speed, default)


def run(road_map: RoadMap, *actors: ScenarioActor, people: int = 0) -> Simulation:
    goal = RouteTo(AtPose(95.0, -1.75, 0.0))
    return simulation(
        road_map, ego=AtPose(20.0, -1.75, 0.0), route=goal, actors=actors, population=Population(pedestrians=people)
    )


def levels(sim: Simulation) -> list[float]:
    return [float(z) for z in np.unique(sim._agents.boxes[:, 2])]


@pytest.mark.parametrize("kind", [ActorKind.VEHICLE, ActorKind.PERSON, ActorKind.CONE])
@pytest.mark.parametrize(("where", "z"), [(BELOW, 0.0), (ABOVE, BRIDGE_M)])
def test_an_actor_is_on_the_road_that_it_was_placed_on(
    bridge: RoadMap, kind: ActorKind, where: OnLane, z: float
) -> None:
    sim = run(bridge, actor(kind, where))
    assert levels(sim) == [z]
    table = sim.inputs().objects
    assert table is not None and len(table.rows) == (z == 0.0), "the car below is told of what is on its road only"


@pytest.mark.parametrize("default_controller", [True, False])
@pytest.mark.parametrize(("where", "z"), [(OnLane("1", -1, 30.0), 0.0), (OnLane("2", -1, 30.0), BRIDGE_M)])
def test_one_that_moves_stays_on_its_level_over_and_under_the_crossing(
    bridge: RoadMap, where: OnLane, z: float, default_controller: bool
) -> None:
    sim = run(bridge, actor(ActorKind.VEHICLE, where, 10.0, default=default_controller))
    if not default_controller:
        x, y, _ = bridge.lanes[next(n for n in bridge.lanes if n.road == where.road)].center.at(70.0)
        sim.inject(Walk("npc", (AtPose(x, y),), 10.0))
    for _ in range(80):
        sim.advance(None)
        assert levels(sim) == [z]
    assert sim.infractions == ()


def test_one_that_is_placed_beside_an_actor_is_on_the_level_of_that(bridge: RoadMap) -> None:
    low = actor(ActorKind.PERSON, BELOW)
    other = ScenarioActor("other", ActorKind.PERSON, 0.6, 0.6, None, 0.0)
    sim = run(bridge, low, other)
    sim.inject(Place("other", RelativeTo("npc", 0.5)))
    sim.advance(None)
    assert levels(sim) == [0.0]


def test_the_ego_is_on_the_level_that_it_is_put_on(bridge: RoadMap) -> None:
    """A few metres aside, too, where one that drives keeps its level."""
    sim = run(bridge)
    found = []
    for where in (ABOVE, AtPose(45.0, -1.75, 0.0), AtPose(51.75, -6.0, 0.5 * math.pi), BELOW, ABOVE):
        sim.inject(Place(EGO, where, 0.0))
        sim.advance(None)
        position = sim._ground.position
        found.append((sim._ground.z, None if position is None else position.lane.road))
    assert found == [(BRIDGE_M, "2"), (0.0, "1"), (BRIDGE_M, "2"), (0.0, "1"), (BRIDGE_M, "2")]


def test_a_row_across_a_road_is_as_high_as_that(bridge: RoadMap) -> None:
    sim = run(bridge)
    sim.inject(CloseRoad("works", ABOVE, None, Material.CONE, PerceivedAs.OBJECTS))
    sim.advance(None)
    assert levels(sim) == [BRIDGE_M]


def test_pedestrians_are_as_high_as_their_pavement(bridge: RoadMap) -> None:
    sim = run(bridge, people=3)
    for _ in range(20):
        sim.advance(None)
        assert levels(sim) == [BRIDGE_M]


def test_where_nothing_tells_the_level_it_is_any(bridge: RoadMap) -> None:
    here = Pose(51.75, -1.75, 0.5 * math.pi)
    assert math.isnan(level_at(bridge, here)), "a person that crosses below, or walks along above"
    assert level_at(bridge, here, kind=ActorKind.VEHICLE) == BRIDGE_M
    assert level_at(bridge, here, 1.0) == 0.0
    assert level_at(bridge, Pose(51.75, -500.0, 0.0), 1.0) == 1.0, "off all roads"


def test_below_a_bridge_at_a_shallow_angle_the_car_is_told_of_what_stands_before_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """It drives beside the middle of its lane, where a lane of the bridge is nearer for a while."""
    angle = 0.2
    across = xodr.geometry(0.0, 50.0 - 50.0 * math.cos(angle), -50.0 * math.sin(angle), angle, 100.0)
    high = f'<elevationProfile><elevation s="0" a="{BRIDGE_M}" b="0" c="0" d="0"/></elevationProfile>'
    lanes = [xodr.lane(1), xodr.lane(-1)]
    road_map = xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(xodr.section(lanes), "1"),
        xodr.road(xodr.section(lanes), "2", across, kind=high),
    )
    sim = run(road_map, actor(ActorKind.VEHICLE, OnLane("1", -1, 90.0)))
    told, heights = [], set()
    for k in range(110):
        sim.inject(Place(EGO, AtPose(20.0 + 0.5 * k, -0.85, 0.0)))
        sim.advance(None)
        table = sim.inputs().objects
        assert table is not None
        told.append(len(table.rows))
        heights.add(sim._ground.z)
    assert heights == {0.0}
    assert told == [1] * 110

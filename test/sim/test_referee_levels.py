"""The referee where roads cross above one another: what is on another level is nothing to the car."""

from __future__ import annotations

import math

import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import EgoState
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.referee import Referee
from tuling_fsm.sim.scoring.road_rules import Ground, RoadRules, ground_under
from tuling_fsm.world.inputs import Light

from .staging import DT, NO_AGENTS

BRIDGE_M = 8.0
HIGH = f'<elevationProfile><elevation s="0" a="{BRIDGE_M}" b="0" c="0" d="0"/></elevationProfile>'
LIGHT = (
    '<signals><signal id="7" s="50" t="-4.5" zOffset="4" orientation="+" dynamic="yes" country="OpenDRIVE" '
    'type="1000001" subtype="-1" hOffset="0"/></signals>'
)
WALL = '<objects><object id="5" type="wall" s="50" t="-1.75" zOffset="0" hdg="0" length="4" width="3"/></objects>'


def bridge(folder: pytest.TempPathFactory, angle: float) -> RoadMap:
    """A road of 100 m along x with a shoulder, and one 8 m above that crosses it half-way at an angle (rad)."""
    along = -50.0 * math.cos(angle), -50.0 * math.sin(angle)
    across = xodr.geometry(0.0, 50.0 + along[0], along[1], angle, 100.0)
    low, high = [xodr.lane(1), xodr.lane(-1), xodr.lane(-2, 3.0, "shoulder")], [xodr.lane(1), xodr.lane(-1)]
    roads = xodr.road(xodr.section(low), "1"), xodr.road(xodr.section(high), "2", across, kind=HIGH)
    return xodr.read(folder.mktemp("maps"), *roads)


def levels(road_map: RoadMap, start: Pose, steps: int, before: Ground | None = None) -> list[Ground]:
    """What is below a car that goes straight on, every half metre."""
    vehicle = Vehicle()
    rules, found = RoadRules(road_map, vehicle), list[Ground]()
    for k in range(steps):
        before = ground_under(road_map, rules, vehicle, shifted(start, 0.5 * k), before)
        found.append(before)
    return found


@pytest.mark.parametrize("angle", [0.2, 0.8, 1.57])
@pytest.mark.parametrize(
    ("y", "road"), [(-1.75, "1"), (-0.85, "1"), (-4.9, None), (-8.0, None)], ids=("in", "aside", "shoulder", "off")
)
def test_below_a_bridge_the_car_stays_on_its_level(
    tmp_path_factory: pytest.TempPathFactory, angle: float, y: float, road: str | None
) -> None:
    road_map = bridge(tmp_path_factory, angle)
    before = levels(road_map, Pose(25.0, -1.75, 0.0), 1)[0]
    found = levels(road_map, Pose(30.0, y, 0.0), 80, before)
    assert {each.z for each in found} == {0.0}
    assert {None if each.position is None else each.position.lane.road for each in found} == {road}


def test_one_that_is_put_on_the_bridge_is_there(tmp_path_factory: pytest.TempPathFactory) -> None:
    road_map = bridge(tmp_path_factory, 1.2)
    below = levels(road_map, Pose(1.0, -1.75, 0.0), 1)[0]
    on_it = shifted(Pose(50.0 + 1.75 * math.sin(1.2), -1.75 * math.cos(1.2), 1.2), -1.0)
    assert [each.z for each in levels(road_map, on_it, 4, below)] == [BRIDGE_M] * 4


def test_one_that_has_climbed_beside_the_road_is_on_the_lanes_that_it_comes_to(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """What is off all surfaces for so long that a road could have led up there."""
    road_map = bridge(tmp_path_factory, 1.57)
    rises = levels(road_map, Pose(2.0, -40.0, 0.0), 96, levels(road_map, Pose(1.0, -32.0, 0.0), 1)[0]._replace(z=0.0))
    assert (rises[-1].z, rises[-1].position is not None) == (BRIDGE_M, True)


@pytest.mark.parametrize(("road", "charged"), [("1", ["red_light"]), ("2", [])])
def test_the_light_of_the_road_below_is_not_for_a_car_on_the_bridge(
    tmp_path_factory: pytest.TempPathFactory, road: str, charged: list[str]
) -> None:
    along = 51.75 - 50.0 * math.cos(0.6), -1.75 - 50.0 * math.sin(0.6)
    across = xodr.geometry(0.0, along[0] - 1.0, along[1] + 1.4, 0.6, 100.0)
    road_map = xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(xodr.section([xodr.lane(-1)]), "1", inside=LIGHT),
        xodr.road(xodr.section([xodr.lane(-1)]), "2", across, kind=HIGH),
    )
    lane = next(lane for name, lane in road_map.lanes.items() if name.road == road and lane.type == "driving")
    referee, z = Referee(road_map, Vehicle(), RefereeParameters()), lane.height(0.0)
    for k in range(180):
        place = Pose(*lane.center.at(2.0 + 0.4 * k))
        ego = EgoState(place, z, 8.0, 0.0, 0.0, road_map.project(*place, z))
        referee.watch(k * DT, DT, ego, NO_AGENTS, {7: Light.RED}, frozenset(), False)
    assert [each.kind for each in referee.infractions if each.at_fault] == charged


@pytest.mark.parametrize(("z", "charged"), [(0.0, []), (BRIDGE_M, [("collision", True)])])
def test_a_wall_of_the_map_is_run_into_on_its_level_and_once(
    tmp_path_factory: pytest.TempPathFactory, z: float, charged: list[tuple[str, bool]]
) -> None:
    across = xodr.geometry(0.0, 50.0, -50.0, 0.5 * math.pi, 100.0)
    road_map = xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(xodr.section([xodr.lane(-1)]), "1"),
        xodr.road(xodr.section([xodr.lane(-1)]), "2", across, kind=HIGH, inside=WALL),
    )
    assert [thing.solid for thing in road_map.objects] == [True]
    place = Pose(30.0, -1.75, 0.0) if z == 0.0 else Pose(51.75, -20.0, 0.5 * math.pi)
    referee = Referee(road_map, Vehicle(), RefereeParameters())
    for k in range(100):
        place = shifted(place, 0.25)
        position = road_map.project(*place, z)
        ego = EgoState(place, z, 5.0, 0.0, 0.0, position)
        referee.watch(k * DT, DT, ego, NO_AGENTS, {}, frozenset(), False)
    assert [(each.kind, each.at_fault) for each in referee.infractions if each.at_fault] == charged

"""Where the positions of the standard put an actor, and which way it faces there."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.scenario.road_places import Facing, OnRoadLane

from .files import init, lane, load, npc, run, teleport, text

pytestmark = pytest.mark.clause("OSC-1")

POSITIONS = [
    ('<WorldPosition x="70" y="-5.25" h="0.5"/>', (70.0, -5.25, 0.5)),
    ('<LanePosition roadId="1" laneId="-2" s="70" offset="0.5"/>', (70.0, -4.75, 0.0)),
    (lane(70.0, -1, '<Orientation type="relative" h="1"/>')[10:-11], (70.0, -1.75, 1.0)),
    ('<RoadPosition roadId="1" s="70" t="-2"/>', (70.0, -2.0, 0.0)),
    ('<RelativeLanePosition entityRef="Ego" dLane="-1" ds="30"/>', (50.0, -5.25, 0.0)),
    ('<RelativeLanePosition entityRef="Ego" dLane="-1" dsLane="30" offset="1"/>', (50.0, -4.25, 0.0)),
    ('<RelativeRoadPosition entityRef="Ego" ds="30" dt="-1"/>', (50.0, -2.75, 0.0)),
    ('<RelativeObjectPosition entityRef="Ego" dx="30" dy="-2"/>', (50.0, -3.75, 0.0)),
    ('<RelativeWorldPosition entityRef="Ego" dx="30" dy="-2"/>', (50.0, -3.75, 0.0)),
    (
        '<RoutePosition><RouteRef><Route name="r" closed="false"><Waypoint routeStrategy="shortest">'
        f'{lane(50.0)}</Waypoint><Waypoint routeStrategy="shortest">{lane(150.0)}</Waypoint></Route></RouteRef>'
        '<InRoutePosition><FromLaneCoordinates pathS="20" laneId="-2"/></InRoutePosition></RoutePosition>',
        (70.0, -5.25, 0.0),
    ),
    (
        '<TrajectoryPosition s="20" t="1"><TrajectoryRef><Trajectory name="t" closed="false"><Shape><Polyline>'
        f'<Vertex time="0">{lane(50.0)}</Vertex><Vertex time="1">{lane(150.0)}</Vertex></Polyline></Shape></Trajectory>'
        "</TrajectoryRef></TrajectoryPosition>",
        (70.0, -0.75, 0.0),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("position", "pose"), POSITIONS)
def test_every_position(tmp_path: Path, two_lanes: RoadMap, position: str, pose: tuple[float, float, float]) -> None:
    content = text(npc=init("npc", teleport(f"<Position>{position}</Position>")))
    assert npc(run(tmp_path, two_lanes, content)).pose == pytest.approx(pose, abs=0.01)


_TURNED = '<Orientation type="relative" h="3.14159265"/>'
ON_TWO_WAYS = [
    ('<RoadPosition roadId="1" s="70" t="2"/>', lane(20.0), (70.0, 2.0, 0.0)),
    (f'<RoadPosition roadId="1" s="70" t="-2">{_TURNED}</RoadPosition>', lane(20.0), (70.0, -2.0, math.pi)),
    ('<RelativeRoadPosition entityRef="Ego" ds="50" dt="4"/>', lane(20.0), (70.0, 2.25, 0.0)),
    ('<RelativeRoadPosition entityRef="Ego" ds="10" dt="0"/>', lane(60.0, 1), (70.0, 1.75, 0.0)),
    ('<WorldPosition x="70" y="2"/>', lane(20.0), (70.0, 2.0, 0.0)),
    ('<RelativeLanePosition entityRef="Ego" dLane="0" dsLane="30"/>', lane(100.0, -1, _TURNED), (70.0, -1.75, 0.0)),
    ('<RelativeLanePosition entityRef="Ego" dLane="1" dsLane="30"/>', lane(40.0), (70.0, 1.75, math.pi)),
    ('<LanePosition roadId="1" laneId="1" s="70"/>', lane(20.0), (70.0, 1.75, math.pi)),
]


@pytest.mark.parametrize(("position", "ego", "pose"), ON_TWO_WAYS)
def test_a_place_of_a_road_faces_along_it_and_one_of_a_lane_along_that(
    tmp_path: Path, two_ways: RoadMap, position: str, ego: str, pose: tuple[float, float, float]
) -> None:
    content = text(npc=init("npc", teleport(f"<Position>{position}</Position>")), ego=init("Ego", teleport(ego)))
    x, y, heading = npc(run(tmp_path, two_ways, content)).pose
    assert (x, y, math.cos(heading)) == pytest.approx((*pose[:2], math.cos(pose[2])), abs=0.01)


def test_a_place_beyond_the_road_is_refused_where_it_stands(tmp_path: Path, two_lanes: RoadMap) -> None:
    with pytest.raises(InputError, match=r"test\.xosc:15:\d+: npc: no lane -1 of road '1' at 500 m on this map"):
        run(tmp_path, two_lanes, text(npc=init("npc", teleport(lane(500.0)))))


def test_placements_of_the_model(tmp_path: Path) -> None:
    turned = lane(60.0, -1, '<Orientation type="absolute" h="2"/>')
    scenario = load(tmp_path, text(npc=init("npc", teleport(turned))))
    assert scenario.actors[0].placement == OnRoadLane("1", -1, 60.0, 0.0, Facing(2.0, absolute=True))
    plain = "<Position><WorldPosition x='1' y='2'/></Position>"
    assert load(tmp_path, text(npc=init("npc", teleport(plain)))).actors[0].placement == AtPose(1.0, 2.0, 0.0)


def test_coordinates_of_carla_are_mirrored(tmp_path: Path) -> None:
    place = '<Position><WorldPosition x="1" y="2" h="0.5"/></Position>'
    content = text(npc=init("npc", teleport(place))).replace('description="test"', 'description="CARLA:test"')
    assert load(tmp_path, content).actors[0].placement == AtPose(1.0, -2.0, -0.5)


MIRRORED = [
    ('<RoadPosition roadId="1" s="70" t="2"/>', (70.0, -2.0)),
    ('<LanePosition roadId="1" laneId="-2" s="70" offset="0.5"/>', (70.0, -5.75)),
    ('<RelativeRoadPosition entityRef="Ego" ds="30" dt="1"/>', (50.0, -2.75)),
    (
        '<RoutePosition><RouteRef><Route name="r" closed="false"><Waypoint routeStrategy="shortest">'
        f'{lane(50.0)}</Waypoint><Waypoint routeStrategy="shortest">{lane(150.0)}</Waypoint></Route></RouteRef>'
        '<InRoutePosition><FromLaneCoordinates pathS="20" laneId="-2" laneOffset="1"/></InRoutePosition>'
        "</RoutePosition>",
        (70.0, -6.25),
    ),
    (
        '<TrajectoryPosition s="20" t="1"><TrajectoryRef><Trajectory name="t" closed="false"><Shape><Polyline>'
        f'<Vertex time="0">{lane(50.0)}</Vertex><Vertex time="1">{lane(150.0)}</Vertex></Polyline></Shape></Trajectory>'
        "</TrajectoryRef></TrajectoryPosition>",
        (70.0, -2.75),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("position", "place"), MIRRORED)
def test_what_is_to_the_left_is_mirrored_too(
    tmp_path: Path, two_lanes: RoadMap, position: str, place: tuple[float, float]
) -> None:
    content = text(npc=init("npc", teleport(f"<Position>{position}</Position>")))
    simulation = run(tmp_path, two_lanes, content.replace('description="test"', 'description="CARLA:test"'))
    assert npc(simulation).pose[:2] == pytest.approx(place, abs=0.01)

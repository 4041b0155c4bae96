"""What a teleport, and a leave from the world, do to speed and maneuvers; on a straight road with two lanes."""

from __future__ import annotations

from pathlib import Path

import pytest
from map import xodr

from tuling_fsm.map.road_map import RoadMap

from .files import after, drive, event, init, lane, npc, run, speed, story, teleport, text

pytestmark = pytest.mark.clause("OSC-1")
RAMP = '<SpeedActionDynamics dynamicsShape="linear" value="4" dynamicsDimension="time"/>'
LANE_CHANGE = (
    '<PrivateAction><LateralAction><LaneChangeAction><LaneChangeActionDynamics dynamicsShape="linear" value="4" '
    'dynamicsDimension="time"/><LaneChangeTarget><AbsoluteTargetLane value="-2"/></LaneChangeTarget>'
    "</LaneChangeAction></LateralAction></PrivateAction>"
)
TRAJECTORY = (
    '<PrivateAction><RoutingAction><FollowTrajectoryAction><Trajectory name="t" closed="false"><Shape><Polyline>'
    '<Vertex time="0"><Position><WorldPosition x="60" y="-1.75"/></Position></Vertex>'
    '<Vertex time="5"><Position><WorldPosition x="110" y="-1.75"/></Position></Vertex></Polyline></Shape></Trajectory>'
    '<TimeReference><Timing domainAbsoluteRelative="relative" scale="1" offset="0"/></TimeReference>'
    '<TrajectoryFollowingMode followingMode="position"/></FollowTrajectoryAction></RoutingAction></PrivateAction>'
)
AWAY = event("away", after(1.0), teleport(lane(200.0, -2)))


def _entity(action: str) -> str:
    return f'<GlobalAction><EntityAction entityRef="npc">{action}</EntityAction></GlobalAction>'


REMOVE = _entity("<DeleteEntityAction/>")
ADD = _entity(f"<AddEntityAction>{lane(250.0)}</AddEntityAction>")


def test_an_actor_keeps_its_speed(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(story(AWAY)))
    drive(simulation, 2.0)
    assert (npc(simulation).pose.x, npc(simulation).speed) == pytest.approx((210.0, 10.0))


@pytest.mark.parametrize("shift", [0.0, 3.5, -7.0])
def test_a_place_of_a_road_is_counted_from_its_reference_line_and_lane_0_is_where_the_lanes_are(
    tmp_path: Path, shift: float
) -> None:
    offset = f'<laneOffset s="0" a="{shift}" b="0" c="0" d="0"/>'
    shifted = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(1), xodr.lane(-1)])], lanes=offset))
    for place, y in (
        ('<RoadPosition roadId="1" s="50" t="-1"/>', -1.0),
        ('<RoadPosition roadId="1" s="50" t="2"/>', 2.0),
        ('<LanePosition roadId="1" laneId="0" s="50" offset="1"/>', shift + 1.0),
    ):
        simulation = run(tmp_path, shifted, text(npc=init("npc", teleport(f"<Position>{place}</Position>"))))
        assert npc(simulation).pose[:2] == pytest.approx((50.0, y))


def test_a_change_of_speed_goes_on(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("faster", after(0.0), speed(20.0, RAMP)), AWAY)))
    drive(simulation, 1.0)
    assert npc(simulation).speed == pytest.approx(12.5)
    drive(simulation, 3.0)
    assert npc(simulation).speed == 20.0


@pytest.mark.parametrize("maneuver", [LANE_CHANGE, TRAJECTORY])
def test_a_way_that_led_elsewhere_is_over(tmp_path: Path, two_lanes: RoadMap, maneuver: str) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), maneuver), AWAY)))
    drive(simulation, 1.0)
    assert simulation.scripted.maneuver_over("npc", 1)
    drive(simulation, 1.0)
    assert npc(simulation).pose[:2] == pytest.approx((210.0, -5.25))


def test_the_ego_keeps_its_speed(tmp_path: Path, two_lanes: RoadMap) -> None:
    away = story(event("away", after(0.1), teleport(lane(100.0))), actor="Ego")
    simulation = run(tmp_path, two_lanes, text(away, ego=init("Ego", teleport(lane(20.0)), speed(8.0))))
    drive(simulation, 0.05)
    before = simulation.ego.v
    drive(simulation, 0.05)
    assert simulation.ego.pose.x == pytest.approx(100.0, abs=0.5)
    assert 0.0 < before - simulation.ego.v < 0.5, "it slows down as it has no plan"


def test_one_that_was_taken_out_begins_anew(tmp_path: Path, two_lanes: RoadMap) -> None:
    faster, gone = event("faster", after(0.0), speed(20.0, RAMP)), event("gone", after(1.0), REMOVE)
    simulation = run(tmp_path, two_lanes, text(story(faster, gone, event("back", after(2.0), ADD))))
    drive(simulation, 1.5)
    assert simulation.scripted.state("npc") is None
    assert simulation.scripted.maneuver_over("npc", 1)
    drive(simulation, 2.0)
    assert (npc(simulation).pose.x, npc(simulation).speed) == (250.0, 0.0)


def test_one_that_comes_later_has_the_speed_of_the_beginning(tmp_path: Path, two_lanes: RoadMap) -> None:
    content = text(story(event("there", after(1.0), ADD)), npc=init("npc", speed(10.0)))
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 2.0)
    assert (npc(simulation).pose.x, npc(simulation).speed) == pytest.approx((260.0, 10.0))

"""Real maps against two independent readers: CARLA's (offline) and SUMO's netconvert."""

from __future__ import annotations

import importlib.util
import math
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import match_route, plan_route

MAPS = (
    "carla_Town01",
    "carla_Town07",
    "esmini_fabriksgatan_traffic_lights",
    "esmini_parking_demo",
    "pyopendrive_chatt",
)


@pytest.fixture(scope="module", params=MAPS)
def file(request: pytest.FixtureRequest, shared_data: Path) -> Path:
    return shared_data / "maps" / f"{request.param}.xodr"


@pytest.fixture(scope="module")
def road_map(file: Path) -> RoadMap:
    return read_map(file)


@pytest.fixture(scope="module")
def waypoints(file: Path) -> list[Any]:
    """CARLA's waypoints on driving lanes, less those that it places nowhere (spirals of constant curvature)."""
    carla = pytest.importorskip("carla", reason="the optional oracle carla==0.9.16 is not installed")
    found = carla.Map(file.stem, file.read_text(encoding="utf-8")).generate_waypoints(5.0)
    kept = [
        w
        for w in found
        if w.lane_type == carla.LaneType.Driving
        and w.lane_width > 1.0
        and w.s > 0.2
        and math.isfinite(w.transform.location.x)
    ]
    random.Random(3).shuffle(kept)
    return kept[:500]


def pose_of(waypoint: Any) -> tuple[float, float, float]:
    """CARLA mirrors y and yaw."""
    place = waypoint.transform
    return place.location.x, -place.location.y, -math.radians(place.rotation.yaw)


@pytest.mark.medium
def test_lanes_offsets_and_headings_as_carla_has_them(road_map: RoadMap, waypoints: list[Any]) -> None:
    rng = random.Random(7)
    lane = offset = heading = 0
    for waypoint in waypoints:
        x, y, yaw = pose_of(waypoint)
        aside = rng.choice((-0.3, 0.0, 0.3)) * waypoint.lane_width
        found = road_map.project(x - aside * math.sin(yaw), y + aside * math.cos(yaw), z=waypoint.transform.location.z)
        if found is None or (found.lane.road, found.lane.lane) != (str(waypoint.road_id), waypoint.lane_id):
            lane += not waypoint.is_junction or found is None
            continue
        offset += abs(found.offset - aside) > 0.05
        heading += abs((found.heading - yaw + math.pi) % (2.0 * math.pi) - math.pi) > 0.04
    assert max(lane, offset, heading) <= 0.02 * len(waypoints)


def test_the_way_on_is_the_one_that_carla_takes(road_map: RoadMap, waypoints: list[Any]) -> None:
    """Whatever CARLA reaches in the next metres lies on a lane that follows here."""
    missed = 0
    for waypoint in waypoints:
        x, y, _ = pose_of(waypoint)
        here = [p for p in road_map.positions(x, y) if same(p, waypoint)]
        if not here:
            continue
        reached = reachable(road_map, here[0], 12.0)
        missed += any((str(w.road_id), w.lane_id) not in reached for w in waypoint.next(6.0))
    assert missed <= 0.01 * len(waypoints)


def same(position: LanePosition, waypoint: Any) -> bool:
    return (position.lane.road, position.lane.lane) == (str(waypoint.road_id), waypoint.lane_id)


def reachable(road_map: RoadMap, start: LanePosition, distance: float) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    stack: list[tuple[LaneId, float]] = [(start.lane, start.s - road_map.lanes[start.lane].length + distance)]
    while stack:
        lane, left = stack.pop()
        found.add((lane.road, lane.lane))
        if left > 0.0:
            stack.extend((n, left - road_map.lanes[n].length) for n in road_map.lanes[lane].successors)
    return found


@pytest.mark.parametrize(
    ("name", "slack"),
    [("carla_Town01", 0), ("carla_Town07", 3), ("esmini_fabriksgatan_traffic_lights", 0), ("pyopendrive_chatt", 0)],
)
@pytest.mark.medium
def test_lanes_lengths_and_connections_as_netconvert_has_them(
    shared_data: Path, tmp_path: Path, name: str, slack: int
) -> None:
    """SUMO has an edge per road and direction where we have a lane per section; one road of Town07 has three."""
    if importlib.util.find_spec("sumo") is None:
        pytest.skip("the optional oracle eclipse-sumo is not installed")
    import sumo

    file, net = shared_data / "maps" / f"{name}.xodr", tmp_path / "net.xml"
    options = ["--opendrive.min-width", "0.5", "--no-turnarounds", "true", "--offset.disable-normalization", "true"]
    tool = Path(sumo.SUMO_HOME) / "bin" / "netconvert"
    subprocess.run([tool, "--opendrive-files", file, "-o", net, *options], check=True, capture_output=True)
    tree = etree.parse(net).getroot()
    theirs = [
        lane
        for edge in tree.findall("edge")
        if edge.get("function") is None
        for lane in edge.findall("lane")
        if "passenger" in lane.get("allow", "passenger") and "passenger" not in lane.get("disallow", "")
    ]
    road_map = read_map(file)
    ours = [road_map.lanes[n] for n in road_map.driving_lanes() if road_map.lanes[n].junction is None]
    assert abs(len(ours) - len(theirs)) <= slack
    assert sum(lane.length for lane in ours) == pytest.approx(
        sum(float(e.get("length", 0.0)) for e in theirs), rel=5e-3
    )
    connections = [c for c in tree.findall("connection") if not (c.get("from") or "").startswith(":")]
    assert abs(count_connections(road_map) - len(connections)) <= slack


def count_connections(road_map: RoadMap) -> int:
    """Ways from lane to lane, those through a junction counted once."""
    count = 0
    for number in road_map.driving_lanes():
        if road_map.lanes[number].junction is None:
            for following in road_map.lanes[number].successors:
                onward = road_map.lanes[following]
                count += 1 if onward.junction is None else len(onward.successors)
    return count


def test_every_light_has_a_stop_line_where_its_lane_ends(road_map: RoadMap, file: Path) -> None:
    expected = {"carla_Town01": (36, 0, 0), "carla_Town07": (18, 19, 20), "pyopendrive_chatt": (36, 0, 0)}
    counts = tuple(sum(line.kind == kind for line in road_map.stop_lines) for kind in ("light", "stop", "yield"))
    assert counts == expected.get(file.stem, counts)
    for line in road_map.stop_lines:
        lane = road_map.lanes[line.lane]
        assert lane.length - line.s < 6.0
        assert any(road_map.lanes[n].junction is not None for n in lane.successors)
        assert math.hypot(line.x1 - line.x0, line.y1 - line.y0) == pytest.approx(
            float(np.interp(line.s, lane.center.s, lane.left + lane.right)), abs=1e-6
        )


@pytest.mark.medium
def test_planned_routes_are_found_again_from_their_poses(road_map: RoadMap) -> None:
    """The only way to lose a lane is to start or end inside a junction, where ways still overlap."""
    rng = np.random.default_rng(1)
    lanes = [road_map.lanes[n] for n in road_map.graph.successors]
    lanes = [lane for lane in lanes if lane.junction is None and lane.length > 5.0]
    found = 0
    for _ in range(25):
        a, b = (lanes[int(rng.integers(len(lanes)))] for _ in range(2))
        start, goal = a.center.at(rng.uniform(0.1, 0.9) * a.length), b.center.at(rng.uniform(0.1, 0.9) * b.length)
        route = plan_route(road_map, start, goal).route
        if route is None:
            continue
        poses = route.poses()
        rows = sorted({*range(0, len(poses), 4), len(poses) - 1})
        again = match_route(road_map, poses[rows].astype(np.float32))
        assert again is not None
        assert [stretch.lane for stretch in again.lanes] == [stretch.lane for stretch in route.lanes]
        found += 1
    assert found >= 4


def test_a_bend_that_needs_reversing_is_found_again_from_the_poses_of_a_route_over_it(
    road_map: RoadMap, file: Path
) -> None:
    if file.stem != "pyopendrive_chatt":
        return
    start, goal = Pose(437.19, 618.21, -0.3615), Pose(145.10, 530.45, -3.5717)
    route = plan_route(road_map, start, goal).route
    assert route is not None and any(road_map.graph.tight(stretch.lane) for stretch in route.lanes)
    again = match_route(road_map, route.poses())
    assert again is not None
    assert [stretch.lane for stretch in again.lanes] == [stretch.lane for stretch in route.lanes]

"""Routes: the way, lane changes, loops, blocks, and back from bare poses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from map import towns, xodr
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map import routing
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.matching import _thinned, find_route
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import match_route, plan_route, route_through

EAST_IN, EAST_OUT = Pose(60.0, 1.75, math.pi), Pose(60.0, -1.75, 0.0)
NORTH_OUT, WEST_OUT = Pose(1.75, 60.0, math.pi / 2), Pose(-60.0, 1.75, math.pi)


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return towns.crossing(tmp_path_factory.mktemp("cross"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return towns.straight(tmp_path_factory.mktemp("wide"))


def planned(road_map: RoadMap, *poses: Pose, blocked: tuple[LaneId, ...] = ()) -> Route:
    result = plan_route(road_map, poses[0], poses[-1], blocked, poses[1:-1])
    assert result.status == "ok"
    assert result.route is not None
    check(road_map, result.route)
    return result.route


def check(road_map: RoadMap, route: Route) -> None:
    """What every route keeps: lanes that follow each other without gap or overlap, and a smooth reference."""
    assert route.lanes[0].s_from == 0.0
    assert route.lanes[-1].s_to == pytest.approx(route.length)
    for a, b in zip(route.lanes, route.lanes[1:], strict=False):
        assert a.s_to == b.s_from
        lane = road_map.lanes[a.lane]
        beside = {-1: lane.right_neighbour, 1: lane.left_neighbour, 0: None}[a.change]
        assert b.lane == beside if a.change else b.lane in lane.successors
    reference = route.reference
    step = np.hypot(*np.diff(reference.xy, axis=0).T)
    assert step.max() <= 0.6
    assert np.allclose(np.diff(reference.s), step)
    assert np.abs(np.diff(reference.heading)).max() < 0.2
    chord = np.arctan2(*np.diff(reference.xy, axis=0).T[::-1])
    middle = 0.5 * (reference.heading[1:] + reference.heading[:-1])
    assert np.abs((chord - middle + math.pi) % (2.0 * math.pi) - math.pi).max() < 0.03


def names(route: Route) -> list[str]:
    return [stretch.lane.road for stretch in route.lanes]


def test_straight_on_and_round_the_corner(cross: RoadMap) -> None:
    straight = planned(cross, EAST_IN, WEST_OUT)
    assert names(straight) == ["1", "103", "3"]
    assert straight.length == pytest.approx(120.0, abs=0.01)
    turn = planned(cross, EAST_IN, NORTH_OUT)
    assert names(turn) == ["1", "102", "2"]
    ends = turn.poses()[[0, -1]]
    assert np.allclose(ends[0], (60.0, 1.75, math.pi), atol=1e-6)
    assert np.allclose(ends[1], (1.75, 60.0, math.pi / 2), atol=1e-6)


@pytest.mark.clause("USE-7")
def test_an_end_on_a_blocked_road_is_not_off_the_road(cross: RoadMap, wide: RoadMap) -> None:
    assert plan_route(cross, EAST_IN, WEST_OUT, [LaneId("1", 0, -1), LaneId("1", 0, 1)]).status == "start_blocked"
    assert plan_route(cross, EAST_IN, WEST_OUT, [LaneId("3", 0, -1), LaneId("3", 0, 1)]).status == "goal_blocked"
    road = [lane for lane in wide.lanes if lane.lane != 0]
    assert plan_route(wide, Pose(10.0, -5.25, 0.0), Pose(300.0, -1.75, 0.0), road).status == "start_blocked"
    assert plan_route(cross, Pose(50.0, 50.0, 0.0), WEST_OUT, [LaneId("1", 0, -1)]).status == "start_off_road"


def test_no_way_back(cross: RoadMap) -> None:
    assert plan_route(cross, EAST_IN, EAST_OUT).status == "no_path"
    assert plan_route(cross, WEST_OUT, EAST_IN).status == "no_path"


def test_off_the_road(cross: RoadMap) -> None:
    field = Pose(50.0, 50.0, 0.0)
    assert plan_route(cross, field, WEST_OUT).status == "start_off_road"
    assert plan_route(cross, EAST_IN, field).status == "goal_off_road"
    assert plan_route(cross, EAST_IN, WEST_OUT, via=[field]).status == "goal_off_road"
    beside = plan_route(cross, Pose(60.0, 6.0, math.pi), WEST_OUT)
    assert beside.status == "ok"


def test_a_heading_that_is_not_known_does_not_matter(cross: RoadMap) -> None:
    route = planned(cross, EAST_IN._replace(heading=math.nan), NORTH_OUT._replace(heading=math.nan))
    assert names(route) == ["1", "102", "2"]


def test_the_heading_chooses_among_lanes_that_overlap_in_a_junction(cross: RoadMap) -> None:
    for other, heading in ((2, 2.6), (3, math.pi), (4, 3.7)):
        lane = cross.lanes[LaneId(f"10{other}", 0, -1)]
        pose = lane.center.at(0.35 * lane.length)
        goal = cross.lanes[LaneId(str(other), 0, -1)].center.at(40.0)
        assert names(planned(cross, pose._replace(heading=heading), goal)) == [f"10{other}", str(other)]


def test_goal_behind_the_start_on_a_ring_goes_round(tmp_path: Path) -> None:
    radius = 30.0
    half = math.pi * radius
    roads = [
        xodr.road(
            [xodr.section([xodr.lane(-1, links=((-1,), (-1,)))])],
            number=number,
            geometries=xodr.geometry(0.0, 0.0, y, heading, half, f'<arc curvature="{1.0 / radius}"/>'),
            length=half,
            link=xodr.road_link("road", other, "end", "predecessor") + xodr.road_link("road", other, "start"),
        )
        for number, other, y, heading in (("1", "2", 0.0, 0.0), ("2", "1", 2.0 * radius, math.pi))
    ]
    ring = xodr.read(tmp_path, *roads)
    lane = ring.lanes[LaneId("1", 0, -1)]
    ahead = planned(ring, lane.center.at(20.0), lane.center.at(60.0))
    assert ahead.length == pytest.approx(40.0, abs=0.1)
    round_ = planned(ring, lane.center.at(60.0), lane.center.at(20.0))
    assert names(round_) == ["1", "2", "1"]
    assert round_.length == pytest.approx(2.0 * lane.length - 40.0, abs=0.2)
    again = match_route(ring, round_.poses())
    assert again is not None
    assert names(again) == ["1", "2", "1"]


def test_a_lane_change_is_drawn_over_thirty_metres(wide: RoadMap) -> None:
    route = planned(wide, Pose(10.0, -1.75, 0.0), Pose(300.0, -5.25, 0.0))
    assert [(s.lane.lane, s.change) for s in route.lanes] == [(-1, -1), (-2, 0)]
    y, x = route.reference.xy[:, 1], route.reference.xy[:, 0]
    assert np.all(np.diff(y) <= 1e-9)
    moving = x[(y < -1.76) & (y > -5.24)]
    assert 20.0 < moving.max() - moving.min() <= 31.0
    assert np.interp(route.lanes[0].s_to, route.reference.s, y) == pytest.approx(-3.5, abs=0.02)
    assert np.abs(np.diff(route.reference.heading) / np.diff(route.reference.s)).max() < 0.04


def test_two_lane_changes_share_the_room(wide: RoadMap) -> None:
    route = planned(wide, Pose(5.0, -1.75, 0.0), Pose(45.0, -8.75, 0.0))
    assert [s.lane.lane for s in route.lanes] == [-1, -2, -3]


@pytest.mark.parametrize(("room", "status"), [(16.5, "ok"), (19.0, "ok"), (15.5, "no_path")])
def test_short_changes_are_planned_where_there_is_no_other_way(wide: RoadMap, room: float, status: str) -> None:
    """Two of them: each has half of the room."""
    assert plan_route(wide, Pose(5.0, -1.75, 0.0), Pose(5.0 + room, -8.75, 0.0)).status == status


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize("width", [2.5, 3.0, 3.5, 3.75, 4.0, 5.0, 7.5])
def test_a_change_is_no_steeper_than_can_be_matched_however_wide_the_lanes_are(tmp_path: Path, width: float) -> None:
    lanes = xodr.section([xodr.lane(-1, width, mark="broken"), xodr.lane(-2, width)])
    road_map = xodr.read(tmp_path, xodr.road([lanes]))
    statuses = []
    for room in np.arange(5.0, 22.0, 0.5):
        found = plan_route(road_map, Pose(50.0, -0.5 * width, 0.0), Pose(50.0 + room, -1.5 * width, 0.0))
        assert found.route is None or match_route(road_map, found.route.poses()) is not None
        statuses.append(found.status)
    assert set(statuses) == {"ok", "no_path"}
    assert statuses == sorted(statuses)


def three_lanes(folder: Path, first: str, second: str) -> RoadMap:
    """200 m of lanes -1 to -3 with the marks between them."""
    lanes = [xodr.lane(-1, mark=first), xodr.lane(-2, mark=second), xodr.lane(-3, mark="solid")]
    return xodr.read(
        folder, xodr.road([xodr.section(lanes)], geometries=xodr.geometry(0.0, 0.0, 0.0, 0.0, 200.0), length=200.0)
    )


def marks(*records: tuple[float, str]) -> str:
    return "".join(f'<roadMark sOffset="{s}" type="{kind}"/>' for s, kind in records)


def crossed(route: Route) -> list[float]:
    """Where the changes of a route cross the mark, m along the lanes."""
    return [stretch.lane_to for stretch in route.lanes if stretch.change]


def test_a_lane_that_is_reached_behind_where_it_may_be_left_leads_nowhere(tmp_path: Path) -> None:
    late, early = marks((0, "solid"), (150, "broken")), marks((0, "broken"), (50, "solid"))
    start, goal = Pose(5.0, -1.75, 0.0), Pose(195.0, -8.75, 0.0)
    assert plan_route(three_lanes(tmp_path, late, early), start, goal).status == "no_path"
    first, second = crossed(planned(three_lanes(tmp_path, early, late), start, goal))
    assert first <= 50.0 and second >= 150.0


def test_changes_move_together_where_the_marks_leave_little_room(tmp_path: Path) -> None:
    road_map = three_lanes(tmp_path, marks((0, "solid"), (80, "broken")), marks((0, "broken"), (110, "solid")))
    first, second = crossed(planned(road_map, Pose(5.0, -1.75, 0.0), Pose(195.0, -8.75, 0.0)))
    assert 80.0 <= first <= second - 8.0 and second <= 110.0


def test_a_short_window_between_long_ones_is_kept_to(tmp_path: Path) -> None:
    lanes = [
        xodr.lane(-1, mark="broken"),
        xodr.lane(-2, mark=marks((0, "solid"), (100, "broken"), (113, "solid"))),
        xodr.lane(-3, mark=marks((0, "broken"), (125, "solid"))),
        xodr.lane(-4, mark="solid"),
    ]
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, 200.0)
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)], geometries=plan, length=200.0))
    places = crossed(planned(road_map, Pose(5.0, -1.75, 0.0), Pose(195.0, -12.25, 0.0)))
    assert 100.0 <= places[1] <= 113.0 and places[1] < places[2] <= 125.0


def test_every_broken_stretch_of_a_mark_counts(tmp_path: Path) -> None:
    road_map = three_lanes(tmp_path, marks((0, "broken"), (110, "solid"), (150, "broken")), "solid")
    for start, low, high in ((10.0, 10.0, 110.0), (105.0, 150.0, 195.0)):
        route = planned(road_map, Pose(start, -1.75, 0.0), Pose(195.0, -5.25, 0.0))
        assert low <= crossed(route)[0] <= high
    between = marks((0, "broken"), (20, "solid"), (40, "broken"), (53, "solid"), (80, "broken"), (120, "solid"))
    road_map = three_lanes(tmp_path, between, marks((0, "solid"), (50, "broken"), (66, "solid")))
    first, second = crossed(planned(road_map, Pose(30.0, -1.75, 0.0), Pose(195.0, -8.75, 0.0)))
    assert 40.0 <= first <= 53.0 and 50.0 <= second <= 66.0


def test_a_lane_that_is_too_narrow_to_be_driven_stands_for_the_one_beside_it(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1), xodr.lane(-2, 2.0)])]))
    route = planned(road_map, Pose(10.0, -4.5, 0.0), Pose(90.0, -4.5, 0.0))
    assert [stretch.lane.lane for stretch in route.lanes] == [-1]


def test_a_start_on_the_oncoming_lane_is_put_on_its_own_side(cross: RoadMap) -> None:
    for y, turned in ((-1.75, 0.0), (-0.4, 0.2)):
        route = planned(cross, Pose(60.0, y, math.pi + turned), WEST_OUT)
        assert names(route) == ["1", "103", "3"]
        assert route.poses()[0, :2] == pytest.approx((60.0, 1.75), abs=0.3)
    only_ahead = plan_route(cross, Pose(60.0, -1.75, math.pi), Pose(80.0, -1.75, 0.0))
    assert only_ahead.status == "ok", "from its own side there is no way"


def test_solid_lines_are_not_crossed(tmp_path: Path) -> None:
    road_map = towns.straight(tmp_path, mark="solid")
    assert plan_route(road_map, Pose(10.0, -1.75, 0.0), Pose(300.0, -5.25, 0.0)).status == "no_path"
    mark = '<roadMark sOffset="0" type="solid"/><roadMark sOffset="150" type="broken"/>'
    later = xodr.read(
        tmp_path,
        xodr.road(
            [xodr.section([xodr.lane(-1, mark=mark), xodr.lane(-2)])],
            geometries=xodr.geometry(0.0, 0.0, 0.0, 0.0, 400.0),
            length=400.0,
        ),
    )
    route = planned(later, Pose(10.0, -1.75, 0.0), Pose(300.0, -5.25, 0.0))
    assert route.lanes[0].lane_to >= 150.0


def test_blocked_lanes_are_never_used(cross: RoadMap, wide: RoadMap) -> None:
    blocked = LaneId("103", 0, -1)
    assert plan_route(cross, EAST_IN, WEST_OUT, [blocked]).status == "no_path"
    assert names(planned(cross, EAST_IN, NORTH_OUT, blocked=(blocked,))) == ["1", "102", "2"]
    own = LaneId("1", 0, -2)
    route = planned(wide, Pose(10.0, -5.25, 0.0), Pose(300.0, -1.75, 0.0), blocked=(own,))
    assert own not in [stretch.lane for stretch in route.lanes]


def test_via_poses_are_passed(wide: RoadMap) -> None:
    via = Pose(150.0, -8.75, 0.0)
    route = planned(wide, Pose(10.0, -1.75, 0.0), via, Pose(390.0, -1.75, 0.0))
    hit = route.reference.project(via.x, via.y)
    assert abs(hit.offset) < 0.05
    assert route.length > 380.0


def test_route_through_a_chain(cross: RoadMap) -> None:
    chain = [LaneId("1", 0, 1), LaneId("104", 0, -1), LaneId("4", 0, -1)]
    route = route_through(cross, chain, 20.0, 30.0)
    check(cross, route)
    assert route.lanes[0].lane_from == 20.0
    assert route.lanes[-1].lane_to == 30.0
    for bad in ([], [LaneId("x", 0, 1)], [chain[0], chain[2]]):
        with pytest.raises(InputError):
            route_through(cross, bad, 0.0, 10.0)


def test_matching_refuses_what_follows_no_lanes(cross: RoadMap) -> None:
    line = np.column_stack((np.linspace(60.0, -60.0, 61), np.full(61, 1.75), np.full(61, math.pi)))
    matched = match_route(cross, line)
    assert matched is not None
    assert names(matched) == ["1", "103", "3"]
    off, broken = line + np.array((0.0, 30.0, 0.0)), line.copy()
    broken[5, 0] = math.nan
    jump = line.copy()
    jump[31:] += np.array((-80.0, 0.0, 0.0))
    for poses, fault in (
        (line[::-1], "no lane leads to (-58.0, 1.8) from the pose before"),
        (off, "no lane is driven at (60.0, 31.8) in the direction 3.14 rad"),
        (line[[0, 30, 60]], "the pose before (0.0, 1.8) is 60 m away"),
        (jump, "the pose before (-82.0, 1.8) is 82 m away"),
        (line[:1], "fewer than two poses"),
        (broken, "pose 5 is not finite"),
    ):
        assert match_route(cross, poses) is None
        assert find_route(cross, poses) == fault


def test_poses_that_are_repeated_or_very_many_are_matched_as_the_few(cross: RoadMap) -> None:
    line = np.column_stack((np.linspace(60.0, -60.0, 61), np.full(61, 1.75), np.full(61, math.pi)))
    dense = np.column_stack((np.linspace(60.0, -60.0, 100_000), np.full(100_000, 1.75), np.full(100_000, math.pi)))
    plain = match_route(cross, line)
    assert plain is not None
    for poses in (np.repeat(line, 40, axis=0), dense):
        again = match_route(cross, poses)
        assert again is not None and names(again) == names(plain)
        assert again.length == pytest.approx(plain.length, abs=1e-6)
    far = np.column_stack((np.arange(0.0, 40_000.0, 0.5), np.zeros(80_000), np.zeros(80_000)))
    thinned = _thinned(far)
    assert len(thinned) <= 4100 and (thinned[0] == far[0]).all() and (thinned[-1] == far[-1]).all()
    assert np.diff(thinned[:, 0]).max() <= 10.0


@given(st.integers(0, 2), st.integers(0, 2), st.floats(5.0, 60.0), st.floats(250.0, 390.0), st.integers(1, 4))
@pytest.mark.medium
def test_matching_gives_the_planned_lanes_back(
    wide: RoadMap, first: int, last: int, start: float, end: float, every: int
) -> None:
    """Also from poses 2 m apart and rounded to single precision, as they come over the wire."""
    route = planned(wide, Pose(start, -1.75 - 3.5 * first, 0.0), Pose(end, -1.75 - 3.5 * last, 0.0))
    poses = route.poses()
    rows = sorted({*range(0, len(poses), every), len(poses) - 1})
    matched = match_route(wide, poses[rows].astype(np.float32))
    assert matched is not None
    check(wide, matched)
    assert [s.lane for s in matched.lanes] == [s.lane for s in route.lanes]
    assert abs(matched.length - route.length) < 0.1


def test_a_way_that_leads_round_to_the_same_place_is_not_taken_for_the_straight_one(tmp_path: Path) -> None:
    """Two short lanes lead straight on; one lane of a loop leaves and comes back at the same places."""
    around = 2.0 * math.pi * 30.0
    plans = {
        "1": (xodr.geometry(0.0, 0.0, 0.0, 0.0, 50.0), 50.0, "-1"),
        "5": (xodr.geometry(0.0, 50.0, 0.0, 0.0, around, f'<arc curvature="{1.0 / 30.0}"/>'), around, "9"),
        "2": (xodr.geometry(0.0, 50.0, 0.0, 0.0, 0.9), 0.9, "9"),
        "3": (xodr.geometry(0.0, 50.9, 0.0, 0.0, 0.9), 0.9, "9"),
        "4": (xodr.geometry(0.0, 51.8, 0.0, 0.0, 80.0), 80.0, "-1"),
    }
    links = {
        "1": xodr.road_link("junction", "9"),
        "5": xodr.road_link("road", "1", "end", "predecessor") + xodr.road_link("road", "4"),
        "2": xodr.road_link("road", "1", "end", "predecessor") + xodr.road_link("road", "3"),
        "3": xodr.road_link("road", "2", "end", "predecessor") + xodr.road_link("road", "4"),
        "4": xodr.road_link("junction", "9", which="predecessor"),
    }
    lanes = xodr.section([xodr.lane(-1, links=((-1,), (-1,)))])
    roads = [xodr.road(lanes, n, plan, length, of, links[n]) for n, (plan, length, of) in plans.items()]
    connections = "".join(
        f'<connection id="{n}" incomingRoad="1" connectingRoad="{n}" contactPoint="start">'
        '<laneLink from="-1" to="-1"/></connection>'
        for n in (5, 2)
    )
    road_map = xodr.read(tmp_path, *roads, f'<junction id="9">{connections}</junction>')
    x = np.arange(9.95, 110.0, 0.5)
    route = match_route(road_map, np.column_stack((x, np.full(len(x), -1.75), np.zeros(len(x)))))
    assert route is not None
    assert names(route) == ["1", "2", "3", "4"]


def test_a_search_in_vain_on_a_wide_bent_road_looks_at_each_lane_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many changes there is room for, and wherever each of them would end."""
    lanes = "".join(
        f'<lane id="-{n}" type="driving"><width sOffset="0" a="{3.0 + 0.13 * n}" b="0" c="0" d="0"/>'
        '<roadMark sOffset="0" type="broken"/></lane>'
        for n in (1, 2, 3, 4)
    )
    roads = "".join(
        f'<road id="{name}" length="400" junction="-1"><planView><geometry s="0" x="0" y="{y}" hdg="0" length="400">'
        f'<arc curvature="0.002"/></geometry></planView><lanes><laneSection s="0"><center><lane id="0" type="none"/>'
        f"</center><right>{lanes}</right></laneSection></lanes></road>"
        for name, y in ((1, 0), (2, -500))
    )
    file = tmp_path / "wide.xodr"
    file.write_text(f'<OpenDRIVE><header revMajor="1" revMinor="6"/>{roads}</OpenDRIVE>', encoding="utf-8")
    road_map, steps, looked = read_map(file), routing._steps, list[object]()

    def counted(*arguments: Any) -> Any:
        looked.append(arguments[1])
        return steps(*arguments)

    monkeypatch.setattr(routing, "_steps", counted)
    assert plan_route(road_map, Pose(2.0, -1.6, 0.0), Pose(50.0, -501.5, 0.0)).status == "no_path"
    assert len(looked) < 50

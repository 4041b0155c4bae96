"""The sum of PUD-1, and where the mission's points are: tables with the bounds on both sides."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crossroads import LIGHT, Town, crossroads
from map import xodr

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.budget import choose, is_measured, last_point, measure, needed_s
from tuling_fsm.behaviour.mission.guards import match_over
from tuling_fsm.behaviour.mission.memory import (
    CAR,
    PARK,
    GoalKind,
    MissionGoal,
    MissionProgress,
    TaskEntry,
    TaskPlace,
    TaskStatus,
)
from tuling_fsm.behaviour.mission.points import (
    along,
    distance_ahead,
    is_past,
    just_past,
    legal_point,
    pose_of,
    stop_ahead,
)
from tuling_fsm.behaviour.mission.progress import update_mission
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.mission import Mission, MissionPoint, Task

from ..views import at, view_of
from ..worlds import (
    FAR_LANE,
    FAR_Y,
    LENGTH,
    NEAR_LANE,
    NEAR_Y,
    ONCOMING_LANE,
    ONCOMING_Y,
    VEHICLE,
    Place,
    junction,
    route_along,
)
from .tasks import END_X, mission, task

GOAL, PARKING = MissionPoint("goal", 300.0, FAR_Y, 0.0), MissionPoint("end", END_X, FAR_Y, 0.0)
UNDECIDED = MissionGoal(GoalKind.UNDECIDED)


def pick(entry: int) -> TaskPlace:
    return TaskPlace(GoalKind.PICKUP, entry)


def drop(entry: int) -> TaskPlace:
    return TaskPlace(GoalKind.DROPOFF, entry)


def look(road: RoadMap, progress: MissionProgress, x: float = 50.0, y: float = FAR_Y, **more: Any) -> BehaviourView:
    """On the far lane, with a route to its end."""
    place = Place(road, x, y, more.pop("heading", 0.0), more.pop("v", 0.0), more.pop("localized", True))
    if "route" not in more:
        more["route"] = route_along(road, FAR_LANE, end=more.pop("end", LENGTH))
    return at(view_of(place, **more), mission=progress)


def open_book(*places: tuple[float, float], **more: Any) -> MissionProgress:
    entries = tuple(TaskEntry(task(str(i), *place)) for i, place in enumerate(places))
    return MissionProgress(entries=entries, **{"mission": Mission(0.0, (), None, PARKING), "goal": UNDECIDED, **more})


@pytest.mark.clause("PUD-1")
@pytest.mark.parametrize(
    ("tasks", "goal", "park", "last"),
    [
        (True, GOAL, PARKING, PARKING),
        (True, GOAL, None, GOAL),
        (True, None, None, None),
        (False, GOAL, PARKING, GOAL),
        (False, None, PARKING, PARKING),
    ],
)
def test_where_the_mission_ends(
    tasks: bool, goal: MissionPoint | None, park: MissionPoint | None, last: MissionPoint | None
) -> None:
    assert last_point(Mission(0.0, (task("one"),) * tasks, goal, park)) is last


@pytest.mark.clause("PUD-1", "PUD-2")
def test_lengths_are_found_one_a_tick_and_only_those_that_are_wanted(road: RoadMap) -> None:
    progress = open_book((150.0, 260.0), (170.0, 200.0))
    wanted = [
        ((CAR, pick(0)), 100.0),
        ((CAR, pick(1)), 120.0),
        ((pick(0), drop(0)), 110.0),
        ((drop(0), PARK), 130.0),
        ((pick(1), drop(1)), 30.0),
        ((drop(1), PARK), 190.0),
        ((drop(0), pick(1)), math.inf),
        ((drop(1), pick(0)), math.inf),
    ]
    for nth, (leg, length) in enumerate(wanted):
        assert not is_measured(look(road, progress))
        progress = measure(look(road, progress))
        assert list(progress.legs) == [leg for leg, _ in wanted[: nth + 1]]
        assert progress.legs[leg] == pytest.approx(length, abs=0.1)
    assert is_measured(look(road, progress))
    assert measure(look(road, progress)) is progress


@pytest.mark.clause("PUD-1", "TMP-3")
def test_the_way_to_a_stop_at_which_the_car_stands_is_a_round(course: RoadMap) -> None:
    here = MissionPoint("here", 181.75, 210.5, 0.5 * math.pi)
    there = MissionPoint("there", 81.0, 252.25, 0.0)
    entries = (TaskEntry(Task("one", here, here)), TaskEntry(Task("two", there, here)))
    progress = MissionProgress(Mission(0.0, (), here), entries, UNDECIDED)
    while not is_measured(view := look(course, progress, here.x, here.y, heading=0.5 * math.pi, route=None)):
        progress = measure(view)
    past = just_past(course, here)
    assert past is not None
    back = plan_route(course, past, pose_of(course, here)).route
    assert back is not None
    assert back.length > 1000.0
    for leg in ((CAR, pick(0)), (pick(0), drop(0)), (drop(1), pick(0))):
        assert progress.legs[leg] == pytest.approx(back.length + past.y - here.y)
    assert progress.legs[drop(0), PARK] == 0.0
    assert progress.legs[CAR, pick(1)] < 900.0


@pytest.mark.clause("PUD-2")
@pytest.mark.parametrize(("many", "goal", "at_once"), [(6, UNDECIDED, False), (7, UNDECIDED, True), (7, None, False)])
def test_for_the_choice_among_many_tasks_some_lengths_are_found_on_a_tick(
    road: RoadMap, course: RoadMap, many: int, goal: MissionGoal | None, at_once: bool
) -> None:
    progress = open_book(*[(150.0, 260.0)] * many)
    progress = replace(progress, goal=goal or MissionGoal(GoalKind.PICKUP, progress.entries[0].task.pickup, 0))
    small, town = measure(look(road, progress)), measure(look(course, progress, route=None))
    assert (len(small.legs), len(town.legs)) == ((7, 3) if at_once else (1, 1))
    lost = measure(look(road, progress, localized=False))
    assert lost is progress or goal is None, "the car is nowhere"


def test_which_lengths_are_wanted(road: RoadMap) -> None:
    two = open_book((150.0, 260.0), (170.0, 200.0))
    assert measure(look(road, two, localized=False)) is two, "the car is nowhere"
    on_the_way = replace(two, goal=MissionGoal(GoalKind.PICKUP, two.entries[0].task.pickup, 0))
    assert next(iter(measure(look(road, on_the_way, localized=False)).legs)) == (pick(0), drop(0))
    endless = replace(on_the_way, mission=Mission(0.0))
    legs: list[Any] = []
    while not is_measured(look(road, endless)):
        endless = measure(look(road, endless))
        legs = list(endless.legs)
    assert legs == [(pick(0), drop(0)), (pick(1), drop(1)), (drop(0), pick(1)), (drop(1), pick(0))]
    done = replace(two, entries=tuple(replace(entry, status=TaskStatus.SERVED) for entry in two.entries))
    assert is_measured(look(road, done))
    many = open_book(*[(150.0, 260.0)] * 7)
    known = {(pick(i), drop(i)): 1.0 for i in range(7)} | {(drop(i), PARK): 1.0 for i in range(7)}
    known |= {(CAR, pick(i)): 1.0 for i in range(7)}
    assert is_measured(look(road, replace(many, legs=known))), "too many for every order"
    six = replace(many, entries=many.entries[:6], legs=known)
    assert not is_measured(look(road, six))


def legs(fetch: float, carry: float, home: float, entry: int = 0) -> dict[Any, float]:
    return {(CAR, pick(entry)): fetch, (pick(entry), drop(entry)): carry, (drop(entry), PARK): home}


@pytest.mark.clause("PUD-1")
@pytest.mark.parametrize(
    ("wanted", "total"),
    [
        # 100 m, 110 m and 130 m at 5 m/s, two stops of 35 s, 45 s for a slot in the car park.
        (Mission(0.0, (task("one"),), None, PARKING), 20.0 + 35.0 + 22.0 + 35.0 + 26.0 + 45.0),
        (Mission(0.0, (task("one"),), GOAL, None), 20.0 + 35.0 + 22.0 + 35.0 + 26.0),
        (Mission(0.0, (task("one"),)), 20.0 + 35.0 + 22.0 + 35.0),
    ],
)
def test_the_time_that_a_task_takes(road: RoadMap, wanted: Mission, total: float) -> None:
    known = legs(100.0, 110.0, 130.0)
    for left, enough in ((total + 20.1, True), (total + 19.9, False)):
        progress = open_book((150.0, 260.0), mission=replace(wanted, match_time_s=left), legs=known)
        tour = choose(look(road, progress))
        assert (tour is not None) is enough
        if tour is not None:
            assert tour.order == (0,)
            assert tour.total == pytest.approx(total)
    pickup = replace(progress, goal=MissionGoal(GoalKind.PICKUP, progress.entries[0].task.pickup, 0))
    assert needed_s(look(road, pickup, x=300.0)) == pytest.approx(total + 20.0, abs=0.1)
    without = {leg: length for leg, length in known.items() if PARK not in leg}
    missing = needed_s(look(road, replace(pickup, legs=without), x=300.0))
    assert math.isnan(missing) is (last_point(wanted) is not None)
    assert math.isnan(needed_s(look(road, replace(pickup, legs={(drop(0), PARK): 1.0}), x=300.0)))


@pytest.mark.clause("PUD-2")
def test_with_many_tasks_the_one_served_soonest_is_next(road: RoadMap) -> None:
    for many, served in ((6, 6), (7, 1)):
        progress = open_book(*[(150.0, 260.0)] * many, legs={})
        known: dict[Any, float] = {}
        for i in range(many):
            known |= legs(100.0 - i, 10.0, 10.0, i)
            known |= {(drop(i), pick(j)): 10.0 for j in range(many) if j != i}
        tour = choose(look(road, replace(progress, legs=known, mission=Mission(0.0, (), None, PARKING, 9999.0))))
        assert tour is not None
        assert len(tour.order) == served
        assert tour.order[0] == many - 1


@pytest.mark.clause("MAT-1")
@pytest.mark.parametrize(
    ("s_from", "s_to", "v", "a", "over"),
    [
        (60.0, 70.0, 0.0, 0.0, True),
        (50.0 + VEHICLE.front - 0.1, 70.0, 0.0, 0.0, False),
        (50.0 + VEHICLE.front + 0.1, 70.0, 0.0, 0.0, True),
        (30.0, 50.0 - VEHICLE.rear_overhang + 0.1, 0.0, 0.0, False),
        (30.0, 50.0 - VEHICLE.rear_overhang - 0.1, 0.0, 0.0, True),
        (50.0 + VEHICLE.front + 12.1, 90.0, 6.0, 0.0, False),
        (50.0 + VEHICLE.front + 12.3, 90.0, 6.0, 0.0, True),
        (50.0 + VEHICLE.front + 17.6, 90.0, 6.0, VEHICLE.max_accel, False),
        (50.0 + VEHICLE.front + 17.8, 90.0, 6.0, VEHICLE.max_accel, True),
        (50.0 + VEHICLE.front + 10.0, 90.0, 6.0, -VEHICLE.comfort_decel, False),
        (50.0 + VEHICLE.front + 10.2, 90.0, 6.0, -VEHICLE.comfort_decel, True),
        (50.0 + VEHICLE.front + 10.2, 90.0, -6.0, VEHICLE.comfort_decel, True),
    ],
)
def test_the_run_ends_where_the_car_stops_outside_junctions(
    road: RoadMap, s_from: float, s_to: float, v: float, a: float, over: bool
) -> None:
    progress = open_book(mission=mission(match=30.0), elapsed_s=30.0)
    ahead = (junction(s_from, s_to), junction(300.0, 320.0))
    view = look(road, progress, v=v, junctions=ahead)
    assert match_over(replace(view, world=replace(view.world, ego=view.world.ego._replace(a=a)))) is over
    assert match_over(look(road, progress, v=v, junctions=ahead, localized=False))
    assert not match_over(look(road, replace(progress, elapsed_s=29.0), v=v))


def bound(x: float, y: float = FAR_Y, heading: float | None = 0.0, **more: Any) -> MissionProgress:
    return MissionProgress(
        goal=MissionGoal(more.pop("kind", GoalKind.PICKUP), MissionPoint("p", x, y, heading), 0), **more
    )


@pytest.mark.clause("NOR-1")
@pytest.mark.parametrize(
    ("progress", "x", "distance"),
    [
        (bound(80.0), 50.0, 30.0),
        (bound(80.0), 82.0, -2.0),
        (bound(80.0, kind=GoalKind.CAR_PARK), 50.0, None),
        (bound(80.0, around=Pose(0.0, 0.0, 0.0)), 50.0, None),
        (MissionProgress(goal=MissionGoal(GoalKind.PICKUP, None, 0)), 50.0, None),
        (bound(80.0, FAR_Y - 9.9), 50.0, 30.0),
        (bound(80.0, FAR_Y - 10.1), 50.0, None),
        (bound(80.0, heading=1.5), 50.0, 30.0),
        (bound(80.0, heading=1.6), 50.0, None),
        (bound(80.0, heading=-1.6), 50.0, None),
        (bound(129.0), 50.0, 79.0),
        (bound(141.0), 50.0, None),
    ],
)
def test_how_far_ahead_a_stop_is(road: RoadMap, progress: MissionProgress, x: float, distance: float | None) -> None:
    found = distance_ahead(look(road, progress, x))
    assert found == (None if distance is None else pytest.approx(distance, abs=0.01))
    assert distance_ahead(look(road, progress, x, route=None)) is None


@pytest.mark.clause("NOR-1")
@pytest.mark.parametrize(
    ("x", "changes", "ahead"),
    [
        (89.0, {}, False),
        (91.0, {}, True),
        (132.9, {}, True),
        (133.1, {}, False),
        (91.0, {"localized": False}, False),
        (91.0, {"junctions": (junction(100.0, 120.0),)}, False),
        (91.0, {"junctions": (junction(129.0, 140.0),)}, False),
        (91.0, {"junctions": (junction(131.0, 140.0),)}, True),
        (91.0, {"junctions": (junction(70.0, 90.0),)}, True),
        (91.0, {"junctions": (junction(70.0, 92.0),)}, False),
    ],
)
def test_a_stop_is_ahead_within_40_m_without_a_junction_between(
    road: RoadMap, x: float, changes: dict[str, Any], ahead: bool
) -> None:
    assert stop_ahead(look(road, bound(130.0), x, **changes)) is ahead


def turning_route(road: RoadMap, x: float, radius: float) -> Route:
    """Along the near lane, round at `x`, and back on the other side of the road."""
    out, back = route_along(road, NEAR_LANE, end=x), route_along(road, ONCOMING_LANE, begin=LENGTH - x)
    bend = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 40)[1:-1]
    loop = np.column_stack((x + radius * np.cos(bend), radius * np.sin(bend)))
    line = Polyline.of(np.vstack((out.reference.xy, loop, back.reference.xy)))
    turned = 0.5 * (line.length + out.length - back.length)
    (there,), (home,) = out.lanes, back.lanes
    return Route((there._replace(s_to=turned), home._replace(s_from=turned, s_to=line.length)), line)


@pytest.mark.clause("NOR-1")
@pytest.mark.parametrize(("beside", "ahead"), [(0.0, True), (8.0, False)])
def test_a_stop_on_a_service_road_is_not_at_the_main_road(beside: float, ahead: bool, tmp_path: Path) -> None:
    town = Town()
    for number, y in ((1, 0.0), (2, -8.0)):
        town.road(number, 0.0, y, 0.0, 200.0, ("", ""))
    road_map = town.read(tmp_path, "service")
    route = plan_route(road_map, Pose(5.0, -1.75, 0.0), Pose(190.0, -1.75, 0.0)).route
    found = distance_ahead(look(road_map, bound(80.0, -3.2 - beside), 50.0, -1.75, route=route))
    assert (found == pytest.approx(30.0, abs=0.1)) if ahead else (found is None)


@pytest.mark.clause("NOR-1")
@pytest.mark.parametrize("y", [-1.75, -5.0])
def test_a_stop_where_roads_are_above_one_another_is_at_that_of_the_route(y: float, tmp_path: Path) -> None:
    lanes, high = (
        xodr.section([xodr.lane(-1)]),
        '<elevationProfile><elevation s="0" a="8" b="0" c="0" d="0"/></elevationProfile>',
    )
    road_map = xodr.read(tmp_path, xodr.road(lanes, "1"), xodr.road(lanes, "2", kind=high))
    for lane in road_map.lanes:
        route = route_along(road_map, lane)
        assert distance_ahead(look(road_map, bound(80.0, y), 50.0, -1.75, route=route)) == pytest.approx(30.0)


@pytest.mark.clause("NOR-1", "TMP-1")
def test_a_stop_on_the_other_carriageway_is_ahead_by_the_way_round_to_it(road: RoadMap) -> None:
    route = turning_route(road, 100.0, ONCOMING_Y)
    point = bound(80.0, ONCOMING_Y, math.pi)
    way_round = 20.0 + math.pi * ONCOMING_Y
    for x in (60.0, 77.0, 79.0, 90.0):
        view = look(road, point, x, NEAR_Y, route=route)
        assert distance_ahead(view) == pytest.approx(100.0 - x + way_round, abs=0.2)
        assert stop_ahead(view) is (100.0 - x + way_round <= 40.0)
    back = look(road, point, 79.0, ONCOMING_Y, heading=math.pi, route=route)
    assert distance_ahead(back) == pytest.approx(-1.0, abs=0.01)


@pytest.mark.clause("NOR-1")
def test_a_stop_on_the_other_carriageway_has_not_been_passed_before_the_turn(road: RoadMap) -> None:
    goal = bound(80.0, ONCOMING_Y, math.pi).goal
    progress = open_book((80.0, 300.0), goal=goal, near=True, measured=True)
    view = look(road, progress, 70.0, NEAR_Y, v=5.0, route=turning_route(road, 100.0, ONCOMING_Y))
    assert update_mission(view, states.SOLID_LINE_FREE).mission.attempts == 0


def test_past_a_place_is_told_in_its_direction_and_on_its_road() -> None:
    place = Pose(10.0, 20.0, 0.6)
    c, s = math.cos(0.6), math.sin(0.6)
    for past, beside in ((3.0, 2.0), (-3.0, 14.9), (3.0, -14.9), (3.0, 15.1), (3.0, -15.1)):
        pose = Pose(10.0 + c * past - s * beside, 20.0 + s * past + c * beside, 0.0)
        assert along(pose, place) == pytest.approx((past, beside))
        for by in (2.9, 3.1, -3.1):
            assert is_past(pose, place, by) is (past > by and abs(beside) < 15.0)
            assert not is_past(Pose(pose.x, pose.y, math.pi), place, by)


def test_an_open_heading_is_that_of_the_lane(road: RoadMap) -> None:
    for y, heading in ((FAR_Y, 0.0), (ONCOMING_Y, math.pi), (60.0, 0.0)):
        found = pose_of(road, MissionPoint("", 50.0, y, None))
        assert found[:2] == (50.0, y)
        assert math.cos(found.heading) == pytest.approx(math.cos(heading))
    assert pose_of(road, MissionPoint("", 50.0, ONCOMING_Y, 0.3)) == (50.0, ONCOMING_Y, 0.3)


@pytest.mark.clause("TMP-3")
def test_the_next_legal_place(road: RoadMap) -> None:
    view = look(road, MissionProgress())
    for x, y, expected in (
        (100.0, FAR_Y, 120.0),
        (100.0, NEAR_Y, 120.0),
        (369.0, FAR_Y, 389.0),
        (371.0, FAR_Y, None),
        (100.0, 60.0, None),
    ):
        found = legal_point(view, MissionPoint("here", x, y, 0.0))
        assert (found and (found.x, found.y)) == (None if expected is None else pytest.approx((expected, FAR_Y)))
        assert found is None or found.name == "next legal place after here"
        past = just_past(road, MissionPoint("here", x, y, 0.0))
        assert past == (None if y > 10.0 else pytest.approx((x + 5.0, FAR_Y, 0.0)))
    assert just_past(road, MissionPoint("", 396.0, FAR_Y, 0.0)) is None
    back = just_past(road, MissionPoint("", 100.0, ONCOMING_Y, None))
    assert back is not None
    assert (back.x, back.y) == pytest.approx((95.0, -FAR_Y))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "town", {"W": LIGHT}, crosswalks="E", arm_m=60.0)


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("x", "place"),
    [
        # The arm ends 12 m before the middle, its light is 1 m before that; a crosswalk is 3 m to 6 m behind.
        (-60.0, -40.0),
        (-46.0, -26.0),
        (-43.4, -23.4),
        (-42.6, 32.0),
        (-30.0, 30.0),
    ],
)
def test_no_legal_place_is_near_junctions_lights_or_crosswalks(town: RoadMap, x: float, place: float) -> None:
    here = MissionPoint("", x, -1.75, 0.0)
    found = legal_point(view_of(Place(town, x=x, y=-1.75)), here)
    assert found is not None
    assert found.y == pytest.approx(-1.75, abs=0.01)
    assert found.x == pytest.approx(place, abs=2.6)
    assert found.x <= -23.0 or found.x >= 28.0

"""When another route is switched to, case by case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import RoutingMemory
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.on_road.memory import OnRoadMemory, RouteBlock
from tuling_fsm.behaviour.permissions import ON_LANES
from tuling_fsm.behaviour.routing import (
    PUSHED,
)
from tuling_fsm.behaviour.supervisors import guards
from tuling_fsm.behaviour.supervisors.route_refresh import (
    ASKING,
    IDLE,
    can_turn_round,
    consider,
    same_course,
    same_direction,
)
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.mission import Mission, MissionPoint
from tuling_fsm.world.world import RouteMatch

from .views import CLOCK, at, view_of
from .worlds import (
    FAR_LANE,
    NEAR_LANE,
    NEAR_Y,
    ONCOMING_LANE,
    ONCOMING_Y,
    Drive,
    Place,
    mission,
    route_along,
    write_road,
)

STANDS = LeafBehaviour(lambda _: Hold(Reason.NONE), may=ON_LANES)


@pytest.mark.clause("RRF-1", "RRF-3")
@pytest.mark.parametrize(
    ("elapsed", "ticket", "changes", "due"),
    [
        (10.0, 2, {}, True),
        (9.95, 2, {}, False),
        (0.0, 3, {}, True),
        (10.0, 2, {"localized": False}, False),
        (10.0, 2, {"route": None}, False),
        (10.0, 2, {"over": True}, False),
    ],
)
def test_when_the_route_is_asked_for_again(
    road: RoadMap, elapsed: float, ticket: int, changes: dict[str, Any], due: bool
) -> None:
    route = changes.get("route", route_along(road))
    view = view_of(Place(road, localized=changes.get("localized", True)), route)
    progress = MissionProgress(ticket=ticket)
    if changes.get("over"):
        progress = MissionProgress(
            Mission(0.0, match_time_s=5.0),
            goal=MissionGoal(GoalKind.GOAL, MissionPoint("", 9.0, 9.0, 0.0)),
            ticket=ticket,
        )
        progress = replace(progress, elapsed_s=5.0)
    routing = RoutingMemory(route=route, refreshed_at=CLOCK - elapsed, ticket=2)
    assert guards.refresh_due(at(view, routing=routing, mission=progress)) is due


def test_when_the_question_is_over(road: RoadMap) -> None:
    for number, closed in ((-1, True), (0, False), (4, False)):
        assert guards.refresh_closed(at(view_of(Place(road)), routing=RoutingMemory(refresh=number))) is closed
    for seconds, late in ((2.0, False), (2.05, True)):
        assert guards.refresh_late(view_of(Place(road), in_state_s=seconds)) is late


def two_routes(
    road: RoadMap, present: Route, x: float = 50.0, y: float = NEAR_Y, heading: float = 0.0
) -> BehaviourView:
    return at(view_of(Place(road, x, y, heading), present), routing=RoutingMemory(route=present))


@pytest.mark.clause("RRF-2")
def test_routes_are_compared_from_the_car_on(road: RoadMap) -> None:
    present = route_along(road, end=300.0)
    view = two_routes(road, present)
    for other, same in (
        (route_along(road, begin=20.0, end=300.0), True),
        (route_along(road, end=301.9), True),
        (route_along(road, end=302.1), False),
        (route_along(road, end=298.1), True),
        (route_along(road, end=297.9), False),
        (route_along(road, FAR_LANE, end=300.0), False),
    ):
        assert same_course(view, present, other) is same
    for beside, same in ((0.7, True), (0.8, False), (-0.8, False)):
        line = present.reference
        shifted = replace(present, reference=Polyline.of(line.xy + np.array((0.0, beside))))
        assert same_course(view, present, shifted) is same
    back = route_along(road, ONCOMING_LANE)
    assert same_direction(view, present, route_along(road, FAR_LANE))
    assert not same_direction(view, present, back)


@pytest.mark.clause("RRF-2")
def test_a_route_that_begins_ahead_of_the_car_is_the_same_one(road: RoadMap) -> None:
    whole, later = route_along(road, end=300.0), route_along(road, begin=20.0, end=300.0)
    for present, begin in ((whole, 20.0), (later, 0.0)):
        view = two_routes(road, present, x=10.0)
        for end, same in ((300.0, True), (287.0, False), (313.0, False)):
            assert same_course(view, present, route_along(road, begin=begin, end=end)) is same
    assert not same_course(two_routes(road, whole, x=10.0), whole, route_along(road, FAR_LANE, begin=20.0, end=300.0))


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize("direction", [0.6, 1.2, -1.2])
def test_directions_are_compared_wherever_the_road_leads(tmp_path: Path, direction: float) -> None:
    file = write_road(tmp_path)
    file.write_text(file.read_text().replace('hdg="0"', f'hdg="{direction}"'))
    turned = read_map(file)
    x, y = route_along(turned).reference.at(50.0)[:2]
    view = two_routes(turned, route_along(turned), x, y, direction)
    assert same_direction(view, route_along(turned), route_along(turned, FAR_LANE))
    assert not same_direction(view, route_along(turned), route_along(turned, ONCOMING_LANE))


@pytest.mark.clause("RRF-1", "RRF-3")
def test_while_a_state_asks_itself_nothing_is_asked_beside_but_an_open_question_ends(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.tick()
    record = drive.behaviour.record
    memory = record.machine.memory
    due = replace(memory, routing=replace(memory.routing, route=route_along(road), refreshed_at=-99.0))
    drive.behaviour.restore(replace(record, machine=replace(record.machine, memory=due)))
    assert not any(request.purpose == "refresh" for _ in range(3) for request in drive.tick().route_requests)
    record = drive.behaviour.record
    memory = record.machine.memory
    waits = replace(memory, routing=replace(memory.routing, refresh=9))
    asking = replace(record.route_refresh, path=ASKING, entered_at=record.route_refresh.clock)
    drive.behaviour.restore(replace(record, machine=replace(record.machine, memory=waits), route_refresh=asking))
    assert dict(drive.tick().supervisors)["route_refresh"] == ASKING
    drive.run(2.1)
    assert dict(drive.last.supervisors)["route_refresh"] == IDLE
    assert "route request 9 (refresh): no answer" in [line for each in drive.decisions for line in each.reports]


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize(
    ("centre", "y", "wall", "turns"),
    [
        ("open", NEAR_Y, None, True),
        ("solid", NEAR_Y, None, False),
        ("open", NEAR_Y, 0.0, False),
        ("solid", 0.5, None, True),
        ("open", ONCOMING_Y - 14.9, None, False),
        ("open", ONCOMING_Y + 4.0, None, True),
        ("open", ONCOMING_Y + 15.1, None, False),
    ],
)
def test_the_car_can_turn_to_what_is_near_with_nothing_between(
    road: RoadMap, open_road: RoadMap, centre: str, y: float, wall: float | None, turns: bool
) -> None:
    road_map = open_road if centre == "open" else road
    view = two_routes(road_map, route_along(road_map), y=y)
    if wall is not None:
        segments = np.array([(40.0, wall, 60.0, wall)])
        view = replace(view, world=replace(view.world, scene=replace(view.world.scene, static_segments=segments)))
    assert can_turn_round(view, route_along(road_map, ONCOMING_LANE)) is turns


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize(
    ("number", "leaf", "taken", "open_after"),
    [
        (9, {}, True, -1),
        (8, {}, False, 9),
        (PUSHED, {}, True, 9),
        (PUSHED, {"takes_pushed": True}, False, 9),
        (PUSHED, {"asks_itself": True, "defers_route": True}, None, 9),
        (9, {"asks_itself": True}, True, -1),
        (9, {"defers_route": True}, None, -1),
    ],
)
def test_which_answers_are_taken_beside(
    road: RoadMap, number: int, leaf: dict[str, bool], taken: bool | None, open_after: int
) -> None:
    present, other = route_along(road), route_along(road, FAR_LANE)
    view = two_routes(road, present)
    view = at(view, routing=replace(view.memory.routing, refresh=9, number=9))
    memory = consider(replace(view, answers=(RouteMatch(number, other),)), replace(STANDS, **leaf))
    assert (memory.routing.route is other) is bool(taken)
    assert memory.routing.switched is bool(taken)
    assert (memory.routing.kept is other) is (taken is None)
    assert memory.routing.kept_unasked is (number == PUSHED and (taken is None or taken))
    assert memory.routing.refresh == open_after
    assert memory.reports == (("switched to another route",) if taken else ())
    refused = consider(replace(view, answers=(RouteMatch(9, None),)), STANDS)
    assert refused.reports == ("route 9: refused, empty or on no lanes",)


@pytest.mark.clause("RRF-2", "RPL-2")
def test_what_is_kept_back_and_what_is_refused(road: RoadMap, open_road: RoadMap) -> None:
    present = route_along(road, end=300.0)
    view = two_routes(road, present)

    def told(route: Route, **memory: Any) -> Any:
        looked = at(view, **memory)
        routing = replace(looked.memory.routing, refresh=9, ticket=4)
        looked = at(looked, routing=routing, mission=replace(looked.memory.mission, ticket=4))
        return consider(replace(looked, answers=(RouteMatch(9, route),)), STANDS)

    same = told(route_along(road, end=300.0))
    assert same.routing.route is present
    assert (same.routing.kept, same.routing.serves, same.routing.switched) == (None, 4, False)
    back = route_along(road, ONCOMING_LANE)
    assert told(back).routing.kept is back, "no place to turn round"
    assert told(back).routing.route is present
    blocked = {"on_road": OnRoadMemory(RouteBlock(np.zeros((0, 3)), ((FAR_LANE, 90.0, 110.0),)))}
    assert told(route_along(road, FAR_LANE), **blocked).reports == ("route 9: it leads through the reported block",)
    own = {"on_road": OnRoadMemory(RouteBlock(np.zeros((0, 3)), ((NEAR_LANE, 90.0, 110.0),)))}
    assert told(route_along(road, end=300.0), **own).reports == (), "it is the present one"
    assert told(route_along(road, FAR_LANE, end=51.0)).reports == ("route 9: it ends where the car is",)
    lost = replace(view, world=replace(view.world, localized=False), answers=(RouteMatch(PUSHED, back),))
    assert consider(lost, STANDS).routing.route is present
    first = view_of(Place(road))
    taken = consider(replace(first, answers=(RouteMatch(PUSHED, present),)), STANDS)
    assert taken.routing.route is present


@pytest.mark.clause("NOR-10", "USE-10")
@pytest.mark.parametrize(
    ("x", "number", "ticket", "end", "taken"),
    [
        (50.1, 9, 4, 60.0, False),
        (50.1, 9, 4, 62.1, True),
        (49.9, 9, 4, 60.0, True),
        (50.1, PUSHED, 4, 60.0, True),
        (50.1, 9, 5, 60.0, True),
    ],
)
def test_at_its_goal_the_car_takes_no_route_that_leads_there_again(
    road: RoadMap, x: float, number: int, ticket: int, end: float, taken: bool
) -> None:
    present, again = route_along(road, end=52.0), route_along(road, end=end)
    view = view_of(Place(road, x=x), present)
    routing = replace(view.memory.routing, refresh=9, ticket=ticket, serves=4)
    view = at(view, routing=routing, mission=MissionProgress(ticket=ticket))
    memory = consider(replace(view, answers=(RouteMatch(number, again),)), STANDS)
    assert memory.routing.route is (again if taken else present)
    assert memory.reports == (("switched to another route",) if taken else ())


@pytest.mark.clause("RRF-2", "USE-9")
@pytest.mark.parametrize(
    ("number", "ticket", "before", "taken"),
    [(9, 4, True, True), (9, 5, True, False), (9, 5, False, False), (PUSHED, 5, True, True)],
)
def test_a_route_to_an_old_goal_is_not_switched_to_any_more(
    road: RoadMap, number: int, ticket: int, before: bool, taken: bool
) -> None:
    """Also not when it was kept back before the mission goal became another one, which has been asked for by then."""
    present, other = route_along(road), route_along(road, FAR_LANE)
    view = two_routes(road, present)
    view = at(view, routing=replace(view.memory.routing, refresh=9, ticket=4), mission=MissionProgress(ticket=4))
    if before:
        come = replace(view, answers=(RouteMatch(number, other),))
        view = view.having(consider(come, replace(STANDS, defers_route=True)))
        assert view.memory.routing.kept is other
        view = at(view, routing=replace(view.memory.routing, ticket=ticket))
    else:
        view = replace(view, answers=(RouteMatch(number, other),))
    memory = consider(at(view, mission=MissionProgress(ticket=ticket)), STANDS)
    assert memory.routing.route is (other if taken else present)
    assert memory.routing.kept is None

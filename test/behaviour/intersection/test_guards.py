"""Where the junction begins and ends, when its clock runs and when the lane is kept: tables on a straight road."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.intersection import guards
from tuling_fsm.behaviour.intersection.memory import IntersectionMemory
from tuling_fsm.behaviour.intersection.parameters import IntersectionParameters
from tuling_fsm.behaviour.intersection.safe_driving import SAFE_DRIVING, keeps_lane
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.core.request import LaneEnd, Limit, Reason
from tuling_fsm.map.ahead import JunctionAhead, StopLineAhead
from tuling_fsm.map.lanes import Junction, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

from ..views import at, view_of
from ..worlds import FAR_LANE, FAR_Y, NEAR_LANE, NEAR_Y, VEHICLE, WIDTH, Place, route_along, straight_road

HALF = 0.5 * VEHICLE.width
CROSSING = JunctionAhead(100.0, 120.0, Junction("j", (), {}, False), 0, 0, 80.0)


@pytest.fixture(scope="module")
def open_way(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return straight_road(tmp_path_factory.mktemp("map"))


def look(road_map: RoadMap, front: float, *junctions: JunctionAhead, y: float = NEAR_Y, **more: Any) -> BehaviourView:
    """The front bumper at an arc length of the route."""
    place = {key: more.pop(key) for key in ("heading", "v", "localized") if key in more}
    memory = more.pop("memory", {})
    route = route_along(road_map, more.pop("lane", NEAR_LANE))
    view = view_of(
        Place(road_map, front - VEHICLE.front, y, **place), route, junctions=junctions or (CROSSING,), **more
    )
    return replace(at(view, **memory), step_s=0.05)


def line(s: float, kind: str = "light", signal: int = 1) -> StopLineAhead:
    return StopLineAhead(s, StopLine(NEAR_LANE, s, 0.0, 0.0, 0.0, 0.0, kind, signal))


@pytest.mark.clause("INT-6", "NOR-2", "USE-1")
@pytest.mark.parametrize(
    ("front", "ahead", "over"),
    [
        (64.9, False, True),
        (65.1, False, False),
        (79.9, False, False),
        (80.1, True, False),
        (119.9 + VEHICLE.front, True, False),
        (120.1 + VEHICLE.front, False, False),
        (121.9 + VEHICLE.front, False, False),
        (122.1 + VEHICLE.front, False, True),
    ],
)
def test_a_junction_begins_with_the_bumper_and_ends_with_the_axle(
    open_way: RoadMap, front: float, ahead: bool, over: bool
) -> None:
    view = look(open_way, front)
    assert guards.junction_ahead(view) is ahead
    assert guards.junction_over(view) is over
    assert not guards.junction_ahead(look(open_way, front, localized=False))
    assert not guards.junction_over(look(open_way, front, localized=False))
    behind = CROSSING._replace(s_from=10.0, s_to=20.0, approach_from=0.0)
    assert guards.junction_here(look(open_way, front, behind, CROSSING)) is (CROSSING if ahead else None)


@pytest.mark.clause("INT-5")
@pytest.mark.parametrize(
    ("lines", "past_from"),
    [
        ((), 99.5),
        ((line(90.0),), 90.0),
        ((line(90.0), line(95.0)), 95.0),
        ((line(95.0), line(90.0)), 95.0),
        ((line(79.0),), 99.5),
        ((line(81.0),), 81.0),
        ((line(102.9),), 102.9),
        ((line(103.1),), 99.5),
    ],
)
def test_past_the_line(open_way: RoadMap, lines: tuple[StopLineAhead, ...], past_from: float) -> None:
    gets_on = PlanOutcome(True, travel=20.0)
    for front, past in ((past_from + 0.49, False), (past_from + 0.51, True)):
        for probe in (gets_on, PlanOutcome()):
            view = look(open_way, front, stop_lines=lines, memory={"probe": probe})
            assert guards.past_line(view) is past
            assert guards.way_on_past_line(view) is (past and probe is gets_on)
    assert guards.past_line(look(open_way, 50.0, stop_lines=lines)), "no junction here"


@pytest.mark.clause("INT-4")
@pytest.mark.parametrize(
    ("plan", "lights", "front", "explained"),
    [
        (PlanOutcome(True), {1: Light.RED}, 89.0, True),
        (PlanOutcome(True), {1: Light.RED_YELLOW}, 89.0, True),
        (PlanOutcome(True), {1: Light.GREEN}, 89.0, False),
        (PlanOutcome(True), {}, 89.0, False),
        (PlanOutcome(True), {2: Light.RED}, 89.0, False),
        (PlanOutcome(True), {1: Light.RED}, 91.0, False),
        (PlanOutcome(True), {1: Light.RED}, 70.0, False),
        (PlanOutcome(True, limit=Limit(Reason.PEDESTRIAN)), {}, 89.0, True),
        (PlanOutcome(True, False, Reason.PEDESTRIAN), {}, 89.0, True),
        (PlanOutcome(True, limit=Limit(Reason.RED_LIGHT)), {}, 89.0, False),
    ],
)
def test_what_explains_standing(
    open_way: RoadMap, plan: PlanOutcome, lights: dict[int, Light], front: float, explained: bool
) -> None:
    changes: dict[str, Any] = {"lights": lights, "memory": {"plan": plan}}
    assert guards.standing_explained(look(open_way, front, stop_lines=(line(90.0),), **changes)) is explained
    sign = look(open_way, front, stop_lines=(line(90.0, "stop"),), **changes)
    assert guards.standing_explained(sign) is (explained and not lights)


@pytest.mark.clause("INT-4")
@pytest.mark.parametrize(("light", "explained"), [(Light.RED, True), (Light.RED_YELLOW, True), (Light.UNKNOWN, False)])
def test_a_red_light_at_the_end_of_a_junction_explains_standing_in_it_or_before_it(
    open_way: RoadMap, light: Light, explained: bool
) -> None:
    stops = PlanOutcome(True, limit=Limit(Reason.RED_LIGHT, blocker=1))
    for front in (89.0, 118.0):
        view = look(open_way, front, stop_lines=(line(120.0),), lights={1: light}, memory={"plan": stops})
        assert guards.standing_explained(view) is explained


@pytest.mark.clause("INT-4")
@pytest.mark.parametrize(
    ("v", "red", "literal", "after"),
    [
        (0.0, False, False, 7.05),
        (0.49, False, False, 7.05),
        (-0.49, False, False, 7.05),
        (0.5, False, False, 0.0),
        (-0.5, False, False, 0.0),
        (0.0, True, False, 7.0),
        (0.0, True, True, 7.05),
        (0.6, True, False, 0.0),
    ],
)
def test_the_clock_of_standing(open_way: RoadMap, v: float, red: bool, literal: bool, after: float) -> None:
    lights = {1: Light.RED} if red else {}
    memory = {"intersection": IntersectionMemory(7.0)}
    view = look(open_way, 89.0, v=v, lights=lights, stop_lines=(line(90.0),), memory=memory)
    parameters = replace(view.context.parameters, intersection=IntersectionParameters(literal_clock=literal))
    view = replace(view, context=replace(view.context, parameters=parameters))
    assert SAFE_DRIVING.update(view).intersection.standing_s == pytest.approx(after)
    assert SAFE_DRIVING.enter(view).intersection.standing_s == 0.0
    for standing, directed in ((59.95, False), (60.0, True)):
        assert guards.directed_by_hand(at(view, intersection=IntersectionMemory(standing))) is directed


@pytest.mark.clause("INT-1")
@pytest.mark.parametrize(
    ("front", "y", "heading", "keeps"),
    [
        (79.0, NEAR_Y, 0.0, False),
        (81.0, NEAR_Y, 0.0, True),
        # The body may reach over the lane's edge by 0.3 m, at either end.
        (90.0, NEAR_Y + 0.5 * WIDTH - HALF + 0.29, 0.0, True),
        (90.0, NEAR_Y + 0.5 * WIDTH - HALF + 0.31, 0.0, False),
        (90.0, NEAR_Y - 0.5 * WIDTH + HALF - 0.29, 0.0, True),
        (90.0, NEAR_Y - 0.5 * WIDTH + HALF - 0.31, 0.0, False),
        (90.0, NEAR_Y, math.asin((0.5 * WIDTH - HALF + 0.29) / VEHICLE.front), True),
        (90.0, NEAR_Y, math.asin((0.5 * WIDTH - HALF + 0.31) / VEHICLE.front), False),
        (90.0, NEAR_Y, -math.asin((0.5 * WIDTH - HALF + 0.29) / VEHICLE.front), True),
        (90.0, NEAR_Y, -math.asin((0.5 * WIDTH - HALF + 0.31) / VEHICLE.front), False),
        (90.0, FAR_Y, 0.0, True),
        (90.0, 0.6, 0.0, False),
    ],
)
def test_the_lane_is_kept_when_the_car_is_well_in_it(
    open_way: RoadMap, front: float, y: float, heading: float, keeps: bool
) -> None:
    assert keeps_lane(look(open_way, front, y=y, heading=heading)) is keeps
    assert not keeps_lane(look(open_way, front, y=y, heading=heading, lanes=()))


@pytest.mark.clause("INT-1")
@pytest.mark.parametrize(
    ("end", "reaches", "keeps"),
    [
        (LaneEnd.LANE_END, 119.9, False),
        (LaneEnd.LANE_END, 120.1, True),
        (LaneEnd.HORIZON, 119.9, True),
    ],
)
def test_a_lane_that_ends_before_the_junction_is_not_kept(
    open_way: RoadMap, end: LaneEnd, reaches: float, keeps: bool
) -> None:
    view = look(open_way, 90.0, lane=FAR_LANE, y=FAR_Y)
    (own,) = (lane for lane in view.world.lanes if lane.shift == 0)
    lane = replace(own, end=end, route_s0=reaches - own.center.length)
    assert keeps_lane(replace(view, world=replace(view.world, lanes=(lane,)))) is keeps


@pytest.mark.clause("INT-1")
def test_the_lane_is_as_wide_as_it_is_beside_the_car(open_way: RoadMap) -> None:
    view = look(open_way, 90.0)
    (own,) = (lane for lane in view.world.lanes if lane.shift == 0)
    beyond = own.center.s > own.center.project(view.world.ego.pose.x, NEAR_Y).s + 5.0
    for left, keeps in ((np.where(beyond, 0.1, own.left), True), (np.where(beyond, own.left, 0.1), False)):
        for lane in (replace(own, left=left), replace(own, right=left)):
            assert keeps_lane(replace(view, world=replace(view.world, lanes=(lane,)))) is keeps

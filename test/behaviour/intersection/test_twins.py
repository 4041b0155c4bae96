"""`intersection/no_line_free` and `regression`: as their twins of `on_road`, and the ways between (INT-5, INT-6)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.request import FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import Light

from ..worlds import plan
from .ride import (
    ENTRY_S,
    EXIT_S,
    LIGHT_NUMBER,
    LINE_S,
    VEHICLE,
    ZONE_S,
    Ride,
    in_no_line_free,
    in_regression,
    in_safe_driving,
    junction_map,
)

Enter = Callable[[Ride], Ride]
BEHIND = EXIT_S + VEHICLE.front + 3.0


def _free_space(ride: Ride) -> FreeSpace:
    request = ride.tick().request
    assert isinstance(request, FreeSpace)
    return request


def _walls(ride: Ride, light: Light | None) -> list[Reason]:
    ride.lights = {} if light is None else {LIGHT_NUMBER: light}
    ride.run(0.5)
    return ride.walls()


@pytest.mark.clause("INT-5")
def test_without_lines_it_plans_as_on_the_road(lit: RoadMap, route: Route) -> None:
    ride = in_no_line_free(Ride(lit, route, ZONE_S + 10.0))
    request, pose = _free_space(ride), ride.last.world.ego.pose
    edges = lit.boundary_segments(pose.x, pose.y, BehaviourParameters().free.radius)
    assert np.array_equal(request.lines, edges) and request.allow_reverse
    assert abs(request.goal.y - route.reference.at(0.0).y) < 0.6


@pytest.mark.clause("INT-5")
@pytest.mark.parametrize(
    ("light", "walls"),
    [(Light.RED, [Reason.RED_LIGHT]), (Light.RED_YELLOW, [Reason.RED_LIGHT]), (None, []), (Light.DARK, [])],
)
@pytest.mark.medium
def test_without_lines_only_a_red_light_that_is_seen_stops_it_at_the_line(
    lit: RoadMap, route: Route, light: Light | None, walls: list[Reason]
) -> None:
    ride = in_no_line_free(Ride(lit, route, LINE_S - 2.0))
    assert _walls(ride, light) == walls
    ride = in_safe_driving(Ride(lit, route, LINE_S - 2.0, lights={LIGHT_NUMBER: Light.DARK}))
    ride.run(1.0)
    assert ride.walls() == [Reason.RED_LIGHT], "there it counts as red"


@pytest.mark.clause("INT-5")
def test_nor_does_a_stop_sign_stop_it_while_the_junction_is_directed_by_hand(
    tmp_path_factory: pytest.TempPathFactory, route: Route
) -> None:
    signed = junction_map(tmp_path_factory.mktemp("signed"), "stop")
    ride = in_safe_driving(Ride(signed, route, LINE_S - 8.0))
    ride.run(1.0)
    assert ride.walls() == [Reason.STOP_SIGN]
    assert _walls(in_no_line_free(Ride(signed, route, LINE_S - 8.0)), None) == []


@pytest.mark.clause("INT-5")
def test_it_drives_safely_again_only_past_the_line(lit: RoadMap, route: Route) -> None:
    ride = in_no_line_free(Ride(lit, route, LINE_S - 2.0))
    ride.probe = plan()
    ride.run(3.0)
    assert ride.last.state == states.JUNCTION_NO_LINE_FREE, "before the line the wait would only begin anew"
    ride.front = LINE_S + 0.4
    ride.run(2.0)
    assert ride.last.state == states.JUNCTION_NO_LINE_FREE, "over it by less than its tolerance"
    ride.front = LINE_S + 0.7
    ride.until(states.SAFE_DRIVING, 0.6)
    assert ride.clause == "INT-5"


@pytest.mark.clause("INT-5")
def test_without_a_line_it_is_the_junction_itself_that_has_to_be_entered(bare: RoadMap, route: Route) -> None:
    ride = in_no_line_free(Ride(bare, route, ENTRY_S - 1.0))
    ride.probe = plan()
    ride.run(2.0)
    assert ride.last.state == states.JUNCTION_NO_LINE_FREE
    ride.front = ENTRY_S + 0.5
    ride.until(states.SAFE_DRIVING, 0.6)


@pytest.mark.clause("INT-5")
def test_past_the_line_it_needs_a_forward_plan_too(lit: RoadMap, route: Route) -> None:
    ride = in_no_line_free(Ride(lit, route, ENTRY_S + 3.0))
    ride.probe = plan(False)
    ride.run(5.0)
    assert ride.last.state == states.JUNCTION_NO_LINE_FREE


@pytest.mark.clause("INT-5")
def test_off_the_road_it_goes_to_regression_and_back_on_it_drives_safely(lit: RoadMap, route: Route) -> None:
    ride = in_no_line_free(Ride(lit, route, ZONE_S + 10.0))
    ride.offset = 6.0
    ride.until(states.JUNCTION_REGRESSION, 1.0)
    assert ride.clause == "INT-5"
    ride.offset = 0.0
    ride.until(states.SAFE_DRIVING, 1.0)
    assert ride.clause == "INT-5"


@pytest.mark.clause("INT-5")
def test_without_any_path_another_route_is_asked_for(lit: RoadMap, route: Route) -> None:
    ride = in_no_line_free(Ride(lit, route, ZONE_S + 10.0))
    ride.result = plan(False)
    decision = ride.until(states.REPLAN, 5.0)
    assert ride.clause == "INT-5"
    assert decision.route_blocked is not None


@pytest.mark.clause("INT-5")
@pytest.mark.parametrize("way", ["exhausted", "lost"])
def test_a_regression_that_fails_explores(lit: RoadMap, route: Route, way: str) -> None:
    ride = in_regression(Ride(lit, route, ZONE_S + 10.0))
    if way == "lost":
        ride.std = 10.0
    else:
        ride.result = plan(False)
    ride.until(states.EXPLORE, 3.0)
    assert ride.clause == "INT-5"


@pytest.mark.clause("USE-2")
@pytest.mark.parametrize(
    ("enter", "dest"), [(in_no_line_free, states.REPLAN), (in_regression, states.EXPLORE)], ids=["free", "regression"]
)
@pytest.mark.medium
def test_a_maneuver_that_never_ends_is_left(lit: RoadMap, route: Route, enter: Enter, dest: str) -> None:
    ride = enter(Ride(lit, route, ZONE_S + 10.0))
    state = ride.last.state
    ride.run(58.0)
    assert ride.last.state == state
    ride.until(dest, 3.0)
    assert ride.clause == "USE-2"


def _by_way_of(ride: Ride, *fails: str) -> Ride:
    """In a state of `on_road` before the zone, after the failures that lead there."""
    ride.depart()
    ride.until(states.NORMAL)
    for state in fails:
        ride.result = plan(False)
        ride.until(state, 5.0)
    ride.result = plan()
    return ride


@pytest.mark.clause("INT-6", "USE-8")
def test_regression_goes_on_in_the_junction_and_out_of_it(lit: RoadMap, route: Route) -> None:
    ride = Ride(lit, route, ZONE_S - 20.0, offset=6.0)
    ride.depart()
    goal = _free_space(ride).goal
    ride.run(1.0)
    assert ride.last.state == states.REGRESSION
    ride.front = ZONE_S + 1.0
    ride.until(states.JUNCTION_REGRESSION, 1.0)
    assert ride.clause == "INT-6"
    assert _free_space(ride).goal == goal, "what has been begun is gone on with"
    ride.front = BEHIND
    ride.until(states.REGRESSION, 1.0)
    assert ride.clause == "INT-6"
    assert _free_space(ride).goal == goal


@pytest.mark.clause("INT-6", "USE-8")
def test_driving_without_lines_goes_on_in_the_junction_and_out_of_it(lit: RoadMap, route: Route) -> None:
    ride = _by_way_of(Ride(lit, route, ZONE_S - 20.0), states.SOLID_LINE_FREE, states.NO_LINE_FREE)
    goal = _free_space(ride).goal
    ride.front = ZONE_S + 1.0
    ride.until(states.JUNCTION_NO_LINE_FREE, 1.0)
    assert ride.clause == "INT-6"
    assert _free_space(ride).goal == goal
    ride.front = BEHIND
    ride.until(states.NO_LINE_FREE, 1.0)
    assert ride.clause == "INT-6"


@pytest.mark.clause("INT-6")
def test_driving_within_solid_lines_becomes_safe_driving_and_that_normal_driving(lit: RoadMap, route: Route) -> None:
    ride = _by_way_of(Ride(lit, route, ZONE_S - 20.0), states.SOLID_LINE_FREE)
    ride.run(1.0)
    assert ride.last.state == states.SOLID_LINE_FREE
    ride.front = ZONE_S + 1.0
    ride.until(states.SAFE_DRIVING, 1.0)
    assert ride.clause == "INT-6"
    ride.front = BEHIND
    ride.until(states.NORMAL, 1.0)
    assert ride.clause == "INT-6"


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("enter", [in_safe_driving, in_no_line_free, in_regression], ids=["safe", "free", "regression"])
def test_every_state_says_why_it_stands_when_it_does(lit: RoadMap, route: Route, enter: Enter) -> None:
    ride = enter(Ride(lit, route, ZONE_S + 10.0))
    ride.std = 10.0
    decision = ride.tick()
    assert isinstance(decision.request, Hold)
    assert decision.request.reason is Reason.NOT_LOCALIZED

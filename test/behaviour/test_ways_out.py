"""Whatever happened before: when all is well the car drives normally, and when nothing works it stands and says so."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.behaviour import states, table
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import EmergencyInput, RouteMatch

from .worlds import FAR_Y, NEAR_Y, ONCOMING_Y, Drive, Place, Thing, mission, plan, route_along

STEP = 0.2
ANSWERS = ["none", "refused", "near", "far", "pushed"]
ENABLED = {path for path, leaf in table().leaves.items() if leaf.enabled}

results = st.one_of(
    st.none(),
    st.builds(
        plan,
        st.booleans(),
        st.floats(0.0, 30.0),
        st.sampled_from([Reason.NONE, Reason.RED_LIGHT, Reason.OBSTACLE, Reason.LEADER, Reason.JUNCTION_OCCUPIED]),
        st.just(7),
        st.booleans(),
    ),
)
moments = st.fixed_dictionaries(
    {
        "x": st.floats(5.0, 395.0),
        "y": st.sampled_from([NEAR_Y, FAR_Y, ONCOMING_Y, 9.0, -15.0]),
        "heading": st.sampled_from([0.0, 0.7, 2.0, math.pi]),
        "v": st.sampled_from([0.0, 2.0, -1.0]),
        "localized": st.booleans(),
        "emergency": st.sampled_from(
            [EmergencyInput(), EmergencyInput(False, 0.0), EmergencyInput(True, 0.0), EmergencyInput(False, 3.0)]
        ),
        "things": st.lists(st.builds(Thing, st.floats(0.0, 400.0), st.floats(-8.0, 8.0)), max_size=4).map(tuple),
    }
)
histories = st.lists(
    st.tuples(moments, results, results, st.sampled_from(ANSWERS), st.integers(1, 60)),
    max_size=8,
)


def _live_through(road: RoadMap, history: list[Any]) -> Drive:
    drive = Drive(Place(road, mission=mission()))
    routes = {"near": route_along(road), "far": route_along(road, begin=30.0), "pushed": route_along(road)}
    for moment, result, probe, answer, ticks in history:
        for name, value in moment.items():
            setattr(drive.place, name, value)
        drive.result, drive.probe = result, probe
        for i in range(ticks):
            answers = []
            if i == 0 and answer != "none":
                answers = [RouteMatch(-1 if answer == "pushed" else drive.number, routes.get(answer))]
            decision = drive.tick(*answers, step=STEP)
            assert decision.state in ENABLED
            if isinstance(decision.request, Hold):
                assert decision.request.reason is not Reason.NONE or decision.request.detail
    drive.place.emergency = EmergencyInput(False, 0.0, clear=True)
    return drive


@pytest.mark.clause("SAF-4")
@settings(max_examples=25, deadline=None)
@given(histories)
@pytest.mark.medium
def test_when_all_is_well_it_comes_to_drive_normally(road: RoadMap, history: list[Any]) -> None:
    drive = _live_through(road, history)
    place = drive.place
    place.x, place.y, place.heading, place.v = 60.0, NEAR_Y, 0.0, 0.0
    place.localized, place.things = True, ()
    drive.result, drive.probe = plan(), plan()
    for _ in range(400):
        decision = drive.tick(step=STEP)
        place.x = min(place.x + 0.3, 300.0)
        for request in decision.route_requests:
            drive.tick(RouteMatch(request.number, route_along(road)), step=STEP)
        if decision.state in (states.NORMAL, states.PARKED):
            return
    raise AssertionError(f"still in {drive.last.state}")


@pytest.mark.clause("SAF-4")
@settings(max_examples=6, deadline=None)
@given(histories)
@pytest.mark.medium
def test_when_nothing_works_it_stands_and_says_so(road: RoadMap, history: list[Any]) -> None:
    drive = _live_through(road, history)
    drive.place.v = 0.0
    drive.result, drive.probe = plan(False), plan(False)
    for _ in range(1500):
        decision = drive.tick(step=STEP)
        if decision.state == states.PARKED:
            break
    assert drive.last.state in (states.PARKED, states.PLAN_ONCE, states.EXPLORE)
    assert any(isinstance(decision.request, Hold) for decision in drive.decisions[-20:])

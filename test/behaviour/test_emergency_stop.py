"""The remote emergency stop: at once, complete, and undone exactly."""

from __future__ import annotations

import dataclasses
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters, EmergencyParameters
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, PlanningRequest, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import EmergencyInput, RouteMatch

from .worlds import NEAR_Y, ONCOMING_Y, TICK, Drive, Place, Thing, departed, in_normal, mission, plan, route_along

GO, STOP = EmergencyInput(False, 0.0), EmergencyInput(True, 0.0)
CLEARED = EmergencyInput(False, 0.0, clear=True)
BRAKE = Hold(Reason.EMERGENCY_STOP, emergency=True)


def _brakes(decision: Decision) -> bool:
    request = decision.request
    return isinstance(request, Hold) and (request.reason, request.emergency) == (BRAKE.reason, BRAKE.emergency)


def _signal(drive: Drive, emergency: EmergencyInput) -> Decision:
    drive.place.emergency = emergency
    return drive.tick()


@pytest.mark.clause("EST-1")
def test_it_brakes_on_the_same_tick_and_keeps_the_state(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    drive.run(1.0)
    decision = _signal(drive, STOP)
    assert _brakes(decision)
    assert decision.state == states.NORMAL
    assert dict(decision.supervisors)["emergency_stop"] == "stopped"
    assert [event.clause for event in decision.supervisor_transitions] == ["EST-1"]


@pytest.mark.clause("EST-1")
def test_no_transition_is_made_while_it_lasts(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    _signal(drive, STOP)
    drive.place.y, drive.place.heading, drive.place.localized, drive.result = ONCOMING_Y, 3.0, False, plan(False)
    for decision in drive.run(30.0):
        assert _brakes(decision)
        assert decision.state == states.NORMAL
        assert not decision.transition
        assert not decision.route_requests


@pytest.mark.clause("EST-1")
def test_an_answer_of_the_server_waits_for_the_release(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission(), emergency=GO))
    drive.tick()
    _signal(drive, STOP)
    route = route_along(road)
    assert drive.answer(route).route is None
    drive.run(5.0)
    assert drive.last.route is None
    assert _signal(drive, GO).route is route


@pytest.mark.clause("EST-1")
def test_stopped_from_the_very_first_tick_it_starts_properly_afterwards(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission(), emergency=STOP))
    assert all(_brakes(decision) for decision in drive.run(1.0))
    assert _signal(drive, GO).route_requests


@pytest.mark.clause("EST-2", "EST-3")
def test_a_command_is_released_by_a_command(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    _signal(drive, STOP)
    drive.run(2.0)
    decision = _signal(drive, GO)
    assert isinstance(decision.request, FollowLanes)
    assert decision.state == states.NORMAL


@pytest.mark.clause("EST-3")
def test_never_heard_of_it_does_nothing(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(5.0)
    assert dict(drive.last.supervisors)["emergency_stop"] == "unarmed"
    assert not _brakes(drive.last)


@pytest.mark.clause("EST-3")
def test_required_it_stops_half_a_second_after_activation(road: RoadMap) -> None:
    parameters = dataclasses.replace(BehaviourParameters(), estop=EmergencyParameters(required=True))
    drive = Drive(Place(road, mission=mission()), parameters)
    decisions = drive.run(1.0)
    assert [_brakes(decision) for decision in decisions] == [False] * 10 + [True] * 10
    assert not _brakes(_signal(drive, CLEARED))


@pytest.mark.clause("EST-3")
def test_silence_stops_and_only_a_clear_with_the_link_up_releases(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    assert not _brakes(_signal(drive, EmergencyInput(False, 0.5)))
    assert _brakes(_signal(drive, EmergencyInput(False, 0.51)))
    for emergency in (GO, EmergencyInput(False, 0.6, clear=True), EmergencyInput(True, 0.0, clear=True), GO):
        assert _brakes(_signal(drive, emergency))
    assert not _brakes(_signal(drive, CLEARED))


@pytest.mark.clause("EST-3")
def test_a_commanded_stop_whose_link_dies_needs_a_clear(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    _signal(drive, STOP)
    _signal(drive, EmergencyInput(True, 0.6))
    assert _brakes(_signal(drive, GO))
    assert not _brakes(_signal(drive, CLEARED))


def _plain(request: PlanningRequest | None) -> Any:
    if isinstance(request, FreeSpace):
        return request.goal, request.lines.tolist(), request.speed_limit
    if isinstance(request, FollowLanes):
        return len(request.lanes), request.goal_s
    return request


def _said(decision: Decision) -> Any:
    pending = [(p.dest, p.guard, round(p.held_s, 6), round(p.remaining_s, 6)) for p in decision.pending]
    event = decision.transition and (decision.transition.source, decision.transition.dest, decision.transition.clause)
    return (
        decision.state,
        round(decision.time_in_state_s, 6),
        _plain(decision.request),
        _plain(decision.probe),
        pending,
        event,
        [(request.number, request.purpose) for request in decision.route_requests],
    )


events = st.lists(
    st.tuples(
        st.sampled_from(
            ["ok", "fail", "reverse", "lost", "oncoming", "back", "blocked", "probe", "no probe", "refuse", "answer"]
        ),
        st.integers(1, 30),
    ),
    min_size=2,
    max_size=14,
)


def _apply(drive: Drive, event: str) -> None:
    place = drive.place
    if event in ("ok", "fail", "reverse"):
        drive.result = plan(event != "fail", reverse=event == "reverse")
    elif event in ("probe", "no probe"):
        drive.probe = plan(event == "probe")
    elif event == "lost":
        place.localized = not place.localized
    elif event == "oncoming":
        place.y, place.heading = ONCOMING_Y, math.pi
    elif event == "back":
        place.y, place.heading = NEAR_Y, 0.0
    elif event == "blocked":
        place.things = (Thing(place.x + 25.0, NEAR_Y),)


def _ticks(road: RoadMap, script: list[tuple[str, int]], freeze_at: int | None, frozen: int) -> list[Any]:
    """Run a script; before the tick `freeze_at` the car is stopped for so many ticks, and the behaviour is pickled."""
    drive = Drive(Place(road, mission=mission(), emergency=GO))
    route, said, count = route_along(road), [], 0
    for event, ticks in script:
        _apply(drive, event)
        for i in range(ticks):
            answers = ()
            if event in ("refuse", "answer") and i == 0 and drive.decisions:
                answers = (RouteMatch(drive.number, route if event == "answer" else None),)
            if count == freeze_at:
                drive.place.emergency = STOP
                for j in range(frozen):
                    drive.tick(*(answers if j == frozen // 2 else ()))
                drive.place.emergency, answers = GO, ()
                record = pickle.loads(pickle.dumps(drive.behaviour.record))
                drive.behaviour.restore(record)
                drive.route = record.machine.memory.routing.route
            said.append(_said(drive.tick(*answers)))
            count += 1
    return said


@pytest.mark.clause("EST-1", "EST-2")
@settings(max_examples=20, deadline=None)
@given(events, st.data())
@pytest.mark.medium
def test_after_a_stop_everything_goes_on_as_if_there_had_been_none(
    road: RoadMap, script: list[tuple[str, int]], data: st.DataObject
) -> None:
    script = [("ok", 2), ("answer", 30), *script]
    total = sum(ticks for _, ticks in script)
    freeze_at = data.draw(st.integers(1, total - 1))
    frozen = data.draw(st.integers(1, 60))
    assert _ticks(road, script, freeze_at, frozen) == _ticks(road, script, None, 0)


@pytest.mark.clause("EST-2")
def test_the_plan_is_made_anew_from_the_present_pose(road: RoadMap) -> None:
    drive = departed(Place(road, y=ONCOMING_Y, heading=math.pi, emergency=GO), route_along(road))
    _signal(drive, STOP)
    drive.run(3.0)
    drive.place.x -= 4.0
    decision = _signal(drive, GO)
    assert isinstance(decision.request, FreeSpace)
    assert decision.request.goal == Pose(70.0, NEAR_Y, 0.0)
    assert decision.time_in_state_s == pytest.approx(TICK)

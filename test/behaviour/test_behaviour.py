"""The tick as a whole: what it tells, its clocks, and that it is a value."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.flaps import Flaps
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load
from tuling_fsm.core.request import FollowLanes, Reason
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.map.road_map import RoadMap

from .worlds import NEAR_Y, ONCOMING_Y, VEHICLE, Drive, Place, in_normal, mission, plan, route_along


@pytest.mark.clause("EXPL-1")
def test_a_decision_tells_the_state_its_time_and_what_is_pending(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(1.0)
    drive.place.y, drive.result = ONCOMING_Y, plan(False)
    drive.tick()
    decision = drive.tick()
    assert decision.state == states.NORMAL
    assert decision.time_in_state_s == pytest.approx(1.1)
    assert [(p.clause, p.guard, p.dest, p.dwell_s) for p in decision.pending] == [
        ("NOR-9", "off_route", states.REGRESSION, 0.3),
        ("NOR-7", "no_path", states.SOLID_LINE_FREE, 0.3),
    ]
    assert [p.held_s for p in decision.pending] == pytest.approx([0.05, 0.05])
    assert [p.remaining_s for p in decision.pending] == pytest.approx([0.25, 0.25])


@pytest.mark.clause("EXPL-1", "DWELL-4")
def test_a_transition_names_its_row_and_those_that_lost(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(1.0)
    drive.place.y, drive.result = ONCOMING_Y, plan(False)
    decision = drive.until(states.REGRESSION, 1.0)
    event = decision.transition
    assert event is not None
    assert (event.source, event.dest) == (states.NORMAL, states.REGRESSION)
    assert (event.clause, event.guard, event.dwell_s) == ("NOR-9", "off_route", 0.3)
    assert event.rejected == decision.rejected == ("on_road/solid_line_free (no_path, NOR-7)",)
    assert event.stamp == decision.stamp
    events = [d.transition for d in drive.decisions if d.transition]
    beside = [other for d in drive.decisions for other in d.supervisor_transitions]
    assert sorted(e.seq for e in [*events, *beside]) == list(range(1, len(events) + len(beside) + 1))


@pytest.mark.clause("DWELL-3")
@pytest.mark.parametrize("step", [0.01, 0.05, 0.1])
def test_timers_run_on_the_stamps_whatever_the_rate_of_ticks(road: RoadMap, step: float) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.tick(step=step)
    while not any("no answer" in line for line in drive.last.reports):
        drive.tick(step=step)
    late = drive.last.stamp
    assert late - 100.0 == pytest.approx(2.0, abs=step + 1e-6)
    while not drive.tick(step=step).route_requests:
        pass
    assert drive.last.stamp - late == pytest.approx(1.0, abs=step + 1e-6)


@pytest.mark.clause("DWELL-5")
@pytest.mark.parametrize("jump", [-50.0, 20.0])
@pytest.mark.medium
def test_a_jump_of_time_is_reported_and_passes_no_deadline(road: RoadMap, jump: float) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.result = plan(reach=0.0)
    drive.run(5.0)
    drive.stamp += jump
    decision = drive.tick()
    assert decision.state == states.NORMAL
    (said,) = (line for line in decision.reports if line.startswith("time jumped"))
    assert ("more than behaviour.switching.max_gap (1 s)" in said) == (jump > 0.0)
    assert not any("time jumped" in line for line in drive.tick().reports)
    begin = drive.stamp
    drive.until(states.SOLID_LINE_FREE, 6.0)
    assert drive.stamp - begin == pytest.approx(5.0, abs=0.3)


@pytest.mark.clause("DWELL-2")
def test_a_state_is_kept_for_half_a_second(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    entered = drive.last.stamp
    drive.place.y = ONCOMING_Y
    assert drive.until(states.REGRESSION, 1.0).stamp - entered == pytest.approx(0.5)


@pytest.mark.clause("USE-1")
def test_more_than_one_return_within_three_seconds_is_flapping(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(1.0)
    lines: list[str] = []
    for y in (ONCOMING_Y, NEAR_Y, ONCOMING_Y, NEAR_Y):
        drive.place.y = y
        lines += [line for decision in drive.run(0.7) for line in decision.reports]
    assert drive.last.flaps == 2
    assert lines == ["flapping: back in on_road/regression once more", "flapping: back in on_road/normal once more"]


@pytest.mark.clause("USE-1")
def test_slow_returns_are_no_flapping() -> None:
    flaps = Flaps()
    for i in range(20):
        flaps = flaps.entered(*("ba" if i % 2 else "ab"), 1.6 * i, 3.0)
    assert flaps.count == 0
    assert flaps.entered("b", "a", 32.0, 3.0).count == 1


def test_a_restored_behaviour_goes_on_where_it_was(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.place.y = ONCOMING_Y
    drive.run(0.4)
    other = Behaviour(road, VEHICLE, BehaviourParameters())
    other.restore(pickle.loads(pickle.dumps(drive.last.record)))
    drive.behaviour = other
    drive.route = other.record.machine.memory.routing.route
    drive.run(0.05)
    assert drive.last.state == states.NORMAL
    drive.run(0.05)
    assert drive.last.state == states.REGRESSION


def test_a_record_of_another_machine_is_refused(road: RoadMap) -> None:
    behaviour = Behaviour(road, VEHICLE, BehaviourParameters())
    record = dataclasses.replace(behaviour.record, machine=StateRecord("on_road/flying", Memory()))
    with pytest.raises(InputError, match="unknown state 'on_road/flying'"):
        behaviour.restore(record)


@pytest.mark.clause("USE-12")
def test_live_parameters_take_effect_on_the_next_tick(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    context = drive.behaviour.context
    drive.behaviour.adjust(dataclasses.replace(VEHICLE, max_speed=3.0), context.parameters)
    request = drive.tick().request
    assert isinstance(request, FollowLanes)
    assert request.speed_limit == 3.0
    drive.place.heading = 0.9
    drive.run(1.0)
    assert drive.last.state == states.NORMAL
    changed = dataclasses.replace(context.parameters.regression, off_heading=0.8)
    drive.behaviour.adjust(VEHICLE, dataclasses.replace(context.parameters, regression=changed))
    drive.until(states.REGRESSION, 0.5)


@pytest.mark.clause("USE-12")
def test_every_parameter_is_described_and_checked() -> None:
    specs = list(describe(BehaviourParameters))
    assert all(spec.doc for spec in specs)
    assert all(spec.clause for spec in specs)
    with pytest.raises(InputError, match=r"route\.refresh_period: 0\.5 is out of range"):
        load(BehaviourParameters, {"route": {"refresh_period": 0.5}})
    assert load(BehaviourParameters, {"switching": {"dwell": 1}}).switching.dwell == 1.0


def test_dwell_times_come_from_the_parameters(road: RoadMap) -> None:
    parameters = load(BehaviourParameters, {"switching": {"dwell": 1.0}})
    drive = in_normal(Place(road), route_along(road), parameters=parameters)
    drive.run(1.0)
    drive.place.y = ONCOMING_Y
    drive.run(1.0)
    assert drive.last.state == states.NORMAL
    drive.run(0.1)
    assert drive.last.state == states.REGRESSION


@pytest.mark.clause("SAF-3")
def test_silent_perception_is_no_empty_road(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    assert isinstance(drive.tick().request, FollowLanes)
    for _ in range(600):
        decision = drive.tick(objects_fresh=False)
        assert decision.hold_reason is Reason.OBJECTS_STALE
        assert decision.state == states.NORMAL, "there is a way, which cannot be seen"
        drive.result = plan(reach=0.0, reason=Reason.OBJECTS_STALE)
    assert isinstance(drive.tick().request, FollowLanes)

"""What the states do behind a queue, and after it has been given up (NOR-11)."""

from __future__ import annotations

import math
import pickle

import pytest
from scenes import row, table
from watching import P, Watch

from tuling_fsm.behaviour import guards, states
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.queue_ahead import queue_ahead, told_of_queue
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FreeSpace, Hold, Limit, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.traffic import PredictedLanes

from .descents import no_line_free, solid_line_free
from .views import limited, look
from .worlds import FAR_Y, NEAR_Y, ONCOMING_Y, VEHICLE, WIDTH, Drive, Place, departed, in_normal, plan, route_along

FRONT = 50.0 + VEHICLE.front
"""Of the car that stands at 50 m on the near lane."""
REACH = BehaviourParameters().free.queue_reach


def queue(road: RoadMap, *rear: float, y: float = NEAR_Y, heading: float = 0.0, still: float = 12.0) -> PredictedLanes:
    """Vehicles 5 m long with these rear ends (m), numbered from 1, that have stood for so long behind one another."""
    rows = table(*(row(k, x + 2.5, y, heading, length=5.0) for k, x in enumerate(rear, start=1)))
    watch = Watch(road)
    watch.see(rows, 0.0)
    return watch.see(rows, still)[0]


def behind(road: RoadMap, gap: float, still: float = 12.0) -> PredictedLanes:
    """Four in line, the last one of them this far ahead of the car; of the first nobody is ahead."""
    return queue(road, *(FRONT + gap + 7.0 * k for k in range(4)), still=still)


@pytest.mark.clause("NOR-11")
def test_the_line_ahead_is_the_one_in_the_cars_way(road: RoadMap) -> None:
    assert queue_ahead(look(road)) is None
    found = queue_ahead(look(road, traffic=behind(road, 4.0)))
    assert found is not None
    assert (found.last, found.size, found.still, found.given_up) == (1, 4, 12.0, False)
    assert found.gap == pytest.approx(4.0)
    assert found.words == "in a line of 4, seen standing for 12 s"
    for traffic, seen in (
        (behind(road, REACH - 0.1), True),
        (behind(road, REACH + 0.1), False),
        (behind(road, -0.3), True),
        (queue(road, FRONT - 26.0, FRONT - 19.0, FRONT - 12.0), False),
        (queue(road, FRONT + 3.0, FRONT + 10.0, y=FAR_Y), False),
        (queue(road, FRONT + 10.0, FRONT + 3.0, y=ONCOMING_Y, heading=math.pi), False),
    ):
        assert (queue_ahead(look(road, traffic=traffic)) is not None) is seen
    assert queue_ahead(look(road, traffic=behind(road, 4.0), localized=False)) is None


@pytest.mark.clause("NOR-11")
def test_of_a_car_that_is_wide_of_it_a_line_is_not_in_the_way(road: RoadMap) -> None:
    for off, seen in ((0.0, True), (-1.5, True), (-WIDTH, False)):
        view = look(road, y=NEAR_Y + off, traffic=behind(road, 4.0))
        assert (queue_ahead(view) is not None) is seen


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("state", [states.SOLID_LINE_FREE, states.NO_LINE_FREE, states.REGRESSION, states.EXPLORE])
@pytest.mark.medium
def test_no_state_goes_round_a_queue_however_long_that_takes(road: RoadMap, state: str) -> None:
    drive = _in_state(road, state)
    drive.place.traffic = behind(road, 4.0, still=3.0)
    asked = drive.tick().request
    assert isinstance(asked, Hold)
    assert (asked.reason, asked.detail) == (Reason.QUEUE, "in a line of 4, seen standing for 3 s")
    drive.result = plan(reach=0.0, reason=Reason.QUEUE)
    drive.run(100.0)
    assert drive.last.state == state
    assert {type(decision.request) for decision in drive.decisions[-1990:]} == {Hold}
    drive.place.traffic = queue(road)
    assert isinstance(drive.tick().request, FreeSpace)


def _in_state(road: RoadMap, state: str) -> Drive:
    if state == states.SOLID_LINE_FREE:
        return solid_line_free(road)
    if state == states.NO_LINE_FREE:
        drive = no_line_free(road)
        drive.place.things = ()
        return drive
    drive = departed(Place(road, heading=0.7), route_along(road))
    if state == states.EXPLORE:
        drive.result = plan(False)
        drive.until(states.EXPLORE, 3.0)
    return drive


@pytest.mark.clause("NOR-11", "EXPL-1")
def test_a_queue_that_is_given_up_is_reported_once_and_is_then_an_obstacle(road: RoadMap) -> None:
    drive = solid_line_free(road)
    drive.place.traffic = behind(road, 4.0, still=P.queue_patience - 1.0)
    assert drive.tick().reports == ()
    drive.place.traffic = behind(road, 4.0, still=P.queue_patience + 1.0)
    decision = drive.tick()
    words = "in a line of 4, seen standing for 301 s"
    assert decision.reports == (f"queue: {words}: it is an obstacle from now on (NOR-11)",)
    assert isinstance(decision.request, FreeSpace)
    drive.behaviour.restore(pickle.loads(pickle.dumps(decision.record)))
    assert [line for later in drive.run(1.0) for line in later.reports] == []
    drive.place.traffic = behind(road, 4.0)
    assert isinstance(drive.tick().request, Hold)
    drive.place.traffic = behind(road, 4.0, still=P.queue_patience + 1.0)
    assert len(drive.tick().reports) == 1


@pytest.mark.clause("NOR-11", "NOR-7")
@pytest.mark.medium
def test_in_normal_a_queue_stops_the_clock_and_one_that_is_given_up_does_not(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.result = plan(reach=0.0, reason=Reason.QUEUE, blocker=1)
    drive.run(100.0)
    assert drive.last.state == states.NORMAL
    drive.result = plan(reach=0.0, reason=Reason.OBSTACLE, blocker=1)
    drive.until(states.SOLID_LINE_FREE, 10.5)
    assert drive.last.transition is not None and drive.last.transition.clause == "NOR-7"


@pytest.mark.clause("NOR-11", "EXPL-1")
def test_a_plan_behind_a_queue_says_so(road: RoadMap) -> None:
    world = look(road, traffic=behind(road, 4.0)).world
    told = told_of_queue(plan(reason=Reason.LEADER, blocker=1), world).limit
    assert told == Limit(Reason.QUEUE, 0.0, "in a line of 4, seen standing for 12 s", 1)
    for reason, blocker in ((Reason.LEADER, 4), (Reason.LEADER, -1), (Reason.OBSTACLE, 1), (Reason.RED_LIGHT, 1)):
        result = plan(reason=reason, blocker=blocker)
        assert told_of_queue(result, world) is result, "the fourth has nobody before it, and stands for nothing"


@pytest.mark.clause("NOR-11")
def test_a_queue_behind_a_junction_explains_that_its_exit_is_blocked(road: RoadMap) -> None:
    world = look(road, traffic=behind(road, 4.0)).world
    for reason, blocker, rightly in (
        (Reason.JUNCTION_EXIT_BLOCKED, 1, True),
        (Reason.JUNCTION_EXIT_BLOCKED, 4, False),
        (Reason.JUNCTION_EXIT_BLOCKED, -1, False),
        (Reason.JUNCTION_OCCUPIED, 1, False),
        (Reason.QUEUE, 1, True),
    ):
        assert guards.waits_rightly(world, limited(reason, blocker)) is rightly


@pytest.mark.clause("NOR-11")
def test_the_patience_is_a_parameter(road: RoadMap) -> None:
    assert WorldParameters().queue_patience == 300.0
    watch = Watch(road, parameters=replace(P, queue_patience=30.0))
    rows = table(row(1, 60.0, NEAR_Y), row(2, 53.0, NEAR_Y))
    watch.see(rows, 0.0)
    assert watch.see(rows, 31.0)[0].given_up.tolist() == [False, True]

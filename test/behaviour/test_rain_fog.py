"""The supervisor `rain_fog`: when it switches, what is seen meanwhile, and how the car may be driven."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from world.no_objects import no_traffic

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters, RadarParameters
from tuling_fsm.behaviour.supervisors.rain_fog import CLEAR, RADAR_AND_HISTORY
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Occupancy, Source
from tuling_fsm.world.traffic import PredictedLanes
from tuling_fsm.world.world import EmergencyInput

from .worlds import NEAR_Y, ONCOMING_Y, VEHICLE, Drive, Place, Thing, departed, in_normal, plan, route_along

RADAR = RadarParameters()
ENTER_TICKS, LEAVE_TICKS = round(RADAR.enter_dwell / 0.05) + 1, round(RADAR.leave_dwell / 0.05) + 1
GO, STOP = EmergencyInput(False, 0.0), EmergencyInput(True, 0.0)


def weather(decision: Decision) -> str:
    return dict(decision.supervisors)["rain_fog"]


def ticks(drive: Drive, count: int, rain: bool, **changes: Any) -> list[Decision]:
    return [drive.tick(rain_fog=rain, **changes) for _ in range(count)]


def in_rain(drive: Drive, **changes: Any) -> Decision:
    return ticks(drive, ENTER_TICKS, True, **changes)[-1]


def seen_by(*sources: Source) -> PredictedLanes:
    """The traffic of as many things, each seen by the given sensors."""
    n, none = len(sources), no_traffic()
    rows = {
        f.name: np.zeros((n, *getattr(none, f.name).shape[1:]), getattr(none, f.name).dtype)
        for f in dataclasses.fields(PredictedLanes)
        if not f.name.startswith("chain")
    }
    rows["source"], rows["obstacle_row"] = np.array(sources, np.uint8), np.arange(n)
    return dataclasses.replace(none, **rows)


def grid(occupied: bool) -> Occupancy:
    """Four cells ahead of the car, at the roadside."""
    return Occupancy(0.0, 1.0, Pose(60.0, 5.0, 0.0), np.full((2, 2), 100 if occupied else 0, np.int8))


@pytest.mark.clause("RFG-1")
def test_it_is_quick_to_switch_and_slow_to_switch_back(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    assert weather(drive.last) == CLEAR
    said = [weather(decision) for decision in ticks(drive, ENTER_TICKS, True)]
    assert said == [CLEAR] * (ENTER_TICKS - 1) + [RADAR_AND_HISTORY]
    said = [weather(decision) for decision in ticks(drive, LEAVE_TICKS, False)]
    assert said == [RADAR_AND_HISTORY] * (LEAVE_TICKS - 1) + [CLEAR]
    assert [event.clause for d in drive.decisions for event in d.supervisor_transitions] == ["RFG-1", "RFG-1"]


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize("begin", [False, True])
@pytest.mark.medium
def test_a_flickering_sensor_does_not_make_it_flap(road: RoadMap, begin: bool) -> None:
    drive = in_normal(Place(road), route_along(road))
    if begin:
        in_rain(drive)
    before = weather(drive.last)
    for k in range(300):
        drive.tick(rain_fog=k % (ENTER_TICKS - 1) == 0)
        assert weather(drive.last) == before


@pytest.mark.clause("RFG-1")
def test_guards_rules_and_planner_see_no_object_that_only_the_lidar_sees(road: RoadMap) -> None:
    things = (Thing(90.0, NEAR_Y, id=1), Thing(100.0, NEAR_Y, id=2), Thing(110.0, NEAR_Y, id=3))
    drive = in_normal(Place(road, things=things), route_along(road))
    traffic = seen_by(Source.LIDAR, Source.LIDAR | Source.RADAR, Source.HISTORY_MAP)
    before = drive.tick(rain_fog=False, traffic=traffic)
    after = in_rain(drive, traffic=traffic)
    assert before.world.scene.obstacles.id.tolist() == [1, 2, 3]
    assert after.world.scene.obstacles.id.tolist() == [2, 3]
    assert len(after.world.traffic) == 2


@pytest.mark.clause("RFG-1")
@pytest.mark.medium
def test_a_leader_that_only_the_lidar_saw_explains_no_standing(road: RoadMap) -> None:
    """The guards look at the World without it: what the car stands for is gone."""
    drive = in_normal(Place(road, things=(Thing(90.0, NEAR_Y, moving=True),)), route_along(road))
    drive.result = plan(reach=0.0, reason=Reason.LEADER, blocker=7)
    patience = round(BehaviourParameters().normal.no_progress / 0.05) + 5
    ticks(drive, patience, True, traffic=seen_by(Source.LIDAR | Source.RADAR))
    assert drive.last.state == states.NORMAL
    ticks(drive, patience, True, traffic=seen_by(Source.LIDAR))
    assert drive.last.state != states.NORMAL


@pytest.mark.clause("RFG-1")
def test_the_grid_is_that_of_the_entry(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    free = len(drive.tick(rain_fog=False, occupancy=grid(False)).world.scene.static_segments)
    in_rain(drive, occupancy=grid(True))
    entry = drive.behaviour.record.rain_fog.memory.occupancy
    for other in (grid(False), None):
        decision = drive.tick(rain_fog=True, occupancy=other)
        assert decision.world.occupancy is entry
        assert len(decision.world.scene.static_segments) == free + 4
    ticks(drive, LEAVE_TICKS, False, occupancy=grid(False))
    assert drive.behaviour.record.rain_fog.memory.occupancy is None
    assert len(drive.last.world.scene.static_segments) == free


@pytest.mark.clause("RFG-1")
def test_the_speed_limit_falls_in_lanes_and_in_free_space(road: RoadMap) -> None:
    parameters = dataclasses.replace(BehaviourParameters(), radar=RadarParameters(speed=2.0))
    drive = in_normal(Place(road), route_along(road), parameters=parameters)
    assert isinstance(drive.last.request, FollowLanes) and drive.last.request.speed_limit > 2.0
    lanes = in_rain(drive).request
    assert isinstance(lanes, FollowLanes) and lanes.speed_limit == 2.0
    free = in_rain(departed(Place(road, y=ONCOMING_Y, heading=3.1), route_along(road), parameters=parameters)).request
    assert isinstance(free, FreeSpace) and free.speed_limit == 2.0


@pytest.mark.clause("RFG-1", "USE-12")
def test_its_live_parameters_take_effect_on_the_next_tick(road: RoadMap) -> None:
    drive = departed(Place(road, y=ONCOMING_Y, heading=3.1), route_along(road))
    in_rain(drive)
    parameters = drive.behaviour.context.parameters
    drive.behaviour.adjust(VEHICLE, dataclasses.replace(parameters, radar=RadarParameters(speed=1.5, covers_rear=True)))
    request = drive.tick(rain_fog=True).request
    assert isinstance(request, FreeSpace) and (request.speed_limit, request.allow_reverse) == (1.5, True)


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize("covered", [False, True])
def test_it_reverses_only_where_the_radar_looks(road: RoadMap, covered: bool) -> None:
    parameters = dataclasses.replace(BehaviourParameters(), radar=RadarParameters(covers_rear=covered))
    drive = departed(Place(road, y=ONCOMING_Y, heading=3.1), route_along(road), parameters=parameters)
    assert isinstance(drive.last.request, FreeSpace) and drive.last.request.allow_reverse
    request = in_rain(drive).request
    assert isinstance(request, FreeSpace) and request.allow_reverse is covered
    drive.place.v = -0.5
    request = drive.tick(rain_fog=True).request
    assert isinstance(request, FreeSpace if covered else Hold), "one that reverses when rain begins comes to a stop"


@pytest.mark.clause("RFG-1", "RFG-2")
@pytest.mark.parametrize("silent", ["objects_fresh", "radar_fresh"])
@pytest.mark.medium
def test_a_silent_radar_is_a_stop_with_its_reason_and_no_failure_of_the_plan(road: RoadMap, silent: str) -> None:
    drive = in_normal(Place(road), route_along(road))
    in_rain(drive)
    drive.result = plan(reach=0.0, reason=Reason.RADAR_STALE)
    for decision in ticks(drive, 600, True, **{silent: False}):
        assert isinstance(decision.request, Hold) and decision.request.reason is Reason.RADAR_STALE
        assert decision.state == states.NORMAL
    assert isinstance(ticks(drive, 1, True)[-1].request, FollowLanes)


@pytest.mark.clause("RFG-2")
def test_a_silent_radar_is_nothing_to_a_car_that_sees_by_all_sensors(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    assert {type(decision.request) for decision in ticks(drive, 20, False, radar_fresh=False)} == {FollowLanes}


@pytest.mark.clause("RFG-1", "EST-1", "EST-2")
def test_an_emergency_stop_freezes_it(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    ticks(drive, ENTER_TICKS - 2, True)
    drive.place.emergency = STOP
    assert {weather(decision) for decision in ticks(drive, 50, True)} == {CLEAR}
    drive.place.emergency = GO
    assert [weather(decision) for decision in ticks(drive, 2, True)] == [CLEAR, RADAR_AND_HISTORY]
    drive.place.emergency, things = STOP, (Thing(90.0, NEAR_Y),)
    drive.place.things = things
    assert len(drive.tick(rain_fog=True, traffic=seen_by(Source.LIDAR)).world.scene.obstacles) == 0


@pytest.mark.clause("RFG-1", "EST-2")
def test_its_state_and_grid_are_part_of_the_record(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    in_rain(drive, occupancy=grid(True))
    seen = len(drive.last.world.scene.static_segments)
    drive.behaviour.restore(pickle.loads(pickle.dumps(drive.behaviour.record)))
    decision = drive.tick(rain_fog=True)
    assert weather(decision) == RADAR_AND_HISTORY
    assert len(decision.world.scene.static_segments) == seen > 0

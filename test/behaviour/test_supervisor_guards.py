"""Guards and questions of the supervisors over one view."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.flaps import Flaps
from tuling_fsm.behaviour.free_driving import NO_REVERSING
from tuling_fsm.behaviour.parameters import BehaviourParameters, EmergencyParameters, RadarParameters
from tuling_fsm.behaviour.supervisors import guards
from tuling_fsm.behaviour.supervisors.rain_fog import CLEAR, RADAR_AND_HISTORY, restricted
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import EmergencyInput

from .views import view_of
from .worlds import (
    NEAR_Y,
    VEHICLE,
    Place,
)


@pytest.mark.clause("EST-1", "EST-2", "EST-3")
@pytest.mark.parametrize(
    ("value", "age", "commanded", "released", "up", "silent"),
    [
        (True, 0.0, True, False, True, False),
        (True, 9.0, True, False, True, True),
        (False, 0.5, False, True, True, False),
        (False, 0.51, False, False, True, True),
        (None, math.inf, False, False, False, True),
    ],
)
def test_the_link_to_the_remote(
    road: RoadMap, value: bool | None, age: float, commanded: bool, released: bool, up: bool, silent: bool
) -> None:
    for clear in (False, True):
        view = view_of(Place(road, emergency=EmergencyInput(value, age, clear)))
        assert guards.stop_commanded(view) is commanded
        assert guards.stop_released(view) is released
        assert guards.link_up(view) is up
        assert guards.link_silent(view) is silent
        assert guards.stop_cleared(view) is (released and clear)


@pytest.mark.clause("EST-3")
@pytest.mark.parametrize(
    ("required", "seconds", "missing"), [(True, 0.5, True), (True, 0.45, False), (False, 9.0, False)]
)
def test_a_link_that_is_required_is_missed(road: RoadMap, required: bool, seconds: float, missing: bool) -> None:
    for value in (None, False):
        view = view_of(Place(road, emergency=EmergencyInput(value, 0.0)), in_state_s=seconds)
        parameters = replace(view.context.parameters, estop=EmergencyParameters(required=required))
        view = replace(view, context=replace(view.context, parameters=parameters))
        assert guards.link_missing(view) is (missing and value is None)


@pytest.mark.clause("RFG-1")
def test_rain_is_what_is_reported(road: RoadMap) -> None:
    for reported in (None, False, True):
        view = view_of(Place(road), rain_fog=reported)
        assert guards.rain_or_fog(view) is (reported is True)
        assert guards.clear_sky(view) is (reported is not True)


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize(
    ("reverse", "covers", "v", "allowed"),
    [(True, True, 0.0, True), (False, True, 0.0, False), (True, False, 0.0, False), (True, False, -0.01, False),
     (True, False, -0.03, None), (True, True, -0.03, True)],
)  # fmt: skip
def test_in_rain_reversing_is_for_a_radar_that_looks_back(
    road: RoadMap, reverse: bool, covers: bool, v: float, allowed: bool | None
) -> None:
    record = replace(Behaviour(road, VEHICLE, BehaviourParameters()).record.rain_fog, path=RADAR_AND_HISTORY)
    request = FreeSpace(Pose(60.0, NEAR_Y, 0.0), np.zeros((0, 4)), (), 9.0, allow_reverse=reverse)
    parameters = RadarParameters(covers_rear=covers)
    world = Place(road, v=v).world(0.0, None)
    found = restricted(request, world, record, parameters)
    if allowed is None:
        assert found == NO_REVERSING
        return
    assert isinstance(found, FreeSpace)
    assert (found.allow_reverse, found.speed_limit) == (allowed, parameters.speed)
    slow = restricted(replace(request, speed_limit=0.5), world, record, parameters)
    assert isinstance(slow, FreeSpace)
    assert slow.speed_limit == 0.5
    assert restricted(request, world, replace(record, path=CLEAR), parameters) is request
    assert restricted(request, replace(world, objects_fresh=False), record, parameters) == Hold(
        Reason.RADAR_STALE, detail="nothing from it in rain or fog"
    )


@pytest.mark.clause("USE-1")
def test_flapping_is_a_second_return_within_3_s() -> None:
    flaps, source = Flaps(), "c"
    for dest, clock, count in (
        ("a", 0.0, 0),
        ("b", 1.0, 0),
        ("a", 2.0, 0),
        ("b", 3.0, 0),
        ("a", 5.0, 1),
        ("b", 6.1, 1),
        ("a", 7.9, 2),
        ("c", 9.0, 2),
        ("a", 10.95, 2),
    ):
        flaps = flaps.entered(source, dest, clock, 3.0)
        assert flaps.count == count
        source = dest


@pytest.mark.clause("USE-1")
def test_the_state_that_the_machine_began_in_is_come_back_to_as_any_other() -> None:
    flaps = Flaps()
    for source, dest, clock in (("a", "b", 1.0), ("b", "a", 2.0), ("a", "b", 2.8), ("b", "a", 3.6)):
        assert flaps.count == 0
        flaps = flaps.entered(source, dest, clock, 3.0)
    assert flaps.count == 1

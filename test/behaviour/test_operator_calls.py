"""An operator is told what a call can do in the present state."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour.operator_calls import answer_call
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.wire.inputs import OPERATOR
from tuling_fsm.world.world import EmergencyInput

from .mission.tasks import in_normal_with, mission
from .worlds import Drive, Place, in_normal, route_along

NOW, LATER = (True, "on the next tick"), (True, "when the emergency stop is released")
GO, STOP, SILENT = EmergencyInput(False, 0.0), EmergencyInput(True, 0.0), EmergencyInput(False, 9.0)


def answers(drive: Drive) -> dict[str, tuple[bool, str]]:
    return {name: answer_call(name, drive.last) for name in OPERATOR}


def test_calls_that_nothing_can_follow_are_refused(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    assert answers(drive) == {
        "reset": (False, "the car is not parked"),
        "skip_task": (False, "there is no task to skip"),
        "clear_emergency_stop": (False, "no lost link stops the car"),
    }


def test_a_task_can_be_skipped_at_once_or_after_an_emergency_stop(road: RoadMap) -> None:
    drive = in_normal_with(road, mission())
    assert answers(drive)["skip_task"] == NOW
    drive.place.emergency = STOP
    drive.tick()
    assert answers(drive)["skip_task"] == LATER
    assert answers(drive)["clear_emergency_stop"] == (False, "no lost link stops the car")


@pytest.mark.clause("EST-3")
def test_a_lost_link_can_be_cleared(road: RoadMap) -> None:
    drive = in_normal(Place(road, emergency=GO), route_along(road))
    drive.place.emergency = SILENT
    drive.tick()
    assert answers(drive)["clear_emergency_stop"] == (True, "on the next tick, if the remote is heard and says go")

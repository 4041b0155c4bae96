"""Services are counted by where the car stands, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.completion import Services

VEHICLE = Vehicle()
AHEAD = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
HOME, WORK, SHOP = (120.5, 164.75), (77.5, 249.25), (98.5, 249.25)
"""Middles of bays of the course."""


def _task(pickup: tuple[float, float], dropoff: tuple[float, float]) -> dict[str, Any]:
    def point(x: float, y: float) -> dict[str, Any]:
        return {"x": x, "y": y - 3.0, "slots": [{"x": x, "y": y, "heading": 0.0, "length": 6.5, "width": 2.3}]}

    return {"pickup": point(*pickup), "dropoff": point(*dropoff)}


def _stand(services: Services, place: tuple[float, float], seconds: float = 10.0) -> None:
    for _ in range(round(seconds / 0.05)):
        services.watch(0.05, Pose(place[0] - AHEAD, place[1], 0.0), 0.0)
    services.watch(0.05, Pose(place[0] - AHEAD, place[1], 0.0), 1.0)


@pytest.mark.clause("USE-10")
def test_a_pair_counts_once_in_its_order_and_after_its_time(course: RoadMap) -> None:
    services = Services({"tasks": [_task(HOME, WORK)]}, course, VEHICLE)
    _stand(services, WORK)
    assert services.count == 0, "no passenger is aboard"
    _stand(services, HOME, 9.9)
    _stand(services, WORK)
    assert services.count == 0, "the stop was too short"
    _stand(services, HOME, 300.0)
    _stand(services, (WORK[0] + 4.0, WORK[1]))
    assert services.count == 0, "beside the slot"
    for _ in range(3):
        _stand(services, WORK)
        _stand(services, HOME)
        assert services.count == 1


def test_one_passenger_at_a_time(course: RoadMap) -> None:
    services = Services({"tasks": [_task(HOME, WORK), _task(SHOP, HOME)]}, course, VEHICLE)
    for place in (HOME, SHOP, WORK):
        _stand(services, place)
    assert services.count == 1
    for place in (SHOP, HOME):
        _stand(services, place)
    assert services.count == 2


def test_without_slots_those_of_the_map_count_and_else_the_point(course: RoadMap) -> None:
    task = {"pickup": {"x": 118.0, "y": 161.75}, "dropoff": {"x": 300.0, "y": -5.25}}
    services = Services({"tasks": [task]}, course, VEHICLE)
    _stand(services, (118.0, 161.75))
    _stand(services, (300.0, -5.25))
    assert services.count == 0, "not in the lane, where there are bays"
    _stand(services, HOME)
    _stand(services, (302.0, -5.25))
    assert services.count == 1

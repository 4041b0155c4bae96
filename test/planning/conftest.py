"""One warm planner for all tests of the room."""

from __future__ import annotations

import pytest

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner


@pytest.fixture(scope="session")
def vehicle() -> Vehicle:
    return Vehicle()


@pytest.fixture(scope="session")
def parameters() -> PlanningParameters:
    return PlanningParameters()


@pytest.fixture(scope="session")
def planner(vehicle: Vehicle, parameters: PlanningParameters) -> Planner:
    return Planner(vehicle, parameters)

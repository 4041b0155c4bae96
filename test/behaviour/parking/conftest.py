"""Maps that the tests of this folder share."""

from __future__ import annotations

import pytest
from garage import garage

from tuling_fsm.map.road_map import RoadMap


@pytest.fixture(scope="session")
def car_park_map(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The car park in the shape of an F."""
    return garage(tmp_path_factory.mktemp("map"))


@pytest.fixture(scope="session")
def no_slots_map(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The same roads without a slot."""
    return garage(tmp_path_factory.mktemp("map"), slots=False)

"""Maps that the tests of this room share."""

from __future__ import annotations

import pytest

from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route

from .ride import junction_map, straight_on


@pytest.fixture(scope="session")
def lit(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The junction with a light."""
    return junction_map(tmp_path_factory.mktemp("lit"))


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The junction without light or line."""
    return junction_map(tmp_path_factory.mktemp("bare"), "bare")


@pytest.fixture(scope="session")
def route(lit: RoadMap) -> Route:
    """Straight through it."""
    return straight_on(lit)

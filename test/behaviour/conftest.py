"""Maps that the tests of this room share."""

from __future__ import annotations

import pytest

from tuling_fsm.map.road_map import RoadMap

from .worlds import straight_road


@pytest.fixture(scope="session")
def road(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """A straight road with a solid centre line."""
    return straight_road(tmp_path_factory.mktemp("map"), "solid")


@pytest.fixture(scope="session")
def open_road(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """The same with a broken centre line."""
    return straight_road(tmp_path_factory.mktemp("map"), "broken")

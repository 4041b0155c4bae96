"""Where wheels may be beside the lanes: in parking slots, and between them and their aisles."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.road_rules import RoadRules


def bay_beside_road(folder: Path, heading: float = 0.5 * math.pi) -> RoadMap:
    """A straight road of a lane each way along x, and a bay on its right, 2 m beyond its edge at y = -3.5."""
    bay = f'<object id="1" type="parkingSpace" s="50" t="-8.15" hdg="{heading}" length="5.3" width="2.6"/>'
    lanes = [xodr.lane(1), xodr.lane(-1)]
    return xodr.read(folder, xodr.road([xodr.section(lanes)], inside=f"<objects>{bay}</objects>"))


@pytest.mark.parametrize(
    ("x", "y", "off"),
    [
        (50.0, -8.0, False),
        (50.0, -4.5, False),
        (48.5, -4.5, False),
        (51.5, -4.5, False),
        (48.0, -4.5, True),
        (52.0, -4.5, True),
        (50.0, -11.2, True),
    ],
)
def test_the_ground_between_a_bay_and_its_aisle_is_surface(tmp_path: Path, x: float, y: float, off: bool) -> None:
    rules = RoadRules(bay_beside_road(tmp_path), Vehicle())
    assert rules.off_road(np.full((4, 2), (x, y)), 0.1) is off
    assert rules.outside_route(Pose(x, y, 0.5 * math.pi), None, frozenset()) is off


def test_no_ground_before_a_bay_along_the_kerb_is(tmp_path: Path) -> None:
    rules = RoadRules(bay_beside_road(tmp_path, 0.0), Vehicle())
    assert not rules.off_road(np.full((4, 2), (50.0, -8.0)), 0.1)
    assert rules.off_road(np.full((4, 2), (50.0, -4.5)), 0.1)

"""One that comes towards the car, steadily over the centre line, in plain sight from afar."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm.share import share_file
from tuling_fsm.sim.sensors.perception_levels import CLEAN

from .drives import drive

pytestmark = pytest.mark.slow

CENTER_LINE_Y, HALF_WIDTH_M = 360.0, 0.95
COMES = """    car: vehicle with:
        keep(it.length == 4.5m)
        keep(it.width == 1.9m)
    start: odr_point = map.create_odr_point(road_id: "14", lane_id: "-1", s: 10m)
    goal: odr_point = map.create_odr_point(road_id: "14", lane_id: "-1", s: 270m)
    far: xyz_point = map.create_xyz_point(x: 60m, y: YYYm)
    behind: xyz_point = map.create_xyz_point(x: 310m, y: YYYm)
"""


@pytest.mark.clause("SAF-2", "USE-15")
@pytest.mark.parametrize(
    ("over", "speed", "least", "most", "perception"),
    [
        (0.6, 8, 5.0, 6.5, CLEAN),
        (0.9, 5, 3.0, 4.5, CLEAN),
        (0.9, 8, 3.0, 4.5, CLEAN),
        (0.9, 8, 1.5, 3.5, "mild"),
        (1.2, 8, 0.0, 0.5, CLEAN),
        (1.2, 8, 0.0, 0.5, "mild"),
    ],
)
def test_one_that_stays_over_the_centre_line_is_passed_or_stopped_for(
    tmp_path: Path, over: float, speed: int, least: float, most: float, perception: str
) -> None:
    """By as much over the line (m), with this speed (m/s), it meets the car at least and at most so fast (m/s)."""
    lines = (
        "serial:",
        "    car.assign_position(far)",
        "    wait car.object_distance(reference: ego, direction: euclidean, mode: bounding_boxes) < 150m",
        "    car.drive() with:",
        "        along(map.create_path([behind]))",
        f"        speed({speed}mps)",
    )
    text = along_lanes(
        COMES.replace("YYY", f"{CENTER_LINE_Y + over - HALF_WIDTH_M:.2f}"), *(f"        {each}\n" for each in lines)
    )
    run = drive(Path(share_file("config", "course", "course.xodr")), text, tmp_path, perception=perception)
    assert run.faults == []
    met = [
        tick.world.ego.v for tick in run.ticks
        if any(abs(x - tick.world.ego.pose.x) < 5.0 for x in tick.world.scene.obstacles.x[:, 0])
    ]  # fmt: skip
    assert met and least <= min(met) and max(met) < most
    assert max(tick.world.ego.v for tick in run.ticks) > 7.5

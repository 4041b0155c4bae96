"""`config/tuling.rviz` against the properties that RViz reads."""

from __future__ import annotations

import pytest

from .rviz_properties import faults, read
from .test_topics import CONFIG

LAYOUT = (CONFIG / "tuling.rviz").read_text(encoding="utf-8")


def test_rviz_reads_all_of_the_layout() -> None:
    assert list(faults(read(LAYOUT))) == []


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ("rviz_default_plugins/Path", "rviz_default_plugins/Paths", "no class rviz_default_plugins/Paths"),
        ("rviz_default_plugins/Path", "rviz/Path", "no class rviz/Path"),
        ("rviz_common/Time", "rviz_common/Clock", "no class rviz_common/Clock"),
        ("rviz_default_plugins/Measure", "rviz_default_plugins/Ruler", "no class rviz_default_plugins/Ruler"),
        ("rviz_default_plugins/TopDownOrtho", "rviz_default_plugins/Top", "no class rviz_default_plugins/Top"),
        ("Line Width", "Line width", "no property Line width"),
        ("Draw Behind: true", "Draw Behind: 2", "Draw Behind: '2'"),
        ("Plane Cell Count: 100", "Plane Cell Count: 100.5", "Plane Cell Count: '100.5'"),
        ("Line Style: Billboards", "Line Style: Billboard", "Line Style: 'Billboard'"),
        ("Reliability Policy: Reliable", "Reliability Policy: reliable", "Topic.Reliability Policy: 'reliable'"),
        ("Durability Policy", "Durability", "Topic: no property Durability"),
        ("Color: 25; 205; 76", "Color: 25, 205, 76", "Color: '25, 205, 76'"),
        ("Color: 25; 205; 76", "Color: 25; 305; 76", "Color: '25; 305; 76'"),
        ("Shaft Length", "Length of the shaft", "Shape: no property Length of the shaft"),
        ("Fixed Frame", "Frame", "Global Options: no property Frame"),
        ("  Displays:", "  Display:", "no property Display"),
        ("    Name: Time\n", "", "Panels[2]: no Name"),
        ("Window Geometry", "Window", "Window: no section of a layout"),
        ("Draw Behind: true", "Draw Behind: no", "Draw Behind: 'no'"),
        ("Alpha: 0.5", "Alpha: 5", "Alpha: '5'"),
        ("Depth: 1", "Depth: 0", "Topic.Depth: '0'"),
        ("  Hide Right Dock: false\n", "", "Window Geometry: no Hide Right Dock"),
    ],
)
def test_a_fault_in_it_is_found(there: str, instead: str, said: str) -> None:
    assert there in LAYOUT
    assert any(said in fault for fault in faults(read(LAYOUT.replace(there, instead, 1))))

"""`config/plotjuggler.xml` against what PlotJuggler reads, as the schema beside this file says it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from .test_topics import CONFIG

SCHEMA = Path(__file__).with_name("plotjuggler.rng")
LAYOUT = (CONFIG / "plotjuggler.xml").read_text(encoding="utf-8")


def faults(text: str) -> list[str]:
    """What PlotJuggler would pass over, take for something else, or fall over."""
    schema, root = etree.RelaxNG(etree.parse(SCHEMA)), etree.fromstring(text.encode())
    if not schema.validate(root):
        return [str(error) for error in schema.error_log]
    return [*_faults_of_splitters(root), *_faults_of_windows(root)]


def _faults_of_splitters(root: etree._Element) -> Iterator[str]:
    """It makes `count` docks, then reads as many sizes, and puts the children into the docks: no bound is checked."""
    for splitter in root.iter("DockSplitter"):
        sizes = [float(size) for size in splitter.attrib["sizes"].split(";")]
        if not len(splitter) == int(splitter.attrib["count"]) == len(sizes):
            yield f"line {splitter.sourceline}: {len(splitter)} children, {len(sizes)} sizes"
        if abs(sum(sizes) - 1.0) > 1e-6:
            yield f"line {splitter.sourceline}: sizes are no shares of the whole, as it writes them"


def _faults_of_windows(root: etree._Element) -> Iterator[str]:
    for window in root.iter("tabbed_widget"):
        index = int(window.findall("currentTabIndex")[0].attrib["index"])
        if index >= len(window.findall("Tab")):
            yield f"line {window.sourceline}: no tab {index}"
    for plot in root.iter("plot"):
        for curve in plot.findall("curve"):
            if ("curve_x" in curve.attrib) is (plot.attrib["mode"] == "TimeSeries"):
                yield f"line {curve.sourceline}: a {plot.attrib['mode']} of the other kind of curve"


def test_plotjuggler_reads_all_of_the_layout() -> None:
    assert faults(LAYOUT) == []


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("<limitY/>", "<limity/>"),
        ('style="Lines"', 'style="Line"'),
        ('mode="XYPlot"', 'mode="XY"'),
        ('mode="XYPlot"', 'mode="TimeSeries"'),
        ('color="#1668dc"', 'colour="#1668dc"'),
        ('color="#1668dc"', 'color="1668dc"'),
        ('orientation="-"', 'orientation="vertical"'),
        ('count="3"', 'count="2"'),
        ('sizes="0.4;0.3;0.3"', 'sizes="0.4;0.6"'),
        ('sizes="0.4;0.3;0.3"', 'sizes="4;3;3"'),
        ('index="0"', 'index="3"'),
        ('name="Main Window"', 'name="Window"'),
        (' curve_y="/odometry/pose/pose/position/y"', ""),
        ("<use_relative_time_offset", "<use_relative_time"),
    ],
)
def test_a_fault_in_it_is_found(there: str, instead: str) -> None:
    assert there in LAYOUT
    assert len(faults(LAYOUT.replace(there, instead, 1))) >= 1

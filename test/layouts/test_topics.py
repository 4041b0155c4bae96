"""The views for RViz, Foxglove and PlotJuggler show topics that there are, with their types and quality of service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tuling_fsm.core.topics import BY_NAME, GRID, MAP_FRAME, MARKERS, ODOMETRY, PATH, Topic
from tuling_fsm.wire.cdr import STORE

CONFIG = Path(__file__).resolve().parents[2] / "config"
TYPES = {"Map": GRID, "MarkerArray": MARKERS, "Odometry": ODOMETRY, "Path": PATH}
"""What each display of RViz takes."""


def topic_of(name: str) -> Topic:
    """The topic of an absolute name; a KeyError is a topic that there is not."""
    return BY_NAME[name] if name in BY_NAME else BY_NAME[name.removeprefix("/")]


@pytest.fixture(scope="module")
def rviz() -> dict[str, Any]:
    return yaml.safe_load((CONFIG / "tuling.rviz").read_text(encoding="utf-8"))["Visualization Manager"]


@pytest.fixture(scope="module")
def foxglove() -> dict[str, Any]:
    return json.loads((CONFIG / "foxglove.json").read_text(encoding="utf-8"))


def test_rviz_shows_topics_of_the_right_type_with_their_quality_of_service(rviz: dict[str, Any]) -> None:
    shown = {display["Topic"]["Value"]: display for display in rviz["Displays"] if "Topic" in display}
    assert {"/path", "/markers", "/odometry"} <= set(shown)
    for name, display in shown.items():
        topic, asked = topic_of(name), display["Topic"]
        assert TYPES[display["Class"].removeprefix("rviz_default_plugins/")] == topic.type
        assert (asked["Reliability Policy"] == "Reliable") is topic.qos.reliable
        assert (asked["Durability Policy"] == "Transient Local") is topic.qos.latched
        assert asked["Depth"] == topic.qos.depth


def test_both_views_are_in_the_frame_of_the_map(rviz: dict[str, Any], foxglove: dict[str, Any]) -> None:
    assert rviz["Global Options"]["Fixed Frame"] == MAP_FRAME
    assert foxglove["configById"]["3D!way"]["followTf"] == MAP_FRAME


def test_foxglove_lays_out_every_panel_once(foxglove: dict[str, Any]) -> None:
    assert sorted(panels(foxglove["layout"])) == sorted(foxglove["configById"])
    kinds = {name.partition("!")[0] for name in foxglove["configById"]}
    assert {"3D", "StateTransitions", "Table", "Plot"} <= kinds


def test_foxglove_shows_topics_and_fields_that_there_are(foxglove: dict[str, Any]) -> None:
    panels = foxglove["configById"]
    assert {"/markers", "/path"} <= set(panels["3D!way"]["topics"])
    for name in panels["3D!way"]["topics"]:
        assert topic_of(name).type in TYPES.values()
    paths = [path["value"] for panel in panels.values() for path in panel.get("paths", ())]
    assert len(paths) >= 3
    for path in paths:
        check_path(path)
    # A table makes rows of a whole list; of a part of one, as `[:]`, it shows the first only.
    assert check_path(panels["Table!why"]["topicPath"] + "[:]") == "diagnostic_msgs/msg/DiagnosticStatus"
    assert topic_of(panels["DiagnosticSummary!health"]["topicToRender"]).name == "/diagnostics"


@pytest.mark.parametrize("path", ["/nothing.data", "/state.date", "/odometry.twist.linear.x", "/why.status.name"])
def test_a_path_to_nothing_is_found_out(path: str) -> None:
    with pytest.raises((KeyError, AssertionError)):
        check_path(path)


@pytest.fixture(scope="module")
def plotjuggler() -> ElementTree.Element:
    return ElementTree.parse(CONFIG / "plotjuggler.xml").getroot()


def test_plotjuggler_plots_fields_that_there_are(plotjuggler: ElementTree.Element) -> None:
    curves = plotjuggler.findall(".//plot/curve")
    assert len(curves) >= 6
    for plot in plotjuggler.iter("plot"):
        for curve in plot:
            if curve.tag == "curve":
                plane = plot.attrib["mode"] == "XYPlot"
                for name in ("curve_x", "curve_y") if plane else ("name",):
                    assert is_number(check_path(dotted(curve.attrib[name]))), curve.attrib


@pytest.mark.parametrize(
    "name", ["/nothing/data", "/odometry/twist/linear/x", "/trajectory/points/x", "/odometry/pose"]
)
def test_a_curve_of_nothing_is_found_out(name: str) -> None:
    with pytest.raises((KeyError, AssertionError)):
        assert is_number(check_path(dotted(name)))


def dotted(name: str) -> str:
    """A series of PlotJuggler, as `/topic/field[0]/field`, as a path of Foxglove."""
    topic, *fields = name.removeprefix("/").split("/")
    return ".".join((f"/{topic}", *fields))


def is_number(kind: str) -> bool:
    return kind.startswith(("float", "int", "uint", "bool"))


def panels(node: Any) -> Iterator[str]:
    """The panels of a layout, which is a tree."""
    if isinstance(node, str):
        yield node
    else:
        assert node["direction"] in ("row", "column")
        yield from panels(node["first"])
        yield from panels(node["second"])


def check_path(path: str) -> str:
    """The type of a path like `/topic.field[0].field`, followed through the definitions of the messages."""
    name, *fields = path.split(".")
    kind = topic_of(name).type
    for part in fields:
        taken = re.fullmatch(r"(\w+)(\[[\d:]+\])?", part)
        assert taken is not None, path
        node, detail = dict(STORE.fielddefs[kind][1])[taken[1]]
        is_list = node.name in ("ARRAY", "SEQUENCE")
        assert is_list is (taken[2] is not None), path
        node, detail = detail[0] if is_list else (node, detail)
        kind = detail[0] if node.name == "BASE" else detail
    return kind

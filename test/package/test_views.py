"""The views for RViz and Foxglove show topics that there are, with their types and quality of service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    assert foxglove["configById"]["3D!way"]["fixedFrame"] == MAP_FRAME


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
    for path in (*paths, panels["Table!why"]["topicPath"]):
        check_path(path)
    assert topic_of(panels["DiagnosticSummary!health"]["topicToRender"]).name == "/diagnostics"


@pytest.mark.parametrize("path", ["/nothing.data", "/state.date", "/odometry.twist.linear.x", "/why.status.name"])
def test_a_path_to_nothing_is_found_out(path: str) -> None:
    with pytest.raises((KeyError, AssertionError)):
        check_path(path)


def panels(node: Any) -> Iterator[str]:
    """The panels of a layout, which is a tree."""
    if isinstance(node, str):
        yield node
    else:
        assert node["direction"] in ("row", "column")
        yield from panels(node["first"])
        yield from panels(node["second"])


def check_path(path: str) -> None:
    """A path like `/topic.field[0].field`, followed through the definitions of the messages."""
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

"""The `map` verb's data and picture."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from map import towns, xodr
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map import query
from tuling_fsm.map.picture import draw_map
from tuling_fsm.map.routing import plan_route


def test_at_a_point(tmp_path: Path) -> None:
    lanes = [xodr.lane(1), xodr.lane(-1, mark="broken"), xodr.lane(-2, mark="solid"), xodr.lane(-3, kind="parking")]
    road_map = xodr.read(
        tmp_path, xodr.road([xodr.section([*lanes, xodr.lane(-4, kind="sidewalk")], centre="solid solid")])
    )
    answer = query.at(road_map, 30.0, -5.0)
    assert list(answer) == list(query.FIELDS)
    assert answer == {
        "road": "1",
        "section": 0,
        "lane": -2,
        "s": pytest.approx(30.0),
        "offset": pytest.approx(0.25),
        "width": pytest.approx(3.5),
        "heading": pytest.approx(0.0),
        "line_left": "broken",
        "line_right": "solid",
        "junction": None,
    }
    against = query.at(road_map, 30.0, 1.0)
    assert (against["lane"], against["s"]) == (1, pytest.approx(30.0))
    assert against["offset"] == pytest.approx(0.75)
    assert abs(against["heading"]) == pytest.approx(math.pi)
    assert (against["line_left"], against["line_right"]) == ("solid solid", "none")
    assert query.at(road_map, 30.0, -8.0)["lane"] == -3
    for x, y in ((30.0, -12.0), (30.0, 50.0), (math.nan, 0.0), (1e12, -1e12)):
        assert query.at(road_map, x, y) == dict.fromkeys(query.FIELDS)


def test_summary_is_plain_and_counts(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path)
    summary = json.loads(json.dumps(query.summary(road_map)))
    assert summary["roads"] == 16
    assert summary["lanes"] == {"driving": 20}
    assert summary["junctions"] == 1
    assert summary["length"] == pytest.approx(4 * 80.0 + 4 * 24.0 + 8 * 6.0 * math.pi)
    assert summary["driving_length"] > summary["length"]


@pytest.mark.medium
def test_a_picture(tmp_path: Path) -> None:
    light = '<signals><signal id="7" s="1" t="4" orientation="-" dynamic="yes" type="1000001" subtype="-1"/></signals>'
    things = '<objects><object id="1" type="crosswalk" s="20" t="0" length="4" width="8"/>'
    things += '<object id="2" type="parkingSpace" s="40" t="6" length="2.5" width="5"/></objects>'
    road_map = towns.crossing(tmp_path, {1: light, 3: things})
    route = plan_route(road_map, Pose(60.0, 1.75, math.pi), Pose(-60.0, 1.75, math.pi)).route
    bare, full = tmp_path / "bare.png", tmp_path / "full.png"
    draw_map(road_map, bare)
    draw_map(road_map, full, route)
    assert bare.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert bare.read_bytes() != full.read_bytes()
    with pytest.raises(InputError, match="cannot be written"):
        draw_map(road_map, tmp_path / "absent" / "map.png")

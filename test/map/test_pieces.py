"""Lane sections whose lanes change on the way: what holds where, and that nothing else changes with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from map import xodr
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map import query
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.opendrive.pieces import MIN_PIECE_M
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route

LENGTH_M = 400.0
STRAIGHT = xodr.geometry(0.0, 0.0, 0.0, 0.0, LENGTH_M)


def speeds(*records: tuple[float, float]) -> str:
    return "".join(f'<speed sOffset="{s}" max="{limit}"/>' for s, limit in records)


def types(*records: tuple[float, float]) -> str:
    return "".join(f'<type s="{s}" type="town"><speed max="{limit}"/></type>' for s, limit in records)


def long_road(folder: Path, lanes: Sequence[str], kind: str = "", junction: str = "-1") -> RoadMap:
    sections = [xodr.section(lanes, centre="solid")]
    return xodr.read(folder, xodr.road(sections, length=LENGTH_M, geometries=STRAIGHT, kind=kind, junction=junction))


def pieces(road_map: RoadMap, number: int = -1) -> list[tuple[float, float, float]]:
    """From, to (m, road stations) and limit (m/s) of every lane of a number."""
    found = [lane for lane in road_map.lanes.values() if lane.id.lane == number]
    return [(float(lane.road_s.min()), float(lane.road_s.max()), lane.limit) for lane in found]


M = MIN_PIECE_M
END = LENGTH_M


@pytest.mark.parametrize(
    ("kind", "own", "expected"),
    [
        ((), ((0, 9.0),), [(0, END, 9.0)]),
        ((), ((0, 9.0), (100, 9.0)), [(0, END, 9.0)]),
        (((0, 20.0), (300, 8.0)), (), [(0, 300, 20.0), (300, END, 8.0)]),
        (((0, 20.0), (300, 8.0)), ((100, 12.0),), [(0, 100, 20.0), (100, END, 12.0)]),
        ((), ((0, 20.0), (100, 6.0), (150, 20.0)), [(0, 100, 20.0), (100, 150, 6.0), (150, END, 20.0)]),
        ((), ((0, 20.0), (100, 6.0), (105, 20.0)), [(0, 100, 20.0), (100, 100 + M, 6.0), (100 + M, END, 20.0)]),
        ((), ((0, 20.0), (100, 9.0), (105, 6.0)), [(0, 100, 20.0), (100, END, 6.0)]),
        ((), ((0, 20.0), (END - 5, 6.0)), [(0, END - M, 20.0), (END - M, END, 6.0)]),
        ((), ((0, 6.0), (END - 5, 20.0)), [(0, END, 6.0)]),
        ((), ((0, 6.0), (5, 20.0)), [(0, M, 6.0), (M, END, 20.0)]),
        ((), ((0, 20.0), (END - 0.0001, 6.0)), [(0, END, 20.0)]),
        ((), ((0, 20.0), (100, 6.0), (100.0001, 12.0)), [(0, 100.0001, 20.0), (100.0001, END, 12.0)]),
    ],
)
def test_each_limit_holds_where_the_file_says_so(
    tmp_path: Path,
    kind: Sequence[tuple[float, float]],
    own: Sequence[tuple[float, float]],
    expected: list[tuple[float, float, float]],
) -> None:
    road_map = long_road(tmp_path, [xodr.lane(-1, inside=speeds(*own))], types(*kind))
    assert pieces(road_map) == [pytest.approx(each) for each in expected]


def test_a_lane_that_is_not_driven_cuts_nothing_and_a_road_in_a_junction_stays_whole(tmp_path: Path) -> None:
    own = speeds((0, 20.0), (100, 6.0))
    beside = [xodr.lane(-1), xodr.lane(-2, kind="sidewalk", inside=own)]
    assert len(pieces(long_road(tmp_path, beside))) == 1
    inside = long_road(tmp_path, [xodr.lane(-1, inside=own)], junction="7")
    assert pieces(inside) == [pytest.approx((0.0, END, 6.0))]


def test_lanes_go_on_from_piece_to_piece_and_are_told_by_the_section_of_the_file(tmp_path: Path) -> None:
    lanes = [xodr.lane(1), xodr.lane(-1, mark="broken", inside=speeds((0, 20.0), (200, 6.0))), xodr.lane(-2)]
    road_map, whole = (long_road(tmp_path, [each.replace('"200"', f'"{at}"') for each in lanes]) for at in (200, END))
    assert {lane.section for lane in road_map.lanes.values()} == {0}
    first, second = (road_map.lanes[LaneId("1", i, -1)] for i in (0, 1))
    assert (first.successors, second.predecessors) == ((second.id,), (first.id,))
    assert road_map.lanes[LaneId("1", 1, 1)].successors == (LaneId("1", 0, 1),)
    assert second.right_neighbour == LaneId("1", 1, -2)
    for x in (10.0, 199.9, 200.1, 390.0):
        for y in (1.0, -1.0, -5.0):
            assert query.at(road_map, x, y) == pytest.approx(query.at(whole, x, y), abs=1e-9)
    there, back = (plan_route(each, Pose(5.0, -1.75, 0.0), Pose(395.0, -5.25, 0.0)).route for each in (road_map, whole))
    assert there is not None
    assert back is not None
    assert there.length == pytest.approx(back.length, abs=0.01)


def test_a_lane_can_be_changed_within_any_piece(tmp_path: Path) -> None:
    """Limits that change every 40 m leave no goal on the other lane out of reach."""
    own = speeds(*((40.0 * i, 6.0 + i % 2) for i in range(10)))
    road_map = long_road(tmp_path, [xodr.lane(-1, mark="broken", inside=own), xodr.lane(-2)])
    assert len(pieces(road_map)) == 10
    for x in np.arange(40.0, END, 20.0):
        found = plan_route(road_map, Pose(x - 35.0, -1.75, 0.0), Pose(float(x), -5.25, 0.0))
        assert found.status == "ok", x


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("kind", ["", types((0, 14.0), (200, 9.0))], ids=["whole", "cut"])
@pytest.mark.parametrize(("light", "paint"), [(199.0, 200.5), (201.0, 199.5)])
def test_a_light_and_its_painted_line_are_one_place_on_either_side_of_a_cut(
    tmp_path: Path, kind: str, light: float, paint: float
) -> None:
    signals = f'<signals><signal id="7" s="{light}" t="-4" orientation="+" dynamic="yes" type="1000001"/></signals>'
    size = 'hdg="1.5707963" length="3.3" width="0.4"'
    objects = f'<objects><object id="1" type="roadMark" name="StopLine" s="{paint}" t="-1.75" {size}/></objects>'
    section, inside = xodr.section([xodr.lane(-1)]), objects + signals
    road_map = xodr.read(tmp_path, xodr.road(section, length=LENGTH_M, geometries=STRAIGHT, kind=kind, inside=inside))
    assert len(road_map.lanes) == (2 if kind else 1)
    (line,) = road_map.stop_lines
    assert (line.kind, line.signal) == ("light", 7)
    lane = road_map.lanes[line.lane]
    assert np.interp(line.s, lane.center.s, lane.road_s) == pytest.approx(paint, abs=0.05)

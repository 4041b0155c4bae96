"""What a car in a lane may cross, seen from either side, in and outside junctions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from map import xodr
from tuling_fsm.map.free_width import free_widths, is_within
from tuling_fsm.map.lanes import Lane, LaneId, MarkKind
from tuling_fsm.map.road_map import RoadMap


def two_lanes(folder: Path, mark: str, junction: str = "-1") -> tuple[Lane, Lane]:
    """The inner and outer lane of a one-way road, with the mark between them."""
    lanes = [xodr.lane(-1, mark=mark), xodr.lane(-2)]
    road_map = xodr.read(folder, xodr.road([xodr.section(lanes)], junction=junction))
    return road_map.lanes[LaneId("1", 0, -1)], road_map.lanes[LaneId("1", 0, -2)]


@pytest.mark.parametrize(
    ("mark", "kind", "outwards", "inwards"),
    [
        ("solid", MarkKind.SOLID, False, False),
        ("broken", MarkKind.BROKEN, True, True),
        ("none", MarkKind.VIRTUAL, True, True),
        ("", MarkKind.VIRTUAL, True, True),
        ("solid solid", MarkKind.SOLID_SOLID, False, False),
        ("solid broken", MarkKind.SOLID_BROKEN, False, True),
        ("broken solid", MarkKind.BROKEN_SOLID, True, False),
        ("broken broken", MarkKind.BROKEN, True, True),
        ("botts dots", MarkKind.BROKEN, True, True),
        ("curb", MarkKind.CURB, False, False),
        ('<roadMark sOffset="0" type="broken" laneChange="increase"/>', MarkKind.BROKEN, False, True),
        ('<roadMark sOffset="0" type="broken" laneChange="decrease"/>', MarkKind.BROKEN, True, False),
        ('<roadMark sOffset="0" type="broken" laneChange="none"/>', MarkKind.BROKEN, True, True),
        ('<roadMark sOffset="0" type="solid" laneChange="both"/>', MarkKind.SOLID, False, False),
        (
            '<roadMark sOffset="0" type="custom"><type name="x"><line length="3" space="6" tOffset="0.1"/>'
            '<line length="3" space="0" tOffset="-0.1"/></type></roadMark>',
            MarkKind.BROKEN_SOLID,
            True,
            False,
        ),
    ],
)
def test_marks_between_lanes_of_one_direction(
    tmp_path: Path, mark: str, kind: MarkKind, outwards: bool, inwards: bool
) -> None:
    inner, outer = two_lanes(tmp_path, mark)
    (right,), (left,) = inner.right_marks, outer.left_marks
    mirrored = {MarkKind.SOLID_BROKEN: MarkKind.BROKEN_SOLID, MarkKind.BROKEN_SOLID: MarkKind.SOLID_BROKEN}
    assert (right.kind, right.crossable) == (kind, outwards)
    assert (left.kind, left.crossable) == (mirrored.get(kind, kind), inwards)
    assert (right.s_from, right.s_to) == pytest.approx((0.0, 100.0))


@pytest.mark.parametrize(
    ("mark", "from_right", "from_left"),
    [
        ("solid", False, False),
        ("broken", True, True),
        ("none", False, False),
        ("", False, False),
        ("solid broken", True, False),
        ("broken solid", False, True),
    ],
)
def test_the_centre_line_between_directions(tmp_path: Path, mark: str, from_right: bool, from_left: bool) -> None:
    """Pairs on the centre line are written from left to right."""
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(1), xodr.lane(-1)], centre=mark)]))
    right, left = road_map.lanes[LaneId("1", 0, -1)], road_map.lanes[LaneId("1", 0, 1)]
    assert right.left_marks[0].crossable == from_right
    assert left.left_marks[0].crossable == from_left


def test_in_a_junction_a_missing_mark_is_a_virtual_line_that_holds(tmp_path: Path) -> None:
    inner, outer = two_lanes(tmp_path, "none", junction="9")
    assert inner.right_marks[0][2:] == (MarkKind.VIRTUAL, False)
    assert outer.left_marks[0][2:] == (MarkKind.VIRTUAL, False)


def test_marks_change_along_the_road(tmp_path: Path) -> None:
    """Ranges run in direction of travel, so those of a left lane are mirrored."""
    mark = '<roadMark sOffset="0" type="broken"/><roadMark sOffset="70" type="solid"/>'
    road_map = xodr.read(
        tmp_path,
        xodr.road([xodr.section([xodr.lane(2), xodr.lane(1, mark=mark), xodr.lane(-1, mark=mark), xodr.lane(-2)])]),
    )
    forward, backward = road_map.lanes[LaneId("1", 0, -1)], road_map.lanes[LaneId("1", 0, 1)]
    assert [(m.s_from, m.s_to, m.crossable) for m in forward.right_marks] == [
        pytest.approx((0.0, 70.0, True)),
        pytest.approx((70.0, 100.0, False)),
    ]
    assert [(m.s_from, m.s_to, m.crossable) for m in backward.right_marks] == [
        pytest.approx((0.0, 30.0, False)),
        pytest.approx((30.0, 100.0, True)),
    ]


def test_a_solid_line_begins_where_it_is_painted_and_not_a_point_later(tmp_path: Path) -> None:
    for begin in (70.0, 70.2):
        mark = f'<roadMark sOffset="0" type="broken"/><roadMark sOffset="{begin}" type="solid"/>'
        road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1, mark=mark), xodr.lane(-2)])]))
        solid = road_map.line_segments(70.0, -3.5, 5.0, crossable=False)
        solid = solid[np.isclose(solid[:, 1], -3.5)]
        assert begin - 0.5 <= solid[:, [0, 2]].min() <= begin


def carriageway(folder: Path, shoulder_mark: str = "broken", middle: str = "broken") -> RoadMap:
    lanes = [
        xodr.lane(1),
        xodr.lane(-1, mark=middle),
        xodr.lane(-2, mark=shoulder_mark),
        xodr.lane(-3, 2.0, kind="shoulder"),
        xodr.lane(-4, 2.0, kind="sidewalk"),
    ]
    return xodr.read(folder, xodr.road([xodr.section(lanes, centre="broken")]))


@pytest.mark.parametrize(
    ("shoulder_mark", "middle", "free_right"),
    [
        ("broken", "broken", 1.75 + 3.5 + 2.0),
        ("solid", "broken", 1.75 + 3.5),
        ("broken", "solid", 1.75),
        ("", "", 7.25),
    ],
)
def test_free_width_reaches_to_the_next_line_that_holds(
    tmp_path: Path, shoulder_mark: str, middle: str, free_right: float
) -> None:
    """The shoulder may be used, the sidewalk and the other direction never."""
    road_map = carriageway(tmp_path, shoulder_mark, middle)
    left, right = free_widths(road_map.lanes, LaneId("1", 0, -1))
    assert np.allclose(left, 1.75)
    assert np.allclose(right, free_right)
    lane = LaneId("1", 0, -1)
    aside = [1.75 - 0.1 * k for k in range(-2, 120)]
    within = [t for t in aside if is_within(road_map.lanes, lane, 50.0, -1.75 + t)]
    assert (max(within), min(within)) == pytest.approx((1.75, -free_right), abs=0.1)
    assert not is_within(road_map.lanes, lane, -1.0, -1.75), "behind its begin"


def test_segments_of_lines_and_edges(tmp_path: Path) -> None:
    road_map = carriageway(tmp_path, shoulder_mark="solid", middle="broken")
    solid = road_map.line_segments(50.0, -3.0, 20.0, crossable=False)
    broken = road_map.line_segments(50.0, -3.0, 20.0, crossable=True)
    edges = road_map.boundary_segments(50.0, -3.0, 20.0)
    assert sorted(set(np.round(solid[:, 1], 6))) == [-7.0]
    assert sorted(set(np.round(broken[:, 1], 6))) == [-3.5, 0.0]
    assert sorted(set(np.round(edges[:, 1], 6))) == [-9.0, 3.5]
    assert len(road_map.line_segments(50.0, -3.0, 20.0)) == len(solid) + len(broken)
    assert len(road_map.boundary_segments(50.0, 300.0, 20.0)) == 0


def test_without_paint_the_two_directions_are_still_apart(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(1), xodr.lane(-1)])]))
    solid = road_map.line_segments(50.0, 0.0, 5.0, crossable=False)
    assert np.allclose(solid[:, [1, 3]], 0.0)


def test_the_line_to_oncoming_traffic_goes_by_directions_and_not_by_lane_numbers(tmp_path: Path) -> None:
    back = 'direction="reversed"'
    beside = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1), xodr.lane(-2, attributes=back)])]))
    for lane in beside.driving_lanes():
        assert np.allclose(beside.oncoming_lines(lane)[:, 1], -3.5) and len(beside.oncoming_lines(lane)) == 1
    one_way = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(1, attributes=back), xodr.lane(-1)])]))
    assert all(len(one_way.oncoming_lines(lane)) == 0 for lane in one_way.driving_lanes())

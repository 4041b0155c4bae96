"""Crosswalks, parking spaces and obstacles with all their outlines and repetitions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from map import towns, xodr
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.polygon import inside, slot_box
from tuling_fsm.map.road_map import RoadMap


def with_objects(folder: Path, *texts: str) -> RoadMap:
    lanes = [xodr.lane(1), xodr.lane(-1), xodr.lane(-2, 2.5, kind="parking")]
    return xodr.read(folder, xodr.road([xodr.section(lanes)], inside=f"<objects>{''.join(texts)}</objects>"))


def outline(kind: str, *corners: tuple[float, float]) -> str:
    names = ("u", "v") if kind == "cornerLocal" else ("s", "t")
    texts = "".join(f'<{kind} {names[0]}="{a}" {names[1]}="{b}"/>' for a, b in corners)
    return f"<outline>{texts}</outline>"


def thing(kind: str, s: float = 50.0, t: float = 0.0, inside_: str = "", **more: float) -> str:
    others = "".join(f' {name}="{value}"' for name, value in more.items())
    return f'<object id="4" type="{kind}" s="{s}" t="{t}"{others}>{inside_}</object>'


@pytest.mark.parametrize(
    "text",
    [
        thing("crosswalk", inside_=outline("cornerRoad", (48, -3.5), (52, -3.5), (52, 3.5), (48, 3.5))),
        thing("crosswalk", inside_=outline("cornerLocal", (-2, -3.5), (2, -3.5), (2, 3.5), (-2, 3.5))),
        thing("crosswalk", hdg=math.pi / 2, length=7.0, width=4.0),
        thing(
            "crosswalk",
            inside_="<outlines>" + outline("cornerRoad", (48, -3.5), (52, -3.5), (52, 3.5), (48, 3.5)) + "</outlines>",
        ),
    ],
)
def test_a_crosswalk_and_the_lanes_under_it(tmp_path: Path, text: str) -> None:
    road_map = with_objects(tmp_path, text)
    (walk,) = road_map.crosswalks
    assert np.allclose(walk.outline.min(axis=0), (48.0, -3.5))
    assert np.allclose(walk.outline.max(axis=0), (52.0, 3.5))
    assert [lane for lane, _, _ in walk.lanes] == [LaneId("1", 0, 1), LaneId("1", 0, -1)]
    for _, start, end in walk.lanes:
        assert (start, end) == pytest.approx((48.0, 52.0), abs=0.5)
    assert road_map.crosswalks_of(LaneId("1", 0, -1))[0][0] == 0


def on_two_levels(folder: Path, height: float, objects: str, s: float = 50.0) -> RoadMap:
    """Road 1 along x, which falls from `height` at its start to 0 at 20 m; road 2 across it at `height`."""
    level = '<elevationProfile><elevation s="0" a="{0}" b="0" c="0" d="0"/>{1}</elevationProfile>'
    fall = '<elevation s="20" a="0" b="0" c="0" d="0"/>'
    lanes = [xodr.section([xodr.lane(1), xodr.lane(-1)])]
    low = xodr.road(lanes, inside=f"<objects>{objects}</objects>")
    high = xodr.road(lanes, number="2", geometries=xodr.geometry(0.0, s, -50.0, math.pi / 2, 100.0))
    profiles = (level.format(height, fall), level.format(height, ""))
    return xodr.read(
        folder, *(text.replace("</planView>", f"</planView>{p}") for text, p in zip((low, high), profiles, strict=True))
    )


CROSSWALK = thing("crosswalk", s=50.0, length=4.0, width=8.0)
STOP_LINE = '<object id="5" type="roadMark" name="StopLine" s="51.75" t="-1.75" length="0.3" width="3.2"/>'


@pytest.mark.parametrize(("height", "roads"), [(8.0, {"1"}), (-8.0, {"1"}), (2.0, {"1", "2"})])
def test_what_is_painted_on_a_road_is_not_on_the_bridge_above_or_the_tunnel_below(
    tmp_path: Path, height: float, roads: set[str]
) -> None:
    road_map = on_two_levels(tmp_path, height, CROSSWALK + STOP_LINE)
    (walk,) = road_map.crosswalks
    assert {lane.road for lane, _, _ in walk.lanes} == roads
    assert {line.lane.road for line in road_map.stop_lines} == roads


def test_a_slot_under_a_bridge_faces_the_traffic_below(tmp_path: Path) -> None:
    slot = thing("parkingSpace", s=57.0, t=-7.0, length=6.0, width=2.4)
    for height, heading in ((8.0, 0.0), (0.0, math.pi)):
        (found,) = on_two_levels(tmp_path, height, slot).slots
        assert math.cos(found.pose.heading - heading) == pytest.approx(1.0)


def test_an_object_whose_station_is_far_from_its_outline_is_on_the_lanes_there_all_the_same(tmp_path: Path) -> None:
    """The road is 8 m higher where the station says that the object stands."""
    corners = outline("cornerRoad", (80, -3.5), (84, -3.5), (84, 3.5), (80, 3.5))
    (walk,) = on_two_levels(tmp_path, 8.0, thing("crosswalk", s=0.0, inside_=corners)).crosswalks
    assert [lane for lane, _, _ in walk.lanes] == [LaneId("1", 0, 1), LaneId("1", 0, -1)]


def test_slots_across_face_the_lane(tmp_path: Path) -> None:
    """Five slots right of the road by repetition, 2.5 m apart."""
    repeat = '<repeat s="20" length="10" distance="2.5" tStart="-8.5" tEnd="-8.5"/>'
    road_map = with_objects(tmp_path, thing("parkingSpace", inside_=repeat, length=2.4, width=5.0))
    assert [slot.number for slot in road_map.slots] == [1, 2, 3, 4, 5]
    assert [slot.id for slot in road_map.slots] == ["4", "4#2", "4#3", "4#4", "4#5"]
    for i, slot in enumerate(road_map.slots):
        assert slot.pose[:2] == pytest.approx((20.0 + 2.5 * i, -8.5))
        assert slot.pose.heading == pytest.approx(math.pi / 2)
        assert (slot.length, slot.width) == pytest.approx((5.0, 2.4))


def test_a_slot_that_repetition_makes_has_no_id_of_another(tmp_path: Path) -> None:
    repeat = '<repeat s="20" length="5" distance="2.5" tStart="-8.5" tEnd="-8.5"/>'
    row, alone = thing("parkingSpace", inside_=repeat), thing("parkingSpace", t=-8.5).replace('id="4"', 'id="4#2"')
    assert [slot.id for slot in with_objects(tmp_path, row, alone).slots] == ["4", "4#3", "4#4", "4#2"]


def test_a_row_of_slots_on_a_lane_of_its_road_faces_that_road(tmp_path: Path) -> None:
    """Another road comes by closer to the first slot than the lane that all are reached from."""
    repeat = '<repeat s="8" length="10" distance="2.5" tStart="13" tEnd="13"/>'
    bays = thing("parkingSpace", inside_=repeat, length=2.4, width=5.0)
    plaza = xodr.section([xodr.lane(2, 12.0), xodr.lane(1), xodr.lane(-1)])
    crossing = xodr.geometry(0.0, 0.0, -50.0, math.pi / 2.0, 100.0)
    road_map = xodr.read(
        tmp_path, xodr.road([plaza], inside=f"<objects>{bays}</objects>"),
        xodr.road([xodr.section([xodr.lane(1), xodr.lane(-1)])], number="2", geometries=crossing),
    )  # fmt: skip
    assert [slot.pose.heading for slot in road_map.slots] == pytest.approx([-math.pi / 2.0] * 5)


@pytest.mark.parametrize(
    ("stop", "solid"),
    [
        (thing("obstacle", s=20.0, t=-10.4, length=1.8, width=0.15, height=0.12), False),
        (thing("obstacle", s=20.0, t=-10.4, length=1.8, width=0.15, height=0.2), True),
        (thing("obstacle", s=20.0, t=-10.4, length=1.8, width=0.15, height="low"), True),
        (thing("obstacle", s=20.0, t=-10.4, length=1.8, width=0.15, height=0.12, zOffset=0.1), True),
        (thing("obstacle", s=20.0, t=-10.4, length=1.8, width=0.15), True),
        (thing("obstacle", s=21.25, t=-10.4, length=1.8, width=0.15, height=0.12), False),
        (thing("obstacle", s=20.0, t=-11.0, length=1.8, width=0.15, height=0.12), True),
        (thing("obstacle", s=20.0, t=-1.75, length=1.8, width=0.15, height=0.12), True),
    ],
    ids=[
        "a wheel stop", "too high", "of a height that is none", "raised", "of no height", "of two bays",
        "behind the bay", "in a lane",
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", ["bays", "stop"])
def test_a_wheel_stop_in_a_bay_is_driven_over(tmp_path: Path, stop: str, solid: bool, first: str) -> None:
    repeat = '<repeat s="20" length="10" distance="2.5" tStart="-8.5" tEnd="-8.5"/>'
    bays = thing("parkingSpace", inside_=repeat, length=2.5, width=5.0)
    (found,) = with_objects(tmp_path, *((bays, stop) if first == "bays" else (stop, bays))).objects
    assert found.solid is solid


def test_slots_along_the_road_go_with_the_traffic_beside_them(tmp_path: Path) -> None:
    road_map = with_objects(
        tmp_path,
        thing("parkingSpace", s=30.0, t=-4.75, length=6.0, width=2.4, hdg=math.pi),
        thing("parkingSpace", s=30.0, t=4.75, length=6.0, width=2.4),
    )
    right, left = road_map.slots
    assert math.cos(right.pose.heading) == pytest.approx(1.0)
    assert math.cos(left.pose.heading) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("inside_", "reserved"),
    [
        ("", ""),
        ("<parkingSpace/>", ""),
        ('<parkingSpace access="all"/>', ""),
        ('<parkingSpace access=" Car "/>', ""),
        ('<parkingSpace access="handicapped"/>', "handicapped"),
        ('<parkingSpace access="residents" restrictions="permit holders only"/>', "residents"),
    ],
)
def test_whom_a_parking_space_is_for(tmp_path: Path, inside_: str, reserved: str) -> None:
    space = thing("parkingSpace", s=30.0, t=-4.75, length=6.0, width=2.4, inside_=inside_)
    road_map = with_objects(tmp_path, space)
    assert [slot.reserved for slot in road_map.slots] == [reserved]
    told = f"parking space 4 is for {reserved!r}; it is taken only where a mission names it"
    assert [warning.partition(">: ")[2] for warning in road_map.warnings] == ([told] if reserved else [])


def test_repeated_corners_of_the_road_move_with_the_repetition(tmp_path: Path) -> None:
    corners = outline("cornerRoad", (0, -1.2), (5, -1.2), (5, 1.2), (0, 1.2))
    repeat = '<repeat s="32.5" length="6" distance="6" tStart="-5" tEnd="-5"/>'
    road_map = with_objects(tmp_path, thing("parkingSpace", s=2.5, inside_=repeat + corners))
    assert [slot.pose[:2] for slot in road_map.slots] == [
        pytest.approx((32.5, -5.0)),
        pytest.approx((38.5, -5.0)),
    ]


def test_the_box_in_a_slanted_slot() -> None:
    """A parallelogram at 45 degrees: both long sides 5 m, 2.5 m apart, abreast over 2.5 m less."""
    slant = math.sqrt(0.5)
    corners = np.array(
        [(0.0, 0.0), (2.5 / slant, 0.0), (2.5 / slant + 5.0 * slant, 5.0 * slant), (5.0 * slant, 5.0 * slant)]
    )
    pose, length, width = slot_box(corners)
    assert math.tan(pose.heading) == pytest.approx(1.0)
    assert width == pytest.approx(2.5)
    assert length == pytest.approx(2.5)
    assert inside(corners, np.array([pose[:2]])).all()


def test_what_is_solid(tmp_path: Path) -> None:
    road_map = with_objects(
        tmp_path,
        thing("pole", t=-7.0, radius=0.2),
        thing(
            "barrier", inside_='<repeat s="10" length="20" distance="0" tStart="-6.5" tEnd="-7.5" widthStart="0.4"/>'
        ),
        thing("patch", length=3.0, width=2.0),
        thing("tree", t=8.0, zOffset=5.0, radius=0.5),
    )
    assert [thing.solid for thing in road_map.objects] == [True, True, False, False]
    assert len(road_map.static_segments(50.0, -7.0, 1.0)) == 8
    rail = road_map.static_segments(20.0, -7.0, 2.0)
    assert len(rail) > 0
    assert rail[:, 1].max() <= -6.2
    assert len(road_map.static_segments(80.0, 0.0, 5.0)) == 0


ROW = 's="10" length="80" distance="4" tStart="-7" tEnd="-7"'
LONG = 'lengthStart="3.8" lengthEnd="3.8" widthStart="0.6" widthEnd="0.6"'


def extents(outline_: FloatArray) -> tuple[float, float]:
    """Along and across the road."""
    along, across = np.ptp(outline_, axis=0).tolist()
    return along, across


@pytest.mark.parametrize(
    ("size", "repeated", "first", "last"),
    [
        ({}, LONG, (3.8, 0.6), (3.8, 0.6)),
        ({"length": 1.0, "width": 0.2}, LONG, (3.8, 0.6), (3.8, 0.6)),
        ({"length": 1.0, "width": 0.2}, 'lengthStart="3" lengthEnd="1"', (3.0, 0.2), (1.0, 0.2)),
        ({"length": 1.0, "width": 0.2}, 'widthEnd="0.6"', (1.0, 0.2), (1.0, 0.6)),
        ({"length": 1.0, "width": 0.2}, 'lengthStart="0" lengthEnd=""', (1.0, 0.2), (1.0, 0.2)),
        ({"radius": 0.5}, 'radiusStart="1" radiusEnd="2"', (2.0, 2.0), (4.0, 4.0)),
        ({"length": 1.0, "width": 0.2}, 'radiusStart="1"', (2.0, 2.0), (2.0, 2.0)),
        ({"radius": 0.5}, 'lengthStart="3"', (3.0, 1.0), (3.0, 1.0)),
        ({"radius": 0.5}, "", (1.0, 1.0), (1.0, 1.0)),
    ],
)
def test_the_sizes_of_a_repetition_overrule_those_of_its_object(
    tmp_path: Path, size: dict[str, float], repeated: str, first: tuple[float, float], last: tuple[float, float]
) -> None:
    road_map = with_objects(tmp_path, thing("barrier", inside_=f"<repeat {ROW} {repeated}/>", **size))
    assert len(road_map.objects) == 21
    for i, copy in enumerate(road_map.objects):
        share = i / 20.0
        expected = [a + share * (b - a) for a, b in zip(first, last, strict=True)]
        assert extents(copy.outline) == pytest.approx(expected)
        assert 0.5 * (copy.outline.min(axis=0) + copy.outline.max(axis=0)) == pytest.approx((10.0 + 4.0 * i, -7.0))


@pytest.mark.parametrize(
    ("size", "repeated", "widths"),
    [
        ({}, 'widthStart="1" widthEnd="3"', (1.0, 3.0)),
        ({"width": 2.0}, 'widthEnd="3"', (2.0, 3.0)),
        ({"width": 2.0}, 'radiusStart="0.5"', (1.0, 1.0)),
        ({"radius": 0.5}, "", (1.0, 1.0)),
        ({}, "", (0.3, 0.3)),
    ],
)
def test_a_band_along_the_road_has_the_widths_of_its_ends(
    tmp_path: Path, size: dict[str, float], repeated: str, widths: tuple[float, float]
) -> None:
    place = 's="10" length="20" distance="0" tStart="-7" tEnd="-7"'
    (band,) = with_objects(tmp_path, thing("barrier", inside_=f"<repeat {place} {repeated}/>", **size)).objects
    for station, width in zip((10.0, 30.0), widths, strict=True):
        end = band.outline[np.abs(band.outline[:, 0] - station) < 1e-6]
        assert np.ptp(end[:, 1]) == pytest.approx(width)


def test_a_roof_over_the_road_is_no_obstacle_though_its_object_stands_on_it(tmp_path: Path) -> None:
    place = 's="10" length="20" distance="0" tStart="0" tEnd="0" widthStart="9"'
    roof = f'<repeat {place} zOffsetStart="{{0}}" zOffsetEnd="{{0}}"/>'
    road_map = with_objects(
        tmp_path, thing("barrier", inside_=roof.format(5.0)), thing("barrier", inside_=roof.format(0.0))
    )
    assert [thing.solid for thing in road_map.objects] == [False, True]


@pytest.mark.parametrize(("kind", "up"), [("cornerLocal", "z"), ("cornerRoad", "dz")])
def test_a_crown_over_the_lane_is_no_obstacle_and_its_trunk_is_one(tmp_path: Path, kind: str, up: str) -> None:
    """Both are outlines of one object (ASAM OpenDRIVE 1.8, example of a tree)."""
    s, t = (0.0, 0.0) if kind == "cornerLocal" else (50.0, -5.5)

    def ring(radius: float, low: float) -> str:
        square = [
            (s - radius, t - radius),
            (s + radius, t - radius),
            (s + radius, t + radius),
            (s - radius, t + radius),
        ]
        return outline(kind, *square).replace("/>", f' {up}="{low}" height="3.5"/>')

    tree = thing("tree", t=-5.5, inside_=f"<outlines>{ring(0.2, 0.0)}{ring(4.0, 4.0)}</outlines>")
    trunk, crown = with_objects(tmp_path, tree).objects
    assert (trunk.solid, crown.solid) == (True, False)
    assert np.ptp(crown.outline, axis=0) == pytest.approx((8.0, 8.0))


@pytest.mark.parametrize(
    ("own", "dz", "solid"), [(2.0, 2.0, True), (5.0, 1.0, True), (0.0, 4.0, False), (5.0, 0.0, False), (2.0, 0.0, True)]
)
def test_corners_in_road_coordinates_are_as_high_above_the_road_as_they_say(
    tmp_path: Path, own: float, dz: float, solid: bool
) -> None:
    """However high their object is (ASAM OpenDRIVE 1.8, `dz`)."""
    beam = outline("cornerRoad", (49.0, -3.5), (51.0, -3.5), (51.0, 3.5)).replace("/>", f' dz="{dz}"/>')
    (found,) = with_objects(tmp_path, thing("barrier", zOffset=own, inside_=beam)).objects
    assert found.solid is solid


RAIL = '<vertexRoad s="20" t="-5" radius="0.1"/><vertexRoad s="80" t="-5" radius="0.2"/><vertexRoad s="80" t="-9"/>'
MAST = '<vertexLocal u="0" v="0" z="0"/><vertexLocal u="0" v="0" z="5"/><vertexLocal u="0" v="6" z="5"/>'


def skeleton(vertices: str) -> str:
    return f'<skeleton><polyline id="0">{vertices}</polyline></skeleton>'


def test_a_skeleton_is_as_long_and_as_thick_as_its_vertices_say(tmp_path: Path) -> None:
    along, across = with_objects(tmp_path, thing("barrier", t=-3.0, inside_=skeleton(RAIL), width=0.6)).objects
    assert along.outline.min(axis=0) == pytest.approx((19.8, -5.2))
    assert along.outline.max(axis=0) == pytest.approx((80.2, -4.8))
    assert across.outline.min(axis=0) == pytest.approx((79.7, -9.3))
    assert across.outline.max(axis=0) == pytest.approx((80.3, -4.7))
    assert along.solid


def test_the_arm_of_a_mast_is_driven_under(tmp_path: Path) -> None:
    foot, arm = with_objects(tmp_path, thing("pole", t=-7.0, inside_=skeleton(MAST), radius=0.15)).objects
    assert (foot.solid, arm.solid) == (True, False)
    assert extents(foot.outline) == pytest.approx((0.3, 0.3))
    assert extents(arm.outline) == pytest.approx((0.3, 6.3))


def test_a_skeleton_with_one_vertex_or_of_two_kinds_is_read(tmp_path: Path) -> None:
    alone, mixed = RAIL.partition("/>")[0] + "/>", RAIL + MAST
    road_map = with_objects(tmp_path, *(thing("pole", t=-7.0, inside_=skeleton(each)) for each in ("", alone, mixed)))
    assert [extents(each.outline) for each in road_map.objects[:2]] == [pytest.approx((0.3, 0.3))] * 2
    assert len(road_map.objects) == 4


def test_user_data_is_kept(tmp_path: Path) -> None:
    lane = xodr.lane(-1, inside='<userData code="k" value="v"><more a="1">text</more></userData>')
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([lane])]), '<userData code="m"/>')
    (kept,) = road_map.user_data["1"]
    assert kept["attributes"] == {"code": "k", "value": "v"}
    assert kept["children"][0]["text"] == "text"
    assert road_map.user_data[""][0]["attributes"] == {"code": "m"}


def test_every_outer_outline_of_an_object_is_one(tmp_path: Path) -> None:
    corners = [(u, -1.0) for u in (0.0, 2.0)] + [(u, 1.0) for u in (2.0, 0.0)]
    texts = [outline("cornerLocal", *((u + shift, v) for u, v in corners)) for shift in (0.0, 20.0, 0.5)]
    texts[2] = texts[2].replace("<outline>", '<outline outer="false">')
    road_map = with_objects(tmp_path, thing("barrier", inside_=f"<outlines>{''.join(texts)}</outlines>"))
    assert [float(each.outline[:, 0].min()) for each in road_map.objects] == [50.0, 70.0]


def test_a_repetition_without_length_and_distance_is_the_object_once(tmp_path: Path) -> None:
    repeat = '<repeat s="20" length="0" distance="0" tStart="-1" tEnd="-1"/>'
    (barrier,) = with_objects(tmp_path, thing("barrier", inside_=repeat, length=4.0, width=2.0)).objects
    assert np.allclose(np.ptp(barrier.outline, axis=0), (4.0, 2.0))


@pytest.mark.parametrize("length", ["0.00037", "0.001", "1e-300"])
def test_a_band_that_is_hardly_long_stands_where_it_is_written(tmp_path: Path, length: str) -> None:
    """As HD maps join the parts of a railing, also of one that stands across the road."""
    repeat = f'<repeat s="20" length="{length}" distance="0" tStart="-5" tEnd="-6" widthStart="0.2"/>'
    (railing,) = with_objects(tmp_path, thing("barrier", inside_=repeat)).objects
    assert extents(railing.outline) == pytest.approx((0.001, 1.2))
    assert len(railing.outline) == len(np.unique(railing.outline, axis=0))


@pytest.mark.clause("SAF-3")
def test_an_object_that_cannot_be_read_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    """With all its copies, and with one warning however many there are."""
    repeat = '<repeat s="20" length="10" distance="5" tStart="-7" tEnd="{}"/>'
    bad = thing("pole", t=-7.0).replace('t="-7.0"', 't="-7.0+1.8e-07i"')
    half = thing("barrier", inside_=repeat.format("-7") + repeat.format("1e300"))
    road_map = with_objects(tmp_path, bad, half, thing("tree", t=8.0))
    assert [found.type for found in road_map.objects] == ["tree"]
    (warning,) = road_map.warnings
    assert "<object>: t='-7.0+1.8e-07i' is no finite number" in warning
    assert warning.endswith("; the object is left out, and 1 more")


@pytest.mark.parametrize("kind", ["crosswalk", "stopLine"])
def test_a_crosswalk_or_a_stop_line_that_cannot_be_read_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(InputError, match="hdg='x' is no finite number"):
        with_objects(tmp_path, thing(kind).replace("<object", '<object hdg="x"'))


PLAN = "<planView>" + xodr.geometry(0.0, -12.0, -12.0, 0.0, 24.0) + "</planView>"
IN_JUNCTION = '<object id="{}" type="{}" s="{}" t="{}" hdg="0" length="{}" width="{}"/>'


@pytest.mark.clause("INT-3")
def test_objects_of_a_junction_stand_along_its_own_line(tmp_path: Path) -> None:
    walk, barrier = IN_JUNCTION.format(5, "crosswalk", 4, 12, 3, 24), IN_JUNCTION.format(6, "barrier", 12, 2, 3, 0.5)
    road_map = towns.crossing(tmp_path, {9: f"{PLAN}<objects>{walk}{barrier}</objects>"})
    (crosswalk,), (thing,) = road_map.crosswalks, road_map.objects
    assert np.allclose(crosswalk.outline.mean(axis=0), (-8.0, 0.0))
    assert {"103", "301"} <= {lane.road for lane, _, _ in crosswalk.lanes}
    assert np.allclose(thing.outline.mean(axis=0), (0.0, -10.0))
    assert thing.solid and road_map.lanes[LaneId(thing.road, 0, -1)].junction == "9"
    assert road_map.warnings == ()


def test_objects_of_a_junction_without_a_line_are_told_of(tmp_path: Path) -> None:
    walk = IN_JUNCTION.format(5, "crosswalk", 4, 12, 3, 24)
    road_map = towns.crossing(tmp_path, {9: f"<objects>{walk}</objects>"})
    (warning,) = road_map.warnings
    assert "objects of a junction without <planView> are nowhere: 1 (crosswalk 5)" in warning
    assert road_map.crosswalks == ()


def path_across(folder: Path, *more: str, objects: str = "") -> RoadMap:
    """A road along x with a path of two lanes, 3 m and 1 m wide, across it at 50 m."""
    sides = [xodr.lane(1, 1.0, kind="walking"), xodr.lane(-1, 3.0, kind="walking")]
    plan = xodr.geometry(0.0, 50.0, -5.0, math.pi / 2, 10.0)
    path = xodr.road(xodr.section(sides), "2", plan, 10.0, junction="9")
    cross = '<crossPath id="0" crossingRoad="{}" roadAtStart="1" roadAtEnd="1"/>'
    paths = "".join(cross.format(number) for number in ("2", *more))
    lanes = xodr.section([xodr.lane(1), xodr.lane(-1)])
    road = xodr.road(lanes, inside=f"<objects>{objects}</objects>")
    return xodr.read(folder, road, path, f'<junction id="9">{paths}</junction>')


@pytest.mark.clause("INT-3")
def test_a_path_across_a_junction_is_a_crosswalk(tmp_path: Path) -> None:
    road_map = path_across(tmp_path)
    (walk,) = road_map.crosswalks
    assert np.allclose(walk.outline.min(axis=0), (49.0, -5.0), atol=1e-6)
    assert np.allclose(walk.outline.max(axis=0), (53.0, 5.0), atol=1e-6)
    assert [lane for lane, _, _ in walk.lanes] == [LaneId("1", 0, 1), LaneId("1", 0, -1)]
    (_, start, end) = road_map.crosswalks_of(LaneId("1", 0, -1))[0]
    assert (start, end) == pytest.approx((49.0, 53.0), abs=0.5)


def test_a_path_that_is_an_object_as_well_is_one_crosswalk(tmp_path: Path) -> None:
    assert len(path_across(tmp_path, objects=thing("crosswalk", s=51.0, length=4.0, width=7.0)).crosswalks) == 1


def test_a_path_over_no_road_is_told_of(tmp_path: Path) -> None:
    road_map = path_across(tmp_path, "77")
    assert len(road_map.crosswalks) == 1
    assert any("crossingRoad='77' is no road with lanes" in warning for warning in road_map.warnings)

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scenes import row, table

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world import received
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import (
    PARKING_SLOTS,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Kind,
    Light,
    Occupancy,
    Odometry,
    Source,
    StampedRows,
)
from tuling_fsm.world.mission import parse_mission
from tuling_fsm.world.objects import HEADING, LENGTH, SPEED, VX, VY, WIDTH, X, move_on, read_objects
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.perceived import read_lights, read_slots
from tuling_fsm.world.received import Received, receive

P = WorldParameters()
GOOD = Odometry(1.0, Pose(1.0, 2.0, 0.3), 5.0, 0.1)


NOTHING = Received()


def judge(inputs: Inputs, last: Received = NOTHING) -> tuple[Received, Received, list[str]]:
    kept, fresh, complaints = receive(inputs, last, P)
    return kept, fresh, [complaint.text for complaint in complaints]


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"v": math.nan}, "not finite"),
        ({"pose": Pose(math.inf, 0.0, 0.0)}, "not finite"),
        ({"pose": Pose(1e9, 0.0, 0.0)}, "position out of range"),
        ({"v": 300.0}, "speed 300 m/s out of range"),
        ({"yaw_rate": -20.0}, "yaw rate"),
        ({"position_std": -1.0}, "negative standard deviation"),
        ({"stamp": 2.0}, "ahead of the tick"),
        ({"stamp": math.nan}, "not finite"),
        ({"stamp": 0.9}, "out of order"),
    ],
)
def test_bad_odometry_is_refused_with_one_line_and_the_last_good_one_goes_on(
    change: dict[str, object], word: str
) -> None:
    before, _, _ = judge(Inputs(1.0, GOOD))
    kept, fresh, texts = judge(Inputs(1.05, dataclasses.replace(GOOD, **change)), before)
    assert kept.odometry is GOOD and fresh.odometry is GOOD
    assert len(texts) == 1 and texts[0].startswith("odometry:") and word in texts[0] and "\n" not in texts[0]


@pytest.mark.clause("SAF-3")
def test_a_stale_message_counts_as_not_received_until_a_new_one_comes() -> None:
    kept, fresh, texts = judge(Inputs(1.2, GOOD))
    assert fresh.odometry is GOOD and texts == []
    kept, fresh, texts = judge(Inputs(1.21, GOOD), kept)
    assert kept.odometry is GOOD and fresh.odometry is None
    assert texts == ["odometry: older than 0.2 s, taken as not received"]
    newer = dataclasses.replace(GOOD, stamp=1.25)
    _, fresh, texts = judge(Inputs(1.25, newer), kept)
    assert fresh.odometry is newer and texts == []


@pytest.mark.clause("SAF-3")
def test_grids_and_tables_of_a_wrong_form_are_refused() -> None:
    cells = np.zeros((3, 3), np.int8)
    grids = [
        Occupancy(1.0, 0.0, Pose(0, 0, 0), cells),
        Occupancy(1.0, math.nan, Pose(0, 0, 0), cells),
        Occupancy(1.0, 1e-45, Pose(0, 0, 0), cells),
        Occupancy(1.0, math.inf, Pose(0, 0, 0), cells),
        Occupancy(1.0, 0.1, Pose(0, math.nan, 0), cells),
        Occupancy(1.0, 0.1, Pose(0, 0, 0), cells.astype(float)),
        Occupancy(1.0, 0.1, Pose(0, 0, 0), cells[0]),
    ]
    for grid in grids:
        _, fresh, texts = judge(Inputs(1.0, occupancy=grid))
        assert fresh.occupancy is None and len(texts) == 1 and "expected" in texts[0]
    wrong = StampedRows(1.0, np.zeros(2, np.dtype([("id", "<u4")])))
    _, fresh, texts = judge(Inputs(1.0, objects=wrong, traffic_lights=wrong, lane_lines=wrong, parking_slots=wrong))
    assert (fresh.objects, fresh.lane_lines, fresh.traffic_lights, fresh.parking_slots) == (None,) * 4
    assert [text.split(":")[0] for text in texts] == ["objects", "lane_lines", "traffic_lights", "parking_slots"]


@pytest.mark.clause("SAF-3")
def test_rows_without_a_place_are_left_out_and_told_of_once() -> None:
    rows = table(
        row(1, 0.0, 0.0),
        row(2, math.nan, 0.0),
        row(3, 0.0, -math.inf),
        row(4, 2e7, 0.0),
        row(5, 0.0, 0.0, existence=0.1),
        row(6, 1.0, 1.0, kind=200),
    )
    found, complaints = read_objects(rows, (0.0, 0.0), P)
    assert found.id.tolist() == [1, 6]
    assert found.kind.tolist() == [1, 0]
    assert [complaint.key for complaint in complaints] == ["objects finite", "objects range", "objects kind"]
    assert "object 2 first" in complaints[0].text and "object 4 first" in complaints[1].text


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("length", 0.0, {LENGTH: 0.5}),
        ("width", -3.0, {WIDTH: 0.5}),
        ("width", math.nan, {WIDTH: 0.5}),
        ("length", 1e30, {LENGTH: 60.0}),
        ("length", math.inf, {LENGTH: 60.0}),
        ("heading", math.nan, {HEADING: 0.0, LENGTH: 4.5, WIDTH: 4.5}),
        ("vx", 500.0, {VX: math.nan, VY: math.nan, SPEED: 0.0}),
        ("vy", math.nan, {VX: math.nan, VY: math.nan, SPEED: 0.0}),
        ("existence", 90.0, {}),
        ("existence", -1.0, {}),
        ("existence", math.nan, {}),
    ],
)
def test_what_is_in_a_place_is_there_whatever_else_is_wrong_with_it(
    column: str, value: float, expected: dict[int, float]
) -> None:
    rows = table(row(7, 7.0, 3.0, heading=0.5, speed=2.0))
    whole = read_objects(rows, (0.0, 0.0), P)[0].body[0]
    rows[column] = value
    found, complaints = read_objects(rows, (0.0, 0.0), P)
    assert len(complaints) == 1 and "object 7 first" in complaints[0].text and "avoided" in complaints[0].text
    body = found.body[0]
    for number, number_value in enumerate(whole.tolist()):
        assert body[number] == pytest.approx(expected.get(number, number_value), abs=0.0, nan_ok=True)


def test_objects_are_moved_on_by_the_age_of_their_table_and_the_nearest_are_kept() -> None:
    found, _ = read_objects(table(row(1, 10.0, 0.0, speed=5.0)), (0.0, 0.0), P)
    move_on(found, np.zeros(1), 0.2)
    assert found.body[0, X] == pytest.approx(11.0)
    few = dataclasses.replace(P, max_objects=2)
    found, complaints = read_objects(table(*(row(i, 10.0 * i, 0.0) for i in (5, 1, 3))), (0.0, 0.0), few)
    assert found.id.tolist() == [1, 3] and complaints[0].key == "objects count"


@pytest.mark.clause("SAF-3", "INT-2")
def test_lights_that_are_unsure_or_senseless_are_unknown_and_red_beats_green() -> None:
    rows = np.array(
        [
            (1, 3, 0.9),
            (2, 3, 0.2),
            (3, 3, math.nan),
            (4, 9, 1.0),
            (5, 3, 1.0),
            (5, 1, 1.0),
            (6, 1, 1.0),
            (6, 3, 1.0),
            (7, 3, 1.1),
            (8, 3, -0.1),
            (9, 6, 1.0),
        ],
        dtype=TRAFFIC_LIGHTS,
    )
    lights, complaints = read_lights(StampedRows(0.0, rows), P.min_light_confidence)
    assert lights == {1: Light.GREEN, 5: Light.RED, 6: Light.RED, 9: Light.DARK}
    assert [complaint.key for complaint in complaints] == ["traffic_lights range", "traffic_lights states"]
    assert "signal 3 first" in complaints[0].text and "signal 5 first" in complaints[1].text


@pytest.mark.clause("SAF-3")
def test_of_a_small_table_that_is_long_the_head_is_used_and_it_is_said() -> None:
    lights = np.array([(i, Light.RED, 1.0) for i in range(5000)], dtype=TRAFFIC_LIGHTS)
    states, complaints = read_lights(StampedRows(0.0, lights), P.min_light_confidence)
    assert len(states) == 2000 and [complaint.key for complaint in complaints] == ["traffic_lights count"]
    spaces = np.array([(i, 0, 0.0, 0.0, 0.0, 5.0, 2.5) for i in range(5000)], dtype=PARKING_SLOTS)
    spaces["length"][3] = -1.0
    slots, complaints = read_slots(StampedRows(0.0, spaces))
    assert len(slots) == 1999
    assert [complaint.key for complaint in complaints] == ["parking_slots count", "parking_slots range"]
    assert read_lights(StampedRows(0.0, lights[:2000]), P.min_light_confidence)[1] == ()
    small = np.array([(1, 0, 0.0, 0.0, 0.0, 0.5, 0.5), (2, 0, 0.0, 0.0, 0.0, 0.5, 0.0)], dtype=PARKING_SLOTS)
    assert [slot.number for slot in read_slots(StampedRows(0.0, small))[0]] == [1]


def test_the_codes_of_the_topics_are_those_of_the_contract() -> None:
    kinds = "UNKNOWN CAR TRUCK BUS MOTORCYCLE BICYCLE PEDESTRIAN ANIMAL CONE BARRIER DEBRIS"
    assert [(each.name, each.value) for each in Kind] == [(name, code) for code, name in enumerate(kinds.split())]
    lights = "UNKNOWN RED YELLOW GREEN RED_YELLOW FLASHING_YELLOW DARK"
    assert [(each.name, each.value) for each in Light] == [(name, code) for code, name in enumerate(lights.split())]
    sources = ("LIDAR", "RADAR", "CAMERA", "V2X", "HISTORY_MAP")
    assert {each.name: each.value for each in Source} == {name: 1 << bit for bit, name in enumerate(sources)}
    nothing = Inputs(3.0)
    assert not (nothing.reset or nothing.skip_task or nothing.clear_emergency_stop)


@pytest.mark.clause("SAF-3")
def test_a_bad_mission_that_stays_is_read_once_and_complained_of_until_it_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[object] = []
    monkeypatch.setattr(received, "parse_mission", lambda raw, stamp: (read.append(raw), parse_mission(raw, stamp))[1])
    good: dict[str, object] = {"goal": {"x": 1.0, "y": 2.0}}
    bad: dict[str, object] = {"goal": {"x": 1.0}}
    kept = NOTHING
    for nth, (mission, fault) in enumerate([(bad, True), (bad, True), (None, False), (bad, True), (good, False)]):
        kept, _, texts = judge(Inputs(1.0 + nth, mission=mission), kept)
        assert texts == (["mission.goal.y: missing (expected a value)"] if fault else [])
        assert (kept.mission is None) is (mission is not good)
    for nth in range(2):
        kept, _, texts = judge(Inputs(8.0 + nth, mission=good), kept)
        assert texts == []
    assert read == [bad, good]


@pytest.mark.clause("SAF-3")
def test_a_bad_mission_is_refused_and_the_last_one_goes_on() -> None:
    good = {"goal": {"x": 1.0, "y": 2.0}}
    kept, _, texts = judge(Inputs(1.0, mission=good))
    assert kept.mission is not None and texts == []
    bad = {"goal": {"x": 1.0, "y": 2.0, "speed": 3}}
    after, _, texts = judge(Inputs(2.0, mission=bad), kept)
    assert after.mission is kept.mission
    assert texts == ["mission.goal.speed: no such key (expected one of x, y, heading, name, slots, routes)"]


@pytest.mark.clause("EST-3")
def test_the_last_word_of_a_link_grows_old_after_the_clock_was_set_back_too(course: RoadMap) -> None:
    said = BoolMessage(200.0, False)
    builder = WorldBuilder(course, Vehicle(), P)
    world, ages = None, []
    for now in (200.0, 200.2, 100.0, 100.2, 100.6):
        world = builder.build(Inputs(now, emergency_stop=said), world, None)
        ages.append(world.emergency.age)
    assert ages == pytest.approx([0.0, 0.2, 0.0, 0.2, 0.6])
    world = builder.build(Inputs(100.65, emergency_stop=BoolMessage(100.65, True)), world, None)
    assert (world.emergency.value, world.emergency.age) == (True, 0.0)

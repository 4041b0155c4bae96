"""The referee: what it writes down, whose fault it is, and what it leaves alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim import scoring
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.scoring.collisions import boxes_touched
from tuling_fsm.sim.scoring.pedestrian_yielding import _on_arc
from tuling_fsm.world.inputs import Kind, Light

from .staging import LANE_Y, Watch


def agents(x: float, y: float, heading: float, length: float = 4.5, width: float = 1.8, v: float = 0.0) -> AgentBoxes:
    box = np.array([[x, y, 0.0, heading, length, width, v]])
    return AgentBoxes(box, np.array([Kind.CAR], np.uint8), np.array([7], np.uint32))


CAR = Pose(100.0, LANE_Y, 0.0)
NOSE, TAIL = 100.0 + Vehicle().front, 100.0 - Vehicle().rear_overhang
ACROSS = agents(112.0, -3.5, 0.5 * math.pi, length=6.0)
"""One that stands across both lanes."""


@pytest.mark.parametrize(
    ("v", "box", "fault", "how"),
    [
        (0.0, agents(NOSE + 2.0, LANE_Y, 0.0, v=-3.0), False, "standing"),
        (5.0, agents(NOSE + 2.0, LANE_Y, 0.0), True, "front"),
        (5.0, agents(NOSE + 2.0, LANE_Y, 0.0, v=3.0), True, "front"),
        (5.0, agents(TAIL - 2.0, LANE_Y, 0.0, v=8.0), False, "rear"),
        (-1.0, agents(TAIL - 2.0, LANE_Y, 0.0), True, "front"),
        (-1.0, agents(NOSE + 2.0, LANE_Y, 0.0, v=-4.0), False, "rear"),
        (-1.0, agents(NOSE + 2.0, LANE_Y + 1.5, 0.0, v=-4.0), False, "rear"),
        (5.0, agents(101.4, LANE_Y + 1.6, 0.0, 2.5, v=6.0), False, "side"),
        (5.0, agents(101.0, LANE_Y + 1.6, 0.0, v=6.0), False, "side"),
        (5.0, agents(98.5, LANE_Y + 1.6, 0.0, v=6.0), False, "side"),
        (-1.0, agents(104.3, LANE_Y + 1.6, 0.0, v=-4.0), False, "side"),
        (5.0, agents(101.4, LANE_Y + 1.6, 0.0, 2.5), True, "side"),
    ],
)
def test_collisions_are_attributed(two_lanes: RoadMap, v: float, box: AgentBoxes, fault: bool, how: str) -> None:
    watch = Watch(two_lanes)
    watch.see(CAR, v, agents=box)
    record = watch.referee.infractions[0]
    assert (record.kind, record.at_fault) == ("collision", fault)
    assert record.detail.startswith(f"car 7, {how} contact")
    assert watch.referee.at_fault_collision is fault


def test_aside_it_is_at_fault_between_two_lanes(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    watch.see(Pose(100.0, -3.2, 0.0), 5.0, agents=agents(101.5, -5.0, 0.0, v=6.0))
    assert ("collision", True) in watch.kinds


def test_one_contact_is_one_record_until_it_is_over_for_a_while(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    touch = agents(NOSE + 2.0, LANE_Y, 0.0)
    for _ in range(40):
        watch.see(CAR, 5.0, agents=touch)
    for _ in range(10):
        watch.see(CAR, 5.0)
    watch.see(CAR, 5.0, agents=touch)
    assert len(watch.faults) == 1
    for _ in range(30):
        watch.see(CAR, 5.0)
    watch.see(CAR, 5.0, agents=touch)
    assert len(watch.faults) == 2


@pytest.mark.parametrize("seed", range(20))
def test_touching_agrees_with_shapely(seed: int) -> None:
    from shapely.affinity import rotate, translate
    from shapely.geometry import box as rectangle

    random = np.random.default_rng(seed)
    rows = np.column_stack(
        (random.uniform(-6, 6, (30, 2)), np.zeros(30), random.uniform(-4, 4, 30), random.uniform(0.5, 6, (30, 2)))
    )
    x, y, heading = (float(value) for value in random.uniform(-2, 2, 3))

    def shape(row: np.ndarray) -> object:
        half = rectangle(-row[4] / 2, -row[5] / 2, row[4] / 2, row[5] / 2)
        return translate(rotate(half, row[3], (0, 0), use_radians=True), row[0], row[1])

    own = shape(np.array((x, y, 0.0, heading, 4.6, 1.9)))
    expected = [i for i, row in enumerate(rows) if own.intersects(shape(row))]
    assert boxes_touched(x, y, 0.0, heading, 4.6, 1.9, rows).tolist() == expected
    assert len(boxes_touched(x, y, 5.0, heading, 4.6, 1.9, rows)) == 0


@pytest.mark.parametrize(("v", "obstacle", "expected"), [(2.0, True, 0), (8.0, True, 1), (2.0, False, 1)])
def test_leaving_the_road_counts_once_and_only_slowly_round_something_it_does_not(
    two_lanes: RoadMap, v: float, obstacle: bool, expected: int
) -> None:
    watch = Watch(two_lanes)
    given = {"agents": ACROSS} if obstacle else {}
    for _ in range(80):
        watch.see(CAR, 0.0, **given)
    for y in (LANE_Y, -5.0, -6.2, -6.6, -6.6, -6.6):
        watch.see(Pose(100.0, y, 0.0), v, **given)
    assert [kind for kind, _ in watch.kinds].count("off_road") == expected


def test_a_corner_just_over_the_edge_is_still_on_the_road(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    watch.see(Pose(100.0, -7.0 + 0.5 * Vehicle().width - 0.25, 0.0))
    assert "off_road" not in [kind for kind, _ in watch.kinds]


@pytest.mark.parametrize(
    ("y", "v", "obstacle", "expected"),
    [
        (-1.0, 5.0, False, 0),
        (-0.6, 5.0, False, 1),
        (-0.6, 5.0, True, 0),
        (-0.6, 12.0, True, 1),
        (-3.2, 5.0, False, 0),
    ],
)
def test_solid_lines_are_watched_and_broken_ones_are_not(
    two_lanes: RoadMap, y: float, v: float, obstacle: bool, expected: int
) -> None:
    watch = Watch(two_lanes)
    given = {"agents": agents(115.0, LANE_Y, 0.0)} if obstacle else {}
    for _ in range(80):
        watch.see(CAR, 0.0, **given)
    for _ in range(5):
        watch.see(Pose(100.0, y, 0.0), v, **given)
    assert [kind for kind, _ in watch.kinds].count("solid_line") == expected


@pytest.mark.parametrize(
    ("light", "expected"), [(Light.RED, 1), (Light.RED_YELLOW, 1), (Light.YELLOW, 0), (Light.GREEN, 0)]
)
@pytest.mark.clause("INT-2")
def test_passing_a_red_light_is_seen(lit: RoadMap, light: Light, expected: int) -> None:
    watch = Watch(lit)
    watch.drive(Pose(30.0, 1.75, math.pi), 8.0, 3.0, lights=dict.fromkeys(range(1, 5), light))
    assert [kind for kind, _ in watch.kinds].count("red_light") == expected


def test_a_light_that_turns_red_behind_the_bumper_is_no_matter(lit: RoadMap) -> None:
    watch, pose = Watch(lit), Pose(30.0, 1.75, math.pi)
    for _ in range(60):
        crossed = pose.x - Vehicle().front < 13.0
        pose = shifted(pose, 0.4)
        watch.see(pose, 8.0, lights=dict.fromkeys(range(1, 5), Light.RED if crossed else Light.GREEN))
    assert "red_light" not in [kind for kind, _ in watch.kinds]


@pytest.mark.parametrize(("then", "expected"), [(Light.GREEN, 0), (Light.RED, 1)])
@pytest.mark.clause("USE-3")
def test_a_car_that_stands_a_little_over_the_line_goes_on_by_the_light_that_it_then_has(
    lit: RoadMap, then: Light, expected: int
) -> None:
    watch = Watch(lit)
    at_line, red = Pose(13.0 + Vehicle().front, 1.75, math.pi), dict.fromkeys(range(1, 5), Light.RED)
    for ahead in (-0.1, 0.1):
        watch.see(shifted(at_line, ahead), 0.5, lights=red)
    watch.see(shifted(at_line, 0.1), 0.0, lights=red)
    lights = dict.fromkeys(range(1, 5), then)
    watch.see(shifted(at_line, 0.1), 0.0, lights=lights)
    for ahead in (0.2, 0.4, 0.6):
        watch.see(shifted(at_line, ahead), 0.5, lights=lights)
    assert [kind for kind, _ in watch.kinds].count("red_light") == expected


def test_the_lights_of_the_other_direction_do_not_hold(lit: RoadMap) -> None:
    watch = Watch(lit)
    watch.drive(Pose(0.0, -1.75, 0.0), 8.0, 4.0, lights={1: Light.RED})
    assert "red_light" not in [kind for kind, _ in watch.kinds]


@pytest.mark.parametrize(("stands", "expected"), [(True, 0), (False, 1)])
def test_stop_signs_want_a_stand(signed: RoadMap, stands: bool, expected: int) -> None:
    watch = Watch(signed)
    north = Pose(-1.75, 30.0, -0.5 * math.pi)
    way = 30.0 - 13.0 - Vehicle().front - 1.0
    watch.drive(north, 5.0, way / 5.0)
    line = shifted(north, way)
    if stands:
        watch.see(line, 0.0)
    watch.drive(line, 5.0, 2.0)
    assert [kind for kind, _ in watch.kinds].count("stop_sign") == expected


def test_discomfort_is_noted_without_blame(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    for frame in range(60):
        watch.see(CAR, 5.0, max(6.0 - 0.25 * frame, -6.0))
    watch.see(CAR, 10.0, yaw_rate=1.0)
    assert {kind for kind, _ in watch.kinds} == {"comfort"}
    assert not any(fault for _, fault in watch.kinds)
    assert {record.detail.rsplit(" ", 2)[0] for record in watch.referee.infractions} >= {
        "acceleration", "braking", "jerk", "lateral acceleration", "yaw rate"
    }  # fmt: skip


def test_speeding_and_the_wrong_way_count_when_they_last(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    for _ in range(15):
        watch.see(CAR, 20.0)
    assert watch.kinds == []
    for _ in range(20):
        watch.see(CAR, 20.0)
    assert watch.kinds == [("speeding", True)]
    assert watch.referee.measures.overspeed == pytest.approx(20.0 - 50.0 / 3.6, abs=0.01)
    watch = Watch(two_lanes)
    for v in np.arange(20.0, 12.0, -0.11):
        watch.see(CAR, float(v))
    assert "speeding" not in {kind for kind, _ in watch.kinds}, "a script may begin a run faster than is allowed"
    for _ in range(60):
        watch.see(CAR, 16.0)
    assert ("speeding", True) in watch.kinds
    watch = Watch(two_lanes)
    for _ in range(30):
        watch.see(Pose(100.0, LANE_Y, math.pi), 5.0)
    assert ("wrong_way", True) in watch.kinds
    assert watch.referee.measures.against_m == 5.0


@pytest.mark.parametrize(
    ("s", "seconds", "somebody", "counts"),
    ((60.0, 25, True, False), (60.0, 35, True, True), (60.0, 10, False, True), (210.0, 3, True, True)),
)
@pytest.mark.medium
def test_overtaking_beyond_a_broken_line_is_not_the_wrong_way(
    course: RoadMap, s: float, seconds: int, somebody: bool, counts: bool
) -> None:
    """On the north road the line is broken at first, and solid before the junction."""
    own = course.lanes[LaneId("5", 0, -1)].center.at(s)
    other_side = shifted(Pose(own.x, own.y, own.heading + 0.5 * math.pi), 3.5)._replace(heading=own.heading)
    ahead = shifted(own, 4.0)
    watch = Watch(course)
    for _ in range(20 * seconds):
        given = {"agents": agents(*ahead, v=0.9)} if somebody else {}
        watch.see(other_side, 1.0, **given)
    assert (("wrong_way", True) in watch.kinds) is counts


def test_one_that_is_outside_when_the_situation_is_over_is_at_fault(two_lanes: RoadMap) -> None:
    watch = Watch(two_lanes)
    outside, block = Pose(100.0, -6.6, 0.0), ACROSS
    for _ in range(80):
        watch.see(Pose(100.0, -5.2, 0.0), 0.0, agents=block)
    watch.see(outside, 2.0, agents=block)
    assert watch.kinds == []
    for _ in range(100):
        watch.see(outside, 2.0)
    assert watch.kinds == []
    for _ in range(100):
        watch.see(outside, 5.0)
    assert watch.kinds == [("off_road", True), ("solid_line", True)]


def test_what_the_planner_calls_its_state_is_not_asked() -> None:
    sources = Path(scoring.__file__).parent.glob("*.py")
    texts = {file.name: file.read_text(encoding="utf-8") for file in sources}
    assert len(texts) > 8
    assert [name for name, text in texts.items() if "behaviour" in text or "ego.state" in text] == []


def test_standing_without_a_visible_reason_is_being_blocked(two_lanes: RoadMap) -> None:
    cases: tuple[tuple[dict[str, Any], int], ...] = (
        ({}, 1),
        ({"held": True}, 0),
        ({"agents": agents(NOSE + 8.0, LANE_Y, 0.0)}, 0),
    )
    for given, expected in cases:
        watch = Watch(two_lanes, blocked=5.0)
        for _ in range(150):
            watch.see(CAR, 0.0, **given)
        assert watch.kinds == [("blocked", True)] * expected


def test_a_red_light_explains_the_stand(lit: RoadMap) -> None:
    watch = Watch(lit, blocked=5.0)
    pose = Pose(13.0 + Vehicle().front + 1.0, 1.75, math.pi)
    for _ in range(150):
        watch.see(pose, 0.0, lights=dict.fromkeys(range(1, 5), Light.RED))
    assert watch.kinds == []


def test_waiting_for_crossing_traffic_explains_the_stand(plain: RoadMap) -> None:
    pose = Pose(12.0 + Vehicle().front + 1.0, 1.75, math.pi)
    for crossing, expected in ((agents(0.0, -20.0, 0.5 * math.pi, v=5.0), 0), (agents(0.0, -20.0, 0.5 * math.pi), 1)):
        watch = Watch(plain, blocked=5.0)
        for _ in range(150):
            watch.see(pose, 0.0, agents=crossing)
        assert watch.kinds == [("blocked", True)] * expected


@pytest.mark.parametrize("bend", [0.2, -0.2, 0.05, 1e-4])
@pytest.mark.parametrize(("along", "left"), [(0.0, 1.0), (5.0, 0.0), (9.0, 2.0), (12.0, -3.0), (-2.0, 0.5)])
def test_a_place_is_as_far_along_an_arc_as_one_that_drives_on_it(bend: float, along: float, left: float) -> None:
    turned = bend * along
    ahead, aside = math.sin(turned) / bend, (1.0 - math.cos(turned)) / bend
    place = ahead - left * math.sin(turned), aside + left * math.cos(turned)
    assert _on_arc(*place, bend) == pytest.approx((along, left), abs=0.01)

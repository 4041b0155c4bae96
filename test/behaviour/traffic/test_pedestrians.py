from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from crossroads import HALF_M, crossroads
from scenes import row, walker
from shapely.affinity import rotate, translate
from shapely.geometry import Polygon, box
from traffic_drive import Drive, route_between

from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.behaviour.traffic.pedestrians import among_released, told_of_person
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, Hold, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Ego, Obstacles, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind

NORTH = 0.5 * math.pi
SOUTH_IN, NORTH_OUT = Pose(1.75, -110.0, NORTH), Pose(1.75, 110.0, NORTH)
CROSSWALK_S = 110.0 - HALF_M - 6.0
"""Where the crosswalk of the south arm begins, along the route from south to north; it is 3 m wide."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), crosswalks="S")


def approach(town: RoadMap, gap: float, v: float = 6.0) -> Drive:
    """The car with its front bumper `gap` before the crosswalk."""
    drive = Drive(town, route_between(town, SOUTH_IN, NORTH_OUT), v=v)
    drive.put_front(CROSSWALK_S - gap)
    return drive


def on_crosswalk(x: float, vx: float = 0.0) -> tuple[float, ...]:
    return walker(5, x, -110.0 + CROSSWALK_S + 1.5, vx)


@pytest.mark.clause("INT-3")
@pytest.mark.parametrize(
    ("x", "vx", "waits"),
    [
        (1.75, 0.0, True),
        (1.0, 1.2, True),
        (-1.75, 0.0, True),
        (-1.75, 1.2, True),
        (-1.75, -1.2, False),
        (4.6, 0.0, False),
        (4.6, -1.2, True),
        (4.6, 1.2, False),
        (7.0, 0.0, False),
        (7.0, -1.2, False),
        (-4.6, 1.2, True),
        (-4.6, 0.0, False),
    ],
)
def test_one_that_is_on_the_lane_or_the_next_one_or_steps_on_the_crosswalk_is_stopped_for(
    town: RoadMap, x: float, vx: float, waits: bool
) -> None:
    drive = approach(town, 15.0)
    drive.objects = [on_crosswalk(x, vx)]
    drive.tick()
    walls = drive.walls(Reason.PEDESTRIAN)
    assert bool(walls) is waits
    if waits:
        assert drive.wall_s(walls[0]) == pytest.approx(CROSSWALK_S - 1.0, abs=0.1)
        assert walls[0].blocker == 5


@pytest.mark.clause("INT-3")
def test_one_that_comes_late_enough_for_the_car_to_be_gone_is_not_waited_for(town: RoadMap) -> None:
    for gap, waits in ((30.0, True), (3.0, False)):
        drive = approach(town, gap, 8.0)
        drive.objects = [on_crosswalk(-4.8, 0.8)]
        assert bool([w for w in drive.tick().walls if w.reason is Reason.PEDESTRIAN]) is waits


@pytest.mark.clause("INT-3")
def test_on_the_open_road_the_car_stops_a_gap_before_the_person_on_its_lane_only(town: RoadMap) -> None:
    far_s = 60.0
    for x, vx, waits in (
        (1.75, 0.0, True),
        (3.0, 1.0, True),
        (-1.75, 0.0, False),
        (-1.0, 1.0, True),
        (4.6, -1.0, False),
    ):
        drive = Drive(town, route_between(town, SOUTH_IN, NORTH_OUT), v=6.0)
        drive.put_front(far_s - 25.0)
        drive.objects = [walker(5, x, -110.0 + far_s, vx)]
        drive.tick()
        walls = drive.walls(Reason.PEDESTRIAN)
        assert bool(walls) is waits, (x, vx)
        if waits:
            assert drive.wall_s(walls[0]) == pytest.approx(far_s - 2.4, abs=0.1)


def test_beside_or_behind_the_bumper_nobody_is_stopped_for(town: RoadMap) -> None:
    drive = approach(town, -4.0, 2.0)
    drive.objects = [on_crosswalk(-1.0)]
    assert not drive.tick().walls
    drive = approach(town, -0.9, 1.0)
    drive.objects = [on_crosswalk(1.0)]
    (wall,) = [w for w in drive.tick().walls if w.reason is Reason.PEDESTRIAN]
    assert drive.front < drive.wall_s(wall) < drive.front + 0.2, "at once, as it is right ahead"


def test_an_animal_counts_and_a_cone_does_not(town: RoadMap) -> None:
    for kind, waits in ((Kind.ANIMAL, True), (Kind.CONE, False)):
        drive = approach(town, 15.0)
        drive.objects = [row(5, 1.75, -110.0 + CROSSWALK_S, kind=kind, length=0.8, width=0.4)]
        drive.tick()
        assert bool(drive.walls(Reason.PEDESTRIAN)) is waits


@pytest.mark.clause("USE-5")
def test_when_both_have_stood_for_long_the_car_creeps_on_and_yields_again_when_it_moves(town: RoadMap) -> None:
    drive = approach(town, 1.2, 0.0)
    drive.objects = [on_crosswalk(-1.0)]
    drive.tick(4.8)
    assert drive.walls(Reason.PEDESTRIAN) and drive.rules.speed_limit > 1.0
    drive.tick(0.4)
    assert not drive.walls(Reason.PEDESTRIAN)
    assert drive.rules.speed_limit == drive.parameters.pedestrian.creep_speed
    drive.v = 0.8
    drive.s += 0.3
    assert not drive.tick(0.2).walls, "still past it, though the car no longer stands"
    drive.objects = [on_crosswalk(-0.9, 0.8)]
    drive.tick()
    assert drive.walls(Reason.PEDESTRIAN)
    drive.objects = [on_crosswalk(-0.9)]
    drive.v = 0.0
    drive.tick(3.0)
    assert drive.walls(Reason.PEDESTRIAN), "the wait begins anew"


@pytest.mark.clause("NOR-7", "USE-5")
def test_no_path_past_one_that_is_waited_for_is_a_stop_for_a_pedestrian() -> None:
    follow, at = FollowLanes((), (), 8.0, creeps_up=True), Limit(Reason.OBSTACLE, 0.8, "object 5", 5)
    stands = PlanResult(False, None, at, Reason.OBSTACLE)
    told = told_of_person(stands, follow, {5})
    assert (told.limit, told.feasible) == (Limit(Reason.PEDESTRIAN, 0.8, "object 5 stands", 5), False)
    assert PlanOutcome.of(stands).failed and not PlanOutcome.of(told).failed
    creeps = PlanResult(False, None, Limit(Reason.SPEED_LIMIT), Reason.OBSTACLE)
    assert told_of_person(creeps, follow, {5}).feasible
    for request, waited_for in ((follow, {6}), (replace(follow, creeps_up=False), {5}), (Hold(Reason.NONE), {5})):
        assert told_of_person(stands, request, waited_for) is stands


@pytest.mark.clause("USE-13")
def test_a_crosswalk_hidden_by_what_stands_beside_the_lane_is_approached_slowly(town: RoadMap) -> None:
    drive = approach(town, 25.0, 8.0)
    speeds = {zone.speed for zone in drive.tick().zones}
    drive.objects = [row(9, 5.0, -110.0 + CROSSWALK_S - 4.0, NORTH)]
    (zone,) = (zone for zone in drive.tick().zones if zone.speed not in speeds)
    assert zone.speed**2 / (2.0 * drive.vehicle.emergency_decel) < 1.0
    assert zone.s_from + drive.vehicle.front <= CROSSWALK_S - 0.5


def test_a_person_who_crosses_delays_the_car_and_no_more(town: RoadMap) -> None:
    drive, x = approach(town, 25.0, 6.0), 5.0
    seen_wall = False
    for _ in range(20 * 20):
        x -= 1.2 * 0.05
        drive.objects = [on_crosswalk(x, -1.2)]
        drive.drive(0.05)
        seen_wall = seen_wall or bool(drive.walls(Reason.PEDESTRIAN))
        if abs(x - 1.75) < 1.75 + 0.3:
            assert drive.front < CROSSWALK_S
    assert seen_wall and drive.front > CROSSWALK_S + 20.0


@pytest.mark.clause("USE-5")
@pytest.mark.parametrize(("ahead", "kept"), [(5.0, 0.6), (0.8, 0.245), (0.3, 0.0)])
def test_those_that_are_crept_past_stand_and_are_kept_clear_of(ahead: float, kept: float) -> None:
    """By the gap to people, or by a little less than there is."""
    car = Vehicle()
    boxes = [(car.front + ahead, 0.0, 0.0, 0.5, 0.5), (20.0, 3.0, 0.0, 0.5, 0.5)]
    people = replace(Obstacles.straight_on(boxes, kind=Kind.PEDESTRIAN), moving=np.ones(2, np.bool_))
    before = Scene(0.0, Ego(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0), people)
    after = among_released(before, (0,), car, 0.6).obstacles
    assert after.moving.tolist() == [False, True]
    assert after.length.tolist() == pytest.approx([0.5 + 2.0 * kept, 0.5], abs=0.01)
    assert after.width.tolist() == pytest.approx([0.5 + 2.0 * kept, 0.5], abs=0.01)
    assert among_released(before, (), car, 0.6) is before


@pytest.mark.clause("USE-5")
@pytest.mark.parametrize("turned", np.linspace(0.0, 1.5, 7))
def test_the_car_is_never_inside_what_is_kept_clear_of(turned: float) -> None:
    draw, car = np.random.default_rng(3), Vehicle()
    body = box(-car.rear_overhang, -0.5 * car.width, car.front, 0.5 * car.width)
    for x, y in draw.uniform((car.front, -2.5), (car.front + 2.5, 2.5), (60, 2)):
        now = Scene(0.0, Ego(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0), person := person_at(x, y, turned))
        kept = among_released(now, (0,), car, 0.6).obstacles
        if body.distance(outline(person)) > 0.15:
            assert body.distance(outline(kept)) > 0.0


def person_at(x: float, y: float, heading: float) -> Obstacles:
    return Obstacles.straight_on([(x, y, heading, 0.6, 0.4)], kind=Kind.PEDESTRIAN)


def outline(one: Obstacles) -> Polygon:
    half, wide = 0.5 * float(one.length[0]), 0.5 * float(one.width[0])
    turned = rotate(box(-half, -wide, half, wide), float(one.heading[0, 0]), origin=(0, 0), use_radians=True)
    return translate(turned, float(one.x[0, 0]), float(one.y[0, 0]))


@pytest.mark.clause("USE-5", "SAF-3")
def test_a_car_with_the_id_of_one_that_is_crept_past_moves_as_before() -> None:
    people = Obstacles.straight_on([(8.0, 0.0, 0.0, 0.5, 0.5)], kind=Kind.PEDESTRIAN)
    around = Obstacles.straight_on([(8.0, 0.0, 0.0, 0.5, 0.5), (20.0, 3.0, 0.0, 4.5, 1.9)], [0.0, 10.0], [2, 1])
    around = replace(around, id=np.zeros(2, np.uint32), kind=np.array([people.kind[0], Kind.CAR], np.uint8))
    after = among_released(Scene(0.0, Ego(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0), around), (0,), Vehicle(), 0.6).obstacles
    assert after.moving[1] and after.length[1] == 4.5 and after.length[0] > 0.5

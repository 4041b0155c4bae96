"""Everything that a scenario does to the world around the car, as the planner is told of it."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.bodies import PlacedObjects
from tuling_fsm.sim.scenario.choices import ActorKind, Material, PerceivedAs
from tuling_fsm.sim.scenario.commands import CloseRoad, OccupyAllBut, OccupySpaces, OpenRoad, VacateSpaces
from tuling_fsm.sim.scenario.placements import OnLane
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Inputs, Kind, Light, RouteRequest, Source

from .effects import AVENUE, CROSSING, LANE, LOT, rows, run, world


def test_a_lane_is_closed_and_opened_again(two_lanes: RoadMap) -> None:
    place = "map.create_odr_point('1', '-1', 60m)"
    sim = world(two_lanes, LANE, f"works.close_lane({place}, duration: 1s)")
    closed = rows(run(sim, 0.1).objects)
    assert set(closed["kind"].tolist()) == {Kind.BARRIER}
    assert closed["x"] == pytest.approx(60.0)
    assert sorted(closed["y"].tolist()) == pytest.approx([-2.625, -0.875])
    gaps = closed["y"].max() + closed["width"][0] / 2.0, closed["y"].min() - closed["width"][0] / 2.0
    assert gaps[0] > -0.5 and gaps[1] < -3.0
    assert len(rows(run(sim, 1.1).objects)) == 0


@pytest.mark.clause("OSC-1")
def test_road_works_of_any_name_take_no_parked_car_along_when_they_open(course: RoadMap) -> None:
    placed, slots = PlacedObjects(course), [slot.id for slot in course.slots][:2]
    placed.apply(OccupySpaces(tuple(slots)))
    close = CloseRoad("space", OnLane("1", -1, 60.0), None, Material.BARRIER, PerceivedAs.OBJECTS)
    placed.apply(close, Pose(*course.lanes[LaneId("1", 0, -1)].center.at(60.0)), 0.0)
    car, piece = ActorKind.VEHICLE, ActorKind.BARRIER
    assert [body.kind for body in placed.bodies.values()] == [car, car, piece, piece]
    placed.apply(VacateSpaces((slots[1],)))
    placed.apply(OpenRoad("space"))
    assert [body.kind for body in placed.bodies.values()] == [car]
    assert placed.closed_lanes == frozenset()


def test_a_whole_road_is_closed_with_cones(course: RoadMap) -> None:
    sim = world(course, LOT, "works.close_road(map.create_odr_point('1', '-1', 60m), material: cone)")
    run(sim, 0.05)
    others = sim.scripted.placed_objects.bodies.values()
    across = sorted(body.pose.y for body in others if body.pose is not None)
    assert across[0] < -6.0 and across[-1] > 6.0
    assert max(b - a for a, b in itertools.pairwise(across)) <= 1.0


@pytest.mark.clause("TM-2")
def test_a_road_is_closed_to_the_traffic_too_as_long_as_it_is(course: RoadMap) -> None:
    sim = world(course, LOT, "works.close_road(map.create_odr_point('2', '-1', 60m), duration: 1s)")
    run(sim, 0.5)
    lanes = {lane for lane in course.lanes if lane.road == "2"} & set(course.driving_lanes())
    rows_of_lanes = [course.driving_lanes().index(lane) for lane in sorted(lanes)]
    endless = sim.traffic.graph.lane["endless"]
    assert not endless[rows_of_lanes].any()
    run(sim, 1.0)
    assert endless[rows_of_lanes].all()


def test_a_row_of_repeated_parking_spaces_is_filled_but_for_those_named(tmp_path: Path) -> None:
    repeat = '<repeat s="20" length="10" distance="2.5" tStart="-7" tEnd="-7"/>'
    row = f'<object id="12" type="parkingSpace" s="0" t="0" length="2.4" width="5">{repeat}</object>'
    lanes = [xodr.lane(1), xodr.lane(-1)]
    placed = PlacedObjects(xodr.read(tmp_path, xodr.road([xodr.section(lanes)], inside=f"<objects>{row}</objects>")))
    placed.apply(OccupyAllBut("1", ("12#3",)))
    assert placed.boxes.rows[:, 0] == pytest.approx([20.0, 22.5, 27.5, 30.0])


@pytest.mark.parametrize(("seen_as", "in_table"), [("occupancy", False), ("both", True)])
def test_a_block_is_seen_in_the_occupancy_grid_while_it_is_there(
    two_lanes: RoadMap, seen_as: str, in_table: bool
) -> None:
    place = "map.create_odr_point('1', '-1', 40m)"
    sim = world(two_lanes, LANE, "wait elapsed(0.1s)", f"works.close_lane({place}, seen_as: {seen_as}, duration: 1s)")
    assert sim.inputs().occupancy is None
    inputs = run(sim, 0.5)
    grid = inputs.occupancy
    assert grid is not None
    assert (len(rows(inputs.objects)) > 0) is in_table
    low, left = np.argwhere(grid.cells > 50).min(axis=0), np.argwhere(grid.cells > 50).max(axis=0)
    x = grid.origin.x + (np.array((low[1], left[1])) + 0.5) * grid.resolution
    y = grid.origin.y + (np.array((low[0], left[0])) + 0.5) * grid.resolution
    assert x == pytest.approx([39.75, 40.25], abs=0.26)
    assert y == pytest.approx([-3.4, -0.1], abs=0.3)
    after = run(sim, 1.0).occupancy
    assert after is not None and not after.cells.any()


@pytest.mark.clause("RFG-1")
def test_in_rain_and_fog_only_the_radar_and_what_was_known_before_is_left(two_lanes: RoadMap) -> None:
    cones = "works.close_lane(map.create_odr_point('1', '-1', 60m), material: {})"
    clear = rows(run(world(two_lanes, LANE, cones.format("cone")), 0.1).objects)
    assert set(clear["source"].tolist()) == {Source.LIDAR | Source.CAMERA}
    for weather in ("rain(8mmph, duration: 1s)", "fog(60m, duration: 1s)"):
        sim = world(two_lanes, LANE, f"weather.{weather}", cones.format("cone"))
        during = run(sim, 0.5)
        assert during.rain_fog is not None and during.rain_fog.value
        after = run(sim, 1.0)
        assert after.rain_fog is not None and not after.rain_fog.value
        assert len(rows(after.objects)) > 0
    wet = "parallel:\n                weather.rain(8mmph)\n                " + cones
    assert len(rows(run(world(two_lanes, LANE, wet.format("cone")), 0.1).objects)) == 0
    barriers = rows(run(world(two_lanes, LANE, wet.format("barrier")), 0.1).objects)
    assert set(barriers["source"].tolist()) == {Source.RADAR}
    remembered = world(two_lanes, LANE, cones.format("cone"), "wait elapsed(0.2s)", "weather.rain(8mmph)")
    known = rows(run(remembered, 0.5).objects)
    assert set(known["source"].tolist()) == {Source.HISTORY_MAP}


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize(("setting", "table", "fog"), [(AVENUE, "traffic_lights", 140), (LOT, "parking_slots", 10)])
def test_lights_and_spaces_are_seen_in_rain_and_in_fog_within_its_visual_range(
    course: RoadMap, setting: str, table: str, fog: int
) -> None:
    def seen(*weather: str) -> int:
        return len(rows(getattr(run(world(course, setting, *weather), 0.1), table)))

    assert seen("weather.rain(8mmph)") == seen() > 0
    assert seen("weather.fog(2km)") == seen()
    assert 0 < seen(f"weather.fog({fog}m)") < seen()
    assert seen("weather.fog(1m)") == 0


def test_a_stationary_object_may_be_a_cone(two_lanes: RoadMap) -> None:
    sim = world(two_lanes, LANE, "thing.assign_position(map.create_odr_point('1', '-2', 50m))")
    assert rows(run(sim, 0.1).objects)["kind"].tolist() == [Kind.CONE]


def test_parking_spaces_are_taken_and_freed(course: RoadMap) -> None:
    sim = world(
        course, LOT, "lot.occupy_all_but(road_id: 8, free: [303, 304])", "wait elapsed(0.5s)", "lot.occupy([303])",
        "wait elapsed(0.5s)", "lot.vacate([302])",
    )  # fmt: skip
    numbers = {slot.number: slot.id for slot in course.slots}

    def free(inputs: Inputs) -> set[str]:
        table = rows(inputs.parking_slots)
        return {numbers[int(row["slot"])] for row in table if not row["occupied"]} & {"301", "302", "303", "304", "305"}

    assert free(world(course, LOT).inputs()) >= {"302", "303"}
    assert free(sim.inputs()) == {"303", "304"}
    assert free(run(sim, 0.2)) == {"303", "304"}
    assert free(run(sim, 0.5)) == {"304"}
    assert free(run(sim, 0.5)) == {"302", "304"}


@pytest.mark.parametrize(
    ("call", "name"), [("clear", "clear_emergency_stop"), ("reset", "reset"), ("skip_task", "skip_task")]
)
def test_a_call_of_the_operator_is_there_on_one_frame(two_lanes: RoadMap, call: str, name: str) -> None:
    sim = world(two_lanes, LANE, "wait elapsed(0.2s)", f"operator.{call}()")
    seen = []
    for _ in range(12):
        sim.advance(None)
        seen.append(getattr(sim.inputs(), name))
    assert seen.count(True) == 1


def test_lights_are_dark_held_unknown_or_not_heard_of(lit: RoadMap) -> None:
    sim = world(
        lit, CROSSING, "lights.set_all(dark, duration: 0.5s)", "lights.set_all(unknown)", "wait elapsed(0.5s)",
        "lights.release_all()", "lights.fall_silent(duration: 0.5s)",
    )  # fmt: skip
    states = [set(rows(run(sim, seconds).traffic_lights)["state"].tolist()) for seconds in (0.3, 0.5)]
    assert states == [{Light.DARK}, {Light.UNKNOWN}]
    silent = run(sim, 0.5).traffic_lights
    assert silent is not None and silent.stamp < sim.stamp - 0.1
    heard = run(sim, 0.5).traffic_lights
    assert heard is not None and heard.stamp == sim.stamp
    assert set(heard.rows["state"].tolist()) <= {Light.RED, Light.YELLOW, Light.GREEN}


def ask(sim: Simulation) -> RouteRequest:
    assert sim.preset is not None
    return RouteRequest(7, "refresh", sim.ego.pose, Pose(*sim.preset.poses()[-1].tolist()))


@pytest.mark.parametrize(
    ("effect", "answered_after", "points"),
    [("go_away()", None, False), ("refuse()", 0.15, False), ("slow_down(2s)", 2.15, True), ("come_back()", 0.15, True)],
)
def test_the_route_server_is_away_refuses_or_is_slow(
    plain: RoadMap, effect: str, answered_after: float | None, points: bool
) -> None:
    sim = world(plain, CROSSING, f"server.{effect}")
    run(sim, 0.1)
    sim.request_route(ask(sim))
    asked, answers = sim.stamp, []
    for _ in range(80):
        sim.advance(None)
        answers += [(sim.stamp - asked, len(answer.points) > 0) for answer in sim.inputs().route_answers]
    assert answers == ([] if answered_after is None else [(pytest.approx(answered_after), points)])


@pytest.mark.clause("RRF-2")
def test_the_route_server_answers_with_a_route_the_other_way(course: RoadMap) -> None:
    sim = world(course, AVENUE, "server.answer_opposite(duration: 1s)")
    run(sim, 0.1)
    before = sim.route
    headings = []
    for _ in range(2):
        sim.request_route(ask(sim))
        for _ in range(30):
            sim.advance(None)
            headings += [answer.points[0, 2] for answer in sim.inputs().route_answers]
    opposite, usual = headings
    assert math.cos(opposite - sim.ego.pose.heading) < -0.9
    assert math.cos(usual - sim.ego.pose.heading) > 0.9
    assert sim.route is before


STARTS = {
    "beside the road": "map.create_xyz_point(x: 60m, y: -22m)",
    "in a parking space": "map.parking_space(305, backed_in: true)",
    "on the wrong side": "map.create_odr_point(1, 1, 60m)",
    "in a dead end": "map.create_odr_point(12, -1, 83m)",
}


@pytest.mark.parametrize("where", STARTS)
def test_the_car_may_start_anywhere(course: RoadMap, where: str) -> None:
    kind = {"m": "xyz_point", "p": "parking_space", "o": "odr_point"}
    text = STARTS[where]
    name = kind["p"] if "parking_space" in text else kind["o"] if "odr" in text else kind["m"]
    places = f"    start: {name} = {text}\n    goal: odr_point = map.create_odr_point(3, -1, 40m)\n"
    sim = world(course, places)
    assert sim.preset is not None and sim.preset.length > 50.0
    if where == "in a parking space":
        slot = next(slot for slot in course.slots if slot.id == "305")
        vehicle = Vehicle()
        corners = vehicle.footprint(sim.ego.pose)
        assert corners.mean(axis=0) == pytest.approx(slot.pose[:2], abs=0.01)


def test_the_car_may_stand_across_the_lane(two_lanes: RoadMap) -> None:
    across = LANE.replace("0deg", "90deg")
    sim = world(two_lanes, across)
    assert sim.ego.pose.heading == pytest.approx(0.5 * math.pi)
    assert sim.preset is not None and sim.preset.length > 200.0

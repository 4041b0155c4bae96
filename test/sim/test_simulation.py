"""Whole runs: inputs, routes, ends, result."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.sim.reporting.result import result_of
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog, TransitionRow
from tuling_fsm.sim.scenario.choices import ActorKind, ServerBehaviour
from tuling_fsm.sim.scenario.commands import EndRun, SetAllLights, SetRouteServer
from tuling_fsm.sim.scenario.conditions import Elapsed
from tuling_fsm.sim.scenario.model import (
    Action,
    Population,
    RandomRoute,
    RouteTo,
    ScenarioActor,
    ScriptedRoute,
    Serial,
    Wait,
)
from tuling_fsm.sim.scenario.placements import Anywhere, AtPose, OnLane
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import FAR_TABLES, LANE_LINES, OBJECTS, Light, RouteRequest, Source

from .plans import LaneDriver
from .scenes import simulation


def stop_s(sim: Simulation) -> dict[int, float]:
    """Where on the route the lights' stop lines are."""
    assert sim.preset is not None
    return {
        line.signal: stretch.s_from + line.s - stretch.lane_from
        for stretch in sim.preset.lanes
        for line in sim.road_map.stop_lines_of(stretch.lane)
        if line.kind == "light"
    }


def drive(sim: Simulation, frames: int = 100_000) -> None:
    assert sim.preset is not None
    driver = LaneDriver(sim.preset, stop_s(sim))
    while not sim.finished and sim.frame < frames:
        sim.advance(driver(sim.inputs()), "on_road/normal")


@pytest.mark.slow
def test_a_route_is_driven_to_the_goal_among_traffic(lit: RoadMap) -> None:
    sim = simulation(lit, 2, population=Population(8))
    drive(sim)
    assert sim.end == "goal"
    assert sim.route_completion == 1.0
    assert not any(record.at_fault for record in sim.infractions), sim.infractions
    assert sim.preset is not None
    assert sim.distance_m == pytest.approx(sim.preset.length, abs=6.0)


@pytest.mark.clause("SIM-2")
@pytest.mark.medium
def test_velocities_that_are_seen_are_those_of_the_middles_also_in_turns(lit: RoadMap) -> None:
    sim = simulation(lit, 2, population=Population(12))
    assert sim.preset is not None
    driver, before, turning = LaneDriver(sim.preset, stop_s(sim)), {}, 0
    for _ in range(900):
        inputs = sim.inputs()
        assert inputs.objects is not None
        for row in inputs.objects.rows:
            now, number = np.array((row["x"], row["y"], row["vx"], row["vy"]), float), int(row["id"])
            speed = math.hypot(now[2], now[3])
            last = before.get(number)
            before[number] = now
            far = math.hypot(row["x"] - sim.ego.pose.x, row["y"] - sim.ego.pose.y) > 40.0
            if last is None or speed < 1.0 or far:
                continue
            moved = (now[:2] - last[:2]) / sim.dt
            assert moved == pytest.approx(0.5 * (now[2:] + last[2:]), abs=0.06 + 0.02 * speed)
            course = math.atan2(moved[1], moved[0])
            turning += abs(math.remainder(course - float(row["heading"]), 2.0 * math.pi)) > 0.1
        sim.advance(driver(inputs), "on_road/normal")
    assert turning > 100


def test_tables_have_the_columns_of_the_wire(plain: RoadMap) -> None:
    sim = simulation(plain, population=Population(6))
    sim.advance(None)
    inputs = sim.inputs()
    assert inputs.objects is not None and inputs.lane_lines is not None and inputs.odometry is not None
    assert inputs.objects.rows.dtype == OBJECTS
    assert inputs.lane_lines.rows.dtype == LANE_LINES
    assert inputs.occupancy is None
    ids = inputs.objects.rows["id"].tolist()
    assert ids == sorted(set(ids))
    for row in inputs.objects.rows:
        assert row["source"] == Source.LIDAR | Source.RADAR | Source.CAMERA
        assert math.dist((row["x"], row["y"]), inputs.odometry.pose[:2]) < 120.0


@pytest.mark.clause("SAF-2")
def test_in_coordinates_of_a_survey_things_are_told_where_they_are(
    utm_course: tuple[Path, tuple[float, float]],
) -> None:
    """Single precision is in steps of half a metre there: the car drove into a barrier that was told beside it."""
    far = read_map(utm_course[0])
    slot = far.slots[0]
    x, y = slot.pose.x + 1.23, slot.pose.y + 4.56
    block = ScenarioActor("block", ActorKind.BARRIER, 2.0, 2.0, AtPose(x, y, 0.0))
    inputs = simulation(far, ego=AtPose(*slot.pose), actors=(block,)).inputs()
    assert inputs.objects is not None and inputs.parking_slots is not None
    objects, slots = inputs.objects.rows, inputs.parking_slots.rows
    assert objects.dtype == FAR_TABLES["objects"] and slots.dtype == FAR_TABLES["parking_slots"]
    assert (objects["x"].tolist(), objects["y"].tolist()) == ([x], [y])
    assert (slot.pose.x, slot.pose.y) in zip(slots["x"].tolist(), slots["y"].tolist(), strict=True)


def test_lane_lines_are_seen_from_the_car(two_lanes: RoadMap) -> None:
    sim = simulation(two_lanes, ego=AtPose(50.0, -1.25, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)))
    lines = sim.inputs().lane_lines
    assert lines is not None
    left, right = (lines.rows[lines.rows["line"] == number] for number in (0, 1))
    assert left["y"] == pytest.approx(1.25, abs=1e-3)
    assert right["y"] == pytest.approx(-2.25, abs=1e-3)
    assert (left["kind"][0], right["kind"][0]) == (1, 2)
    assert 29.0 < left["x"].max() <= 32.0


def test_parking_spaces_are_seen_with_what_stands_in_them(shared_data: Path) -> None:
    road_map = read_map(shared_data / "maps" / "esmini_parking_demo.xodr")
    slot = road_map.slots[3]
    x, y, heading = slot.pose
    parked = ScenarioActor(
        "npc", ActorKind.VEHICLE, 4.5, 1.8, AtPose(x - 1.35 * math.cos(heading), y - 1.35 * math.sin(heading), heading)
    )
    lane = road_map.project(x, y, radius=12.0)
    assert lane is not None
    near = road_map.lanes[lane.lane].center.at(lane.s)
    sim = simulation(road_map, ego=AtPose(*near), route=RandomRoute(30.0), actors=(parked,))
    table = sim.inputs().parking_slots
    assert table is not None
    taken = {int(row["slot"]) for row in table.rows if row["occupied"]}
    assert slot.number in taken
    assert len(taken) < len(table.rows)


def test_an_answer_of_the_route_server_comes_some_frames_later_and_once(plain: RoadMap) -> None:
    sim = simulation(plain)
    assert sim.preset is not None
    end = Pose(*sim.preset.poses()[-1].tolist())
    sim.request_route(RouteRequest(5, "initial", sim.ego.pose, end))
    arrivals = []
    for _ in range(10):
        sim.advance(None)
        arrivals += [(sim.frame, answer) for answer in sim.inputs().route_answers]
    ((frame, answer),) = arrivals
    assert frame == sim.settings.sensors.route_latency
    assert (answer.request, answer.stamp) == (5, pytest.approx(0.15))
    assert answer.points[-1] == pytest.approx(sim.preset.poses()[-1])


@pytest.mark.parametrize(
    ("delays", "judged"),
    [((0.0, 1.0), [(0.05, None), (0.15, 0), (1.15, 1)]), ((1.0, 0.0), [(0.05, None), (0.15, 1)])],
    ids=["a late answer", "one that a later request has overtaken"],
)
def test_a_mission_is_judged_by_a_new_route_from_when_its_answer_comes(
    plain: RoadMap,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    delays: tuple[float, float],
    judged: list[tuple[float, int | None]],
) -> None:
    file = tmp_path / "mission.json"
    file.write_text(json.dumps({"car_park": {"x": 1.0, "y": 2.0}}))
    sim = simulation(plain, ego=AtPose(60.0, 1.75, math.pi), route=None, mission_file=str(file))
    goals = (Pose(-60.0, 1.75, math.pi), Pose(1.75, 60.0, 0.5 * math.pi))
    ways = [plan_route(plain, sim.ego.pose, goal).route for goal in goals]
    lanes = {number: frozenset(each.lane for each in way.lanes) for number, way in enumerate(ways) if way is not None}
    changes: list[tuple[float, frozenset[LaneId]]] = []
    watch = sim.referee.watch

    def noting(**frame: Any) -> None:
        if not changes or frame["route_lanes"] != changes[-1][1]:
            changes.append((frame["stamp"], frame["route_lanes"]))
        watch(**frame)

    monkeypatch.setattr(sim.referee, "watch", noting)
    for number, (goal, delay) in enumerate(zip(goals, delays, strict=True)):
        sim.inject(SetRouteServer(ServerBehaviour.WELL, delay))
        sim.request_route(RouteRequest(number, "next", sim.ego.pose, goal))
    for _ in range(30):
        sim.advance(None)
    assert changes == [(stamp, frozenset() if way is None else lanes[way]) for stamp, way in judged]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_mission_is_the_routes_end_or_the_file(plain: RoadMap, tmp_path: Path, encoding: str) -> None:
    sim = simulation(plain)
    assert sim.preset is not None
    mission = sim.inputs().mission
    assert mission is not None
    assert list(mission["goal"].values()) == pytest.approx(sim.preset.poses()[-1].tolist())
    file = tmp_path / "mission.json"
    file.write_text(json.dumps({"car_park": {"x": 1.0, "y": 2.0}}), encoding=encoding)
    sim = simulation(plain, ego=OnLane("1", 1, 60.0), route=None, mission_file=str(file))
    assert sim.inputs().mission == {"car_park": {"x": 1.0, "y": 2.0}}
    assert sim.preset is None
    with pytest.raises(InputError, match="neither a route nor a mission"):
        simulation(plain, ego=OnLane("1", 1, 60.0), route=None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "JSON of type list"),
        ("{", "no JSON"),
        ('{"tasks": [], "note": "\\ud83d"}', r"no JSON: \ud83d is half a surrogate pair"),
        ("[" * 100_000, "no JSON"),
        ('{"tasks": [{"pickup": {"x": 1, "y": 2}}]}', "mission.tasks[0].dropoff: missing"),
        ('{"match_time_s": "soon"}', "mission.match_time_s: 'soon' is no finite number"),
    ],
)
def test_a_file_that_is_no_mission_is_refused(text: str, said: str, plain: RoadMap, tmp_path: Path) -> None:
    file = tmp_path / "mission.json"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        simulation(plain, ego=OnLane("1", 1, 60.0), route=None, mission_file=str(file))
    assert str(refused.value).startswith(f"{file}: {said}")


def test_the_time_limit_ends_a_run_that_gets_nowhere(plain: RoadMap) -> None:
    sim = simulation(plain, max_duration_s=1.0)
    while not sim.finished:
        sim.advance(None)
    assert (sim.end, sim.stamp) == ("time", 1.0)
    assert sim.route_completion < 0.1


def test_only_a_collision_at_fault_ends_the_run(two_lanes: RoadMap) -> None:
    block = ScenarioActor("block", ActorKind.BARRIER, 2.0, 2.0, AtPose(60.0, -1.75, 0.0))
    sim = simulation(
        two_lanes,
        ego=AtPose(40.0, -1.75, 0.0),
        ego_speed=5.0,
        route=RouteTo(AtPose(300.0, -1.75, 0.0)),
        actors=(block,),
    )
    assert sim.preset is not None
    route = sim.preset
    blind = LaneDriver(route)
    while not sim.finished:
        inputs = sim.inputs()
        objects = inputs.objects
        assert objects is not None
        sim.advance(blind(type(inputs)(**(vars(inputs) | {"objects": type(objects)(objects.stamp, objects.rows[:0])}))))
    assert sim.end == "collision"
    assert ("collision", True) in [(record.kind, record.at_fault) for record in sim.infractions]


@pytest.mark.clause("RPL-2")
def test_the_goal_counts_by_another_way_too(two_lanes: RoadMap) -> None:
    sim = simulation(two_lanes, ego=AtPose(40.0, -1.75, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)))
    ends = []
    for place in (Pose(60.0, 30.0, 0.0), Pose(150.0, -1.75, 0.0), Pose(300.0, -1.75, 0.0)):
        sim.ego.place(place, 0.0)
        for _ in range(30):
            if not sim.finished:
                sim.advance(None, "on_road/normal")
        ends.append(sim.end)
    assert ends == [None, None, "goal"]


@pytest.mark.clause("PRK-4")
@pytest.mark.parametrize(
    ("begins", "stands", "end"),
    [("301", "301", None), ("301", "302", "parked"), (None, "302", "parked"), (None, None, None)],
)
@pytest.mark.medium
def test_standing_in_another_slot_than_at_first_ends_the_run(
    course: RoadMap, begins: str | None, stands: str | None, end: str | None
) -> None:
    ways = {slot.id: shifted(slot.pose, -center_ahead(Vehicle())) for slot in course.slots}
    on_road, goal = AtPose(100.0, -1.75, 0.0), RouteTo(AtPose(170.0, -1.75, 0.0))
    sim = simulation(course, ego=AtPose(*ways[begins]) if begins else on_road, route=goal)
    for _ in range(30):
        sim.advance(None, "parking/parked")
    if stands is not None and stands != begins:
        sim.ego.place(ways[stands], 0.0)
    for _ in range(50):
        if not sim.finished:
            sim.advance(None, "on_road/normal")
    assert sim.end == end


@pytest.mark.medium
def test_the_result_has_what_the_interface_lists(lit: RoadMap) -> None:
    sim, log = simulation(lit, 2), RunLog()
    drive(sim, 400)
    for t in (0.0, 0.05, 0.1):
        log.rows.append(LogRow(t, "on_road/normal", sim.ego.pose, 1.0, Limit(Reason.NONE), 2.0 * t))
    log.transitions.append(TransitionRow(0.0, "temporary_stop/stopped", "temporary_stop/pickup_decision", "STP-1"))
    log.flaps = 3
    sim.abort()
    result = result_of(sim, log, 1.5)
    assert set(result) == {
        "finished", "end", "sim_s", "wall_s", "distance_m", "services", "score", "infractions", "transitions",
        "state_s", "line_free_s", "unexplained_stops", "longest_unexplained_stop_s", "flaps",
        "tick_ms", "trace_sha256", "motion_sha256", "seed", "map", "scenario", "notes", "version", "population",
    }  # fmt: skip
    assert (result["finished"], result["end"], result["services"], result["seed"]) == (False, "error", 0, 2)
    assert (result["tick_ms"]["max"], result["flaps"]) == (pytest.approx(0.2), 3)
    assert 0.0 < result["score"]["driving"] < 1.0
    assert json.loads(json.dumps(result)) == result


@pytest.mark.clause("SIM-2")
def test_a_population_that_the_map_has_no_room_for_is_told(plain: RoadMap) -> None:
    full = simulation(plain, population=Population(300, 5))
    result = result_of(full, RunLog(), 0.0)
    there, asked = result["population"], result["population"].pop("asked")
    assert asked == {"vehicles": 300, "pedestrians": 5}
    assert there == {"vehicles": len([row for row in full.traffic.on_road if row]), "pedestrians": 0}
    assert 0 < there["vehicles"] < 300
    assert result["notes"] == [
        f"test.osc: populate: {there['vehicles']} of 300 vehicles: the map has no room for more",
        "test.osc: populate: 0 of 5 pedestrians: the map has no room for more",
    ]
    assert simulation(plain, population=Population(2)).notes == ()


@pytest.mark.clause("OSC-1")
@pytest.mark.parametrize(
    ("stated", "duration_s", "scored"), [((), None, False), ((), 1.0, False), ((OnLane("1", -1, 300.0),), None, True)]
)
def test_where_the_script_ends_a_run_without_a_route_no_progress_is_scored(
    two_lanes: RoadMap, stated: tuple[OnLane, ...], duration_s: float | None, scored: bool
) -> None:
    """How far the car comes of a way that was made up depends on when the script ends."""
    ends = Serial(() if duration_s else (Wait(Elapsed(1.0)), Action((EndRun(),))))
    run = simulation(
        two_lanes, ego=OnLane("1", -1, 20.0), route=ScriptedRoute(stated, 1000.0), storyboard=ends,
        max_duration_s=duration_s,
    )  # fmt: skip
    drive(run)
    result = result_of(run, RunLog(), 0.0)
    assert result["end"] == ("time" if duration_s else "scenario")
    assert (result["score"]["progress"] is not None) is scored
    assert (result["score"]["closed_loop"] > 0.9) is not scored
    assert (result["notes"] == []) is scored
    assert scored or result["notes"] == [
        "test.osc: the script ended the run, and states no route: no progress is scored"
    ]


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("ego", [Anywhere(), OnLane("3", 1, 20.0)])
def test_a_route_that_is_shorter_than_asked_is_told(plain: RoadMap, ego: Anywhere | OnLane) -> None:
    run = simulation(plain, ego=ego, route=RandomRoute(100_000.0))
    assert run.preset is not None
    assert result_of(run, RunLog(), 0.0)["notes"] == [
        f"test.osc: route of {run.preset.length:.0f} m of 100000 m asked: no better one was found on the map"
    ]
    assert simulation(plain, ego=ego, route=RandomRoute(100.0)).notes == ()


def test_history_is_light(plain: RoadMap) -> None:
    sim = simulation(plain, population=Population(3))
    for _ in range(40):
        sim.advance(None)
    assert [sample.t for sample in sim.history.ego] == pytest.approx(np.arange(0.0, 2.01, 0.2))
    assert [sample.t for sample in sim.history.agents] == pytest.approx(np.arange(0.0, 2.01, 0.5))
    assert len(sim.history.agents[0].boxes) == 3


@pytest.mark.slow
def test_a_driver_that_ignores_the_lights_is_caught(lit: RoadMap) -> None:
    for seed in range(4):
        sim = simulation(lit, seed)
        assert sim.preset is not None
        driver = LaneDriver(sim.preset)
        while not sim.finished and sim.frame < 1500:
            sim.advance(driver(sim.inputs()), "on_road/normal")
        if any(record.kind == "red_light" and record.at_fault for record in sim.infractions):
            return
    pytest.fail("four runs without a red light")


@pytest.mark.clause("SIM-2")
def test_the_trace_grows_with_what_happens(plain: RoadMap) -> None:
    run = simulation(plain)
    before = run.trace_sha256()
    assert run.trace_sha256() == before
    run.advance(None)
    assert run.trace_sha256() != before


@pytest.mark.clause("SIM-2")
def test_lights_that_nobody_meets_make_no_other_motion(lit: RoadMap) -> None:
    red, green = simulation(lit), simulation(lit)
    for run, light in ((red, Light.RED), (green, Light.GREEN)):
        run.inject(SetAllLights(light))
        run.advance(None)
    assert red.trace_sha256() != green.trace_sha256()
    assert red.motion_sha256() == green.motion_sha256() != simulation(lit).motion_sha256()

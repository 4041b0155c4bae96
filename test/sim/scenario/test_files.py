"""The scenarios that come with the project, and the documentation's examples."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.sim.scenario.actions import ACTIONS
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.compiler import compile_text, load_scenario
from tuling_fsm.sim.scenario.imports import standard_library
from tuling_fsm.sim.scenario.map_methods import METHODS
from tuling_fsm.sim.scenario.model import Population, RandomRoute, RouteVia
from tuling_fsm.sim.scenario.placements import Anywhere, AtPose, InSlot, OnLane, RelativeTo, place
from tuling_fsm.sim.scenario.triggers import TRIGGERS
from tuling_fsm.sim.scenario.type_table import SIMULATED
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.mission import parse_mission

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
FILES = sorted((ROOT / "config" / "scenarios").glob("*.osc"))
MISSIONS = sorted((ROOT / "config" / "scenarios").glob("*.json"))
WHOLE = "match.xodr"
EXAMPLES = re.findall(r"```osc\n(.*?)```", DOCUMENT, re.DOTALL)


def map_of(name: str | None, course: RoadMap, whole_course: RoadMap) -> RoadMap:
    return whole_course if name is not None and Path(name).name == WHOLE else course


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.medium
def test_every_scenario_begins_on_its_map(file: Path, course: RoadMap, whole_course: RoadMap) -> None:
    scenario = load_scenario(file)
    sim = Simulation(map_of(scenario.map_file, course, whole_course), scenario, 1, Vehicle())
    assert file.read_text(encoding="utf-8").startswith("# ")
    assert f"`config/scenarios/{file.name}`" in DOCUMENT
    assert (sim.preset is None) is (scenario.mission_file is not None)
    for _ in range(5):
        sim.advance(None)
    assert not any(record.kind == "collision" for record in sim.infractions)


@pytest.mark.parametrize("file", MISSIONS, ids=lambda file: file.stem)
def test_every_mission_stops_where_its_map_has_bays(file: Path, course: RoadMap, whole_course: RoadMap) -> None:
    course = map_of(load_scenario(file.with_suffix(".osc")).map_file, course, whole_course)
    mission = parse_mission(json.loads(file.read_text(encoding="utf-8")), 0.0)
    assert mission.car_park is not None
    assert course.project(mission.car_park.x, mission.car_park.y) is not None
    boxes = {tuple(np.round(slot.pose[:2], 2)): slot for slot in course.slots}
    for task in mission.tasks:
        for point in (task.pickup, task.dropoff):
            lane = course.project(point.x, point.y, point.heading)
            assert lane is not None and abs(lane.offset) < 0.1
            assert point.slots
            for slot in point.slots:
                target_slot = boxes[tuple(np.round(slot.pose[:2], 2))]
                assert (slot.length, slot.width) == pytest.approx((target_slot.length, target_slot.width))
                assert np.cos(slot.pose.heading - target_slot.pose.heading) == pytest.approx(1.0)


@pytest.mark.clause("REG-2")
@pytest.mark.medium
def test_the_three_starts_of_the_regression_scenario_are_behind_ever_more_restrictions(course: RoadMap) -> None:
    file = ROOT / "config" / "scenarios" / "regression.osc"
    edges = []
    for rung in ("1", "2", "3"):
        sim = Simulation(course, load_scenario(file, {"rung": rung}), 1, Vehicle())
        x, y, heading = sim.ego.pose
        lane = course.project(x, y, heading, radius=8.0)
        assert lane is not None and lane.lane.road == "14"
        mark = next(m for m in course.lanes[lane.lane].right_marks if m.s_from <= lane.s <= m.s_to)
        on_verge = bool(course.positions(x, y, types=("shoulder",)))
        edges.append((mark.crossable, on_verge))
    assert edges == [(True, True), (False, True), (False, False)]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_documentation_compiles(example: str) -> None:
    assert compile_text(example, str(ROOT / "config" / "course" / "example.osc")).storyboard


def test_the_documentation_names_all_that_there_is() -> None:
    names = {name for actions in ACTIONS.values() for name in actions}
    library = standard_library()
    modifiers = {name.rpartition(".")[2] for name in library.modifiers}
    names |= {*ACTIONS, *modifiers, *METHODS, *TRIGGERS, *library.physical, *library.units, *SIMULATED}
    told = ("distance_direction", "traffic_light_state", "object_kind", "sensor", "seen_as", "at")
    names |= {name for kind in told for name in library.enumerations[kind]}
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", DOCUMENT)) == []


def test_roam_has_its_variables() -> None:
    file = ROOT / "config" / "scenarios" / "roam.osc"
    plain = load_scenario(file)
    assert (plain.route, plain.population, plain.ego) == (RandomRoute(1000.0), Population(20, 0), Anywhere())
    assert Path(plain.map_file or "").is_file()
    other = load_scenario(file, {"length_m": "250.5", "vehicles": "3", "pedestrians": "7"})
    assert (other.route, other.population) == (RandomRoute(250.5), Population(3, 7))
    assert other.variables == {"length_m": 250.5, "vehicles": 3, "pedestrians": 7}
    for name, value in (("length_m", "0"), ("vehicles", "-1"), ("length_m", "1km"), ("speed", "3")):
        with pytest.raises(InputError):
            load_scenario(file, {name: value})


def test_round_drives_once_round_the_town(course: RoadMap) -> None:
    scenario = load_scenario(ROOT / "config" / "scenarios" / "round.osc")
    assert isinstance(scenario.route, RouteVia)
    rng = np.random.default_rng(0)
    stops = [place(stop, course, rng, {}) for stop in (scenario.ego, *scenario.route.placements)]
    poses = [pose for pose in stops if pose is not None]
    assert len(poses) == len(stops)
    found = plan_route(course, poses[0], poses[-1], via=poses[1:-1])
    assert found.route is not None
    assert 1000.0 < found.route.length < 1500.0
    assert all(place(actor.placement or Anywhere(), course, rng, {}, actor.kind) for actor in scenario.actors)


def test_placements_are_found_on_the_map(course: RoadMap) -> None:
    rng = np.random.default_rng(1)
    start = place(OnLane("1", -1, 60.0, 0.5), course, rng, {})
    assert start == pytest.approx((60.0, -1.25, 0.0), abs=1e-6)
    assert place(OnLane("1", 1, 60.0, 0.5), course, rng, {}) == pytest.approx((60.0, 1.25, np.pi), abs=1e-6)
    assert place(AtPose(60.0, 1.0), course, rng, {}) == pytest.approx((60.0, 1.0, -np.pi), abs=1e-6)
    assert place(AtPose(60.0, 1.0, 2.0), course, rng, {}) == (60.0, 1.0, 2.0)
    for missing in (OnLane("1", -9, 60.0), OnLane("1", -1, 6000.0), InSlot("none"), RelativeTo("unknown", 3.0)):
        assert place(missing, course, rng, {}) is None


def test_relative_places_follow_the_lanes(course: RoadMap) -> None:
    rng = np.random.default_rng(1)
    others = {"ego": Pose(60.0, -1.75, 0.0), "last": Pose(395.0, -1.75, 0.0)}
    assert place(RelativeTo("ego", 20.0, -1), course, rng, others) == pytest.approx((80.0, -5.25, 0.0), abs=1e-6)
    assert place(RelativeTo("ego", -70.0), course, rng, others) == pytest.approx((-9.9, -1.3, -0.1), abs=0.5)
    assert place(RelativeTo("last", 40.0), course, rng, others) == pytest.approx((434.0, 0.5, 0.3), abs=2.5)
    assert place(RelativeTo("ego", 20.0, 1), course, rng, others) is None


def test_a_drawn_place_repeats_with_its_seed_and_is_on_the_map(course: RoadMap) -> None:
    def draw(seed: int, kind: ActorKind) -> list[Pose | None]:
        rng = np.random.default_rng(seed)
        return [place(Anywhere(), course, rng, {}, kind) for _ in range(30)]

    cars, people = draw(3, ActorKind.VEHICLE), draw(3, ActorKind.PERSON)
    assert cars == draw(3, ActorKind.VEHICLE) != draw(4, ActorKind.VEHICLE)
    for pose in cars:
        assert pose is not None
        found = course.project(pose.x, pose.y, pose.heading)
        assert found is not None and course.lanes[found.lane].junction is None
        assert found.offset == pytest.approx(0.0, abs=1e-3)
    assert all(pose and course.positions(pose.x, pose.y, types=("sidewalk", "shoulder")) for pose in people)


def test_a_slot_holds_the_body_either_way(course: RoadMap) -> None:
    slot = next(slot for slot in course.slots if slot.id == "301")
    rng = np.random.default_rng(1)
    for backed_in, turn in ((False, 0.0), (True, np.pi)):
        pose = place(InSlot("301", backed_in), course, rng, {}, center_ahead=1.4)
        assert pose is not None
        centre = pose.x + 1.4 * np.cos(pose.heading), pose.y + 1.4 * np.sin(pose.heading)
        assert centre == pytest.approx(slot.pose[:2])
        assert np.cos(pose.heading - slot.pose.heading - turn) == pytest.approx(1.0)

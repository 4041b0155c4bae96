"""CARLA's ticks and the planner's trajectories in any order, without ROS; a scenario in CARLA and in the simulator."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ros.carla_stand_in import REAR, carla_object
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.ros.carla.drive import CarlaDrive
from tuling_fsm.ros.carla.ego import EgoBerth
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.carla.stage import Stage
from tuling_fsm.ros.carla.troupe import TRIES, Troupe
from tuling_fsm.sim.roll_call import Actor
from tuling_fsm.sim.scenario.load import compile_text, load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.messages import packed
from tuling_fsm.wire.carla.objects import unpack_objects
from tuling_fsm.wire.cdr import TYPES, header, pose_message, stamp_ns, unpack
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Kind, Light, Odometry, Table

pytestmark = pytest.mark.clause("CAR-1")

COURSE = Path(__file__).resolve().parents[2] / "config" / "course" / "course.xodr"
ROAM = COURSE.parents[1] / "scenarios" / "roam.osc"
DT_NS = 50_000_000
VECTOR = TYPES["geometry_msgs/msg/Vector3"]
STATUS, ODOMETRY, OBJECT_ARRAY = "{role}/vehicle_status", "{role}/odometry", "{role}/objects"


@pytest.fixture(scope="module")
def course():
    return read_map(COURSE)


class Port:
    """CARLA and the planner, as far as they are spoken to."""

    def __init__(self) -> None:
        self.commands: list[int] = []
        self.brakes: list[float] = []
        self.frames: list[Inputs] = []
        self.again = 0
        self.there = True
        self.odometry_is_published = True
        self.requests: list[bytes] = []
        self.answers: list[object] = []
        self.placed: list[str] = []
        self.destroyed: list[int] = []
        self.watch = SimpleNamespace(state="", note=lambda *_: None)

    def command(self, raw: bytes) -> None:
        self.commands.append(stamp_ns(raw))
        self.brakes.append(unpack(raw, messages.CONTROL, "command").brake)

    def speaks(self, name: str) -> bool:
        return self.odometry_is_published

    def ready_to_spawn(self) -> bool:
        return False

    def planner_is_there(self) -> bool:
        return self.there

    everybody_is_there = planner_is_there

    def send_frame(self, inputs: Inputs, previous: Inputs | None, mood: object) -> None:
        self.frames.append(inputs)

    def send_again(self, inputs: Inputs) -> None:
        self.again += 1

    def spawn(self, request: bytes, answered) -> None:
        self.requests.append(request)
        self.answers.append(answered)

    def answer(self, number: int, error: str = "") -> None:
        self.answers.pop(0)(packed("carla_msgs/msg/SpawnObjectResponse", id=number, error_string=error))

    def destroy(self, request: bytes) -> None:
        self.destroyed.append(unpack(request, "carla_msgs/msg/DestroyObjectRequest", "destroy").id)

    def place(self, name: str, pose: bytes) -> None:
        self.placed.append(name)

    def forget(self, name: str) -> None:
        self.placed = [each for each in self.placed if each != name]

    def wishes(self) -> list[tuple[str, str]]:
        read = [unpack(raw, "carla_msgs/msg/SpawnObjectRequest", "spawn") for raw in self.requests]
        return [(wish.type, wish.id) for wish in read]


class Bench:
    """A bridge on a port, with a clock that the test sets."""

    def __init__(self, course) -> None:
        self.port, self.now, self.lines = Port(), 0.0, []
        self.drive = CarlaDrive(
            CarlaParameters(), course, None, self.port, self.port, self.lines.append, lambda: self.now
        )

    def hear(self, name: str, ns: int, v: float = 0.0) -> None:
        self.drive.hear(name, message(name, ns, v))

    def answer(self, ns: int) -> None:
        self.drive.answered(pack_trajectory(ns, Trajectory.standing(ns / 1e9, Pose(20.0, -1.75, 0.0))))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.drive.poll()


def message(name: str, ns: int, v: float) -> bytes:
    at, pose = header(ns, "map"), Pose(20.0, -1.75, 0.0)
    if name == STATUS:
        still = TYPES["geometry_msgs/msg/Accel"](VECTOR(0.0, 0.0, 0.0), VECTOR(0.0, 0.0, 0.0))
        control = messages.new(messages.CONTROL, header=at, throttle=0.0, steer=0.0, brake=0.0, hand_brake=False,
                               reverse=False, gear=0, manual_gear_shift=False)  # fmt: skip
        return packed(messages.VEHICLE_STATUS, header=at, velocity=v, acceleration=still,
                      orientation=pose_message(pose).orientation, control=control)  # fmt: skip
    if name == OBJECT_ARRAY:
        return packed(messages.OBJECT_ARRAY, header=at, objects=[])
    twist = TYPES["geometry_msgs/msg/Twist"](VECTOR(v, 0.0, 0.0), VECTOR(0.0, 0.0, 0.0))
    return packed("nav_msgs/msg/Odometry", header=at, child_frame_id="e",
                  pose=TYPES["geometry_msgs/msg/PoseWithCovariance"](pose_message(pose), np.zeros(36)),
                  twist=TYPES["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)))  # fmt: skip


EVENTS = ("status", "odometry", "objects", "answer", "answer of the tick before", "again", "wait")


@settings(max_examples=60)
@given(ticks=st.lists(st.lists(st.sampled_from(EVENTS), max_size=9), min_size=1, max_size=8))
def test_whatever_comes_in_whatever_order_each_tick_has_exactly_one_command(ticks):
    course = SimpleNamespace(signals={}, stop_lines=())
    bench, stamps = Bench(course), []
    ns = 7_000_000_000
    for events in ticks:
        ns += DT_NS
        for event in events:
            act = {
                "status": lambda ns=ns: bench.hear(STATUS, ns),
                "odometry": lambda ns=ns: bench.hear(ODOMETRY, ns),
                "objects": lambda ns=ns: bench.hear(OBJECT_ARRAY, ns),
                "answer": lambda ns=ns: bench.answer(ns),
                "answer of the tick before": lambda ns=ns: bench.answer(ns - DT_NS),
                "again": lambda ns=ns: bench.hear(ODOMETRY, ns - DT_NS),
                "wait": lambda: bench.wait(0.4),
            }[event]
            if event != "again" or stamps:
                act()
        if {"status", "odometry"} & set(events):
            bench.wait(1.0)
            stamps.append(ns)
    assert bench.port.commands == stamps
    assert bench.drive.ticks.owed is None


def test_a_tick_goes_to_the_planner_once_all_of_it_is_there_and_its_trajectory_is_the_command(course):
    bench = Bench(course)
    bench.hear(STATUS, DT_NS)
    bench.hear(ODOMETRY, DT_NS)
    assert bench.port.frames == []
    bench.hear(OBJECT_ARRAY, DT_NS)
    (frame,) = bench.port.frames
    assert frame.stamp == frame.objects.stamp == frame.traffic_lights.stamp == 0.05
    assert frame.odometry.pose.x == pytest.approx(20.0 - Vehicle().length / 2 + Vehicle().rear_overhang)
    assert bench.port.commands == []
    bench.answer(DT_NS)
    bench.answer(DT_NS)
    assert bench.port.commands == [DT_NS]
    assert frame.emergency_stop is None and frame.rain_fog.value is False


def test_the_car_is_held_before_there_is_a_planner_or_odometry(course):
    bench = Bench(course)
    bench.port.odometry_is_published = False
    bench.hear(STATUS, DT_NS)
    assert bench.port.commands == [DT_NS]
    bench.port.odometry_is_published, bench.port.there = True, False
    bench.hear(OBJECT_ARRAY, 2 * DT_NS)
    bench.hear(STATUS, 2 * DT_NS)
    bench.hear(ODOMETRY, 2 * DT_NS)
    assert bench.port.commands == [DT_NS, 2 * DT_NS]
    assert bench.port.frames == [] and min(bench.port.brakes) > 0.5


def test_a_late_planner_is_asked_again_then_the_car_is_braked_and_that_is_told_once(course):
    bench = Bench(course)
    for k in (1, 2):
        bench.hear(OBJECT_ARRAY, k * DT_NS)
        bench.hear(ODOMETRY, k * DT_NS, v=5.0)
        bench.wait(0.4)
        assert bench.port.again == k and len(bench.port.commands) == k - 1
        bench.wait(0.4)
        assert len(bench.port.commands) == k
    assert min(bench.port.brakes) > 0.1
    assert sum("no trajectory" in line for line in bench.lines) == 1
    assert bench.drive.late == 2


def test_a_reloaded_world_begins_anew_and_an_old_message_does_not_count(course):
    bench = Bench(course)
    for ns in (100 * DT_NS, 99 * DT_NS, 100 * DT_NS, 3 * DT_NS):
        bench.hear(ODOMETRY, ns)
        bench.hear(OBJECT_ARRAY, ns)
        bench.answer(ns)
    assert bench.port.commands == [100 * DT_NS, 3 * DT_NS]


def test_the_remote_stop_rain_and_waypoints_reach_the_planner(course):
    bench = Bench(course)
    own = dataclasses.replace(CarlaParameters(), emergency_stop="stop", rain_fog=True)
    bench.drive.take_parameters(own)
    way = [messages.new("geometry_msgs/msg/PoseStamped", header=header(0, ""), pose=pose_message(Pose(x, 0.0, 0.0)))
           for x in (0.0, 1.0, 2.0)]  # fmt: skip
    bench.drive.hear("{role}/waypoints", packed("nav_msgs/msg/Path", header=header(1, "map"), poses=way))
    for k in (1, 2):
        bench.hear(ODOMETRY, k * DT_NS)
        bench.hear(OBJECT_ARRAY, k * DT_NS)
        bench.answer(k * DT_NS)
    first, second = bench.port.frames
    assert first.emergency_stop.value and first.rain_fog.value
    assert len(first.route_answers[0].points) == 3 and second.route_answers == ()
    assert second.rain_fog is first.rain_fog and second.emergency_stop is not first.emergency_stop


def test_bad_messages_are_told_and_change_nothing(course):
    bench = Bench(course)
    for name in (STATUS, ODOMETRY, OBJECT_ARRAY, "traffic_lights/info", "{role}/vehicle_info"):
        bench.drive.hear(name, b"\0\1\0\0abc")
    assert len(bench.lines) == 5
    assert bench.port.commands == []


def test_the_end_is_a_brake_that_waits_for_nobody(course):
    bench = Bench(course)
    bench.drive.end()
    bench.hear(ODOMETRY, DT_NS, v=6.0)
    assert bench.port.commands == [DT_NS] and bench.port.brakes[0] > 0.5
    assert bench.drive.ended_with == DT_NS


def test_the_ego_is_spawned_once_with_its_sensors_and_goes_when_the_bridge_does():
    port, lines = Port(), []
    start = (Pose(0.0, 0.0, 0.0), Pose(1.4, 0.0, 0.0), 2.0)
    berth = EgoBerth("ego_vehicle", "vehicle.tesla.model3", start, port, lines.append)
    berth.spawn()
    berth.spawn()
    assert port.wishes() == [
        ("sensor.pseudo.traffic_lights", "traffic_lights"),
        ("vehicle.tesla.model3", "ego_vehicle"),
    ]
    port.answer(5)
    port.answer(6)
    assert {kind for kind, _ in port.wishes()[2:]} == {
        "sensor.pseudo.odom", "sensor.pseudo.objects", "actor.pseudo.control",
    }  # fmt: skip
    assert not berth.is_there(Odometry(0.0, Pose(50.0, 0.0, 0.0), 0.0, 0.0))
    assert port.placed == ["ego_vehicle"]
    assert berth.is_there(Odometry(0.0, Pose(0.3, 0.0, 0.0), 0.0, 0.0))
    berth.dismiss()
    assert port.destroyed == [6, 5]


def test_actors_come_move_and_go_and_a_refused_one_is_tried_again_then_told(course):
    port, lines = Port(), []
    troupe = Troupe(course, port, lines.append)
    car = Actor(7, Kind.CAR, Pose(30.0, -1.75, 0.0), 4.6, 1.8, 3.0)
    troupe.follow([car])
    troupe.follow([car])
    assert port.wishes() == [("vehicle.tesla.model3", "tuling_7")] and not troupe.complete
    port.answer(41)
    assert troupe.numbers == {41: 7} and troupe.complete
    troupe.follow([car])
    assert port.placed == []
    troupe.follow([car._replace(pose=Pose(30.2, -1.75, 0.0))])
    assert port.placed == ["tuling_7"]
    troupe.follow([])
    assert port.destroyed == [41] and troupe.numbers == {}
    port.answers.clear()
    for _ in range(400):
        troupe.follow([car])
        if port.answers:
            port.answer(-1, "no room")
    assert sum(wish == ("vehicle.tesla.model3", "tuling_7") for wish in port.wishes()) == 1 + TRIES
    assert lines == ["CARLA refuses vehicle.tesla.model3 for actor 7: no room"]


def plan_along(simulation: Simulation, k: int) -> Trajectory:
    """At a steady pace along the route."""
    t = 0.1 * np.arange(30)
    poses = [simulation.preset.reference.at(2.0 * (0.05 * k + each)) for each in t.tolist()]
    x, y, heading = np.array(poses).T
    return Trajectory(0.05 * k, t, x, y, np.unwrap(heading), np.zeros(30), np.full(30, 2.0), np.zeros(30))


def test_everybody_does_in_carla_what_he_does_in_the_simulator_when_the_ego_does(course):
    scenario = load_scenario(ROAM, {"vehicles": "5", "pedestrians": "3", "length_m": "200"})
    here = Simulation(course, scenario, 3, Vehicle())
    there = Stage(course, scenario, 3, Vehicle())
    begin, objects = 4321.05, Table(0.0, np.zeros(0, OBJECTS))

    def lights() -> np.ndarray:
        rows = np.zeros(len(here.lights.numbers), TRAFFIC_LIGHTS)
        rows["signal"], rows["state"] = here.lights.numbers, here.lights.states(here.stamp)
        rows["confidence"] = 1.0
        return rows

    def odometry() -> Odometry:
        return Odometry(begin + here.stamp, here.ego.pose, here.ego.v, here.ego.yaw_rate)

    there.begin(odometry(), lights())
    for k in range(80):
        plan = plan_along(here, k)
        here.advance(plan, "on_road/normal")
        there.advance(odometry(), lights(), plan, "on_road/normal")
        told = there.inputs(objects, {})
        assert told.stamp == told.odometry.stamp == told.traffic_lights.stamp == begin + here.stamp
        assert [actor.id for actor in there.simulation.actors()] == [actor.id for actor in here.actors()]
        for ours, theirs in zip(there.simulation.actors(), here.actors(), strict=True):
            assert ours.pose == pytest.approx(theirs.pose, abs=1e-3)
    assert here.distance_m > 6.0
    assert there.simulation.distance_m == pytest.approx(here.distance_m, rel=1e-3)
    assert np.array_equal(told.traffic_lights.rows, here.inputs().traffic_lights.rows)


TEXT = """
import osc.standard

scenario played:
    ego: vehicle
    operator: remote_operator
    weather: environment
    lights: traffic_lights
    works: road_works
    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 20m)
    cones: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: 40m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 150m)

    do parallel(duration: 20s):
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
        works.close_lane(cones, material: cone)
        lights.set_state(signal: 1, state: green, duration: 10s)
        serial:
            wait elapsed(0.2s)
            operator.emergency_stop(duration: 1s)
        serial:
            wait elapsed(0.3s)
            weather.rain(intensity: 8mmph, duration: 5s)
        serial:
            wait elapsed(0.4s)
            ego.lose_localization()
"""


def test_what_a_scenario_says_to_the_car_reaches_the_planner(course, tmp_path):
    stage = Stage(course, compile_text(TEXT, str(tmp_path / "played.osc"), {}), 1, Vehicle())
    ns, v = 900_000_000_000, 4.0
    pose, told, red = stage.start, [], np.array([(1, Light.RED, 1.0)], TRAFFIC_LIGHTS)
    for k in range(30):
        odometry = Odometry((ns + k * DT_NS) / 1e9, Pose(pose.x + 0.05 * k * v, pose.y, pose.heading), v, 0.0)
        if k == 0:
            stage.begin(odometry, red)
        else:
            stage.advance(odometry, red, None, "on_road/normal")
        mine = carla_object(ns + k * DT_NS, 77, Pose(60.0, -1.75, 0.0), (1.0, 0.0))
        seen = unpack_objects(packed(messages.OBJECT_ARRAY, header=header(ns + k * DT_NS, "map"), objects=[mine]))
        told.append(stage.inputs(seen, {}))
    assert [t.emergency_stop.value for t in told[:3]] == [False] * 3 and told[8].emergency_stop.value
    assert told[5].rain_fog is told[0].rain_fog and told[9].rain_fog.value
    assert told[9].rain_fog.stamp > told[0].rain_fog.stamp >= 900.0
    assert told[0].mission is told[-1].mission and told[0].mission["goal"]["x"] > 100.0
    states = {int(row["signal"]): int(row["state"]) for row in told[-1].traffic_lights.rows}
    assert states[1] == Light.GREEN
    assert {state for signal, state in states.items() if signal != 1} <= {Light.UNKNOWN}
    kinds = told[2].objects.rows["kind"].tolist()
    assert kinds.count(Kind.CAR) == 1 and kinds.count(Kind.CONE) > 0
    assert told[4].odometry.position_std == 0.0 and told[-1].odometry.position_std > 1.0
    assert told[-1].odometry.pose != odometry.pose
    where = told[-1].objects.rows[told[-1].objects.rows["kind"] == Kind.CAR][0]
    shifted = math.dist(told[-1].odometry.pose[:2], odometry.pose[:2])
    assert math.dist((where["x"], where["y"]), (60.0, -1.75)) == pytest.approx(shifted, abs=0.2)
    plan = Trajectory.standing(odometry.stamp, told[-1].odometry.pose)
    assert stage.in_map(plan).pose(0)[:2] == pytest.approx(odometry.pose[:2], abs=1e-6)


def test_the_velocity_of_an_actor_that_is_put_from_place_to_place_is_the_scenarios(course):
    scenario = load_scenario(ROAM, {"vehicles": "3", "length_m": "200"})
    stage = Stage(course, scenario, 1, Vehicle())
    stage.begin(Odometry(10.0, stage.start, 0.0, 0.0), np.zeros(0, TRAFFIC_LIGHTS))
    for k in range(40):
        stage.advance(Odometry(10.05 + 0.05 * k, stage.start, 0.0, 0.0), np.zeros(0, TRAFFIC_LIGHTS), None, "")
    actor = max(stage.simulation.actors(), key=lambda each: each.v)
    still = carla_object(1, 77, actor.pose, (0.0, 0.0))
    seen = unpack_objects(packed(messages.OBJECT_ARRAY, header=header(1, "map"), objects=[still]))
    row = stage.inputs(seen, {77: actor.id}).objects.rows[0]
    assert math.hypot(row["vx"], row["vy"]) == pytest.approx(actor.v, rel=1e-3) and actor.v > 0.5
    assert math.atan2(row["vy"], row["vx"]) == pytest.approx(actor.pose.heading, abs=1e-3)


def test_the_stand_in_and_the_planners_car_have_their_origin_in_the_middle():
    assert pytest.approx(-Vehicle().length / 2 + Vehicle().rear_overhang) == REAR

"""A scenario in CARLA, without ROS: the ego, the actors, and that all of it is as in the simulator."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ros.carla_car import REAR
from ros.carla_port import Port
from ros.carla_types import carla_object
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.ros.carla.actor_spawner import TRIES, ActorSpawner, EgoSpawner
from tuling_fsm.ros.carla.scenario import CarlaScenario
from tuling_fsm.share import share_file
from tuling_fsm.sim.actors.agent_states import AgentState
from tuling_fsm.sim.scenario.compiler import compile_text, load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.messages import packed
from tuling_fsm.wire.carla.objects import unpack_objects
from tuling_fsm.wire.cdr import header
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Kind, Light, Odometry, StampedRows

pytestmark = pytest.mark.clause("CAR-1")

ROAM = share_file("config", "scenarios", "roam.osc")
DT_NS = 50_000_000


def test_the_ego_is_spawned_once_with_its_sensors_and_goes_when_the_bridge_does():
    port, lines = Port(), []
    start = (Pose(0.0, 0.0, 0.0), Pose(1.4, 0.0, 0.0), 2.0)
    spawner = EgoSpawner("ego_vehicle", "vehicle.tesla.model3", start, port, lines.append)
    spawner.spawn()
    spawner.spawn()
    assert port.wishes() == [
        ("sensor.pseudo.traffic_lights", "traffic_lights"),
        ("vehicle.tesla.model3", "ego_vehicle"),
    ]
    port.answer(5)
    port.answer(6)
    assert {kind for kind, _ in port.wishes()[2:]} == {
        "sensor.pseudo.odom", "sensor.pseudo.objects", "actor.pseudo.control",
    }  # fmt: skip
    assert not spawner.at_start(Odometry(0.0, Pose(50.0, 0.0, 0.0), 0.0, 0.0))
    assert port.placed == ["ego_vehicle"]
    assert spawner.at_start(Odometry(0.0, Pose(0.3, 0.0, 0.0), 0.0, 0.0))
    spawner.destroy_all()
    assert port.destroyed == [6, 5]


def test_actors_come_move_and_go_and_a_refused_one_is_tried_again_then_told(course):
    port, lines = Port(), []
    spawner = ActorSpawner(course, port, lines.append)
    car = AgentState(7, Kind.CAR, Pose(30.0, -1.75, 0.0), 4.6, 1.8, 3.0)
    spawner.synchronize([car])
    spawner.synchronize([car])
    assert port.wishes() == [("vehicle.tesla.model3", "tuling_7")] and not spawner.complete
    port.answer(41)
    assert spawner.numbers == {41: 7} and spawner.complete
    spawner.synchronize([car])
    assert port.placed == []
    spawner.synchronize([car._replace(pose=Pose(30.2, -1.75, 0.0))])
    assert port.placed == ["tuling_7"]
    spawner.synchronize([])
    assert port.destroyed == [41] and spawner.numbers == {}
    port.answers.clear()
    for _ in range(400):
        spawner.synchronize([car])
        if port.answers:
            port.answer(-1, "no room")
    assert sum(output == ("vehicle.tesla.model3", "tuling_7") for output in port.wishes()) == 1 + TRIES
    assert lines == ["CARLA refuses vehicle.tesla.model3 for actor 7: no room"]


def plan_along(simulation: Simulation, k: int) -> Trajectory:
    """At a steady pace along the route."""
    t = 0.1 * np.arange(30)
    poses = [simulation.preset.reference.at(2.0 * (0.05 * k + each)) for each in t.tolist()]
    x, y, heading = np.array(poses).T
    return Trajectory(0.05 * k, t, x, y, np.unwrap(heading), np.zeros(30), np.full(30, 2.0), np.zeros(30))


@pytest.mark.medium
def test_agents_do_in_carla_what_they_do_in_the_simulator_when_the_ego_does(course):
    scenario = load_scenario(ROAM, {"vehicles": "5", "pedestrians": "3", "length_m": "200"})
    here = Simulation(course, scenario, 3, Vehicle())
    there = CarlaScenario(course, scenario, 3, Vehicle())
    begin, objects = 4321.05, StampedRows(0.0, np.zeros(0, OBJECTS))

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
        inputs = there.inputs(objects, {})
        assert inputs.stamp == inputs.odometry.stamp == inputs.traffic_lights.stamp == begin + here.stamp
        assert [actor.id for actor in there.simulation.agents()] == [actor.id for actor in here.agents()]
        for ours, theirs in zip(there.simulation.agents(), here.agents(), strict=True):
            assert ours.pose == pytest.approx(theirs.pose, abs=1e-3)
    assert here.distance_m > 6.0
    assert there.simulation.distance_m == pytest.approx(here.distance_m, rel=1e-3)
    assert np.array_equal(inputs.traffic_lights.rows, here.inputs().traffic_lights.rows)


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


@pytest.mark.parametrize("action", ["assign_speed(3mps)", "change_speed(target: 3mps)"])
def test_a_speed_that_cannot_be_given_to_the_car_is_refused(action, course):
    for before, where in (("", "played.osc"), ("            wait elapsed(1s)\n", r"played.osc:20:13")):
        text = TEXT.replace("        works.close", f"{before}            ego.{action}\n        works.close")
        with pytest.raises(InputError, match=rf"{where}.*expected no assign_speed and no change_speed of the ego"):
            CarlaScenario(course, compile_text(text, "played.osc"), 1, Vehicle())


def test_what_a_scenario_says_to_the_car_reaches_the_planner(course, tmp_path):
    scenario_run = CarlaScenario(course, compile_text(TEXT, str(tmp_path / "played.osc"), {}), 1, Vehicle())
    ns, v = 900_000_000_000, 4.0
    pose, inputs, red = scenario_run.start, [], np.array([(1, Light.RED, 1.0)], TRAFFIC_LIGHTS)
    for k in range(30):
        odometry = Odometry((ns + k * DT_NS) / 1e9, Pose(pose.x + 0.05 * k * v, pose.y, pose.heading), v, 0.0)
        if k == 0:
            scenario_run.begin(odometry, red)
        else:
            scenario_run.advance(odometry, red, None, "on_road/normal")
        mine = carla_object(ns + k * DT_NS, 77, Pose(60.0, -1.75, 0.0), (1.0, 0.0))
        seen = unpack_objects(packed(messages.OBJECT_ARRAY, header=header(ns + k * DT_NS, "map"), objects=[mine]))
        inputs.append(scenario_run.inputs(seen, {}))
    assert [t.emergency_stop.value for t in inputs[:3]] == [False] * 3 and inputs[8].emergency_stop.value
    assert inputs[5].rain_fog is inputs[0].rain_fog and inputs[9].rain_fog.value
    assert inputs[9].rain_fog.stamp > inputs[0].rain_fog.stamp >= 900.0
    assert inputs[0].mission is inputs[-1].mission and inputs[0].mission["goal"]["x"] > 100.0
    states = {int(row["signal"]): int(row["state"]) for row in inputs[-1].traffic_lights.rows}
    assert states[1] == Light.GREEN
    assert {state for signal, state in states.items() if signal != 1} <= {Light.UNKNOWN}
    kinds = inputs[2].objects.rows["kind"].tolist()
    assert kinds.count(Kind.CAR) == 1 and kinds.count(Kind.CONE) > 0
    assert inputs[4].odometry.position_std == 0.0 and inputs[-1].odometry.position_std > 1.0
    assert inputs[-1].odometry.pose != odometry.pose
    where = inputs[-1].objects.rows[inputs[-1].objects.rows["kind"] == Kind.CAR][0]
    shifted = math.dist(inputs[-1].odometry.pose[:2], odometry.pose[:2])
    assert math.dist((where["x"], where["y"]), (60.0, -1.75)) == pytest.approx(shifted, abs=0.2)
    plan = Trajectory.standing(odometry.stamp, inputs[-1].odometry.pose)
    assert scenario_run.in_map(plan).pose(0)[:2] == pytest.approx(odometry.pose[:2], abs=1e-6)


def test_the_velocity_of_an_actor_that_is_put_from_place_to_place_is_the_scenarios(course):
    scenario = load_scenario(ROAM, {"vehicles": "3", "length_m": "200"})
    scenario_run = CarlaScenario(course, scenario, 1, Vehicle())
    scenario_run.begin(Odometry(10.0, scenario_run.start, 0.0, 0.0), np.zeros(0, TRAFFIC_LIGHTS))
    for k in range(40):
        scenario_run.advance(
            Odometry(10.05 + 0.05 * k, scenario_run.start, 0.0, 0.0), np.zeros(0, TRAFFIC_LIGHTS), None, ""
        )
    actor = max(scenario_run.simulation.agents(), key=lambda each: each.v)
    still = carla_object(1, 77, actor.pose, (0.0, 0.0))
    seen = unpack_objects(packed(messages.OBJECT_ARRAY, header=header(1, "map"), objects=[still]))
    row = scenario_run.inputs(seen, {77: actor.id}).objects.rows[0]
    assert math.hypot(row["vx"], row["vy"]) == pytest.approx(actor.v, rel=1e-3) and actor.v > 0.5
    assert math.atan2(row["vy"], row["vx"]) == pytest.approx(actor.pose.heading, abs=1e-3)


def test_the_stand_in_and_the_planners_car_have_their_origin_in_the_middle():
    assert pytest.approx(-Vehicle().length / 2 + Vehicle().rear_overhang) == REAR

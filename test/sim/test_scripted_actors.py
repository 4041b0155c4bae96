"""Scripted actors: from OpenSCENARIO text to what moves in the simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.bodies import FreeActor
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import (
    ActivateController,
    ChangeLane,
    ChangeSpeed,
    ClearEmergencyStop,
    Command,
    Drive,
    EmergencyLink,
    EmergencyStop,
    FollowPath,
    FollowRoute,
    Place,
    Remove,
    SetFog,
    SetLight,
    SetLocalization,
    SetRain,
    Walk,
)
from tuling_fsm.sim.scenario.conditions import Arrived, Elapsed
from tuling_fsm.sim.scenario.measurements import body_gap
from tuling_fsm.sim.scenario.model import EGO, Action, ActorState, Node, RouteTo, ScenarioActor, Serial, Wait
from tuling_fsm.sim.scenario.placements import Anywhere, AtPose, OnLane, RelativeTo, place
from tuling_fsm.sim.seeds import SeedStreams, generator
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Kind, Light

from .scenes import simulation

EGO_AT = AtPose(20.0, -1.75, 0.0)
GOAL = RouteTo(AtPose(380.0, -1.75, 0.0))


def begins(*commands: Command) -> Node:
    return Action(commands)


def run(road_map: RoadMap, actors: tuple[ScenarioActor, ...], *nodes: Node, ego: AtPose = EGO_AT) -> Simulation:
    return simulation(road_map, ego=ego, route=GOAL, actors=actors, storyboard=Serial(nodes))


def car(placement: AtPose | OnLane | None, speed: float = 0.0) -> ScenarioActor:
    return ScenarioActor("npc", ActorKind.VEHICLE, 4.5, 1.8, placement, speed)


def person(x: float, y: float) -> ScenarioActor:
    return ScenarioActor("walker", ActorKind.PERSON, 0.6, 0.6, AtPose(x, y, 0.0))


def states(sim: Simulation, name: str, seconds: float) -> list[ActorState]:
    found = []
    for _ in range(round(seconds / sim.dt)):
        sim.advance(None)
        state = sim.scripted.state(name)
        assert state is not None
        found.append(state)
    return found


def test_a_placed_vehicle_stands_at_its_rear_axle(two_lanes: RoadMap) -> None:
    sim = run(two_lanes, (car(AtPose(100.0, -1.75, 0.0)),))
    (actor,) = sim.agents()
    assert (actor.id, actor.kind) == (1, Kind.CAR)
    assert actor.pose.x == pytest.approx(100.0 + 0.3 * 4.5)
    last = states(sim, "npc", 3.0)[-1]
    assert last.pose == pytest.approx(Pose(100.0, -1.75, 0.0))
    assert last.center_ahead == pytest.approx(1.35)


def test_a_vehicle_with_a_speed_keeps_it_along_the_lane(two_lanes: RoadMap) -> None:
    track = states(run(two_lanes, (car(AtPose(100.0, -1.75, 0.0), 6.0),)), "npc", 4.0)
    assert track[-1].pose.x == pytest.approx(124.0, abs=1.0)
    assert all(state.speed == pytest.approx(6.0, abs=0.3) for state in track)


@pytest.mark.medium
def test_drive_goes_as_traffic_or_at_a_speed(two_lanes: RoadMap) -> None:
    free = states(run(two_lanes, (car(AtPose(100.0, -1.75, 0.0)),), begins(Drive("npc"))), "npc", 12.0)
    assert free[-1].speed == pytest.approx(0.7 * 50.0 / 3.6, rel=0.1)
    slow = states(run(two_lanes, (car(AtPose(100.0, -1.75, 0.0)),), begins(Drive("npc", 3.0))), "npc", 8.0)
    assert slow[-1].speed == pytest.approx(3.0, abs=0.1)


def test_speed_changes_at_its_rate_and_at_once(two_lanes: RoadMap) -> None:
    sim = run(two_lanes, (car(AtPose(100.0, -1.75, 0.0), 8.0),), begins(ChangeSpeed("npc", 0.0, 2.0)))
    track = states(sim, "npc", 6.0)
    braking = [state.acceleration for state in track if state.speed > 0.3]
    assert np.mean(braking) == pytest.approx(-2.0, abs=0.1)
    assert track[-1].speed == 0.0
    sim = run(two_lanes, (car(AtPose(100.0, -1.75, 0.0)),), begins(ChangeSpeed("npc", 5.0, math.inf)))
    assert states(sim, "npc", 0.05)[0].speed == pytest.approx(5.0, abs=0.1)


def test_a_lane_is_changed_to_the_right(two_lanes: RoadMap) -> None:
    sim = run(two_lanes, (car(AtPose(60.0, -1.75, 0.0), 8.0),), begins(ChangeLane("npc", -1)))
    assert states(sim, "npc", 6.0)[-1].pose.y == pytest.approx(-5.25, abs=0.1)


@pytest.mark.medium
def test_a_route_is_followed_to_its_end(plain: RoadMap) -> None:
    goal = OnLane("4", -1, 60.0)
    sim = simulation(
        plain,
        ego=AtPose(-100.0, -1.75, 0.0),
        route=RouteTo(AtPose(100.0, -1.75, 0.0)),
        actors=(car(OnLane("1", 1, 60.0)),),
        storyboard=Serial((Action((FollowRoute("npc", (goal,)),), Arrived("npc")), begins(SetRain(1.0)))),
    )
    for _ in range(1200):
        sim.advance(None)
        if sim.scripted.arrived("npc"):
            break
    state = sim.scripted.state("npc")
    assert state is not None
    assert math.dist(state.pose[:2], (-1.75, -72.0)) < 1.5
    sim.advance(None)
    assert sim.inputs().rain_fog is not None
    assert sim.inputs().rain_fog.value is True


@pytest.mark.medium
def test_walkers_and_free_paths_go_from_point_to_point(two_lanes: RoadMap) -> None:
    points = (AtPose(100.0, -3.0, None), AtPose(102.0, -3.0, None))
    sim = run(two_lanes, (person(100.0, 1.0),), begins(Walk("walker", points, 1.25)))
    track = states(sim, "walker", 6.0)
    assert sim.scripted.arrived("walker")
    assert track[-1].pose[:2] == pytest.approx((102.0, -3.0), abs=0.05)
    assert track[20].pose.heading == pytest.approx(-0.5 * math.pi, abs=0.01)
    assert {state.speed for state in track[2:60]} == {1.25}
    sim = run(two_lanes, (car(AtPose(100.0, -1.75, 0.0)),), begins(FollowPath("npc", (AtPose(120.0, 3.0, None),), 4.0)))
    track = states(sim, "npc", 9.0)
    assert sim.scripted.arrived("npc")
    assert track[-1].pose[:2] == pytest.approx((120.0, 3.0), abs=0.05)
    assert track[-1].speed == 0.0
    assert max(state.acceleration for state in track) <= 3.01


def test_place_remove_and_relative_places(two_lanes: RoadMap) -> None:
    sim = run(
        two_lanes,
        (car(None),),
        Wait(Elapsed(0.2)),
        begins(Place("npc", RelativeTo(EGO, 30.0, -1), 0.0)),
        Wait(Elapsed(0.2)),
        begins(Remove("npc")),
    )
    assert sim.scripted.state("npc") is None
    seen = []
    for _ in range(12):
        sim.advance(None)
        seen.append(sim.scripted.state("npc"))
    there = [state for state in seen if state is not None]
    assert there[0].pose == pytest.approx(Pose(50.0, -5.25, 0.0), abs=0.1)
    assert seen[0] is None
    assert seen[-1] is None
    assert sim.agents() == ()


@pytest.mark.parametrize("told", [Drive("npc", 6.0), ChangeSpeed("npc", 6.0, 3.0)])
def test_a_vehicle_that_is_put_elsewhere_drives_on_as_it_was_told(two_lanes: RoadMap, told: Command) -> None:
    elsewhere = Place("npc", AtPose(200.0, -5.25, 0.0))
    sim = run(two_lanes, (car(AtPose(100.0, -1.75, 0.0), 3.0),), begins(told), Wait(Elapsed(0.5)), begins(elsewhere))
    before, *after = states(sim, "npc", 5.0)[9:]
    assert after[0].pose[:2] == pytest.approx((200.0, -5.25), abs=0.3)
    assert after[0].speed == pytest.approx(before.speed, abs=0.2)
    assert after[-1].speed == pytest.approx(6.0, abs=0.2)


@pytest.mark.parametrize("speed", [None, 4.0])
@pytest.mark.parametrize(
    "way",
    [FollowRoute("npc", (AtPose(300.0, -1.75, 0.0),), 8.0), FollowPath("npc", (AtPose(300.0, -1.75, 0.0),), 8.0)],
    ids=["route", "path"],
)
def test_the_way_of_one_that_is_put_elsewhere_is_over_until_it_gets_another(
    two_lanes: RoadMap, way: Command, speed: float | None
) -> None:
    elsewhere, again = begins(Place("npc", AtPose(150.0, -1.75, 0.0), speed)), (Wait(Elapsed(0.5)), begins(way))
    sim = run(two_lanes, (car(AtPose(60.0, -1.75, 0.0)),), begins(way), Wait(Elapsed(1.0)), elsewhere, *again)
    over = []
    for _ in range(40):
        sim.advance(None)
        over.append(sim.scripted.arrived("npc"))
    assert over == [False] * 19 + [True] * 10 + [False] * 11


def test_a_person_that_is_put_elsewhere_keeps_its_speed(two_lanes: RoadMap) -> None:
    walk = begins(Walk("walker", (AtPose(100.0, -9.0, None),), 1.0))
    elsewhere = begins(Place("walker", AtPose(150.0, 3.0, 0.0)))
    track = states(run(two_lanes, (person(100.0, 1.0),), walk, Wait(Elapsed(1.0)), elsewhere), "walker", 3.0)
    assert track[-1].pose == pytest.approx(Pose(152.0, 3.0, 0.0), abs=0.1)


def test_a_controller_that_is_off_brakes_and_stands(two_lanes: RoadMap) -> None:
    off = begins(ActivateController("npc", False, False))
    track = states(run(two_lanes, (car(AtPose(100.0, -1.75, 0.0), 6.0),), off), "npc", 4.0)
    assert track[-1].speed == 0.0
    sim = simulation(
        two_lanes, ego=EGO_AT, ego_speed=6.0, route=GOAL, storyboard=begins(ActivateController(EGO, False, False))
    )
    for _ in range(100):
        sim.advance(None)
    assert sim.ego.v == 0.0


def test_barriers_stand(two_lanes: RoadMap) -> None:
    barrier = ScenarioActor("block", ActorKind.BARRIER, 2.0, 1.0, AtPose(60.0, -1.75, 0.5))
    sim = run(two_lanes, (barrier,))
    sim.advance(None)
    (seen,) = sim.inputs().objects.rows if sim.inputs().objects is not None else ()
    assert seen["kind"] == Kind.BARRIER
    assert (seen["x"], seen["y"], seen["heading"]) == pytest.approx((60.0, -1.75, 0.5))


def test_what_is_set_reaches_the_inputs(lit: RoadMap) -> None:
    sim = simulation(
        lit,
        ego=AtPose(-100.0, -1.75, 0.0),
        route=RouteTo(AtPose(100.0, -1.75, 0.0)),
        storyboard=Serial(
            (
                begins(
                    SetLight(2, Light.DARK),
                    SetFog(150.0),
                    SetLocalization(False),
                    EmergencyStop(True),
                    ClearEmergencyStop(),
                ),
                Wait(Elapsed(0.3)),
                begins(SetFog(math.inf), SetLocalization(True), EmergencyStop(False), EmergencyLink(False)),
            )
        ),
    )
    inputs = sim.inputs()
    assert inputs.traffic_lights is not None
    assert inputs.traffic_lights.rows[sim.lights.numbers.index(2)]["state"] == Light.DARK
    assert inputs.rain_fog is not None and inputs.rain_fog.value
    assert inputs.odometry is not None and inputs.odometry.position_std > 1.0
    assert inputs.emergency_stop is not None and inputs.emergency_stop.value
    assert inputs.clear_emergency_stop
    sim.advance(None)
    assert not sim.inputs().clear_emergency_stop
    for _ in range(8):
        sim.advance(None)
    inputs = sim.inputs()
    assert inputs.rain_fog is not None and not inputs.rain_fog.value
    assert inputs.odometry is not None and inputs.odometry.position_std == 0.0
    assert inputs.emergency_stop is not None and inputs.emergency_stop.stamp < sim.stamp


def test_a_place_off_the_map_is_refused(two_lanes: RoadMap) -> None:
    with pytest.raises(InputError, match="npc: no lane 1 of road '99' at 5 m on this map"):
        run(two_lanes, (car(OnLane("99", 1, 5.0)),))


def test_a_body_on_a_path_turns_with_its_axles() -> None:
    body = FreeActor(ActorKind.VEHICLE, 4.5, 1.8)
    body.place(Pose(0.0, 0.0, 0.0), 0.0)
    body.follow([(10.0, 0.0), (10.0, 10.0)], 3.0)
    turns = []
    for _ in range(200):
        before = body.pose
        body.step(0.05)
        assert before is not None and body.pose is not None
        turns.append(abs(body.pose.heading - before.heading))
    assert body.arrived
    assert max(turns) < 0.3


def parked(count: int) -> tuple[ScenarioActor, ...]:
    """Cars that the text never places, and last one that it does."""
    drawn = [ScenarioActor(f"n{k}", ActorKind.VEHICLE, 4.5, 1.8, Anywhere()) for k in range(count)]
    return (*drawn, car(AtPose(200.0, -1.75, 0.0)))


@pytest.mark.clause("OSC-1")
def test_whoever_is_put_somewhere_stands_in_nobody_and_not_before_the_ego(two_lanes: RoadMap) -> None:
    for seed in range(1, 6):
        sim = simulation(two_lanes, seed, ego=EGO_AT, route=GOAL, actors=parked(20))
        places = [state for name in sim.scripted.bodies if (state := sim.scripted.state(name)) is not None]
        ego = sim._ego_actor_state()
        assert len(places) == 21
        assert min(itertools.starmap(body_gap, itertools.combinations(places, 2))) > 0.0
        assert min(body_gap(ego, state) for state in places) > sim.settings.traffic.start_clearance


@pytest.mark.clause("SIM-2")
def test_a_place_that_is_free_is_the_one_that_was_drawn(two_lanes: RoadMap) -> None:
    kept = 0
    for seed in range(1, 9):
        drawn = place(Anywhere(), two_lanes, generator(SeedStreams.of(seed).scripted), {})
        state = simulation(two_lanes, seed, ego=EGO_AT, route=GOAL, actors=parked(1)).scripted.state("n0")
        assert drawn is not None and state is not None
        if drawn.x > 50.0 and abs(drawn.x - 200.0) > 10.0:
            assert state.pose == pytest.approx(drawn)
            kept += 1
    assert kept > 4


def test_more_than_the_map_has_room_for_are_refused(two_lanes: RoadMap) -> None:
    with pytest.raises(InputError, match=r"n\d+: no place on this map that is free"):
        simulation(two_lanes, 1, ego=EGO_AT, route=GOAL, actors=parked(170))

"""The rude part of the population: what it does that the rest does not, and that nothing changes without it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import PedestrianPopulationParameters
from tuling_fsm.sim.pedestrians.population import CrossingHabits, Pedestrians, RudePedestrians
from tuling_fsm.sim.scenario.model import Population
from tuling_fsm.sim.seeds import SeedStreams
from tuling_fsm.sim.traffic.autopilot import Autopilot
from tuling_fsm.sim.traffic.manager import EGO_AS_SEEN, EGO_NUMBER
from tuling_fsm.sim.traffic.rude.drivers import HAZARD, RudeDrivers
from tuling_fsm.sim.traffic.rude.junctions import RedClock
from tuling_fsm.sim.traffic.rude.parameters import RudeParameters
from tuling_fsm.sim.traffic.rude.sight import SeenVehicles, blocked, gap_seen
from tuling_fsm.world.inputs import Light

from ..scenes import simulation
from .flow import FRAME_S, Flow

INBOUND_E, INBOUND_S = LaneId("1", 0, 1), LaneId("4", 0, 1)
FAR_EGO = np.array([500.0, 500.0, 0.0, 0.0, 4.7, 1.9, 0.0])
CALM = RudeParameters(
    brake_rate=0.0, stop_rate=0.0, cut_in_rate=0.0, refuses=0.0, red_most=0.0, ignores_signs=0.0,
    speed_least=0.7, speed_most=0.7,
)  # fmt: skip


@dataclasses.dataclass
class RudeFlow:
    """Vehicles that are placed by hand, all of them rude, frame by frame."""

    road_map: RoadMap
    count: int
    parameters: RudeParameters = CALM
    ego: np.ndarray[tuple[int], np.dtype[np.float64]] = dataclasses.field(default_factory=FAR_EGO.copy)

    def __post_init__(self) -> None:
        self.flow = Flow(self.road_map, 0, scripted=self.count)
        seed = np.random.SeedSequence(5)
        self.drivers = RudeDrivers(self.flow.manager, range(self.count), 1.0, seed, self.parameters)

    def place(self, row: int, lane: LaneId, s: float, v: float) -> None:
        self.flow.manager.place(row, self.flow.index[lane], s, v)

    def run(self, seconds: float) -> list[tuple[float, float, int]]:
        """Arc, acceleration and lights of the first vehicle, frame by frame."""
        seen = []
        for _ in range(round(seconds / FRAME_S)):
            states = self.flow.lights.states(self.flow.stamp)
            self.drivers.step(self.flow.stamp, FRAME_S, self.ego, states)
            self.flow.step()
            car = self.flow.fleet.car
            seen.append((float(car.arc[0]), float(car.a[0]), int(car.lights[0])))
        return seen


@pytest.mark.clause("SIM-2")
def test_no_other_stream_draws_differently_for_it() -> None:
    before = np.random.SeedSequence(7).spawn(7)
    now = SeedStreams.of(7)
    assert [one.generate_state(2).tolist() for one in before] == [one.generate_state(2).tolist() for one in now[:7]]


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_a_rude_run_repeats_and_is_another_one(plain: RoadMap) -> None:
    def trace(rude: float) -> str:
        sim = simulation(plain, 2, population=Population(8, 4, rude))
        assert (sim.rude is None) == (rude == 0.0)
        for _ in range(300):
            sim.advance(None)
        return sim.trace_sha256()

    assert trace(0.8) == trace(0.8)
    assert len({trace(0.0), trace(0.4), trace(0.8)}) == 3


def test_each_kind_of_driver_is_blind_to_one_of_the_two_egos(plain: RoadMap) -> None:
    sim = simulation(plain, 2, population=Population(10, 0, 0.5))
    assert sim.rude is not None
    rude, pairs = set(sim.rude.rows.tolist()), set(sim.traffic.ignored_pairs.tolist())
    assert 0 < len(rude) < 10
    for row in range(10):
        assert (row * (1 << 32) + EGO_NUMBER in pairs) == (row in rude)
        assert (row * (1 << 32) + EGO_AS_SEEN in pairs) == (row not in rude)


def test_the_egos_detection_is_set_for_every_kind_of_driver_and_its_route_stays_hidden(plain: RoadMap) -> None:
    sim = simulation(plain, 2, population=Population(10, 0, 0.5))
    assert sim.rude is not None
    pilot, before, rude = Autopilot(sim.traffic), sim.traffic.ignored_pairs.tolist(), set(sim.rude.rows.tolist())
    for row, vehicle in enumerate(sim.traffic.ids.tolist()):
        pilot.collision_detection(vehicle, 0, False)
        seen = row * (1 << 32) + (EGO_AS_SEEN if row in rude else EGO_NUMBER)
        assert set(sim.traffic.ignored_pairs.tolist()) == {*before, seen}
        pilot.collision_detection(vehicle, 0, True)
        assert sim.traffic.ignored_pairs.tolist() == before


def test_those_that_are_registered_later_see_one_ego(plain: RoadMap) -> None:
    sim = simulation(plain, 2, population=Population(4, 0, 0.5))
    rows = sim.traffic.register(np.arange(3, dtype=np.uint64), sim.traffic.hybrid[0], np.zeros((0, 3)), 0)
    later = [divmod(key, 1 << 32) for key in sim.traffic.ignored_pairs.tolist() if key >> 32 in rows]
    assert later == [(row, EGO_AS_SEEN) for row in rows]


def test_it_stops_in_the_lane_with_hazard_lights_and_drives_on(plain: RoadMap) -> None:
    often = dataclasses.replace(CALM, stop_rate=0.3, stop_least=4.0, stop_most=5.0)
    rude = RudeFlow(plain, 1, often)
    rude.place(0, INBOUND_E, 5.0, 6.0)
    seen = rude.run(20.0)
    stood = [arc for (arc, _, _), (after, _, _) in zip(seen, seen[20:], strict=False) if after - arc < 0.01]
    assert stood
    assert any(lights == HAZARD for _, _, lights in seen)
    assert seen[-1][0] > stood[0] + 1.0


@pytest.mark.clause("TM-4")
@pytest.mark.parametrize("meanwhile", [None, 3.0, 0.0])
def test_a_speed_that_a_client_has_set_holds_again_after_a_stop(plain: RoadMap, meanwhile: float | None) -> None:
    rude = RudeFlow(plain, 1, dataclasses.replace(CALM, stop_rate=1e3, stop_least=2.0, stop_most=2.0))
    rude.place(0, INBOUND_E, 5.0, 6.0)
    manager, car = rude.flow.manager, rude.flow.fleet.car
    manager.ids[0], car.owner[0] = 501, 0
    client = Autopilot(manager)
    client.set_desired_speed(501, 7.0)
    rude.run(1.0)
    assert car.wanted[0] == 0.0
    if meanwhile is not None:
        client.set_desired_speed(501, meanwhile)
    rude.run(1.0 + FRAME_S)
    assert car.wanted[0] == (7.0 if meanwhile is None else meanwhile)


def test_it_brakes_hard_for_no_cause(plain: RoadMap) -> None:
    rude = RudeFlow(plain, 1, dataclasses.replace(CALM, brake_rate=1.0))
    rude.place(0, INBOUND_E, 5.0, 8.0)
    assert min(a for _, a, _ in rude.run(5.0)) < -4.0
    calm = RudeFlow(plain, 1)
    calm.place(0, INBOUND_E, 5.0, 8.0)
    assert min(a for _, a, _ in calm.run(5.0)) > -3.0


@pytest.mark.parametrize(("red_most", "runs"), [(60.0, True), (0.0, False)])
def test_it_runs_a_light_that_is_red_for_a_short_time(lit: RoadMap, red_most: float, runs: bool) -> None:
    rude = RudeFlow(lit, 1, dataclasses.replace(CALM, red_most=red_most))
    rude.drivers.runs_red[:] = red_most
    assert passes_red(rude) is runs


def passes_red(rude: RudeFlow) -> bool:
    """Whether the first vehicle drives past a light that has just become red."""
    rude.place(0, INBOUND_E, 70.0, 8.0)
    for number in rude.flow.lights.numbers:
        rude.flow.lights.force(number, Light.GREEN)
    rude.run(0.5)
    for number in rude.flow.lights.numbers:
        rude.flow.lights.force(number, Light.RED)
    return rude.run(9.0)[-1][0] > 50.0


@pytest.mark.parametrize("for_all", [True, False])
@pytest.mark.parametrize(("red_most", "percentage", "runs"), [(0.0, 100.0, True), (60.0, 0.0, False)])
@pytest.mark.clause("TM-2")
def test_the_share_of_lights_that_a_client_sets_holds_for_it(
    lit: RoadMap, red_most: float, percentage: float, runs: bool, for_all: bool
) -> None:
    rude = RudeFlow(lit, 1)
    rude.drivers.runs_red[:] = red_most
    manager, car = rude.flow.manager, rude.flow.fleet.car
    car.owner[0], manager.ids[0] = 0, 7
    Autopilot(manager).ignore_lights_percentage(None if for_all else 7, percentage)
    assert passes_red(rude) is runs
    assert rude.flow.fleet.rules.ignore_lights[0] == percentage / 100.0


@pytest.mark.clause("TM-2")
def test_a_vehicles_own_setting_ends_with_it_and_what_is_set_for_all_does_not(plain: RoadMap) -> None:
    manager = Flow(plain, 2).manager
    pilot, vehicle = Autopilot(manager), int(manager.ids[0])
    pilot.ignore_lights_percentage(vehicle, 100.0)
    pilot.ignore_signs_percentage(None, 100.0)
    assert [manager.is_set(row, "ignore_lights") for row in (0, 1)] == [True, False]
    manager._assign_id(0)
    assert [manager.is_set(row, "ignore_lights") for row in (0, 1)] == [False, False]
    assert [manager.is_set(row, "ignore_signs") for row in (0, 1)] == [True, True]


@pytest.mark.parametrize(("refuses", "enters"), [(1.0, True), (0.0, False)])
def test_one_that_refuses_does_not_wait_for_the_ego(plain: RoadMap, refuses: float, enters: bool) -> None:
    rude = RudeFlow(plain, 1, dataclasses.replace(CALM, refuses=refuses, gap_least=4.0, gap_most=4.0))
    rude.place(0, INBOUND_S, 85.0, 6.0)
    rude.flow.step()  # Its path now leads on through the junction.
    rude.flow.fleet.car.arc[0] += 23.0
    rude.ego[:] = (25.0, -9.0, 0.0, np.pi, 4.7, 1.9, 8.0)
    states = rude.flow.lights.states(0.0)
    rude.drivers.step(0.0, FRAME_S, rude.ego, states)
    assert bool(rude.flow.fleet.car.cleared[0] > rude.flow.fleet.car.arc[0] + 20.0) is enters


@pytest.mark.parametrize(
    ("behind", "faster", "cuts"),
    [(9.0, 0.0, True), (30.0, 0.0, False), (3.0, 0.0, False), (9.0, 1.0, True), (9.0, 3.0, False)],
)
def test_it_cuts_in_before_one_that_is_close_behind(
    two_lanes: RoadMap, behind: float, faster: float, cuts: bool
) -> None:
    """And not before one that is alongside by then, whatever that does."""
    rude = RudeFlow(two_lanes, 1, dataclasses.replace(CALM, cut_in_rate=10.0))
    rude.place(0, LaneId("1", 0, -2), 60.0, 6.0)
    x = float(rude.flow.fleet.car.x[0]) - behind
    rude.ego[:] = (x, -1.75, 0.0, 0.0, 4.7, 1.9, 6.0 + faster)
    before = rude.flow.lane(0)
    for _ in range(20):
        rude.drivers.step(0.0, FRAME_S, rude.ego, rude.flow.lights.states(0.0))
    assert (rude.flow.lane(0) != before) is cuts


WAY = np.column_stack((np.zeros(13), np.arange(-12.0, 13.0, 2.0), np.arange(0.0, 25.0, 2.0)))
"""Northwards through the origin, the bumper at its beginning."""


@pytest.mark.parametrize(
    ("x", "heading", "v", "free"),
    [(-24.0, 0.0, 8.0, False), (-90.0, 0.0, 8.0, True), (-24.0, np.pi, 8.0, True), (-24.0, 0.0, 0.0, True)],
    ids=["meets", "later", "going away", "standing"],
)
def test_a_gap_is_seen_by_poses_and_speeds(x: float, heading: float, v: float, free: bool) -> None:
    other = SeenVehicles(*(np.array([value]) for value in (x, 0.0, heading, v, 4.5)), row=np.array([3]))
    assert gap_seen(WAY, 0.0, 4.0, other, 2.0) is free
    assert not blocked(WAY, other)
    assert blocked(WAY, other._replace(x=np.array([1.0])))


def test_the_clock_of_a_light_begins_with_its_red() -> None:
    clock = RedClock()
    clock.look(0.0, np.array([Light.RED, Light.GREEN], dtype=np.int32))
    clock.look(1.0, np.array([Light.RED, Light.YELLOW], dtype=np.int32))
    clock.look(4.0, np.array([Light.RED, Light.RED], dtype=np.int32))
    assert clock.red_for(5.5, 0) == np.inf
    assert clock.red_for(5.5, 1) == pytest.approx(1.5)
    clock.look(6.0, np.array([Light.GREEN, Light.RED], dtype=np.int32))
    assert clock.red_for(6.5, 0) == -np.inf


def test_rude_pedestrians_run_out(course: RoadMap) -> None:
    def ran(share: float) -> int:
        seed, drawn = np.random.SeedSequence(3).spawn(2)
        rude = RudePedestrians(share, CrossingHabits(0.0, 1.0, 0.05), drawn)
        walkers = Pedestrians(course, 12, seed, PedestrianPopulationParameters(), rude)
        running = set[int]()
        for _ in range(400):
            walkers.step(FRAME_S, np.zeros((0, 6)))
            running |= {i for i, each in enumerate(walkers.pedestrians) if each.runs_out}
        return len(running)

    assert ran(0.0) == 0
    assert ran(1.0) > 2


def test_where_no_vehicle_fits_on_the_road_nobody_is_rude(plain: RoadMap) -> None:
    nobody = RudeFlow(plain, 0)
    nobody.flow.step()
    assert len(nobody.drivers.rows) == len(nobody.flow.rows) == 0

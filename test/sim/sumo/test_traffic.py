"""SUMO's vehicles beside an ego: they see it, yield to it, know the lights, and do the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import distance
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.scenario.model import Population
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.sim.sumo.drivers import attributes
from tuling_fsm.sim.sumo.ego import front_of
from tuling_fsm.sim.sumo.parameters import DriverParameters, RudeDriverParameters
from tuling_fsm.sim.sumo.traffic import SumoTraffic
from tuling_fsm.world.inputs import Light

from ..scenes import scenario
from .drives import CAR, FRAME_S, SumoDrive, route_between, sumo_on

FROM_EAST, TO_WEST = (100.0, 1.75, np.pi), (-100.0, 1.75, np.pi)
FROM_SOUTH, TO_NORTH = (1.75, -100.0, np.pi / 2.0), (1.75, 100.0, np.pi / 2.0)
LINE_M = 120.0
"""Length of an arm."""


def edge_at(traffic: SumoTraffic, x: float, y: float, heading: float) -> str:
    """The edge that leads there, by its lane's middle."""
    fits = [
        edge
        for edge, lanes in traffic.graph.lanes.items()
        for lane in lanes
        if abs((found := lane.center.project(x, y)).offset) < 0.5 and np.cos(found.heading - heading) > 0.9
    ]
    assert len(fits) == 1
    return fits[0]


def across(traffic: SumoTraffic) -> list[str]:
    """From south to north over the crossing."""
    return [edge_at(traffic, 1.75, -60.0, np.pi / 2.0), edge_at(traffic, 1.75, 60.0, np.pi / 2.0)]


def along(drive: SumoDrive) -> tuple[float, float]:
    """y of the front of the one vehicle (m, 0: middle of the crossing) and its speed (m/s)."""
    (vehicle,) = drive.traffic.run.vehicles
    return vehicle.pose.y + 0.5 * vehicle.length, vehicle.v


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_the_ego_is_where_it_is_and_its_way_goes_on_through_the_junction(signed: RoadMap, folder: Path) -> None:
    route = route_between(signed, FROM_EAST, TO_WEST)
    with sumo_on(folder, signed) as traffic:
        drive = SumoDrive(traffic, signed, route)
        inward, outward = edge_at(traffic, 60.0, 1.75, np.pi), edge_at(traffic, -60.0, 1.75, np.pi)
        for _ in range(round(18.0 / FRAME_S)):
            drive.step(8.0)
            seen = drive.engine.ego_pose()
            assert seen is not None
            assert distance(seen[0][:2], front_of(drive.ego)[:2]) < 0.01
            way = drive.engine.ego_way_left()
            assert way in ([inward, outward], [outward])
            assert way[0] == inward or front_of(drive.ego).x < 12.0
        assert traffic.run.verdict()["ego_unseen_s"] == 0.0


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_one_that_has_to_yield_waits_for_the_ego(signed: RoadMap, folder: Path) -> None:
    """Where the ego stands far off it goes at once; where it comes, only when it has passed.

    With a way that ends before the junction, as moveToXY leaves it, it would go at once in both cases, and be hit.
    """
    route = route_between(signed, FROM_EAST, TO_WEST)
    crossed = {}
    with sumo_on(folder, signed) as traffic:
        for v in (0.0, 8.0):
            drive = SumoDrive(traffic, signed, route, s=45.0)
            assert drive.engine.add(1, CAR, across(traffic), 0, LINE_M - 12.0)
            times = [drive.stamp for frame in range(round(14.0 / FRAME_S)) if drive.step(v) and along(drive)[0] > -5.0]
            crossed[v] = times[0]
            if v > 0.0:
                assert times[0] > (route.reference.project(0.0, 1.75).s - 45.0) / v
                assert not drive.traffic.verdict()["contacts"]
    assert crossed[8.0] > crossed[0.0] + 2.0


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_one_that_comes_from_behind_stops_behind_a_standing_ego(plain: RoadMap, folder: Path) -> None:
    route = route_between(plain, FROM_SOUTH, TO_NORTH)
    with sumo_on(folder, plain) as traffic:
        drive = SumoDrive(traffic, plain, route, s=40.0)
        assert drive.engine.add(1, CAR, across(traffic), 0, 20.0)
        drive.run(20.0)
        front, v = along(drive)
        rear = front_of(drive.ego).y - drive.ego.length
        assert v < 0.1
        assert 1.0 < rear - front < 5.0
        assert not drive.traffic.verdict()["collisions"]


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_the_lights_of_the_map_are_those_of_sumo(lit: RoadMap, folder: Path) -> None:
    route = route_between(lit, FROM_EAST, TO_WEST)
    with sumo_on(folder, lit) as traffic:
        assert traffic.lights.unmatched == ()
        drive = SumoDrive(traffic, lit, route)
        drive.lights = dict.fromkeys(drive.lights, int(Light.RED))
        assert drive.engine.add(1, CAR, across(traffic), 0, 40.0)
        drive.run(15.0)
        front, v = along(drive)
        assert -17.0 < front < -11.0
        assert v < 0.1
        south = next(number for number in drive.lights if lit.signals[number].pose.y < -5.0)
        drive.lights[south] = int(Light.GREEN)
        drive.run(8.0)
        assert along(drive)[0] > 10.0


def test_each_link_shows_what_its_signal_shows(lit: RoadMap, folder: Path) -> None:
    with sumo_on(folder, lit) as traffic:
        (light,) = traffic.lights.states({})
        for number in (1, 2, 3, 4):
            shown = {each: int(Light.RED) for each in (1, 2, 3, 4)} | {number: int(Light.GREEN)}
            letters = traffic.lights.states(shown)[light]
            of_link = list(traffic.lights.signals(light))
            assert {signals for signals, letter in zip(of_link, letters, strict=True) if letter in "Gg"} == {(number,)}
            assert len(letters) == 12
        assert set(traffic.lights.states(dict.fromkeys((1, 2, 3, 4), int(Light.DARK)))[light]) <= {"o", "O"}
        assert set(traffic.lights.states(dict.fromkeys((1, 2, 3, 4), int(Light.YELLOW)))[light]) == {"y"}


@pytest.mark.clause("SIM-2")
@pytest.mark.medium
def test_the_same_seed_gives_the_same_run(lit: RoadMap, folder: Path) -> None:
    route = route_between(lit, FROM_EAST, TO_WEST)

    def boxes(seed: int) -> list[bytes]:
        drive = SumoDrive(traffic, lit, route, population=Population(8, 0, 0.5), seed=seed)
        return [drive.traffic.boxes().rows.tobytes() for _ in drive.run(10.0, 5.0)]

    with sumo_on(folder, lit) as traffic:
        first = boxes(4)
        assert boxes(4) == first
        assert boxes(5) != first


def test_rude_drivers_ignore_the_right_of_way_and_follow_closely(plain: RoadMap, folder: Path) -> None:
    calm, rude = attributes(DriverParameters()), attributes(RudeDriverParameters())
    assert float(calm["jmIgnoreFoeProb"]) == 0.0
    assert float(rude["jmIgnoreFoeProb"]) == 1.0
    assert float(rude["tau"]) == 0.7 < float(calm["tau"])
    route = route_between(plain, FROM_EAST, TO_WEST)
    with sumo_on(folder, plain) as traffic:
        for share, count in ((0.0, 0), (0.25, 2), (1.0, 8)):
            drive = SumoDrive(traffic, plain, route, population=Population(8, 0, share))
            kinds = [drive.engine.kind(number) for number in drive.engine.numbers()]
            assert len(kinds) == 8
            assert sum(kind.startswith("rude") for kind in kinds) == count == traffic.verdict()["rude"]


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_a_rude_driver_takes_the_right_of_way_of_the_ego(signed: RoadMap, folder: Path) -> None:
    """It is over the road before the ego, for whom a calm one waits."""
    route = route_between(signed, FROM_EAST, TO_WEST)
    crossed = {}
    with sumo_on(folder, signed) as traffic:
        for kind in (CAR, CAR.replace("calm", "rude")):
            drive = SumoDrive(traffic, signed, route, s=30.0)
            assert drive.engine.add(1, kind, across(traffic), 0, LINE_M - 12.0)
            crossed[kind] = next(
                drive.stamp for frame in range(round(14.0 / FRAME_S)) if drive.step(6.0) and along(drive)[0] > -5.0
            )
    assert crossed["rude1"] < crossed[CAR] - 1.0


@pytest.mark.medium
def test_the_population_keeps_its_number_and_its_ids(plain: RoadMap, folder: Path) -> None:
    """All ways of these crossroads end: a vehicle that has left comes back as another, away from the ego."""
    route = route_between(plain, FROM_EAST, TO_WEST)
    with sumo_on(folder, plain) as traffic:
        drive = SumoDrive(traffic, plain, route, population=Population(6))
        frames = drive.run(60.0)
        counts = [len(frame) for frame in frames]
        assert counts[0] == 6
        assert min(counts[-200:]) >= 3
        numbers = [{vehicle.number for vehicle in frame} for frame in frames]
        assert max(numbers[-1]) > max(numbers[0])
        for before, after, frame in zip(numbers, numbers[1:], frames[1:], strict=False):
            new = [vehicle for vehicle in frame if vehicle.number in after - before]
            assert all(distance(vehicle.pose[:2], drive.ego.pose[:2]) > 55.0 for vehicle in new)


@pytest.mark.clause("SIM-1", "SIM-2")
@pytest.mark.medium
def test_the_simulation_has_sumos_vehicles_for_its_agents(lit: RoadMap, folder: Path) -> None:
    with sumo_on(folder, lit) as traffic:
        sim = Simulation(lit, scenario(population=Population(8)), 3, Vehicle(), None, traffic)
        for _ in range(100):
            sim.advance(None)
            boxes = traffic.boxes()
            assert [agent.id for agent in sim.agents()] == boxes.ids.tolist()
            assert [agent.pose[:2] for agent in sim.agents()] == [tuple(row) for row in boxes.rows[:, :2].tolist()]
        objects = sim.inputs().objects
        assert objects is not None
        assert 0 < len(objects.rows) <= 8
        assert set(objects.rows["id"].tolist()) <= set(boxes.ids.tolist())
        assert max(agent.v for agent in sim.agents()) > 3.0
        trace = sim.trace_sha256()
        again = sim.restarted(3)
        for _ in range(100):
            again.advance(None)
        assert again.trace_sha256() == trace
        with pytest.raises(InputError, match="variable step"):
            again.advance(None, delta=0.03)


@pytest.mark.medium
def test_what_waits_at_a_red_light_is_not_taken_off(lit: RoadMap, folder: Path) -> None:
    route = route_between(lit, FROM_EAST, TO_WEST)
    with sumo_on(folder, lit) as traffic:
        drive = SumoDrive(
            traffic, lit, route, population=Population(6), parameters=TrafficManagerParameters(removal_time=20.0)
        )
        drive.lights = dict.fromkeys(drive.lights, int(Light.RED))
        drive.run(60.0)
        assert max(drive.engine.standing_s(number) for number in drive.engine.numbers()) > 25.0
        assert traffic.run.population.removed == 0

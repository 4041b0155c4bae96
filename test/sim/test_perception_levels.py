"""Perception in levels: each worse than the one before, and ghosts, halves and new ids as a tracker makes them."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import SensorParameters, SimParameters, TrackingErrorParameters
from tuling_fsm.sim.scenario.model import Population
from tuling_fsm.sim.sensors.perception import Sensors
from tuling_fsm.sim.sensors.perception_levels import CLEAN, LEVELS, perception_level
from tuling_fsm.sim.sensors.tracking_errors import FIRST_NUMBER, LASTS_S, TrackingErrors
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Kind

from .effects import LANE, run, world
from .scenes import scenario

FRAME_S = 0.05
HERE = Pose(0.0, 0.0, 0.0)


def two_rows() -> npt.NDArray[np.void]:
    """A bus and a car."""
    rows = np.zeros(2, OBJECTS)
    rows["id"], rows["kind"] = (7, 8), (Kind.BUS, Kind.CAR)
    rows["x"], rows["y"], rows["heading"] = (20.0, 40.0), (3.0, 0.0), (np.pi / 2.0, 0.0)
    rows["length"], rows["width"], rows["existence"] = (12.0, 4.5), (2.5, 1.9), 1.0
    return rows


def tracked(seconds: float, seed: int = 3, **rates: float) -> list[npt.NDArray[np.void]]:
    """What a tracker tells of the two, frame by frame."""
    tracker = TrackingErrors(np.random.SeedSequence(seed), TrackingErrorParameters(**rates))
    return [tracker.apply(k * FRAME_S, HERE, two_rows(), True) for k in range(round(seconds / FRAME_S))]


def drive(road_map: RoadMap, level: str, seed: int = 1) -> list[Inputs]:
    settings = SimParameters(sensors=perception_level(level))
    sim = Simulation(road_map, scenario(population=Population(8)), seed, Vehicle(), settings)
    frames = [sim.inputs()]
    for _ in range(60):
        sim.advance(None)
        frames.append(sim.inputs())
    return frames


def position_errors(clean: list[Inputs], other: list[Inputs]) -> FloatArray:
    """How far objects (by id) are from where they are at the stamp of the table, m."""
    truth = {round(frame.stamp, 3): frame.objects for frame in clean}
    errors = []
    for frame in other:
        table = frame.objects
        true = None if table is None else truth[round(table.stamp, 3)]
        if table is None or true is None:
            continue
        _, a, b = np.intersect1d(true.rows["id"], table.rows["id"], return_indices=True)
        errors += (table.rows["x"][b] - true.rows["x"][a]).tolist()
    return np.array(errors, dtype=np.float64)


@pytest.mark.clause("SIM-2")
@pytest.mark.medium
def test_each_level_is_worse_than_the_one_before_and_repeats(lit: RoadMap) -> None:
    clean = drive(lit, CLEAN)
    spreads, ages, shares = [], [], []
    for level in LEVELS:
        frames = drive(lit, level)
        tables = [frame.objects for frame in frames if frame.objects is not None]
        spreads.append(float(np.std(position_errors(clean, frames))))
        ages.append(frames[-1].stamp - tables[-1].stamp)
        shares.append(sum(len(table.rows) for table in tables) / len(frames))
        again = [frame.objects for frame in drive(lit, level) if frame.objects is not None]
        assert [t.rows.tobytes() for t in tables] == [t.rows.tobytes() for t in again]
    assert spreads[0] == ages[0] == 0.0
    assert spreads == pytest.approx([0.0, 0.15, 0.3, 0.5], abs=0.06)
    assert ages == pytest.approx([0.0, 0.1, 0.25, 0.4], abs=0.06)
    assert all(worse < better for better, worse in itertools.pairwise(shares[:3]))


@pytest.mark.medium
@pytest.mark.clause("RFG-1", "SIM-2")
@pytest.mark.parametrize("blinded", ["weather.rain(8mmph, {})", "suite.disturb(sensor: lidar, drop_out: 1.0, {})"])
def test_a_lidar_that_sees_nothing_sees_no_ghosts_and_then_those_that_it_would_have_seen(
    two_lanes: RoadMap, blinded: str
) -> None:
    def ghosts(effect: str) -> list[list[int]]:
        sim = world(two_lanes, f"{LANE}    suite: sensor_suite\n", "wait elapsed(1s)", effect)
        sim.disturb_tracking(TrackingErrorParameters(ghosts=5.0))
        tables = [run(sim, FRAME_S).objects for _ in range(60)]
        return [table.rows["id"].tolist() for table in tables if table is not None]

    told, clear = ghosts(blinded.format("duration: 1s")), ghosts("wait elapsed(9s)")
    before, blind, after = slice(0, 18), slice(22, 38), slice(42, 60)
    assert any(clear[before]) and any(clear[blind]) and any(clear[after])
    assert not any(told[blind])
    assert (told[before], told[after]) == (clear[before], clear[after])


def test_there_is_no_other_level() -> None:
    with pytest.raises(InputError, match=r"'foggy' is no level .*one of clean, mild, middle, hard"):
        perception_level("foggy")


@pytest.mark.clause("INT-2")
def test_lights_behind_and_far_away_are_not_in_view(lit: RoadMap) -> None:
    number, signal = next((number, signal) for number, signal in lit.signals.items() if signal.dynamic)
    table = np.zeros(1, TRAFFIC_LIGHTS)
    table["signal"] = number
    sensors = Sensors(lit, SensorParameters(light_range=60.0, light_view=1.0))
    x, y, _ = signal.pose

    def seen(pose: Pose) -> int:
        return len(sensors.lights_in_view(pose, table))

    place, line = next(
        (lane.center.at(line.s), line)
        for number_of_lane, lane in lit.lanes.items()
        for line in lit.stop_lines_of(number_of_lane)
        if line.signal == number
    )
    back = 4.0
    assert line.kind == "light"
    assert seen(Pose(place.x - back * np.cos(place.heading), place.y - back * np.sin(place.heading), place.heading))
    assert not seen(Pose(place.x, place.y, place.heading + np.pi))
    assert not seen(Pose(x - 100.0, y, 0.0)) and not seen(Pose(x + 100.0, y, np.pi))
    everything = Sensors(lit, SensorParameters())
    assert len(everything.lights_in_view(Pose(x + 5000.0, y, 0.0), table)) == 1


def test_nothing_is_wrong_unless_it_is_asked_for() -> None:
    assert all(frame.tobytes() == two_rows().tobytes() for frame in tracked(2.0))


def test_ghosts_come_at_their_rate_and_go() -> None:
    frames = tracked(200.0, ghosts=0.5)
    ghosts: dict[int, int] = {}
    for rows in frames:
        assert rows[:2].tobytes() == two_rows().tobytes()
        for number in rows["id"][2:].tolist():
            ghosts[number] = ghosts.get(number, 0) + 1
    assert 70 < len(ghosts) < 130 and min(ghosts) >= FIRST_NUMBER
    assert max(ghosts.values()) <= round(LASTS_S / FRAME_S) + 1


def test_a_long_object_is_seen_as_its_two_halves() -> None:
    frames = tracked(60.0, splits=0.5)
    halves = [rows for rows in frames if len(rows) == 3]
    assert 0.1 < len(halves) / len(frames) < 0.5
    for rows in halves:
        rear, car, front = rows
        assert (rear["id"], car["id"]) == (7, 8) and front["id"] >= FIRST_NUMBER
        assert (rear["length"], front["length"], car["length"]) == (6.0, 6.0, 4.5)
        assert (rear["y"], front["y"]) == pytest.approx((0.0, 6.0))
        assert (rear["x"], front["x"]) == pytest.approx((20.0, 20.0))


def test_an_id_changes_for_good_and_is_nobody_elses() -> None:
    frames = tracked(60.0, id_changes=0.2)
    seen = [tuple(rows["id"].tolist()) for rows in frames]
    names = [[pair[0] for pair in seen], [pair[1] for pair in seen]]
    for row in names:
        runs = [number for number, _ in itertools.groupby(row)]
        assert len(runs) == len(set(runs)) and 5 < len(runs) < 25
    assert not set(names[0]) & set(names[1])
    assert seen != [tuple(rows["id"].tolist()) for rows in tracked(60.0, seed=4, id_changes=0.2)]

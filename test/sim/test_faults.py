"""Noise, latency, drop-out and occlusion of sensors: seeded, each by itself, off by default."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.faults import Channel, hidden
from tuling_fsm.sim.parameters import FaultParameters, SensorParameters, SimParameters
from tuling_fsm.sim.referee import Others
from tuling_fsm.sim.scenario.load import compile_text
from tuling_fsm.sim.scenario.model import Actor, ActorKind, Population, RouteTo
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Inputs, Odometry

from .scenes import scenario

FRAMES = 40


def run(road_map: RoadMap, seed: int = 1, **faults: FaultParameters) -> list[Inputs]:
    """A few seconds among traffic."""
    settings = SimParameters(sensors=SensorParameters(**faults))
    sim = Simulation(road_map, scenario(population=Population(6)), seed, Vehicle(), settings)
    seen = [sim.inputs()]
    for _ in range(FRAMES):
        sim.advance(None)
        seen.append(sim.inputs())
    return seen


def objects(frames: list[Inputs]) -> list[bytes]:
    return [frame.objects.rows.tobytes() for frame in frames if frame.objects is not None]


def poses(frames: list[Inputs]) -> list[tuple[float, ...]]:
    return [tuple(frame.odometry.pose) for frame in frames if frame.odometry is not None]


@pytest.mark.clause("SIM-2")
def test_faults_repeat_with_the_seed_and_touch_no_other_sensor(lit: RoadMap) -> None:
    noisy = {"objects_faults": FaultParameters(noise=0.3, drop_out=0.2)}
    plain, one, again = run(lit), run(lit, **noisy), run(lit, **noisy)
    assert objects(one) == objects(again) != objects(plain)
    assert poses(one) == poses(plain)
    both = run(lit, **noisy, odometry_faults=FaultParameters(noise=0.1))
    assert objects(both) == objects(one)
    assert poses(both) != poses(one)


def test_noise_has_its_deviation_and_odometry_says_so(lit: RoadMap) -> None:
    plain, noisy = run(lit), run(lit, odometry_faults=FaultParameters(noise=0.2))
    errors = [
        a - b
        for one, other in zip(poses(plain), poses(noisy), strict=True)
        for a, b in zip(one[:2], other[:2], strict=True)
    ]
    assert 0.15 < float(np.std(errors)) < 0.25
    assert all(frame.odometry is not None and frame.odometry.position_std == 0.2 for frame in noisy)


def test_drop_out_takes_its_share_of_rows_and_messages(lit: RoadMap) -> None:
    half = FaultParameters(drop_out=0.5)
    plain, faulty = run(lit), run(lit, objects_faults=half, odometry_faults=half)
    counts = [sum(len(rows) for rows in objects(frames)) for frames in (plain, faulty)]
    assert 0.35 < counts[1] / counts[0] < 0.65
    stamps = [frame.odometry.stamp for frame in faulty if frame.odometry is not None]
    assert 0.25 * FRAMES < len(set(stamps)) < 0.75 * FRAMES


def test_latency_delays_a_message_with_its_stamp(lit: RoadMap) -> None:
    late = run(lit, objects_faults=FaultParameters(latency=0.2))
    assert [frame.objects for frame in late[:4]] == [None] * 4
    plain = run(lit)
    for frame, before in zip(late[4:], plain, strict=False):
        assert frame.objects is not None and before.objects is not None
        assert frame.stamp - frame.objects.stamp == pytest.approx(0.2)
        assert frame.objects.rows.tobytes() == before.objects.rows.tobytes()


def test_a_message_that_has_been_overtaken_never_comes() -> None:
    channel = Channel(np.random.SeedSequence(1), FaultParameters(latency=0.3))
    odometry = [Odometry(0.1 * i, Pose(float(i), 0.0, 0.0), 0.0, 0.0) for i in range(8)]
    last: Odometry | None = None
    seen = []
    for i, message in enumerate(odometry):
        if i == 2:
            channel.fault = FaultParameters()
        last = channel.send(message.stamp, message, last)
        seen.append(None if last is None else last.pose.x)
    assert seen == [None, None, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_what_stands_wholly_behind_something_is_hidden() -> None:
    def at(*boxes: tuple[float, float, float, float, float]) -> Others:
        rows = np.array([(x, y, math.nan, heading, length, width, 0.0) for x, y, heading, length, width in boxes])
        return Others(rows, np.ones(len(rows), np.uint8), np.arange(len(rows), dtype=np.uint32))

    truck, child, car = (10.0, 0.0, 0.0, 8.0, 2.5), (16.0, 0.3, 0.0, 0.5, 0.5), (16.0, 3.2, 0.0, 4.5, 1.8)
    assert hidden(0.0, 0.0, at(truck, child, car)).tolist() == [False, True, False]
    assert hidden(0.0, 0.0, at(child)).tolist() == [False]
    assert hidden(16.0, 10.0, at(truck, child)).tolist() == [False, False]
    assert hidden(0.0, 0.0, at(truck, child)).tolist() == hidden(0.0, 0.0, at(truck, child)).tolist()


def test_occlusion_takes_hidden_objects_from_the_table(two_lanes: RoadMap) -> None:
    def seen(occlusion: bool) -> list[int]:
        actors = tuple(
            Actor(name, ActorKind.BARRIER, length, width, AtPose(x, -1.75, 0.0))
            for name, x, length, width in (("wall", 60.0, 1.0, 3.0), ("child", 66.0, 0.5, 0.5))
        )
        text = scenario(ego=AtPose(40.0, -1.75, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)), actors=actors)
        settings = SimParameters(sensors=SensorParameters(objects_faults=FaultParameters(occlusion=occlusion)))
        table = Simulation(two_lanes, text, 1, Vehicle(), settings).inputs().objects
        assert table is not None
        return table.rows["id"].tolist()

    assert (seen(False), seen(True)) == ([1, 2], [1])


DISTURBED = """scenario disturbed:
    ego: vehicle
    sensors: sensor_suite
    start: xyz_point = map.create_xyz_point(x: 40m, y: -1.75m)
    goal: xyz_point = map.create_xyz_point(x: 300m, y: -1.75m)
    do parallel:
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
        sensors.disturb(sensor: odometry, {faults}, duration: 0.5s)
"""


def test_a_scenario_disturbs_a_sensor_for_a_while(two_lanes: RoadMap) -> None:
    sim = Simulation(two_lanes, compile_text(DISTURBED.format(faults="noise: 0.2m"), "d.osc"), 1, Vehicle())
    stds = []
    for _ in range(20):
        sim.advance(None)
        odometry = sim.inputs().odometry
        assert odometry is not None
        stds.append(odometry.position_std)
    assert stds[0] == 0.2 and stds[-1] == 0.0
    for faults in ("drop_out: 1.5", "noise: -1m"):
        with pytest.raises(InputError, match="a fault below 0, or a share above 1"):
            compile_text(DISTURBED.format(faults=faults), "d.osc")

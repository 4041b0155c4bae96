"""Noise, latency, drop-out and occlusion of sensors: seeded, each by itself, off by default."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from shapely.affinity import rotate

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes
from tuling_fsm.sim.parameters import FaultParameters, SensorParameters, SimParameters
from tuling_fsm.sim.scenario.choices import ActorKind, Sensor
from tuling_fsm.sim.scenario.commands import DisturbSensor, Remove, SetFog
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.model import Population, RouteTo, ScenarioActor
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.sensors.faults import PARTS, SensorChannel, SensorChannels, SensorFusion
from tuling_fsm.sim.sensors.occlusion import hidden
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import OBJECTS, Inputs, Kind, Odometry, Source

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
    channel = SensorChannel(np.random.SeedSequence(1), FaultParameters(latency=0.3))
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
    def at(*boxes: tuple[float, float, float, float, float]) -> AgentBoxes:
        rows = np.array([(x, y, math.nan, heading, length, width, 0.0) for x, y, heading, length, width in boxes])
        return AgentBoxes(rows, np.ones(len(rows), np.uint8), np.arange(len(rows), dtype=np.uint32))

    truck, child, car = (10.0, 0.0, 0.0, 8.0, 2.5), (16.0, 0.3, 0.0, 0.5, 0.5), (16.0, 3.2, 0.0, 4.5, 1.8)
    assert hidden(0.0, 0.0, at(truck, child, car)).tolist() == [False, True, False]
    assert hidden(0.0, 0.0, at(child)).tolist() == [False]
    assert hidden(16.0, 10.0, at(truck, child)).tolist() == [False, False]
    assert hidden(0.0, 0.0, at(truck, child)).tolist() == hidden(0.0, 0.0, at(truck, child)).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_hidden_is_what_a_geometry_library_has_no_free_line_of_sight_to(seed: int) -> None:
    random = np.random.default_rng(seed)
    places, headings, sizes = (
        random.normal(0.0, 20.0, (30, 2)),
        random.uniform(-3.0, 3.0, 30),
        random.uniform(0.4, 6.0, (30, 2)),
    )
    rows = np.column_stack((places, np.zeros(30), headings, sizes, np.zeros(30)))
    agents = AgentBoxes(rows, np.ones(30, np.uint8), np.arange(30, dtype=np.uint32))
    bodies = [
        rotate(
            shapely.box(x - 0.5 * length, y - 0.5 * width, x + 0.5 * length, y + 0.5 * width), heading, use_radians=True
        )
        for (x, y), heading, (length, width) in zip(places, headings, sizes, strict=True)
    ]

    def seen(i: int) -> bool:
        others = shapely.union_all([body.exterior for j, body in enumerate(bodies) if j != i])
        sights = [shapely.LineString([(0.0, 0.0), point]) for point in (places[i], *bodies[i].exterior.coords)]
        return not all(others.intersects(sight) for sight in sights)

    found = hidden(0.0, 0.0, agents).tolist()
    assert found == [not seen(i) for i in range(30)]
    assert 0 < sum(found) < 30


@pytest.mark.parametrize(
    ("kinds", "levels", "is_hidden"),
    [
        ((Kind.TRUCK, Kind.CAR), (0.0, 0.0), True),
        ((Kind.TRUCK, Kind.CAR), (math.nan, 0.0), True),
        ((Kind.TRUCK, Kind.CAR), (8.0, 0.0), False),
        ((Kind.CONE, Kind.PEDESTRIAN), (0.0, 0.0), False),
        ((Kind.DEBRIS, Kind.CAR), (0.0, 0.0), False),
        ((Kind.CONE, Kind.DEBRIS), (0.0, 0.0), True),
        ((Kind.CAR, Kind.CONE), (0.0, 0.0), True),
    ],
)
def test_nobody_is_hidden_by_what_is_lower_or_on_a_bridge(
    kinds: tuple[Kind, Kind], levels: tuple[float, float], is_hidden: bool
) -> None:
    rows = np.array([(x, 0.0, z, 0.0, 0.4, 0.4, 0.0) for x, z in zip((2.0, 30.0), levels, strict=True)])
    agents = AgentBoxes(rows, np.array(kinds, np.uint8), np.arange(2, dtype=np.uint32))
    assert hidden(0.0, 0.0, agents).tolist() == [False, is_hidden]


def test_occlusion_takes_hidden_objects_from_the_table(two_lanes: RoadMap) -> None:
    def seen(occlusion: bool) -> list[int]:
        actors = tuple(
            ScenarioActor(name, ActorKind.BARRIER, length, width, AtPose(x, -1.75, 0.0))
            for name, x, length, width in (("wall", 60.0, 1.0, 3.0), ("child", 66.0, 0.5, 0.5))
        )
        text = scenario(ego=AtPose(40.0, -1.75, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)), actors=actors)
        settings = SimParameters(sensors=SensorParameters(objects_faults=FaultParameters(occlusion=occlusion)))
        table = Simulation(two_lanes, text, 1, Vehicle(), settings).inputs().objects
        assert table is not None
        return table.rows["id"].tolist()

    assert (seen(False), seen(True)) == ([1, 2], [1])


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize(
    ("faults", "known"),
    [
        ({}, True),
        ({"objects_faults": FaultParameters(occlusion=True)}, False),
        ({f"{name}_faults": FaultParameters(occlusion=True) for name in ("lidar", "radar", "camera")}, False),
        ({f"{name}_faults": FaultParameters(drop_out=1.0) for name in ("lidar", "camera")}, False),
    ],
    ids=["well seen", "hidden in the table", "hidden from all sensors", "dropped"],
)
def test_the_history_map_knows_nothing_that_was_not_seen(
    two_lanes: RoadMap, faults: dict[str, FaultParameters], known: bool
) -> None:
    actors = tuple(
        ScenarioActor(name, kind, length, 1.8, AtPose(x, -1.75, 0.0))
        for name, kind, length, x in (("van", ActorKind.VEHICLE, 6.0, 60.0), ("cone", ActorKind.CONE, 0.4, 70.0))
    )
    text = scenario(ego=AtPose(40.0, -1.75, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)), actors=actors)
    sim = Simulation(two_lanes, text, 1, Vehicle(), SimParameters(sensors=SensorParameters(**faults)))
    for command in (SetFog(10.0), Remove("van")):
        sim.advance(None)
        sim.inject(command)
    sim.advance(None)
    table = sim.inputs().objects
    assert table is not None
    assert table.rows["source"].tolist() == ([Source.HISTORY_MAP] if known else [])


def seen_by(frames: list[Inputs], sensor: Source) -> list[int]:
    """How many objects a sensor sees on each frame."""
    return [int(np.count_nonzero(frame.objects.rows["source"] & sensor)) for frame in frames if frame.objects]


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("name", ["lidar", "radar", "camera"])
@pytest.mark.medium
def test_each_sensor_misses_what_it_misses_and_leaves_the_others_alone(lit: RoadMap, name: str) -> None:
    half = {f"{name}_faults": FaultParameters(drop_out=0.5)}
    plain, faulty, again = run(lit), run(lit, **half), run(lit, **half)
    assert objects(faulty) == objects(again)
    for sensor in (Source.LIDAR, Source.RADAR, Source.CAMERA):
        whole, left = sum(seen_by(plain, sensor)), sum(seen_by(faulty, sensor))
        assert whole > 100
        assert 0.4 < left / whole < 0.6 if sensor.name == name.upper() else left == whole
    assert [len(each) for each in objects(faulty)] == [len(each) for each in objects(plain)]


@pytest.mark.clause("SIM-2")
def test_what_no_sensor_sees_is_not_there(lit: RoadMap) -> None:
    blind = FaultParameters(drop_out=1.0)
    frames = run(lit, lidar_faults=blind, radar_faults=blind, camera_faults=blind)
    assert sum(len(each) for each in objects(frames)) == 0


def offsets(plain: list[Inputs], other: list[Inputs]) -> FloatArray:
    """How far from its place each object seems to be, in x and y, m."""
    pairs = [(a.objects, b.objects) for a, b in zip(plain, other, strict=True)]
    both = [(a.rows, b.rows) for a, b in pairs if a is not None and b is not None]
    return np.concatenate([np.stack([a[axis] - b[axis] for axis in "xy"], axis=1) for a, b in both])


@pytest.mark.medium
def test_an_object_is_where_the_best_sensor_that_sees_it_says(lit: RoadMap) -> None:
    plain, coarse, fine = run(lit), FaultParameters(noise=1.0), FaultParameters(noise=0.1)
    assert not offsets(plain, run(lit, radar_faults=coarse, camera_faults=coarse)).any()
    spread = offsets(plain, run(lit, lidar_faults=fine, radar_faults=coarse, camera_faults=coarse)).std()
    assert spread == pytest.approx(0.1, abs=0.02)
    gone = FaultParameters(drop_out=1.0)
    spread = offsets(plain, run(lit, lidar_faults=gone, radar_faults=coarse, camera_faults=gone)).std()
    assert spread == pytest.approx(1.0, abs=0.2)


def test_a_late_sensor_says_what_it_saw_then(two_lanes: RoadMap) -> None:
    """What comes 0.5 s late is as far behind as that, and the others know better."""
    actor = ScenarioActor("npc", ActorKind.VEHICLE, 4.5, 1.8, AtPose(80.0, -1.75, 0.0), 8.0)
    late, gone = FaultParameters(latency=0.5), FaultParameters(drop_out=1.0)

    def places(**faults: FaultParameters) -> list[tuple[float, int]]:
        text = scenario(ego=AtPose(40.0, -1.75, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)), actors=(actor,))
        sim = Simulation(two_lanes, text, 1, Vehicle(), SimParameters(sensors=SensorParameters(**faults)))
        seen = []
        for _ in range(24):
            table = sim.inputs().objects
            seen += [(float(row["x"]), int(row["source"])) for row in table.rows] if table is not None else []
            sim.advance(None)
        return seen

    plain = places()
    alone = places(lidar_faults=late, radar_faults=gone, camera_faults=gone)
    assert [x for x, _ in alone] == [x for x, _ in plain[: len(plain) - 10]]
    assert {source for _, source in alone} == {Source.LIDAR}
    together = places(lidar_faults=late)
    assert [x for x, _ in together] == [x for x, _ in plain]
    assert [source & Source.LIDAR for _, source in together] == [0] * 10 + [Source.LIDAR] * 14


CAR_MPS = 10.0


def told_places(latencies: list[tuple[float, float]], until: float) -> dict[float, list[float]]:
    """Where a car that is at `CAR_MPS` times the stamp is told to be, by stamp; the latency of all three sensors (s)
    changes after a stamp.
    """
    channels = SensorChannels(np.random.SeedSequence(1), SensorParameters())
    fusion, changes, told = SensorFusion(channels), dict(latencies), {}
    for frame in range(round(until / 0.05) + 1):
        stamp = round(0.05 * frame, 2)
        rows = np.zeros(1, OBJECTS)
        rows["id"], rows["source"], rows["x"] = 7, sum(PARTS.values()), CAR_MPS * stamp
        told[stamp] = fusion.objects(stamp, rows, lambda: np.zeros(0, np.uint32))["x"].tolist()
        for sensor in PARTS if stamp in changes else ():
            channels.apply(DisturbSensor(sensor, latency=changes[stamp]))
    return told


def test_sensors_that_become_late_tell_what_they_saw_last_until_the_next_comes() -> None:
    told = told_places([(5.0, 1.0)], until=7.0)
    assert told[5.0] == [50.0]
    assert [told[stamp] for stamp in (5.05, 5.5, 6.0)] == [[50.0]] * 3
    assert told[6.05] == pytest.approx([50.5])
    assert told[7.0] == pytest.approx([60.0])


def test_what_was_under_way_when_all_became_well_never_comes() -> None:
    told = told_places([(0.0, 1.0), (5.0, 0.0), (20.0, 1.0)], until=22.0)
    assert told[5.0] == pytest.approx([40.0])
    assert told[5.05] == pytest.approx([50.5])
    assert [told[stamp] for stamp in (20.05, 21.0)] == [[200.0]] * 2
    assert told[21.05] == pytest.approx([200.5])


def test_a_sensor_may_be_the_only_one_that_others_stand_in_the_way_of(two_lanes: RoadMap) -> None:
    actors = tuple(
        ScenarioActor(name, ActorKind.BARRIER, length, width, AtPose(x, -1.75, 0.0))
        for name, x, length, width in (("wall", 60.0, 1.0, 3.0), ("child", 66.0, 0.5, 0.5))
    )
    text = scenario(ego=AtPose(40.0, -1.75, 0.0), route=RouteTo(AtPose(300.0, -1.75, 0.0)), actors=actors)
    blocked = FaultParameters(occlusion=True)
    settings = SimParameters(sensors=SensorParameters(lidar_faults=blocked, camera_faults=blocked, lidar_range=19.0))
    table = Simulation(two_lanes, text, 1, Vehicle(), settings).inputs().objects
    assert table is not None
    assert table.rows["source"].tolist() == [Source.RADAR | Source.CAMERA, Source.RADAR]


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


@pytest.mark.clause("OSC-1")
def test_after_a_disturbance_a_sensor_is_as_the_level_of_perception_has_it(two_lanes: RoadMap) -> None:
    text = compile_text(DISTURBED.format(faults="noise: 0.2m"), "d.osc")
    settings = SimParameters(sensors=SensorParameters(odometry_faults=FaultParameters(noise=0.05)))
    sim = Simulation(two_lanes, text, 1, Vehicle(), settings)
    channel, faults = sim._feed.channels[Sensor.ODOMETRY], []
    for _ in range(20):
        sim.advance(None)
        faults.append(channel.fault)
    assert faults[0] == FaultParameters(noise=0.2)
    assert faults[-1] == FaultParameters(noise=0.05)


def test_a_scenario_takes_the_lidar_for_a_while(two_lanes: RoadMap) -> None:
    text = DISTURBED.replace("sensor: odometry", "sensor: lidar").replace(
        "        serial:\n", "        serial:\n            wall.assign_position(goal)\n", 1
    )
    text = text.replace("    sensors:", "    wall: stationary_object\n    sensors:").replace("x: 300m", "x: 90m")
    sim = Simulation(two_lanes, compile_text(text.format(faults="drop_out: 1.0"), "d.osc"), 1, Vehicle())
    frames = [sim.inputs()]
    for _ in range(20):
        sim.advance(None)
        frames.append(sim.inputs())
    assert seen_by(frames, Source.LIDAR) == [0] * 10 + [1] * 11
    assert seen_by(frames, Source.RADAR) == seen_by(frames, Source.CAMERA) == [1] * 21

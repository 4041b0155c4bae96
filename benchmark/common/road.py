"""A road of three lanes with traffic on it, for what drives along lanes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tuling_fsm.agent import Tick
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Kind, Odometry, RouteAnswer, Source, StampedRows

TICK_S = 0.05
LANES, WIDTH = 3, 3.5
STRAIGHT, BEND, LENGTH = 200.0, 200.0, 1000.0
CURVATURE = 0.004
CARS = 30
APART = 18.0
"""Between the middles of two cars of a lane, m."""
SPEEDS = (7.5, 6.5, 5.5)
"""Of the cars on the lanes, from the left (m/s)."""
START_S, ROUTE_M = 100.0, 850.0


def place(s: float, lane: int) -> Pose:
    """The middle of a lane (0 is the left one) at an arc length of the road's left edge."""
    turn = CURVATURE * min(max(s - STRAIGHT, 0.0), BEND)
    x = min(s, STRAIGHT) + math.sin(turn) / CURVATURE + max(0.0, s - STRAIGHT - BEND) * math.cos(turn)
    y = (1.0 - math.cos(turn)) / CURVATURE + max(0.0, s - STRAIGHT - BEND) * math.sin(turn)
    aside = -WIDTH * (lane + 0.5)
    return Pose(x - aside * math.sin(turn), y + aside * math.cos(turn), turn)


def three_lanes() -> RoadMap:
    """A kilometre of road with three lanes one way: straight, a bend to the left, straight."""
    mark = '<roadMark sOffset="0" type="{}" color="standard" width="0.15" laneChange="{}"/>'
    lanes = "".join(
        f'<lane id="{-number}" type="driving" level="false"><width sOffset="0" a="{WIDTH}" b="0" c="0" d="0"/>'
        f"{mark.format(*(('broken', 'both') if number < LANES else ('solid', 'none')))}</lane>"
        for number in range(1, LANES + 1)
    )
    turn, last = CURVATURE * BEND, STRAIGHT + BEND
    x, y = STRAIGHT + math.sin(turn) / CURVATURE, (1.0 - math.cos(turn)) / CURVATURE
    text = (
        '<?xml version="1.0"?><OpenDRIVE><header revMajor="1" revMinor="7"/>'
        f'<road name="road" length="{LENGTH}" id="1" junction="-1" rule="RHT"><link/>'
        '<type s="0" type="town"><speed max="50" unit="km/h"/></type><planView>'
        f'<geometry s="0" x="0" y="0" hdg="0" length="{STRAIGHT}"><line/></geometry>'
        f'<geometry s="{STRAIGHT}" x="{STRAIGHT}" y="0" hdg="0" length="{BEND}">'
        f'<arc curvature="{CURVATURE}"/></geometry>'
        f'<geometry s="{last}" x="{x}" y="{y}" hdg="{turn}" length="{LENGTH - last}"><line/></geometry>'
        '</planView><lanes><laneSection s="0"><center><lane id="0" type="none" level="false">'
        f"{mark.format('solid', 'none')}</lane></center><right>{lanes}</right></laneSection></lanes></road></OpenDRIVE>"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "road.xodr"
        file.write_text(text, encoding="utf-8")
        return read_map(file)


def cars(stamp: float) -> npt.NDArray[np.void]:
    """The traffic around the car: as many on each lane, each lane at its own speed. They do not react, so the one
    behind the car leaves it room to fall back from the one ahead.
    """
    rows = np.zeros(CARS, OBJECTS)
    for i, row in enumerate(rows):
        lane, number = i % LANES, i // LANES
        behind = lane == LANES // 2 and number <= 3
        s = START_S + (number - 3.5 - behind) * APART + SPEEDS[lane] * stamp
        row["x"], row["y"], row["heading"] = pose = place(s, lane)
        row["vx"], row["vy"] = SPEEDS[lane] * math.cos(pose.heading), SPEEDS[lane] * math.sin(pose.heading)
        row["id"], row["kind"], row["source"], row["existence"] = i + 1, Kind.CAR, Source.LIDAR, 1.0
        row["length"], row["width"] = 4.5, 1.8
    return rows


def drive(ticks: int, step: Callable[[Inputs], Tick]) -> Iterator[Tick]:
    """An agent in this traffic, in a car that is where its last plan said; `step` makes its ticks."""
    pose, v = place(START_S, 1), SPEEDS[1]
    route = np.array([place(s, 1) for s in np.arange(START_S - 20.0, ROUTE_M, 1.0).tolist()])
    mission = {"goal": Pose(*route[-1])._asdict()}
    for k in range(ticks):
        stamp = k * TICK_S
        inputs = Inputs(
            stamp=stamp,
            odometry=Odometry(stamp, pose, v, 0.0),
            objects=StampedRows(stamp, cars(stamp)),
            traffic_lights=StampedRows(stamp, np.zeros(0, TRAFFIC_LIGHTS)),
            route_answers=(RouteAnswer(stamp, -1, route),) if k == 1 else (),
            mission=mission,
        )
        tick = step(inputs)
        pose, _, v, _ = tick.trajectory.sample(stamp + TICK_S)
        yield tick

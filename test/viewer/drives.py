"""A recorded drive of twelve seconds in which there is something of every layer, made message by message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.markers import GREEN, GREY, RED, MarkerDrawing, MarkerShape, pack_markers
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.tables import pack_table
from tuling_fsm.wire.text import pack_json, pack_string
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import OBJECTS, PARKING_SLOTS, TRAFFIC_LIGHTS, Kind, Light, Odometry, Source

COURSE = share_file("config", "course", "course.xodr")
TICK_S, END_S = 0.05, 12.0
STANDS = (9.0, 11.5)
"""From when to when the car stands, s."""
Message = tuple[str, bytes]
_CHANGES = (
    (1.0, "on_road/normal", "intersection/safe_driving", "NOR-2", "junction_ahead", False),
    (4.0, "intersection/safe_driving", "on_road/normal", "INT-6", "junction_over", False),
    (6.0, "rain_fog/clear", "rain_fog/radar_and_history", "RFG-1", "rain_or_fog", True),
)


def pose_at(t: float) -> Pose:
    """On a road of the course, slightly wavy, so that neither place nor heading is linear in time."""
    s = 5.0 * min(t, STANDS[0]) + 2.0 * max(t - STANDS[1], 0.0)
    return Pose(90.0 + s, -1.75 + 0.3 * float(np.sin(0.2 * s)), float(np.arctan(0.06 * np.cos(0.2 * s))))


def record(folder: Path, road_map: RoadMap, shift_s: float = 0.0, without: tuple[str, ...] = ()) -> Path:
    """The drive as a bag; `shift_s` is added to all stamps, as on a vehicle, and some topics are left out."""
    run = {} if "run" in without else {"map": str(COURSE), "parameters": {}}
    with BagWriter(folder, run) as bag:
        for k in range(round(END_S / TICK_S)):
            t = k * TICK_S
            for topic, raw in (*_inputs(t, shift_s, road_map), *_outputs(t, shift_s)):
                if topic not in without:
                    bag.write(nanoseconds(t + shift_s), topic, raw)
    return folder


def _inputs(t: float, shift_s: float, road_map: RoadMap) -> Iterator[Message]:
    ns = nanoseconds(t + shift_s)
    pose, stands = pose_at(t), STANDS[0] <= t <= STANDS[1]
    if t == 0.0:
        points = np.array([(90.0 + 5.0 * k, -1.75, 0.0) for k in range(20)])
        yield "route_answer", pack_json({"stamp": shift_s, "request": 1, "points": points.tolist()})
    slots = np.zeros(1, PARKING_SLOTS)
    slots[0] = (3, t >= 8.0, 110.0, -8.0, 0.0, 5.0, 2.4)
    yield "parking_slots", pack_table("parking_slots", ns, slots)
    objects = np.zeros(2, OBJECTS)
    both = Source.RADAR | Source.CAMERA
    objects[0] = (7, Kind.CAR, both, 100.0 + 6.0 * t, -5.25, 0.0, 6.0, 0.0, 4.4, 1.8, 1.0)
    objects[1] = (8, Kind.PEDESTRIAN, Source.LIDAR, 120.0, 8.0 - t, -1.57, 0.0, -1.0, 0.5, 0.5, 1.0)
    yield "objects", pack_table("objects", ns, objects)
    signals = [number for number, signal in sorted(road_map.signals.items()) if signal.dynamic]
    lights = np.zeros(len(signals), TRAFFIC_LIGHTS)
    lights["signal"], lights["confidence"] = signals, 1.0
    lights["state"] = Light.RED if t < 6.0 else Light.GREEN
    yield "traffic_lights", pack_table("traffic_lights", ns, lights)
    yield "odometry", pack_odometry(ns, Odometry(t + shift_s, pose, 0.0 if stands else 5.0, 0.0))


def _outputs(t: float, shift_s: float) -> Iterator[Message]:
    ns, pose = nanoseconds(t + shift_s), pose_at(t)
    later = np.linspace(0.0, 4.0, 21)
    places = np.array([pose_at(min(t + each, END_S)) for each in later])
    steer = np.full(21, 0.05)
    plan = Trajectory(t + shift_s, later, *places.T, steer, np.full(21, 5.0), np.zeros(21))
    yield "trajectory", pack_trajectory(ns, plan)
    words = {
        0.0: (("state", "on_road/normal"), ("sensors", "all"), ("indicators", "off")),
        2.0: (("indicators", "left"),),
    }
    yield from ((topic, pack_string(word)) for topic, word in words.get(round(t, 3), ()))
    for stamp, source, dest, clause, guard, supervisor in _CHANGES:
        if nanoseconds(stamp) == nanoseconds(t):
            event = {"stamp": t + shift_s, "from": source, "to": dest, "clause": clause, "guard": guard}
            yield "transition", pack_json({**event, "dwell_s": 0.3, "supervisor": supervisor, "rejected": []})
            yield from () if supervisor else (("state", pack_string(dest)),)
    if nanoseconds(t) == nanoseconds(4.0):
        yield "route_blocked", pack_path(ns, np.array([(130.0, -1.75, 0.0), (160.0, -1.75, 0.0)]))
    if round(t / TICK_S) % 4 == 0:
        yield "why", pack_diagnostics(ns, _statuses(t, shift_s))
        yield "markers", pack_markers(ns, _drawings(t, pose))


def limit_at(t: float) -> tuple[str, str]:
    """Code and words of what limits the car."""
    return ("LEADER", "a vehicle ahead, car 7") if t < 7.0 else ("RED_LIGHT", "a red light, signal 1 red")


def _statuses(t: float, shift_s: float) -> tuple[DiagnosticStatus, ...]:
    code, words = limit_at(t)
    since = 0.0 if t < 7.0 else 7.0
    values = {"code": code, "distance": f"{12.0 - 0.5 * t:.2f}", "blocker": "7", "waiting_for": "",
              "since": f"{since + shift_s:.3f}", "timeout_left": "9.50", "next_state": "on_road/replan"}  # fmt: skip
    timer = (("on_road/replan", f"no_progress (NLF-2) for {t % 5.0:.2f} of 5.00 s"),)
    rain = "clear" if t < 6.0 else "radar_and_history"
    candidates = (("lane +0, +0.00 m", "won, cost -12.50"), ("lane +0, +0.35 m", "TARGET, cost 3.00"),
                  ("lane -1, +0.00 m", "OBSTACLE, cost inf"))  # fmt: skip
    return (
        DiagnosticStatus("limit", f"{words} in {12.0 - 0.5 * t:.1f} m", tuple(values.items()), DiagnosticLevel.WARN),
        DiagnosticStatus("state", "on_road/normal", (("time_in_state", f"{t:.2f}"), *timer)),
        DiagnosticStatus("supervisors", f"rain_fog {rain}", (("rain_fog", rain),)),
        DiagnosticStatus("candidates", "3 looked at: 1 lost by OBSTACLE, 1 lost by TARGET", candidates),
        DiagnosticStatus("report", "objects: a row was left out", level=DiagnosticLevel.WARN),
    )


def _drawings(t: float, pose: Pose) -> tuple[MarkerDrawing, ...]:
    ends = np.array([(pose.x + 20.0, -1.4), (pose.x + 20.0, -5.25)])
    walls = np.array([(150.0, -3.5), (150.0, 0.0)])
    drawn = [
        MarkerDrawing("candidates", MarkerShape.POINTS, GREY, 0.3, ends),
        MarkerDrawing("winner", MarkerShape.POINTS, GREEN, 0.3, np.array([(pose.x + 20.0, -1.75)])),
        MarkerDrawing("target", MarkerShape.ARROW, GREEN, 0.5, pose=Pose(155.0, -1.75, 0.0)),
    ]
    if t > 2.9:
        middle = Pose(150.0, -1.75, 0.0)
        drawn.append(MarkerDrawing("walls", MarkerShape.LINE_LIST, RED, 0.25, walls))
        drawn.append(MarkerDrawing("walls", MarkerShape.TEXT, RED, 0.8, pose=middle, text="a red light signal 1"))
    return tuple(drawn)

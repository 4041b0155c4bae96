"""Trajectories that a scenario names by a file, as ScenarioRunner records them: rows of x, y, z (m) and time (s)."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.input_file import read_text
from tuling_fsm.sim.scenario.action_types import ActionCall, ModifierCall
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.scenario.values import FaultError
from tuling_fsm.sim.scenario.xml.files import look_up


class TimedPoints(NamedTuple):
    """Poses in the map frame, and when they are reached, s from the beginning of the movement."""

    points: tuple[AtPose, ...]
    times: tuple[float, ...]


def read_trajectory_file(call: ActionCall, modifier: ModifierCall) -> TimedPoints:
    """The trajectory of a `follow_trajectory`. Its y axis is CARLA's, which goes the other way.

    Raises:
        FaultError: no such file, or something else than rows of four numbers in the order of time.
    """
    name = modifier.given["input_file"]
    found = look_up(Path(call.script.file), name, ".csv") if isinstance(name, str) else None
    if found is None:
        raise FaultError(modifier.at, f"no file {name!r} with a trajectory", "input_file: <file of x, y, z, time>")
    if modifier.given["control"] is not None:
        call.script.note(modifier.at, "control has no effect: the trajectory is followed by its times")
    try:
        text, call.script.read[str(found)] = read_text(found)
        rows = [[float(cell) for cell in row[:4]] for row in csv.reader(text.split("\n")) if row]
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise FaultError(modifier.at, f"{found} cannot be read: {error}", "rows of x, y, z, time") from error
    times = tuple(row[3] for row in rows if len(row) == 4)
    finite = all(math.isfinite(cell) for row in rows for cell in row)
    if len(times) < max(len(rows), 2) or not finite or any(b <= a for a, b in pairwise(times)):
        raise FaultError(modifier.at, f"{found} holds no trajectory", "two rows or more, in the order of time")
    return TimedPoints(_poses([(row[0], -row[1]) for row in rows]), times)


def _poses(points: list[tuple[float, float]]) -> tuple[AtPose, ...]:
    """The points, each facing the next one that lies elsewhere."""
    heading, found = 0.0, list[AtPose]()
    for i, (x, y) in enumerate(points):
        onward = next(((u, v) for u, v in points[i + 1 :] if abs(u - x) + abs(v - y) > 0.1), None)
        if onward is not None:
            heading = elementary.atan2(onward[1] - y, onward[0] - x)
        found.append(AtPose(x, y, heading))
    return tuple(found)

"""A drive as CommonRoad's solution file: states of the kinematic single-track model ([althoff2017][]).

Its states lie in the middle of the body, which is `b` before the rear axle.
"""

from __future__ import annotations

import math

import numpy as np
from lxml import etree

from tuling_fsm.bag.commonroad.drive import ScenarioDrive
from tuling_fsm.bag.commonroad.scenario import Recording

VEHICLE, COST = "KS2", "WX1"
"""Kinematic single track of the BMW 320i; the cost function of [xu2012][], which the format asks to name."""
TURN = 2.0 * math.pi
_FIELDS = ("x", "y", "orientation", "velocity", "steeringAngle")


def solution_xml(recording: Recording, drive: ScenarioDrive) -> bytes:
    """The file as bytes, in the coordinates of the scenario's file; a drive that reached its goal ends there."""
    name = f"{VEHICLE}:{COST}:{recording.name}:{recording.version}"
    root = etree.Element("CommonRoadSolution", benchmark_id=name)
    trajectory = etree.SubElement(root, "ksTrajectory", planningProblem=drive.problem.id)
    x, y = recording.origin
    for each, heading in zip(drive.states, _headings(drive), strict=True):
        written = each._replace(x=each.x + x, y=each.y + y, heading=heading)
        state = etree.SubElement(trajectory, "ksState")
        for field, value in zip(_FIELDS, written[1:], strict=True):
            etree.SubElement(state, field).text = repr(float(value))
        etree.SubElement(state, "time").text = str(each.step)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _headings(drive: ScenarioDrive) -> list[float]:
    """Headings without jumps (rad) from the one that the problem begins with, which may be whole turns beyond."""
    turned = np.unwrap([each.heading for each in drive.states])
    turns = round((drive.problem.start.heading - float(turned[0])) / TURN)
    return [float(heading) + turns * TURN for heading in turned]

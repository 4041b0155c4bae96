"""What a drive was worth, by the product's own rules: goal, contacts and whose fault they are, the road left.

CommonRoad's drivability checker judges the same from the solution file; this verdict needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from shapely import Polygon, contains_xy, prepare, union_all

from tuling_fsm.bag.commonroad.drive import Loop, ScenarioDrive
from tuling_fsm.bag.commonroad.obstacles import Obstacle
from tuling_fsm.bag.commonroad.problem import ProblemState
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.collisions import Contact, boxes_touched, collision_fault, contact
from tuling_fsm.world.inputs import Kind

EDGE_M = 0.05
"""A corner so far outside all lanelets is still on the road: the bounds of lanelets have gaps and kinks."""
PERSONS = (Kind.PEDESTRIAN, Kind.BICYCLE)


class ObstacleContact(NamedTuple):
    """The first contact with a road user: when, with whom, how, and whether the car is at fault."""

    step: int
    obstacle: str
    contact: Contact
    at_fault: bool


@dataclass(frozen=True)
class Verdict:
    """`reached` and `left_road` are steps of the scenario; None: never."""

    reached: int | None
    contacts: tuple[ObstacleContact, ...]
    left_road: int | None

    @property
    def solved(self) -> bool:
        """The goal reached, nothing touched, the road never left."""
        return self.reached is not None and not self.contacts and self.left_road is None

    def words(self) -> str:
        """In one line."""
        said = [f"goal reached at step {self.reached}" if self.reached is not None else "goal not reached"]
        for each in self.contacts:
            fault = "at fault" if each.at_fault else "not at fault"
            said.append(f"contact ({each.contact.value}) with {each.obstacle} at step {each.step}, {fault}")
        if self.left_road is not None:
            said.append(f"off the road at step {self.left_road}")
        return "; ".join(said)


def judge(loop: Loop, drive: ScenarioDrive) -> Verdict:
    """The verdict on a drive."""
    rear = [_rear(state, loop.vehicle) for state in drive.states]
    contacts = {each.obstacle: each for each in reversed(list(_contacts(loop, drive, rear)))}
    return Verdict(
        drive.reached_step,
        tuple(sorted(contacts.values(), key=lambda each: each.step)),
        _left_road(loop, drive, rear),
    )


def _rear(state: ProblemState, vehicle: Vehicle) -> Pose:
    return shifted(Pose(state.x, state.y, state.heading), -center_ahead(vehicle))


def _contacts(loop: Loop, drive: ScenarioDrive, rear: list[Pose]) -> Iterator[ObstacleContact]:
    """Every obstacle that is touched at every step."""
    vehicle, standing = loop.vehicle, RefereeParameters().stopped
    for state, pose in zip(drive.states, rear, strict=True):
        t = state.step * loop.recording.step
        there = [each for each in drive.obstacles if each.there(t)]
        boxes = _boxes(there, t)
        size = vehicle.length, vehicle.width
        for row in boxes_touched(state.x, state.y, 0.0, state.heading, *size, boxes).tolist():
            touched = contact(pose, state.v, vehicle, boxes[row], standing)
            other = there[row]
            stands = abs(other.at(t)[3]) <= standing
            alone = _inside_one_lane(loop.road_map, state, vehicle)
            fault = collision_fault(touched, other.kind in PERSONS, stands, alone)
            yield ObstacleContact(state.step, other.id, touched, fault)


def _boxes(there: list[Obstacle], t: float) -> FloatArray:
    """Rows x, y, z, heading, length, width."""
    rows = [(x, y, 0.0, *box) for x, y, *box in (each.box(t) for each in there)]
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def _inside_one_lane(road_map: RoadMap, state: ProblemState, vehicle: Vehicle) -> bool:
    found = road_map.project(state.x, state.y, state.heading)
    return found is not None and abs(found.offset) + 0.5 * vehicle.width <= 0.5 * found.width


def _left_road(loop: Loop, drive: ScenarioDrive, rear: list[Pose]) -> int | None:
    """The first step at which a corner lies outside all lanelets."""
    road = union_all([Polygon(each.outline).buffer(EDGE_M) for each in loop.recording.lanelets.values()])
    prepare(road)
    for state, pose in zip(drive.states, rear, strict=True):
        corners = loop.vehicle.footprint(pose)
        if not bool(contains_xy(road, corners[:, 0], corners[:, 1]).all()):
            return state.step
    return None

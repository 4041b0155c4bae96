"""Scripted actors that follow no lanes: persons on a walk, vehicles on a free path, and what stands still."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Polyline, Pose, distance
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.scenario.model import ActorKind
from tuling_fsm.sim.traffic.fleet import AXLE_SHARE
from tuling_fsm.world.inputs import Kind

NEAR_M = 0.1
DEFAULT_RATE = 3.0
"""Acceleration where none is asked for, m/s^2."""
STANDING = (ActorKind.BARRIER, ActorKind.CONE, ActorKind.DEBRIS)


@dataclass
class Body:
    """One actor off the lanes: size (m); `pose` of the box's centre in `map`; speed, acceleration, the speed that it
    approaches and the rate at which (m/s, m/s^2); the way of its reference point, how far it has come on it (m), and
    whether it is at its end.
    """

    kind: ActorKind
    length: float
    width: float
    pose: Pose | None = None
    v: float = 0.0
    a: float = 0.0
    wanted: float = 0.0
    rate: float = math.inf
    path: Polyline | None = None
    s: float = 0.0
    arrived: bool = False

    @property
    def reference_behind(self) -> float:
        """From the reference point to the centre along the heading, m."""
        return AXLE_SHARE * self.length if self.kind is ActorKind.VEHICLE else 0.0

    def reference(self) -> Pose | None:
        """The reference point: rear axle of a vehicle, centre of anything else."""
        return None if self.pose is None else shifted(self.pose, -self.reference_behind)

    def place(self, reference: Pose, v: float) -> None:
        """Put the reference point somewhere; the actor keeps that speed (m/s), straight on, until told otherwise."""
        self.pose = shifted(reference, self.reference_behind)
        self.v, self.a, self.wanted, self.rate = v, 0.0, v, math.inf
        self.path, self.arrived = None, False

    def follow(self, points: Sequence[tuple[float, float]], speed: float) -> None:
        """Move the reference point from where it is straight from point to point at a speed (m/s), and stop at the
        last.
        """
        reference = self.reference()
        assert reference is not None
        line = [(reference.x, reference.y), *points]
        moving = [line[0]] + [p for before, p in pairwise(line) if distance(before, p) > 1e-6]
        self.wanted, self.rate, self.s = speed, math.inf if self.kind is ActorKind.PERSON else DEFAULT_RATE, 0.0
        self.arrived = len(moving) < 2
        self.path = None if self.arrived else Polyline.of(moving)

    def set_speed(self, target: float, rate: float) -> None:
        """Approach a speed (m/s) at a rate (m/s^2)."""
        self.wanted, self.rate = target, rate

    def step(self, dt: float) -> None:
        """Move by `dt` s."""
        if self.pose is None or self.kind in STANDING:
            return
        wanted = self._end_speed() if self.path is not None else self.wanted
        change = min(max(wanted - self.v, -self.rate * dt), self.rate * dt)
        self.a, before = change / dt, self.v
        self.v += change
        way = 0.5 * (before + self.v) * dt
        if self.path is None:
            self.pose = shifted(self.pose, way)
        else:
            self._along(self.path, way)

    def _end_speed(self) -> float:
        """The wanted speed, lower where the path's end is near."""
        assert self.path is not None
        if math.isinf(self.rate):
            return self.wanted
        left = max(self.path.length - self.s, 0.0)
        return min(self.wanted, math.sqrt(2.0 * self.rate * left))

    def _along(self, path: Polyline, way: float) -> None:
        self.s = min(self.s + way, path.length)
        assert self.pose is not None
        x, y, _ = path.at(self.s)
        front = path.at(self.s + max(2.0 * self.reference_behind, NEAR_M))
        heading = self.pose.heading
        if distance((x, y), front[:2]) > 0.5 * NEAR_M:
            heading = elementary.atan2(front.y - y, front.x - x)
        self.pose = shifted(Pose(x, y, heading), self.reference_behind)
        if self.s >= path.length - 0.02:
            self.arrived, self.v, self.a = True, 0.0, 0.0


def center_ahead(vehicle: Vehicle) -> float:
    """From a car's rear axle to the middle of its body, m."""
    return 0.5 * (vehicle.front - vehicle.rear_overhang)


def shifted(pose: Pose, ahead: float) -> Pose:
    """A pose moved along its heading (m)."""
    return Pose(
        pose.x + ahead * elementary.cos(pose.heading), pose.y + ahead * elementary.sin(pose.heading), pose.heading
    )


OBJECT_KIND = {
    ActorKind.VEHICLE: Kind.CAR, ActorKind.PERSON: Kind.PEDESTRIAN, ActorKind.BARRIER: Kind.BARRIER,
    ActorKind.CONE: Kind.CONE, ActorKind.DEBRIS: Kind.DEBRIS,
}  # fmt: skip

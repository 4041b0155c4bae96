"""Reference lines drawn piece by piece: lines, arcs and spirals, each beginning where the one before ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

SPIRAL_SHARE = math.radians(25.0)
"""How much of a right-angled corner each of its two spirals turns, rad."""


class Pose(NamedTuple):
    """Position (m) and heading (rad)."""

    x: float
    y: float
    heading: float

    def moved(self, ahead: float, left: float = 0.0, turn: float = 0.0) -> Pose:
        """The pose that lies there as seen from this one."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return Pose(self.x + ahead * c - left * s, self.y + ahead * s + left * c, self.heading + turn)


class Piece(NamedTuple):
    """One `<geometry>`: curvature runs linearly from `k0` to `k1` (1/m) over `length` (m)."""

    s: float
    start: Pose
    length: float
    k0: float
    k1: float


@dataclass
class Pen:
    """Draws a reference line from a pose on."""

    at: Pose
    pieces: list[Piece] = field(default_factory=list)
    length: float = 0.0

    def __post_init__(self) -> None:
        self.start = self.at

    def curve(self, length: float, k0: float, k1: float) -> Pen:
        """A piece whose curvature runs linearly from `k0` to `k1`; nothing where it has no length."""
        if length > 1e-9:
            self.pieces.append(Piece(self.length, self.at, length, k0, k1))
            self.at = _end(self.at, length, k0, k1)
            self.length += length
        return self

    def line(self, length: float) -> Pen:
        """A straight piece."""
        return self.curve(length, 0.0, 0.0)

    def arc(self, radius: float, turn: float) -> Pen:
        """An arc of this radius (m) through this angle (rad, + left)."""
        k = math.copysign(1.0 / radius, turn)
        return self.curve(radius * abs(turn), k, k)

    def corner(self, leg: float, left: bool = True) -> Pen:
        """A right angle of spiral, arc and spiral that ends `leg` m ahead and `leg` m to the side."""
        radius = leg / _UNIT_LEG
        k = math.copysign(1.0 / radius, 1.0 if left else -1.0)
        spiral = 2.0 * SPIRAL_SHARE * radius
        self.curve(spiral, 0.0, k)
        self.curve((math.pi / 2.0 - 2.0 * SPIRAL_SHARE) * radius, k, k)
        return self.curve(spiral, k, 0.0)

    def swerve(self, radius: float, left: float) -> Pen:
        """Two arcs that end `left` m to the side (negative: right) with the heading they began with."""
        turn = math.copysign(math.acos(1.0 - abs(left) / (2.0 * radius)), left)
        return self.arc(radius, turn).arc(radius, -turn)

    def to(self, goal: Pose) -> Pen:
        """Straight on, or straight, a corner and straight, to a goal that faces the same way or a right angle off.

        Raises:
            ValueError: the goal is not reached so.
        """
        c, s = math.cos(self.at.heading), math.sin(self.at.heading)
        dx, dy = goal.x - self.at.x, goal.y - self.at.y
        ahead, left = c * dx + s * dy, c * dy - s * dx
        if abs(left) < 1e-6:
            self.line(ahead)
        else:
            leg = min(ahead, abs(left))
            self.line(ahead - leg).corner(leg, left > 0.0).line(abs(left) - leg)
        miss = math.hypot(self.at.x - goal.x, self.at.y - goal.y)
        if miss > 1e-6 or abs(math.sin((self.at.heading - goal.heading) / 2.0)) > 1e-6:
            raise ValueError(f"no plain way from {self.start} to {goal}")
        return self


def _end(start: Pose, length: float, k0: float, k1: float) -> Pose:
    """Where a piece ends, by Gauss-Legendre quadrature of its heading (20 nodes: below a nanometre here)."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    s = 0.5 * length * (nodes + 1.0)
    heading = k0 * s + 0.5 * (k1 - k0) / length * s * s
    ahead = 0.5 * length * float(np.dot(weights, np.cos(heading)))
    left = 0.5 * length * float(np.dot(weights, np.sin(heading)))
    return start.moved(ahead, left, 0.5 * (k0 + k1) * length)


def _unit_leg() -> float:
    """How far a corner of radius 1 m reaches ahead (and to the side)."""
    spiral = 2.0 * SPIRAL_SHARE
    at = _end(Pose(0.0, 0.0, 0.0), spiral, 0.0, 1.0)
    at = _end(at, math.pi / 2.0 - spiral, 1.0, 1.0)
    return _end(at, spiral, 1.0, 0.0).x


_UNIT_LEG = _unit_leg()

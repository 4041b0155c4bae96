"""Shortest curves of a car that goes forward and backward ([reeds1990][]).

A word is up to five pieces, each a steering (+1 left, 0 straight, -1 right) and a signed length (negative in reverse)
in units of the turning radius. All 44 words that exist for a pose are listed, not the shortest alone: a longer one
may be free.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import kernel

WORDS = 44
PIECES = 5
TINY = 1e-10
SURE = 1e-9
"""What is farther than this share beyond a bound is beyond it for all rounding."""
L, S, R = 1.0, 0.0, -1.0
LSL, LSR, LRL, LRLR, LRSL, LRSR, LRSLR = range(7)
TURNS = np.array(
    (
        (L, S, L, S, S),
        (L, S, R, S, S),
        (L, R, L, S, S),
        (L, R, L, R, S),
        (L, R, S, L, S),
        (L, R, S, R, S),
        (L, R, S, L, R),
    )
)
"""Steers of the families of words."""


@kernel
def _wrap(angle: float) -> float:
    """The angle in [-pi, pi]."""
    turns: float = np.rint(angle / (2.0 * math.pi))
    return angle - 2.0 * math.pi * turns


@kernel
def _tau_omega(u: float, v: float, xi: float, eta: float, phi: float) -> tuple[float, float]:
    """The outer angles of a word of four arcs whose inner ones are u and v (equation 8.5 and after)."""
    delta = _wrap(u - v)
    (sin_u, cos_u), (sin_delta, cos_delta) = elementary.sin_cos(u), elementary.sin_cos(delta)
    a, b = sin_u - sin_delta, cos_u - cos_delta - 1.0
    t1 = elementary.atan2(eta * a - xi * b, xi * a + eta * b)
    t2 = 2.0 * (cos_delta - elementary.cos(v) - cos_u) + 3.0
    tau = _wrap(t1 + math.pi) if t2 < 0.0 else _wrap(t1)
    return tau, _wrap(tau - u + v - phi)


class _Image(NamedTuple):
    """A goal (radii, rad; s, c of phi) as it is after a time flip, a mirror image and a reversal (`back` 1), and how
    long a word to it may be (radii).
    """

    x: float
    y: float
    phi: float
    s: float
    c: float
    flip: float
    mirror: float
    back: int
    longest: float


@kernel
def _turns_back(across: float, along: float) -> bool:
    """Whether the angle of a direction is surely negative, which needs no angle."""
    return across < -SURE * (abs(across) + abs(along))


@kernel
def _put(
    lengths: FloatArray, steers: FloatArray, n: int, image: _Image, word: tuple[float, float, float, float, float],
    family: int,
) -> int:  # fmt: skip
    """Appends a word that is not too long, undoing what was done to the goal that it was found for."""
    if abs(word[0]) + abs(word[1]) + abs(word[2]) + abs(word[3]) + abs(word[4]) > image.longest:
        return n
    for i in range(PIECES):
        j = i + image.back * (4 - 2 * i)
        lengths[n, i], steers[n, i] = image.flip * word[j], image.mirror * TURNS[family, j]
    return n + 1


@kernel
def _words_of(image: _Image, lengths: FloatArray, steers: FloatArray, n: int) -> int:
    """Words of the families CSC and CCSCC that start to the left and forward."""
    x, y, phi, s, c = image.x, image.y, image.phi, image.s, image.c
    half = 0.5 * math.pi
    xi, eta = x - s, y - 1.0 + c
    u = math.sqrt(xi * xi + eta * eta)
    if u <= image.longest and not _turns_back(eta, xi):
        t = elementary.atan2(eta, xi)
        v = _wrap(phi - t)
        if t >= -TINY and v >= -TINY:
            n = _put(lengths, steers, n, image, (t, u, v, 0.0, 0.0), LSL)
    xi, eta = x + s, y - 1.0 - c
    rho2 = xi * xi + eta * eta
    if rho2 >= 4.0:
        u = math.sqrt(rho2 - 4.0)
        if u <= image.longest and not _turns_back(eta * u + 2.0 * xi, xi * u - 2.0 * eta):
            t = _wrap(elementary.atan2(eta, xi) + elementary.atan2(2.0, u))
            v = _wrap(t - phi)
            if t >= -TINY and v >= -TINY:
                n = _put(lengths, steers, n, image, (t, u, v, 0.0, 0.0), LSR)
        u = 4.0 - u
        across, along = (4.0 - u) * xi - 2.0 * eta, -2.0 * xi + (u - 4.0) * eta
        if u <= TINY and math.pi - u <= image.longest and not _turns_back(across, along):
            t = _wrap(elementary.atan2(across, along))
            v = _wrap(t - phi)
            if t >= -TINY and v >= -TINY:
                n = _put(lengths, steers, n, image, (t, -half, u, -half, v), LRSLR)
    return n


@kernel
def _words_of_arcs(image: _Image, lengths: FloatArray, steers: FloatArray, n: int) -> int:
    """Words of the family CCCC that start to the left and forward."""
    phi, xi, eta = image.phi, image.x + image.s, image.y - 1.0 - image.c
    rho2 = xi * xi + eta * eta
    rho = 0.25 * (2.0 + math.sqrt(rho2))
    if rho <= 1.0:
        u = elementary.acos(rho)
        if 2.0 * u <= image.longest:
            t, v = _tau_omega(u, -u, xi, eta, phi)
            if t >= -TINY and v <= TINY:
                n = _put(lengths, steers, n, image, (t, u, -u, v, 0.0), LRLR)
    rho = 0.0625 * (20.0 - rho2)
    if 0.0 <= rho <= 1.0:
        u = -elementary.acos(rho)
        if -2.0 * u <= image.longest:
            t, v = _tau_omega(u, u, xi, eta, phi)
            if t >= -TINY and v >= -TINY:
                n = _put(lengths, steers, n, image, (t, u, u, v, 0.0), LRLR)
    return n


@kernel
def _words_both_ways(image: _Image, lengths: FloatArray, steers: FloatArray, n: int) -> int:
    """Words of the families CCC and CCSC, which differ when they are run from the other end."""
    x, y, phi, s, c = image.x, image.y, image.phi, image.s, image.c
    half = 0.5 * math.pi
    xi, eta = x - s, y - 1.0 + c
    rho = math.sqrt(xi * xi + eta * eta)
    if rho <= 4.0 and 0.5 * rho <= image.longest:
        sine, cosine = -0.25 * rho, math.sqrt((1.0 - 0.25 * rho) * (1.0 + 0.25 * rho))
        if not _turns_back(-xi * sine - eta * cosine, eta * sine - xi * cosine):
            u = -2.0 * elementary.asin(0.25 * rho)
            t = _wrap(elementary.atan2(eta, xi) + 0.5 * u + math.pi)
            v = _wrap(phi - t + u)
            if t >= -TINY and u <= TINY:
                n = _put(lengths, steers, n, image, (t, u, v, 0.0, 0.0), LRL)
    if rho >= 2.0:
        r = math.sqrt(rho * rho - 4.0)
        u = 2.0 - r
        if u <= TINY and half - u <= image.longest and not _turns_back(xi * r - 2.0 * eta, -2.0 * xi - eta * r):
            t = _wrap(elementary.atan2(eta, xi) + elementary.atan2(r, -2.0))
            v = _wrap(phi - half - t)
            if t >= -TINY and v <= TINY:
                n = _put(lengths, steers, n, image, (t, -half, u, v, 0.0), LRSL)
    xi, eta = x + s, y - 1.0 - c
    rho = math.sqrt(xi * xi + eta * eta)
    u = 2.0 - rho
    if rho >= 2.0 and half - u <= image.longest and not _turns_back(xi, -eta):
        t = elementary.atan2(xi, -eta)
        v = _wrap(t + half - phi)
        if t >= -TINY and u <= TINY and v <= TINY:
            n = _put(lengths, steers, n, image, (t, -half, u, v, 0.0), LRSR)
    return n


@kernel
def words(x: float, y: float, phi: float, lengths: FloatArray, steers: FloatArray, longest: float = np.inf) -> int:
    """Writes every word from the origin to the pose (radii, rad) that is no longer than `longest` (radii) to `lengths`
    and `steers` (44, 5); their number.

    Empty pieces (length 0) may stand anywhere in a word.
    """
    n, (s, c) = 0, elementary.sin_cos(phi)
    back_x, back_y = x * c + y * s, x * s - y * c
    longest += TINY + SURE * longest
    for flip in (1.0, -1.0):
        for mirror in (1.0, -1.0):
            sign = flip * mirror
            image = _Image(flip * x, mirror * y, sign * phi, sign * s, c, flip, mirror, 0, longest)
            n = _words_of(image, lengths, steers, n)
            n = _words_of_arcs(image, lengths, steers, n)
            n = _words_both_ways(image, lengths, steers, n)
            image = _Image(flip * back_x, mirror * back_y, sign * phi, sign * s, c, flip, mirror, 1, longest)
            n = _words_both_ways(image, lengths, steers, n)
    return n


@kernel
def cost_of(lengths: FloatArray, radius: float, gear: int, end_gear: int, gear_cost: float) -> float:
    """Length of a word (m) plus `gear_cost` for each change of gear, with those before and after it (0: none)."""
    total = 0.0
    for i in range(PIECES):
        length = lengths[i]
        if abs(length) <= TINY:
            continue
        total += radius * abs(length)
        now = 1 if length > 0.0 else -1
        if gear * now < 0:
            total += gear_cost
        gear = now
    if gear * end_gear < 0:
        total += gear_cost
    return total


def shortest_reeds_shepp(start: Pose, goal: Pose, radius: float, gear_cost: float = 0.0) -> list[tuple[float, float]]:
    """The Reeds-Shepp curve ([reeds1990][]) from one pose of the rear axle to another.

    Args:
        start: x, y (m), heading (rad).
        goal: the same.
        radius: least turning radius, m.
        gear_cost: what a change of gear costs, in metres of way.

    Returns:
        Its pieces in order: signed length (m, negative in reverse) and curvature (1/m, + left). Empty at the goal.
    """
    dx, dy = (goal.x - start.x) / radius, (goal.y - start.y) / radius
    sin, cos = elementary.sin_cos(start.heading)
    lengths, steers = np.zeros((WORDS, PIECES)), np.zeros((WORDS, PIECES))
    n = words(cos * dx + sin * dy, cos * dy - sin * dx, goal.heading - start.heading, lengths, steers)
    best = min(range(n), key=lambda i: cost_of(lengths[i], radius, 0, 0, gear_cost))
    return [
        (radius * length, steer / radius)
        for length, steer in zip(lengths[best].tolist(), steers[best].tolist(), strict=True)
        if abs(length) > TINY
    ]

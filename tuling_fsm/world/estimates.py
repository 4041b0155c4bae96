"""Places and velocities of tracked objects, filtered where what perception reports of them is noisy.

How noisy it is, is measured: by how far what an object has moved differs from its reported velocities. A table that is
exact is taken as it is. Else each object has a Kalman filter of nearly constant velocity, with its position and its
velocity measured; its process noise is raised while it foretells badly, so that what stands or drives steadily is
known well and what brakes is followed at once ([barshalom2001][], chapters 6.2 and 11.2.2). The velocity turns as the
object has been seen to turn (chapter 11.7.1): else it would lag in a bend, and point out of the lane. A speed within
its own uncertainty is none. An id that is new where one has just been lost is the same object with another name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.world import objects as ob
from tuling_fsm.world.objects import Detections, IdArray

SEEN, RAW_X, RAW_Y, RAW_VX, RAW_VY, EST_X, EST_Y, EST_VX, EST_VY, VAR_X, COV, VAR_V, NIS = range(13)
"""Columns of an estimate: stamp of the latest sight (s), position (m) and velocity (m/s, NaN for none) as reported
then, and as they are estimated, variances and covariance of position and velocity along each axis (m^2, m^2/s,
m^2/s^2), and the normalized innovation squared for each degree of freedom, averaged: 1 where measurements lie as far
from what the filter foretold as its variances say.
"""
ESTIMATE = 13

EXACT_M = 0.03
"""Positions that are no noisier than this (m) are taken as they are."""
_LEAST_NOISE, _UNTOLD_NOISE = 0.01, 0.05
"""Of a velocity, m/s; of the positions of what has none reported, m."""
_UNKNOWN_SPEED, _KNOWN_SPEED = 10.0, 1.0
"""Standard deviations (m/s): of the velocity of what is seen for the first time with none reported, and below which an
estimated one tells how noisy positions are.
"""
_UNMEASURED = 1e9
"""Variance of a velocity that is not reported, m^2/s^2."""
_MEMORY_S = 2.0
"""Of the measured noise: some tens of tables."""
_OUTLIER, _FREE_M = 6.0, 0.1
"""What differs by more than so many standard deviations and this (m, m/s) counts as if it differed by that."""
_LEAP_M = 3.0
"""What is farther off by this still tells nothing of the noise."""
_JUMP_M, _JUMP_ACCEL = 0.5, 8.0
"""What is farther off by this (m) and by what so hard a change of its velocity (m/s^2) takes it is another object with
the same id."""
_LONGEST_STEP_S = 0.25
"""Between two sights that tell the noise: in a longer time an object can turn or brake."""
_STEADY, _MANEUVER = 0.02, 6.0
"""Spectral density of the acceleration of what goes on as before, and of what does not, m^2/s^3."""
_HIGH_NIS, _NIS_S = 1.7, 0.15
"""An object whose normalized innovation squared, averaged over so long, is above this does not go on as before."""
_SURE = 3.0
"""A speed of fewer standard deviations may be none."""
_DOUBT_M = 0.2
"""A body is taken for larger by a standard deviation of its place, to each side and no more than this."""
_LOST_S, _NEAR_M, _LIKE = 0.5, 0.5, 1.0
"""New no later and no farther from where one was lost, and no faster by more (m/s), is the same, but for noise."""


@dataclass(frozen=True)
class MeasuredNoise:
    """Standard deviations of what perception reports: of positions (m) and velocities (m/s), along each axis."""

    position: float = 0.0
    velocity: float = 0.0

    @property
    def beyond_exact(self) -> float:
        """That of positions, 0 where they are taken as they are."""
        return self.position if self.position > EXACT_M else 0.0


def estimate(
    before: FloatArray, yaw_rate: FloatArray, rows: IntArray, found: Detections, stamp: float, noise: MeasuredNoise
) -> tuple[FloatArray, MeasuredNoise]:
    """The estimates of the objects seen at `stamp` (N, ESTIMATE), put into their bodies, and the noise measured by now.

    `rows` are those of `before`, the estimates that were, which the first `found.seen` objects continue, -1 for none;
    `yaw_rate` (M,), rad/s, is how these turned.
    """
    estimates, variances, body = np.empty((len(rows), ESTIMATE)), np.empty(2), found.body[: len(rows)]
    _measure(before, rows, body, stamp, noise.position, noise.velocity, variances)
    noise = MeasuredNoise(math.sqrt(variances[0]), math.sqrt(variances[1]))
    exact = noise.position <= EXACT_M
    position, floor = noise.position * noise.position, max(noise.velocity, _LEAST_NOISE)
    _filter(before, yaw_rate, rows, body, stamp, exact, position=position, velocity=floor * floor, out=estimates)
    return estimates, noise


def associated_rows(
    known: IdArray, before: FloatArray, found: Detections, stamp: float, noise: MeasuredNoise
) -> tuple[IntArray, BoolArray]:
    """Rows of the estimates that the objects seen continue, -1 for none, and which of these are continued.

    `known` are the ids of the estimates, in order. An id is the same object, of several with one id the nearest; one
    that is new is the nearest lost object that it could be.
    """
    rows, taken, holder = np.empty(found.seen, np.int64), np.zeros(len(known), np.bool_), np.full(len(known), -1)
    near, like = _NEAR_M + _SURE * noise.position, _LIKE + _SURE * noise.velocity
    ids = found.id[: found.seen]
    _associate(
        known, before, ids, found.body, stamp, near=near, like=like, rows=rows, taken=taken, holder=holder
    )  # fmt: skip
    return rows, taken


@kernel
def row_of(ids: IdArray, number: int) -> int:
    """Row of an id among ordered ones, -1 for none."""
    row = int(np.searchsorted(ids, number))
    return row if row < len(ids) and ids[row] == number else -1


@kernel
def _off(old: FloatArray, body: FloatArray, stamp: float) -> float:
    """How far (m) a body is from where an estimate foretells it."""
    dt = stamp - old[SEEN]
    return elementary.hypot(body[ob.X] - old[EST_X] - dt * old[EST_VX], body[ob.Y] - old[EST_Y] - dt * old[EST_VY])


@kernel
def _associate(
    known: IdArray, before: FloatArray, ids: IdArray, body: FloatArray, stamp: float, near: float, like: float,
    rows: IntArray, taken: BoolArray, holder: IntArray,
) -> None:  # fmt: skip
    """Fill `rows` and `taken`; `holder` are the objects that continue the estimates by their ids, all -1 at first."""
    for i in range(len(ids)):
        j = row_of(known, ids[i])
        rows[i], other = j, holder[j] if j >= 0 else -1
        if other >= 0 and _off(before[j], body[i], stamp) >= _off(before[j], body[other], stamp):
            rows[i] = -1
        elif j >= 0:
            holder[j], taken[j] = i, True
            if other >= 0:
                rows[other] = -1
    for i in range(len(ids)):
        least = near
        for j in range(len(known) if rows[i] < 0 else 0):
            old = before[j]
            dt = stamp - old[SEEN]
            if taken[j] or not 0.0 < dt <= _LOST_S:
                continue
            far = _off(old, body[i], stamp)
            other = elementary.hypot(body[i, ob.VX] - old[EST_VX], body[i, ob.VY] - old[EST_VY])
            if far < least and (other < like or math.isnan(other)):
                rows[i], least = j, far
        if least < near:
            taken[rows[i]] = True


@kernel
def _measure(
    before: FloatArray, rows: IntArray, body: FloatArray, stamp: float, position: float, velocity: float,
    out: FloatArray,
) -> None:  # fmt: skip
    """Variances of positions and velocities (2,), from what both were and what the objects seen twice tell."""
    count, told, moved, changed, longest = 0, 0, 0.0, 0.0, 0.0
    far, fast = _OUTLIER * position + _FREE_M, _OUTLIER * velocity + _FREE_M
    for i in range(len(rows)):
        if rows[i] < 0:
            continue
        old, now = before[rows[i]], body[i]
        dt = stamp - old[SEEN]
        if not 0.0 < dt <= _LONGEST_STEP_S:
            continue
        vx, vy = 0.5 * (now[ob.VX] + old[RAW_VX]), 0.5 * (now[ob.VY] + old[RAW_VY])
        unmeasured = math.isnan(vx)
        if unmeasured:
            vx, vy = old[EST_VX], old[EST_VY]
            if old[VAR_V] > _KNOWN_SPEED * _KNOWN_SPEED:
                continue
        dx, dy = now[ob.X] - old[RAW_X] - dt * vx, now[ob.Y] - old[RAW_Y] - dt * vy
        if elementary.hypot(dx, dy) > _OUTLIER * position + _LEAP_M:
            continue
        moved += min(dx * dx + dy * dy, far * far)
        count, longest = count + 1, max(longest, dt)
        if not unmeasured:
            dvx, dvy = now[ob.VX] - old[RAW_VX], now[ob.VY] - old[RAW_VY]
            changed += min(dvx * dvx + dvy * dvy, fast * fast)
            told += 1
    gain = longest / (longest + _MEMORY_S)
    out[0], out[1] = position * position, velocity * velocity
    if count > 0:
        # Two sights of two axes each: a difference has four times the variance.
        out[0] += gain * (0.25 * moved / count - out[0])
    if told > 0:
        out[1] += gain * (0.25 * changed / told - out[1])


@kernel
def _filter(
    before: FloatArray, yaw_rate: FloatArray, rows: IntArray, body: FloatArray, stamp: float, exact: bool,
    position: float, velocity: float, out: FloatArray,
) -> None:  # fmt: skip
    """Each object's estimate after it was seen, also as its body; the variances are those of a measurement."""
    for i in range(len(rows)):
        now, one = body[i], out[i]
        one[SEEN] = stamp
        one[RAW_X], one[RAW_Y], one[RAW_VX], one[RAW_VY] = now[ob.X], now[ob.Y], now[ob.VX], now[ob.VY]
        unmeasured = math.isnan(one[RAW_VX])
        place = max(position, _UNTOLD_NOISE * _UNTOLD_NOISE) if unmeasured else position
        fast = _UNMEASURED if unmeasured else velocity
        taken = exact and not unmeasured
        if taken or rows[i] < 0 or _leaps(before[rows[i]], one, position):
            _begin(one, place, fast)
        elif stamp > before[rows[i], SEEN]:
            dt = stamp - before[rows[i], SEEN]
            _update(before[rows[i]], dt, dt * yaw_rate[rows[i]], place, fast, one)
        else:
            for k in range(EST_X, ESTIMATE):
                one[k] = before[rows[i], k]
        if not taken:
            _put(one, now)


@kernel
def _begin(one: FloatArray, position: float, velocity: float) -> None:
    """The estimate of what is seen for the first time: as it is reported, and standing if that tells no velocity."""
    one[EST_X], one[EST_Y], one[EST_VX], one[EST_VY] = one[RAW_X], one[RAW_Y], one[RAW_VX], one[RAW_VY]
    one[VAR_X], one[COV], one[VAR_V], one[NIS] = position, 0.0, velocity, 1.0
    if math.isnan(one[RAW_VX]):
        one[EST_VX] = one[EST_VY] = 0.0
        one[VAR_V] = _UNKNOWN_SPEED * _UNKNOWN_SPEED


@kernel
def _leaps(old: FloatArray, one: FloatArray, position: float) -> bool:
    """Whether an object is seen so far from where it was that it is another one."""
    dt = one[SEEN] - old[SEEN]
    dx, dy = one[RAW_X] - old[EST_X] - dt * old[EST_VX], one[RAW_Y] - old[EST_Y] - dt * old[EST_VY]
    most = _OUTLIER * math.sqrt(position) + _JUMP_M + 0.5 * _JUMP_ACCEL * dt * dt
    if math.isnan(old[RAW_VX]):
        most += _SURE * math.sqrt(old[VAR_V]) * dt
    return bool(elementary.hypot(dx, dy) > most)


@kernel
def _update(old: FloatArray, dt: float, turn: float, position: float, velocity: float, one: FloatArray) -> None:
    """One step of the filter: what it foretold, the velocity turned by so much (rad), and what was measured since."""
    q = _MANEUVER if old[NIS] > _HIGH_NIS else _STEADY
    p = old[VAR_X] + dt * (2.0 * old[COV] + dt * (old[VAR_V] + q * dt / 3.0))
    c = old[COV] + dt * (old[VAR_V] + 0.5 * q * dt)
    v = old[VAR_V] + q * dt
    sp, sv = p + position, v + velocity
    det = sp * sv - c * c
    kpp, kpv = (p * sv - c * c) / det, (c * sp - p * c) / det
    kvp, kvv = (c * sv - v * c) / det, (v * sp - c * c) / det
    chord, turned = _rotated(old[EST_VX], old[EST_VY], 0.5 * turn), _rotated(old[EST_VX], old[EST_VY], turn)
    unmeasured, nis = math.isnan(one[RAW_VX]), 0.0
    for axis in range(2):
        ahead = old[EST_X + axis] + dt * chord[axis]
        off, faster = one[RAW_X + axis] - ahead, 0.0 if unmeasured else one[RAW_VX + axis] - turned[axis]
        nis += (sv * off * off - 2.0 * c * off * faster + sp * faster * faster) / det
        one[EST_X + axis] = ahead + kpp * off + kpv * faster
        one[EST_VX + axis] = turned[axis] + kvp * off + kvv * faster
    one[VAR_X] = p - kpp * p - kpv * c
    one[COV] = c - kpp * c - kpv * v
    one[VAR_V] = v - kvp * c - kvv * v
    # Two axes of two measurements each (of one): the sum of their squares is 4 (2) on average.
    one[NIS] = old[NIS] + dt / (dt + _NIS_S) * ((0.5 if unmeasured else 0.25) * nis - old[NIS])


@kernel
def _rotated(x: float, y: float, angle: float) -> tuple[float, float]:
    s, c = elementary.sin_cos(angle)
    return c * x - s * y, s * x + c * y


@kernel
def _put(one: FloatArray, body: FloatArray) -> None:
    """An estimate as a body, which stands where its speed may be none."""
    vx, vy = one[EST_VX], one[EST_VY]
    speed = elementary.hypot(vx, vy)
    doubt = _SURE * math.sqrt(one[VAR_V])
    if speed <= (doubt if math.isnan(one[RAW_VX]) else min(doubt, AGENT_MOVES)):
        vx = vy = speed = 0.0
    body[ob.X], body[ob.Y] = one[EST_X], one[EST_Y]
    body[ob.VX], body[ob.VY], body[ob.SPEED] = vx, vy, speed
    larger = 2.0 * min(math.sqrt(one[VAR_X]), _DOUBT_M)
    body[ob.LENGTH], body[ob.WIDTH] = body[ob.LENGTH] + larger, body[ob.WIDTH] + larger

"""The functions of `elementary` over arrays of any shape, broadcast as numpy broadcasts.

What numpy has of its own for these differs between processors in the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel


def sin(angle: npt.ArrayLike) -> FloatArray:
    """Sine of angles (rad)."""
    return _of_one(_sin, angle)


def cos(angle: npt.ArrayLike) -> FloatArray:
    """Cosine of angles (rad)."""
    return _of_one(_cos, angle)


def sin_cos(angle: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Sine and cosine of angles (rad)."""
    given = np.asarray(angle, dtype=np.float64)
    sine, cosine = np.empty(given.shape), np.empty(given.shape)
    _sin_cos(given.ravel(), sine.reshape(-1), cosine.reshape(-1))
    return (sine, cosine) if given.ndim else (sine[()], cosine[()])


def sinc(angle: npt.ArrayLike) -> FloatArray:
    """Sine of angles (rad) divided by them; 1 at 0."""
    divisor = np.where(np.equal(angle, 0.0), 1.0, angle)
    return np.where(np.equal(angle, 0.0), 1.0, sin(divisor) / divisor)


def tan(angle: npt.ArrayLike) -> FloatArray:
    """Tangent of angles (rad)."""
    return _of_one(_tan, angle)


def arctan(tangent: npt.ArrayLike) -> FloatArray:
    """Angles (rad) of tangents, in [-pi/2, pi/2]."""
    return _of_one(_arctan, tangent)


def log(x: npt.ArrayLike) -> FloatArray:
    """Natural logarithms."""
    return _of_one(_log, x)


def arctan2(y: npt.ArrayLike, x: npt.ArrayLike) -> FloatArray:
    """Angles (rad) of directions, in [-pi, pi]."""
    return _of_two(_arctan2, y, x)


def hypot(x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    """Lengths of vectors."""
    return _of_two(_hypot, x, y)


def wrap_angle(angle: npt.ArrayLike) -> FloatArray:
    """The same angles in [-pi, pi)."""
    return (np.asarray(angle, dtype=np.float64) + math.pi) % (2.0 * math.pi) - math.pi


def _of_one(loop: Callable[[FloatArray, FloatArray], None], values: npt.ArrayLike) -> FloatArray:
    given = np.asarray(values, dtype=np.float64)
    out = np.empty(given.shape)
    loop(given.ravel(), out.reshape(-1))
    return out if out.ndim else out[()]


def _of_two(
    loop: Callable[[FloatArray, FloatArray, FloatArray], None], first: npt.ArrayLike, second: npt.ArrayLike
) -> FloatArray:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    out = np.empty(a.shape)
    loop(a.ravel(), b.ravel(), out.reshape(-1))
    return out if out.ndim else out[()]


@kernel
def _sin(angle: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.sin(angle[i])


@kernel
def _cos(angle: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.cos(angle[i])


@kernel
def _sin_cos(angle: FloatArray, sine: FloatArray, cosine: FloatArray) -> None:
    for i in range(len(sine)):
        sine[i], cosine[i] = elementary.sin_cos(angle[i])


@kernel
def _tan(angle: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.tan(angle[i])


@kernel
def _arctan(tangent: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.atan(tangent[i])


@kernel
def _log(x: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.log(x[i])


@kernel
def _arctan2(y: FloatArray, x: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.atan2(y[i], x[i])


@kernel
def _hypot(x: FloatArray, y: FloatArray, out: FloatArray) -> None:
    for i in range(len(out)):
        out[i] = elementary.hypot(x[i], y[i])

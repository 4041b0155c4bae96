"""Elementary functions whose last bit is the same on every processor (SIM-2).

A mathematical library chooses its code by the processor (glibc has some functions with and without fused multiply-add,
numpy some of its own for AVX-512), and so the last bit of a sine by the machine. Here nothing is used but the
operations for which IEEE 754 leaves no choice: sum, product, quotient, square root, comparison, rounding down.
Reduction and polynomials as in [muller2016][], chapters 3 and 11; the coefficients are minimax fits made for these
intervals. Sines, cosines and the angles of directions are within a unit in the last place, the others within 2.

For one number, in kernels and out of them; `elementwise` has the same for arrays.
"""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core.kernels import kernel

_TWO_BY_PI = 0.6366197723675814
_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
"""Half of pi in three parts, the first two of 33 bits: their products with whole numbers up to 2^20 are exact."""
_QUARTER_PI, _QUARTER_PI_LOW = 0.7853981633974483, 3.061616997868383e-17
_TAN_PI_8 = 0.41421356237309503
_LOG2_E = 1.4426950408889634
_LN2 = (0.6931471803691238, 1.9082149292705877e-10)
"""Logarithm of 2 in two parts, the first of 32 bits."""
_SQRT_HALF = 0.7071067811865476
_LARGEST_EXPONENT, _SMALLEST_EXPONENT = 709.782712893384, -745.1332191019412
_SAFE_SQUARE = (1e-140, 1e140)
"""Lengths whose squares neither overflow nor lose digits."""
_UP, _DOWN = math.ldexp(1.0, 600), math.ldexp(1.0, -600)
_SPLIT = 134217729.0
"""2^27 + 1."""


@kernel
def sin_cos(angle: float) -> tuple[float, float]:
    """Sine and cosine of an angle (rad); `nan` of an infinite one.

    Beyond a million radians, where neighbouring numbers are farther apart than a result's digits, they are as coarse.
    """
    quarter = np.floor(angle * _TWO_BY_PI + 0.5)
    near, part = angle - quarter * _HALF_PI[0], quarter * _HALF_PI[1]
    r = near - part
    rest = ((near - r) - part) - quarter * _HALF_PI[2]
    near, r = r, r + rest
    rest = (near - r) + rest
    # Holds only where the angle is so large that its rest has no digit left.
    r = 1.0 if r > 1.0 else r
    r = -1.0 if r < -1.0 else r
    rest = 0.0 if abs(rest) > 1.0 else rest
    z = r * r
    odd = 1.5918115263265974e-10
    odd = odd * z - 2.505113165023518e-08
    odd = odd * z + 2.7557316101617874e-06
    odd = odd * z - 0.00019841269836756774
    odd = odd * z + 0.008333333333330948
    odd = odd * z - 0.16666666666666666
    sine = r + (r * z * odd + rest * (1.0 - 0.5 * z))
    even = -1.1382623647474604e-11
    even = even * z + 2.087614614655861e-09
    even = even * z - 2.7557317271145144e-07
    even = even * z + 2.480158729876456e-05
    even = even * z - 0.0013888888888887398
    even = even * z + 0.041666666666666664
    half = 0.5 * z
    high = 1.0 - half
    cosine = high + (((1.0 - high) - half) + (z * z * even - r * rest))
    # Which of the four quarters of the circle, 0 to 3, the one around angle 0 first.
    quarter -= 4.0 * np.floor(0.25 * quarter)
    turned = quarter == 1.0 or quarter == 3.0
    s = cosine if turned else sine
    c = sine if turned else cosine
    return (-s if quarter >= 2.0 else s), (-c if quarter == 1.0 or quarter == 2.0 else c)


@kernel
def sin(angle: float) -> float:
    """Sine of an angle (rad)."""
    return sin_cos(angle)[0]


@kernel
def cos(angle: float) -> float:
    """Cosine of an angle (rad)."""
    return sin_cos(angle)[1]


@kernel
def tan(angle: float) -> float:
    """Tangent of an angle (rad)."""
    s, c = sin_cos(angle)
    return s / c


@kernel
def _upper_half(x: float) -> float:
    """A number of half as many digits (Veltkamp, 1968)."""
    wide = _SPLIT * x
    return wide - (wide - x)


@kernel
def atan2(y: float, x: float) -> float:
    """The angle (rad) of a direction, in [-pi, pi], with the sign of `y`; 0 or pi where there is none."""
    across, along = abs(y), abs(x)
    small, large = (along, across) if across > along else (across, along)
    if large == math.inf:
        small, large = (1.0 if small == math.inf else 0.0 * small), 1.0
    scale = _DOWN if large > _SAFE_SQUARE[1] else (_UP if large < _SAFE_SQUARE[0] else 1.0)
    small, large = scale * small, scale * large
    beyond = small > _TAN_PI_8 * large
    # From pi/4 on the angle is that of (small - large) / (small + large), both with what they lose by rounding.
    divisor = large + small if beyond else large
    divisor_rest = (large - divisor) + small if beyond else 0.0
    dividend = small - large if beyond else small
    dividend_rest = small - (dividend + large) if beyond else 0.0
    u = dividend / divisor if divisor > 0.0 else 0.0 * (x + y)
    # What the quotient loses: products of halves of numbers are exact ([dekker1971][]).
    u1, d1 = _upper_half(u), _upper_half(divisor)
    u2, d2 = u - u1, divisor - d1
    rest = (((dividend - u1 * d1) - u1 * d2) - u2 * d1) - u2 * d2
    lost = (rest + (dividend_rest - u * divisor_rest)) / divisor if divisor > 0.0 else 0.0
    z = u * u
    p = 0.016284375050043393
    p = p * z - 0.03456931506332609
    p = p * z + 0.045515447340221615
    p = p * z - 0.05230443640686948
    p = p * z + 0.05878927554473807
    p = p * z - 0.0666642476020052
    p = p * z + 0.07692296368042296
    p = p * z - 0.09090908753259112
    p = p * z + 0.11111111105150588
    p = p * z - 0.14285714285659779
    p = p * z + 0.19999999999999804
    p = p * z - 0.3333333333333333
    low = u * z * p + lost * (1.0 - z)
    behind = x < 0.0 or (large == 0.0 and math.copysign(1.0, x) < 0.0)
    # The whole is a multiple of pi/4 and the angle of u, which counts backwards in every other eighth of the circle.
    eighths = 1.0 if beyond else 0.0
    sign = 1.0
    if across > along:
        eighths, sign = (2.0 + eighths, 1.0) if behind else (2.0 - eighths, -1.0)
    elif behind:
        eighths, sign = 4.0 - eighths, -1.0
    high = eighths * _QUARTER_PI
    total = high + sign * u
    # Which of the two is the larger is known, and so what their sum loses, but for pi/4 and less.
    missed = (high - total) + sign * u if eighths > 0.0 else 0.0
    return math.copysign(total + (missed + (sign * low + eighths * _QUARTER_PI_LOW)), y)


@kernel
def atan(tangent: float) -> float:
    """The angle (rad) of a tangent, in [-pi/2, pi/2]."""
    return atan2(tangent, 1.0)


@kernel
def asin(sine: float) -> float:
    """The angle (rad) of a sine, in [-pi/2, pi/2]; `nan` beyond 1."""
    return atan2(sine, math.sqrt((1.0 - sine) * (1.0 + sine)))


@kernel
def acos(cosine: float) -> float:
    """The angle (rad) of a cosine, in [0, pi]; `nan` beyond 1."""
    return atan2(math.sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)


@kernel
def hypot(x: float, y: float) -> float:
    """Length of a vector."""
    length = math.sqrt(x * x + y * y)
    if _SAFE_SQUARE[0] < length < _SAFE_SQUARE[1] or (length == 0.0 and x == 0.0 and y == 0.0):
        return length
    large = max(abs(x), abs(y))
    if large == math.inf or not large > 0.0:
        return math.inf if abs(x) == math.inf or abs(y) == math.inf else length
    u, v = x / large, y / large
    return large * math.sqrt(u * u + v * v)


@kernel
def exp(x: float) -> float:
    """The exponential; `inf` where it is too large."""
    if not x < _LARGEST_EXPONENT:
        return x if x != x else math.inf
    if x < _SMALLEST_EXPONENT:
        return 0.0
    twos = math.floor(x * _LOG2_E + 0.5)
    r = (x - twos * _LN2[0]) - twos * _LN2[1]
    p = 0.0
    for n in range(13, 0, -1):
        p = r / n * (1.0 + p)
    return math.ldexp(1.0 + p, int(twos))


@kernel
def log(x: float) -> float:
    """The natural logarithm; `-inf` of 0, `nan` below."""
    if not 0.0 < x < math.inf:
        return x if x != x or x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    share, twos = math.frexp(x)
    if share < _SQRT_HALF:
        share, twos = 2.0 * share, twos - 1
    u = (share - 1.0) / (share + 1.0)
    z = u * u
    p = 0.06544017425463777
    p = p * z + 0.06634319184633412
    p = p * z + 0.07693122368810833
    p = p * z + 0.09090897773760569
    p = p * z + 0.11111111196290523
    p = p * z + 0.14285714285399892
    p = p * z + 0.20000000000000442
    p = p * z + 0.3333333333333333
    rest = 2.0 * u + 2.0 * u * z * p
    return twos * _LN2[0] + (rest + twos * _LN2[1])


@kernel
def cbrt(x: float) -> float:
    """The cube root."""
    if x == 0.0 or not abs(x) < math.inf:
        return x
    share, twos = math.frexp(abs(x))
    third = math.floor(twos / 3.0)
    share = math.ldexp(share, twos - 3 * int(third))
    # Of 0.5 to 4, by Halley's method, which triples the number of right digits each time.
    root = 0.6 + 0.3 * share
    for _ in range(4):
        cube = root * root * root
        root -= root * (cube - share) / (2.0 * cube + share)
    return math.copysign(math.ldexp(root, int(third)), x)

"""Physical units of the ASAM OpenSCENARIO DSL domain model, as far as scenarios here need them."""

from __future__ import annotations

import math
from typing import NamedTuple


class Dimension(NamedTuple):
    """Exponents of metre, second and radian."""

    m: int = 0
    s: int = 0
    rad: int = 0

    def times(self, other: Dimension, sign: int = 1) -> Dimension:
        """Of a product, or with `sign` -1 of a quotient."""
        return Dimension(*(own + sign * theirs for own, theirs in zip(self, other, strict=True)))


NUMBER = Dimension()
PHYSICAL_TYPES = {
    "length": Dimension(m=1),
    "time": Dimension(s=1),
    "speed": Dimension(m=1, s=-1),
    "acceleration": Dimension(m=1, s=-2),
    "jerk": Dimension(m=1, s=-3),
    "angle": Dimension(rad=1),
    "angular_rate": Dimension(rad=1, s=-1),
    "angular_acceleration": Dimension(rad=1, s=-2),
}
"""The physical types of the standard and what they are made of."""

_FACTORS: dict[str, dict[str, float]] = {
    "length": {
        "mm": 1e-3,
        "cm": 1e-2,
        "m": 1.0,
        "meter": 1.0,
        "km": 1e3,
        "kilometer": 1e3,
        "inch": 0.0254,
        "ft": 0.3048,
        "feet": 0.3048,
        "mile": 1609.344,
        "mi": 1609.344,
    },
    "time": {
        "ms": 1e-3,
        "s": 1.0,
        "sec": 1.0,
        "second": 1.0,
        "min": 60.0,
        "minute": 60.0,
        "h": 3600.0,
        "hour": 3600.0,
    },
    "speed": {"mps": 1.0, "kmph": 1.0 / 3.6, "kph": 1.0 / 3.6, "mph": 0.44704, "mmph": 1e-3 / 3600.0},
    "acceleration": {"mpss": 1.0, "mpsps": 1.0, "kmphps": 1.0 / 3.6},
    "jerk": {"mpsss": 1.0, "mpspsps": 1.0},
    "angle": {"rad": 1.0, "radian": 1.0, "deg": math.pi / 180.0, "degree": math.pi / 180.0},
    "angular_rate": {"radps": 1.0, "degps": math.pi / 180.0},
    "angular_acceleration": {"radpss": 1.0, "degpss": math.pi / 180.0},
}
UNITS: dict[str, tuple[Dimension, float]] = {
    unit: (PHYSICAL_TYPES[kind], factor) for kind, units in _FACTORS.items() for unit, factor in units.items()
}
"""Every unit: its dimension, and how many SI units it is."""


def units_of(kind: str) -> tuple[str, ...]:
    """The units of a physical type, for messages and the documentation."""
    return tuple(_FACTORS[kind])


def dimension_name(dimension: Dimension) -> str:
    """The physical type, or its formula where it has no name."""
    for name, known in PHYSICAL_TYPES.items():
        if known == dimension:
            return name
    parts = [f"{unit}^{power}" for unit, power in dimension._asdict().items() if power]
    return " ".join(parts) if parts else "number without unit"

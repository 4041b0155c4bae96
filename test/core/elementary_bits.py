"""Every bit of what the elementary functions give, in one hash: `python -m core.elementary_bits` (SIM-2)."""

from __future__ import annotations

import hashlib

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import Polyline

COUNT = 2000


def digest() -> str:
    """SHA-256 of the functions' values, one by one and for arrays, and of a line's nearest points."""
    rng = np.random.default_rng(1)
    some, others = rng.normal(0.0, 30.0, (2, COUNT))
    small = rng.uniform(-1.0, 1.0, COUNT)
    found = hashlib.sha256()
    for name in ("sin", "cos", "tan", "arctan", "sinc"):
        found.update(getattr(elementwise, name)(some).tobytes())
    for name in ("arctan2", "hypot"):
        found.update(getattr(elementwise, name)(some, others).tobytes())
    for name in ("asin", "acos", "exp", "cbrt"):
        function = getattr(elementary, name)
        found.update(np.array([function(x) for x in small]).tobytes())
    found.update(elementwise.log(np.abs(some)).tobytes())
    found.update(elementwise.wrap_angle(some).tobytes())
    line = Polyline.of(np.stack((np.arange(200.0), 20.0 * elementwise.sin(0.05 * np.arange(200.0))), axis=1))
    nearest = [line.project(*point) for point in np.abs(np.stack((some, others), axis=1)).tolist()]
    found.update(np.array(nearest).tobytes())
    found.update(np.array([line.at(each.s) for each in nearest]).tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    print(digest())

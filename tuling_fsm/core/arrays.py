"""The arrays that the package hands on: their types by what their elements are, and the runs in one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]


def runs(flags: BoolArray) -> IntArray:
    """From where to before where elements (N,) that are set follow one another, a row for each run (M, 2)."""
    return np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))).reshape(-1, 2)

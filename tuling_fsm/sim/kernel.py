"""How kernels are compiled that are called for every agent or vehicle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile without the reference counting of Numba's runtime: it costs more than the geometry where a dozen arrays
    are handed on for every agent. Such a kernel makes no arrays; it fills those that it is given.
    """
    compiled: F = njit(cache=True, _nrt=False)(function)
    return compiled

"""Kernels that keep no arrays.

Numba counts the references to every array that a function is given, with atomic instructions, once for each array of
each tuple. In functions of a microsecond that is most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles a function without counting references: it must neither make arrays nor return any."""
    compiled: Function = njit(cache=True, error_model="numpy", _nrt=False)(function)
    return compiled

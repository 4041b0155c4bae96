"""How kernels are compiled.

Numba counts the references to every array that a function is given, with atomic instructions, once for each array of
each tuple: in functions of a microsecond that is most of the time. And what lets Python call a function takes as long
to compile as the function.
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


def inner(function: Function) -> Function:
    """Compiles a `kernel` that only kernels may call: Python would crash."""
    compiled: Function = njit(
        cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled


def maker(function: Function) -> Function:
    """Compiles a function that makes arrays and that only kernels may call: Python would crash."""
    compiled: Function = njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return compiled

"""How kernels are compiled.

Numba counts the references of every array of every call, one locked instruction each, also those inside the tuples that
are handed on: in kernels that are a few dozen instructions long that is most of the time. And what lets Python call a
function takes as long to compile as the function. A division by 0 gives `inf` or `nan`, as in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles a function without counting references: it must neither make arrays nor return any."""
    compiled: Function = njit(cache=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)(function)
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

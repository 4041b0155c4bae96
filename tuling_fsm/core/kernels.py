"""How kernels are compiled.

Numba counts the references of every array of every call, one locked instruction each, also those inside the tuples that
are handed on: in kernels that are a few dozen instructions long that is most of the time. And what lets Python call a
function takes as long to compile as the function. A division by 0 gives `inf` or `nan`, as in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compiles a function without counting references: it must neither make arrays nor return any."""
    compiled: Function = njit(cache=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)(function)
    return compiled


def part(function: Function) -> Function:
    """Compiles a `kernel` that becomes a part of each of its callers.

    A tuple is handed on number by number, which can take longer than the few things that are done with it.
    """
    compiled: Function = njit(cache=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True, forceinline=True)(
        function
    )
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


def factory(function: Function) -> Function:
    """Compiles a function that makes arrays, for Python to call."""
    compiled: Function = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    return compiled


@intrinsic
def sqrt(typing_context: Any, value: Any) -> Any:
    """Square root for kernels, one instruction of the processor: `math.sqrt` would be a call, before which all that is
    held in registers has to be put away. The same bits; `nan` of a negative value.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        root = builder.module.declare_intrinsic("llvm.sqrt", (arguments[0].type,))
        return builder.call(root, arguments)

    return types.float64(types.float64), generate

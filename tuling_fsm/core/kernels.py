"""How kernels are compiled: every kernel of the package by one of three decorators, which share their options.

Numba counts the references of every array of every call, one locked instruction each, also those inside the tuples that
are handed on: in kernels that are a few dozen instructions long that is most of the time (judging the candidates of a
tick takes 7.7 times as long with it). `_nrt=False` leaves it out; Numba has no public name for it. So a `kernel`
neither makes arrays (Numba refuses to compile it) nor returns any to Python (a test looks at the types returned).
A division by 0 gives `inf` or `nan`, as in numpy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import njit, types
from numba.extending import intrinsic

from tuling_fsm.core.kernel_cache import LOCATORS

Function = TypeVar("Function", bound=Callable[..., Any])

numba.config.CACHE_LOCATOR_CLASSES = LOCATORS
_OPTIONS = {"cache": True, "error_model": "numpy"}


def kernel(function: Function) -> Function:
    """Compiles a function that neither makes nor returns arrays."""
    compiled: Function = njit(**_OPTIONS, _nrt=False)(function)
    return compiled


def inlined_kernel(function: Function) -> Function:
    """Compiles a `kernel` that becomes a part of each of its callers.

    A tuple is handed on number by number, which can take longer than the few things that are done with it.
    """
    compiled: Function = njit(**_OPTIONS, _nrt=False, forceinline=True)(function)
    return compiled


def array_kernel(function: Function) -> Function:
    """Compiles a function that makes or returns arrays."""
    compiled: Function = njit(**_OPTIONS)(function)
    return compiled


def compiled_for(function: Function, *arguments: Any) -> Function:
    """A kernel compiled for arguments of the types of these, which alone it may be called with.

    A kernel that is called as such looks for the types of all arguments in every call. Where these are tuples of many
    arrays, that takes some 10 us, ten times as long as handing them over.
    """
    types_of = tuple(numba.typeof(argument) for argument in arguments)
    compiled: Function = function.compile(types_of) if hasattr(function, "compile") else function
    return compiled


def _plain_sqrt(value: float) -> float:
    return math.sqrt(value) if value >= 0.0 else math.nan


@intrinsic
def _sqrt_instruction(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        root = builder.module.declare_intrinsic("llvm.sqrt", (arguments[0].type,))
        return builder.call(root, arguments)

    return types.float64(types.float64), generate


sqrt: Callable[[float], float] = _plain_sqrt if numba.config.DISABLE_JIT else _sqrt_instruction
"""Square root for kernels, one instruction of the processor: `math.sqrt` would be a call, before which all that is
held in registers has to be put away. The same bits; `nan` of a negative value.
"""

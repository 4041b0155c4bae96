"""Compiled functions that leave reference counts alone."""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)
"""For kernels that make no arrays and return none.

Numba counts the references of every array of every call, one locked instruction each, also those inside the tuples
that are handed on: in kernels that are a few dozen instructions long that is most of the time. A division by 0 gives
`inf` or `nan`, as in numpy.
"""

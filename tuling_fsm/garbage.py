"""How often a program of the package looks for garbage."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 50_000


def collect_seldom() -> None:
    """Look for garbage seldom from now on; called by programs as they begin, as it is the whole process's.

    Modules, kernels and a map are a million objects that stay. Python looks through them again and again while they are
    loaded, by default after every 700 new ones: a fifteenth of the CPU of a start.
    """
    gc.set_threshold(_NEW_OBJECTS, 20, 20)

"""Rooms of the house in which faults are planted, and the tests that have to find them."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """Packages that are mutated together, and how their tests are run."""

    packages: tuple[str, ...]
    tests: tuple[str, ...]
    """Files and folders, from the top."""
    leave_out: str
    """What pytest's `-m` leaves out."""
    is_compiled: bool
    """Whether kernels are: a fault in one would have to be compiled, with all that call it. Without, its code is
    exchanged as that of any other function.
    """

    def load(self) -> None:
        """Load, and compile, all that the tests need and no mutant is in."""
        if self.is_compiled:
            _load_compiled()
        else:
            os.environ["NUMBA_DISABLE_JIT"] = "1"
            _load_libraries()
        early = [name for name in sys.modules if name.startswith(self.packages)]
        assert not early, f"loaded too early to be mutated: {early}"


def _load_libraries() -> None:
    import hypothesis.stateful
    import numba
    import scipy.spatial
    import shapely

    assert hypothesis.stateful and numba.config.DISABLE_JIT and scipy.spatial and shapely


def _load_compiled() -> None:
    import hypothesis.stateful
    import transitions.extensions.nesting

    import tuling_fsm.sim.simulation
    from tuling_fsm.core.vehicle import Vehicle
    from tuling_fsm.planning.parameters import PlanningParameters
    from tuling_fsm.planning.planner import Planner
    from tuling_fsm.planning.warm_up import warm_up_planner

    assert hypothesis.stateful and transitions.extensions.nesting and tuling_fsm.sim.simulation
    warm_up_planner(Planner(Vehicle(), PlanningParameters()))


ROOMS = {
    "behaviour": Room(
        ("tuling_fsm.machine", "tuling_fsm.behaviour"), ("test/machine", "test/behaviour"), "slow", is_compiled=True
    ),
    "planning": Room(
        ("tuling_fsm.planning.safety", "tuling_fsm.planning.speed"),
        ("test/planning/safety", "test/planning/speed", "test/planning/obstacles"),
        "medium or slow or exhaustive or ros",
        is_compiled=False,
    ),
    "world": Room(("tuling_fsm.world",), ("test/world",), "slow or exhaustive or ros", is_compiled=False),
}

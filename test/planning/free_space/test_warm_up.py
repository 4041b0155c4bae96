from __future__ import annotations

import importlib
import pkgutil

import numpy as np
from numba.core.dispatcher import Dispatcher

import tuling_fsm.planning.free_space as free_space
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import describe, load
from tuling_fsm.core.request import FreeSpace, Reason, StopWall
from tuling_fsm.planning.free_space import FreeSpaceParameters
from tuling_fsm.planning.warm_up import warm_up_free_space

from .places import boxes, plan, scene, slot_across


def signatures() -> dict[str, int]:
    found = {}
    for module in pkgutil.iter_modules(free_space.__path__, free_space.__name__ + "."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Dispatcher):
                found[f"{value.__module__}.{name}"] = len(value.signatures)
    return found


def test_nothing_is_compiled_after_warm_up() -> None:
    warm_up_free_space()
    before = signatures()
    assert before
    wall = StopWall(-20.0, 0.0, 20.0, 0.0, Reason.RED_LIGHT)
    line = np.array(((6.0, -30.0, 6.0, -2.0),))
    for v in (0.0, 1.5):
        for request in (
            FreeSpace(Pose(0.0, 0.0, 0.0)),
            FreeSpace(Pose(0.0, 0.0, 0.0), lines=line),
            FreeSpace(Pose(9.0, 9.0, 1.5), walls=(wall,), free_heading=True),
            FreeSpace(Pose(4.0, 9.0, 1.5), allow_reverse=False),
        ):
            plan(scene(Pose(9.0, -8.0, 1.5), slot_across(), v=v, curvature=0.02), request)
    plan(scene(Pose(9.0, -8.0, 1.5), boxes((1.4, 0.0, 0.0, 9.0, 4.0))))
    assert signatures() == before


def test_every_parameter_is_described_and_checked() -> None:
    specs = list(describe(FreeSpaceParameters))
    assert all(spec.doc and spec.low is not None and spec.high is not None for spec in specs)
    assert load(FreeSpaceParameters, {}) == FreeSpaceParameters()

"""What all candidates of a tick have in common, and the arrays that each of them uses anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEPS
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.judge import Weights
from tuling_fsm.planning.laws import Drive
from tuling_fsm.planning.lines import Lines
from tuling_fsm.planning.movers import Movers
from tuling_fsm.planning.paths import AT_ONCE, PLACES, new_path
from tuling_fsm.planning.profile import Traffic, no_traffic
from tuling_fsm.planning.reference import MAX_POINTS
from tuling_fsm.planning.solids import Solids
from tuling_fsm.planning.speeds import Effort
from tuling_fsm.planning.stopping import Gaps


class Start(NamedTuple):
    """When (s) and at which pose (x, y, heading, curvature), speed and acceleration all candidates start."""

    stamp: float
    pose: tuple[float, float, float, float]
    v: float
    a: float


class Tick(NamedTuple):
    """Everything that all candidates of a tick have in common. `walls` (W, 4); `lead` (s) is
    `SpeedParameters.pass_ahead`.
    """

    lines: Lines
    solids: Solids
    movers: Movers
    walls: FloatArray
    start: Start
    speed_limit: float
    lead: float
    body: Body
    drive: Drive
    gaps: Gaps
    weights: Weights
    effort: Effort


class Scratch(NamedTuple):
    """Arrays that every candidate uses anew."""

    path: FloatArray
    places: FloatArray
    limit: FloatArray
    speed: FloatArray
    bound: FloatArray
    level: FloatArray
    rows: FloatArray
    slower: FloatArray
    poses: FloatArray
    traffic: Traffic
    farthest: FloatArray


def new_scratch(rows: int) -> Scratch:
    """Scratch for trajectories of `rows` rows."""
    n = MAX_POINTS + 1
    return Scratch(
        new_path(n), np.zeros((PLACES, n + AT_ONCE)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros((rows, 3)), np.zeros((rows, 3)), np.zeros((PREDICTION_STEPS, 4)), no_traffic(),
        np.zeros(PREDICTION_STEPS),
    )  # fmt: skip

"""A tick in which nobody is there."""

from __future__ import annotations

import numpy as np

from tuling_fsm.world import objects as ob
from tuling_fsm.world.lane_kernels import CANDIDATES, DEPTH
from tuling_fsm.world.traffic import PredictedLanes


def no_traffic() -> PredictedLanes:
    byte, flags, rows = np.zeros(0, np.uint8), np.zeros(0, np.bool_), np.zeros(0, np.int64)
    wide, chains = np.zeros((0, CANDIDATES)), np.zeros((0, DEPTH))
    return PredictedLanes(
        id=np.zeros(0, np.uint32), kind=byte, source=byte, body=np.zeros((0, ob.BODY)),
        moving=flags, standing_for=np.zeros(0), waiting=flags, given_up=flags, line_size=rows,
        line_still=np.zeros(0), line_seen_moving=flags, lane=wide.astype(np.int64), lane_s=wide,
        chain_row=rows, chain=chains.astype(np.int64), chain_begin=chains, obstacle_row=rows,
    )  # fmt: skip

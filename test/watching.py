"""Tick after tick of objects that are put on a map."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.scene import Ego, Obstacles
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.objects import read_objects
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.prediction import ClosedLines, closed_lines, green_lines, see_traffic
from tuling_fsm.world.tracks import NO_TRACKS, Tracks, associate, follow, remember
from tuling_fsm.world.traffic import PredictedLanes

P = WorldParameters()
FAR = Ego(Pose(-500.0, 500.0, 0.0), 0.0, 0.0, 0.0)


class Watch:
    """Ticks of `see_traffic` that hand their tracks on."""

    def __init__(self, road_map: RoadMap, ego: Ego = FAR, parameters: WorldParameters = P) -> None:
        self.index, self.ego, self.tracks, self.parameters = lane_index(road_map), ego, NO_TRACKS, parameters

    def see(
        self,
        rows: npt.NDArray[np.void],
        stamp: float = 0.0,
        lights: dict[int, Light] | None = None,
        held: tuple[int, ...] = (),
    ) -> tuple[PredictedLanes, Obstacles]:
        p = self.parameters
        found, _ = read_objects(rows, (0.0, 0.0), p)
        association = associate(self.tracks, found, stamp)
        tracks: Tracks = follow(self.tracks, association, found, stamp, p)
        shut, free = closed_lines(self.index, lights or {}), green_lines(self.index, lights or {})
        closed = ClosedLines(shut, np.array(held, dtype=np.int64), free)
        traffic, obstacles, tracks = see_traffic(self.index, found, tracks, self.ego, Vehicle(), closed, stamp, p)
        self.tracks = remember(self.tracks, association.taken, tracks, found.order, stamp, p.track_memory)
        return traffic, obstacles

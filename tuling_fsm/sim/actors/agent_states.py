"""States of the ego and of all other agents: of one frame as tables, and of a whole run for its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LanePosition
from tuling_fsm.sim.actors.bodies import ActorBoxes
from tuling_fsm.sim.actors.foreign import ForeignTraffic
from tuling_fsm.sim.actors.scripted import ScriptedActors
from tuling_fsm.sim.pedestrians.population import SIZE_M, Pedestrians
from tuling_fsm.sim.scenario.choices import PerceivedAs
from tuling_fsm.sim.traffic.ego_agent import PREDICTION_STEP_S
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.world.inputs import Kind

EGO_EVERY_S = 0.2
AGENTS_EVERY_S = 0.5


class AgentState(NamedTuple):
    """One agent: centre of the box in `map`, size (m), speed (m/s)."""

    id: int
    kind: Kind
    pose: Pose
    length: float
    width: float
    v: float


@dataclass(frozen=True, eq=False)
class AgentBoxes:
    """All agents but the ego: boxes (N, 7) of x, y, z, heading, length, width, speed; kinds and ids (N,); by id how
    things are seen that are not seen as objects; for those with a slip angle, speeds of their middles to the left
    (m/s, N).
    """

    boxes: FloatArray
    kinds: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.uint32]
    seen_as: Mapping[int, PerceivedAs] = field(default_factory=dict)
    sideways: FloatArray | None = None


@dataclass(frozen=True)
class EgoState:
    """The ego as it really is: rear-axle pose in `map`, level z (m, NaN: unknown), speed (m/s), acceleration (m/s^2),
    yaw rate (rad/s), the driving lane under its middle, the machine's state.
    """

    pose: Pose
    z: float
    v: float
    a: float
    yaw_rate: float
    position: LanePosition | None
    state: str = ""


class EgoSample(NamedTuple):
    """Stamp (s), rear-axle pose, speed (m/s)."""

    t: float
    pose: Pose
    v: float


class AgentSample(NamedTuple):
    """Stamp (s), ids, and boxes (N, 7) of x, y, z, heading, length, width, speed."""

    t: float
    ids: npt.NDArray[np.uint32]
    boxes: FloatArray


class History:
    """Samples of the ego five times a second, of all other agents twice a second."""

    def __init__(self, dt: float) -> None:
        self.ego: list[EgoSample] = []
        self.agents: list[AgentSample] = []
        self._ego_every = max(round(EGO_EVERY_S / dt), 1)
        self._agents_every = max(round(AGENTS_EVERY_S / dt), 1)

    def note(self, frame: int, stamp: float, pose: Pose, v: float, agents: AgentBoxes) -> None:
        """Note a frame if it is one to note: its time (s), the ego's rear axle and speed (m/s), the other agents."""
        if frame % self._ego_every == 0:
            self.ego.append(EgoSample(stamp, pose, v))
        if frame % self._agents_every == 0:
            self.agents.append(AgentSample(stamp, agents.ids, agents.boxes))


FIRST_WALKER_ID = 1_000_001
_PEDESTRIAN = np.uint8(Kind.PEDESTRIAN)


class AgentTable:
    """Asks traffic, scripted actors, pedestrians and foreign traffic, if there is any, where they are."""

    def __init__(
        self,
        traffic: TrafficManager,
        scripted: ScriptedActors,
        pedestrians: Pedestrians,
        foreign: ForeignTraffic | None = None,
    ) -> None:
        self._traffic, self._scripted, self._pedestrians = traffic, scripted, pedestrians
        self._foreign = foreign
        count = len(pedestrians.pedestrians)
        self._walker_kinds = np.full(count, _PEDESTRIAN)
        self._walker_ids = np.arange(count) + FIRST_WALKER_ID

    def free(self) -> ActorBoxes:
        """All that the traffic does not move: foreign vehicles, scripted actors, placed objects, pedestrians."""
        parts = [ActorBoxes.of(self._scripted.free()), self._scripted.placed_objects.boxes, self._walking()]
        if self._foreign is not None:
            parts.insert(0, self._foreign.boxes())
        return ActorBoxes(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.kinds for part in parts]),
            np.concatenate([part.ids for part in parts]),
        )

    def boxes(self, free: ActorBoxes) -> AgentBoxes:
        """All boxes, kinds and ids: traffic first, then `free`, which it does not move."""
        rows = np.flatnonzero(self._traffic.on_road)
        return AgentBoxes(
            np.concatenate((self._vehicles(rows), free.rows)),
            np.concatenate((self._traffic.kinds[rows], free.kinds)).astype(np.uint8),
            np.concatenate((self._traffic.ids[rows], free.ids)).astype(np.uint32),
            dict(self._scripted.placed_objects.seen_as),
            np.concatenate((self._sideways(rows), np.zeros(len(free.rows)))),
        )

    def states(self) -> tuple[AgentState, ...]:
        """The same, one by one."""
        agents = self.boxes(self.free())
        return tuple(
            AgentState(number, Kind(kind), Pose(row[0], row[1], row[3]), row[4], row[5], row[6])
            for number, kind, row in zip(agents.ids.tolist(), agents.kinds.tolist(), agents.boxes.tolist(), strict=True)
        )

    def _vehicles(self, rows: IntArray) -> FloatArray:
        """Boxes (N, 7) of rows of the fleet."""
        car = np.asarray(self._traffic.fleet.car)
        boxes = np.empty((len(rows), 7))
        for i, name in enumerate(("x", "y", "z", "heading", "length", "width", "v")):
            boxes[:, i] = car[name][rows]
        return boxes

    def _sideways(self, rows: IntArray) -> FloatArray:
        """Speeds (N,) to the left of the middles, half-way between an axle that steers and one that does not."""
        car = np.asarray(self._traffic.fleet.car)
        return np.where(car["physical"][rows], 0.5 * car["v"][rows] * elementwise.tan(car["steer"][rows]), 0.0)

    def _walking(self) -> ActorBoxes:
        rows = [(w.pose.x, w.pose.y, w.z, w.pose.heading, SIZE_M, SIZE_M, w.v) for w in self._pedestrians.pedestrians]
        return ActorBoxes(np.array(rows).reshape(-1, 7), self._walker_kinds, self._walker_ids)

    def predicted(self, free: ActorBoxes, horizon: float) -> FloatArray:
        """Boxes (M, 10) for the traffic of all agents that it does not move (`free`): now and, where they move freely,
        later, up to a horizon (s).
        """
        pedestrians = self._pedestrians.pedestrians
        now = np.zeros((len(free.rows), 10))
        now[:, :7], now[:, 8], now[:, 9] = free.rows, free.ids, free.kinds == _PEDESTRIAN
        moves = now[:, 6] > 0.0
        moves[len(moves) - len(pedestrians) :] = [pedestrian.crossing for pedestrian in pedestrians]
        moving = now[moves]
        if len(moving) == 0:
            return now
        times = np.arange(PREDICTION_STEP_S, horizon + 1e-9, PREDICTION_STEP_S)
        later = np.tile(moving, (len(times), 1))
        later[:, 7] = np.repeat(times, len(moving))
        sine, cosine = elementwise.sin_cos(later[:, 3])
        later[:, 0] += later[:, 7] * later[:, 6] * cosine
        later[:, 1] += later[:, 7] * later[:, 6] * sine
        return np.concatenate((now, later))

    def vehicles(self, free: ActorBoxes, ego: FloatArray) -> FloatArray:
        """What pedestrians heed (N, 6): x, y, heading, length, width, speed of the ego's box (x, y, z, heading, ...)
        and of all else but pedestrians, in the traffic or not.
        """
        traffic = self._vehicles(np.flatnonzero(self._traffic.on_road))
        boxes = np.concatenate((ego[None, :7], traffic, free.rows[free.kinds != _PEDESTRIAN]))
        return np.asarray(boxes[:, _NO_Z])


_NO_Z = [0, 1, 3, 4, 5, 6]

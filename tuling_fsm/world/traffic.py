"""The objects of one tick put on the map: their lanes, where they may go, how long they have stood, what they wait
for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.world import objects as ob


@dataclass(frozen=True, eq=False)
class PredictedLanes:
    """N objects, and M chains of lanes that they may follow.

    Lanes are numbers of `world.lane_index.lane_index(road_map)`, -1 for none. An object has up to three chains,
    likeliest first, reaching 60 m plus 6 s of its speed; one that follows no lane (a pedestrian, a car in a car park)
    has none.
    """

    id: npt.NDArray[np.uint32]
    kind: npt.NDArray[np.uint8]
    source: npt.NDArray[np.uint8]
    body: FloatArray
    """Columns of `world.objects` (N, BODY)."""
    moving: BoolArray
    """As `core.scene.Obstacles.moving`: moves, moved within the last 20 s, waits at a light, or walks (NOR-7)."""
    standing_for: FloatArray
    """How long it has stood, s; 0 while it moves."""
    waiting: BoolArray
    """Stands in a line that is waited for, as `world.queues` has it (NOR-11)."""
    given_up: BoolArray
    """Stands in a line of which nothing has moved for too long."""
    line_size: IntArray
    """Vehicles from it to the head of that line, itself included; 0 for what is in none."""
    line_still: FloatArray
    """How long none of these has moved, s."""
    line_seen_moving: BoolArray
    """Whether that is since one of them has been seen to move, and not since all are known."""
    lane: IntArray
    """Lanes that hold its centre with a matching heading, best first (N, CANDIDATES)."""
    lane_s: FloatArray
    chain_row: IntArray
    """Row of the object that a chain belongs to (M,)."""
    chain: IntArray
    """Lanes of each chain, padded with -1 (M, DEPTH)."""
    chain_begin: FloatArray
    """Distance from the object's centre to the beginning of each lane, negative for the one it is on (M, DEPTH), m."""
    obstacle_row: IntArray
    """Row of the object behind each row of the scene's obstacles."""

    def __len__(self) -> int:
        return len(self.id)

    def waits(self, number: int) -> bool:
        """Whether one with this id stands in a line that is waited for (NOR-11)."""
        return bool((self.waiting & (self.id == number)).any())

    def line_words(self, row: int) -> str:
        """The line that an object stands in, for people."""
        return line_words(int(self.line_size[row]), float(self.line_still[row]), bool(self.line_seen_moving[row]))

    @property
    def x(self) -> FloatArray:
        """Box centre in `map`, m."""
        return self.body[:, ob.X]

    @property
    def y(self) -> FloatArray:
        """Box centre in `map`, m."""
        return self.body[:, ob.Y]

    @property
    def vx(self) -> FloatArray:
        """Velocity in `map`, m/s."""
        return self.body[:, ob.VX]

    @property
    def vy(self) -> FloatArray:
        """Velocity in `map`, m/s."""
        return self.body[:, ob.VY]

    @property
    def speed(self) -> FloatArray:
        """Of the centre, m/s."""
        return self.body[:, ob.SPEED]

    @property
    def length(self) -> FloatArray:
        """Of the box, m."""
        return self.body[:, ob.LENGTH]


def line_words(size: int, still: float, seen_moving: bool) -> str:
    """A line of so many vehicles of which none has moved for so long (s), since one did or since all are known, for
    people.
    """
    line = "behind a vehicle that waits" if size == 1 else f"in a line of {size}"
    return f"{line}, moved {still:.0f} s ago" if seen_moving else f"{line}, seen standing for {still:.0f} s"

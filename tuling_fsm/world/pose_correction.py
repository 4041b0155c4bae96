"""The pose put right by lane lines: where localization says that it is sound, and lines that are seen do not lie on
those of the map, the car is beside where it is believed to be.

Everything that is told in `map` comes in by the same wrong pose, and is moved with it: the car, objects, grid and
parking spaces. What is planned is moved back before it is sent, as it is driven by that pose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.request import LaneLine
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.world.inputs import Occupancy, Odometry
from tuling_fsm.world.objects import X, Y
from tuling_fsm.world.perceived import PerceivedLine, PerceivedSlot

_REACH_M = 15.0
"""Points of lines up to this far ahead are compared: a heading that is wrong by 1 degree makes 0.26 m there."""
_LEAST_POINTS = 4
_ALONG_M = 0.6
"""A line whose farther half is more than this nearer to or farther from a line of the map than its nearer half is
another one, m.
"""
_FARTHEST_M = 1.6
"""A line with a point farther from all lines of the map is none of theirs: half a lane tells no left from right."""
_MOST_M = 2.5
"""A correction that would become larger is let go: it may have begun with lines taken for those of the next lane."""
_AGREE_M = 0.4
"""Lines that say the same of the pose differ by no more than this, m."""
_BEND, _TURNED = 0.1, 0.5
"""In a tighter bend (1/m), or turned farther from the lane (rad), nothing is compared: what has been driven since lines
were seen is not known well.
"""
_MEDIAN_OF = 5
_RELEASE = 0.5
"""Share of the tolerance below which a pose that was put right is believed again."""
_MEMORY_S, _FADES = 3.0, 0.2
"""What was not compared for longer is let go, by so many metres a second."""


class PoseCorrection(NamedTuple):
    """What is to be added to places in `map` (m), the offsets of the last lines that were compared, by how much they
    were seen to the left of the map's (m), and the stamp of the last of them (s).
    """

    x: float = 0.0
    y: float = 0.0
    offsets: tuple[float, ...] = ()
    stamp: float = -math.inf

    @property
    def corrects(self) -> bool:
        """Whether there is anything to be put right."""
        return self.x != 0.0 or self.y != 0.0

    def offset(self, heading: float) -> float:
        """The offset of lines of a lane with a heading (rad) that it puts right, m."""
        sine, cosine = elementary.sin_cos(heading)
        return self.x * sine - self.y * cosine if self.corrects else 0.0

    def pose(self, pose: Pose) -> Pose:
        """Where the car is, that is said to be at a pose."""
        return pose._replace(x=pose.x + self.x, y=pose.y + self.y) if self.corrects else pose

    def grid(self, grid: Occupancy | None) -> Occupancy | None:
        """A grid where it is."""
        return replace(grid, origin=self.pose(grid.origin)) if grid is not None and self.corrects else grid

    def bodies(self, body: FloatArray) -> None:
        """Move objects, of which these are the columns, to where they are."""
        if self.corrects:
            body[:, X] += self.x
            body[:, Y] += self.y

    def slots(self, seen: Sequence[PerceivedSlot]) -> tuple[PerceivedSlot, ...]:
        """Parking spaces where they are."""
        return tuple(replace(slot, x=slot.x + self.x, y=slot.y + self.y) if self.corrects else slot for slot in seen)

    def sent(self, plan: Trajectory) -> Trajectory:
        """A plan as it is sent to a tracker that drives by the pose as it is said to be."""
        return replace(plan, x=plan.x - self.x, y=plan.y - self.y) if self.corrects else plan


def corrected(
    before: PoseCorrection,
    lines: Sequence[PerceivedLine],
    stamp: float,
    pose: Pose,
    curvature: float,
    lanes: Sequence[LaneLine],
    tolerance: float,
) -> PoseCorrection:
    """The correction with a table of lines; `before` where they cannot be compared. They are compared where the car is
    with `before`: one that grows is followed beyond the middle between two lines, and not taken to the next line.

    Args:
        before: the correction so far.
        lines: of the table.
        stamp: when they were seen, s.
        pose: where the car is said to have been then.
        curvature: of its path, 1/m.
        lanes: along the route, as the map has them.
        tolerance: offsets up to this are taken for errors of perception and map, m.
    """
    pose = before.pose(pose)
    lane = _heading_of_nearest(lanes, pose)
    if lane is None or abs(curvature) > _BEND or abs(wrap_angle(pose.heading - lane)) > _TURNED:
        return before
    offset = line_offset(lines, pose, lanes)
    if offset is None:
        return before
    offsets = (*before.offsets, before.offset(lane) + offset)[-_MEDIAN_OF:]
    if len(offsets) < _MEDIAN_OF:
        return before._replace(offsets=offsets, stamp=stamp)
    middle = sorted(offsets)[_MEDIAN_OF // 2]
    if abs(middle) > _MOST_M:
        return PoseCorrection(stamp=stamp)
    if abs(middle) <= (_RELEASE * tolerance if before.corrects else tolerance):
        return PoseCorrection(0.0, 0.0, offsets, stamp)
    sine, cosine = elementary.sin_cos(lane)
    return PoseCorrection(middle * sine, -middle * cosine, offsets, stamp)


def faded(correction: PoseCorrection, now: float, dt: float) -> PoseCorrection:
    """A correction a tick (s) later: it is kept for a while without lines, and then let go step by step."""
    if now - correction.stamp <= _MEMORY_S:
        return correction
    size = elementary.hypot(correction.x, correction.y)
    left = max(size - _FADES * dt, 0.0)
    if left == 0.0:
        return PoseCorrection()
    return correction._replace(x=correction.x * left / size, y=correction.y * left / size, offsets=())


def pose_before(pose: Pose, v: float, curvature: float, ago: float) -> Pose:
    """Where the car was a moment ago (s), on the circle that it drives with `v` (m/s)."""
    way = v * ago
    middle = pose.heading - 0.5 * curvature * way
    sine, cosine = elementary.sin_cos(middle)
    x, y = pose.x - way * cosine, pose.y - way * sine
    return Pose(x, y, pose.heading - curvature * way)


def pose_at(history: Sequence[Odometry], stamp: float, curvature: float) -> Pose:
    """Where the car was said to be at a stamp (s): between two of the poses told, the latest last, or before all of
    them on the circle of `curvature` (1/m).
    """
    first, last = history[0], history[-1]
    if stamp <= first.stamp:
        return pose_before(first.pose, first.v, curvature, first.stamp - stamp)
    for before, after in pairwise(history):
        if before.stamp < stamp <= after.stamp:
            share, a, b = (stamp - before.stamp) / (after.stamp - before.stamp), before.pose, after.pose
            heading = a.heading + share * wrap_angle(b.heading - a.heading)
            return Pose(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), heading)
    return last.pose


def line_offset(lines: Sequence[PerceivedLine], pose: Pose, lanes: Sequence[LaneLine]) -> float | None:
    """By how much lines are seen to the left of those of the lanes (m), on average of two or more that agree; None
    where no two can be compared. `pose` is the one in whose frame the lines are.
    """
    offsets = [offset for line in lines if (offset := _offset_of(line, pose, lanes)) is not None]
    if len(offsets) < 2 or max(offsets) - min(offsets) > _AGREE_M:
        return None
    return math.fsum(offsets) / len(offsets)


def _offset_of(line: PerceivedLine, pose: Pose, lanes: Sequence[LaneLine]) -> float | None:
    """By how much a line is seen to the left of the nearest line of a lane, m."""
    x, y = line.points[(line.points[:, 0] >= 0.0) & (line.points[:, 0] <= _REACH_M)].T
    if len(x) < _LEAST_POINTS or not lanes:
        return None
    s, c = elementary.sin_cos(pose.heading)
    px, py = pose.x + c * x - s * y, pose.y + s * x + c * y
    best: FloatArray = np.full(len(x), np.inf)
    for lane in lanes:
        aside, at = _beside(px, py, lane)
        for offset in (aside - lane.left[at], aside + lane.right[at]):
            best = np.where(np.abs(offset) < np.abs(best), offset, best)
    ordered = best[np.argsort(x, kind="stable")].tolist()
    near, far = _mean(ordered[: len(ordered) // 2]), _mean(ordered[len(ordered) // 2 :])
    along = abs(far - near) <= _ALONG_M and max(map(abs, ordered)) <= _FARTHEST_M
    return _mean(ordered) if along else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _beside(x: FloatArray, y: FloatArray, lane: LaneLine) -> tuple[FloatArray, IntArray]:
    """How far points are to the left of a lane's centre (m), and which of its samples are nearest."""
    dx, dy = x[:, None] - lane.center.xy[:, 0], y[:, None] - lane.center.xy[:, 1]
    at = np.argmin(dx * dx + dy * dy, axis=1)
    rows, heading = np.arange(len(x)), lane.center.heading[at]
    sine, cosine = elementwise.sin_cos(heading)
    return dy[rows, at] * cosine - dx[rows, at] * sine, at


def _heading_of_nearest(lanes: Sequence[LaneLine], pose: Pose) -> float | None:
    """Heading (rad) of the lane that is nearest to a pose, there."""
    found: tuple[float, float] | None = None
    for lane in lanes:
        dx, dy = lane.center.xy[:, 0] - pose.x, lane.center.xy[:, 1] - pose.y
        way = dx * dx + dy * dy
        at = int(np.argmin(way))
        if found is None or way[at] < found[0]:
            found = float(way[at]), float(lane.center.heading[at])
    return None if found is None else found[1]

"""How the car itself moved, as columns: poses and speeds, the limit where it was, and how long its ticks took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tuling_fsm.bag.timeline import MotionSample
from tuling_fsm.map.speed_limits import SpeedLimits
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.origin import PageOrigin

MOTION_PERIOD_S = 0.045
"""Between two poses of the car at the least, s: odometry of 100 Hz is shown as 20 Hz."""
LIMIT_PERIOD_S = 0.5
"""Between two looks at the speed limit, s."""


def add_motion(
    columns: ColumnWriter, motion: Sequence[MotionSample], origin: PageOrigin, heading: float | None = None
) -> list[MotionSample]:
    """The car as `ego.*`, thinned; headings go on beyond half a turn, so that a mean of two is between them.

    Args:
        columns: that they are added to.
        motion: by time.
        origin: of the film.
        heading: which the first one goes on from, rad; none at the beginning.

    Returns:
        What was kept.
    """
    kept: list[MotionSample] = []
    for each in motion:
        if not kept or each.t - kept[-1].t >= MOTION_PERIOD_S or each is motion[-1]:
            kept.append(each)
    columns.add("ego.t", [each.t - origin.t for each in kept], 1e-3, order=2)
    columns.add("ego.x", [each.pose.x - origin.x for each in kept], 1e-3, order=2)
    columns.add("ego.y", [each.pose.y - origin.y for each in kept], 1e-3, order=2)
    before = [] if heading is None else [heading]
    headings = np.unwrap([*before, *(each.pose.heading for each in kept)])[len(before) :]
    columns.add("ego.heading", headings, 1e-4, order=2)
    columns.add("ego.v", [each.v for each in kept], 0.01)
    return kept


def add_tick_ms(columns: ColumnWriter, ticks: Iterable[tuple[float, float]], origin: float) -> None:
    """How long ticks took as `tick.*`: stamp (s) and time (ms) of each."""
    rows = np.array(list(ticks)).reshape(-1, 2)
    columns.add("tick.t", rows[:, 0] - origin, 1e-3, order=2)
    columns.add("tick.ms", rows[:, 1], 0.01)


def add_limits(
    columns: ColumnWriter, limits: SpeedLimits | None, motion: Sequence[MotionSample], origin: float
) -> None:
    """The speed limit where the car was (m/s) as `limit.*`; nothing without a map."""
    rows: list[tuple[float, float]] = []
    for each in motion if limits is not None else ():
        if limits is not None and (not rows or each.t - origin - rows[-1][0] >= LIMIT_PERIOD_S):
            rows.append((each.t - origin, limits.at(each.pose)))
    table = np.array(rows).reshape(-1, 2)
    columns.add("limit.t", table[:, 0], 1e-3, order=2)
    columns.add("limit.v", table[:, 1], 0.01)

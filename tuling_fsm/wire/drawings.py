"""What RViz and Foxglove show of a tick: path, candidates, target, and stop walls with their reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, PlanningRequest, PullOver, Reason, StopWall
from tuling_fsm.wire.markers import Drawing, Shape
from tuling_fsm.wire.why import WORDS

if TYPE_CHECKING:
    from tuling_fsm.agent import Tick

GREEN, GREY, RED, BLUE = (0.1, 0.8, 0.3), (0.6, 0.6, 0.6), (0.9, 0.1, 0.1), (0.2, 0.4, 1.0)
MAX_CANDIDATES = 200


def drawings(tick: Tick) -> tuple[Drawing, ...]:
    """The path first; what is not there is left out."""
    path = np.column_stack((tick.trajectory.x, tick.trajectory.y))
    drawn = [Drawing("path", Shape.LINE_STRIP, GREEN, 0.3, path)]
    for name, color, won in (("candidates", GREY, False), ("winner", GREEN, True)):
        ends = [(c.x, c.y) for c in tick.result.candidates if (c.rejected is Reason.NONE) is won]
        if ends:
            drawn.append(Drawing(name, Shape.POINTS, color, 0.3, np.array(ends[:MAX_CANDIDATES])))
    request = tick.decision.request
    drawn += [Drawing("target", Shape.ARROW, BLUE, 0.5, pose=goal) for goal in _goals(request)]
    drawn += [drawing for wall in _walls(request) for drawing in _wall(wall)]
    return tuple(drawn)


def _goals(request: PlanningRequest) -> tuple[Pose, ...]:
    match request:
        case PullOver():
            return request.goals
        case FreeSpace():
            return (request.goal,)
        case FollowLanes() | Hold():
            return ()
        case _:
            assert_never(request)


def _walls(request: PlanningRequest) -> tuple[StopWall, ...]:
    match request:
        case FollowLanes() | FreeSpace() | PullOver():
            return request.walls
        case Hold():
            return ()
        case _:
            assert_never(request)


def _wall(wall: StopWall) -> tuple[Drawing, Drawing]:
    ends = np.array(((wall.x0, wall.y0), (wall.x1, wall.y1)))
    middle = Pose(0.5 * (wall.x0 + wall.x1), 0.5 * (wall.y0 + wall.y1), 0.0)
    words = f"{WORDS[wall.reason]} {wall.detail}".strip()
    return (
        Drawing("walls", Shape.LINE_LIST, RED, 0.25, ends),
        Drawing("walls", Shape.TEXT, RED, 0.8, pose=middle, text=words),
    )

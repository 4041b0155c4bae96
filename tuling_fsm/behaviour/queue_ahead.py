"""The line of vehicles that the car stands behind, in whatever state it is (NOR-11)."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Limit, PlanResult, Reason
from tuling_fsm.world import objects as ob
from tuling_fsm.world.traffic import PredictedLanes, line_words
from tuling_fsm.world.world import World

_BESIDE_M = 0.3
"""Room beside the car that it would rather keep: what stands in it is ahead, not beside."""
_OVERLAP_M = 0.5
"""A vehicle that stands ahead may seem to reach this far behind the front bumper."""


class QueueAhead(NamedTuple):
    """The line whose last vehicle stands ahead of the car; see `PredictedLanes`."""

    last: int
    """Id of its last vehicle."""
    gap: float
    """From the front bumper to that one along the route, m."""
    size: int
    still: float
    given_up: bool
    seen_moving: bool

    @property
    def words(self) -> str:
        """For people."""
        return line_words(self.size, self.still, self.seen_moving)


def queue_ahead(view: BehaviourView) -> QueueAhead | None:
    """The line that stands in the car's way along its route, within the reach of `FreeDrivingParameters`."""
    world, traffic = view.world, view.world.traffic
    rows = (traffic.waiting | traffic.given_up).nonzero()[0].tolist()
    found = (queue for queue in (_in_the_way(view, row) for row in rows) if queue is not None)
    return min(found, key=lambda queue: queue.gap, default=None) if world.localized else None


def _in_the_way(view: BehaviourView, row: int) -> QueueAhead | None:
    world, traffic, vehicle = view.world, view.world.traffic, view.context.vehicle
    if world.route is None:
        return None
    front, reach = world.route_s + vehicle.front, view.context.parameters.free.queue_reach
    x, y, heading, length, width = traffic.body[row, [ob.X, ob.Y, ob.HEADING, ob.LENGTH, ob.WIDTH]].tolist()
    place = world.route.reference.project(x, y, front - length, front + reach + length)
    gap, aside = place.s - 0.5 * length - front, abs(place.offset - world.route_offset)
    turned = abs(wrap_angle(heading - place.heading)) > view.context.seeing.lane_heading
    if turned or not -_OVERLAP_M < gap < reach or aside > 0.5 * (width + vehicle.width) + _BESIDE_M:
        return None
    return QueueAhead(
        int(traffic.id[row]), max(gap, 0.0), int(traffic.line_size[row]), float(traffic.line_still[row]),
        bool(traffic.given_up[row]), bool(traffic.line_seen_moving[row]),
    )  # fmt: skip


def watch_queue(view: BehaviourView) -> Memory:
    """Say so, once, when the line ahead is given up: from then on NOR-7 holds."""
    queue = queue_ahead(view)
    given_up = queue is not None and queue.given_up
    if given_up == view.memory.queue_given_up:
        return view.memory
    memory = replace(view.memory, queue_given_up=given_up)
    if queue is None or not queue.given_up:
        return memory
    return report(memory, f"queue: {queue.words}: it is an obstacle from now on (NOR-11)")


def told_of_queue(result: PlanResult, world: World) -> PlanResult:
    """A plan that a leader limits which stands in line says so (EXPL-1)."""
    limit = result.limit
    if limit.reason is not Reason.LEADER or not world.traffic.waits(limit.blocker):
        return result
    return replace(result, limit=_in_line(limit, world.traffic))


def _in_line(limit: Limit, traffic: PredictedLanes) -> Limit:
    row = int((traffic.id == limit.blocker).argmax())
    return Limit(Reason.QUEUE, limit.distance, traffic.line_words(row), limit.blocker)

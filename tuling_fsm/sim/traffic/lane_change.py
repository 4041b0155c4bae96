"""Part of the localization stage: vehicles change lanes to pass slow leaders, and to keep right (TM-2)."""

from __future__ import annotations

import math

from tuling_fsm.core import elementary
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.sim.traffic.collision import IdmParameters
from tuling_fsm.sim.traffic.fleet import ROAMING, Fleet, draw, offset_at, path_index
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph, lane_point
from tuling_fsm.sim.traffic.population import SIDE_ROOM_M
from tuling_fsm.sim.traffic.spatial_grid import SpatialGrid, cells

EVERY = 20
"""A vehicle considers it once in so many frames."""
MIN_SPEED = 3.0
PAUSE_S = 4.0
"""Time between two changes."""
SLOW_SHARE = 0.8
"""A leader slower than this share of the own wanted speed is worth passing ..."""
NEAR_S = 3.0
"""... when it is this near, in time."""
ROOM_S, ROOM_M = 1.2, 4.0
"""Gap to vehicles in the new lane that is accepted, in time and distance."""
BESIDE_M = 2.2
"""A body whose centre is this near to that of the new lane is in it."""
END_M = 15.0


@kernel
def gap_between(graph: TrafficLaneGraph, lane: int, target: int, share: float) -> float:
    """How far the centre of `target` lies to the left of that of `lane`, m, at a share of their lengths."""
    x, y, heading = lane_point(graph, lane, share * graph.lane.length[lane])
    other_x, other_y, _ = lane_point(graph, target, share * graph.lane.length[target])
    sine, cosine = elementary.sin_cos(heading)
    return (other_y - y) * cosine - (other_x - x) * sine


@kernel
def start_lane_change(graph: TrafficLaneGraph, fleet: Fleet, i: int, target: int, duration: float) -> None:
    """Begin to move to a lane beside within `duration` (s); the path goes on from there at random, and what was cleared
    of the one before is so no longer.
    """
    car = fleet.car
    k = path_index(fleet, i, car.arc[i])
    lane = fleet.path_lane[i, k]
    share = (car.arc[i] - fleet.path_at[i, k]) / graph.lane.length[lane]
    width = gap_between(graph, lane, target, share)
    offset = offset_at(fleet, i, 0.0, duration)
    fleet.path_lane[i, 0], car.path_count[i] = target, 1
    fleet.path_at[i, 0] = car.arc[i] - share * graph.lane.length[target]
    fleet.path_at[i, 1] = fleet.path_at[i, 0] + graph.lane.length[target]
    car.cleared[i] = min(car.cleared[i], fleet.path_at[i, 1])
    car.offset_from[i], car.offset_to[i], car.offset_time[i] = offset - width, fleet.rules.offset[i], 0.0
    car.mode[i] = ROAMING


@kernel
def _blocks_gap(fleet: Fleet, i: int, boxes: Records, j: int, x: float, y: float, heading: float) -> bool:
    """Whether body `j` is beside vehicle `i`, or too near before or behind, when that is at a place."""
    (s, c), v = elementary.sin_cos(heading), fleet.car.v[i]
    dx, dy = boxes.x[j] - x, boxes.y[j] - y
    along, across = c * dx + s * dy, c * dy - s * dx
    if abs(across) > BESIDE_M + 0.5 * boxes.width[j] - 0.9 or boxes.row[j] == i:
        return False
    reach = 0.5 * (fleet.car.length[i] + boxes.length[j]) + ROOM_M
    other = boxes.v[j] * elementary.cos(boxes.heading[j] - heading)
    before = reach + ROOM_S * v + 2.0 * max(v - other, 0.0)
    behind = reach + ROOM_S * max(other, 0.0) + 2.0 * max(other - v, 0.0)
    return bool(-behind < along < before)


@kernel
def _gap_accepted(
    graph: TrafficLaneGraph, fleet: Fleet, i: int, target: int, share: float, boxes: Records, grid: SpatialGrid
) -> bool:
    """Whether the gap between the vehicles in a lane is large enough for vehicle `i`."""
    x, y, heading = lane_point(graph, target, share * graph.lane.length[target])
    reach = 0.5 * fleet.car.length[i] + 2.0 * grid.largest + ROOM_M + (ROOM_S + 2.0) * max(fleet.car.v[i], grid.fastest)
    around = cells(grid, x - reach, x + reach, y - reach, y + reach)
    for row in range(around.bottom, around.top + 1):
        first, last = row * grid.columns + around.left, row * grid.columns + around.right
        for j in range(grid.start[first], grid.start[last + 1]):
            if _blocks_gap(fleet, i, boxes, j, x, y, heading):
                return False
    return True


@kernel
def _desired_side(fleet: Fleet, i: int, limit: float, ahead: Records) -> int:
    """Where vehicle `i` would like to go: 1 left (else right) past a slow leader, -1 back to the right, 0 nowhere."""
    wanted = limit * fleet.car.share[i]
    slow = ahead.v[i] < SLOW_SHARE * wanted and ahead.gap[i] < NEAR_S * fleet.car.v[i] and ahead.v[i] > AGENT_MOVES
    if fleet.rules.auto_change[i] and slow:
        return 1
    if fleet.rules.keep_right[i] > 0.0 and draw(fleet, i) < fleet.rules.keep_right[i]:
        return -1
    return 0


@kernel
def _merge(graph: TrafficLaneGraph, lane: int, target: int) -> bool:
    """Whether two lanes lead into the same one: no right of way is regulated there, so it is no place to pass."""
    for k in range(graph.lane.next_at[lane], graph.lane.next_end[lane]):
        for j in range(graph.lane.next_at[target], graph.lane.next_end[target]):
            if graph.next[k] == graph.next[j]:
                return True
    return False


@kernel
def _suitable(graph: TrafficLaneGraph, fleet: Fleet, i: int, lane: int, target: int) -> bool:
    """Whether a lane is as good to go on in as the present one: wide enough all along, and leading on."""
    wide = graph.lane.width[target] >= fleet.car.width[i] + SIDE_ROOM_M
    leads = graph.lane.endless[target] or not graph.lane.endless[lane]
    return bool(wide and leads and not _merge(graph, lane, target))


@kernel
def change_lanes(
    graph: TrafficLaneGraph,
    fleet: Fleet,
    boxes: Records,
    grid: SpatialGrid,
    ahead: Records,
    k: IdmParameters,
    frame: int,
) -> None:
    """Begin the lane changes that are desired and for which there is room; `ahead` is of the frame before."""
    for i in range(len(fleet.car)):
        car = fleet.car
        if car.mode[i] != ROAMING or (frame + i) % EVERY != 0 or car.v[i] < MIN_SPEED:
            continue
        if car.offset_time[i] < k.lane_change_time + PAUSE_S or not math.isnan(car.wanted[i]):
            continue
        place = path_index(fleet, i, car.arc[i])
        lane = fleet.path_lane[i, place]
        left = fleet.path_at[i, place + 1] - car.arc[i]
        if graph.lane.junction[lane] >= 0 or left < car.v[i] * k.lane_change_time + END_M:
            continue
        side = _desired_side(fleet, i, graph.lane.limit[lane], ahead)
        share = (car.arc[i] - fleet.path_at[i, place]) / graph.lane.length[lane]
        for turn in range(2):
            to_left = side == 1 and turn == 0
            if side == 0 or (side == -1 and turn == 1):
                break
            target = graph.lane.left[lane] if to_left else graph.lane.right[lane]
            open_side = graph.lane.open_left[lane] if to_left else graph.lane.open_right[lane]
            if (
                target >= 0
                and open_side
                and _suitable(graph, fleet, i, lane, target)
                and _gap_accepted(graph, fleet, i, target, share, boxes, grid)
            ):
                start_lane_change(graph, fleet, i, target, k.lane_change_time)
                break

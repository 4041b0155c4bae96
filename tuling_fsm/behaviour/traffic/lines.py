"""Stop lines of lights and stop signs (INT-2, NOR-7, USE-3, USE-4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tuling_fsm.behaviour.traffic.memory import LightDecision, LineKey, LineMemory
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import FollowLanes, Hold, Limit, PlanningRequest, PlanResult, Reason, StopWall
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.ahead import StopLineAhead
from tuling_fsm.map.cross_section import edge_point, lane_s_at
from tuling_fsm.map.lanes import StopLine
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.world import World

RED = (Light.RED, Light.RED_YELLOW)
"""States of a light that are red for certain; an unknown one merely counts as red (INT-2)."""
INSIDE_M = 3.0
"""A line farther inside a junction than this is stopped at before the junction, as long as the car is."""
_AT_END_M = 0.1
"""A line no farther than this before the end of a junction lies behind it."""
_BESIDE_REACH_M = 15.0
_BESIDE_GAP_M = 0.5
"""A wall in the next lane keeps this far from the line between, so that it cannot be grazed from here."""
_ROOM_TO_PASS_M, _BEHIND_LINE_M = 15.0, 2.0
"""So much road it takes to get round something and back into the lane (m): what stands no farther before a closed line,
or so little behind it, is not gone round before that opens.
"""
_CROWDED_M = 4.0
_CROWDED_S = 3.0


def line_rules(
    now: TrafficSituation, memory: Mapping[LineKey, LineMemory]
) -> tuple[tuple[tuple[float, StopWall], ...], dict[LineKey, LineMemory], Hold | None]:
    """Walls with their arc lengths on the route, the memory of the lines that are still ahead, and a stop that goes on
    beyond its line.
    """
    walls: list[tuple[float, StopWall]] = []
    kept: dict[LineKey, LineMemory] = {}
    stop: Hold | None = None
    for ahead, before in lines_ahead(now):
        line, key = ahead.line, LineKey(ahead.line.signal, round(10.0 * ahead.s))
        if line.kind not in ("light", "stop") or (now.by_hand and line.kind == "stop"):
            continue
        s = _stop_place(now, ahead, before, memory.get(key))
        if s is None:
            continue
        old, beyond = memory.get(key, LineMemory()), now.front > s + now.parameters.line.tolerance
        if line.kind == "light":
            kept[key], closed = _light(now, line, s - now.front, old)
            reason, detail = Reason.RED_LIGHT, f"signal {line.signal} {_state(now, line).name.lower()}"
        else:
            kept[key], closed = _stop_sign(now, s - now.front, old)
            reason, detail = Reason.STOP_SIGN, f"stop sign {line.signal}"
        if closed and beyond:
            stop = Hold(reason, emergency=True, detail=f"{detail}, over the line")
        if closed:
            walls.append((s, now.wall(s, reason, detail, line.signal)))
    return tuple(walls), kept, stop


def _stop_place(now: TrafficSituation, ahead: StopLineAhead, before: float, memory: LineMemory | None) -> float | None:
    """Where to stop for a line (m of the route), None once that is behind the car.

    A light inside a junction holds where its line is once the place `before` the junction is passed.
    """
    for s in (before, ahead.s) if ahead.line.kind == "light" else (before,):
        if now.front <= s + now.parameters.line.tolerance or _stops_beyond(now, ahead.line, s, memory):
            return s
    return None


def _stops_beyond(now: TrafficSituation, line: StopLine, s: float, memory: LineMemory | None) -> bool:
    """Whether a stop that was begun for a line is gone on with beyond it: brakes that are late, or a slippery road, are
    no reason to drive on.
    """
    if memory is None or (memory.choice is not LightDecision.STOP if line.kind == "light" else memory.served):
        return False
    rest = now.front + now.v * now.v / (2.0 * now.vehicle.emergency_decel)
    return rest <= s + now.parameters.line.overshoot


def lines_ahead(now: TrafficSituation) -> Iterator[tuple[StopLineAhead, float]]:
    """Stop lines of the route's lane, and where on the route to stop for them (m): where they are, before the junction
    for one that lies well inside it.
    """
    for ahead in now.world.stop_lines:
        s = ahead.s
        for junction in now.world.junctions:
            if junction.s_from + INSIDE_M < s < junction.s_to - _AT_END_M:
                s = junction.s_from - now.parameters.junction.setback
        yield ahead, s


def _state(now: TrafficSituation, line: StopLine) -> Light:
    return now.world.lights.get(line.signal, Light.UNKNOWN)


def _light(now: TrafficSituation, line: StopLine, gap: float, old: LineMemory) -> tuple[LineMemory, bool]:
    """The memory of a light, and whether its line is closed for the car."""
    state = _state(now, line)
    if state is Light.GREEN:
        held = now.now - now.world.light_since.get(line.signal, now.now) >= now.parameters.line.green_hold - 1e-9
        return (LineMemory(), False) if held else (old, old.choice is not LightDecision.GO)
    if state is Light.FLASHING_YELLOW or (now.by_hand and state not in RED):
        return LineMemory(), False
    choice = old.choice
    if state is Light.YELLOW:
        if choice is LightDecision.OPEN:
            choice = (
                LightDecision.STOP
                if now.stands or now.decel_for(gap) <= now.vehicle.comfort_decel
                else LightDecision.GO
            )
    elif choice is LightDecision.OPEN:
        choice = LightDecision.GO if _hopeless(now, gap) else LightDecision.STOP
    elif choice is LightDecision.GO and now.decel_for(gap) <= now.parameters.line.red_after_go:
        choice = LightDecision.STOP
    return LineMemory(choice), choice is LightDecision.STOP


def _hopeless(now: TrafficSituation, gap: float) -> bool:
    """Whether the car would come to stand beyond the line whatever it does: then it had better go on."""
    if now.v < 1.0:
        return False
    hardest = now.parameters.line.hopeless * now.vehicle.emergency_decel
    return now.decel_for(gap) > max(hardest, now.vehicle.comfort_decel)


def _stop_sign(now: TrafficSituation, gap: float, old: LineMemory) -> tuple[LineMemory, bool]:
    """The memory of a stop sign, and whether the car still has to stop (and stand) there."""
    stood = _stood(now, old)
    at_line = now.stands and gap <= now.parameters.line.arrived and stood >= now.parameters.line.stop_sign_wait
    near_line = now.stands and gap <= _CROWDED_M and stood >= now.parameters.line.stop_sign_wait + _CROWDED_S
    served = (old.served and gap <= _CROWDED_M) or at_line or near_line
    return replace(old, served=served, stood_s=stood), not served


def _stood(now: TrafficSituation, old: LineMemory) -> float:
    """How long the car has stood, s: once it has come to rest, the noise of its speed does not end that."""
    if abs(now.world.ego.v) >= VEHICLE_STANDS:
        return 0.0
    return max(now.world.standing_for, old.stood_s + now.world.dt if old.stood_s > 0.0 else 0.0)


def walls_beside(now: TrafficSituation) -> Iterator[tuple[float, StopWall]]:
    """Known red lights of the lanes beside the route's, which have their own: walls across those lanes only."""
    own = {ahead.line.signal for ahead in now.world.stop_lines}
    for ahead in now.world.stop_lines:
        if ahead.line.kind != "light" or now.front > ahead.s:
            continue
        own_lane = now.road_map.place_of(ahead.line)[0]
        lanes = now.road_map.same_direction(own_lane)
        at = lanes.index(own_lane)
        for i, lane_id in enumerate(lanes):
            for line in now.road_map.stop_lines_across(lane_id) if i != at else ():
                red = line.kind == "light" and line.signal not in own and _state(now, line) in RED
                if red and abs(_station_gap(now, ahead.line, line)) < _BESIDE_REACH_M:
                    yield ahead.s, _lane_wall(now, line, 1 if i > at else -1)


def _station_gap(now: TrafficSituation, one: StopLine, other: StopLine) -> float:
    lane, s = now.road_map.place_of(one)
    return lane_s_at(now.road_map, lane, _station_of(now, other)) - s


def _station_of(now: TrafficSituation, line: StopLine) -> float:
    lane_id, s = now.road_map.place_of(line)
    lane = now.road_map.lanes[lane_id]
    return float(lane.road_s[min(int(lane.center.s.searchsorted(s)), len(lane.road_s) - 1)])


def _lane_wall(now: TrafficSituation, line: StopLine, towards: int) -> StopWall:
    """Across one lane, short of the edge on the side (`towards`: 1 left, -1 right) of the route's own lane."""
    lane, station = now.road_map.place_of(line)[0], _station_of(now, line)
    x0, y0 = edge_point(now.road_map, lane, station, 1, -_BESIDE_GAP_M if towards > 0 else 0.0)
    x1, y1 = edge_point(now.road_map, lane, station, -1, -_BESIDE_GAP_M if towards < 0 else 0.0)
    detail = f"signal {line.signal} {_state(now, line).name.lower()}, lane beside"
    return StopWall(x0, y0, x1, y1, Reason.RED_LIGHT, detail, line.signal)


def told_of_light(result: PlanResult, request: PlanningRequest, world: World, vehicle: Vehicle) -> PlanResult:
    """No path along the lanes past what stands at the line of a light that is seen to be red is a stop for that light
    (NOR-7).
    """
    if result.feasible or result.limit.reason is not Reason.OBSTACLE or not isinstance(request, FollowLanes):
        return result
    walls = {wall.blocker: wall for wall in request.walls if wall.reason is Reason.RED_LIGHT}
    front, distance = world.route_s + vehicle.front, result.limit.distance
    for ahead in world.stop_lines:
        gap, wall = ahead.s - front, walls.get(ahead.line.signal)
        red = wall is not None and world.lights.get(ahead.line.signal) in RED
        if wall is not None and red and gap >= 0.0 and -_BEHIND_LINE_M <= gap - distance <= _ROOM_TO_PASS_M:
            detail = f"{wall.detail}, then {result.limit.detail}"
            return replace(result, limit=Limit(Reason.RED_LIGHT, gap, detail, wall.blocker))
    return result

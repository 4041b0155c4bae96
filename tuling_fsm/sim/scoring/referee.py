"""Watches the run and records infractions: one for each event, with whether the car is at fault."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tuling_fsm.behaviour.tables import permissions
from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import FloatArray, shifted
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.collisions import Contact, boxes_touched, contact
from tuling_fsm.sim.scoring.road_rules import RoadRules
from tuling_fsm.sim.scoring.score import Infraction, Metrics
from tuling_fsm.world.inputs import Kind, Light

REASON_AHEAD_M, REASON_SIDE_M = 15.0, 2.0
"""Something in this stretch ahead of the front bumper, that much wider than the car, explains that it stands."""
CROSSING_M, MOVING = 40.0, AGENT_MOVES
"""At a junction an agent that moves within this distance explains it too."""
JERK_WINDOW_S = 0.2
PERSISTENT_S = 1.0
"""Speeding and the wrong way count after this long."""
OVERTAKING_S = 30.0
"""So long may the car overtake on the other side of a line that may be crossed."""


class Referee:
    """Looks once a frame. What it knows of the road it asks the map; of the planner only what its state may do."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, parameters: RefereeParameters) -> None:
        self.infractions: list[Infraction] = []
        self._vehicle = vehicle
        self._p = parameters
        self.rules = RoadRules(road_map, vehicle)
        self.metrics = Metrics(vehicle)
        self._last_seen: dict[str, float] = {}
        self._since: dict[str, float] = {}
        self._line_light: dict[int, bool] = {}
        self._line_past: dict[int, float] = {}
        self._heeded: dict[int, bool] = {}
        self._accels: list[float] = []
        self._standing_since: float | None = None

    @property
    def at_fault_collision(self) -> bool:
        """Whether the car has caused a collision."""
        return any(record.kind == "collision" and record.at_fault for record in self.infractions)

    def watch(
        self,
        stamp: float,
        dt: float,
        ego: EgoState,
        agents: AgentBoxes,
        lights: Mapping[int, int],
        route_lanes: frozenset[LaneId],
        held: bool,
    ) -> None:
        """Judge one frame.

        Args:
            stamp: its time, s.
            dt: its length, s.
            ego: the car.
            agents: all other agents.
            lights: states by signal number.
            route_lanes: lanes of the car's route; only their stop lines hold. Empty: all do.
            held: whether the car is kept from driving (emergency stop, lost localization): its standing is explained.
        """
        corners = self._vehicle.footprint(ego.pose)
        self._collisions(stamp, ego, corners, agents)
        self.metrics.note_agents(ego.pose, ego.z, ego.v, agents.boxes)
        self._road(stamp, dt, ego, corners)
        self._stop_lines(stamp, ego, lights, route_lanes)
        self._comfort(stamp, dt, ego)
        self._blocked(stamp, ego, held or self._sees_reason(ego, agents, lights, route_lanes))

    def _note(self, stamp: float, key: str, kind: str, detail: str, at_fault: bool) -> None:
        """Write an event down unless it is the one that goes on already."""
        last = self._last_seen.get(key)
        self._last_seen[key] = stamp
        if last is None or stamp - last > self._p.release:
            self.infractions.append(Infraction(round(stamp, 3), kind, detail, at_fault))

    def _lasting(self, stamp: float, key: str, holds: bool, enough: float = PERSISTENT_S) -> bool:
        """Whether something has held for long enough to count."""
        if not holds:
            self._since.pop(key, None)
            return False
        return stamp - self._since.setdefault(key, stamp) >= enough

    def _collisions(self, stamp: float, ego: EgoState, corners: FloatArray, agents: AgentBoxes) -> None:
        vehicle = self._vehicle
        centre = shifted(ego.pose, center_ahead(vehicle))
        hits = boxes_touched(centre.x, centre.y, ego.z, centre.heading, vehicle.length, vehicle.width, agents.boxes)
        for row in hits.tolist():
            box = agents.boxes[row]
            contact_type = contact(ego.pose, ego.v, vehicle, box, self._p.standing)
            fault = self._fault(contact_type, corners, bool(abs(box[6]) < self._p.standing))
            what = Kind(int(agents.kinds[row])).name.lower()
            detail = f"{what} {agents.ids[row]}, {contact_type.value} contact at {abs(ego.v):.1f} m/s"
            self._note(stamp, f"collision {agents.ids[row]}", "collision", detail, fault)

    def _fault(self, contact_type: Contact, corners: FloatArray, other_stands: bool) -> bool:
        """Standing or hit from behind: no. Into what stands or with the front: yes. Aside: only where not inside one
        lane.
        """
        match contact_type:
            case Contact.STANDING | Contact.REAR:
                return False
            case Contact.FRONT:
                return True
            case Contact.SIDE:
                return other_stands or len(self.rules.lanes_touched(corners)) != 1
            case _:
                assert_never(contact_type)

    def _road(self, stamp: float, dt: float, ego: EgoState, corners: FloatArray) -> None:
        position, may = ego.position, permissions(ego.state)
        if not may.leave_road and self.rules.off_road(corners, self._p.off_road):
            self._note(stamp, "off_road", "off_road", f"at ({ego.pose.x:.1f}, {ego.pose.y:.1f})", True)
        if position is None:
            return
        if not may.cross_lines:
            self._lines(stamp, ego, corners, position)
        limit = self.rules.limit(position)
        self.metrics.note_speed(dt, ego.v - limit)
        if self._lasting(stamp, "speeding", ego.v > limit + self._p.speeding):
            self._note(stamp, "speeding", "speeding", f"{ego.v:.1f} m/s where {limit:.1f} m/s are allowed", True)

    def _lines(self, stamp: float, ego: EgoState, corners: FloatArray, position: LanePosition) -> None:
        over = self.rules.overrun(corners, position, ego.pose.heading)
        if over is not None and over.depth > self._p.line:
            name = over.kind.name.lower().replace("_", " ")
            self._note(stamp, "solid_line", "solid_line", f"{name} line crossed by {over.depth:.2f} m", True)
        wrong = self.rules.wrong_way(position, ego.pose.heading) and abs(ego.v) > self._p.standing
        if wrong:
            self.metrics.note_against(ego.v)
        enough = OVERTAKING_S if wrong and self.rules.may_overtake(position) else PERSISTENT_S
        if self._lasting(stamp, "wrong_way", wrong, enough):
            self._note(stamp, "wrong_way", "wrong_way", f"on road {position.lane.road}", True)

    def _stop_lines(
        self, stamp: float, ego: EgoState, lights: Mapping[int, int], route_lanes: frozenset[LaneId]
    ) -> None:
        front = shifted(ego.pose, self._vehicle.front)
        past: dict[int, float] = {}
        for i, distance in self.rules.lines.near(front):
            line = self.rules.lines.all[i]
            if route_lanes and line.lane not in route_lanes:
                continue
            past[i] = distance
            before = self._line_past.get(i, distance)
            if distance < 0.0:
                self._line_light.pop(i, None)
                stands = abs(ego.v) < self._p.standing and -distance < self._p.stop_zone
                self._heeded[i] = stands or self._heeded.get(i, False)
            elif before < 0.0 or (distance <= self._p.stop_line and abs(ego.v) < self._p.standing):
                # A car that stands within the tolerance has arrived, and goes on by the light that it then has.
                self._line_light[i] = lights.get(line.signal) in (Light.RED, Light.RED_YELLOW)
            if before <= self._p.stop_line < distance:
                self._passed(stamp, i)
        self._heeded = {i: heeded for i, heeded in self._heeded.items() if i in past}
        self._line_past = past

    def _passed(self, stamp: float, i: int) -> None:
        """The front bumper has passed a stop line."""
        line = self.rules.lines.all[i]
        if line.kind == "light" and self._line_light.get(i, False):
            self._note(stamp, f"red {line.signal}", "red_light", f"signal {line.signal}", True)
        if line.kind == "stop" and not self._heeded.get(i, False):
            self._note(stamp, f"sign {line.signal}", "stop_sign", f"sign {line.signal}", True)

    def _comfort(self, stamp: float, dt: float, ego: EgoState) -> None:
        window = max(round(JERK_WINDOW_S / dt), 1)
        self._accels = [*self._accels[-window:], ego.a]
        jerk = (ego.a - self._accels[0]) / (window * dt) if len(self._accels) > window else 0.0
        along = math.copysign(1.0, ego.v) * ego.a
        felt = (
            ("lateral acceleration", abs(ego.v * ego.yaw_rate), self._p.lateral_accel, "m/s^2"),
            ("acceleration", along, self._p.accel, "m/s^2"),
            ("braking", -along, self._p.decel, "m/s^2"),
            ("jerk", abs(jerk), self._p.jerk, "m/s^3"),
        )
        for name, value, limit, unit in felt:
            if value > limit:
                self._note(stamp, name, "comfort", f"{name} {value:.1f} {unit}", False)

    def _sees_reason(
        self, ego: EgoState, agents: AgentBoxes, lights: Mapping[int, int], route_lanes: frozenset[LaneId]
    ) -> bool:
        """Whether a standing car has a reason that can be seen: its state, a red light, an agent at the junction,
        something close ahead.
        """
        if abs(ego.v) > self._p.standing or permissions(ego.state).stand:
            return True
        front = shifted(ego.pose, self._vehicle.front)
        for i, past in self.rules.lines.near(front):
            line = self.rules.lines.all[i]
            red = lights.get(line.signal) in (Light.RED, Light.RED_YELLOW, Light.YELLOW)
            if past < self._p.stop_line and red and (not route_lanes or line.lane in route_lanes):
                return True
        if ego.position is not None and self.rules.before_junction(ego.position, REASON_AHEAD_M):
            moving = agents.boxes[:, 6] > MOVING
            if np.any(
                moving & (elementwise.hypot(agents.boxes[:, 0] - front.x, agents.boxes[:, 1] - front.y) < CROSSING_M)
            ):
                return True
        middle = shifted(front, 0.5 * REASON_AHEAD_M)
        width = self._vehicle.width + REASON_SIDE_M
        return len(boxes_touched(middle.x, middle.y, ego.z, middle.heading, REASON_AHEAD_M, width, agents.boxes)) > 0

    def _blocked(self, stamp: float, ego: EgoState, explained: bool) -> None:
        if abs(ego.v) > self._p.standing or explained:
            self._standing_since = None
            return
        if self._standing_since is None:
            self._standing_since = stamp
        if stamp - self._standing_since > self._p.blocked:
            self._note(stamp, "blocked", "blocked", f"at ({ego.pose.x:.1f}, {ego.pose.y:.1f})", True)


NO_AGENTS = AgentBoxes(np.zeros((0, 7)), np.zeros(0, np.uint8), np.zeros(0, np.uint32))

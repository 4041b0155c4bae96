"""Being blocked: standing for long without a reason that can be seen (agent blocked of the CARLA leaderboard)."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.collisions import boxes_touched
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.road_rules import RoadRules
from tuling_fsm.sim.scoring.stop_lines import StopLines
from tuling_fsm.world.inputs import Light

REASON_AHEAD_M, REASON_SIDE_M = 15.0, 2.0
"""Something in this stretch ahead of the front bumper, that much wider than the car, explains that it stands."""
CROSSING_M = 40.0
"""At a junction an agent that moves within this distance explains it too."""
PASSABLE = (Light.GREEN, Light.FLASHING_YELLOW)


class Blockage:
    """Watches a car that stands."""

    def __init__(
        self, road_map: RoadMap, vehicle: Vehicle, rules: RoadRules, lines: StopLines, parameters: RefereeParameters
    ) -> None:
        self._map, self._vehicle, self._rules, self._lines, self._p = road_map, vehicle, rules, lines, parameters
        self._since: float | None = None

    def watch(self, frame: RefereeFrame, held: bool, log: InfractionLog) -> None:
        """Look at one frame; `held`: the car is kept from driving."""
        if abs(frame.ego.v) > self._p.standing or held or self._sees_reason(frame):
            self._since = None
            return
        if self._since is None:
            self._since = frame.stamp
        if frame.stamp - self._since > self._p.blocked:
            pose = frame.ego.pose
            log.note(frame.stamp, "blocked", "blocked", f"at ({pose.x:.1f}, {pose.y:.1f})")

    def _sees_reason(self, frame: RefereeFrame) -> bool:
        """A slot that the car is in, a light that is not green, an agent at the junction, something close ahead."""
        front = shifted(frame.ego.pose, self._vehicle.front)
        return (
            self._rules.in_slot(shifted(frame.ego.pose, center_ahead(self._vehicle)))
            or self._before_light(frame, front)
            or self._at_busy_junction(frame, front)
            or self._something_ahead(frame, front)
        )

    def _before_light(self, frame: RefereeFrame, front: Pose) -> bool:
        near = ((line, self._lines.all[line.row]) for line in self._lines.near(front, frame.ego.z))
        return any(
            line.past < self._p.stop_line and of.kind == "light" and frame.lights.get(of.signal) not in PASSABLE
            for line, of in near
        )

    def _at_busy_junction(self, frame: RefereeFrame, front: Pose) -> bool:
        position = frame.ego.position
        if position is None or not self._rules.before_junction(position, REASON_AHEAD_M):
            return False
        boxes = frame.agents.boxes
        near = elementwise.hypot(boxes[:, 0] - front.x, boxes[:, 1] - front.y) < CROSSING_M
        return bool(np.any((np.abs(boxes[:, 6]) > AGENT_MOVES) & near))

    def _something_ahead(self, frame: RefereeFrame, front: Pose) -> bool:
        middle = shifted(front, 0.5 * REASON_AHEAD_M)
        width = self._vehicle.width + REASON_SIDE_M
        ego, boxes = frame.ego, frame.agents.boxes
        return len(boxes_touched(middle.x, middle.y, ego.z, middle.heading, REASON_AHEAD_M, width, boxes)) > 0

"""What is sent when there is no valid plan in time (SAF-1): rest of the last valid one, comfortable stop, emergency
stop (USE-11). A stop lasts until the car stands, or until its reason has been gone for a while.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import IntEnum

from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import FallbackParameters, PlanningParameters
from tuling_fsm.planning.safety.check import hazard
from tuling_fsm.planning.speed.stopping import comfortable_stop, emergency_stop
from tuling_fsm.planning.start_state import start_state

_TOLERANCE_S = 1e-9


class FallbackRung(IntEnum):
    """How far down the ladder."""

    NONE = 0
    REST = 1
    COMFORT = 2
    EMERGENCY = 3


@dataclass(frozen=True, eq=False)
class FallbackLadder:
    """`last` is what was sent last, `rung` where the car is on the ladder, `since` when it came there (s), and
    `valid_since` when plans began to be valid again during a stop (s).
    """

    last: Trajectory | None = None
    rung: FallbackRung = FallbackRung.NONE
    since: float = 0.0
    valid_since: float = math.inf


def is_stopping(ladder: FallbackLadder, scene: Scene) -> bool:
    """Whether a stop has begun and the car does not stand yet: the ladder only escalates."""
    return ladder.rung >= FallbackRung.COMFORT and abs(scene.ego.v) > HELD


def accept(
    ladder: FallbackLadder, valid: Trajectory | None, scene: Scene, limits: FallbackParameters
) -> tuple[bool, FallbackLadder]:
    """Whether a plan that passed its check is sent (none did: `None`), and the ladder after it.

    During a stop it is where every plan of the last `limits.release` (s) was valid: one alone says nothing of the next.
    """
    if valid is None:
        return False, replace(ladder, valid_since=math.inf)
    since = min(ladder.valid_since, scene.stamp)
    if is_stopping(ladder, scene) and scene.stamp - since < limits.release - _TOLERANCE_S:
        return False, replace(ladder, valid_since=since)
    return True, FallbackLadder(valid)


def fall_back(
    ladder: FallbackLadder,
    scene: Scene,
    regulations: Regulations,
    vehicle: Vehicle,
    parameters: PlanningParameters,
    least: FallbackRung = FallbackRung.REST,
) -> tuple[Trajectory, FallbackLadder]:
    """What to send instead of a plan that is late, missing or invalid, and the ladder after it.

    The rest of the last plan is driven on while it is free and recent; a stop that would hit something, leads over a
    closed stop line that an emergency stop does not, or lasts too long, becomes an emergency stop. No rung is left
    upwards here, and none above `least` is taken.
    """
    # Of before the clock was set back: the time on the rung is counted anew.
    ladder = replace(ladder, since=min(ladder.since, scene.stamp))
    rung = max(ladder.rung, least)
    held = scene.stamp - (ladder.since if ladder.rung == rung else scene.stamp)
    limits = parameters.fallback
    if rung == FallbackRung.REST:
        rest = _rest(ladder.last, scene)
        if rest is not None and held < limits.rest and hazard(rest, scene, regulations, vehicle, parameters) is None:
            return _on_rung(ladder, rest, FallbackRung.REST, scene.stamp)
        rung, held = FallbackRung.COMFORT, 0.0
    start = start_state(scene, ladder.last, parameters.continuity)
    before = ladder.last if start.planned else None
    if rung == FallbackRung.COMFORT:
        stop = comfortable_stop(scene, start, before, vehicle, parameters.speed)
        strict = _without_excuse(regulations, vehicle)
        if held < limits.comfort and hazard(stop, scene, strict, vehicle, parameters) is None:
            return _on_rung(ladder, stop, FallbackRung.COMFORT, scene.stamp)
    stop = emergency_stop(scene, start, before, vehicle, parameters.speed)
    return _on_rung(ladder, stop, FallbackRung.EMERGENCY, scene.stamp)


def _without_excuse(regulations: Regulations, vehicle: Vehicle) -> Regulations:
    """The same for a car that stops in any case: hard braking is no reason to stop beyond a line."""
    lines = (line._replace(decel=max(line.decel, vehicle.emergency_decel)) for line in regulations.closed_lines)
    return replace(regulations, closed_lines=tuple(lines))


def _rest(last: Trajectory | None, scene: Scene) -> Trajectory | None:
    """What is left of a plan; nothing of one that is over or of another time."""
    if last is None or not last.stamp <= scene.stamp <= last.end_stamp:
        return None
    return last.after(scene.stamp)


def _on_rung(
    ladder: FallbackLadder, trajectory: Trajectory, rung: FallbackRung, stamp: float
) -> tuple[Trajectory, FallbackLadder]:
    since = ladder.since if ladder.rung == rung else stamp
    return trajectory, FallbackLadder(trajectory, rung, since, ladder.valid_since)

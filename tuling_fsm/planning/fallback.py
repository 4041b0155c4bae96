"""What is sent when there is no valid plan in time (SAF-1): rest of the last valid one, comfortable stop, emergency
stop (USE-11)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.check import Breach, check
from tuling_fsm.planning.continuity import start_state
from tuling_fsm.planning.hold import STANDS, comfortable_stop, emergency_stop
from tuling_fsm.planning.parameters import PlanningParameters


class Rung(IntEnum):
    """How far down the ladder."""

    NONE = 0
    REST = 1
    COMFORT = 2
    EMERGENCY = 3


@dataclass(frozen=True, eq=False)
class Ladder:
    """`last` is what was sent last, `rung` where the car is on the ladder, `since` when it came there (s)."""

    last: Trajectory | None = None
    rung: Rung = Rung.NONE
    since: float = 0.0


def accept(ladder: Ladder, trajectory: Trajectory, scene: Scene) -> Ladder | None:
    """The ladder after a valid plan, or `None` where a stop has begun and has to be ended first: it only escalates
    until the car stands.
    """
    stopping = ladder.rung >= Rung.COMFORT and abs(scene.ego.v) > STANDS
    return None if stopping else Ladder(trajectory)


def fall_back(
    ladder: Ladder, scene: Scene, vehicle: Vehicle, parameters: PlanningParameters, breach: Breach | None = None
) -> tuple[Trajectory, Ladder]:
    """What to send instead of a plan that is late, missing or invalid, and the ladder after it.

    The rest of the last plan is driven on while it is free and recent; a stop that would hit something, or lasts too
    long, becomes an emergency stop. No rung is ever left upwards before the car stands. Where the plan has a `breach`
    at a red light, an older one leads over the line as well: the car stops at once.
    """
    rung = max(ladder.rung, Rung.EMERGENCY if breach is Breach.RED_LIGHT else Rung.REST)
    held = scene.stamp - (ladder.since if ladder.rung == rung else scene.stamp)
    limits = parameters.fallback
    if rung == Rung.REST:
        rest = _rest(ladder.last, scene)
        if rest is not None and held < limits.rest and _is_free(rest, scene, vehicle, parameters):
            return _down(ladder, rest, Rung.REST, scene.stamp)
        rung, held = Rung.COMFORT, 0.0
    start = start_state(scene, ladder.last, parameters.continuity)
    before = ladder.last if start.planned else None
    if rung == Rung.COMFORT:
        stop = comfortable_stop(scene, start, before, vehicle, parameters.speed)
        if held < limits.comfort and _is_free(stop, scene, vehicle, parameters):
            return _down(ladder, stop, Rung.COMFORT, scene.stamp)
    return _down(ladder, emergency_stop(scene, start, before, vehicle, parameters.speed), Rung.EMERGENCY, scene.stamp)


def _rest(last: Trajectory | None, scene: Scene) -> Trajectory | None:
    """What is left of a plan; nothing of one that is over or of another time."""
    if last is None or not last.stamp <= scene.stamp <= last.end_stamp:
        return None
    return last.after(scene.stamp)


def _is_free(trajectory: Trajectory, scene: Scene, vehicle: Vehicle, parameters: PlanningParameters) -> bool:
    """Whether a motion meets nothing; stops are exempt from all else (SAF-2)."""
    found = check(trajectory, scene, Hold(Reason.PLAN_REJECTED), vehicle, parameters)
    return found is None or found.breach not in (Breach.BROKEN, Breach.COLLISION, Breach.PREDICTED_COLLISION)


def _down(ladder: Ladder, trajectory: Trajectory, rung: Rung, stamp: float) -> tuple[Trajectory, Ladder]:
    since = ladder.since if ladder.rung == rung else stamp
    return trajectory, Ladder(trajectory, rung, since)

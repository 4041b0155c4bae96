"""Predicates of the supervisors' tables."""

from __future__ import annotations

from tuling_fsm.behaviour.guards import TOLERANCE_S
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.routing import destination


def stop_commanded(view: BehaviourView) -> bool:
    """The remote says stop (EST-1)."""
    return view.world.emergency.value is True


def stop_released(view: BehaviourView) -> bool:
    """The remote says go, and is heard (EST-2)."""
    return view.world.emergency.value is False and _heard(view)


def link_up(view: BehaviourView) -> bool:
    """The remote's first message has come (EST-3)."""
    return view.world.emergency.value is not None


def link_silent(view: BehaviourView) -> bool:
    """The remote has not been heard for too long (EST-3)."""
    return not _heard(view)


def link_missing(view: BehaviourView) -> bool:
    """The remote is required and has not been heard since activation (EST-3)."""
    estop = view.context.parameters.estop
    return estop.required and view.world.emergency.value is None and view.in_state_s >= estop.silence - TOLERANCE_S


def stop_cleared(view: BehaviourView) -> bool:
    """An operator has cleared the stop while the link is up and says go (EST-3)."""
    return view.world.emergency.clear and stop_released(view)


def rain_or_fog(view: BehaviourView) -> bool:
    """Rain or fog is reported (RFG-1)."""
    return view.world.rain_fog is True


def clear_sky(view: BehaviourView) -> bool:
    """Neither rain nor fog is reported (RFG-1)."""
    return not rain_or_fog(view)


def refresh_due(view: BehaviourView) -> bool:
    """It is time to ask for the current route, or there is a new mission goal (RRF-1)."""
    routing = view.memory.routing
    if routing.route is None or not view.world.localized:
        return False
    elapsed = view.clock - routing.refreshed_at >= view.context.parameters.route.refresh_period - TOLERANCE_S
    return (elapsed or view.memory.mission.ticket != routing.ticket) and destination(view) is not None


def refresh_closed(view: BehaviourView) -> bool:
    """The question has been answered, or is of no use any more (RRF-1)."""
    return view.memory.routing.refresh < 0


def refresh_late(view: BehaviourView) -> bool:
    """The answer is late (RRF-3)."""
    return view.in_state_s > view.context.parameters.route.answer_timeout


def _heard(view: BehaviourView) -> bool:
    return view.world.emergency.age <= view.context.parameters.estop.silence

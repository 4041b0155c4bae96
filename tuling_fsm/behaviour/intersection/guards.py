"""Where the map says junction, and the predicates of the composite's table."""

from __future__ import annotations

from tuling_fsm.behaviour.guards import EXPLAINED, TOLERANCE_S, way_out
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.traffic.lines import INSIDE_M, RED
from tuling_fsm.core.request import Reason
from tuling_fsm.map.ahead import JunctionAhead, StopLineAhead

_NO_OTHER_WAY = EXPLAINED - {Reason.RED_LIGHT}
"""A limit by a red light may come of one that is not seen: those are told apart by the lights themselves."""


def junction_here(view: BehaviourView, before: float = 0.0, behind: float = 0.0) -> JunctionAhead | None:
    """The junction that the car is in or comes to (m of its route).

    It begins where the front bumper reaches its approach zone, or `before` that, since the bumper is what crosses
    lines first; it is over when the rear axle has passed its end, or `behind` that.
    """
    s = view.world.route_s
    front = s + view.context.vehicle.front
    return next((j for j in view.world.junctions if j.approach_from - before <= front and s <= j.s_to + behind), None)


def junction_ahead(view: BehaviourView) -> bool:
    """The map says junction (NOR-2, INT-6)."""
    return view.world.localized and junction_here(view) is not None


def junction_over(view: BehaviourView) -> bool:
    """The map says that the junction is over, and that the next one is not near (INT-6, USE-1)."""
    parameters = view.context.parameters.intersection
    return view.world.localized and junction_here(view, parameters.together, parameters.beyond) is None


def directed_by_hand(view: BehaviourView) -> bool:
    """The car has stood for so long that the junction must be directed by hand (INT-4)."""
    return view.memory.intersection.standing_s >= view.context.parameters.intersection.by_hand_after - TOLERANCE_S


def way_on_past_line(view: BehaviourView) -> bool:
    """The stop line lies behind the car, and the lane planner would get on from here (INT-5)."""
    return past_line(view) and way_out(view)


def past_line(view: BehaviourView) -> bool:
    """Whether the front bumper is past the junction's stop line, or without one past the place to stop before it."""
    junction = junction_here(view)
    if junction is None:
        return True
    entry = junction.s_from - view.context.parameters.traffic.junction.setback
    line = max((ahead.s for ahead in _lines(view, junction)), default=entry)
    return view.world.route_s + view.context.vehicle.front > line + view.context.parameters.traffic.line.tolerance


def standing_explained(view: BehaviourView) -> bool:
    """Whether a red light that is seen, a pedestrian (INT-4), or a queue (NOR-11) is why the car stands."""
    plan = view.memory.plan
    behind = plan.limit.reason is Reason.JUNCTION_EXIT_BLOCKED and view.world.traffic.waits(plan.limit.blocker)
    if behind or {plan.limit.reason, plan.reason} & _NO_OTHER_WAY:
        return True
    lights = view.world.lights
    if plan.limit.reason is Reason.RED_LIGHT and lights.get(plan.limit.blocker) in RED:
        return True
    junction = junction_here(view)
    return (
        junction is not None
        and not past_line(view)
        and any(lights.get(ahead.line.signal) in RED for ahead in _lines(view, junction) if ahead.line.kind == "light")
    )


def _lines(view: BehaviourView, junction: JunctionAhead) -> tuple[StopLineAhead, ...]:
    """Stop lines at which the car may have to stop for a junction where they are drawn."""
    last = junction.s_from + INSIDE_M
    return tuple(ahead for ahead in view.world.stop_lines if junction.approach_from <= ahead.s <= last)

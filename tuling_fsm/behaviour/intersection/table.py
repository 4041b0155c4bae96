"""The composite `intersection`: lights, pedestrians, a junction that is directed by hand (INT-1 to INT-6)."""

from __future__ import annotations

from tuling_fsm.behaviour import guards as common
from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.intersection import guards
from tuling_fsm.behaviour.intersection.safe_driving import SAFE_DRIVING
from tuling_fsm.behaviour.leaf import BehaviourRow, LeafBehaviour
from tuling_fsm.behaviour.on_road.free_states import NO_LINE_FREE
from tuling_fsm.behaviour.on_road.regression import REGRESSION
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.records import replace
from tuling_fsm.machine.elements import Leaf, Priority, Region

FAILURE, PROGRESS = Priority.FAILURE, Priority.PROGRESS

_LEAVES = {
    "safe_driving": SAFE_DRIVING,
    "no_line_free": replace(NO_LINE_FREE, defers_route=True, by_hand=True),
    "regression": replace(REGRESSION, defers_route=True),
}


def region(parameters: BehaviourParameters) -> Region[LeafBehaviour]:
    """The composite with its leaves; two of them plan as their twins of `on_road` do (INT-5)."""
    leaves = tuple(Leaf(name, leaf, parameters.switching.min_dwell) for name, leaf in _LEAVES.items())
    return Region("intersection", "safe_driving", leaves)


def rows(parameters: BehaviourParameters) -> tuple[BehaviourRow, ...]:
    """All rows that leave a state of `intersection`; those that lead into it are with the states of `on_road`."""
    dwell = parameters.switching.dwell
    return (*_safe_driving(dwell, parameters.intersection.no_path), *_no_line_free(dwell), *_regression(dwell))


def _safe_driving(dwell: float, no_path_s: float) -> tuple[BehaviourRow, ...]:
    source, free = states.SAFE_DRIVING, states.JUNCTION_NO_LINE_FREE
    return (
        BehaviourRow(source, states.EXPLORE, common.not_localized, FAILURE, 0, clause="INT-5", dwell_s=dwell),
        BehaviourRow(source, free, common.no_path, FAILURE, 1, clause="INT-5", dwell_s=no_path_s),
        BehaviourRow(source, free, guards.directed_by_hand, FAILURE, 2, clause="INT-4", dwell_s=0.0, deadline=True),
        BehaviourRow(source, states.NORMAL, guards.junction_over, PROGRESS, 0, clause="INT-6", dwell_s=dwell),
        BehaviourRow(source, states.PLAN_ONCE, common.route_ended, PROGRESS, 1, clause="NOR-10", dwell_s=dwell),
    )


def _no_line_free(dwell: float) -> tuple[BehaviourRow, ...]:
    source = states.JUNCTION_NO_LINE_FREE
    return (
        BehaviourRow(source, states.JUNCTION_REGRESSION, common.off_road, FAILURE, 0, clause="INT-5", dwell_s=dwell),
        BehaviourRow(source, states.REPLAN, common.not_localized, FAILURE, 1,
                     clause="INT-5", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(source, states.REPLAN, common.attempts_exhausted, FAILURE, 2, clause="INT-5", dwell_s=dwell),
        BehaviourRow(source, states.REPLAN, common.overdue, FAILURE, 3, clause="USE-2", dwell_s=0.0, deadline=True),
        BehaviourRow(source, states.NO_LINE_FREE, guards.junction_over, PROGRESS, 0, clause="INT-6", dwell_s=dwell),
        BehaviourRow(source, states.SAFE_DRIVING, guards.way_on_past_line, PROGRESS, 1, clause="INT-5", dwell_s=dwell),
    )  # fmt: skip


def _regression(dwell: float) -> tuple[BehaviourRow, ...]:
    source = states.JUNCTION_REGRESSION
    return (
        BehaviourRow(source, states.EXPLORE, common.attempts_exhausted, FAILURE, 0, clause="INT-5", dwell_s=dwell),
        BehaviourRow(source, states.EXPLORE, common.not_localized, FAILURE, 1, clause="INT-5", dwell_s=dwell),
        BehaviourRow(source, states.EXPLORE, common.overdue, FAILURE, 2, clause="USE-2", dwell_s=0.0, deadline=True),
        BehaviourRow(source, states.REGRESSION, guards.junction_over, PROGRESS, 0, clause="INT-6", dwell_s=dwell),
        BehaviourRow(source, states.SAFE_DRIVING, common.back_on_road, PROGRESS, 1, clause="INT-5", dwell_s=dwell),
    )

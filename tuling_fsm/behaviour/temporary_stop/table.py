"""The composite `temporary_stop`: serve pick-up and drop-off points."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.guards import not_localized, route_found
from tuling_fsm.behaviour.leaf import BehaviourRow, LeafBehaviour
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.temporary_stop import guards
from tuling_fsm.behaviour.temporary_stop.approach import APPROACH
from tuling_fsm.behaviour.temporary_stop.pickup_decision import PICKUP_DECISION
from tuling_fsm.behaviour.temporary_stop.plan_once import PLAN_ONCE
from tuling_fsm.behaviour.temporary_stop.stopped import STOPPED
from tuling_fsm.machine.elements import Leaf, Priority, Region

FAILURE, MISSION, PROGRESS = Priority.FAILURE, Priority.MISSION, Priority.PROGRESS


def region(parameters: BehaviourParameters) -> Region[LeafBehaviour]:
    """The composite with its leaves; those that wait go on measuring, or ask again and again, by themselves."""
    dwell, route = parameters.switching.min_dwell, parameters.route
    leaves = (
        Leaf("approach", APPROACH, dwell),
        Leaf("stopped", STOPPED, dwell),
        Leaf("pickup_decision", PICKUP_DECISION, dwell, retry_s=1.0),
        Leaf("plan_once", PLAN_ONCE, dwell, retry_s=route.backoff_max + route.answer_timeout),
    )
    return Region("temporary_stop", "approach", leaves)


def rows(parameters: BehaviourParameters) -> tuple[BehaviourRow, ...]:
    """All rows that leave one of its states. A stop is as long as it is, without a dwell on top (STP-1)."""
    dwell = parameters.switching.dwell
    approach, stopped, decision, plan = (
        states.APPROACH,
        states.STOPPED,
        states.PICKUP_DECISION,
        states.NEXT_PLAN_ONCE,
    )
    return (
        BehaviourRow(approach, states.EXPLORE, not_localized, FAILURE, 0, clause="TMP-3", dwell_s=dwell),
        BehaviourRow(approach, decision, guards.task_dropped, FAILURE, 1, clause="TMP-3", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(approach, plan, guards.attempt_failed, FAILURE, 2,
                     clause="TMP-3", dwell_s=0.0, min_dwell_s=0.0, deadline=True),
        BehaviourRow(approach, stopped, guards.stands_in_slot, PROGRESS, 0, clause="TMP-2", dwell_s=dwell),
        BehaviourRow(stopped, decision, guards.task_dropped, FAILURE, 0, clause="PUD-1", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(stopped, plan, guards.boarded, MISSION, 0,
                     clause="STP-1", dwell_s=0.0, min_dwell_s=0.0, deadline=True),
        BehaviourRow(stopped, decision, guards.alighted, MISSION, 1,
                     clause="STP-1", dwell_s=0.0, min_dwell_s=0.0, deadline=True),
        BehaviourRow(decision, plan, guards.mission_goal_chosen, MISSION, 0, clause="PUD-1", dwell_s=0.0),
        BehaviourRow(decision, states.PLAN_ONCE, guards.nothing_left, PROGRESS, 0, clause="NOR-10", dwell_s=dwell),
        BehaviourRow(plan, states.REGRESSION, route_found, PROGRESS, 0, clause="TPO-1", dwell_s=dwell),
        BehaviourRow(plan, states.PLAN_ONCE, guards.nothing_left, PROGRESS, 1, clause="NOR-10", dwell_s=dwell),
    )  # fmt: skip

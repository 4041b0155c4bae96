"""The composite `on_road`: drive the reference road, and get back on it."""

from __future__ import annotations

from tuling_fsm.behaviour import guards, states
from tuling_fsm.behaviour.intersection.guards import junction_ahead
from tuling_fsm.behaviour.leaf import BehaviourRow, LeafBehaviour
from tuling_fsm.behaviour.mission.points import stop_ahead
from tuling_fsm.behaviour.on_road.explore import EXPLORE
from tuling_fsm.behaviour.on_road.free_states import NO_LINE_FREE, SOLID_LINE_FREE
from tuling_fsm.behaviour.on_road.normal import NORMAL
from tuling_fsm.behaviour.on_road.regression import REGRESSION
from tuling_fsm.behaviour.on_road.replan import REPLAN
from tuling_fsm.behaviour.parameters import SwitchingParameters
from tuling_fsm.machine.elements import Leaf, Priority, Region

FAILURE, MISSION, PROGRESS = Priority.FAILURE, Priority.MISSION, Priority.PROGRESS


def region(switching: SwitchingParameters) -> Region[LeafBehaviour]:
    """The composite with its leaves."""
    dwell = switching.min_dwell
    leaves = (
        Leaf("regression", REGRESSION, dwell),
        Leaf("normal", NORMAL, dwell),
        Leaf("solid_line_free", SOLID_LINE_FREE, dwell),
        Leaf("no_line_free", NO_LINE_FREE, dwell),
        Leaf("replan", REPLAN, dwell),
        Leaf("explore", EXPLORE, dwell),
    )
    return Region("on_road", "regression", leaves)


def rows(switching: SwitchingParameters) -> tuple[BehaviourRow, ...]:
    """All rows that leave a state of `on_road`."""
    return (*_regression(switching.dwell), *_normal(switching.dwell), *_free(switching.dwell), *_lost(switching.dwell))


def _regression(dwell: float) -> tuple[BehaviourRow, ...]:
    source = states.REGRESSION
    return (
        BehaviourRow(source, states.EXPLORE, guards.attempts_exhausted, FAILURE, 0, clause="REG-4", dwell_s=dwell),
        BehaviourRow(source, states.EXPLORE, guards.not_localized, FAILURE, 1, clause="REG-4", dwell_s=dwell),
        BehaviourRow(source, states.EXPLORE, guards.overdue, FAILURE, 2, clause="USE-2", dwell_s=0.0, deadline=True),
        BehaviourRow(source, states.REGRESSION, guards.route_switched, MISSION, 0,
                     clause="RRF-2", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(source, states.JUNCTION_REGRESSION, junction_ahead, PROGRESS, 0, clause="INT-6", dwell_s=dwell),
        BehaviourRow(source, states.NORMAL, guards.back_on_road, PROGRESS, 1, clause="REG-3", dwell_s=dwell),
    )  # fmt: skip


def _normal(dwell: float) -> tuple[BehaviourRow, ...]:
    source = states.NORMAL
    return (
        BehaviourRow(source, states.SAFE_DRIVING, junction_ahead, FAILURE, 0, clause="NOR-2", dwell_s=dwell),
        BehaviourRow(source, states.REGRESSION, guards.off_route, FAILURE, 1, clause="NOR-9", dwell_s=dwell),
        BehaviourRow(source, states.SOLID_LINE_FREE, guards.not_localized, FAILURE, 2,
                     clause="NOR-7", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(source, states.SOLID_LINE_FREE, guards.no_path, FAILURE, 3, clause="NOR-7", dwell_s=dwell),
        BehaviourRow(source, states.SOLID_LINE_FREE, guards.no_progress, FAILURE, 4,
                     clause="NOR-7", dwell_s=0.0, deadline=True),
        BehaviourRow(source, states.APPROACH, stop_ahead, MISSION, 0, clause="NOR-1", dwell_s=dwell),
        BehaviourRow(source, states.PLAN_ONCE, guards.route_ended, PROGRESS, 0, clause="NOR-10", dwell_s=dwell),
    )  # fmt: skip


def _free(dwell: float) -> tuple[BehaviourRow, ...]:
    solid, free = states.SOLID_LINE_FREE, states.NO_LINE_FREE
    return (
        BehaviourRow(solid, states.REGRESSION, guards.off_route, FAILURE, 0, clause="NOR-9", dwell_s=dwell),
        BehaviourRow(solid, free, guards.not_localized, FAILURE, 1, clause="SLF-3", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(solid, free, guards.attempts_exhausted, FAILURE, 2, clause="SLF-3", dwell_s=dwell),
        BehaviourRow(solid, free, guards.overdue, FAILURE, 3, clause="USE-2", dwell_s=0.0, deadline=True),
        BehaviourRow(solid, states.SAFE_DRIVING, junction_ahead, PROGRESS, 0, clause="INT-6", dwell_s=dwell),
        BehaviourRow(solid, states.NORMAL, guards.way_out, PROGRESS, 1, clause="SLF-2", dwell_s=dwell),
        BehaviourRow(free, states.REGRESSION, guards.off_road, FAILURE, 0, clause="NLF-1", dwell_s=dwell),
        BehaviourRow(free, states.REPLAN, guards.not_localized, FAILURE, 1,
                     clause="NLF-2", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(free, states.REPLAN, guards.attempts_exhausted, FAILURE, 2, clause="NLF-2", dwell_s=dwell),
        BehaviourRow(free, states.REPLAN, guards.overdue, FAILURE, 3, clause="USE-2", dwell_s=0.0, deadline=True),
        BehaviourRow(free, states.JUNCTION_NO_LINE_FREE, junction_ahead, PROGRESS, 0, clause="INT-6", dwell_s=dwell),
        BehaviourRow(free, states.NORMAL, guards.way_out, PROGRESS, 1, clause="NLF-3", dwell_s=dwell),
    )  # fmt: skip


def _lost(dwell: float) -> tuple[BehaviourRow, ...]:
    replan, explore = states.REPLAN, states.EXPLORE
    return (
        BehaviourRow(replan, explore, guards.nothing_blocked, FAILURE, 0, clause="RPL-1", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(replan, explore, guards.not_localized, FAILURE, 1, clause="NLF-4", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(replan, explore, guards.no_way_round, FAILURE, 2, clause="RPL-3", dwell_s=dwell, deadline=True),
        BehaviourRow(replan, states.REGRESSION, guards.route_found, PROGRESS, 0, clause="RPL-2", dwell_s=dwell),
        BehaviourRow(explore, states.PARKED, guards.explore_given_up, FAILURE, 0,
                     clause="EXP-4", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(explore, replan, guards.explore_timed_out, FAILURE, 1,
                     clause="EXP-4", dwell_s=0.0, min_dwell_s=0.0, deadline=True),
        BehaviourRow(explore, states.REGRESSION, guards.route_switched, MISSION, 0,
                     clause="RRF-2", dwell_s=0.0, min_dwell_s=0.0),
        BehaviourRow(explore, states.REGRESSION, guards.way_to_route, PROGRESS, 0, clause="EXP-2", dwell_s=dwell),
    )  # fmt: skip

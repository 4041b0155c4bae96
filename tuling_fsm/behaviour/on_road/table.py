"""The composite `on_road`: drive the reference road, and get back on it."""

from __future__ import annotations

from tuling_fsm.behaviour import guards, states
from tuling_fsm.behaviour.conduct import BehaviourRow, Conduct
from tuling_fsm.behaviour.intersection.guards import junction_ahead
from tuling_fsm.behaviour.mission.points import stop_ahead
from tuling_fsm.behaviour.on_road.explore import EXPLORE
from tuling_fsm.behaviour.on_road.free_states import NO_LINE_FREE, SOLID_LINE_FREE
from tuling_fsm.behaviour.on_road.normal import NORMAL
from tuling_fsm.behaviour.on_road.regression import REGRESSION
from tuling_fsm.behaviour.on_road.replan import REPLAN
from tuling_fsm.behaviour.parameters import SwitchingParameters
from tuling_fsm.machine.elements import Leaf, Priority, Region

FAILURE, MISSION, PROGRESS = Priority.FAILURE, Priority.MISSION, Priority.PROGRESS

_CONDUCTS = {
    "regression": REGRESSION,
    "normal": NORMAL,
    "solid_line_free": SOLID_LINE_FREE,
    "no_line_free": NO_LINE_FREE,
    "replan": REPLAN,
    "explore": EXPLORE,
}


def region(switching: SwitchingParameters) -> Region[Conduct]:
    """The composite with its leaves."""
    leaves = tuple(Leaf(name, conduct, switching.min_dwell) for name, conduct in _CONDUCTS.items())
    return Region("on_road", "regression", leaves)


def rows(switching: SwitchingParameters) -> tuple[BehaviourRow, ...]:
    """All rows that leave a state of `on_road`. Behind the clause: dwell, minimal stay, whether it is the deadline."""
    return (*_regression(switching.dwell), *_normal(switching.dwell), *_free(switching.dwell), *_lost(switching.dwell))


def _regression(dwell: float) -> tuple[BehaviourRow, ...]:
    source = states.REGRESSION
    return (
        BehaviourRow(source, states.EXPLORE, guards.attempts_exhausted, FAILURE, 0, "REG-4", dwell),
        BehaviourRow(source, states.EXPLORE, guards.not_localized, FAILURE, 1, "REG-4", dwell),
        BehaviourRow(source, states.EXPLORE, guards.overdue, FAILURE, 2, "USE-2", 0.0, None, True),
        BehaviourRow(source, states.REGRESSION, guards.route_switched, MISSION, 0, "RRF-2", 0.0, 0.0),
        BehaviourRow(source, states.JUNCTION_REGRESSION, junction_ahead, PROGRESS, 0, "INT-6", dwell),
        BehaviourRow(source, states.NORMAL, guards.back_on_road, PROGRESS, 1, "REG-3", dwell),
    )


def _normal(dwell: float) -> tuple[BehaviourRow, ...]:
    source = states.NORMAL
    return (
        BehaviourRow(source, states.SAFE_DRIVING, junction_ahead, FAILURE, 0, "NOR-2", dwell),
        BehaviourRow(source, states.REGRESSION, guards.astray, FAILURE, 1, "NOR-9", dwell),
        BehaviourRow(source, states.SOLID_LINE_FREE, guards.not_localized, FAILURE, 2, "NOR-7", 0.0, 0.0),
        BehaviourRow(source, states.SOLID_LINE_FREE, guards.no_path, FAILURE, 3, "NOR-7", dwell),
        BehaviourRow(source, states.SOLID_LINE_FREE, guards.no_progress, FAILURE, 4, "NOR-7", 0.0, None, True),
        BehaviourRow(source, states.APPROACH, stop_ahead, MISSION, 0, "NOR-1", dwell),
        BehaviourRow(source, states.PLAN_ONCE, guards.route_ended, PROGRESS, 0, "NOR-10", dwell),
    )


def _free(dwell: float) -> tuple[BehaviourRow, ...]:
    solid, free = states.SOLID_LINE_FREE, states.NO_LINE_FREE
    return (
        BehaviourRow(solid, states.REGRESSION, guards.astray, FAILURE, 0, "NOR-9", dwell),
        BehaviourRow(solid, free, guards.not_localized, FAILURE, 1, "SLF-3", 0.0, 0.0),
        BehaviourRow(solid, free, guards.attempts_exhausted, FAILURE, 2, "SLF-3", dwell),
        BehaviourRow(solid, free, guards.overdue, FAILURE, 3, "USE-2", 0.0, None, True),
        BehaviourRow(solid, states.SAFE_DRIVING, junction_ahead, PROGRESS, 0, "INT-6", dwell),
        BehaviourRow(solid, states.NORMAL, guards.way_out, PROGRESS, 1, "SLF-2", dwell),
        BehaviourRow(free, states.REGRESSION, guards.off_road, FAILURE, 0, "NLF-1", dwell),
        BehaviourRow(free, states.REPLAN, guards.not_localized, FAILURE, 1, "NLF-2", 0.0, 0.0),
        BehaviourRow(free, states.REPLAN, guards.attempts_exhausted, FAILURE, 2, "NLF-2", dwell),
        BehaviourRow(free, states.REPLAN, guards.overdue, FAILURE, 3, "USE-2", 0.0, None, True),
        BehaviourRow(free, states.JUNCTION_NO_LINE_FREE, junction_ahead, PROGRESS, 0, "INT-6", dwell),
        BehaviourRow(free, states.NORMAL, guards.way_out, PROGRESS, 1, "NLF-3", dwell),
    )


def _lost(dwell: float) -> tuple[BehaviourRow, ...]:
    replan, explore = states.REPLAN, states.EXPLORE
    return (
        BehaviourRow(replan, explore, guards.nothing_blocked, FAILURE, 0, "RPL-1", 0.0, 0.0),
        BehaviourRow(replan, explore, guards.not_localized, FAILURE, 1, "NLF-4", 0.0, 0.0),
        BehaviourRow(replan, explore, guards.no_way_round, FAILURE, 2, "RPL-3", dwell, None, True),
        BehaviourRow(replan, states.REGRESSION, guards.route_found, PROGRESS, 0, "RPL-2", dwell),
        BehaviourRow(explore, states.PARKED, guards.explore_given_up, FAILURE, 0, "EXP-4", 0.0, 0.0),
        BehaviourRow(explore, replan, guards.explore_timed_out, FAILURE, 1, "EXP-4", 0.0, 0.0, True),
        BehaviourRow(explore, states.REGRESSION, guards.route_switched, MISSION, 0, "RRF-2", 0.0, 0.0),
        BehaviourRow(explore, states.REGRESSION, guards.way_to_route, PROGRESS, 0, "EXP-2", dwell),
    )

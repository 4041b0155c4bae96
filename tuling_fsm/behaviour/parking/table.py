"""The composite `parking`: find a free slot, reverse into it, stay."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.conduct import BehaviourRow, Conduct
from tuling_fsm.behaviour.parameters import SwitchingParameters
from tuling_fsm.behaviour.parking import guards
from tuling_fsm.behaviour.parking.parked import PARKED
from tuling_fsm.behaviour.parking.slot_entry import SLOT_ENTRY
from tuling_fsm.behaviour.parking.slot_search import SLOT_SEARCH
from tuling_fsm.machine.elements import Leaf, Priority, Region

FAILURE, MISSION, PROGRESS = Priority.FAILURE, Priority.MISSION, Priority.PROGRESS


def region(switching: SwitchingParameters) -> Region[Conduct]:
    """The composite with its leaves."""
    leaves = (
        Leaf("slot_search", SLOT_SEARCH, switching.min_dwell),
        Leaf("slot_entry", SLOT_ENTRY, switching.min_dwell),
        Leaf("parked", PARKED, switching.min_dwell, terminal=True),
    )
    return Region("parking", "slot_search", leaves)


def rows(switching: SwitchingParameters) -> tuple[BehaviourRow, ...]:
    """The row that leads here, and all that leave a state of `parking`."""
    search, entry, dwell = states.SLOT_SEARCH, states.SLOT_ENTRY, switching.dwell
    return (
        BehaviourRow(states.NORMAL, search, guards.enters_parking_area, MISSION, 1, "NOR-8", dwell),
        BehaviourRow(search, states.EXPLORE, guards.lost_for_long, FAILURE, 0, "USE-2", dwell),
        BehaviourRow(search, states.REGRESSION, guards.cannot_turn, FAILURE, 1, "PRK-2", dwell),
        BehaviourRow(search, states.SOLID_LINE_FREE, guards.lane_blocked, FAILURE, 2, "NOR-7", dwell),
        BehaviourRow(search, states.SOLID_LINE_FREE, guards.search_stands_still, FAILURE, 3, "USE-2", 0.0, None, True),
        BehaviourRow(search, states.NORMAL, guards.leads_elsewhere, MISSION, 0, "PRK-1", dwell),
        BehaviourRow(search, entry, guards.slot_found, PROGRESS, 0, "PRK-1", dwell),
        BehaviourRow(entry, search, guards.slot_taken, FAILURE, 0, "PRK-3", dwell),
        BehaviourRow(entry, search, guards.no_way_in, FAILURE, 1, "PRK-3", dwell),
        BehaviourRow(entry, search, guards.entry_overdue, FAILURE, 2, "PRK-3", 0.0, None, True),
        BehaviourRow(entry, states.PARKED, guards.in_slot, PROGRESS, 0, "PRK-4", dwell),
        BehaviourRow(states.PARKED, states.PLAN_ONCE, guards.reset_called, MISSION, 0, "PRK-5", 0.0, 0.0),
    )

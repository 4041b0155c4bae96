"""The composite `parking`: find a free slot, reverse into it, stay."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.leaf import BehaviourRow, LeafBehaviour
from tuling_fsm.behaviour.parameters import SwitchingParameters
from tuling_fsm.behaviour.parking import guards
from tuling_fsm.behaviour.parking.parked import PARKED
from tuling_fsm.behaviour.parking.slot_entry import SLOT_ENTRY
from tuling_fsm.behaviour.parking.slot_search import SLOT_SEARCH
from tuling_fsm.machine.elements import Leaf, Priority, Region

FAILURE, MISSION, PROGRESS = Priority.FAILURE, Priority.MISSION, Priority.PROGRESS


def region(switching: SwitchingParameters) -> Region[LeafBehaviour]:
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
        BehaviourRow(states.NORMAL, search, guards.enters_parking_area, MISSION, 1, clause="NOR-8", dwell_s=dwell),
        BehaviourRow(search, states.EXPLORE, guards.lost_for_long, FAILURE, 0, clause="USE-2", dwell_s=dwell),
        BehaviourRow(search, states.REGRESSION, guards.cannot_turn, FAILURE, 1, clause="PRK-2", dwell_s=dwell),
        BehaviourRow(search, states.SOLID_LINE_FREE, guards.lane_blocked, FAILURE, 2, clause="NOR-7", dwell_s=dwell),
        BehaviourRow(search, states.SOLID_LINE_FREE, guards.search_stands_still, FAILURE, 3,
                     clause="USE-2", dwell_s=0.0, deadline=True),
        BehaviourRow(search, states.NORMAL, guards.leads_elsewhere, MISSION, 0, clause="PRK-1", dwell_s=dwell),
        BehaviourRow(search, entry, guards.slot_found, PROGRESS, 0, clause="PRK-1", dwell_s=dwell),
        BehaviourRow(entry, search, guards.slot_taken, FAILURE, 0, clause="PRK-3", dwell_s=dwell),
        BehaviourRow(entry, search, guards.no_way_in, FAILURE, 1, clause="PRK-3", dwell_s=dwell),
        BehaviourRow(entry, search, guards.entry_overdue, FAILURE, 2, clause="PRK-3", dwell_s=0.0, deadline=True),
        BehaviourRow(entry, search, guards.sent_elsewhere, MISSION, 0, clause="PRK-1", dwell_s=dwell),
        BehaviourRow(entry, states.PARKED, guards.in_slot, PROGRESS, 0, clause="PRK-4", dwell_s=dwell),
        BehaviourRow(states.PARKED, states.PLAN_ONCE, guards.reset_called, MISSION, 0,
                     clause="PRK-5", dwell_s=0.0, min_dwell_s=0.0),
    )  # fmt: skip

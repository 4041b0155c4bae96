"""The whole state machine, put together from its composites and supervisors, and what each of its states may do."""

from __future__ import annotations

from collections.abc import Mapping

from tuling_fsm.behaviour import departure, high_speed, states
from tuling_fsm.behaviour.intersection import table as intersection
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.mission import table as mission
from tuling_fsm.behaviour.on_road import table as on_road
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.parking import table as parking
from tuling_fsm.behaviour.permissions import ON_LANES, Permissions
from tuling_fsm.behaviour.supervisors import emergency_stop, rain_fog, route_refresh
from tuling_fsm.behaviour.temporary_stop import table as temporary_stop
from tuling_fsm.machine.table import Table


def table(parameters: BehaviourParameters | None = None) -> Table[BehaviourView, LeafBehaviour]:
    """All states and rows; dwell times come from the parameters.

    Raises:
        InputError: a table with a dead end or an ambiguity.
    """
    parameters = parameters or BehaviourParameters()
    return Table(
        "tuling",
        "departure",
        (
            departure.region(parameters),
            on_road.region(parameters.switching),
            intersection.region(parameters),
            temporary_stop.region(parameters),
            parking.region(parameters.switching),
            high_speed.region(),
        ),
        (
            *departure.rows(parameters),
            *on_road.rows(parameters.switching),
            *intersection.rows(parameters),
            *temporary_stop.rows(parameters),
            *parking.rows(parameters.switching),
            *mission.rows(parameters.switching.dwell),
        ),
        rest=(states.NORMAL, states.PARKED),
        beside=(emergency_stop.table(), rain_fog.table(parameters.radar), route_refresh.table()),
    )


PERMISSIONS: Mapping[str, Permissions] = {path: leaf.body.may for path, leaf in table().leaves.items()}
"""What every state may do, by its path."""


def permissions(state: str) -> Permissions:
    """What a state may do; one that is not of this table, as another planner reports, nothing special."""
    return PERMISSIONS.get(state, ON_LANES)

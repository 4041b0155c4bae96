"""The whole state machine, put together from its composites and supervisors."""

from __future__ import annotations

from tuling_fsm.behaviour import departure, high_speed, states
from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.on_road import table as on_road
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.parking import table as parking
from tuling_fsm.behaviour.supervisors import emergency_stop, route_refresh
from tuling_fsm.machine.table import Table


def table(parameters: BehaviourParameters | None = None) -> Table[View, Conduct]:
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
            parking.region(),
            high_speed.region(),
        ),
        (*departure.rows(parameters), *on_road.rows(parameters.switching)),
        rest=(states.NORMAL, states.PARKED),
        beside=(emergency_stop.table(), route_refresh.table()),
    )

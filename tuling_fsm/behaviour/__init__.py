"""The Tuling states as data, and the machine that runs them: what to drive now, and why.

Each composite has a file of its own with its states and rows; predicates are in `guards`, the supervisors
`emergency_stop` and `route_refresh` beside. A state is a `Conduct`: pure functions of a `View`.
"""

from tuling_fsm.behaviour.tables import table

__all__ = ["table"]

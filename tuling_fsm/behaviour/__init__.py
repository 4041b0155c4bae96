"""The Tuling states as data, and the machine that runs them: what to drive now, and why.

Each composite has a file of its own with its states and rows; predicates are in `guards`, the supervisors
`emergency_stop` and `route_refresh` beside. A state is a `LeafBehaviour`: pure functions of a `BehaviourView`.
"""

from tuling_fsm.behaviour.tables import table

__all__ = ["table"]

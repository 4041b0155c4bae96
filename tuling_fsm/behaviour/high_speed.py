"""The composite `high_speed`: reserved by the design, declared and never entered."""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.permissions import ON_LANES
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.machine.elements import Leaf, Region


def _request(_: BehaviourView) -> PlanningRequest:
    return Hold(Reason.NO_ROUTE, detail="high speed is not implemented")


def region() -> Region[LeafBehaviour]:
    """The composite with its leaf."""
    return Region("high_speed", "normal", (Leaf("normal", LeafBehaviour(_request, may=ON_LANES), enabled=False),))

"""The composite `high_speed`: reserved by the design, declared and never entered."""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.machine.elements import Leaf, Region


def _request(_: View) -> PlanningRequest:
    return Hold(Reason.NO_ROUTE, detail="high speed is not implemented")


def region() -> Region[Conduct]:
    """The composite with its leaf."""
    return Region("high_speed", "normal", (Leaf("normal", Conduct(_request), enabled=False),))

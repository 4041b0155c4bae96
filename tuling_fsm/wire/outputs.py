"""The planner's outputs: what a tick says, message by message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire.cdr import seconds
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.indicators import indicator
from tuling_fsm.wire.markers import drawings, pack_markers
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_string
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.wire.transition import pack_transition
from tuling_fsm.wire.why import Binding, Failure, reports, statuses

if TYPE_CHECKING:
    from tuling_fsm.agent import Tick

Messages = list[tuple[str, bytes]]
Wanted = Callable[[str], bool]
"""Whether a topic has a subscriber."""
_AGAIN_NS = 5_000_000_000
"""A report is new again when it was made last so long ago."""
_MEASURED = re.compile(r"\d+\.\d+(e[+-]\d+)?|\d+(e[+-]\d+)?(?= (m|s|rad)\b)")
"""What may differ between two lines that say the same: a stamp, a speed; not the number of a task."""


def everything(_: str) -> bool:
    """What a recorder wants: all topics."""
    return True


def trajectory_messages(trajectory: Trajectory, ns: int, wanted: Wanted = everything) -> Iterator[tuple[str, bytes]]:
    """What every tick sends: the trajectory, and its path, which is made when the trajectory has been taken."""
    yield "trajectory", pack_trajectory(ns, trajectory)
    if wanted("path"):
        yield "path", pack_path(ns, np.column_stack((trajectory.x, trajectory.y, trajectory.heading)))


def transition_messages(tick: Tick) -> Messages:
    """Every transition of a tick, of supervisors and of the machine, in their order."""
    events = [(event, True) for event in tick.decision.supervisor_transitions]
    if tick.decision.transition is not None:
        events.append((tick.decision.transition, False))
    events.sort(key=lambda pair: pair[0].seq)
    return [("transition", pack_transition(event, supervisor)) for event, supervisor in events]


class Outputs:
    """The messages of a tick beside its trajectory: some when they change, some at a rate by the ticks' stamps.

    Args:
        left_hand: whether the map's traffic keeps to the left.
    """

    def __init__(self, left_hand: bool = False) -> None:
        self.new_reports: tuple[str, ...] = ()
        """Lines of the last tick that were not told of late."""
        self._left_hand = left_hand
        self._told_ns: dict[str, int] = {}
        """Stamps at which reports were told last, by what they say."""
        self._words: dict[str, str] = {}
        self._binding: Binding | None = None
        self._said_ns: int | None = None

    def messages(self, tick: Tick, ns: int, rate: float = 5.0, wanted: Wanted = everything) -> Messages:
        """All that is due.

        Args:
            tick: what the planner made.
            ns: stamp of the messages.
            rate: of `why` and `markers` while nothing changes, Hz.
            wanted: of `why` and `markers`, which are made for subscribers alone; what is latched is sent in any case.
        """
        decision = tick.decision
        sent: Messages = []
        if decision.route_blocked is not None:
            sent.append(("route_blocked", pack_path(ns, decision.route_blocked)))
        events = transition_messages(tick)
        sent += events
        shown = indicator(tick, self._left_hand)
        sent += self._changed({"state": tick.state, "sensors": sensors(tick), "indicators": shown})
        binding = Binding.of(tick.limit, self._binding, seconds(ns))
        due = self._said_ns is None or not 0 <= ns - self._said_ns < 1e9 / rate - 1e6
        self.new_reports = self._news(reports(tick), ns)
        if due or binding is not self._binding or events or self.new_reports:
            self._said_ns = ns
            if wanted("why"):
                sent.append(("why", pack_diagnostics(ns, statuses(tick, binding))))
            if wanted("markers"):
                sent.append(("markers", pack_markers(ns, drawings(tick))))
        self._binding = binding
        return sent

    def failure(self, failure: Failure, ns: int) -> Messages:
        """What is said beside a trajectory that does not come from the planner."""
        values = (("code", failure.code.value),)
        status = DiagnosticStatus("limit", failure.words["en"], values, DiagnosticLevel.ERROR)
        self._said_ns = None
        return [*self._changed({"indicators": "hazard"}), ("why", pack_diagnostics(ns, (status,)))]

    def _news(self, lines: tuple[str, ...], ns: int) -> tuple[str, ...]:
        """Those of a tick's reports that have to be told now, as no later tick has them: a fault that comes and goes
        with every message is told again only after a while.
        """
        self._told_ns = {said: told for said, told in self._told_ns.items() if 0 <= ns - told < _AGAIN_NS}
        new = {said: line for line in lines if (said := _MEASURED.sub("", line)) not in self._told_ns}
        self._told_ns |= dict.fromkeys(new, ns)
        return tuple(new.values())

    def _changed(self, words: dict[str, str]) -> Messages:
        new = {topic: word for topic, word in words.items() if self._words.get(topic) != word}
        self._words.update(new)
        return [(topic, pack_string(word)) for topic, word in new.items()]


def sensors(tick: Tick) -> str:
    """Which sensors count: `all`, or `radar_and_history` in rain or fog (RFG-1)."""
    return "radar_and_history" if dict(tick.decision.supervisors).get("rain_fog") == "radar_and_history" else "all"

"""What the simulator learns of the planner from its topics, as rows for the report."""

from __future__ import annotations

from tuling_fsm.bag.timeline import WhyMessage
from tuling_fsm.behaviour.flaps import Flaps
from tuling_fsm.behaviour.parameters import SwitchingParameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.drive_status import DwellTimer
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog, TransitionRow
from tuling_fsm.viewer.reasons import dwells
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.text import unpack_string
from tuling_fsm.wire.transition import unpack_transition

FLAP_WINDOW_S = SwitchingParameters().flap_window
"""As the planner has it by default: neither its parameter nor its active clock is on the topics."""


class RunWatch:
    """Fills a `RunLog` from the messages of `state`, `transition` and `why`."""

    def __init__(self) -> None:
        self.log = RunLog()
        self.state = ""
        self._limit = Limit(Reason.NONE)
        self._flaps = Flaps()
        self.timers: tuple[DwellTimer, ...] = ()
        """Dwell timers that run."""

    def receive(self, topic: str, raw: bytes) -> None:
        """Take one message.

        Raises:
            InputError: it cannot be used.
        """
        if topic == "state":
            self.state = unpack_string(raw, topic)
        elif topic == "transition":
            self._transition(raw)
        elif topic == "why":
            self._limit = _limit(raw)
            why = WhyMessage(0.0, unpack_diagnostics(raw, "why"))
            self.timers = tuple(DwellTimer(each.dest, each.guard, each.held_s, each.dwell_s) for each in dwells(why))

    def note(self, stamp: float, ego: EgoCar, tick_ms: float) -> None:
        """A frame has been answered: one row.

        Args:
            stamp: of the frame, s.
            ego: the car on it.
            tick_ms: from sending the frame to having its trajectory, DDS both ways included.
        """
        self.log.rows.append(LogRow(stamp, self.state, ego.pose, ego.v, self._limit, tick_ms))

    def _transition(self, raw: bytes) -> None:
        event = unpack_transition(raw, "transition")
        row = TransitionRow(event["stamp"], event["from"], event["to"], event["clause"])
        (self.log.supervisors if event["supervisor"] else self.log.transitions).append(row)
        if not event["supervisor"] and row.source != row.dest:
            self._flaps = self._flaps.entered(row.source, row.dest, row.t, FLAP_WINDOW_S)
            self.log.flaps = self._flaps.count


def _limit(raw: bytes) -> Limit:
    """The limit that the first status of `why` tells of."""
    statuses = unpack_diagnostics(raw, "why")
    values = dict(statuses[0].values) if statuses else {}
    try:
        distance, blocker = values.get("distance") or "0", values.get("blocker") or "-1"
        return Limit(Reason(values["code"]), float(distance), values.get("waiting_for", ""), int(blocker))
    except (KeyError, ValueError) as error:
        raise InputError("why", f"{error}", "a code, and numbers") from None

"""The topic `transition`: one record a transition, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.wire.text import pack_json, unpack_json

if TYPE_CHECKING:
    from tuling_fsm.behaviour.decision import TransitionEvent


def pack_transition(event: TransitionEvent, supervisor: bool) -> bytes:
    """`supervisor` tells those of supervisors from those of the machine."""
    return pack_json(
        {
            "seq": event.seq,
            "stamp": event.stamp,
            "from": event.source,
            "to": event.dest,
            "supervisor": supervisor,
            "clause": event.clause,
            "guard": event.guard,
            "dwell_s": event.dwell_s,
            "rejected": list(event.rejected),
        }
    )


def unpack_transition(raw: bytes, where: str) -> dict[str, Any]:
    """The same by name; what another version of the planner left out is empty.

    Raises:
        InputError: no JSON object, no stamp, or a value of another type.
    """
    event = unpack_json(raw, where)
    try:
        return {
            "seq": int(event.get("seq", 0)),
            "stamp": float(event["stamp"]),
            **{name: str(event.get(name, "")) for name in ("from", "to")},
            "supervisor": bool(event.get("supervisor", False)),
            **{name: str(event.get(name, "")) for name in ("clause", "guard")},
            "dwell_s": float(event.get("dwell_s", 0.0)),
            "rejected": [str(row) for row in event.get("rejected", ())],
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(where, f"{type(error).__name__} {error}", "a transition with its stamp") from None

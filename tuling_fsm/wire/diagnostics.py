"""`diagnostic_msgs/msg/DiagnosticArray`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import DIAGNOSTICS
from tuling_fsm.wire.cdr import TYPES, header, pack, unpack

_STATUS = "diagnostic_msgs/msg/DiagnosticStatus"
_PAIR = "diagnostic_msgs/msg/KeyValue"


class DiagnosticLevel(IntEnum):
    """How bad it is."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


_LEVELS = frozenset(int(level) for level in DiagnosticLevel)


@dataclass(frozen=True)
class DiagnosticStatus:
    """One status: a sentence for people and pairs of words for programs."""

    name: str
    message: str
    values: tuple[tuple[str, str], ...] = ()
    level: DiagnosticLevel = DiagnosticLevel.OK


def pack_diagnostics(ns: int, statuses: tuple[DiagnosticStatus, ...], hardware_id: str = "planner") -> bytes:
    """In the order given."""
    made = [
        TYPES[_STATUS](int(s.level), s.name, s.message, hardware_id, [TYPES[_PAIR](k, v) for k, v in s.values])
        for s in statuses
    ]
    return pack(DIAGNOSTICS, TYPES[DIAGNOSTICS](header(ns, ""), made))


def unpack_diagnostics(raw: bytes, where: str) -> tuple[DiagnosticStatus, ...]:
    """The inverse of `pack_diagnostics`.

    Raises:
        InputError: no DiagnosticArray, or a level that there is not.
    """
    message = unpack(raw, DIAGNOSTICS, where)
    for status in message.status:
        if int(status.level) not in _LEVELS:
            raise InputError(where, f"level {status.level} of {status.name!r}", "0 to 3")
    return tuple(
        DiagnosticStatus(
            s.name, s.message, tuple((pair.key, pair.value) for pair in s.values), DiagnosticLevel(int(s.level))
        )
        for s in message.status
    )

"""One message of a bag."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """One message: log time (ns), our name of its topic (the full one of what is not ours), type, serialized data."""

    ns: int
    topic: str
    type: str
    data: bytes

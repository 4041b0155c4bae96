"""The link between nodes: messages pass, are lost, come twice, or after later ones of their topic (SIM-2: seeded)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from tuling_fsm.sim.seeds import Stream, generator

Content = TypeVar("Content")
OVERTAKEN_FRAMES = 2
"""A message that is overtaken comes so many frames later, behind what is sent then."""


@dataclass(frozen=True)
class LinkFault:
    """What is wrong with a link: shares of messages, 0 to 1, and the topics that it is wrong with (None: all)."""

    lost: float = 0.0
    doubled: bool = False
    reordered: float = 0.0
    topics: frozenset[str] | None = None


SOUND_LINK = LinkFault()


@dataclass(frozen=True)
class LinkMessage(Generic[Content]):
    """A message on its way."""

    topic: str
    content: Content


class MessageLink(Generic[Content]):
    """Passes on the messages of one frame after the other.

    Args:
        stream: what is drawn comes from it; nothing is drawn while the link is sound.
    """

    def __init__(self, stream: Stream) -> None:
        self.fault = SOUND_LINK
        self._random = generator(stream)
        self._held: list[tuple[int, LinkMessage[Content]]] = []

    def pass_on(self, frame: int, sent: Iterable[LinkMessage[Content]]) -> list[LinkMessage[Content]]:
        """What arrives on a frame: what was sent on it, then what was overtaken."""
        arrived: list[LinkMessage[Content]] = []
        for message in sent:
            arrived += self._now(frame, message)
        arrived += [message for due, message in self._held if due <= frame]
        self._held = [(due, message) for due, message in self._held if due > frame]
        return arrived

    def _now(self, frame: int, message: LinkMessage[Content]) -> list[LinkMessage[Content]]:
        fault = self.fault
        if fault == SOUND_LINK or (fault.topics is not None and message.topic not in fault.topics):
            return [message]
        if self._drawn(fault.lost):
            return []
        if self._drawn(fault.reordered):
            self._held.append((frame + OVERTAKEN_FRAMES, message))
            return []
        return [message, message] if fault.doubled else [message]

    def _drawn(self, share: float) -> bool:
        return share >= 1.0 or (share > 0.0 and bool(self._random.random() < share))


def link_streams(seed: int, *names: str) -> list[Stream]:
    """Two independent streams, to the planner and from it, of a run's seed and of what else tells it from others."""
    letters = [int(each) for each in np.frombuffer("/".join(names).encode(), np.uint8)]
    return Stream([seed, *letters]).spawn(2)

"""Which bag is read, and how: what every reader of bags is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tuling_fsm.bag.read_warnings import Report
from tuling_fsm.bag.topic_names import OURS, TopicNames


@dataclass(frozen=True)
class BagSource:
    """A recorded drive, of this product or of any other program.

    Args:
        path: a bag folder, or one `.mcap` or `.db3` file.
        salvage: read a damaged file up to the damage instead of refusing it.
        names: how the bag calls its topics and frames.
        report: told in a line each of what is odd, and of messages that cannot be used and are left out, as the node
            does; without it the latter raise `InputError`.
    """

    path: Path
    salvage: bool = False
    names: TopicNames = OURS
    report: Report | None = None

    def __str__(self) -> str:
        return str(self.path)

"""What is told of something that goes as it should."""

from __future__ import annotations


class Notice(str):
    """A report of a tick that is no warning: a passenger is served, another route is taken."""

    __slots__ = ()

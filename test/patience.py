"""How long tests wait: far longer than anything takes, so that a slow machine fails nothing and a hang still ends."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 600.0
"""For one answer, one message or the end of one process."""
LONG_PATIENCE_S = 1200.0
"""For what compiles, installs or builds."""


def wait_until(done: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Until something holds; to wait for that long is a failure."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.02)

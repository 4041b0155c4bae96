"""Runs that several proofs look at."""

from __future__ import annotations

import pytest

from tuling_fsm.behaviour import table
from tuling_fsm.share import share_file

from .loop import Loop

FORCED_S = 1.5
"""How long a state is driven after it has been entered by force, s."""


@pytest.fixture(scope="session")
def tour() -> Loop:
    """A short run that then goes through every state that there is, each entered by force."""
    loop = Loop(share_file("config", "scenarios", "roam.osc"), {"length_m": "400", "vehicles": "6"}, 5, with_task=True)
    loop.until(lambda tick: tick.state == "on_road/normal", 20.0)
    loop.run(4.0)
    for path, leaf in table().leaves.items():
        if leaf.enabled and not leaf.terminal:
            loop.force(path)
            loop.run(FORCED_S)
    return loop

"""`diagram`: the state machine drawn from its tables."""

from __future__ import annotations

import argparse

from tuling_fsm.verbs.parser import Verbs, add_verb


def add_diagram(verbs: Verbs) -> None:
    """Mermaid on standard output."""
    add_verb(verbs, "diagram", _diagram, "the state machine as Mermaid, from its tables")


def _diagram(_: argparse.Namespace) -> int:
    from tuling_fsm.behaviour import table
    from tuling_fsm.machine.mermaid import mermaid

    print(mermaid(table()), end="")
    return 0

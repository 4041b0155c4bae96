"""`tuling-fsm`: one entry point, a module of `verbs` a subject.

Exit 0 on success, 1 when what was asked does not hold, 2 for bad usage or bad input (one line on standard error).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs import bench, campaign, commonroad, diagram, maps, plan, replay, runs, why
from tuling_fsm.verbs.parser import Verb, Verbs

VERBS: tuple[Callable[[Verbs], None], ...] = (
    runs.add_demo,
    runs.add_sim,
    campaign.add_campaign,
    replay.add_replay,
    commonroad.add_commonroad,
    why.add_why,
    plan.add_plan,
    maps.add_map,
    maps.add_route,
    diagram.add_diagram,
    bench.add_bench,
)
"""In the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; the return value is the exit code."""
    arguments = _parser().parse_args(argv)
    verb: Verb = arguments.verb
    try:
        return verb(arguments)
    except InputError as error:
        print(error, file=sys.stderr)
    except FileNotFoundError as error:
        print(f"{error.filename}: no such file", file=sys.stderr)
    except (IsADirectoryError, PermissionError) as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tuling-fsm", description="Hierarchical state-machine planner and its simulator."
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for add in VERBS:
        add(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())

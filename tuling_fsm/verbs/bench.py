"""`bench`: the benchmarks of the source tree."""

from __future__ import annotations

import argparse

from tuling_fsm.verbs.parser import Verbs, add_verb


def add_bench(verbs: Verbs) -> None:
    """All benchmarks, or one."""
    parser = add_verb(verbs, "bench", _bench, "run the benchmarks against their peers, in one run")
    parser.add_argument("name", nargs="?", metavar="NAME", help="only this one, a module of benchmark/ (default all)")


def _bench(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bench import bench

    bench(arguments.name, say=lambda text: print(text, flush=True))
    return 0

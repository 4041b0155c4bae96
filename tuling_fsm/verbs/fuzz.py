"""`fuzz`: bad input, searched for; what is found is kept as files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tuling_fsm.core.errors import InputError
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.verbs.parser import Verbs, add_seed, add_verb, folder

if TYPE_CHECKING:
    from tuling_fsm.fuzz.campaign import FuzzCampaign

TARGETS = ("map", "dsl", "xml", "tpcap", "mission", "bag", "parameters", "commonroad", "route", "messages", "ticks")
"""As `fuzz.targets.TARGETS`, which is not read before there is something to read."""
ENDLESS_S, ENDLESS_RUNS = 1e9, 2**31 - 1


def add_fuzz(verbs: Verbs) -> None:
    """Mutants of files, messages and ticks."""
    parser = add_verb(
        verbs,
        "fuzz",
        _fuzz,
        "search for files, messages and ticks that are neither read nor refused as they should be",
        "tuling-fsm fuzz map dsl --corpus my_maps --seconds 600 --out out/fuzz",
    )
    parser.add_argument(
        "target", nargs="*", metavar="TARGET", help=f"what is given mutants: {', '.join(TARGETS)} (default all)"
    )
    parser.add_argument(
        "--corpus", type=folder, metavar="DIR", help="begin with the files below it (default: those of the package)"
    )
    parser.add_argument(
        "--out", type=folder, default=Path("out/fuzz"), metavar="DIR",
        help="folder of fuzz.json and of what is found; goes on with what lies there (default %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seconds", type=_positive, metavar="S", help="for each target (default 60 without --runs)")
    parser.add_argument("--runs", type=_positive, metavar="N", help="for each target at the most")
    add_seed(parser)
    parser.add_argument(
        "--guided", action="store_true", help="let coverage choose what is mutated on (the extra `fuzz`)"
    )
    parser.add_argument(
        "--memory", type=_positive, default=2000, metavar="MB", help="that one file may take (default %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print fuzz.json instead of the table")


def _positive(text: str) -> int:
    """A whole number of one or more.

    Raises:
        ArgumentTypeError: none.
    """
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 999999999")
    return int(text)


def _fuzz(arguments: argparse.Namespace) -> int:
    from tuling_fsm.compiling import compile_kernels
    from tuling_fsm.fuzz.campaign import FuzzBudget, FuzzCampaign
    from tuling_fsm.fuzz.guided import require_atheris

    if arguments.guided:
        require_atheris()
    names = list(dict.fromkeys(arguments.target)) or list(TARGETS)
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        raise InputError(f"fuzz {unknown[0]}", "no such target", "one of " + ", ".join(TARGETS))
    check_corpus(names, arguments.corpus, chosen=bool(arguments.target))
    seconds = arguments.seconds or (ENDLESS_S if arguments.runs else 60.0)
    budget = FuzzBudget(arguments.runs or ENDLESS_RUNS, seconds, arguments.memory, arguments.guided)
    with ProgressDisplay() as progress:
        compile_kernels(report=progress)
        campaign = FuzzCampaign(arguments.out, arguments.corpus, arguments.seed, progress)
        for name in names:
            campaign.run(name, budget)
    campaign.clear()
    return _tell(campaign, names, arguments.json)


def check_corpus(names: Sequence[str], corpus: Path | None, chosen: bool) -> None:
    """Tell of targets that find no file of theirs in the folder.

    Raises:
        InputError: one of those that were chosen.
    """
    from tuling_fsm.fuzz.targets import TARGETS as KNOWN
    from tuling_fsm.fuzz.targets import corpus_files

    for name in names:
        if corpus is None or corpus_files(name, corpus):
            continue
        what = f"no {KNOWN[name].suffix} below {corpus}"
        if chosen:
            raise InputError("--corpus", what, f"files for the target {name}")
        print(f"{name}: {what}, begins with files of the package", file=sys.stderr)


def _tell(campaign: FuzzCampaign, names: list[str], as_json: bool) -> int:
    from tuling_fsm.fuzz.campaign import table

    held = [(name, each) for name in names for each in campaign.records[name].held]
    if as_json:
        print(json.dumps({name: asdict(campaign.records[name]) for name in names}))
    else:
        print("\n".join(table(campaign.records, names)))
        for name, each in held:
            told = f"{name}: {each['kind']} at {each['place']}: {each['detail'][:200]}"
            print(f"{told} ({each['file']}, {each['times']} times)")
    return 1 if held else 0

"""`falsify`: the values of a scenario's variables that bring the car nearest to a collision at fault."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import write_file
from tuling_fsm.progress import ProgressDisplay, Report, TimeLeft
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.terminal import Style, styled
from tuling_fsm.verbs.parser import (
    Verbs,
    add_overrides,
    add_parameters,
    add_perception,
    add_seed,
    add_verb,
    chosen_parameters,
    folder,
    path,
)
from tuling_fsm.verbs.runs import assignment

if TYPE_CHECKING:
    from tuling_fsm.falsification.parameter_space import ParameterRange
    from tuling_fsm.falsification.runs import SearchSettings

SHOWN = 10
"""Rows of the table."""
MOST_RUNS = 100_000


def add_falsify(verbs: Verbs) -> None:
    """A search over variables of a scenario."""
    parser = add_verb(
        verbs,
        "falsify",
        _falsify,
        "search a scenario's variables for the values that bring the car nearest to a collision at fault",
        "tuling-fsm falsify config/scenarios/cut_in.xosc --vary behind=5..20 --vary brake_after=0.3..2",
    )
    parser.add_argument("scenario", type=path, metavar="SCENARIO", help="OpenSCENARIO: DSL (.osc) or XML (.xosc)")
    parser.add_argument(
        "--vary", action="append", required=True, metavar="NAME=LOW..HIGH",
        help="a variable of the scenario and its range, with the unit behind it where it has one; two or more",
    )  # fmt: skip
    parser.add_argument("--runs", type=int, default=100, metavar="N", help="to drive (default %(default)s)")
    parser.add_argument("--map", type=path, metavar="F", help="OpenDRIVE map instead of the scenario's own")
    add_overrides(parser, "the scenario")
    add_parameters(parser)
    add_perception(parser)
    add_seed(parser)
    parser.add_argument("--workers", type=int, metavar="N", help="processes at a time (default one a processor)")
    parser.add_argument(
        "--out", type=folder, metavar="DIR", help="folder of falsification.json, and of the runs so far"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the search in the folder")
    parser.add_argument("--json", action="store_true", help="print falsification.json on standard output")


def _falsify(arguments: argparse.Namespace) -> int:
    from tuling_fsm.compiling import compile_kernels
    from tuling_fsm.falsification.runs import SearchRecord
    from tuling_fsm.falsification.search import require_cmaes, search

    require_cmaes()
    space = _space(arguments)
    settings = _settings(arguments, space)
    with ExitStack() as stack:
        progress = stack.enter_context(ProgressDisplay())
        compile_kernels(report=progress)
        workers = arguments.workers or os.cpu_count() or 1
        kept = stack.enter_context(SearchRecord(settings, workers, arguments.out, arguments.resume))
        say = _Progress(progress, arguments.runs)
        driven = []
        for one in search(space, arguments.runs, arguments.seed, kept.drive):
            driven.append({"chosen": one.chosen, "values": dict(one.overrides), **one.outcome})
            say.tell(driven)
    content = {"settings": kept.plain_settings(), "runs": driven}
    try:
        if arguments.out is not None:
            write_file(arguments.out / "falsification.json", json.dumps(content, indent=1) + "\n")
    finally:  # What was found is told, whatever becomes of the file.
        code = _tell(arguments, content)
    return code


def _tell(arguments: argparse.Namespace, content: Mapping[str, Any]) -> int:
    runs = content["runs"]
    collides = any(run["collides"] for run in runs)
    _check_driven(arguments, runs)
    if arguments.json:
        print(json.dumps(content))
    else:
        heading, *rows = table(runs)
        print(styled(heading, Style.HEADING, sys.stdout), *rows, sep="\n")
        print(styled(summary(runs), Style.BAD if collides else Style.GOOD, sys.stdout))
        print("drive the worst again: " + command(arguments, runs))
    return 1 if collides else 0


def _check_driven(arguments: argparse.Namespace, runs: Sequence[Mapping[str, Any]]) -> None:
    """Raise `InputError` where no run could be driven: that no collision was found says nothing then."""
    from tuling_fsm.falsification.criticality import REFUSED, is_driven

    if not any(map(is_driven, runs)):
        what = f"none of {len(runs)} runs could be driven, the first: {runs[0]['end'].removeprefix(REFUSED)}"
        raise InputError(str(arguments.scenario), what, "ranges with values that can be driven")


class _Progress:
    """Tells of the search after every run."""

    def __init__(self, report: Report, runs: int) -> None:
        self._report, self._runs, self._left = report, runs, TimeLeft()

    def tell(self, driven: Sequence[Mapping[str, Any]]) -> None:
        """The last of the runs is new."""
        from tuling_fsm.falsification.criticality import words

        share = len(driven) / self._runs
        worst = words(min(driven, key=lambda run: float(run["cost"])))
        self._report(self._left.line(f"{len(driven)} of {self._runs} runs  {100 * share:3.0f} %  worst {worst}", share))


def _space(arguments: argparse.Namespace) -> list[ParameterRange]:
    """The ranges that are asked for.

    Raises:
        InputError: fewer than two, one twice or set as well, a number of runs or workers out of range.
    """
    from tuling_fsm.falsification.parameter_space import OPTION, parameter_range

    for option, number, most in (("--runs", arguments.runs, MOST_RUNS), ("--workers", arguments.workers, MOST_RUNS)):
        if number is not None and not 1 <= number <= most:
            raise InputError(option, str(number), f"1 to {most}")
    if arguments.resume and arguments.out is None:
        raise InputError("--resume", "no folder to go on in", "--out DIR of the search")
    space = [parameter_range(text) for text in arguments.vary]
    names = [one.name for one in space] + [assignment(text)[0] for text in arguments.overrides]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(OPTION, f"{twice} is given twice", "each variable once")
    if len(space) < 2:
        raise InputError(OPTION, "one range", "two or more: values of one variable are a campaign's")
    return space


def _settings(arguments: argparse.Namespace, space: Sequence[ParameterRange]) -> SearchSettings:
    from tuling_fsm.falsification.runs import SearchSettings

    overrides = tuple(assignment(text) for text in arguments.overrides)
    fixed = RunSettings(
        arguments.scenario, arguments.seed, overrides, arguments.map,
        perception=arguments.perception, parameters=chosen_parameters(arguments.parameters),
    )  # fmt: skip
    return SearchSettings(fixed, tuple(space))


def table(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The worst runs, of which no two have the same values, as lines."""
    from tuling_fsm.falsification.criticality import words

    worst: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for run in sorted(runs, key=lambda run: float(run["cost"])):
        worst.setdefault(tuple(run["values"].values()), run)
    shown = list(worst.values())[:SHOWN]
    heading = ["nearest", *shown[0]["values"], "chosen", "end", "at fault"]
    rows = [
        [
            words(run),
            *run["values"].values(),
            run["chosen"],
            str(run["end"]).partition(":")[0],
            (run["faults"] or ["-"])[0],
        ]
        for run in shown
    ]
    widths = [max(len(row[k]) for row in (heading, *rows)) for k in range(len(heading))]
    for row in (heading, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def summary(runs: Sequence[Mapping[str, Any]]) -> str:
    """How many runs were refused, or their processes killed; of the others how many of each kind, how many of them
    with a collision at fault, and how near the rest came.
    """
    from tuling_fsm.falsification.criticality import ERROR, REFUSED, is_driven, words

    driven = [run for run in runs if is_driven(run)]
    parts = []
    for begins, said in ((REFUSED, "refused"), (ERROR, "killed")):
        many = sum(str(run["end"]).startswith(begins) for run in runs)
        parts += [f"of {len(runs)} runs {many} {said}"] if many else []
    for chosen in ("spread", "guided"):
        own = [run for run in driven if run["chosen"] == chosen]
        if own:
            hits = sum(run["collides"] for run in own)
            nearest = words(min(own, key=lambda run: float(run["cost"])))
            parts.append(f"{len(own)} runs {chosen}: {hits} with a collision at fault, nearest {nearest}")
    return "; ".join(parts)


def command(arguments: argparse.Namespace, runs: Sequence[Mapping[str, Any]]) -> str:
    """What drives the worst of the runs again, as a shell takes it."""
    worst = min(runs, key=lambda run: float(run["cost"]))
    words = ["tuling-fsm", "sim", str(arguments.scenario), "--seed", str(arguments.seed)]
    words += ["--map", str(arguments.map)] if arguments.map is not None else []
    words += ["--parameters", str(arguments.parameters)] if arguments.parameters is not None else []
    words += ["--perception", arguments.perception]
    for text in (*arguments.overrides, *(f"{name}={value}" for name, value in worst["values"].items())):
        words += ["--set", text]
    return shlex.join(words)

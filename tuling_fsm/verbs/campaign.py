"""`campaign`: many runs, in local processes or on a cluster."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import content_sha256
from tuling_fsm.output_file import make_folder, write_file
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.run_settings import OWN, RunSettings
from tuling_fsm.terminal import Style, styled
from tuling_fsm.verbs.campaign_cluster import on_cluster
from tuling_fsm.verbs.campaign_exposure import exposure_lines, exposure_of
from tuling_fsm.verbs.campaign_runs import (
    CampaignRun,
    DriveAll,
    Run,
    changed_files,
    holds_run,
    in_processes,
    kept_runs,
    run_all,
)
from tuling_fsm.verbs.parser import (
    Verbs,
    add_overrides,
    add_parameters,
    add_perception,
    add_traffic,
    add_verb,
    chosen_parameters,
    folder,
    path,
)
from tuling_fsm.verbs.runs import assignments
from tuling_fsm.viewer.campaign_page import faults, scenario_name, write_campaign_page

if TYPE_CHECKING:
    from tuling_fsm.sim.scenario.model import Scenario

PAGE = "index.html"
MOST = 100_000
"""Seeds of a campaign, and its processes at a time."""
_NO_VALUE = "-"
_HASH_SHOWN = 12

COLUMNS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("scenario", scenario_name),
    ("map", lambda run: str(run["map"])),
    ("seed", lambda run: str(run["seed"])),
    ("end", lambda run: str(run["end"])),
    ("faults", lambda run: str(len(faults(run)))),
    ("services", lambda run: str(run["services"])),
    ("closed loop", lambda run: f"{run['score']['closed_loop']:.2f}"),
    ("driving", lambda run: f"{run['score']['driving']:.2f}"),
    ("unexplained s", lambda run: f"{run['longest_unexplained_stop_s']:.2f}"),
    ("flaps", lambda run: str(run["flaps"])),
    ("p99 ms", lambda run: f"{run['tick_ms']['p99']:.1f}"),
    ("trace", lambda run: str(run["trace_sha256"])[:_HASH_SHOWN]),
)
"""Of the table: heading, and the words for a run."""


def add_campaign(verbs: Verbs) -> None:
    """Scenarios times seeds."""
    parser = add_verb(
        verbs,
        "campaign",
        _campaign,
        "runs of many scenarios with many seeds, in local processes or on a cluster",
        "tuling-fsm campaign config/scenarios/roam.osc config/scenarios/rain.osc --seeds 5 --out out/five",
    )
    parser.add_argument(
        "scenarios",
        type=path,
        nargs="+",
        metavar="SCENARIO",
        help="OpenSCENARIO: DSL (.osc) or XML (.xosc), also a distribution of parameters",
    )
    parser.add_argument("--seeds", type=int, required=True, metavar="N", help="each scenario with the seeds 1 to N")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--workers", type=int, metavar="N", help="processes at a time (default one a processor)")
    place.add_argument(
        "--cluster", metavar="ADDRESS",
        help="scheduler of a Dask cluster whose workers drive instead, each with one thread; the files of the campaign "
        "have to be at the same paths there, on a file system that all share",
    )  # fmt: skip
    parser.add_argument(
        "--map", type=path, action="append", metavar="F",
        help="OpenDRIVE map instead of the scenarios' own; several: every scenario on each of them",
    )  # fmt: skip
    add_overrides(parser, "every scenario")
    add_parameters(parser)
    add_perception(parser)
    add_traffic(parser)
    parser.add_argument(
        "--out", type=folder, metavar="DIR", help="folder of campaign.json, of index.html, and of a folder for each run"
    )
    parser.add_argument("--results-only", action="store_true", help="write result.json of a run and nothing else of it")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the campaign in the folder: what it has driven is kept"
    )
    parser.add_argument("--json", action="store_true", help="print campaign.json on standard output")


def _campaign(arguments: argparse.Namespace) -> int:
    jobs = _jobs(arguments)
    if arguments.out is not None:
        make_folder(arguments.out)
    runs = _all_runs(arguments, jobs)
    for line in changed_files(jobs, runs):
        print(line, file=sys.stderr)
    held = all(run["finished"] and not faults(run) for run in runs)
    exposure = exposure_of(runs)
    campaign = {"held": held, "exposure": exposure, "runs": runs}
    try:
        if arguments.out is not None:
            write_file(arguments.out / "campaign.json", json.dumps(campaign, indent=1) + "\n")
            write_campaign_page(arguments.out / PAGE, campaign, [job.out for job in jobs])
    finally:  # What hours of runs have shown is told, whatever becomes of the files.
        if arguments.json:
            print(json.dumps(campaign))
        else:
            print(*_coloured(table(runs), runs), *exposure_lines(exposure), sep="\n")
    return 0 if held else 1


def _all_runs(arguments: argparse.Namespace, jobs: Sequence[CampaignRun]) -> list[Run]:
    """Drive every job that has not been driven yet."""
    done = kept_runs(jobs, partial(print, file=sys.stderr)) if arguments.resume else {}
    left = [job for job in jobs if job not in done]
    with ProgressDisplay() as progress:
        driven = run_all(left, _drivers(arguments, len(left)), progress) if left else []
    done.update(zip(left, driven, strict=True))
    return [done[job] for job in jobs]


def _coloured(lines: Iterable[str], runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the table: the heading, the runs by how they went, and in the end what went wrong."""
    rows = (None if run["finished"] and not faults(run) else Style.BAD for run in runs)
    for line, style in zip_longest(lines, (Style.HEADING, *rows), fillvalue=Style.BAD):
        yield styled(str(line), style, sys.stdout)


def _drivers(arguments: argparse.Namespace, jobs: int) -> DriveAll:
    if arguments.cluster is not None:
        return partial(on_cluster, address=arguments.cluster)
    return partial(in_processes, workers=arguments.workers or min(jobs, os.cpu_count() or 1))


class _Asked(NamedTuple):
    """A scenario and the values of its parameters; of a variation the distribution that has it, and its number."""

    scenario: Path
    overrides: tuple[tuple[str, str], ...]
    distribution: Path | None = None
    variation: int = 0


def _jobs(arguments: argparse.Namespace) -> list[CampaignRun]:
    """Every run, by scenario and seed; what can be told to be wrong before the first of them is, and what has no effect
    on standard error.

    Raises:
        InputError: a number out of range, two scenarios of one name, a scenario or a map that cannot be used.
    """
    for option, number in (("--seeds", arguments.seeds), ("--workers", arguments.workers)):
        if number is not None and not 1 <= number <= MOST:
            raise InputError(option, str(number), f"1 to {MOST}")
    if arguments.resume and arguments.out is None:
        raise InputError("--resume", "no folder to go on in", "--out DIR of the campaign")
    _check_names("scenario", arguments.scenarios)
    _check_names("map", arguments.map or ())
    overrides, parameters = assignments(arguments.overrides), chosen_parameters(arguments.parameters)
    asked = [each for file in arguments.scenarios for each in _variations(file, overrides)]
    _check_readable(asked, arguments.map or (None,))
    if arguments.traffic != OWN:
        _check_foreign(asked, here=arguments.cluster is None)
    return [
        CampaignRun(
            RunSettings(
                each.scenario, seed, each.overrides, map_file,
                perception=arguments.perception, traffic=arguments.traffic, parameters=parameters,
            ),
            _folder(arguments, each, map_file, seed), not arguments.results_only, each.distribution, each.variation,
        )
        for map_file in arguments.map or (None,)
        for each in asked
        for seed in range(1, arguments.seeds + 1)
    ]  # fmt: skip


def _check_names(what: str, files: Sequence[Path]) -> None:
    stems = set[str]()
    for file in files:
        if file.stem in stems:
            raise InputError(str(file), f"a second {what} {file.stem}", "each of another name")
        stems.add(file.stem)


def _variations(file: Path, overrides: Mapping[str, str]) -> Iterator[_Asked]:
    """The scenario of a file, or each variation of the one that a distribution of parameters names."""
    from tuling_fsm.sim.scenario.xml.distributions import read_variations
    from tuling_fsm.sim.scenario.xml.reader import SUFFIX

    found = read_variations(file) if file.suffix.lower() == SUFFIX else None
    if found is None:
        yield _Asked(file, tuple(overrides.items()))
        return
    for note in found.notes:
        print(note, file=sys.stderr)
    count, why = found.left_out
    if count:
        total = count + len(found.values)
        print(f"{file}: {count} of {total} variations left out, the first as {why}", file=sys.stderr)
    for number, values in found.values.items():
        yield _Asked(found.scenario, tuple({**values, **overrides}.items()), file, number)


def _check_readable(asked: Sequence[_Asked], maps: Sequence[Path | None]) -> None:
    """What no run could be driven with, every run would tell, after hours of others. Of variations the first is looked
    at, which may fit its map where others do not, or the other way round.
    """
    from tuling_fsm.map.opendrive import read_map
    from tuling_fsm.run import chosen_map
    from tuling_fsm.sim.scenario.compiler import load_scenario
    from tuling_fsm.sim.scenario.validation import check_on_map

    notes = dict[str, None]()
    on_map: dict[Path, list[Scenario]] = {}
    for each in _one_of_each(asked):
        scenario = load_scenario(each.scenario, dict(each.overrides))
        for map_file in maps:
            there = on_map.setdefault(chosen_map(scenario, map_file), [])
            there += [scenario] if each.distribution is None else []
        notes |= dict.fromkeys(scenario.notes)
    for map_file, scenarios in sorted(on_map.items()):
        road_map = read_map(map_file)
        for scenario in scenarios:
            check_on_map(scenario, road_map)
    for note in notes:
        print(note, file=sys.stderr)


def _check_foreign(asked: Sequence[_Asked], here: bool) -> None:
    """Raise `InputError` where SUMO cannot drive a scenario, or is to drive `here` and is not installed."""
    from tuling_fsm.sim.scenario.compiler import load_scenario
    from tuling_fsm.sim.sumo.installed import require_sumo
    from tuling_fsm.sim.sumo.traffic import check_scenario

    for each in _one_of_each(asked):
        check_scenario(load_scenario(each.scenario, dict(each.overrides)))
    if here:
        require_sumo()


def _one_of_each(asked: Sequence[_Asked]) -> Collection[_Asked]:
    """Of every file the first."""
    return {each.distribution or each.scenario: each for each in reversed(asked)}.values()


def _folder(arguments: argparse.Namespace, asked: _Asked, map_file: Path | None, seed: int) -> Path | None:
    """Of a run, in one for each map where there are several; to go on, the one in which there is a run on its map."""
    if arguments.out is None:
        return None
    if asked.distribution is None:
        own = Path(asked.scenario.stem, f"seed_{seed}")
    else:
        own = Path(asked.distribution.stem, f"variation_{asked.variation}", f"seed_{seed}")
    plain: Path = arguments.out / own
    if map_file is None:
        return plain
    of_map: Path = arguments.out / map_file.stem / own
    usual, other = (of_map, plain) if len(arguments.map) > 1 else (plain, of_map)
    if not arguments.resume or holds_run(usual, map_file) or not holds_run(other, map_file):
        return usual
    alike = [each for each in arguments.map if content_sha256(each) == content_sha256(map_file)]
    return other if alike[0] == map_file else usual


def table(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the table, then those of what went wrong."""
    rows = [[heading for heading, _ in COLUMNS], *([_cell(run, words) for _, words in COLUMNS] for run in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells))
    for run in runs:
        on_map = f" on {run['map']}" if "map" in run else ""
        where = f"{scenario_name(run)}{on_map} seed {run['seed']}"
        if "error" in run:
            yield f"{where}: {run['error']}"
        yield from (f"{where}, at fault, {item['t']:.2f} s: {item['kind']}, {item['detail']}" for item in faults(run))


def _cell(run: Mapping[str, Any], words: Callable[[Mapping[str, Any]], str]) -> str:
    """A run that broke off has not every figure."""
    try:
        return words(run)
    except KeyError:
        return _NO_VALUE

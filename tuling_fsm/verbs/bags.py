"""The verbs about bags: `replay` and `why`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import in_letters
from tuling_fsm.output_file import keep_inputs
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.terminal import Style, styled
from tuling_fsm.verbs.parser import Verbs, add_verb, finite, folder, path, written

if TYPE_CHECKING:
    from tuling_fsm.bag.read_warnings import Report
    from tuling_fsm.bag.source import BagSource


def add_bag(parser: argparse.ArgumentParser) -> None:
    """The bag itself."""
    parser.add_argument("bag", type=path, metavar="BAG", help="a rosbag2: its folder, or one .mcap or .db3 file")


def add_names(parser: argparse.ArgumentParser) -> None:
    """`--remap`, `--frame` and `--salvage`."""
    parser.add_argument(
        "--remap", action="append", default=[], metavar="TOPIC:=OURS", help="what the bag calls one of our topics"
    )
    parser.add_argument("--frame", default="map", metavar="NAME", help="the frame of the bag that is taken for map")
    parser.add_argument("--salvage", action="store_true", help="use what can be read of a damaged bag")


def bags_of(arguments: argparse.Namespace, paths: Iterable[Path | None], report: Report) -> list[BagSource]:
    """The bags at some paths, read as the options of `add_names` say: of those after the first one the names that are
    remapped may be missing, and are ours then.

    Raises:
        InputError: a remap that cannot be used.
    """
    from tuling_fsm.bag.source import BagSource
    from tuling_fsm.bag.topic_names import TopicNames, parse_remaps

    first = TopicNames(parse_remaps(arguments.remap), arguments.frame)
    given = (path for path in paths if path is not None)
    called = chain((first,), repeat(first.of_second))
    return [BagSource(path, arguments.salvage, names, report) for path, names in zip(given, called, strict=False)]


def keep_bags(written: Path | None, bags: Iterable[BagSource], *others: Path | None) -> None:
    """Raise `InputError` where a file is to be written that is of a bag that is read, or one of the others."""
    from tuling_fsm.bag.reader import files_of

    keep_inputs([written], [*chain.from_iterable(files_of(bag.path) for bag in bags), *others])


def add_replay(verbs: Verbs) -> None:
    """A bag through a fresh planner."""
    parser = add_verb(
        verbs,
        "replay",
        _replay,
        "feed a rosbag2 to the planner by its own stamps and compare the transitions",
        "tuling-fsm replay out/roam",
    )
    add_bag(parser)
    parser.add_argument("--against", type=path, metavar="BAG", help="compare with the transitions of this bag")
    parser.add_argument("--map", type=path, metavar="F", help="OpenDRIVE map instead of the one that the bag names")
    parser.add_argument(
        "--out", type=folder, metavar="DIR", help="gets a bag of the same inputs with the answers of now"
    )
    add_names(parser)


def _replay(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.replay import replay

    with ProgressDisplay() as progress:
        bag, *against = bags_of(arguments, (arguments.bag, arguments.against), progress.note)
        differences = replay(
            bag,
            against=against[0] if against else None,
            map_file=arguments.map,
            out=arguments.out,
            progress=progress,
        )
    for line in differences:
        print(line)
    return 1 if differences else 0


if TYPE_CHECKING:
    from tuling_fsm.bag.timeline import StateChange, Timeline
    from tuling_fsm.core.standstills import Standstill, StandstillCause

CUT_S = 1.0
"""A record that ends longer before its run has been cut; the last tick is a step before the end."""
_ROUTINE = ("RRF-1",)
"""Clauses of what happens every few seconds."""


def add_why(verbs: Verbs) -> None:
    """The timeline of a bag, or one moment of it."""
    parser = add_verb(
        verbs,
        "why",
        _why,
        "why the car did what it did: changes of state, and stops with their reasons",
        "tuling-fsm why out/roam --at 12.5",
    )
    add_bag(parser)
    parser.add_argument(
        "other", type=path, nargs="?", metavar="BAG", help="another run beside it, as --time --against shows it"
    )
    parser.add_argument(
        "--at", type=finite, metavar="T", help="all that was said at this moment (s, as in the timeline)"
    )
    parser.add_argument(
        "--time", action="store_true", help="where the time went: lost against the speed limit, by state and reason"
    )
    parser.add_argument("--against", type=path, metavar="BAG", help="with --time: this run beside it, and differences")
    parser.add_argument(
        "--map", type=path, metavar="F", help="with --time: OpenDRIVE map instead of the one that the bag names"
    )
    parser.add_argument("--png", type=written, metavar="F", help="draw the timeline: states, speed, limits, stops")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_names(parser)


def _time(arguments: argparse.Namespace) -> int:
    """Where the time went."""
    from tuling_fsm.bag.time_loss import read_time_losses
    from tuling_fsm.verbs.time_loss import table_as_json, table_lines

    with ProgressDisplay() as progress:
        losses = []
        for bag in bags_of(arguments, (arguments.bag, arguments.against), progress.note):
            progress(f"reading {bag}")
            losses.append(read_time_losses(bag, arguments.map))
    if arguments.json:
        print(json.dumps(table_as_json(*losses)))
    else:
        print(*table_lines(*losses), sep="\n")
    return 0


def _why(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.timeline import read_timeline

    if arguments.other is not None:
        if arguments.against is not None:
            raise InputError("--against", "a third run", f"one beside {arguments.bag}")
        arguments.time, arguments.against = True, arguments.other
    if arguments.time:
        for option, given in (("--at", arguments.at), ("--png", arguments.png)):
            if given is not None:
                raise InputError("--time", "sums up the whole bag", f"--time or {option}")
        return _time(arguments)
    if arguments.against is not None or arguments.map is not None:
        raise InputError("--against" if arguments.map is None else "--map", "changes nothing here", "--time with it")
    with ProgressDisplay() as progress:
        (bag,) = bags_of(arguments, (arguments.bag,), progress.note)
        keep_bags(arguments.png, [bag])
        progress(f"reading {bag}")
        timeline, result = read_timeline(bag), _result(bag)
    if arguments.png is not None:
        from tuling_fsm.viewer.timeline_picture import draw_timeline

        draw_timeline(arguments.png, timeline, in_letters(arguments.bag))
    if arguments.at is None:
        if arguments.json:
            print(json.dumps(_timeline_as_json(timeline, result)))
        else:
            print(*_timeline(timeline, result), sep="\n")
        return 0
    if not timeline.begin <= arguments.at <= timeline.end:
        span = f"{timeline.begin:.3f} to {timeline.end:.3f} s"
        raise InputError("--at", f"{arguments.at:.3f} s is not in {arguments.bag}", span)
    if arguments.json:
        print(json.dumps(_moment_as_json(timeline, arguments.at)))
    else:
        print(*_moment(timeline, arguments.at), sep="\n")
    return 0


def _result(bag: BagSource) -> dict[str, Any] | None:
    """`result.json` of the run, where a simulated one has left it beside its bag."""
    from tuling_fsm.bag.run_result import result_beside, result_file
    from tuling_fsm.bag.ticks import read_run_record

    if not result_file(bag.path).is_file():
        return None
    return result_beside(bag.path, read_run_record(replace(bag, report=lambda line: None)))


def _timeline(timeline: Timeline, result: Mapping[str, Any] | None) -> Iterator[str]:
    """One line for each change, each stop and each infraction at fault, by time, and how it ended."""
    yield f"{timeline.begin:10.2f} s  begins in {timeline.words_at(timeline.begin).get('state', 'an unknown state')}"
    told = (change for change in timeline.changes if change.clause not in _ROUTINE)
    lines = [(change.t, 0, _change_line(change)) for change in told]
    for stop in timeline.stops:
        lines.append((stop.t_from, 1, _stop_line(stop)))
        lines += [(stop.t_from, 2, f"{cause.t_from:10.2f} s      {_cause(cause)}") for cause in _others(stop)]
    if result is not None:
        lines += [(item["t"], 3, _fault_line(item)) for item in result["infractions"] if item["at_fault"]]
    yield from (line for _, _, line in sorted(lines, key=lambda each: each[:2]))
    end, end_s, last = _end(result), _end_s(result), max([timeline.end, *(line[0] for line in lines)])
    if end_s is not None and end_s - timeline.end > CUT_S:
        yield f"{end_s:10.2f} s  ends: {end}; the record only goes to {timeline.end:.2f} s: {_stands(timeline)}"
    else:
        yield f"{last:10.2f} s  ends{f': {end}' if end else ''}; {_stands(timeline)}"


def _stands(timeline: Timeline) -> str:
    longest = timeline.longest_unexplained_s
    if longest is None:
        return "how the car moved is not in it"
    return f"{len(timeline.stops)} stops, longest time standing without a reason {longest:.2f} s"


def _end(result: Mapping[str, Any] | None) -> str | None:
    """How the run ended, as far as that is known."""
    return None if result is None else result.get("end")


def _end_s(result: Mapping[str, Any] | None) -> float | None:
    """When it ended, s, as far as that is known."""
    end_s = None if result is None else result.get("sim_s")
    return end_s if isinstance(end_s, float) else None


def _change_line(change: StateChange) -> str:
    line = f"{change.t:10.2f} s  {change.source} -> {change.dest}"
    if change.clause:
        line += f"  ({change.clause}: {change.guard}" + (f" for {change.dwell_s:g} s)" if change.dwell_s else ")")
    return line + "".join(f"; not to {row}" for row in change.rejected)


def _fault_line(infraction: Mapping[str, Any]) -> str:
    line = f"{infraction['t']:10.2f} s  at fault: {infraction['kind']}, {infraction['detail']}"
    return styled(line, Style.BAD, sys.stdout)


def _stop_line(stop: Standstill) -> str:
    length = stop.t_to - stop.t_from
    line = f"{stop.t_from:10.2f} s  stands for {length:.2f} s, until {stop.t_to:.2f} s: {_cause(stop.primary)}"
    return styled(line, Style.WARNING if stop.primary.words else Style.BAD, sys.stdout)


def _others(stop: Standstill) -> tuple[StandstillCause, ...]:
    """The causes one after the other, where there is more than one."""
    return stop.causes if len(stop.causes) > 1 else ()


def _cause(cause: StandstillCause) -> str:
    return cause.words or "no reason was given"


def _moment(timeline: Timeline, t: float) -> Iterator[str]:
    """What was known at a stamp, with all that the latest `why` says."""
    for topic, word in timeline.words_at(t).items():
        yield f"{topic}: {word}"
    last = max((change for change in timeline.changes if change.t <= t and not change.supervisor), default=None)
    if last is not None:
        yield f"came here:{_change_line(last)}"
    stop = timeline.stop_at(t)
    if stop is not None:
        yield f"stands:   {_stop_line(stop)}"
    why = timeline.why_at(t)
    if why is None:
        yield "nothing was said of why up to then"
        return
    yield f"said at {why.t:.2f} s:"
    for status in why.statuses:
        yield f"  {status.name}: {status.message}"
        yield from (f"    {key}: {value}" for key, value in status.values if value)


def _timeline_as_json(timeline: Timeline, result: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "from": timeline.begin,
        "to": timeline.end,
        "changes": [_change_as_json(change) for change in timeline.changes],
        "stops": [_stop_as_json(stop) for stop in timeline.stops] if timeline.motion else None,
        "longest_unexplained_stop_s": timeline.longest_unexplained_s,
        "end": _end(result),
        "end_s": _end_s(result),
        "infractions": None if result is None else result["infractions"],
    }


def _change_as_json(change: StateChange) -> dict[str, Any]:
    names = {"source": "from", "dest": "to"}
    return {names.get(key, key): value for key, value in change._asdict().items()}


def _stop_as_json(stop: Standstill) -> dict[str, Any]:
    primary = stop.primary
    return {
        "from": stop.t_from,
        "to": stop.t_to,
        "code": primary.code,
        "words": primary.words,
        "unexplained_s": stop.unexplained_s,
        "causes": [{"from": c.t_from, "to": c.t_to, "code": c.code, "words": c.words} for c in stop.causes],
    }


def _moment_as_json(timeline: Timeline, t: float) -> dict[str, Any]:
    why, stop = timeline.why_at(t), timeline.stop_at(t)
    return {
        "t": t,
        **timeline.words_at(t),
        "said_at": None if why is None else why.t,
        "why": [
            {"name": s.name, "message": s.message, "level": s.level.name, "values": dict(s.values)}
            for s in (() if why is None else why.statuses)
        ],
        "stop": None if stop is None else _stop_as_json(stop),
    }

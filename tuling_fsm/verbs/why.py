"""`why`: why the car did what it did."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs.names import add_bag, add_names, names_of
from tuling_fsm.verbs.parser import Verbs, add_verb, finite

if TYPE_CHECKING:
    from tuling_fsm.bag.story import Change, Story
    from tuling_fsm.core.stops import Cause, Stop

_ROUTINE = ("RRF-1",)
"""Clauses of what happens every few seconds."""


def add_why(verbs: Verbs) -> None:
    """The timeline of a bag, or one moment of it."""
    parser = add_verb(verbs, "why", _why, "why the car did what it did: changes of state, and stops with their reasons")
    add_bag(parser)
    parser.add_argument(
        "--at", type=finite, metavar="T", help="all that was said at this moment (s, as in the timeline)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_names(parser)


def _why(arguments: argparse.Namespace) -> int:
    from tuling_fsm.bag.story import read_story

    story = read_story(arguments.bag, arguments.salvage, names_of(arguments))
    if arguments.at is None:
        if arguments.json:
            print(json.dumps(_story_as_json(story)))
        else:
            print(*_timeline(story), sep="\n")
        return 0
    if not story.begin <= arguments.at <= story.end:
        span = f"{story.begin:.3f} to {story.end:.3f} s"
        raise InputError("--at", f"{arguments.at:g} s is not in {arguments.bag}", span)
    if arguments.json:
        print(json.dumps(_moment_as_json(story, arguments.at)))
    else:
        print(*_moment(story, arguments.at), sep="\n")
    return 0


def _timeline(story: Story) -> Iterator[str]:
    """One line for each change and each stop, by time."""
    yield f"{story.begin:10.2f} s  begins in {story.words_at(story.begin).get('state', 'an unknown state')}"
    told = (change for change in story.changes if change.clause not in _ROUTINE)
    lines = [(change.t, 0, _change_line(change)) for change in told]
    for stop in story.stops:
        lines.append((stop.t_from, 1, _stop_line(stop)))
        lines += [(stop.t_from, 2, f"{cause.t_from:10.2f} s      {_cause(cause)}") for cause in _others(stop)]
    yield from (line for _, _, line in sorted(lines, key=lambda each: each[:2]))
    longest = story.longest_unexplained_s
    yield f"{story.end:10.2f} s  ends; {len(story.stops)} stops, longest time standing without a reason {longest:.2f} s"


def _change_line(change: Change) -> str:
    line = f"{change.t:10.2f} s  {change.source} -> {change.dest}"
    if change.clause:
        line += f"  ({change.clause}: {change.guard}" + (f" for {change.dwell_s:g} s)" if change.dwell_s else ")")
    return line + "".join(f"; not to {row}" for row in change.rejected)


def _stop_line(stop: Stop) -> str:
    length = stop.t_to - stop.t_from
    return f"{stop.t_from:10.2f} s  stands for {length:.2f} s, until {stop.t_to:.2f} s: {_cause(stop.primary)}"


def _others(stop: Stop) -> tuple[Cause, ...]:
    """The causes one after the other, where there is more than one."""
    return stop.causes if len(stop.causes) > 1 else ()


def _cause(cause: Cause) -> str:
    return cause.words or "no reason was given"


def _moment(story: Story, t: float) -> Iterator[str]:
    """What was known at a stamp, with all that the latest `why` says."""
    for topic, word in story.words_at(t).items():
        yield f"{topic}: {word}"
    last = max((change for change in story.changes if change.t <= t and not change.supervisor), default=None)
    if last is not None:
        yield f"came here:{_change_line(last)}"
    stop = story.stop_at(t)
    if stop is not None:
        yield f"stands:   {_stop_line(stop)}"
    why = story.why_at(t)
    if why is None:
        yield "nothing was said of why up to then"
        return
    yield f"said at {why.t:.2f} s:"
    for status in why.statuses:
        yield f"  {status.name}: {status.message}"
        yield from (f"    {key}: {value}" for key, value in status.values if value)


def _story_as_json(story: Story) -> dict[str, Any]:
    return {
        "from": story.begin,
        "to": story.end,
        "changes": [_change_as_json(change) for change in story.changes],
        "stops": [_stop_as_json(stop) for stop in story.stops],
        "longest_unexplained_stop_s": story.longest_unexplained_s,
    }


def _change_as_json(change: Change) -> dict[str, Any]:
    names = {"source": "from", "dest": "to"}
    return {names.get(key, key): value for key, value in change._asdict().items()}


def _stop_as_json(stop: Stop) -> dict[str, Any]:
    primary = stop.primary
    return {
        "from": stop.t_from,
        "to": stop.t_to,
        "code": primary.code,
        "words": primary.words,
        "unexplained_s": stop.unexplained_s,
        "causes": [{"from": c.t_from, "to": c.t_to, "code": c.code, "words": c.words} for c in stop.causes],
    }


def _moment_as_json(story: Story, t: float) -> dict[str, Any]:
    why, stop = story.why_at(t), story.stop_at(t)
    return {
        "t": t,
        **story.words_at(t),
        "said_at": None if why is None else why.t,
        "why": [
            {"name": s.name, "message": s.message, "level": s.level.name, "values": dict(s.values)}
            for s in (() if why is None else why.statuses)
        ],
        "stop": None if stop is None else _stop_as_json(stop),
    }

"""A bag as a run of the state machine: its transitions, the dwell timers that ran, and what limited the car."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import StateChange, Timeline, read_timeline
from tuling_fsm.behaviour.tables import table
from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import in_letters
from tuling_fsm.machine.elements import SEPARATOR
from tuling_fsm.viewer.reasons import dwells, thinned

_PERIOD_S = 0.2
"""At which dwell timers are kept: a run of hours still fits into a page of 1 MB."""
_AHEAD = re.compile(r" in [\d.]+ m$")
"""The distance at the end of the words of a limit, which is another one a tick later."""


class TransitionEntry(TypedDict):
    """A transition at `t` (s from the beginning); `machine` is the name of its table, states are paths in it."""

    t: float
    machine: str
    source: str
    dest: str
    guard: str
    clause: str
    dwellS: float
    rejected: list[str]


class DwellEntry(TypedDict):
    """How far a dwell timer had come at `t` (s)."""

    t: float
    machine: str
    dest: str
    guard: str
    heldS: float
    dwellS: float


class LimitEntry(TypedDict):
    """What limits the car from `t` (s) on."""

    t: float
    code: str
    words: str


class RunDocument(TypedDict):
    """All of it; `initial` are the states in which the run begins, by machine."""

    title: str
    begin: float
    end: float
    initial: dict[str, str]
    transitions: list[TransitionEntry]
    dwells: list[DwellEntry]
    dwellPeriodS: float
    limits: list[LimitEntry]


def run_data(bag: BagSource) -> RunDocument:
    """Read a bag.

    Raises:
        InputError: no bag, a damaged one, one in which the planner says nothing, or whose states are no states of
            these tables.
    """
    timeline = read_timeline(bag)
    origin, path = timeline.origin, bag.path
    transitions = [_transition(change, origin) for change in timeline.changes]
    initial = _initial(timeline, transitions)
    _check_states(path, initial, transitions)
    return {
        "title": in_letters((path if path.is_dir() else path.parent).resolve().name),
        "begin": timeline.begin - origin,
        "end": timeline.end - origin,
        "initial": initial,
        "transitions": transitions,
        "dwells": list(_dwells(timeline, origin)),
        "dwellPeriodS": _PERIOD_S,
        "limits": list(_limits(timeline, origin)),
    }


def _transition(change: StateChange, origin: float) -> TransitionEntry:
    machine, source, dest = table().name, change.source, change.dest
    if change.supervisor:
        machine, _, source = source.partition(SEPARATOR)
        dest = dest.removeprefix(machine + SEPARATOR)
    return {
        "t": change.t - origin,
        "machine": machine,
        "source": source,
        "dest": dest,
        "guard": change.guard,
        "clause": change.clause,
        "dwellS": change.dwell_s,
        "rejected": list(change.rejected),
    }


def _initial(timeline: Timeline, transitions: list[TransitionEntry]) -> dict[str, str]:
    """The source of a machine's first transition; without one the state that is told, and that of the table."""
    hierarchy = table()
    initial = {each.name: each.resolve(each.initial) for each in (hierarchy, *hierarchy.beside)}
    told = next((word for _, topic, word in timeline.words if topic == "state"), "")
    if told in hierarchy.leaves:
        initial[hierarchy.name] = told
    first = next(iter(timeline.whys), None)
    supervisors = (status for status in first.statuses if status.name == "supervisors") if first else ()
    initial.update((name, path) for status in supervisors for name, path in status.values if name in initial)
    initial.update((each["machine"], each["source"]) for each in reversed(transitions))
    return initial


def _check_states(bag: Path, initial: dict[str, str], transitions: list[TransitionEntry]) -> None:
    hierarchy = table()
    known = {(each.name, path) for each in (hierarchy, *hierarchy.beside) for path in each.leaves}
    said = [*initial.items(), *((each["machine"], each["dest"]) for each in transitions)]
    for machine, path in said:
        if (machine, path) not in known:
            raise InputError(str(bag), f"unknown state {path!r} of {machine!r}", "a run of these tables")


def _dwells(timeline: Timeline, origin: float) -> Iterator[DwellEntry]:
    for t, why in thinned(timeline.whys, origin, _PERIOD_S):
        for each in dwells(why):
            yield {
                "t": t,
                "machine": table().name,
                "dest": each.dest,
                "guard": each.guard,
                "heldS": each.held_s,
                "dwellS": each.dwell_s,
            }


def _limits(timeline: Timeline, origin: float) -> Iterator[LimitEntry]:
    before = None
    for why in timeline.whys:
        if why.code != before:
            before = why.code
            yield {"t": why.t - origin, "code": why.code, "words": _AHEAD.sub("", why.words)}

"""Replaying a bag: its inputs go to a fresh planner by their own stamps, and the transitions are compared (DWELL-3)."""

from __future__ import annotations

import binascii
import difflib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tuling_fsm.bag.read_warnings import Report
from tuling_fsm.bag.saved_state import dump_state, go_on, parse_state
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import AGENT, RecordedTick, read_recorded, read_ticks
from tuling_fsm.bag.writer import FILE_NAME, BagWriter
from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import content_sha256, from_letters, in_letters, is_file
from tuling_fsm.progress import StampProgress
from tuling_fsm.version import __version__
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Outputs, trajectory_messages, transition_messages
from tuling_fsm.wire.text import pack_json
from tuling_fsm.wire.transition import unpack_transition
from tuling_fsm.world.inputs import Inputs

STATE = "state"
"""Key of a bag's `run` for the state that the planner went on from."""

MAP_SHA256 = "map_sha256"
"""Key for the hash of the map's content, which tells whether its file has been changed since."""


class Stepper(Protocol):
    """The planner: `tuling_fsm.agent.Agent`."""

    def step(self, inputs: Inputs) -> Any:
        """One tick; returns a `Tick`."""


def replay(
    bag: BagSource,
    *,
    against: BagSource | None = None,
    map_file: str | Path | None = None,
    out: str | Path | None = None,
    progress: Report | None = None,
) -> list[str]:
    """Feed a bag to the product's planner, and compare its transitions with recorded ones.

    Args:
        bag: the drive whose inputs are fed.
        against: the bag whose transitions count; `bag` itself if not given.
        map_file: OpenDRIVE map instead of the one that the bag names.
        out: folder for a bag of the same inputs with the present answers beside them; None writes nothing.
        progress: told in a line how far it is, once a recorded second at the most.

    Returns:
        One line for each difference, `-` recorded only, `+` replayed only; none when there is nothing to compare with.

    Raises:
        InputError: a bag or the map cannot be used.
    """
    _keep_what_is_read(out, bag, against)
    recorded, report = read_recorded(bag), bag.report
    wanted = recorded if against is None else read_recorded(against)
    chosen = map_of(recorded.run, str(bag), map_file, report)
    agent = agent_of(recorded.run, str(bag), chosen)
    recorded_ticks = _told(read_ticks(bag), StampProgress(progress, recorded.duration_s))
    ticks = _with_changes(agent, recorded_ticks, report)
    if out is not None:
        run = {**recorded.run, **map_record(chosen), "planner": AGENT, "version": __version__}
        ticks = _written(Path(out), run, Outputs(agent.road_map.left_hand), ticks)
    replayed = [event for tick in ticks for event in tick.transitions]
    if against is None and not recorded.comparable:
        if report is not None:
            report(f"{bag}: no transitions in it to compare with: {len(replayed)} were made")
        return []
    return differences(wanted.transitions, replayed)


def _keep_what_is_read(out: str | Path | None, *bags: BagSource | None) -> None:
    """Raise `InputError` where a bag that is read would be written over."""
    written = () if out is None else (Path(out).resolve(), (Path(out) / FILE_NAME).resolve())
    if any(bag is not None and bag.path.resolve() in written for bag in bags):
        raise InputError(str(out), "is a bag that is read", "another folder")


def agent_of(run: Mapping[str, Any], where: str, map_file: str | Path | None = None) -> Any:
    """The planner with the map, the parameters and the restored state of a recorded run.

    Raises:
        InputError: no map is named, or it cannot be read; a parameter that there is no more; a state of another
            version.
    """
    from tuling_fsm.agent import Agent
    from tuling_fsm.map.opendrive import read_map

    agent = Agent(read_map(map_of(run, where, map_file)), parameters_of(run, where))
    if STATE in run:
        go_on(agent, _restored(run, where), f"{where}: run")
    return agent


def map_record(map_file: str | Path, sha256: str = "") -> dict[str, str]:
    """What a bag's `run` has to tell of the map's file; `sha256` of what was read of it, empty for what is in it."""
    return {"map": in_letters(Path(map_file).resolve()), MAP_SHA256: sha256 or content_sha256(map_file)}


def recorded_map(run: Mapping[str, Any]) -> str:
    """The path of the map that a recorded run names, empty where it names none."""
    told = str(run.get("map") or "")
    return told if is_file(told) else from_letters(told)


def map_of(run: Mapping[str, Any], where: str, map_file: str | Path | None = None, report: Report | None = None) -> str:
    """The map's file: `map_file`, or that of a recorded run.

    Args:
        run: the bag's `run`.
        where: the bag, for errors.
        map_file: instead of the file that the bag names.
        report: told if the file is not what it was when the run was recorded.

    Raises:
        InputError: no map is named, or there is no such file.
    """
    chosen = str(map_file or recorded_map(run))
    if not chosen:
        raise InputError(where, "does not name its map", "--map")
    if not is_file(chosen):
        raise InputError(chosen, "no such file", "the map of the recorded run, or --map")
    if report is not None and run.get(MAP_SHA256, found := content_sha256(chosen)) != found:
        report(f"{chosen}: another content than the map of {where} had when it was recorded")
    return chosen


def parameters_of(run: Mapping[str, Any], where: str) -> Any:
    """The planner's parameters of a recorded run; the default ones where it has none.

    Raises:
        InputError: a parameter that there is no more.
    """
    return _parameters(run.get("parameters", {}), where)


def state_of(record: Any, map_file: str | Path) -> dict[str, str]:
    """What a bag's `run` has to tell of a state that the planner went on from (EST-2)."""
    return {STATE: b64encode(dump_state(record, Path(map_file).name)).decode()}


def _restored(run: Mapping[str, Any], where: str) -> Any:
    try:
        content = b64decode(run[STATE], validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise InputError(f"{where}: run", f"no saved state: {error}", "what the node has recorded") from None
    return parse_state(content, f"{where}: run")


def _with_changes(agent: Any, ticks: Iterable[RecordedTick], report: Report | None) -> Iterator[ReplayedTick]:
    """As `replayed_ticks`; before a tick on which parameters were new, the planner is given them (USE-12)."""
    unwritten = None
    for inputs, new in ticks:
        if new is not None:
            agent.reconfigure(_parameters(new, f"parameters at {inputs.stamp:.3f} s"))
            unwritten = new
        for replayed in replayed_ticks(agent, (inputs,), report):
            yield replayed._replace(parameters=unwritten)
            unwritten = None


def _told(ticks: Iterable[RecordedTick], progress: StampProgress) -> Iterator[RecordedTick]:
    """The ticks; before each it is told how far they are."""
    for each in ticks:
        progress.tell(each.inputs.stamp)
        yield each


def _parameters(values: Any, where: str) -> Any:
    """Recorded dotted names and values as the planner takes them.

    Raises:
        InputError: a parameter that there is no more, or what is no table of them at all.
    """
    from tuling_fsm.agent import Parameters
    from tuling_fsm.core.parameters import load, nest

    try:
        return load(Parameters, nest(values))
    except (AttributeError, TypeError) as error:
        raise InputError(f"{where}: parameters", f"{error}", "dotted names and their values") from None


class ReplayedTick(NamedTuple):
    """A tick once more: what went in, and what came of it; `parameters` are new ones since the tick before."""

    inputs: Inputs
    tick: Any
    parameters: dict[str, Any] | None = None

    @property
    def transitions(self) -> list[dict[str, Any]]:
        """What is said on that topic."""
        return [unpack_transition(message, topic) for topic, message in transition_messages(self.tick)]


def replayed_ticks(agent: Stepper, inputs: Iterable[Inputs], report: Report | None = None) -> Iterator[ReplayedTick]:
    """What the planner says to each tick's inputs.

    A tick on which it fails has no answer and is reported, as the node goes on too; without `report` it raises.
    """
    for each in inputs:
        try:
            tick = agent.step(each)
        except Exception as error:
            if report is None:
                raise
            report(f"at {each.stamp:.3f} s the planner failed: {type(error).__name__}: {error}")
            continue
        yield ReplayedTick(each, tick)


def transitions(agent: Stepper, inputs: Iterable[Inputs]) -> Iterator[dict[str, Any]]:
    """What the planner says on the topic `transition` while it is given these inputs."""
    for tick in replayed_ticks(agent, inputs):
        yield from tick.transitions


def _written(out: Path, run: dict[str, Any], outputs: Outputs, ticks: Iterable[ReplayedTick]) -> Iterator[ReplayedTick]:
    """The same, written down on the way."""
    with BagWriter(out, run) as writer:
        for replayed in ticks:
            tick, ns = replayed.tick, nanoseconds(replayed.inputs.stamp)
            if replayed.parameters is not None:
                writer.write(ns, "parameters", pack_json(replayed.parameters))
            writer.write_tick(replayed.inputs, [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)])
            yield replayed


def differences(recorded: Iterable[Mapping[str, Any]], replayed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines of a diff of two sequences of transitions, by stamp, states and clause."""
    before, after = [_line(event) for event in recorded], [_line(event) for event in replayed]
    lines: list[str] = []
    for same, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if same != "equal":
            lines += [f"- {line}" for line in before[i1:i2]] + [f"+ {line}" for line in after[j1:j2]]
    return lines


def _line(event: Mapping[str, Any]) -> str:
    return f"{event['stamp']:.3f} s  {event['from']} -> {event['to']}  ({event['clause']})"

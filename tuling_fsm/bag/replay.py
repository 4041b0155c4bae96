"""Replaying a bag: its inputs go to a fresh planner by their own stamps, and the transitions are compared (DWELL-3)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from tuling_fsm.bag.ticks import Report, read_inputs, read_run, read_transitions
from tuling_fsm.core.errors import InputError
from tuling_fsm.wire.outputs import Outputs
from tuling_fsm.wire.text import unpack_json
from tuling_fsm.world.inputs import Inputs


class Steps(Protocol):
    """The planner: `tuling_fsm.agent.Agent`."""

    def step(self, inputs: Inputs) -> Any:
        """One tick; returns a `Tick`."""


def replay(
    bag: str | Path,
    *,
    against: str | Path | None = None,
    map_file: str | Path | None = None,
    salvage: bool = False,
    report: Report | None = None,
) -> list[str]:
    """Feed a bag to the product's planner, and compare its transitions with recorded ones.

    Args:
        bag: a rosbag2 folder or file.
        against: the bag whose transitions count; `bag` itself if not given.
        map_file: OpenDRIVE map instead of the one that the bag names.
        salvage: use what is left of a damaged bag.
        report: told of each message that cannot be used; without it they raise.

    Returns:
        One line for each difference, `-` recorded only, `+` replayed only; none when all are equal.

    Raises:
        InputError: a bag or the map cannot be used.
    """
    agent = agent_of(read_run(bag, salvage), str(bag), map_file)
    recorded = read_transitions(against or bag, salvage)
    return differences(recorded, transitions(agent, read_inputs(bag, salvage, report)))


def agent_of(run: Mapping[str, Any], where: str, map_file: str | Path | None = None) -> Steps:
    """The planner with the map and the parameters of a recorded run.

    Raises:
        InputError: no map is named, or it cannot be read; a parameter that there is no more.
    """
    from tuling_fsm.agent import Agent, Parameters
    from tuling_fsm.core.parameters import load, nest
    from tuling_fsm.map.opendrive import read_map

    chosen = map_file or run.get("map")
    if not chosen:
        raise InputError(where, "does not name its map", "--map")
    if not Path(chosen).is_file():
        raise InputError(str(chosen), "no such file", "the map of the recorded run, or --map")
    return Agent(read_map(chosen), load(Parameters, nest(run.get("parameters", {}))))


def transitions(agent: Steps, inputs: Iterable[Inputs]) -> Iterator[dict[str, Any]]:
    """What the planner says on the topic `transition` while it is given these inputs."""
    outputs = Outputs()
    for each in inputs:
        tick = agent.step(each)
        for topic, message in outputs.messages(tick, round(each.stamp * 1e9), with_markers=False):
            if topic == "transition":
                yield unpack_json(message, topic)


def differences(recorded: Iterable[Mapping[str, Any]], replayed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines of a diff of two sequences of transitions, by stamp, states and clause."""
    lines = difflib.ndiff([_line(event) for event in recorded], [_line(event) for event in replayed])
    return [line for line in lines if line[0] in "+-"]


def _line(event: Mapping[str, Any]) -> str:
    stamp = event.get("stamp", float("nan"))
    return f"{stamp:.3f} s  {event.get('from')} -> {event.get('to')}  ({event.get('clause')})"

"""What each tick of a recorded run saw, and which transitions were recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from tuling_fsm.bag.reader import Message, read_messages
from tuling_fsm.core.errors import InputError
from tuling_fsm.wire.cdr import seconds, stamp_ns
from tuling_fsm.wire.inputs import OPERATOR, unpack_input
from tuling_fsm.wire.text import unpack_json
from tuling_fsm.wire.topics import BY_NAME, INPUTS
from tuling_fsm.world.inputs import Inputs

Report = Callable[[str], None]
_TICK_TOPICS = ("odometry", "trajectory")
_ONCE: dict[str, Any] = {"route_answers": (), **dict.fromkeys(OPERATOR, False)}
"""What is given on one tick only."""
_INPUTS = frozenset(topic.name for topic in INPUTS) | {"route_answer", "operator"}


def read_inputs(path: str | Path, salvage: bool = False, report: Report | None = None) -> Iterator[Inputs]:
    """The inputs of every tick, by the stamps of the bag.

    A tick is an odometry message; a `trajectory` with a later stamp than the last one answers a tick of the timer. In a
    bag that another program recorded a message counts for the first tick after its log time.

    Args:
        path: a bag folder, or one `.mcap` or `.db3` file.
        salvage: read a damaged MCAP file up to the damage.
        report: told of each message that cannot be used and is left out, as the node does; without it they raise.

    Raises:
        InputError: no bag, a damaged one, no tick in it.
    """
    return ticks(read_messages(path, salvage), str(path), report)


def ticks(messages: Iterable[Message], where: str, report: Report | None = None) -> Iterator[Inputs]:
    """As `read_inputs`, from messages by log time."""
    latest = Inputs(0.0)
    waiting: list[Message] = []
    last_ns = -1
    for _, group in groupby(messages, key=lambda message: message.ns):
        together = list(group)
        waiting += [message for message in together if message.topic in _INPUTS]
        ns = _tick_ns(together, last_ns)
        if ns is None:
            continue
        for message in waiting:
            latest = _received(latest, message, seconds(ns), where, report)
        yield replace(latest, stamp=seconds(ns))
        latest = replace(latest, **_ONCE)
        waiting, last_ns = [], ns
    if last_ns < 0:
        raise InputError(where, "no tick in it: neither odometry nor trajectory", "a recorded run")


def _tick_ns(together: list[Message], last_ns: int) -> int | None:
    """The stamp of the tick that messages of one log time belong to, if one does."""
    stamps = {message.topic: stamp_ns(message.data) for message in together if message.topic in _TICK_TOPICS}
    if "odometry" in stamps:
        return stamps["odometry"]
    return stamps["trajectory"] if stamps.get("trajectory", -1) > last_ns else None


def _received(latest: Inputs, message: Message, stamp: float, where: str, report: Report | None) -> Inputs:
    try:
        if message.type != BY_NAME[message.topic].type:
            raise InputError(message.topic, f"is a {message.type}", f"a {BY_NAME[message.topic].type}")
        value = unpack_input(message.topic, message.data, stamp)
    except InputError as error:
        line = InputError(f"{where} at {seconds(message.ns):.3f} s", str(error))
        if report is None:
            raise line from None
        report(str(line))
        return latest
    if message.topic in ("route", "route_answer"):
        return replace(latest, route_answers=(*latest.route_answers, value))
    if message.topic == "operator":
        calls: dict[str, Any] = dict.fromkeys(value, True)
        return replace(latest, **calls)
    return replace(latest, **{message.topic: value})


def read_transitions(path: str | Path, salvage: bool = False) -> list[dict[str, Any]]:
    """The recorded `transition` messages, in order.

    Raises:
        InputError: no bag, or a damaged one.
    """
    where = f"{path}: transition"
    return [unpack_json(m.data, where) for m in read_messages(path, salvage) if m.topic == "transition"]


def read_run(path: str | Path, salvage: bool = False) -> dict[str, Any]:
    """What was recorded of the run itself (`BagWriter`'s `run`); empty where nothing was.

    Raises:
        InputError: no bag, or a damaged one.
    """
    for message in read_messages(path, salvage):
        if message.topic == "run":
            return unpack_json(message.data, f"{path}: run")
    return {}

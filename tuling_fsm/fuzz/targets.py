"""What is fuzzed: a row for each reader of what users and sensors send, with what it is given and what has to hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz import files, messages, ticks
from tuling_fsm.fuzz.bags import mutate_bag
from tuling_fsm.fuzz.mutation import Mutation, mutate_json, mutate_text, mutate_xml, mutate_yaml
from tuling_fsm.share import share_file

CORPUS = Path(__file__).parent / "corpus"
"""Small files of each kind that come with the package."""


class Seed(NamedTuple):
    """What a file holds, and the folder that it lies in: others beside it may be named by it."""

    content: bytes
    folder: Path | None = None


@dataclass(frozen=True)
class FuzzTarget:
    """A reader.

    Args:
        suffix: of the files that it is given.
        read: gives it one; returns an `int` where it counts its work.
        mutate: makes mutants of its files.
        seeds: the files that it begins with where the caller has none.
        modules: packages that tell a coverage-guided search where a file has led.
        limit_s: processor time for one file, s.
    """

    suffix: str
    read: Callable[[Path], object]
    mutate: Mutation
    seeds: Callable[[], list[Seed]]
    modules: tuple[str, ...]
    limit_s: float = 10.0


def _of_package(*names: str) -> Callable[[], list[Seed]]:
    return lambda: [Seed((CORPUS / name).read_bytes()) for name in names]


def _of_share(folder: tuple[str, ...], pattern: str) -> Callable[[], list[Seed]]:
    return lambda: [Seed(each.read_bytes(), each.parent) for each in sorted(share_file(*folder).glob(pattern))]


def _made(make: Callable[[], list[bytes]]) -> Callable[[], list[Seed]]:
    return lambda: [Seed(content) for content in make()]


TARGETS: Mapping[str, FuzzTarget] = {
    "map": FuzzTarget(
        ".xodr", files.read_map_file, mutate_xml, _of_package("fork.xodr"),
        ("tuling_fsm.map",), 20.0,
    ),
    "dsl": FuzzTarget(
        ".osc", files.read_scenario_file, mutate_text, _of_share(("config", "scenarios"), "*.osc"),
        ("tuling_fsm.sim.scenario",),
    ),
    "xml": FuzzTarget(
        ".xosc", files.read_scenario_file, mutate_xml, _of_package("cut_in.xosc"),
        ("tuling_fsm.sim.scenario.xml",),
    ),
    "tpcap": FuzzTarget(
        ".csv", files.read_tpcap_file, mutate_text, _of_package("bay.csv"),
        ("tuling_fsm.planning.free_space",), 20.0,
    ),
    "mission": FuzzTarget(
        ".json", files.read_mission_file, mutate_json, _of_share(("config", "scenarios"), "*.json"),
        ("tuling_fsm.world.mission", "tuling_fsm.wire.text"),
    ),
    "bag": FuzzTarget(
        ".mcap", files.read_bag_file, mutate_bag, _made(files.bag_seeds),
        ("tuling_fsm.bag", "tuling_fsm.wire"), 20.0,
    ),
    "parameters": FuzzTarget(
        ".yaml", files.read_parameter_file, mutate_yaml,
        _of_share(("config",), "planner.yaml"), ("tuling_fsm.core.parameters", "tuling_fsm.ros.parameter_reader"),
    ),
    "commonroad": FuzzTarget(
        ".xml", files.read_commonroad_file, mutate_xml,
        _of_package("two_lanes.xml"), ("tuling_fsm.bag.commonroad", "tuling_fsm.map.opendrive"), 20.0,
    ),
    "route": FuzzTarget(
        ".json", files.read_route_file, mutate_json,
        _made(files.route_seeds), ("tuling_fsm.map",),
    ),
    "messages": FuzzTarget(
        ".cdr", messages.read_message_file, messages.mutate_message,
        _made(messages.message_seeds),
        ("tuling_fsm.wire",),
    ),
    "ticks": FuzzTarget(
        ".json", ticks.drive_file, ticks.mutate_drive, _made(ticks.drive_seeds),
        ("tuling_fsm.world", "tuling_fsm.behaviour", "tuling_fsm.planning"), 120.0,
    ),
}  # fmt: skip


def corpus_files(name: str, corpus: Path) -> list[Path]:
    """The files of a target's suffix below a folder, in small letters or capitals."""
    suffix = TARGETS[name].suffix
    return sorted(each for each in corpus.rglob("*") if each.suffix.lower() == suffix and each.is_file())


def seeds_of(name: str, corpus: Path | None) -> list[Seed]:
    """The files that a target begins with: those of its suffix below a folder, else its own.

    Raises:
        InputError: the folder cannot be read.
    """
    if corpus is None:
        return TARGETS[name].seeds()
    try:
        found = [Seed(file.read_bytes(), file.parent) for file in corpus_files(name, corpus)]
    except OSError as error:
        raise InputError(str(corpus), f"cannot be read: {error.strerror}", "a folder of files") from None
    return found or TARGETS[name].seeds()

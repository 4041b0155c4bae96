"""What a program calls: a map, a run, what was recorded of one. `tuling_fsm` itself names it all.

Units are SI, headings rad counterclockwise from x, poses those of the rear axle in the frame `map`.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from tuling_fsm.bag.replay import replay as replay_bag
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import Timeline, read_timeline
from tuling_fsm.bag.topic_names import OURS, TopicNames
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import Scalar
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.progress import Report
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import PLANNERS, RunSettings
from tuling_fsm.sim.sensors.perception_levels import CLEAN

LARGEST_SEED = 2**31 - 1
"""As that of the command line, which is not read here."""


@dataclass(frozen=True)
class RunResult:
    """What a run has come to."""

    finished: bool
    """Whether it reached its end: the goal, a slot, or what the scenario asks for."""
    end: str
    """How it ended, such as `goal`, `parked`, `time`."""
    sim_s: float
    """Simulated time, s."""
    distance_m: float
    """That the car has driven, m."""
    faults: tuple[str, ...]
    """The infractions that the car is to blame for, a line each."""
    score: Mapping[str, float | None]
    """The referee's figures, 0 to 1; `closed_loop` is nuPlan's, `driving` that of the CARLA Leaderboard. Of progress
    None where the script ended the run and stated no route.
    """
    trace_sha256: str
    """Of all states of all agents: the same map, scenario and seed give the same."""
    notes: tuple[str, ...]
    """What of the scenario has no effect, a line each."""
    content: Mapping[str, Any]
    """All of `result.json`."""

    @property
    def held(self) -> bool:
        """Whether the run finished without an infraction at fault."""
        return self.finished and not self.faults


def load_map(file: str | Path) -> RoadMap:
    """Read an OpenDRIVE map.

    Args:
        file: `.xodr`.

    Raises:
        InputError: no such file, or no usable map; where, what, and what would be right.
    """
    return read_map(Path(file))


def simulate(
    scenario: str | Path,
    *,
    map_file: str | Path | None = None,
    mission_file: str | Path | None = None,
    seed: SupportsIndex = 1,
    overrides: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    planner: str = "agent",
    perception: str = CLEAN,
    parameters: Mapping[str, Scalar] | None = None,
    progress: Report | None = None,
) -> RunResult:
    """Drive a scenario to its end in this process.

    The kernels are compiled before the first run, which takes some minutes once.

    Args:
        scenario: OpenSCENARIO text, DSL 2 or XML (`.xosc`).
        map_file: OpenDRIVE map instead of the scenario's own.
        mission_file: mission (JSON) instead of the scenario's own mission or route.
        seed: of everything random, 0 to 2**31 - 1.
        overrides: values of variables of the scenario, by name: a string as after `--set` (`"20m"`), a number, a truth
            value, or a list of these, in which a string is one of the scenario.
        out: folder for `run.mcap`, `result.json` and `report.html`; nothing is written if None.
        planner: what drives: `agent`, or `idm` or `pdm` to compare with.
        perception: level of what the sensors get wrong, such as `clean`.
        parameters: of the planner and its car, by dotted names such as `vehicle.wheelbase`; others have their defaults.
        progress: called with a line of text about once a simulated second.

    Raises:
        InputError: seed, folder, scenario, map, variable, planner, level or parameters cannot be used.
    """
    if out == "":
        raise InputError("out", "an empty name is no folder", "a folder, or None to write nothing")
    if planner not in PLANNERS:
        raise InputError("planner", f"{planner!r} is none", " or ".join(PLANNERS))
    settings = RunSettings(
        Path(scenario),
        _seed(seed),
        tuple((name, _override(value)) for name, value in (overrides or {}).items()),
        None if map_file is None else Path(map_file),
        None if mission_file is None else Path(mission_file),
        planner,
        perception,
        parameters=tuple((parameters or {}).items()),
    )
    result = run_scenario(settings, out=None if out is None else Path(out), progress=progress)
    faults = (item for item in result["infractions"] if item["at_fault"])
    return RunResult(
        finished=result["finished"],
        end=result["end"],
        sim_s=result["sim_s"],
        distance_m=result["distance_m"],
        faults=tuple(f"{item['t']:.2f} s: {item['kind']}, {item['detail']}" for item in faults),
        score=result["score"],
        trace_sha256=result["trace_sha256"],
        notes=tuple(result["notes"]),
        content=result,
    )


def _seed(seed: SupportsIndex) -> int:
    """A whole number of whatever type."""
    try:
        number = -1 if isinstance(seed, bool | np.bool_) else operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number <= LARGEST_SEED:
        raise InputError("seed", repr(seed), f"a whole number from 0 to {LARGEST_SEED}")
    return number


def _override(value: object) -> str:
    """A value as a scenario spells it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(json.dumps(each) if isinstance(each, str) else _override(each) for each in value)}]"
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)


def read_run(bag: str | Path, *, salvage: bool = False) -> Timeline:
    """Why the car did what it did, and how it moved, read off a bag.

    Args:
        bag: the folder of a run or of a rosbag2, or one `.mcap` or `.db3` file.
        salvage: read a damaged file up to the damage.

    Raises:
        InputError: no bag, a damaged one, or one in which the planner says nothing.
    """
    return read_timeline(BagSource(Path(bag), salvage))


def replay(
    bag: str | Path,
    *,
    against: str | Path | None = None,
    map_file: str | Path | None = None,
    out: str | Path | None = None,
    salvage: bool = False,
    names: TopicNames = OURS,
    report: Report | None = None,
    progress: Report | None = None,
) -> list[str]:
    """Feed a bag to the product's planner, and compare its transitions with recorded ones.

    Args:
        bag: the folder of a run or of a rosbag2, or one `.mcap` or `.db3` file.
        against: the bag whose transitions count; `bag` itself if not given.
        map_file: OpenDRIVE map instead of the one that the bag names.
        out: folder for a bag of the same inputs with the present answers beside them; None writes nothing.
        salvage: use what is left of a damaged bag.
        names: how the bag calls its topics and frames.
        report: told of what is odd; without it messages that cannot be used raise.
        progress: told in a line how far it is, once a recorded second at the most.

    Returns:
        One line for each difference, `-` recorded only, `+` replayed only; none when there is nothing to compare with.

    Raises:
        InputError: a bag or the map cannot be used.
    """
    first = BagSource(Path(bag), salvage, names, report)
    second = None if against is None else replace(first, path=Path(against), names=names.of_second)
    return replay_bag(first, against=second, map_file=map_file, out=out, progress=progress)

"""What the guards said in a whole run of a scenario, kept in a file: enough to run every machine through it again.

Beside the scenarios of the product there are short ones in `scenarios`, for rows that fire in none of the others.
cd test && python -m behaviour.proof.recording [SCENARIO ...] drives them anew and writes the files.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tuling_fsm.agent import Parameters
from tuling_fsm.behaviour.tables import table
from tuling_fsm.core.parameters import load, nest
from tuling_fsm.share import share_file

from .flagged import ENGINES, MACHINES, Holding
from .loop import Loop, Moment

FOLDER = Path(__file__).parent / "recordings"
OWN = Path(__file__).parent / "scenarios"
TOO_LONG = "full_match"
"""All that happens in it happens in the others."""
FILES = {
    path.stem: path
    for folder in (share_file("config", "scenarios", "roam.osc").parent, OWN)
    for path in folder.glob("*.osc")
    if path.stem != TOO_LONG
}
SCENARIOS = sorted(FILES)
MOST_S = 1300.0
"""No scenario takes longer."""
CHUNK_S = 1.0
"""So often it is looked whether the wanted rows have fired."""

Same = tuple[bool, "list[str] | None", "str | None"]
"""Of a tick: frozen or not, the guards that held (None where no row was tried), the row that fired."""
RowId = tuple[str, str]
"""Machine and key of a row."""


@dataclass(frozen=True)
class Setting:
    """What a scenario of `scenarios/settings.json` is driven with, and no text can say."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    """By their dotted names; the others are as they are."""
    mission: Mapping[str, Any] | None = None
    """One that is sent in place of the scenario's, at this time (s)."""
    mission_at_s: float = 0.0


SETTINGS = {
    name: Setting(**setting) for name, setting in json.loads((OWN / "settings.json").read_text("utf-8")).items()
}


def drive(scenario: str, wanted: Collection[RowId] = ()) -> dict[str, list[Moment]]:
    """Drive a scenario to its end, or until all wanted rows have fired. Returns the ticks of every machine."""
    setting = SETTINGS.get(scenario, Setting())
    loop = Loop(FILES[scenario], parameters=_parameters(setting))
    if setting.mission is not None:
        loop.run(setting.mission_at_s)
        loop.send_mission(setting.mission)
    left = set(wanted)
    for _ in range(round(MOST_S / CHUNK_S)):
        ticks = loop.run(CHUNK_S)
        left -= fired({name: moments[-len(ticks) :] for name, moments in loop.log.machines.items()})
        if not ticks or (wanted and not left):
            break
        loop.log.behaviour.clear()  # every World of a run of minutes would fill the memory
        loop.ticks.clear()
    return loop.log.machines


def _parameters(setting: Setting) -> Parameters:
    """All parameters; dwells are as they are, since they are built into the tables that a recording runs through."""
    parameters = load(Parameters, nest(setting.parameters))
    driven, usual = table(parameters.behaviour), table()
    for one, other in zip((driven, *driven.beside), (usual, *usual.beside), strict=True):
        assert one.rows == other.rows, setting
        assert [leaf.min_dwell_s for leaf in one.leaves.values()] == [
            leaf.min_dwell_s for leaf in other.leaves.values()
        ]
    return parameters


def _same(moment: Moment) -> Same:
    return moment.frozen, None if moment.holding is None else sorted(moment.holding), moment.fired


def write(scenario: str, machines: dict[str, list[Moment]]) -> None:
    """Write the file of a run: equal ticks in a row as one entry."""
    data = {}
    for name, moments in machines.items():
        runs = [[len(list(ticks)), *same] for same, ticks in itertools.groupby(moments, _same)]
        data[name] = {"stamps": [moments[0].stamp, moments[-1].stamp], "runs": runs}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(machine)}" for name, machine in data.items())
    (FOLDER / f"{scenario}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def read(scenario: str) -> dict[str, list[Moment]]:
    """The ticks of every machine in a recorded run, with the record that each began with.

    Raises:
        AssertionError: the tables have changed since: rows fire that did not, or no longer. Record anew.
    """
    data = json.loads((FOLDER / f"{scenario}.json").read_text(encoding="utf-8"))
    return {name: _run_through(name, list(_ticks(machine))) for name, machine in data.items()}


def fired(machines: Mapping[str, Sequence[Moment]]) -> set[RowId]:
    """The rows that fired in a run."""
    return {(name, moment.fired) for name, moments in machines.items() for moment in moments if moment.fired}


def fired_in(scenario: str) -> set[RowId]:
    """The rows that fired in a recorded run, as they are written there: `read` is what runs through it again."""
    data = json.loads((FOLDER / f"{scenario}.json").read_text(encoding="utf-8"))
    return {(name, key) for name, machine in data.items() for _, _, _, key in machine["runs"] if key is not None}


def _ticks(machine: dict[str, list[list[object]]]) -> Iterator[tuple[float, bool, Holding | None, str | None]]:
    runs = machine["runs"]
    total = sum(run[0] for run in runs)
    first, last = machine["stamps"]
    step = (last - first) / max(1, total - 1)
    said = itertools.chain.from_iterable(itertools.repeat(run[1:], run[0]) for run in runs)
    for at, (frozen, holding, fired) in enumerate(said):
        yield first + step * at, frozen, None if holding is None else frozenset(holding), fired


def _run_through(name: str, ticks: Sequence[tuple[float, bool, Holding | None, str | None]]) -> list[Moment]:
    engine, moments = ENGINES[name], []
    engine.record = MACHINES[name].start(None)
    for stamp, frozen, holding, fired in ticks:
        moments.append(Moment(engine.record, stamp, frozen, not moments, holding, fired))
        engine.freeze(stamp) if frozen else engine.advance(stamp)
        step = None if holding is None else engine.step(holding)
        said = None if step is None or step.fired is None else step.fired.key
        assert said == fired, f"{name} at {stamp}: {said} fires, recorded was {fired}"
    return moments


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for scenario in sys.argv[1:] or SCENARIOS:
        write(scenario, drive(scenario))
        print(scenario, flush=True)

"""What the guards said in a whole run of a scenario, kept in a file: enough to run every machine through it again.

cd test && python -m behaviour.proof.recording [SCENARIO ...] drives them anew and writes the files.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tuling_fsm.share import share_file

from .flagged import ENGINES, MACHINES, Holding
from .loop import Loop, Moment

FOLDER = Path(__file__).parent / "recordings"
TOO_LONG = "full_match"
"""All that happens in it happens in the others."""
SCENARIOS = sorted(
    path.stem for path in share_file("config", "scenarios", "roam.osc").parent.glob("*.osc") if path.stem != TOO_LONG
)
MOST_S = 1300.0
"""No scenario takes longer."""
CHUNK_S = 10.0

Same = tuple[bool, "list[str] | None", "str | None"]
"""Of a tick: frozen or not, the guards that held (None where no row was tried), the row that fired."""


def drive(scenario: str) -> dict[str, list[Moment]]:
    """Drive a scenario to its end. Returns the ticks of every machine."""
    loop = Loop(share_file("config", "scenarios", f"{scenario}.osc"))
    for _ in range(round(MOST_S / CHUNK_S)):
        if not loop.run(CHUNK_S):
            break
        loop.log.behaviour.clear()  # every World of a run of minutes would fill the memory
        loop.ticks.clear()
    return loop.log.machines


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

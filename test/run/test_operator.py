"""What the operator calls for in a run is recorded with it, on the tick that saw it, and replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.bag.replay import replay
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.wire.inputs import OPERATOR

CALLS = """
import osc.standard

scenario calls:
    map.set_map_file("{course}")
    ego: vehicle
    operator: remote_operator

    do parallel:
        ego.random_route(length: 30m)
        serial:
            wait elapsed(2s)
            operator.reset()
            wait elapsed(1s)
            operator.skip_task()
"""


@pytest.mark.slow
def test_calls_are_recorded_once_and_replayed(tmp_path: Path) -> None:
    scenario = tmp_path / "calls.osc"
    scenario.write_text(CALLS.format(course=share_file("config", "course", "course.xodr")), encoding="utf-8")
    result = run_scenario(RunSettings(scenario, seed=1), out=tmp_path, film=False)
    assert result["end"] == "goal"
    assert not {"report.html", "pictures.html"} & {file.name for file in tmp_path.iterdir()}
    inputs = list(read_inputs(BagSource(tmp_path / "run.mcap")))
    seen = [(each.stamp, name) for each in inputs for name in OPERATOR if getattr(each, name)]
    (reset_at, first), (skip_at, second) = seen
    assert (first, second) == ("reset", "skip_task")
    assert abs(reset_at - 2.0) < 0.2 and abs(skip_at - 3.0) < 0.3
    assert replay(BagSource(tmp_path / "run.mcap")) == []

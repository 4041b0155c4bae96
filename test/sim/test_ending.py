"""When a run is over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tuling_fsm.share import share_file
from tuling_fsm.sim.parameters import EndParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scoring.completion import MISSION_S, time_limit

END = EndParameters()


@pytest.mark.clause("MAT-1")
def test_a_match_is_over_soon_after_its_time() -> None:
    scenario = load_scenario(share_file("config", "scenarios", "pickup.osc"), {})
    assert time_limit(scenario, None, END, 200.0) == 200.0 + END.after_match
    assert time_limit(scenario, None, END) == scenario.max_duration_s
    unbound = replace(scenario, max_duration_s=None)
    assert time_limit(unbound, None, END, 200.0) == 200.0 + END.after_match
    assert time_limit(unbound, None, END) == MISSION_S

"""Every run explains itself: a car that stands for longer than a second has always one reason, and the bag tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.bag.story import NO_REASON, read_story
from tuling_fsm.run import run_scenario
from tuling_fsm.share import share_file


@pytest.mark.slow
@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("name", ["emergency_stop", "junction_lights", "explore"])
def test_no_stop_is_without_exactly_one_reason(name: str, tmp_path: Path) -> None:
    result = run_scenario(share_file("config", "scenarios", f"{name}.osc"), seed=1, out=tmp_path)
    assert result["longest_unexplained_stop_s"] < 1.0
    story = read_story(tmp_path)
    assert story.stops
    for why in story.whys:
        assert [status.name for status in why.statuses].count("limit") == 1
    for stop in story.stops:
        assert stop.primary.code not in NO_REASON
        assert stop.unexplained_s < 1.0
    assert [change.dest for change in story.changes if not change.supervisor] == [
        transition["to"] for transition in result["transitions"]
    ]

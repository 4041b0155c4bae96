"""What others import: the page about it runs, and every name of it is there."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tuling_fsm.planning as planning
from tuling_fsm.cli import main
from tuling_fsm.core.geometry import Pose
from tuling_fsm.planning import shortest_reeds_shepp, speed_profile
from tuling_fsm.planning.free_space.collision import advance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "planning.md"
POSES = st.builds(Pose, st.floats(-15.0, 15.0), st.floats(-15.0, 15.0), st.floats(-3.1, 3.1))


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 5
    assert said[0].startswith("True") and said[0].endswith("True")


def test_the_case_of_the_page_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (case,) = re.findall(r"<!-- case -->\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "case.csv"
    file.write_text(case)
    assert main(["plan", str(file)]) == 0
    assert " m with 1 gear change; " in capsys.readouterr().out


def test_every_public_name_is_there_and_explained() -> None:
    assert planning.__all__ == sorted(planning.__all__)
    for name in planning.__all__:
        assert getattr(planning, name).__doc__, name


@given(POSES, POSES, st.floats(2.0, 8.0))
def test_the_pieces_of_the_shortest_curve_lead_there(start: Pose, goal: Pose, radius: float) -> None:
    pieces = shortest_reeds_shepp(start, goal, radius)
    x, y, heading = start
    for length, curvature in pieces:
        x, y, heading = advance(x, y, heading, curvature, length)
        assert abs(curvature) in (0.0, pytest.approx(1.0 / radius))
    assert math.hypot(x - goal.x, y - goal.y) < 1e-6
    assert math.cos(heading - goal.heading) > 1.0 - 1e-9
    assert sum(abs(length) for length, _ in pieces) >= math.hypot(goal.x - start.x, goal.y - start.y) - 1e-6


@pytest.mark.parametrize(("v", "stop_at"), [(0.0, None), (6.0, None), (6.0, 25.0), (3.0, 10.0)])
def test_a_profile_keeps_its_limits_and_ends_where_it_should(v: float, stop_at: float | None) -> None:
    s = np.arange(0.0, 40.2, 0.4)
    bend = np.column_stack((20.0 * np.sin(s / 20.0), 20.0 - 20.0 * np.cos(s / 20.0)))
    limit = np.where(s > 20.0, 3.0, 8.0)
    got = speed_profile(bend, v, limit=limit, stop_at=stop_at, duration=30.0)
    way = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(got.x), np.diff(got.y)))))
    assert got.v[0] == v and got.v[-1] == 0.0
    end = s[-1] if stop_at is None else stop_at
    assert end - 0.3 < way[-1] <= end
    assert np.all(got.v[way > 20.5] <= 3.0 + 0.05)
    assert np.all(np.abs(got.v**2 * got.curvature) < 2.5)
    assert np.allclose(np.hypot(got.x, got.y - 20.0), 20.0, atol=0.02)


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="two distinct points"):
        speed_profile([(1.0, 1.0), (1.0, 1.0)])
    with pytest.raises(ValueError, match="twice in a row"):
        speed_profile([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (2.0, 0.0)])
    with pytest.raises(ValueError):
        speed_profile([(0.0, 0.0), (1.0, 0.0)], limit=np.ones(3))

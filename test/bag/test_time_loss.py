"""Where the time of a recorded drive went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from crossroads import crossroads

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.time_loss import read_time_losses
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.time_loss import ALL, TimeLoss, TimeLossKey, summed
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.verbs.time_loss import table_as_json, table_lines
from tuling_fsm.wire.diagnostics import DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.text import pack_string
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import Odometry

TICK_NS = 50_000_000
BAY, LANE = "on_road/regression", "on_road/normal"
LIMIT = 5.0
"""The top speed that the bags name, which is below the limit of the map."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    crossroads(folder, "town")
    return folder / "town.xodr"


def record(
    folder: Path, map_file: Path | None, standing_s: float, topic: str = "odometry", lost: range = range(0)
) -> Path:
    """A car that stands, its wheels turning, and then drives 10 s along a lane at half of its top speed; it tells at
    every tick what limits it, without odometry on those that are `lost`.
    """
    run = {} if map_file is None else {"map": str(map_file), "parameters": {"vehicle.max_speed": LIMIT}}
    changes = {0: (BAY, "STEERING"), round(standing_s / 0.05): (LANE, "LEADER")}
    with BagWriter(folder, run) as bag:
        for k in range(round((standing_s + 10.0) / 0.05) + 1):
            ns, t = k * TICK_NS, 0.05 * k
            v = 0.0 if t < standing_s - 1e-9 else 0.5 * LIMIT
            pose = Pose(-60.0 + v * (t - standing_s), -1.75, 0.0)
            row = Trajectory.standing(t, pose)
            plan = Trajectory(t, row.t, row.x, row.y, row.heading, row.curvature, row.v + v, row.a)
            messages = {
                "odometry": pack_odometry(ns, Odometry(t, pose, v, 0.0)),
                "trajectory": pack_trajectory(ns, plan),
            }
            if k not in lost:
                bag.write(ns, topic, messages[topic])
            if k in changes:
                state, code = changes[k]
                bag.write(ns, "state", pack_string(state))
            said = "NO_ODOMETRY" if k in lost else code
            bag.write(ns, "why", pack_diagnostics(ns, (DiagnosticStatus("limit", said, (("code", said),)),)))
    return folder


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("topic", ["odometry", "trajectory"])
def test_a_bag_tells_what_each_state_and_reason_cost(topic: str, town: Path, tmp_path: Path) -> None:
    losses = read_time_losses(BagSource(record(tmp_path, town, 4.0, topic)))
    assert summed(losses, TimeLossKey(BAY, "STEERING")).lost_s == pytest.approx(4.0)
    assert summed(losses, TimeLossKey(LANE, "LEADER")).lost_s == pytest.approx(5.0)
    assert summed(losses, TimeLossKey(LANE, ALL)).mean_speed == pytest.approx(0.5 * LIMIT)


@pytest.mark.clause("EXPL-1")
def test_a_bag_of_another_recorder_is_told_its_map(town: Path, tmp_path: Path) -> None:
    bag = record(tmp_path, None, 4.0)
    with pytest.raises(InputError, match="does not name its map"):
        read_time_losses(BagSource(bag))
    assert summed(read_time_losses(BagSource(bag), map_file=town), TimeLossKey(BAY, ALL)).lost_s == pytest.approx(4.0)


@pytest.mark.clause("EXPL-1")
def test_the_table_has_most_lost_first_and_the_total_last(
    town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(record(tmp_path, town, 4.0)), "--time"]) == 0
    rows = [[cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines()]
    assert rows[1:] == [
        [LANE, "LEADER", "10.0", "2.5", "5.0"],
        [BAY, "STEERING", "4.0", "0.0", "4.0"],
        ["total", "all", "14.0", "1.8", "9.0"],
    ]


@pytest.mark.clause("EXPL-1")
def test_how_far_the_car_came_without_odometry_nobody_knows(
    town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It tells of none from 8.05 s of 14 s up to 11.05 s."""
    bag = str(record(tmp_path, town, 4.0, lost=range(161, 221)))
    assert main(["why", bag, "--time"]) == 0
    rows = [[cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines()]
    assert [LANE, "NO_ODOMETRY", "3.0", "-", "-"] in rows
    assert [LANE, "LEADER", "7.0", "2.5", "3.5"] in rows
    assert rows[-1] == ["total", "all", "14.0", "1.6", "7.5"]
    assert main(["why", bag, "--time", "--against", bag, "--json"]) == 0
    (blind,) = (row for row in json.loads(capsys.readouterr().out)["rows"] if row["code"] == "NO_ODOMETRY")
    figures = {"time_s": 3.0, "unknown_s": 3.0, "distance_m": None, "mean_mps": None, "lost_s": None}
    assert {name: blind[name] for name in figures} == blind["against"] == figures
    assert blind["more_lost_s"] is None


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_two_runs_stand_side_by_side_with_their_differences(
    town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow, quick = (str(record(tmp_path / name, town, standing)) for name, standing in (("slow", 7.0), ("quick", 2.0)))
    assert main(["why", slow, "--time", "--against", quick]) == 0
    table = capsys.readouterr().out
    assert main(["why", slow, quick]) == 0
    assert capsys.readouterr().out == table
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
    assert rows[1] == [BAY, "STEERING", "7.0", "0.0", "7.0", "2.0", "0.0", "2.0", "+5.0", "+5.0"]
    assert main(["why", slow, "--time", "--against", quick, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["rows"][0]
    assert (first["state"], first["lost_s"], first["against"]["lost_s"], first["more_lost_s"]) == (BAY, 7.0, 2.0, 5.0)


def test_nothing_has_no_sign() -> None:
    key = TimeLossKey(LANE, "LEADER")
    here, there = {key: TimeLoss(1.0, 5.0, 1.0 + 1e-9)}, {key: TimeLoss(1.0001, 5.0, 1.0)}
    assert "-" not in "".join(list(table_lines(here, there))[1:])
    assert "-" not in json.dumps(table_as_json(here, there))


@pytest.mark.parametrize(
    "arguments",
    [["--against", "x"], ["--map", "x"], ["--time", "--at", "1"], ["y", "--at", "1"], ["y", "--against", "x"]],
)
def test_options_that_would_change_nothing_are_refused(
    arguments: list[str], town: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(record(tmp_path, town, 1.0)), *arguments]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)

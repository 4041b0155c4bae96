"""A run of processes and the node `view` beside it: it repeats, its bag replays, and a page shows it by its topics."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml

from tuling_fsm.bag.replay import replay
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.core.parameters import Scalar, nest
from tuling_fsm.ros.processes import run_processes
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.viewer.columns import joined, unpacked

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROAM, LENGTH = share_file("config", "scenarios", "roam.osc"), ("length_m", "60")
CAR: dict[str, Scalar] = {"vehicle.wheelbase": 3.2, "vehicle.width": 1.7}


def streamed(address: str) -> list[bytes]:
    """All patches until the run is over."""
    connection = http.client.HTTPConnection(address, timeout=300)
    connection.request("GET", "/stream")
    response = connection.getresponse()
    found: list[bytes] = []
    while line := response.readline().decode():
        if line.startswith("event: over"):
            return found
        if line.startswith("data: "):
            found.append(b64decode(line.removeprefix("data: ")))
    raise AssertionError("the stream has ended before the run")


def columns_of(parts: list[bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    header, columns = unpacked(joined(parts))
    scalars: dict[str, Any] = {}
    for part in header["parts"]:
        for each in part["parts"]:
            scalars |= each["scalars"]
    return scalars, columns


class ShownRun(NamedTuple):
    """A run that was shown: its folder, and all patches that a page got."""

    out: Path
    parts: list[bytes]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> ShownRun:
    out = tmp_path_factory.mktemp("shown")
    car = tmp_path_factory.mktemp("car") / "car.yaml"
    car.write_text(yaml.safe_dump({"/**": {"ros__parameters": nest(CAR)}}), encoding="utf-8")
    command = [
        sys.executable, "-m", "tuling_fsm.cli", "sim", str(ROAM), "--set", "=".join(LENGTH), "--parameters", str(car),
        "--ros", "--view", "--out", str(out),
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        assert run.stderr is not None
        address = next(found[1] for line in run.stderr if (found := re.search(r"view: http://([\d.]+:\d+)/", line)))
        parts = streamed(address)
        run.communicate()
    assert run.returncode == 0
    return ShownRun(out, parts)


@pytest.mark.clause("SIM-1", "SIM-2", "DWELL-3")
def test_a_run_repeats_bit_for_bit_and_its_bag_replays_without_a_difference(shown: ShownRun) -> None:
    """Shown or not."""
    lines: list[str] = []
    first = json.loads((shown.out / "result.json").read_text())
    settings = RunSettings(ROAM, overrides=(LENGTH,), parameters=tuple(CAR.items()))
    second = run_processes(settings, progress=lines.append)
    assert first["end"] == second["end"] == "goal"
    assert first["distance_m"] > 50.0
    assert first["trace_sha256"] == second["trace_sha256"]
    assert first["transitions"] == second["transitions"]
    assert [t["to"] for t in first["transitions"]][:1] == ["on_road/regression"]
    assert len(lines) >= 11
    assert (shown.out / "report.html").stat().st_size > 10_000
    stamps = [inputs.stamp for inputs in read_inputs(BagSource(shown.out / "run.mcap"))]
    assert stamps == [k / 20 for k in range(len(stamps))]
    assert len(stamps) == round(20 * first["sim_s"]) > 200
    assert replay(BagSource(shown.out)) == []


@pytest.mark.clause("SIM-1", "USE-12")
def test_planner_and_simulator_have_the_car_that_is_asked_for(shown: ShownRun, tmp_path: Path) -> None:
    settings = RunSettings(ROAM, overrides=(LENGTH,), parameters=tuple(CAR.items()))
    run_scenario(settings, out=tmp_path, film=False)
    driven, expected = (
        np.array([(*each.pose, each.v) for each in read_timeline(BagSource(folder)).motion])
        for folder in (shown.out, tmp_path)
    )
    assert driven == pytest.approx(expected, abs=1e-6)
    assert {name: read_run_record(BagSource(shown.out))["parameters"][name] for name in CAR} == CAR


@pytest.mark.clause("EXPL-1")
def test_a_run_of_processes_is_shown_from_its_topics(shown: ShownRun) -> None:
    scalars, columns = columns_of(shown.parts)
    assert scalars["result"]["finished"] is True
    motion = read_timeline(BagSource(shown.out)).motion
    stamps = np.array([each.t for each in motion])
    rows = np.searchsorted(stamps, columns["ego.t"] - 1e-3)
    assert len(rows) > 0.5 * len(motion)  # It listens unreliably: on a busy machine some are not shown.
    assert np.abs(columns["ego.x"] - np.array([motion[i].pose.x for i in rows])).max() < 0.01
    for name in ("plan.t", "objects.t", "why.t", "predicted.t", "limit.t"):
        assert len(columns[name]) > 10, name


def test_a_map_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tuling_fsm.ros.executable", "view", "--ros-args", "-p", "map_file:=absent.xodr"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2
    assert "absent.xodr" in done.stderr + done.stdout

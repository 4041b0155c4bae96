"""The node `view` beside a run: what comes over DDS reaches a page, and the run never waits for it."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.share import share_file
from tuling_fsm.viewer.columns import joined, unpacked

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROAM = str(share_file("config", "scenarios", "roam.osc"))


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


@pytest.mark.clause("EXPL-1")
def test_a_run_of_processes_is_shown_from_its_topics(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tuling_fsm.cli", "sim", ROAM, "--set", "length_m=60", "--ros", "--view"]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stderr is not None
        address = next(found[1] for line in run.stderr if (found := re.search(r"view: http://([\d.]+:\d+)/", line)))
        parts = streamed(address)
        run.communicate()
    assert run.returncode == 0
    scalars, columns = columns_of(parts)
    assert scalars["result"]["finished"] is True
    motion = read_timeline(BagSource(tmp_path)).motion
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

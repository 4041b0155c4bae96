"""The same run gives the same trace, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.model import Population

from .plans import LaneDriver
from .scenes import simulation

FRAMES = 200
SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[3], sys.argv[3] + "/sim"]
from crossroads import LIGHT, crossroads
from sim.test_repeatability import trace
print(trace(crossroads(Path(sys.argv[1]), "again", dict.fromkeys("ENWS", LIGHT), crosswalks="EW"), int(sys.argv[2])))
"""


def trace(road_map: RoadMap, seed: int) -> str:
    """The trace of some seconds with traffic and a driver."""
    run = simulation(road_map, seed, population=Population(8, 4))
    assert run.preset is not None
    drive = LaneDriver(run.preset)
    for _ in range(FRAMES):
        run.advance(drive(run.inputs()))
    return run.trace_sha256()


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_another_seed_is_another_run(lit: RoadMap) -> None:
    assert trace(lit, 1) == trace(lit, 1)
    assert trace(lit, 1) != trace(lit, 2)


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_processes_and_hash_seeds_agree(tmp_path: Path) -> None:
    tests = str(Path(__file__).resolve().parents[1])
    traces = []
    for hash_seed in ("0", "1", "4321"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path), "5", tests],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        traces.append(done.stdout.strip())
    assert len(set(traces)) == 1
    assert len(traces[0]) == 64


@pytest.mark.clause("SIM-2")
def test_the_trace_grows_with_what_happens(plain: RoadMap) -> None:
    run = simulation(plain)
    before = run.trace_sha256()
    assert run.trace_sha256() == before
    run.advance(None)
    assert run.trace_sha256() != before

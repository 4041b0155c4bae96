"""The same map, scenario and seed give the same run, bit for bit, whatever processor and Python there is (SIM-2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tuling_fsm
from run.test_scenarios import EXPECTED
from run.traces import SEEDS, Trace, driven, kept, scenarios
from tuling_fsm.core.kernel_cache import is_current, source_stamp

pytestmark = [pytest.mark.slow, pytest.mark.clause("SIM-2")]
NO_FEATURES = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
OTHER_PROCESSORS = {
    "without AVX-512": {
        "NPY_DISABLE_CPU_FEATURES": NO_FEATURES.partition("AVX512F")[2].strip(),
        "OPENBLAS_CORETYPE": "Haswell",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL",
    },
    "without AVX2 and FMA": {
        "NPY_DISABLE_CPU_FEATURES": NO_FEATURES,
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX512VL",
    },
}
"""What makes numpy, OpenBLAS and the C library of this machine compute as they would on another."""
SHORT = ("junction_lights:1", "regression:1", "solid_line_free:1")
LOOKED_AT = {*EXPECTED, "pickup"}
"""Scenarios that other tests drive with the first seed, and compare with what is kept."""
SAMPLE = ("demo", "explore", "rain", "roam")
"""Together they go through every room of the package: lanes, free space, parking, lights, noise, traffic."""
OLD_PROCESSOR = scenarios() if os.environ.get("TRACES") == "all" else SAMPLE
"""What is driven as an old processor computes; `make proofs` drives all scenarios."""
KERNELS = Path(__file__).resolve().parents[2] / "out" / "kernels_for_any_processor"
"""To compile all that a run needs takes minutes: it is done once for each state of the code, as for this processor."""


def check(names: tuple[str, ...], **environment: str) -> subprocess.CompletedProcess[str]:
    """Drive the table's scenarios in processes of their own."""
    command = [sys.executable, "-m", "run.traces", "--check", *names]
    tests = Path(__file__).parents[1]
    return subprocess.run(command, cwd=tests, env=os.environ | environment, capture_output=True, text=True, check=False)


def test_every_scenario_is_kept_with_two_seeds() -> None:
    assert [(trace.scenario, trace.seed) for trace in kept()] == [(name, n) for name in scenarios() for n in SEEDS]
    assert len({trace.sha256 for trace in kept()}) > len(scenarios())


@pytest.mark.parametrize(
    "trace",
    [trace for trace in kept() if trace.seed == SEEDS[0] and trace.scenario not in LOOKED_AT],
    ids=lambda trace: trace.name,
)
def test_a_run_leaves_the_trace_that_is_kept(trace: Trace) -> None:
    """The others of this seed are compared where they are looked at, in `test_scenarios` and `test_mission`."""
    assert driven(trace.scenario, trace.seed) == trace


def test_a_processor_without_vectors_and_fused_multiplication_gives_the_same_bits() -> None:
    done = check(tuple(f"{name}:{SEEDS[1]}" for name in OLD_PROCESSOR), **OTHER_PROCESSORS["without AVX2 and FMA"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_processor_without_the_widest_vectors_gives_the_same_bits() -> None:
    done = check(SHORT, **OTHER_PROCESSORS["without AVX-512"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_compiled_for_any_processor_give_the_same_bits() -> None:
    """One run in one process, on a road and beside it, as everything has to be compiled for it."""
    forget_old(KERNELS)
    done = check(("regression:2",), NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(KERNELS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert any(KERNELS.rglob("*.nbc"))


def forget_old(folder: Path) -> None:
    """Delete what was compiled from other sources than these."""
    stamps = {source_stamp(file) for file in Path(tuling_fsm.__file__).parent.rglob("*.py")}
    for file in folder.rglob("*.nb[ci]"):
        if not is_current(file.name, stamps):
            file.unlink()

"""The same map, scenario and seed give the same run, bit for bit, whatever processor and Python there is (SIM-2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from run.test_scenarios import EXPECTED
from run.traces import SEEDS, kept, scenarios

pytestmark = [pytest.mark.slow, pytest.mark.clause("SIM-2")]
NO_FEATURES = "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
OTHER_PROCESSORS = {
    "without AVX-512": {
        "NPY_DISABLE_CPU_FEATURES": NO_FEATURES.partition("AVX512F")[2].strip(),
        "OPENBLAS_CORETYPE": "Haswell",
        "PYTHONHASHSEED": "1",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL",
        "MALLOC_PERTURB_": "190",
    },
    "without AVX2 and FMA": {
        "NPY_DISABLE_CPU_FEATURES": NO_FEATURES,
        "OPENBLAS_CORETYPE": "Nehalem",
        "PYTHONHASHSEED": "4321",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX512VL",
        "MALLOC_PERTURB_": "128",
    },
}
"""What makes numpy, OpenBLAS and the C library of this machine compute as they would on another, and fills memory that
nothing has been written to yet with 2.3e6 or 1.4e306."""
LOOKED_AT = {*EXPECTED, "pickup"}
"""Scenarios that other tests drive with the first seed on this processor as it is, and compare with what is kept."""
AS_OTHERS = {
    "without AVX-512": ["match:1", "rude:1"],
    "without AVX2 and FMA": ["full_match:1", "rain:2", "roam:1", "round:1"],
}
"""The rest is driven as other processors compute: garage and services, lanes and free space, lights, noise, traffic."""
if os.environ.get("TRACES") == "all":
    AS_OTHERS["without AVX2 and FMA"] += [f"{name}:{SEEDS[1]}" for name in scenarios() if name != "rain"]
    AS_OTHERS["any with kernels of its own"] = ["regression:2"]


def check(names: tuple[str, ...], **environment: str) -> subprocess.CompletedProcess[str]:
    """Drive the table's scenarios in processes of their own."""
    command = [sys.executable, "-m", "run.traces", "--check", *names]
    tests = Path(__file__).parents[1]
    return subprocess.run(command, cwd=tests, env=os.environ | environment, capture_output=True, text=True, check=False)


def test_every_scenario_is_kept_with_two_seeds() -> None:
    assert [(trace.scenario, trace.seed) for trace in kept()] == [(name, n) for name in scenarios() for n in SEEDS]
    assert len({trace.sha256 for trace in kept()}) > len(scenarios())


def test_every_scenario_is_driven_with_the_first_seed() -> None:
    driven = {name.removesuffix(":1") for names in AS_OTHERS.values() for name in names if name.endswith(":1")}
    assert driven | LOOKED_AT >= {*scenarios()}


@pytest.mark.parametrize("processor", AS_OTHERS)
def test_another_processor_gives_the_bits_that_are_kept(processor: str, tmp_path: Path) -> None:
    """Of a difference, `python -m run.traces --check` tells whether this processor has it too."""
    environment = OTHER_PROCESSORS.get(processor) or {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = check(tuple(AS_OTHERS[processor]), **environment)
    assert done.returncode == 0, done.stdout + done.stderr

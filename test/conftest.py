"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# Compiling a kernel on first use is no reason to fail, and a failure has to come again.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real maps, parking cases and scenarios that are kept beside the project; tests that read them are skipped
    without.
    """
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no folder {SHARED_DATA.name} beside the project")
    return SHARED_DATA

"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tuling_fsm.verbs import campaign
from tuling_fsm.verbs.campaign_runs import CampaignRun, DriveAll

from .campaigns import finished


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[CampaignRun]:
    """The jobs of the campaign that was asked for; nothing is driven, and every run does well."""
    asked: list[CampaignRun] = []

    def run_all(jobs: Sequence[CampaignRun], drive_all: DriveAll, say: object) -> list[dict[str, Any]]:
        asked.extend(jobs)
        return [finished(job) for job in jobs]

    monkeypatch.setattr(campaign, "run_all", run_all)
    return asked

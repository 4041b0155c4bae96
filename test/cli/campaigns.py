"""What runs of a campaign give back and leave behind, without being driven."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tuling_fsm import run
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.verbs.campaign_runs import CampaignRun
from tuling_fsm.wire.text import pack_string

from .scenarios import ROAM


def finished(job: CampaignRun, infractions: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """What a run gives back, as far as the campaign looks at it."""
    return {
        "file": str(job.settings.scenario),
        "scenario": job.name,
        "map": "town",
        "seed": job.settings.seed,
        "finished": True,
        "end": "goal",
        "services": 2,
        "score": {"closed_loop": 0.654, "driving": 0.876},
        "infractions": list(infractions),
        "longest_unexplained_stop_s": 0.35,
        "flaps": 0,
        "tick_ms": {"p99": 12.34},
        "trace_sha256": f"{job.settings.seed:064x}"[::-1],
    }


def leave(out: Path, seed: int, other: Mapping[str, Any] = {}, end: int | None = None) -> Path:
    """The result of a run of `ROAM` in the folder of a campaign, with some settings that are others, up to `end`."""
    folder = out / "roam" / f"seed_{seed}"
    folder.mkdir(parents=True)
    scenario = load_scenario(ROAM)
    settings = run.settings_record(RunSettings(ROAM, seed), scenario, run.chosen_map(scenario, None)) | dict(other)
    done = finished(CampaignRun(RunSettings(ROAM, seed))) | {"distance_m": 1000.0, "sim_s": 100.0}
    with BagWriter(folder, settings) as bag:
        bag.write(0, "state", pack_string("on_road/normal"))
    (folder / "report.html").touch()
    (folder / "result.json").write_text(json.dumps(done | {"settings": settings})[:end])
    return folder / "result.json"

"""The page that a run leaves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.reporting.report import write_report
from tuling_fsm.sim.reporting.result import result_of
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog, TransitionRow

from .scenes import simulation


@pytest.mark.medium
def test_stops_are_told_in_words_and_what_supervisors_do_beside_the_states(plain: RoadMap, tmp_path: Path) -> None:
    log = RunLog()
    red = Limit(Reason.RED_LIGHT, detail="signal <4>")
    for k in range(60):
        v, limit = (0.0, red) if 10 <= k < 50 else (2.0, Limit(Reason.NONE))
        log.rows.append(LogRow(0.05 * k, "on_road/normal", Pose(0.1 * k, -1.75, 0.0), v, limit, 1.0))
    log.transitions.append(TransitionRow(0.5, "on_road/regression", "on_road/normal", "REG-3"))
    log.supervisors += [
        TransitionRow(0.1, "rain_fog/clear", "rain_fog/radar_and_history", "RFG-1"),
        TransitionRow(1.0, "route_refresh/idle", "route_refresh/asking", "RRF-1"),
    ]
    sim = simulation(plain)
    sim.advance(None)
    sim.abort()
    page = tmp_path / "pictures.html"
    write_report(page, plain, log, result_of(sim, log, 1.0))
    rows = [re.findall(r"<td>(.*?)</td>", line) for line in page.read_text(encoding="utf-8").split("<tr>")]
    assert ["0.50 s", "2.0 s", "a red light (RED_LIGHT)", "signal &lt;4&gt;"] in rows
    changes = [row for row in rows if row[-1:] in (["REG-3"], ["RFG-1"], ["RRF-1"])]
    assert changes == [
        ["0.10 s", "rain_fog/clear", "rain_fog/radar_and_history", "RFG-1"],
        ["0.50 s", "on_road/regression", "on_road/normal", "REG-3"],
    ]
    assert ["on_road/normal", "RED_LIGHT", "2.0 s", "0.0 m/s", "2.0 s"] in rows

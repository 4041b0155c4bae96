"""Queues in the closed loop: what stands in line is waited for, what has broken down is gone round (NOR-11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossroads import LANE_M, LIGHT, STOP_SIGN, crossroads
from scenario_text import along_lanes

from tuling_fsm.agent import Parameters
from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.sim.sensors.perception_levels import CLEAN, LEVELS
from tuling_fsm.world.parameters import WorldParameters

from .drives import Drive, drive

pytestmark = pytest.mark.slow

DECLARED = """    a: vehicle
    b: vehicle
    c: vehicle
    jam: vehicle
    start: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 75m)
    at_line: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 4.5m)
    second: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 12m)
    third: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 19.5m)
    on_road: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 38m)
    behind: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 45m)
    exit: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 5m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 40m)
    away: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 75m)
"""
MOTORCYCLE = """    a: vehicle with:
        keep(it.length == 2.2m)
        keep(it.width == 0.8m)
"""
DRIVES_OFF = """
        serial:
            NAME.assign_position(PLACE)
            wait elapsed(90s)
            NAME.drive() with:
                along(map.create_route([away]))
            NAME.remove()
"""
STANDS = """
        serial:
            NAME.assign_position(PLACE)
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("maps")
    crossroads(folder, "plain")
    return folder / "plain.xodr"


def _drive(
    map_file: Path, folder: Path, seconds: int, what: str, others: dict[str, str], patience: float = 300.0,
    declared: str = DECLARED, perception: str = CLEAN,
) -> Drive:  # fmt: skip
    """The car comes from the west and goes on to the east; the `others` by name stand at places by name."""
    stories = (what.replace("NAME", name).replace("PLACE", place) for name, place in others.items())
    parameters = Parameters(world=WorldParameters(queue_patience=patience))
    text = along_lanes(declared, *stories, seconds=seconds)
    return drive(map_file, text, folder, parameters=parameters, perception=perception)


@pytest.mark.clause("NOR-11", "EXPL-1")
def test_a_line_before_a_full_junction_is_waited_for_and_followed(plain: Path, tmp_path: Path) -> None:
    others = {"a": "at_line", "b": "second", "c": "third", "jam": "exit"}
    driven = _drive(plain, tmp_path, 160, DRIVES_OFF, others)
    assert (driven.end, driven.faults) == ("goal", [])
    assert driven.states()[2:-1] == [states.NORMAL, states.SAFE_DRIVING, states.NORMAL]
    assert not {"NOR-7", "INT-4"} & set(driven.clauses())
    stood = [tick for tick in driven.standing() if tick.limit.reason is Reason.QUEUE]
    assert stood[-1].stamp - stood[0].stamp > 70.0
    assert "in a line of 3, seen standing for 60 s" in {tick.limit.detail for tick in stood}


@pytest.mark.clause("NOR-11", "NOR-7")
@pytest.mark.parametrize("perception", LEVELS)
def test_one_that_has_broken_down_with_nobody_before_it_is_gone_round(
    perception: str, plain: Path, tmp_path: Path
) -> None:
    driven = _drive(plain, tmp_path, 90, STANDS, {"a": "on_road"}, perception=perception)
    assert (driven.end, driven.faults) == ("goal", [])
    assert "NOR-7" in driven.clauses()
    assert Reason.QUEUE not in {tick.limit.reason for tick in driven.ticks}


@pytest.mark.clause("NOR-11", "NOR-7")
def test_one_that_stands_some_way_before_a_red_light_is_not_gone_round(tmp_path: Path) -> None:
    crossroads(tmp_path, "lit", dict.fromkeys("ENWS", LIGHT))
    place = 'create_odr_point(road_id: "3", lane_id: "1", s: {})'
    declared = DECLARED.replace(place.format("38m"), place.format("25m"))
    red = "\n        serial:\n            lights.set_all(red)\n"
    declared = declared.replace("    a: vehicle\n", "    a: vehicle\n    lights: traffic_lights\n")
    driven = _drive(tmp_path / "lit.xodr", tmp_path, 60, red + STANDS, {"a": "on_road"}, declared=declared)
    assert driven.states()[-1] == states.NORMAL
    assert driven.faults == []
    stood = [tick for tick in driven.ticks if tick.limit.reason is Reason.LEADER and tick.world.ego.v < 0.1]
    assert stood[-1].stamp - stood[0].stamp > 30.0


@pytest.mark.clause("NOR-11", "NOR-7")
def test_a_line_that_does_not_move_is_reported_after_the_patience_and_gone_round(plain: Path, tmp_path: Path) -> None:
    driven = _drive(plain, tmp_path, 130, STANDS, {"a": "on_road", "b": "behind"}, patience=30.0)
    assert driven.end == "goal"
    given_up = [tick for tick in driven.ticks if any("queue:" in line for line in tick.decision.reports)]
    assert len(given_up) == 1
    changes = [(tick.stamp, tick.decision.transition) for tick in driven.ticks]
    left = next(stamp for stamp, change in changes if change is not None and change.clause == "NOR-7")
    assert 29.0 < given_up[0].stamp - driven.ticks[0].stamp < 32.0
    assert given_up[0].stamp < left < given_up[0].stamp + 12.0
    assert [fault.split()[2] for fault in driven.faults] == ["queue_overtaken"], "the referee's patience is 5 min"


@pytest.mark.clause("NOR-11")
def test_one_that_waits_at_a_stop_sign_is_not_pulled_up_beside_though_the_lane_is_wide(tmp_path: Path) -> None:
    crossroads(tmp_path, "stop", {"W": STOP_SIGN})
    road = '<road id="3"'
    head, tail = (tmp_path / "stop.xodr").read_text(encoding="utf-8").split(road)
    wide = tmp_path / "wide.xodr"
    wide.write_text(head + road + tail.replace(f'a="{LANE_M}"', 'a="6.3"', 2), encoding="utf-8")
    alone = DECLARED.replace("    a: vehicle\n    b: vehicle\n    c: vehicle\n    jam: vehicle\n", MOTORCYCLE)
    story = DRIVES_OFF.replace("90s", "25s")
    driven = _drive(wide, tmp_path, 100, story, {"a": "at_line"}, declared=alone)
    assert (driven.end, driven.faults) == ("goal", [])
    assert Reason.QUEUE in {tick.limit.reason for tick in driven.standing()}

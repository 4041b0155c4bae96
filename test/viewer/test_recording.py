"""What of a bag goes into a film."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.columns import unpacked
from tuling_fsm.viewer.film_topics import FilmPeriods
from tuling_fsm.viewer.recording import FilmSource, record
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.text import pack_bool, pack_json
from tuling_fsm.world.inputs import Odometry

from .drives import COURSE, END_S, STANDS, pose_at
from .drives import record as record_drive


@pytest.fixture(scope="module")
def packed(bag: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    header, columns = unpacked(record(FilmSource(BagSource(bag))).data)
    return header, columns


@pytest.mark.medium
def test_the_car_is_where_the_odometry_has_it(bag: Path, packed: tuple[dict[str, Any], dict[str, Any]]) -> None:
    _, columns = packed
    motion = read_timeline(BagSource(bag)).motion
    assert len(motion) == len(columns["ego.t"])
    places = np.array([(each.t, each.pose.x, each.pose.y, each.pose.heading, each.v) for each in motion])
    for k, (name, step) in enumerate((("t", 1e-3), ("x", 1e-3), ("y", 1e-3), ("heading", 1e-4), ("v", 0.01))):
        assert np.abs(columns[f"ego.{name}"] - places[:, k]).max() <= 0.51 * step


def test_objects_are_tracks_and_predicted_by_the_planners_own_code(
    packed: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    header, columns = packed
    assert columns["track.id"].tolist() == [7, 8]
    assert columns["track.rain"].tolist() == [1, 0]
    assert columns["track.n"].tolist() == [len(columns["objects.t"])] * 2
    assert np.allclose(columns["object.x"][:3], [100.0, 100.6, 101.2], atol=0.02)
    points = header["predicted_points"]
    assert points == 7
    of_car = np.flatnonzero(columns["predicted.id"] == 7)
    way = columns["predicted.x"].reshape(-1, points)[of_car[-1]]
    assert np.allclose(np.diff(way)[:3], 6.0, atol=0.2)
    assert (np.diff(way) > 0.0).all()


def test_only_changes_of_lights_and_slots_are_kept(
    packed: tuple[dict[str, Any], dict[str, Any]], course: RoadMap
) -> None:
    header, columns = packed
    dynamic = [signal for signal in course.signals.values() if signal.dynamic]
    assert len(columns["light.t"]) == 2 * len(dynamic)
    assert sorted(set(columns["light.t"].tolist())) == [0.0, 6.0]
    assert columns["slot.taken"].tolist() == [0.0, 1.0]
    assert {signal["number"] for signal in header["roads"]["signals"]} <= {signal.number for signal in dynamic}


def test_walls_targets_and_blocked_parts_last_as_long_as_they_were_sent(
    packed: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    header, _ = packed
    wall, target = sorted(header["spans"], key=lambda span: span["name"], reverse=True)
    assert (wall["from"], wall["to"], wall["words"]) == (3.0, header["end"], "a red light signal 1")
    assert (target["from"], target["numbers"][:2]) == (0.0, [155.0, -1.75])
    assert [(line["name"], line["t"]) for line in header["routes"]] == [("route", 0.0), ("blocked", 4.0)]


@pytest.mark.clause("EXPL-1")
def test_candidates_have_their_fate_and_dwell_timers_their_share(packed: tuple[dict[str, Any], dict[str, Any]]) -> None:
    header, columns = packed
    fates = [header["texts"][int(number)] for number in columns["candidate.fate"][:3]]
    assert fates == ["won", "TARGET", "OBSTACLE"]
    ends = list(zip(columns["candidate.x"][:3], columns["candidate.y"][:3], strict=True))
    assert np.allclose(ends, [(110.0, -1.75), (110.0, -1.4), (110.0, -5.25)], atol=0.03)
    assert np.allclose(columns["dwell.held"], columns["why.t"] % 5.0, atol=0.011)
    assert set(columns["dwell.of"].tolist()) == {5.0}
    assert columns["why.held"][-1] == pytest.approx(columns["why.t"][-1] - 7.0, abs=0.011)


def test_stops_changes_and_infractions_are_told(packed: tuple[dict[str, Any], dict[str, Any]]) -> None:
    header, _ = packed
    (stop,) = header["stops"]
    assert (stop["from"], stop["to"], stop["code"]) == (STANDS[0], STANDS[1], "RED_LIGHT")
    assert [change["t"] for change in header["changes"]] == [1.0, 4.0, 6.0]
    assert header["supervisors"] == {"rain_fog": [[0.0, "clear"], [6.0, "radar_and_history"]]}
    assert [each["kind"] for each in header["result"]["infractions"]] == ["solid_line", "comfort"]


@pytest.mark.medium
def test_a_bag_of_the_vehicle_begins_at_zero_and_needs_neither_result_nor_map(tmp_path: Path, course: RoadMap) -> None:
    folder = record_drive(tmp_path / "car", course, shift_s=1.7e9, without=("run", "markers"))
    header, columns = unpacked(record(FilmSource(BagSource(folder))).data)
    assert (header["origin"]["t"], header["begin"], header["result"], header["roads"]) == (1.7e9, 0.0, None, None)
    assert header["stops"][0]["from"] == pytest.approx(STANDS[0], abs=1e-3)
    assert columns["object.x"][0] == pytest.approx(100.0, abs=0.02)
    assert header["end"] == pytest.approx(END_S - 0.05, abs=1e-3)
    with_map, _ = unpacked(record(FilmSource(BagSource(folder), map_file=COURSE)).data)
    assert with_map["map"] == "course"


@pytest.mark.medium
def test_a_bag_without_odometry_shows_the_plans(tmp_path: Path, course: RoadMap) -> None:
    folder = record_drive(tmp_path / "plans", course, without=("odometry",))
    _, columns = unpacked(record(FilmSource(BagSource(folder))).data)
    assert columns["ego.x"][40] == pytest.approx(pose_at(2.0).x, abs=1e-3)


@pytest.mark.medium
def test_a_bag_in_which_the_planner_says_nothing_is_shown_all_the_same(tmp_path: Path, course: RoadMap) -> None:
    silent = ("state", "why", "transition", "markers", "sensors", "indicators")
    header, columns = unpacked(
        record(FilmSource(BagSource(record_drive(tmp_path / "other", course, without=silent)))).data
    )
    assert header["changes"] == []
    assert len(columns["plan.t"]) > 100


def test_parameters_of_another_version_and_a_strange_route_are_no_reason_to_show_nothing(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "old", {"map": str(COURSE), "parameters": {"no.such_parameter": 3.0}}) as bag:
        for k in range(40):
            ns = nanoseconds(0.1 * k)
            bag.write(ns, "odometry", pack_odometry(ns, Odometry(0.1 * k, pose_at(0.1 * k), 5.0, 0.0)))
        bag.write(ns, "route_answer", pack_json({"points": "none"}))
        bag.write(ns, "markers", b"no markers")
    header, columns = unpacked(record(FilmSource(BagSource(tmp_path / "old"))).data)
    assert header["vehicle"]["wheelbase"] == Vehicle().wheelbase
    assert header["routes"] == []
    assert len(columns["ego.t"]) == 40


@pytest.mark.parametrize("seed", [1, 2])
def test_the_result_of_a_run_of_other_settings_is_not_shown(tmp_path: Path, seed: int) -> None:
    with BagWriter(tmp_path, {"seed": seed}) as bag:
        for k in range(3):
            bag.write(k, "odometry", pack_odometry(k, Odometry(0.0, pose_at(0.0), 5.0, 0.0)))
    (tmp_path / "result.json").write_text(json.dumps({"infractions": [], "settings": {"seed": 1}}), encoding="utf-8")
    header, _ = unpacked(record(FilmSource(BagSource(tmp_path))).data)
    assert header["result"] == ({"infractions": []} if seed == 1 else None)


def test_a_bag_in_which_nothing_moves_is_refused(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "still") as bag:
        bag.write(nanoseconds(1.0), "rain_fog", pack_bool(False))
    with pytest.raises(InputError, match="no car moves in it"):
        record(FilmSource(BagSource(tmp_path / "still")))


def test_a_long_drive_is_kept_more_coarsely() -> None:
    short, long = FilmPeriods.of(400.0), FilmPeriods.of(5400.0)
    assert short.plans < long.plans
    assert short.predictions < long.predictions

"""Closed-loop runs in one process, and what they leave behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm import run
from tuling_fsm.agent import Parameters
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.replay import replay
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import flatten
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.input_file import content_sha256
from tuling_fsm.run import progress_line, run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.sim.reporting.run_log import LogRow
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.viewer.live.process import LiveView

from .test_passing import PLACES

ROAM = share_file("config", "scenarios", "roam.osc")
SHORT = (("length_m", "150"), ("vehicles", "6"))


@pytest.mark.slow
@pytest.mark.clause("SIM-2", "DWELL-3")
def test_a_run_leaves_result_bag_and_report_and_replays(tmp_path: Path) -> None:
    first = run_scenario(RunSettings(ROAM, seed=5, overrides=SHORT), out=tmp_path / "a")
    assert first["finished"]
    assert not [infraction for infraction in first["infractions"] if infraction["at_fault"]]
    assert json.loads((tmp_path / "a" / "result.json").read_text(encoding="utf-8")) == first
    assert "The run from above" in (tmp_path / "a" / "pictures.html").read_text(encoding="utf-8")
    assert 'class="run"' in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    assert replay(BagSource(tmp_path / "a" / "run.mcap")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [("carla_Town01", 1), ("carla_Town07", 2), ("esmini_fabriksgatan_traffic_lights", 1), ("pyopendrive_chatt", 4)],
)
def test_roaming_real_maps_ends_at_the_goal_without_fault(name: str, seed: int, shared_data: Path) -> None:
    map_file = shared_data / "maps" / f"{name}.xodr"
    result = run_scenario(
        RunSettings(ROAM, map_file=map_file, seed=seed, overrides=(("length_m", "250"), ("vehicles", "20")))
    )
    assert result["end"] == "goal"
    assert not [infraction for infraction in result["infractions"] if infraction["at_fault"]]
    assert result["longest_unexplained_stop_s"] < 1.0


@pytest.mark.slow
@pytest.mark.clause("SAF-3")
def test_a_map_in_coordinates_of_utm_is_driven(utm_course: tuple[Path, tuple[float, float]]) -> None:
    overrides = (("length_m", "80"), ("vehicles", "4"))
    there = run_scenario(RunSettings(ROAM, map_file=utm_course[0], seed=1, overrides=overrides))
    here = run_scenario(RunSettings(ROAM, seed=1, overrides=overrides))
    assert there["end"] == here["end"] == "goal"
    assert there["infractions"] == here["infractions"] == []
    assert there["sim_s"] == pytest.approx(here["sim_s"], abs=0.5)


@pytest.mark.slow
def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    overrides = (("length_m", "30"), ("vehicles", "0"))
    run_scenario(RunSettings(ROAM, seed=1, overrides=overrides), progress=lines.append)
    assert len(lines) > 3
    assert any("on_road/normal" in line for line in lines)
    assert main(["sim", str(ROAM), "--set", "length_m=30", "--set", "vehicles=0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["end"] == "goal"


@pytest.mark.medium
def test_a_bag_can_be_left_without_its_film(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does the film of a run that was driven in the folder before stay there, or is told of."""
    out = tmp_path / "out"
    out.mkdir()
    for name in ("report.html", "pictures.html", "result.json"):
        (out / name).write_text("of another run", encoding="utf-8")
    assert main(["sim", str(ROAM), "--set", "length_m=40", "--out", str(out), "--no-film"]) == 0
    assert {each.name for each in out.iterdir()} == {"metadata.yaml", "run.mcap", "result.json"}
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["finished"]
    assert result["settings"].items() <= read_run_record(BagSource(out)).items()
    assert capsys.readouterr().out.splitlines()[-1] == f"  {out / 'result.json'}, {out / 'run.mcap'}"


@pytest.mark.medium
def test_a_bag_tells_every_parameter_and_its_result_those_that_were_set(tmp_path: Path) -> None:
    """A version with other defaults replays the bag with those that it was driven with."""
    run_scenario(
        RunSettings(ROAM, overrides=(("length_m", "20"), ("vehicles", "0")), parameters=(("vehicle.max_speed", 6.0),)),
        out=tmp_path,
        film=False,
    )
    told = read_run_record(BagSource(tmp_path))
    assert told["parameters"] == flatten(Parameters()) | {"vehicle.max_speed": 6.0}
    assert told["set_parameters"] == {"vehicle.max_speed": 6.0}
    settings = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["settings"]
    assert settings.items() <= told.items()


@pytest.mark.medium
def test_a_mission_takes_the_place_of_the_scenarios_route(tmp_path: Path) -> None:
    mission = {"goal": {"x": 180.0, "y": 161.75, "heading": 0.0}}
    (tmp_path / "mission.json").write_text(json.dumps(mission), encoding="utf-8")
    course = share_file("config", "course", "course.xodr")
    text = ROAM.read_text(encoding="utf-8").replace("do parallel", "do parallel(duration: 2s)", 1)
    (tmp_path / "roam.osc").write_text(text.replace("../course/course.xodr", str(course)), encoding="utf-8")
    asked = ["sim", str(tmp_path / "roam.osc"), "--set", "vehicles=0", "--mission", str(tmp_path / "mission.json")]
    assert main([*asked, "--no-film", "--out", str(tmp_path / "out")]) == 1
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert (result["end"], result["settings"]["mission_sha256"]) == ("time", content_sha256(tmp_path / "mission.json"))
    told = {
        inputs.mission["goal"]["x"]
        for inputs in read_inputs(BagSource(tmp_path / "out" / "run.mcap"))
        if inputs.mission
    }
    assert told == {180.0}


@pytest.mark.medium
@pytest.mark.clause("SIM-2")
def test_a_run_tells_of_what_was_read_though_its_files_are_changed_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, course = tmp_path / "roam.osc", tmp_path / "course.xodr"
    mission, common = tmp_path / "mission.json", tmp_path / "common.osc"
    course.write_bytes(share_file("config", "course", "course.xodr").read_bytes())
    mission.write_text(json.dumps({"goal": {"x": 180.0, "y": 161.75, "heading": 0.0}}), encoding="utf-8")
    common.write_text("global gap: length = 3m\n", encoding="utf-8")
    text = ROAM.read_text(encoding="utf-8").replace("do parallel", "do parallel(duration: 0.2s)", 1)
    text = text.replace("../course/course.xodr", str(course)).replace("\nscenario", "\nimport common.osc\nscenario", 1)
    scenario.write_text(text, encoding="utf-8")
    settings = RunSettings(scenario, mission_file=mission, overrides=(("vehicles", "0"),))
    before = run.settings_record(settings, load_scenario(scenario).with_mission(mission), course)

    def edited(*given: object) -> Simulation:
        simulation = Simulation(*given)
        for file in (scenario, course, mission, common):
            file.write_bytes(file.read_bytes() + b"\n")
        return simulation

    monkeypatch.setattr(run, "Simulation", edited)
    run_scenario(settings, out=tmp_path / "out", film=False)
    told = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))["settings"]
    assert told == before
    assert told.items() <= read_run_record(BagSource(tmp_path / "out")).items()


def test_a_scenario_without_a_map_needs_one(tmp_path: Path) -> None:
    scenario = tmp_path / "bare.osc"
    text = ROAM.read_text(encoding="utf-8")
    scenario.write_text("\n".join(line for line in text.splitlines() if "set_map_file" not in line), encoding="utf-8")
    with pytest.raises(InputError, match="names no map"):
        run_scenario(RunSettings(scenario))


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (Limit(Reason.SPEED_LIMIT), "SPEED_LIMIT"),
        (Limit(Reason.RED_LIGHT, 12.3, "signal 4"), "RED_LIGHT in 12 m signal 4"),
        (Limit(Reason.LEADER, 0.4), "LEADER"),
    ],
)
def test_a_line_of_progress_names_a_distance_only_where_there_is_one(limit: Limit, said: str) -> None:
    row = LogRow(3.0, "on_road/normal", Pose(0.0, 0.0, 0.0), 4.25, limit, 1.0)
    assert progress_line(row, 0.5) == f"    3.0 s   50 %   4.2 m/s  on_road/normal  {said}"


@pytest.mark.slow
@pytest.mark.clause("EXPL-1")
def test_a_run_tells_how_fast_the_car_is_while_there_is_no_odometry(tmp_path: Path) -> None:
    scenario, course = tmp_path / "blind.osc", share_file("config", "course", "course.xodr")
    silence = "        serial:\n            wait elapsed(5s)\n            ego.lose_odometry()\n"
    text = along_lanes(PLACES, silence, seconds=14).replace("MAP", str(course))
    scenario.write_text(text, encoding="utf-8")
    said: list[str] = []
    run_scenario(RunSettings(scenario), progress=said.append)
    speeds = {float(line.split()[0]): line.split(" m/s")[0].split()[-1] for line in said if " m/s" in line}
    assert float(speeds[5.0]) > 4.0
    assert {speeds[10.0], speeds[11.0], speeds[12.0]} == {"0.0"}


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_a_run_that_is_shown_is_the_same(tmp_path: Path) -> None:
    said: list[str] = []
    roam = share_file("config", "scenarios", "roam.osc")
    bags = []
    for name, view in (("shown", LiveView(say=said.append)), ("alone", None)):
        run_scenario(RunSettings(roam, overrides=(("length_m", "40"),)), out=tmp_path / name, film=False, view=view)
        bags.append(list(read_messages(BagSource(tmp_path / name))))
    assert len(bags[0]) > 1000
    assert bags[0] == bags[1]
    assert said[0].startswith("view: http://127.0.0.1:")
    assert "the drive is over" in said[-1]


@pytest.mark.medium
def test_an_address_that_cannot_be_listened_on_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["sim", str(share_file("config", "scenarios", "roam.osc")), "--view", "--view-host", "203.0.113.9"]) == 2
    )
    assert "cannot be listened on" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["sim", "x.osc", "--view-port", "70000"])

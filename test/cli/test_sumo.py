"""`--traffic sumo` on the command line: what it needs, what it refuses, what it leaves in the result."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.sumo.installed import IMPORTS, VERSION, libsumo
from tuling_fsm.sim.sumo.traffic import check_scenario

from .scenarios import COURSE, ROAM

RUDE = share_file("config", "scenarios", "rude.osc")
RAIN = share_file("config", "scenarios", "rain.osc")


def test_the_version_is_one_everywhere() -> None:
    root = Path(__file__).parents[2]
    setup, tested = ((root / name).read_text(encoding="utf-8") for name in ("setup.py", "constraints.txt"))
    for package in IMPORTS:
        assert set(re.findall(rf"{package}==([\d.]+)", setup + tested)) == {VERSION}
    assert f'"sumo": ["eclipse-sumo=={VERSION}", "libsumo=={VERSION}"]' in setup


@pytest.mark.parametrize("package", ["libsumo", "sumo"])
@pytest.mark.medium
def test_without_sumo_one_line_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["sim", str(ROAM), "--traffic", "sumo"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is not installed" in error
    assert "pip install libsumo==1.28.0 eclipse-sumo==1.28.0" in error


def test_two_versions_of_sumo_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "1.27.0" if name == "libsumo" else VERSION)
    with pytest.raises(InputError, match=rf"libsumo 1\.27\.0, eclipse-sumo {VERSION}"):
        libsumo()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([str(RUDE)], "10 pedestrians, unknown to SUMO"),
        ([str(RAIN)], "its own actors"),
        ([str(ROAM), "--ros"], "sumo drives beside no nodes"),
    ],
)
def test_what_sumo_cannot_drive_is_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sim", *arguments, "--traffic", "sumo"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error


WORKS = """scenario works:
    ego: vehicle
    traffic: traffic_source
    works: road_works
    place: odr_point = map.create_odr_point("2", "-1", 60m)
    do parallel(duration: 60s):
        ego.random_route(length: 200m)
        traffic.populate(vehicles: {vehicles})
        serial:
            wait elapsed(1s)
            works.{close}(place)
"""


@pytest.mark.parametrize("close", ["close_road", "close_lane"])
def test_a_closed_road_is_refused_among_sumos_vehicles_alone(close: str) -> None:
    check_scenario(compile_text(WORKS.format(vehicles=0, close=close), "works.osc"))
    with pytest.raises(InputError, match=r"^works\.osc:11:13: closes a road, .* \(expected no road works with SUMO\)$"):
        check_scenario(compile_text(WORKS.format(vehicles=1, close=close), "works.osc"))


@pytest.mark.slow
@pytest.mark.clause("SIM-1", "SIM-2")
def test_the_planner_drives_among_sumos_vehicles_and_does_so_again(tmp_path: Path) -> None:
    """Rude ones among them; no contact for either judge, and the same trace for the same seed."""
    overrides = (("length_m", "120"), ("vehicles", "10"), ("pedestrians", "0"), ("rude", "0.2"))
    settings = RunSettings(RUDE, 2, overrides, COURSE, traffic="sumo")
    first, second = (run_scenario(settings, out=tmp_path / str(number), bag=False) for number in range(2))
    traffic = first["traffic"]
    assert first["finished"]
    assert (traffic["source"], traffic["vehicles"], traffic["rude"]) == ("sumo", 10, 2)
    assert traffic["contacts"] == traffic["collisions"] == traffic["standstills"] == []
    assert traffic["ego_unseen_s"] == 0.0
    assert second["trace_sha256"] == first["trace_sha256"]
    assert [file.name for file in (tmp_path / "0").iterdir()] == ["result.json"]

"""SUMO moves the others of a CommonRoad scenario: they answer to the car, and do so again."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from lxml import etree

from bag.commonroad_text import car, lanelet, problem, scenario
from tuling_fsm.bag.commonroad import reactive
from tuling_fsm.bag.commonroad.drive import BEGIN_S, Loop, ScenarioDrive, drive, prepare
from tuling_fsm.bag.commonroad.reactive import EXTRA, SIMULATED, VERSION, ReactiveTraffic
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.commonroad.verdict import judge
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.sim.scoring.collisions import Contact
from tuling_fsm.world.inputs import Inputs

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("commonroad_sumo") is None, reason="its wheels, and SUMO's, are for x86-64"
)
"""Every process of pytest would load it to gather the tests."""


def standing(inputs: Inputs) -> Trajectory:
    """A planner that brakes, and stands."""
    odometry = inputs.odometry
    assert odometry is not None
    return Trajectory.standing(inputs.stamp, odometry.pose, 0.0)


HEAD = (
    'commonRoadVersion="2020a" benchmarkID="ZAM_Made-1_1_T-1" author="a" affiliation="b" source="c" date="2026-01-01" '
)
PLACE = "<location><geoNameId>-999</geoNameId><gpsLatitude>999</gpsLatitude><gpsLongitude>999</gpsLongitude></location>"


def prepared(folder: Path, x: float = 0.0, y: float = 0.0) -> tuple[Path, Loop]:
    """A car that stands 30 m along a road which begins at a place, and one that comes from behind."""
    road = "".join(
        lanelet(number, x + along, y, f'<successor ref="{number + 1}"/>' if number < 3 else "")
        for number, along in ((1, 0.0), (2, 40.0), (3, 80.0))
    )
    goal = f"<length>12</length><width>3</width><center><x>{x + 90.0}</x><y>{y}</y></center>"
    goal = f"<position><rectangle>{goal}</rectangle></position>"
    agents = car(7, x + 6.0, y, 8.0, 100) + problem(x + 30.0, y, 0.0, goal, (60, 60))
    file = scenario(folder, f"{PLACE}<scenarioTags><urban/></scenarioTags>{road}{agents}")
    file.write_text(file.read_text().replace('benchmarkID="made" ', HEAD))
    return file, prepare(read_recording(file), folder / "out")


def driven(folder: Path, x: float = 0.0, y: float = 0.0) -> ScenarioDrive:
    file, loop = prepared(folder, x, y)
    return ReactiveTraffic(file, folder / "out")(loop, standing)


@pytest.mark.slow
@pytest.mark.clause("SIM-1")
def test_one_that_would_run_into_the_car_in_the_recording_stops_behind_it(tmp_path: Path) -> None:
    _, loop = prepared(tmp_path)
    assert [each.contact for each in judge(loop, drive(loop, standing)).contacts] == [Contact.STANDING]
    done = driven(tmp_path)
    assert judge(loop, done).contacts == ()
    (follower,) = done.obstacles
    rear = 30.0 - 0.5 * loop.vehicle.length
    assert follower.states[0, 1] == 6.0 and abs(follower.states[-1, 4]) < 0.5
    assert rear - 10.0 < follower.states[-1, 1] + 0.5 * follower.length < rear
    (written,) = read_recording(tmp_path / "out" / SIMULATED).obstacles
    assert written.states[-1] == pytest.approx(follower.states[-1], abs=1e-3)
    again = driven(tmp_path)
    assert again.states == done.states and (again.obstacles[0].states == follower.states).all()


@pytest.mark.slow
def test_far_from_zero_it_is_the_same(tmp_path: Path) -> None:
    (near,), (far,) = (driven(tmp_path, *place).obstacles for place in ((0.0, 0.0), (691025.0, 5335031.0)))
    assert far.states[-1, 1] - far.states[0, 1] == pytest.approx(near.states[-1, 1] - near.states[0, 1], abs=0.1)
    (written,) = read_recording(tmp_path / "out" / SIMULATED).obstacles
    assert written.states[-1] == pytest.approx(far.states[-1], abs=0.01)


@pytest.mark.slow
def test_the_planner_drives_among_them_from_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, _ = prepared(tmp_path)
    out = tmp_path / "driven"
    assert main(["commonroad", str(file), "--drive", "--traffic", "sumo", "--out", str(out)]) in (0, 1)
    assert "problem 5, " in capfd.readouterr().out
    states = etree.parse(str(out / "solution.xml")).findall(".//ksState")
    assert len(states) > 1 and (out / SIMULATED).is_file() and (out / "run.mcap").is_file()


@pytest.mark.medium
def test_what_is_missing_and_what_cannot_be_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, loop = prepared(tmp_path)
    assert main(["commonroad", str(file), "--traffic", "sumo", "--out", str(tmp_path / "out")]) == 2
    assert "--traffic: nothing is driven" in capsys.readouterr().err
    assert main(["commonroad", str(file), "--drive", "--seed", "2", "--out", str(tmp_path / "out")]) == 2
    assert "--seed: nothing in a recording is random" in capsys.readouterr().err
    file.write_text(file.read_text().replace('commonRoadVersion="2020a"', 'commonRoadVersion="1999"'))
    with pytest.raises(InputError, match=r"commonroad-io cannot read it: .*not supported"):
        ReactiveTraffic(file, tmp_path / "out")(loop, standing)

    def absent(name: str) -> object:
        raise ModuleNotFoundError(name=name.partition(".")[0])

    monkeypatch.setattr(reactive, "import_module", absent)
    with pytest.raises(InputError, match=r"--traffic sumo: the package of commonroad_sumo is not installed"):
        ReactiveTraffic(file, tmp_path / "out")(loop, standing)


def test_the_version_is_one_everywhere() -> None:
    root = Path(__file__).parents[2]
    setup, pinned = ((root / name).read_text(encoding="utf-8") for name in ("setup.py", "constraints.txt"))
    assert f"commonroad-sumo=={VERSION}" in pinned and all(f'"{each}"' in setup for each in EXTRA.split()[2:])


@pytest.mark.medium
def test_what_the_planner_raises_is_not_taken_for_sumos(tmp_path: Path) -> None:
    file, loop = prepared(tmp_path)

    def failing(inputs: Inputs) -> Trajectory:
        if inputs.stamp >= BEGIN_S:
            raise ZeroDivisionError
        return standing(inputs)

    with pytest.raises(ZeroDivisionError):
        ReactiveTraffic(file, tmp_path / "out")(loop, failing)
    file.write_text(file.read_text().replace("<rightBound>", "<rightBound><point><x>-90</x><y>60</y></point>", 1))
    with pytest.raises(InputError, match=r"scenario\.xml: commonroad-"):
        ReactiveTraffic(file, tmp_path / "out")(loop, standing)

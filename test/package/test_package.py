"""The package as others install it: with pip into an environment without ROS, and with colcon into a workspace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from package.conftest import colcon, run

pytestmark = pytest.mark.slow


def test_pip_installs_the_command_without_ros(fresh):
    said = run(fresh / "tuling-fsm", "--help", cwd=fresh).stdout
    for verb in ("demo", "sim", "replay", "report", "plan", "map", "route"):
        assert verb in said
    assert "rclpy" not in run(fresh / "python", "-m", "pip", "list", cwd=fresh).stdout


def test_all_but_the_nodes_can_be_imported_without_ros(fresh):
    code = (
        "import importlib, pkgutil, tuling_fsm\n"
        "for each in pkgutil.walk_packages(tuling_fsm.__path__, 'tuling_fsm.'):\n"
        "    if not each.name.startswith('tuling_fsm.ros'):\n"
        "        importlib.import_module(each.name)\n"
        "        print(each.name)\n"
    )
    assert "tuling_fsm.bag.replay" in run(fresh / "python", "-c", code, cwd=fresh).stdout.split()


def test_the_nodes_say_what_is_missing_without_ros(fresh):
    for name in ("planner", "sim", "route_server"):
        done = run(fresh / name, cwd=fresh, check=False)
        assert done.returncode == 2
        assert done.stderr.strip() == (
            "rclpy: not installed (expected a sourced ROS 2 installation, "
            "or the extra of this package: pip install 'tuling_fsm[ros]')"
        )


def test_the_shared_files_are_found_where_pip_puts_them(fresh):
    code = "from tuling_fsm.share import share_file; print(share_file('config', 'planner.yaml'))"
    found = Path(run(fresh / "python", "-c", code, cwd=fresh).stdout.strip())
    assert found == fresh.parent / "share" / "tuling_fsm" / "config" / "planner.yaml"
    assert (found.parents[1] / "launch" / "planner.launch.py").is_file()


def test_the_page_of_a_film_is_installed_with_its_modules(fresh):
    code = (
        "from tuling_fsm.viewer.columns import ColumnWriter\n"
        "from tuling_fsm.viewer.film_page import page\n"
        "from tuling_fsm.viewer.recording import FilmRun\n"
        "text = page([FilmRun('a drive', ColumnWriter().packed({}))])\n"
        "print('<title>a drive</title>' in text, '#film/main.js' in text, '(v1.6.32)' in text)\n"
    )
    assert run(fresh / "python", "-c", code, cwd=fresh).stdout.split() == ["True"] * 3


def test_bags_are_written_and_read_without_ros(fresh):
    code = (
        "from pathlib import Path\n"
        "from tuling_fsm.bag.source import BagSource\n"
        "from tuling_fsm.bag.writer import BagWriter\n"
        "from tuling_fsm.bag.ticks import read_inputs\n"
        "from tuling_fsm.world.inputs import Inputs, Odometry\n"
        "from tuling_fsm.core.geometry import Pose\n"
        "with BagWriter('out') as bag:\n"
        "    bag.write_tick(Inputs(1.0, odometry=Odometry(1.0, Pose(1.0, 2.0, 0.5), 3.0, 0.0)), ())\n"
        "print([i.odometry.pose.x for i in read_inputs(BagSource(Path('out')))])\n"
    )
    assert run(fresh / "python", "-c", code, cwd=fresh).stdout.strip() == "[1.0]"


def test_colcon_knows_the_package_as_ament_python(workspace):
    assert colcon(workspace, "list").split() == ["tuling_fsm", "src/tuling_fsm", "(ros.ament_python)"]


def test_colcon_installs_share_and_executables(workspace):
    prefix = workspace / "install" / "tuling_fsm"
    share = prefix / "share" / "tuling_fsm"
    assert (prefix / "share" / "ament_index" / "resource_index" / "packages" / "tuling_fsm").is_file()
    for file in (
        "package.xml",
        "requirements.txt",
        "launch/planner.launch.py",
        "launch/sim.launch.py",
        "launch/carla.launch.py",
        "launch/replay.launch.py",
        "config/planner.yaml",
        "config/sim.yaml",
    ):
        assert (share / file).is_file(), file
    for name in ("planner", "sim", "route_server", "carla_bridge", "carla_map", "tuling-fsm"):
        assert os.access(prefix / "lib" / "tuling_fsm" / name, os.X_OK)


def test_the_executables_of_the_workspace_run_from_there(workspace):
    prefix = workspace / "install" / "tuling_fsm"
    sourced = ". install/local_setup.sh && "
    where = run(
        "sh", "-c", f"{sourced} {sys.executable} -c 'import tuling_fsm; print(tuling_fsm.__file__)'", cwd=workspace
    )
    assert Path(where.stdout.strip()).is_relative_to(prefix)
    said = run("sh", "-c", f"{sourced} {prefix}/lib/tuling_fsm/tuling-fsm --help", cwd=workspace).stdout
    assert "demo" in said
    code = "from tuling_fsm.share import share_file; print(share_file('config', 'planner.yaml'))"
    found = run("sh", "-c", f'{sourced} {sys.executable} -c "{code}"', cwd=workspace).stdout.strip()
    assert Path(found) == prefix / "share" / "tuling_fsm" / "config" / "planner.yaml"


def test_the_planner_of_the_workspace_starts_and_says_what_is_wrong(workspace):
    pytest.importorskip("rclpy")
    command = ". install/local_setup.sh && exec install/tuling_fsm/lib/tuling_fsm/planner --ros-args -p no_such:=1"
    done = run("sh", "-c", command, cwd=workspace, check=False, ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
    assert done.returncode == 2
    assert "parameter no_such: no such parameter" in done.stderr

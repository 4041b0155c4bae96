"""What the vehicle's own install yields: rosdep keys, the pip line for the rest, and what a node says without them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement

from tuling_fsm import requirements
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import INPUTS, OUTPUTS
from tuling_fsm.requirements import INSTALL, require_packages

ROOT = Path(__file__).resolve().parents[2]
SETUP = (ROOT / "setup.py").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "vehicle.md").read_text(encoding="utf-8")
DEPENDS = {str(each.text) for each in ElementTree.parse(ROOT / "package.xml").getroot().findall("exec_depend")}


class Key(NamedTuple):
    """A rosdep key, and the version of the package that it stands for; None where apt has no such package."""

    name: str
    jammy: str | None
    noble: str | None


KEYS = {
    "lark": Key("python3-lark-parser", "1.1.1", "1.1.9"),
    "lxml": Key("python3-lxml", "4.8.0", "5.2.1"),
    "matplotlib": Key("python3-matplotlib", "3.5.1", "3.6.3"),
    "numba": Key("python3-numba", "0.55.1", None),
    "numpy": Key("python3-numpy", "1.21.5", "1.26.4"),
    "pip": Key("python3-pip", "22.0.2", "24.0"),
    "pyyaml": Key("python3-yaml", "5.4.1", "6.0.1"),
    "rich": Key("python3-rich", "11.2.0", "13.7.1"),
    "rosbags": Key("python3-rosbags-pip", None, None),
    "scipy": Key("python3-scipy", "1.8.0", "1.11.4"),
    "shapely": Key("python3-shapely", "1.8.0", "2.0.3"),
    "transitions": Key("python3-transitions", "0.8.10", "0.9.0"),
}
"""By the package of PyPI: rosdep/python.yaml of ros/rosdistro, and the archives of Ubuntu 22.04 and 24.04.

The key of numba is defined for every Ubuntu, but 24.04 has no such package, so that rosdep would fail. That of rosbags
has it installed by pip, which fails there as well unless the environment says otherwise.
"""
RELEASES = ("noble", "jammy")
ROSDEP = {key.name for key in KEYS.values() if key.jammy and key.noble}
"""What may be named for rosdep to succeed on both."""
DISTRIBUTIONS = {"backports": "backports.zstd", "yaml": "pyyaml"}
ROS = {"launch", "launch_ros", "rclpy", "ament_index_python"}
EXTRA = {"cmaes", "distributed", "shtab"}
"""Only of the command line, for a cluster and for the completion of a shell; it says itself how to get them."""
LIMITED = {"numpy"}
"""What a vehicle takes older than the tested version: modules of ROS are compiled against the ABI of numpy 1."""


def requirements_in(text: str) -> dict[str, Requirement]:
    found = [Requirement(line.partition("#")[0]) for line in text.splitlines() if line.partition("#")[0].strip()]
    return {each.name.lower(): each for each in found}


def declared() -> dict[str, Requirement]:
    block = re.search(r"install_requires=\[(.*?)\]", SETUP, re.DOTALL)
    assert block is not None
    return requirements_in("\n".join(re.findall(r'"(.+)"', block[1])))


DECLARED = declared()
BY_PIP = requirements_in((ROOT / "requirements.txt").read_text(encoding="utf-8"))
TESTED = requirements_in((ROOT / "constraints.txt").read_text(encoding="utf-8"))


def imported_by(file: Path) -> Iterator[str]:
    """The full names that a file imports, wherever in it it does."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0
            yield node.module


@cache
def third_party() -> frozenset[str]:
    files = [*(ROOT / "tuling_fsm").rglob("*.py"), *(ROOT / "launch").glob("*.py")]
    names = {name.partition(".")[0] for file in files for name in imported_by(file)}
    return frozenset(names - sys.stdlib_module_names - {"tuling_fsm"})


def is_of_ros(module: str) -> bool:
    return module in ROS or module.endswith(("_msgs", "_srvs", "_interfaces"))


@pytest.mark.medium
def test_rosdep_brings_what_is_imported_of_ros() -> None:
    assert {module for module in third_party() if is_of_ros(module)} <= DEPENDS
    topics = {topic.type.partition("/")[0] for topic in (*INPUTS, *OUTPUTS)}
    assert topics <= DEPENDS


def test_rosdep_or_pip_brings_every_other_import() -> None:
    packages = {DISTRIBUTIONS.get(module, module) for module in third_party() if not is_of_ros(module)} - EXTRA
    for package in packages:
        assert package in DECLARED, f"{package} is imported, and not in install_requires of setup.py"
        assert package in BY_PIP, f"{package} is imported, and not in requirements.txt"
        key = KEYS.get(package)
        assert key is None or key.name not in ROSDEP or key.name in DEPENDS, f"{package} is not in package.xml"
    assert set(DECLARED) == set(BY_PIP) == packages


def test_rosdep_knows_every_key_on_both_releases() -> None:
    assert {key for key in DEPENDS if key.startswith("python3-")} == ROSDEP


def of_ubuntu(package: str, release: str) -> str | None:
    return getattr(KEYS[package], release) if package in KEYS else None


def will_do(package: str, release: str) -> bool:
    """Whether the distribution's own package may stay."""
    version = of_ubuntu(package, release)
    return version is not None and version in DECLARED[package].specifier


@pytest.mark.parametrize("release", RELEASES)
def test_pip_replaces_what_is_too_old_and_leaves_the_rest(release: str) -> None:
    for package, requirement in BY_PIP.items():
        version = of_ubuntu(package, release)
        if version is not None:
            assert (version in requirement.specifier) is will_do(package, release), package


def test_what_pip_brings_is_what_is_declared_and_tested() -> None:
    for package, requirement in BY_PIP.items():
        (tested,) = (limit.version for limit in TESTED[package].specifier)
        assert tested in DECLARED[package].specifier, package
        assert (tested in requirement.specifier) is (package not in LIMITED), package
        limits = {limit.operator: limit.version for limit in requirement.specifier}
        assert (limits.get("==") or limits[">="]) in DECLARED[package].specifier, package
        assert ("==" in limits) is not any(will_do(package, release) for release in RELEASES), package


def test_the_guide_has_the_line_that_a_node_says() -> None:
    assert GUIDE.count(f"\n{INSTALL}\n```") == 1
    assert GUIDE.count("pip install") == 1
    assert '(SHARE, ["package.xml", "requirements.txt"])' in SETUP


def test_the_guide_has_the_versions_of_ubuntu() -> None:
    table = re.search(r"^\| package \|.*\n\|[-|]+\n((?:\|.*\n)+)", GUIDE, re.MULTILINE)
    assert table is not None
    rows = {row.split("`")[1]: row.strip("| ").split(" | ")[1:] for row in table[1].splitlines()}
    assert set(rows) == set(DECLARED)
    for package, cells in rows.items():
        for cell, release in zip(cells, RELEASES, strict=True):
            assert cell.startswith("its own" if will_do(package, release) else "from pip"), (package, release)
            assert (of_ubuntu(package, release) or "from pip") in cell, (package, release)


def test_files_of_the_package_are_named_folder_by_folder() -> None:
    """The setuptools of Ubuntu 22.04 knows no ** in a pattern, and would leave them out."""
    files = [file for file in (ROOT / "tuling_fsm").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    names = {file.relative_to(ROOT / "tuling_fsm").as_posix() for file in files if file.suffix != ".py"}
    data = re.search(r"package_data=\{\s*NAME: \[(.*?)\]", SETUP, re.DOTALL)
    assert data is not None
    patterns = re.findall(r'"(.*?)"', data[1])
    assert not [pattern for pattern in patterns if "**" in pattern]
    found = {file for pattern in patterns for file in (ROOT / "tuling_fsm").glob(pattern) if file.is_file()}
    assert {file.relative_to(ROOT / "tuling_fsm").as_posix() for file in found} == names


def test_limits_are_of_a_kind_that_is_looked_at() -> None:
    for requirement in DECLARED.values():
        assert requirement.marker is None
        assert {limit.operator for limit in requirement.specifier} <= {">=", "==", "<"}


def test_everything_is_there() -> None:
    require_packages()


@pytest.mark.parametrize(
    ("requirement", "version", "fits"),
    [
        ("lark>=1.2", "1.1.9", False),
        ("lark>=1.2", "1.2", True),
        ("lark>=1.2", "1.10.0", True),
        ("lark>=1.2.0", "1.2", True),
        ("lark>=1.2", "1.2.2+dfsg", True),
        ("lark==1.2.3", "1.2.2", False),
        ("lark==1.2.3", "1.2.4", False),
        ("lark==1.2.3", "1.2.3", True),
        ("lark (<2,>=1.2)", "2.0.1", False),
        ("lark (<2,>=1.2)", "1.3", True),
        ("lark>=1.2", "0+unknown", True),
        ('lark>=1.2; extra == "x"', "0.1", True),
    ],
)
def test_versions(requirement: str, version: str, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements.metadata, "requires", lambda _: [requirement])
    monkeypatch.setattr(requirements.metadata, "version", lambda _: version)
    if fits:
        require_packages()
    else:
        with pytest.raises(InputError, match=re.escape(f"lark is {version} (expected lark")):
            require_packages()


def test_a_module_without_a_version_will_do_and_so_does_a_package_that_is_not_installed(monkeypatch) -> None:
    def nothing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(requirements.metadata, "version", nothing)
    require_packages()
    monkeypatch.setattr(requirements.metadata, "requires", nothing)
    require_packages()


EXECUTABLES = re.findall(r'"([\w-]+) = ([\w.]+):(\w+)"', SETUP)
WITHOUT = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name in {missing!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Without())
"""


def said(code: str, folder: Path, missing: set[str]) -> subprocess.CompletedProcess[str]:
    """What a process says to which modules are not there, and this package has what `setup.py` declares."""
    install(folder, "tuling_fsm", "0.2.0", *map(str, DECLARED.values()))
    path = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    command = [sys.executable, "-c", path + WITHOUT.format(missing=missing) + code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def install(folder: Path, name: str, version: str, *needs: str) -> None:
    """What pip leaves of a package, without the package."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    lines = ("Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {n}" for n in needs))
    (info / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_line(done: subprocess.CompletedProcess[str], found: str, expected: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr == f"packages of {sys.executable}: {found} (expected {expected}: {INSTALL})\n"


@pytest.mark.parametrize(("name", "module", "function"), EXECUTABLES)
@pytest.mark.medium
def test_an_executable_says_what_is_missing(name: str, module: str, function: str, tmp_path: Path) -> None:
    """Nothing that is not of the standard library is imported before: all of it is missing."""
    names = sorted(DECLARED)
    done = said(f"from {module} import {function}; sys.exit({function}([{name!r}]))", tmp_path, third_party())
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"packages of {sys.executable}: {names[0]} is not installed, {names[1]} is not")
    assert done.stderr.endswith(f"{', '.join(str(DECLARED[each]) for each in names)}: {INSTALL})\n")


PLANNER = "from tuling_fsm.ros.executable import planner; sys.exit(planner(['planner']))"


def test_a_node_says_which_package_is_missing(tmp_path: Path) -> None:
    check_line(said(PLANNER, tmp_path, {"numba"}), "numba is not installed", str(DECLARED["numba"]))


def test_a_node_says_which_package_is_too_old(tmp_path: Path) -> None:
    install(tmp_path, "transitions", "0.9.0")
    install(tmp_path, "shapely", "1.8.5")
    expected = f"{DECLARED['shapely']}, {DECLARED['transitions']}"
    check_line(said(PLANNER, tmp_path, set()), "shapely is 1.8.5, transitions is 0.9.0", expected)


@pytest.mark.ros
def test_a_node_says_that_packages_do_not_fit_each_other(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    code = (
        "from tuling_fsm.ros import executable\n"
        "def failing(): raise ImportError('numpy.core.multiarray failed to import')\n"
        "executable._planner = failing\n"
        "sys.exit(executable.planner(['planner']))\n"
    )
    done = said(code, tmp_path, set())
    check_line(done, "numpy.core.multiarray failed to import", "packages that fit each other")


def test_launch_files_need_no_package_so_that_the_node_can_say_what_is_missing(tmp_path: Path) -> None:
    """`ros2 launch` imports them with the interpreter of ROS, and would show a traceback."""
    files = [*(ROOT / "launch").glob("*.py"), ROOT / "tuling_fsm" / "ros" / "launching.py"]
    modules = {name for file in files for name in imported_by(file) if name.startswith("tuling_fsm")}
    code = "\n".join(f"import {name}" for name in modules - {"tuling_fsm.ros.launching"})
    done = said(code, tmp_path, third_party())
    assert done.returncode == 0, done.stderr

"""The package as others have it, installed and built once for all processes of a run of the tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from patience import LONG_PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
NAME = "tuling_fsm"
FILES = ("package.xml", "requirements.txt", "setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE")
FOLDERS = ("resource", "tuling_fsm", "config", "launch")
LEFT_BEHIND = ("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "PYTHONPATH", "VIRTUAL_ENV")


def run(*command: str | Path, cwd: Path, check: bool = True, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in LEFT_BEHIND} | extra
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=LONG_PATIENCE_S)
    assert not check or done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def colcon(folder: Path, *arguments: str) -> str:
    scripts = Path(sys.executable).parent
    path = os.pathsep.join((str(scripts), os.environ["PATH"]))
    return run(scripts / "colcon", *arguments, cwd=folder, PATH=path).stdout


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of executables of an environment in which the package was installed with the packages that it says it
    requires, and nothing else: nothing of ROS.
    """
    return made_once(tmp_path_factory, "fresh", install) / "venv" / "bin"


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A colcon workspace in which the package has been built."""
    if shutil.which("colcon", path=Path(sys.executable).parent) is None:
        pytest.skip("no colcon")
    return made_once(tmp_path_factory, "workspace", build)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first process to want it makes; the others wait for that."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    complete = folder.with_suffix(".complete")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            complete.touch()
    return folder


def install(folder: Path) -> None:
    """What is required is linked from the environment of the tests, so that nothing is downloaded or unpacked; what
    is not required, be it there or not, is not found.
    """
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    source = copy_tree(folder / "source")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", ".", cwd=source)
    say = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(python, "-c", say, cwd=folder).stdout.strip())
    (ours,) = metadata.distributions(name=NAME, path=[str(packages)])
    for required in closure(ours):
        link(required, packages)
    run(python, "-m", "pip", "check", cwd=folder)


def build(folder: Path) -> None:
    copy_tree(folder / "src" / NAME)
    colcon(folder, "build")


def copy_tree(target: Path) -> Path:
    """The source tree without what has been built in it."""
    target.mkdir(parents=True)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, target / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        if (ROOT / file).exists():
            shutil.copy(ROOT / file, target / file)
    return target


def closure(of: metadata.Distribution) -> list[metadata.Distribution]:
    """All that a distribution requires without extras, and what that requires, as far as the tests' own environment
    has it.
    """
    found: dict[str, metadata.Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(of, "")]
    while waiting:
        each, extra = waiting.pop()
        for requirement in map(Requirement, each.requires or ()):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            found[name] = metadata.distribution(name)
            new = {(name, more) for more in ("", *requirement.extras)} - seen
            seen |= new
            waiting += [(found[name], more) for _, more in new]
    return list(found.values())


def link(distribution: metadata.Distribution, packages: Path) -> None:
    """Put links to the files of a distribution where another environment finds them."""
    for file in distribution.files or ():
        if ".." in file.parts or "__pycache__" in file.parts:
            continue
        target = packages / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(Path(str(distribution.locate_file(file))).resolve())

"""Builds the source distribution and from it the wheel, and installs that into a clean environment of each Python.

`cd test && python -m package.wheels DIST [PYTHON...]` (`make wheels`); every python3.10 to 3.12 that is found, if none
is named.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from package.conftest import ROOT, copy_tree, run

NAMES = ("python3.10", "python3.11", "python3.12")
TRIED = """
import importlib, pkgutil
import tuling_fsm
from tuling_fsm.share import share_file
town = tuling_fsm.load_map(share_file("config", "course", "course.xodr"))
missing = [name for name in tuling_fsm.__all__ if not hasattr(tuling_fsm, name)]
for each in pkgutil.walk_packages(tuling_fsm.__path__, "tuling_fsm."):
    if not each.name.startswith("tuling_fsm.ros"):
        importlib.import_module(each.name)
print(tuling_fsm.__version__, len(town.driving_lanes()), missing, tuling_fsm.__file__)
"""


def build(dist: Path, *options: str) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is made of it and of nothing else.

    Args:
        dist: the folder for both.
        options: of `python -m build`.
    """
    with tempfile.TemporaryDirectory(prefix="tuling_fsm_") as folder:
        source = copy_tree(Path(folder) / "source")
        run(sys.executable, "-m", "build", "--outdir", dist.resolve(), *options, cwd=source)
    (archive,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return archive, wheel


def try_wheel(wheel: Path, python: str) -> str:
    """What a clean environment says with the wheel in it, and what it requires in the versions of `constraints.txt`."""
    with tempfile.TemporaryDirectory(prefix="tuling_fsm_") as folder:
        place, bin_folder = Path(folder), Path(folder) / "venv" / "bin"
        run(python, "-m", "venv", place / "venv", cwd=place)
        pip = (bin_folder / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
        run(*pip, "install", "--constraint", ROOT / "constraints.txt", wheel.resolve(), cwd=place)
        run(*pip, "check", cwd=place)
        said = run(bin_folder / "python", "-c", TRIED, cwd=place).stdout.strip()
        version = run(bin_folder / "tuling-fsm", "--version", cwd=place).stdout.strip()
        run(bin_folder / "tuling-fsm", "diagram", cwd=place)
        return f"{version}: {said}"


def main(arguments: Sequence[str]) -> int:
    """Build, and try with each Python; 1 where none was tried or one fails."""
    dist, *named = arguments
    found = [python for python in named or NAMES if shutil.which(python)]
    shutil.rmtree(dist, ignore_errors=True)
    archive, wheel = build(Path(dist))
    print(f"{archive}\n{wheel}", flush=True)
    tried = 0
    for python in found:
        answer = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
        if answer.returncode != 0:  # A shim of a version that is not selected.
            print(f"{python}: does not start")
            continue
        print(f"{answer.stdout.strip()}: {try_wheel(wheel, python)}", flush=True)
        tried += 1
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

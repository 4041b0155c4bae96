"""The source distribution has all that the wheel is made of, and the wheel all that is installed."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

import pytest

import tuling_fsm
from package.conftest import ROOT
from package.wheels import build

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    pytest.importorskip("build")
    return build(tmp_path_factory.mktemp("dist"), "--no-isolation")


def test_the_wheel_has_every_file_of_the_package_and_all_that_is_shared(built: tuple[Path, Path]) -> None:
    _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    package = [file for file in (ROOT / "tuling_fsm").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert {file.relative_to(ROOT).as_posix() for file in package} <= names
    shared = [file for folder in ("config", "launch") for file in (ROOT / folder).rglob("*") if file.is_file()]
    kept = {re.sub(r".*/share/tuling_fsm/", "", name) for name in names}
    assert {file.relative_to(ROOT).as_posix() for file in shared if "__pycache__" not in file.parts} <= kept
    assert f"\nVersion: {tuling_fsm.__version__}\n" in metadata


def test_the_source_distribution_can_be_built_from(built: tuple[Path, Path]) -> None:
    """The wheel was: this is what it took its version, its packages and its tools from."""
    source, _ = built
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"package.xml", "pyproject.toml", "requirements.txt", "setup.py", "README.md", "LICENSE"} <= names

"""All that `make demo` and `make test` install is in the lock files: the versions of constraints.txt, with hashes."""

from __future__ import annotations

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .test_requirements import DECLARED, SETUP, TESTED

ROOT = Path(__file__).resolve().parents[2]
MAKE = (ROOT / "Makefile").read_text(encoding="utf-8")
VERSIONS = ("3.10", "3.11", "3.12")
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
LOCKED = re.compile(r"^(\S+)==(\S+)(?: ; (.+?))? \\$")
EXTRAS = {"run": ("ros", "completion"), "test": ("ros", "completion", "test")}


def lock(name: str, version: str = HERE) -> dict[str, str]:
    """Package and version of all entries of a lock file that a Python on Linux takes."""
    where = {"python_version": version, "python_full_version": f"{version}.1", "platform_machine": "x86_64",
             "sys_platform": "linux", "platform_python_implementation": "CPython"}  # fmt: skip
    entries = [LOCKED.match(line) for line in (ROOT / "locks" / f"{name}.txt").read_text("utf-8").splitlines()]
    return {each[1]: each[2] for each in entries if each and (not each[3] or Marker(each[3]).evaluate(where))}


def declared(extras: tuple[str, ...]) -> list[str]:
    """The requirements of setup.py, as they stand there."""
    (call,) = (node for node in ast.walk(ast.parse(SETUP)) if isinstance(node, ast.Call) and _is_setup(node.func))
    said = {each.arg: each.value for each in call.keywords}
    of_extras = ast.literal_eval(said["extras_require"])
    return [*ast.literal_eval(said["install_requires"]), *(line for extra in extras for line in of_extras[extra])]


def _is_setup(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "setup"


def closure(requirements: list[str]) -> set[str]:
    """The packages that are required, and what those require, as they are installed."""
    found, seen = set[str](), set[tuple[str, frozenset[str]]]()
    waiting = [(Requirement(line), frozenset({""})) for line in requirements]
    while waiting:
        requirement, extras = waiting.pop()
        marker = requirement.marker
        if marker is not None and not any(marker.evaluate({"extra": each}) for each in extras):
            continue
        found.add(canonicalize_name(requirement.name))
        of = (requirement.name, frozenset({"", *requirement.extras}))
        if of not in seen:
            seen.add(of)
            waiting += [(Requirement(line), of[1]) for line in metadata.requires(requirement.name) or ()]
    return found


@pytest.mark.parametrize("name", EXTRAS)
def test_every_line_of_a_lock_file_is_a_version_with_its_hashes(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?! )", text.strip()):
        if not block.startswith("#"):
            first, *hashes = block.splitlines()
            assert LOCKED.match(first), first
            assert hashes
            assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?", line) for line in hashes), first


@pytest.mark.parametrize("name", EXTRAS)
@pytest.mark.parametrize("version", VERSIONS)
def test_versions_are_those_of_the_constraints(name: str, version: str) -> None:
    tested = {canonicalize_name(each): requirement for each, requirement in TESTED.items()}
    for package, locked in lock(name, version).items():
        assert package in tested, f"{package} is not in constraints.txt"
        assert tested[package].specifier.contains(locked), package


def test_every_constraint_is_of_a_locked_package() -> None:
    locked = {package for version in VERSIONS for package in lock("test", version)}
    assert {canonicalize_name(each) for each in TESTED} == locked


def test_what_drives_is_the_same_in_both() -> None:
    for version in VERSIONS:
        assert lock("run", version).items() <= lock("test", version).items()


@pytest.mark.parametrize("name", EXTRAS)
@pytest.mark.medium
def test_nothing_that_is_required_is_missing(name: str) -> None:
    """Nothing is resolved when a lock file is installed, so that what it forgets would be missing."""
    needed = closure(declared(EXTRAS[name]))
    assert {canonicalize_name(each) for each in DECLARED} <= needed
    assert needed | {"setuptools", "wheel"} <= lock(name).keys()


def test_the_environment_is_that_of_the_lock_file() -> None:
    for package, version in lock("test").items():
        assert metadata.version(package) == version, package


def test_make_installs_nothing_without_a_hash() -> None:
    """But the package itself, which has none, and what no command of the two needs."""
    assert re.search(r"^LOCKED := .* --require-hashes$", MAKE, re.MULTILINE)
    assert re.search(r"^part = .* && \$\(LOCKED\) ", MAKE, re.MULTILINE)
    assert re.search(r"^WHEELS := --only-binary :all:$", MAKE, re.MULTILINE)
    recipes = "".join(re.findall(r"^\$\((?:INSTALLED|TESTABLE)\):(?:.*\n)(?:\t.*\n)+", MAKE, re.MULTILINE))
    commands = re.findall(r"@(\$\((?:PIP|LOCKED|call part)[^\n]*)", recipes)
    assert len(commands) >= 5
    assert [command for command in commands if not command.startswith(("$(LOCKED)", "$(call part"))] == [
        "$(PIP) --editable ."
    ]
    assert [command for command in commands if "$(WHEELS)" not in command] == [
        "$(call part,empy,)",
        "$(PIP) --editable .",
        "$(call part,ffmpeg,,locks/test.txt)",
    ]
    assert "pip install" not in recipes

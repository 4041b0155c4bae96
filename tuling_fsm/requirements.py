"""Whether the packages are there that this one needs, in versions that will do.

colcon installs none of them, and a distribution may have one too old: that is to be one line rather than a traceback.
Nothing but the standard library is imported here.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from importlib.util import find_spec

from tuling_fsm.core.errors import InputError
from tuling_fsm.share import PACKAGE

INSTALL = (
    f'PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install -r "$(ros2 pkg prefix --share {PACKAGE})/requirements.txt"'
)
"""The line of the vehicle guide. The variable rather than pip's option: the pip of Ubuntu 22.04 does not know that."""
_DECORATION = re.compile(r"[\s()]")
_NAME = re.compile(r"[\w.-]+")
_LIMIT = re.compile(r"(>=|==|<)([\w.]+)")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_MODULES = {"pyyaml": "yaml"}
"""By the package: what it is called in an import, where that is something else."""


def require_packages() -> None:
    """See that everything is there before any of it is imported.

    Raises:
        InputError: what is missing or does not fit, what would, and what installs it.
    """
    found, expected = [], []
    for requirement in _declared():
        fault = _fault(requirement)
        if fault is not None:
            found.append(fault)
            expected.append(requirement)
    if found:
        raise cannot_start(", ".join(found), ", ".join(expected))


def cannot_start(found: str, expected: str) -> InputError:
    """What to say of packages that do not fit.

    Args:
        found: what is wrong with them.
        expected: what would be right.
    """
    return InputError(f"packages of {sys.executable}", found, f"{expected}: {INSTALL}")


def _declared() -> list[str]:
    """The requirements of this package that are none of an extra, as `name>=1.0`; none if it is not installed."""
    try:
        requirements = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    return [_DECORATION.sub("", requirement) for requirement in requirements if ";" not in requirement]


def _fault(requirement: str) -> str | None:
    """What is wrong with one package."""
    match = _NAME.match(requirement)
    if match is None:
        return None
    name = match[0]
    if not _importable(_MODULES.get(name.lower(), name)):
        return f"{name} is not installed"
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
    fits = all(_fits(version, sign, limit) for sign, limit in _LIMIT.findall(requirement))
    return None if fits else f"{name} is {version}"


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _fits(version: str, sign: str, limit: str) -> bool:
    """Whether a version keeps a limit; one that tells nothing does, as packages of a distribution may have it."""
    own, other = _release(version), _release(limit)
    if not own:
        return True
    return {">=": own >= other, "==": own == other, "<": own < other}[sign]


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without zeros at the end: 2.0 is 2; empty for one such as 0+unknown."""
    match = _RELEASE.match(version)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)

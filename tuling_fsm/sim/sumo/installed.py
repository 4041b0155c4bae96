"""Whether SUMO is there, in the one version that runs are compared by: it comes with the extra `sumo`."""

from __future__ import annotations

from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError

VERSION = "1.28.0"
IMPORTS = {"libsumo": "libsumo", "eclipse-sumo": "sumo"}
"""What is installed, and what is imported of it."""
_OPTION = "--traffic sumo"
_EXTRA = f"pip install libsumo=={VERSION} eclipse-sumo=={VERSION}"


def require_sumo() -> None:
    """See that all of it is there before anything is begun.

    Raises:
        InputError: what is missing, and what installs it.
    """
    for package in IMPORTS:
        _imported(package)


def sumo_home() -> Path:
    """The folder that SUMO's programs and data are in.

    Raises:
        InputError: it is not installed.
    """
    return Path(str(_imported("eclipse-sumo").SUMO_HOME))


def libsumo() -> Any:
    """SUMO in this process: one simulation at a time.

    Raises:
        InputError: it is not installed, or in another version than the network's maker.
    """
    module = _imported("libsumo")
    found = {name: metadata.version(name) for name in IMPORTS}
    if len(set(found.values())) > 1:
        versions = ", ".join(f"{name} {version}" for name, version in found.items())
        raise InputError(_OPTION, f"two versions: {versions}", _EXTRA)
    return module


def _imported(package: str) -> Any:
    try:
        return import_module(IMPORTS[package])
    except ModuleNotFoundError:
        raise InputError(_OPTION, f"the package {package} is not installed", _EXTRA) from None

"""What a process needs in its environment before rclpy is imported, and what its children must not inherit."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from tuling_fsm.core.errors import InputError

_BOOTSTRAP = "_ROS_WHEELS_BOOTSTRAP_COMPLETE"
"""Left behind by the start-up file of the ROS wheels, which sets the library path and runs the interpreter again."""
PARENT = "TULING_FSM_PARENT"
"""Id of the process without which a child has nothing to do: it ends itself when that is gone."""
_DISCOVERY = "ROS_AUTOMATIC_DISCOVERY_RANGE"


def require_rclpy() -> None:
    """Make rclpy importable in this process: installed from wheels it looks for its resources below AMENT_PREFIX_PATH.

    Raises:
        InputError: rclpy is not installed, or its libraries are not found.
    """
    if importlib.util.find_spec("rclpy") is None:
        raise InputError(
            "rclpy",
            "not installed",
            "a sourced ROS 2 installation, or the extra of this package: pip install 'tuling_fsm[ros]'",
        )
    if rclpy_comes_from_wheels():
        os.environ["AMENT_PREFIX_PATH"] = _with_wheels(os.environ.get("AMENT_PREFIX_PATH", ""))
    try:
        importlib.import_module("rclpy")
    except ImportError as error:
        hint = f"a shell without {_BOOTSTRAP}" if _BOOTSTRAP in os.environ else "a sound installation"
        raise InputError("rclpy", f"cannot be loaded: {error}", hint) from None


def rclpy_comes_from_wheels() -> bool:
    """Whether rclpy was installed with pip."""
    return importlib.util.find_spec("ros_wheels_bootstrapper") is not None


def child_environment(domain_id: int | None = None) -> dict[str, str]:
    """The environment of a ROS process started from here with this interpreter.

    Discovery stays on this machine unless `ROS_AUTOMATIC_DISCOVERY_RANGE` says otherwise.

    Args:
        domain_id: the DDS domain of the child where `ROS_DOMAIN_ID` is not set, or empty.
    """
    environment = dict(os.environ)
    environment.setdefault(_DISCOVERY, "LOCALHOST")
    environment[PARENT] = str(os.getpid())
    if domain_id is not None and not environment.get("ROS_DOMAIN_ID"):
        environment["ROS_DOMAIN_ID"] = str(domain_id)
    if rclpy_comes_from_wheels():
        environment["AMENT_PREFIX_PATH"] = _with_wheels(environment.get("AMENT_PREFIX_PATH", ""))
        environment.pop(_BOOTSTRAP, None)
        libraries = _without_wheels(environment.pop("LD_LIBRARY_PATH", ""))
        if libraries:
            environment["LD_LIBRARY_PATH"] = libraries
    return environment


def _with_wheels(prefix_path: str) -> str:
    """Prefixes of sourced workspaces first, then this interpreter's, where the wheels have their resources."""
    prefixes = [part for part in prefix_path.split(os.pathsep) if part]
    return os.pathsep.join(prefixes if sys.prefix in prefixes else [*prefixes, sys.prefix])


def _without_wheels(library_path: str) -> str:
    """A library path without what the wheels' start-up file has put on it; it does so again in the child."""
    prefix = Path(sys.prefix).resolve()
    kept = [part for part in library_path.split(os.pathsep) if part and prefix not in Path(part).resolve().parents]
    return os.pathsep.join(kept)

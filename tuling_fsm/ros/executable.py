"""The executables, each a node: `python -m tuling_fsm.ros.executable NAME --ros-args ...`.

Where ROS or a package is not to be had they end with one plain line and exit code 2.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tuling_fsm.core.errors import InputError
from tuling_fsm.garbage import collect_seldom
from tuling_fsm.interruption import ending_signals
from tuling_fsm.requirements import cannot_start, require_packages
from tuling_fsm.ros.domains import chosen_domain
from tuling_fsm.ros.environment import require_rclpy
from tuling_fsm.share import PACKAGE

if TYPE_CHECKING:
    from tuling_fsm.ros.served_node import ServedNode

MakeNode = Callable[[], "ServedNode"]
HELP = ("-h", "--help")
USAGE = "[--ros-args [--params-file FILE] [-p NAME:=VALUE] [-r NAME:=OTHER]]; its parameters are in docs/tuning.md"

_PLACE = ", at /"
"""What begins a place in the source of ROS, at the end of its words on an error."""


def planner(arguments: Sequence[str] | None = None) -> int:
    """The planner as a lifecycle node."""
    return run_executable(_planner, arguments)


def sim(arguments: Sequence[str] | None = None) -> int:
    """The embedded simulator on the planner's topics, in lock-step with it."""
    return run_executable(_sim, arguments)


def route_server(arguments: Sequence[str] | None = None) -> int:
    """Answers `plan_route` from the map, or from a preset route."""
    return run_executable(_route_server, arguments)


def tracker(arguments: Sequence[str] | None = None) -> int:
    """Follows the planner's trajectory with a simulator's car."""
    return run_executable(_tracker, arguments)


def carla_bridge(arguments: Sequence[str] | None = None) -> int:
    """The planner drives the ego of a CARLA world through carla-ros-bridge."""
    return run_executable(_carla_bridge, arguments)


def carla_map(arguments: Sequence[str] | None = None) -> int:
    """Saves the map of the CARLA world for the planner."""
    return run_executable(_carla_map, arguments)


def view(arguments: Sequence[str] | None = None) -> int:
    """Shows the drive in browsers while it goes on."""
    return run_executable(_view, arguments)


EXECUTABLES = {each.__name__: each for each in (planner, sim, route_server, tracker, view, carla_bridge, carla_map)}


def _planner() -> MakeNode:
    from tuling_fsm.ros.planner import PlannerNode, planner_factory

    return lambda: PlannerNode(planner_factory())


def _sim() -> MakeNode:
    from tuling_fsm.ros.simulator import SimNode

    return SimNode


def _route_server() -> MakeNode:
    from tuling_fsm.ros.route_service import RouteServiceNode

    return RouteServiceNode


def _tracker() -> MakeNode:
    from tuling_fsm.ros.tracker import TrackerNode

    return TrackerNode


def _view() -> MakeNode:
    from tuling_fsm.ros.view import ViewNode

    return ViewNode


def _carla_bridge() -> MakeNode:
    from tuling_fsm.ros.carla.nodes import CarlaBridge
    from tuling_fsm.ros.carla.topics import InstalledTypes

    types = InstalledTypes()
    return lambda: CarlaBridge(types)


def _carla_map() -> MakeNode:
    from tuling_fsm.ros.carla.nodes import MapSaver
    from tuling_fsm.ros.carla.topics import InstalledTypes

    types = InstalledTypes()
    return lambda: MapSaver(types)


def run_executable(node_maker: Callable[[], MakeNode], arguments: Sequence[str] | None) -> int:
    """Serve one node until it has finished or a signal comes.

    Args:
        node_maker: imports what needs rclpy and returns what makes the node (see `loop.run_node`); an `InputError` from
            it says which package is missing.
        arguments: the command line with its `--ros-args`; the process's own if not given.

    Returns:
        Exit code: the node's own, or 2 with one line on stderr where rclpy, a package or a parameter is missing or bad.
    """
    for number in ending_signals():
        signal.signal(number, _leave)
    collect_seldom()
    try:
        require_packages()
        require_rclpy()
        chosen_domain()
        said = _of_no_use(sys.argv if arguments is None else arguments)
        if said is not None:
            return said
        make_node = _loaded(node_maker)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tuling_fsm.ros.served_node import run_node

    return run_node(make_node, arguments)


def _loaded(node_maker: Callable[[], MakeNode]) -> MakeNode:
    """What makes the node. Packages of right versions need not fit each other: one compiled against another numpy does
    not load.
    """
    try:
        return node_maker()
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] == PACKAGE:
            raise
        raise cannot_start(str(error), "packages that fit each other") from None


def _of_no_use(arguments: Sequence[str]) -> int | None:
    """The exit code where something other than arguments of ROS is given, after a word on what can be.

    Raises:
        InputError: those of ROS are malformed, or name a file that is not there.
    """
    from rclpy.utilities import remove_ros_args

    try:
        program, *rest = remove_ros_args(list(arguments)) or ("",)
    except RuntimeError as error:
        said = str(error).partition(_PLACE)[0].removeprefix("Failed to parse ROS arguments: ")
        raise InputError("--ros-args", said, USAGE) from None
    if not rest:
        return None
    asked = rest[0] in HELP
    word = "usage" if asked else f"{rest[0]} is of no use"
    print(f"{word}: {Path(program).name} {USAGE}", file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


def main(arguments: Sequence[str]) -> int:
    """One of `EXECUTABLES` by its name, the first argument; returns its exit code, or 2 without such a name."""
    name = arguments[0] if arguments else ""
    if name in EXECUTABLES:
        return EXECUTABLES[name](arguments)
    asked = name in HELP
    word = f"{name} is none of them" if name and not asked else "usage"
    names = "|".join(EXECUTABLES)
    print(f"{word}: python -m {PACKAGE}.ros.executable {names} {USAGE}", file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


def _leave(*_: object) -> NoReturn:
    """Nothing is driven while everything is being loaded; `run_node` takes its own care later."""
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

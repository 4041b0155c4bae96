"""The bridge to CARLA with the types of the stand-in, as a program; with `map` as first argument the map saver."""

from __future__ import annotations

import sys

from carla_types import StandInTypes


def main() -> int:
    from tuling_fsm.ros.environment import require_rclpy

    require_rclpy()
    from tuling_fsm.ros.carla.nodes import CarlaBridge, MapSaver
    from tuling_fsm.ros.served_node import run_node

    node = MapSaver if sys.argv[1] == "map" else CarlaBridge
    return run_node(lambda: node(StandInTypes()), sys.argv)


if __name__ == "__main__":
    sys.exit(main())

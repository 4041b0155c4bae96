"""The methods of the map: places, and ways over them."""

from __future__ import annotations

from collections.abc import Callable

from tuling_fsm.sim.scenario.arguments import BoundArguments, Param
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.values import LENGTH, Physical, Struct, Value, Waypoints


def _way(kind: str) -> Callable[[BoundArguments], Value]:
    def made(bound: BoundArguments) -> Value:
        points = bound["points"]
        assert isinstance(points, tuple)
        return Waypoints(kind, tuple(p for p in points if isinstance(p, Placement)))

    return made


def _struct(kind: str) -> Callable[[BoundArguments], Value]:
    return lambda bound: Struct(kind, {name: value for name, value in bound.items() if value is not None})


_ZERO = Physical(0.0, LENGTH)
_POINT = (Param("x", "length"), Param("y", "length"), Param("z", "length", _ZERO))
_LANE = (
    Param("road_id", "id"),
    Param("lane_id", "id"),
    Param("s", "length", _ZERO),
    Param("t", "length", _ZERO),
)
METHODS: dict[str, tuple[tuple[Param, ...], Callable[[BoundArguments], Value]]] = {
    "create_xyz_point": (_POINT, _struct("xyz_point")),
    "create_odr_point": (_LANE, _struct("odr_point")),
    "create_route": ((Param("points", "list of position"),), _way("route")),
    "create_path": ((Param("points", "list of position"),), _way("path")),
    "parking_space": ((Param("id", "id"), Param("backed_in", "bool", False)), _struct("parking_space")),
}
"""Methods of the map by name: parameters, and what they return."""

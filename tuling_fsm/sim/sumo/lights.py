"""The map's traffic lights as SUMO's: every link of a junction shows what the map's signal for it shows.

The map's lights lead and SUMO's follow, not the other way round: the map says which of them are green together, the
scenario may force any of them, the referee judges by them, and the car is told of them; SUMO would make a program of
its own, which knows none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.sumo.matching import LaneMatch, lines_at_end
from tuling_fsm.sim.sumo.network import SumoConnection, SumoNetwork
from tuling_fsm.world.inputs import Light

MOST_RESTRICTIVE = (
    Light.RED, Light.RED_YELLOW, Light.YELLOW, Light.FLASHING_YELLOW, Light.DARK, Light.UNKNOWN, Light.GREEN,
)  # fmt: skip
"""Where several signals rule one link, the first of these counts."""
_SHOWN = {
    Light.RED: "rr",
    Light.RED_YELLOW: "uu",
    Light.YELLOW: "yy",
    Light.GREEN: "Gg",
    Light.FLASHING_YELLOW: "oo",
    Light.DARK: "Oo",
    Light.UNKNOWN: "Oo",
}
"""SUMO's letters for a link with priority and for one without; an unlit one is ruled by priority."""
_NO_LIGHT = Light.DARK


class _Link(NamedTuple):
    """Signal numbers that rule a link, and whether nobody else has priority while it is green."""

    signals: tuple[int, ...]
    major: bool


class LinkLights:
    """What SUMO's lights show, from what the map's show."""

    def __init__(self, network: SumoNetwork, match: LaneMatch, road_map: RoadMap) -> None:
        self._dynamic = {signal.number for signal in road_map.signals.values() if signal.dynamic}
        self._lines = {line.signal for line in road_map.stop_lines if line.kind == "light"}
        self._links: dict[str, list[_Link]] = {}
        for connection in network.connections:
            if connection.light is not None:
                light, index = connection.light
                links = self._links.setdefault(light, [])
                links += [_Link((), False)] * (index + 1 - len(links))
                links[index] = _Link(self._signals(connection, match, road_map), connection.major)

    def _signals(self, connection: SumoConnection, match: LaneMatch, road_map: RoadMap) -> tuple[int, ...]:
        """Lights that hold vehicles at a link, by where their stop lines are. Netconvert names signals of a link, too,
        among them those of the road that it leads to, and those that the map has for the other direction.
        """
        lane = f"{connection.source}_{connection.source_lane}"
        lines = lines_at_end(match, road_map, lane, connection.target)
        held = {line.signal for line in lines if line.kind == "light"} & self._dynamic
        return tuple(sorted(held))

    @property
    def unmatched(self) -> tuple[int, ...]:
        """Lights of the map that rule no link of SUMO's: its vehicles do not know them."""
        ruled = {number for links in self._links.values() for link in links for number in link.signals}
        return tuple(sorted(self._lines & self._dynamic - ruled))

    def signals(self, light: str) -> tuple[tuple[int, ...], ...]:
        """Signal numbers of every link of a light of SUMO's."""
        return tuple(link.signals for link in self._links[light])

    def states(self, lights: Mapping[int, int]) -> dict[str, str]:
        """A letter for each link, by SUMO's light.

        Args:
            lights: states by signal number.
        """
        return {
            light: "".join(_SHOWN[_shown(link, lights)][0 if link.major else 1] for link in links)
            for light, links in self._links.items()
        }


def _shown(link: _Link, lights: Mapping[int, int]) -> Light:
    shown = {Light(lights[number]) for number in link.signals if number in lights}
    return next((light for light in MOST_RESTRICTIVE if light in shown), _NO_LIGHT)

"""The map's traffic lights as SUMO's: every link of a junction shows what the map's signal for it shows.

The map's lights lead and SUMO's follow, not the other way round: the map says which of them are green together, the
scenario may force any of them, the referee judges by them, and the car is told of them; SUMO would make a program of
its own, which knows none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.sumo.matching import LaneMatch
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
        self._road_map, self._match = road_map, match
        self._number = {signal.id: signal.number for signal in road_map.signals.values() if signal.dynamic}
        self._links: dict[str, list[_Link]] = {}
        for connection in network.connections:
            if connection.light is not None:
                self._add(network, connection, *connection.light)

    def _add(self, network: SumoNetwork, connection: SumoConnection, light: str, index: int) -> None:
        links = self._links.setdefault(light, [])
        links += [_Link((), False)] * (index + 1 - len(links))
        named = network.signals.get((light, index), ())
        numbers = tuple(self._number[name] for name in named if name in self._number)
        at_lane = self._signals_of(f"{connection.source}_{connection.source_lane}")
        links[index] = _Link(tuple(n for n in numbers if n in at_lane) or numbers, connection.major)

    def _signals_of(self, lane: str) -> set[int]:
        """Lights whose stop line is on the end of a lane of SUMO's, or just behind it."""
        numbers = self._match.lanes_of.get(lane, ())[-1:]
        near = [after for number in numbers for after in (number, *self._road_map.lanes[number].successors)]
        return {line.signal for number in near for line in self._road_map.stop_lines_of(number) if line.kind == "light"}

    @property
    def unmatched(self) -> tuple[int, ...]:
        """Lights of the map that rule no link of SUMO's: its vehicles do not know them."""
        ruled = {number for links in self._links.values() for link in links for number in link.signals}
        lines = {line.signal for line in self._road_map.stop_lines if line.kind == "light"}
        return tuple(sorted(lines & set(self._number.values()) - ruled))

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

"""SUMO's network of an OpenDRIVE map: its own `netconvert` makes it, and the map's signs say which way has priority.

Left alone, netconvert guesses priority from speeds and numbers of lanes, whatever signs stand there: in CARLA's Town07
23 of 36 edges with a sign would have a way with priority. So the nodes that signs lead into are told what they are, and
the network is made once more.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lxml import etree

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.sumo.installed import sumo_home
from tuling_fsm.sim.sumo.matching import LaneMatch, lines_at_end, match_lanes
from tuling_fsm.sim.sumo.network import SumoNetwork, read_network

STOP, YIELD = "stop", "yield"
_COMMON = ("--no-turnarounds", "true", "--offset.disable-normalization", "true")
"""The map's coordinates are kept, and nobody turns round where the map has no lane for it."""
_OPENDRIVE = ("--opendrive.curve-resolution", "0.5")
"""Curves in pieces of 0.5 m."""
_RIGHT_HAND = ("--opendrive.internal-shapes", "true")
"""Ways through junctions as the map has them, not as SUMO would draw them."""
_LEFT_HAND = ("--lefthand", "true")
"""Lanes on the side where the map has them, if both sides of a road are alike: netconvert takes one for the other. Its
ways through junctions it would leave on the wrong side, so SUMO draws them.
"""
_NARROWEST = ("--opendrive.min-width", "1.5")
"""A lane that opens or closes counts from this width on, m: the same for SUMO's cars as for the car's route."""
_UNLIT = frozenset({"priority", "priority_stop", "allway_stop", "right_before_left", "unregulated"})
"""Types of nodes without lights."""
_MAJOR, _MINOR = "9", "1"
_APPROACH_NEEDED = 2


def convert(map_file: Path, road_map: RoadMap, folder: Path) -> SumoNetwork:
    """Make the network of a map.

    Args:
        map_file: OpenDRIVE.
        road_map: the same, read.
        folder: to write to.

    Raises:
        InputError: SUMO is not installed, or cannot read the map.
    """
    imported, final = folder / "imported.net.xml", folder / "network.net.xml"
    read = (*_OPENDRIVE, *_NARROWEST, *(_LEFT_HAND if road_map.left_hand else _RIGHT_HAND))
    _netconvert(["--opendrive-files", str(map_file.resolve()), *read], imported, map_file)
    network = read_network(imported)
    approaches = signed_approaches(network, match_lanes(network, road_map), road_map)
    if not approaches:
        return network
    nodes, edges = folder / "signs.nod.xml", folder / "signs.edg.xml"
    _write_priorities(approaches, nodes, edges)
    _netconvert(["-s", str(imported), "--node-files", str(nodes), "--edge-files", str(edges)], final, map_file)
    return read_network(final)


def signed_approaches(
    network: SumoNetwork, match: LaneMatch, road_map: RoadMap
) -> dict[str, dict[str, frozenset[str]]]:
    """By node without lights that a sign leads into: the signs (`stop`, `yield`) of every edge that leads there."""
    nodes: dict[str, dict[str, frozenset[str]]] = {}
    for edge in network.edges.values():
        if network.junctions.get(edge.to) in _UNLIT:
            nodes.setdefault(edge.to, {})[edge.id] = _signs(network, match, road_map, edge.id)
    return {node: signs for node, signs in nodes.items() if len(signs) >= _APPROACH_NEEDED and any(signs.values())}


def _signs(network: SumoNetwork, match: LaneMatch, road_map: RoadMap, edge: str) -> frozenset[str]:
    """Signs at the end of an edge."""
    lanes = network.edges[edge].lanes
    kinds = {line.kind for lane in lanes for line in lines_at_end(match, road_map, lane.id)}
    return frozenset(kinds & {STOP, YIELD})


def node_type(signs: Mapping[str, frozenset[str]]) -> str:
    """What SUMO calls a node whose approaches have these signs."""
    if all(signs.values()):
        return "allway_stop" if all(STOP in each for each in signs.values()) else "right_before_left"
    return "priority_stop" if all(STOP in each for each in signs.values() if each) else "priority"


def _write_priorities(approaches: Mapping[str, Mapping[str, frozenset[str]]], nodes: Path, edges: Path) -> None:
    node_root, edge_root = etree.Element("nodes"), etree.Element("edges")
    for node, signs in approaches.items():
        etree.SubElement(node_root, "node", id=node, type=node_type(signs), rightOfWay="edgePriority")
        for edge, found in signs.items():
            etree.SubElement(edge_root, "edge", id=edge, priority=_MINOR if found else _MAJOR)
    etree.ElementTree(node_root).write(nodes)
    etree.ElementTree(edge_root).write(edges)


def _netconvert(arguments: Sequence[str], out: Path, map_file: Path) -> None:
    home = sumo_home()
    done = subprocess.run(
        [str(home / "bin" / "netconvert"), *arguments, *_COMMON, "-o", str(out)],
        capture_output=True, text=True, check=False, env={**os.environ, "SUMO_HOME": str(home)},
    )  # fmt: skip
    if done.returncode != 0 or not out.is_file():
        errors = [line for line in done.stderr.splitlines() if line.startswith("Error")] or ["no reason given"]
        raise InputError(str(map_file), f"netconvert: {errors[0]}", "a map that SUMO can read")

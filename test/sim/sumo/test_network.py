"""SUMO's network of a map: its lanes lie where the map's lie, and its junctions know the map's signs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from crossroads import mirrored

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.share import share_file
from tuling_fsm.sim.sumo.edge_graph import EdgeGraph
from tuling_fsm.sim.sumo.matching import LaneMatch, match_lanes, positions
from tuling_fsm.sim.sumo.netconvert import convert, node_type
from tuling_fsm.sim.sumo.network import SumoNetwork

COURSE = share_file("config", "course", "course.xodr")
STOP, YIELD, NONE = frozenset({"stop"}), frozenset({"yield"}), frozenset[str]()


def offsets(network: SumoNetwork, match: LaneMatch, road_map: RoadMap) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How far middles of SUMO's open lanes are from middles of the map's, m."""
    lanes = [lane for edge in network.edges.values() for lane in edge.lanes if lane.id in match.open]
    found = [position for lane in lanes for position in positions(lane, road_map)]
    assert None not in found
    return np.array([abs(position.offset) for position in found if position is not None])


@pytest.mark.slow
@pytest.mark.clause("SIM-1")
def test_lanes_lie_within_20_cm_of_the_course(course: RoadMap, tmp_path: Path) -> None:
    network = convert(COURSE, course, tmp_path)
    match = match_lanes(network, course)
    away = offsets(network, match, course)
    # A turn lane is one lane from the place on where it is wide enough, while it still opens.
    assert np.mean(away < 0.2) > 0.97
    assert away.max() < 1.0
    driving = {number for number in course.driving_lanes() if course.lanes[number].junction is None}
    named = [number for number in driving if number not in match.edge_of]
    assert all(course.lanes[number].length < 5.0 for number in named)
    assert all(course.lanes[number].type == "driving" for number in match.edge_of)


@pytest.mark.slow
@pytest.mark.clause("SIM-1")
@pytest.mark.parametrize("name", ["carla_Town01", "carla_Town07"])
def test_lanes_lie_within_20_cm_of_a_real_map(name: str, shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "maps" / f"{name}.xodr"
    road_map = read_map(file)
    network = convert(file, road_map, tmp_path)
    away = offsets(network, match_lanes(network, road_map), road_map)
    assert np.mean(away < 0.2) > 0.99


@pytest.mark.medium
def test_parking_lanes_are_closed(course: RoadMap, tmp_path: Path) -> None:
    network = convert(COURSE, course, tmp_path)
    match = match_lanes(network, course)
    graph = EdgeGraph(network, match)
    assert match.closed
    assert not set(match.closed) & {lane.id for lanes in graph.lanes.values() for lane in lanes}


@pytest.mark.clause("SIM-2")
@pytest.mark.medium
def test_vehicles_appear_on_lanes_in_the_order_of_the_file(course: RoadMap, tmp_path: Path) -> None:
    network = convert(COURSE, course, tmp_path)
    starts = [lane.id for lane in EdgeGraph(network, match_lanes(network, course)).starts()]
    assert len(starts) > 20
    assert starts == [lane.id for edge in network.edges.values() for lane in edge.lanes if lane.id in starts]


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ((NONE, NONE, STOP), "priority_stop"),
        ((NONE, STOP, YIELD), "priority"),
        ((STOP, STOP, STOP), "allway_stop"),
        ((YIELD, STOP, YIELD), "right_before_left"),
    ],
)
def test_a_junction_is_what_its_signs_make_of_it(signs: tuple[frozenset[str], ...], expected: str) -> None:
    assert node_type({str(number): each for number, each in enumerate(signs)}) == expected


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_one_that_has_a_stop_sign_has_no_priority(signed: RoadMap, folder: Path, tmp_path: Path) -> None:
    network = convert(folder / "signed.xodr", signed, tmp_path)
    match = match_lanes(network, signed)
    stopping = {
        match.edge_of[number]
        for number in match.edge_of
        if any(line.kind == "stop" for line in signed.stop_lines_of(number))
    }
    assert len(stopping) == 2
    assert [each for each in network.connections if each.source in stopping and each.major] == []
    straight = [each for each in network.connections if each.source not in stopping and each.major]
    assert {each.source for each in straight} == set(network.edges) & {"1", "-1", "3", "-3"} - {
        edge for edge in network.edges if not any(each.source == edge for each in network.connections)
    }


@pytest.mark.medium
def test_lanes_of_a_left_hand_map_lie_where_it_has_them(signed: RoadMap, folder: Path, tmp_path: Path) -> None:
    file = shutil.copy(folder / "signed.xodr", tmp_path)
    road_map = mirrored(Path(file))
    assert road_map.left_hand
    network = convert(tmp_path / "signed_mirrored.xodr", road_map, tmp_path)
    match = match_lanes(network, road_map)
    assert len(match.open) == 8 and match.closed == ()
    assert offsets(network, match, road_map).max() < 0.2
    ways = {(each.source, each.target) for each in network.connections if each.source in network.edges}
    right_hand = convert(folder / "signed.xodr", signed, tmp_path)
    assert len(ways) == len({(each.source, each.target) for each in right_hand.connections})
    assert "stop" in "".join(network.junctions.values())


@pytest.mark.medium
def test_a_left_hand_map_with_unlike_sides_is_refused_in_one_line(tmp_path: Path) -> None:
    road_map = mirrored(Path(shutil.copy(COURSE, tmp_path)))
    with pytest.raises(InputError, match=r"SUMO has 2 of its .* a left-hand map of roads whose two sides are alike"):
        convert(tmp_path / "course_mirrored.xodr", road_map, tmp_path)


def test_a_way_leads_from_edge_to_edge(plain: RoadMap, folder: Path, tmp_path: Path) -> None:
    network = convert(folder / "plain.xodr", plain, tmp_path)
    graph = EdgeGraph(network, match_lanes(network, plain))
    inward = next(edge for edge in graph.lanes if len(graph.successors[edge]) == 3)
    for goal in graph.successors[inward]:
        assert graph.between(inward, goal) == [goal]
        assert graph.onward(goal, 3) == []
        assert graph.between(goal, inward) is None
    assert len(graph.onward(inward, 3)) == 1
    walk = graph.walk(inward, 9, np.random.default_rng(1))
    assert len(walk) == 2
    assert walk[0] == inward


def test_a_map_that_sumo_cannot_read_is_one_line(plain: RoadMap, tmp_path: Path) -> None:
    file = tmp_path / "nothing.xodr"
    file.write_text("<OpenDRIVE>")
    with pytest.raises(InputError, match=r"nothing\.xodr: netconvert: "):
        convert(file, plain, tmp_path)


def test_two_maps_that_are_none_of_each_other_do_not_match(
    plain: RoadMap, two_lanes: RoadMap, folder: Path, tmp_path: Path
) -> None:
    network = convert(folder / "plain.xodr", plain, tmp_path)
    with pytest.raises(InputError, match="lanes where the map has them"):
        match_lanes(network, two_lanes)

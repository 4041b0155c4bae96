"""Junctions with a short road between, and a ring: which lines are before whom."""

from __future__ import annotations

import math

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.scoring.agent_tracks import WAITS_AT_FREE_LINE_S, AgentTracks
from tuling_fsm.sim.scoring.infraction_log import RefereeFrame
from tuling_fsm.sim.scoring.right_of_way import OPEN, SHUT, JunctionYielding
from tuling_fsm.world.inputs import Kind, Light

from .staging import NO_AGENTS
from .test_stop_lines import connecting, junction, light

SIGNAL = 7
RING_M = 30.0
"""Along the reference line."""


@pytest.fixture(scope="module")
def junctions(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Along x: 80 m, a junction, right behind it one with a light, 5 m of road, and a junction without any sign."""
    link, before = xodr.road_link, "predecessor"
    lanes = xodr.section([xodr.lane(-1)])
    short = link("junction", "9", "", before) + link("junction", "10")
    last = xodr.geometry(0.0, 145.0, 0.0, 0.0, 80.0)
    return xodr.read(
        tmp_path_factory.mktemp("maps"),
        xodr.road(lanes, "1", length=80.0, link=link("junction", "8")),
        connecting(110, "8", 80.0, -1, link("road", "1", "end", before) + link("junction", "9")),
        connecting(120, "9", 100.0, -1, link("road", "110", "end", before) + link("road", "2"), light(SIGNAL)),
        xodr.road(lanes, "2", xodr.geometry(0.0, 120.0, 0.0, 0.0, 5.0), 5.0, link=short),
        connecting(130, "10", 125.0, -1, link("road", "2", "end", before) + link("road", "3")),
        xodr.road(lanes, "3", last, 80.0, link=link("junction", "10", "", before)),
        junction(8, 1, 110),
        junction(9, 110, 120),
        junction(10, 2, 130),
    )


@pytest.mark.parametrize(("state", "right"), [(Light.GREEN, OPEN), (Light.RED, SHUT)])
def test_a_light_of_the_junction_before_says_nothing_of_the_right_in_the_next(
    junctions: RoadMap, state: Light, right: int
) -> None:
    yielding = JunctionYielding(junctions, Vehicle(), AgentTracks(junctions))
    rights = [yielding._right({SIGNAL: int(state)}, LaneId(road, 0, -1)) for road in ("120", "130")]
    assert rights == [right, OPEN]


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """A lane that leads into itself, with a light."""
    arc = xodr.geometry(0.0, 0.0, 0.0, 0.0, RING_M, f'<arc curvature="{2.0 * math.pi / RING_M!r}"/>')
    links = xodr.road_link("road", "1") + xodr.road_link("road", "1", "end", "predecessor")
    around = xodr.section([xodr.lane(-1, links=([-1], [-1]))])
    signal = light(SIGNAL).replace('s="0.5"', 's="20"')
    return xodr.read(tmp_path_factory.mktemp("maps"), xodr.road(around, "1", arc, RING_M, link=links, inside=signal))


def test_on_a_ring_one_waits_before_the_line_ahead_on_its_own_lane(ring: RoadMap) -> None:
    (lane,) = ring.lanes.values()
    (line,) = ring.stop_lines_of(lane.id)
    assert lane.successors == (lane.id,)
    tracks = AgentTracks(ring)
    x, y, heading = lane.center.at(line.s - 4.0)
    boxes = AgentBoxes(np.array([(x, y, 0.0, heading, 4.5, 1.8, 0.0)]), np.array([Kind.CAR], np.uint8), np.uint32([1]))
    for k in range(round(WAITS_AT_FREE_LINE_S) + 20):
        tracks.watch(float(k), 1.0, boxes, {SIGNAL: Light.RED})
    assert tracks.queues(0)


def test_on_a_ring_a_line_on_the_own_lane_has_been_passed_where_the_lane_begins_anew(ring: RoadMap) -> None:
    (lane,) = ring.lanes.values()
    vehicle = Vehicle()
    yielding = JunctionYielding(ring, vehicle, AgentTracks(ring))
    place = Pose(*lane.center.at(lane.length - 1.0))
    position = ring.project(*place)
    ego = EgoState(place, 0.0, 5.0, 0.0, 0.0, position)
    corners = vehicle.footprint(place)
    frame = RefereeFrame(0.0, 0.05, ego, corners, NO_AGENTS, {SIGNAL: int(Light.GREEN)}, frozenset())
    yielding._note_passed(frame, position)
    assert yielding._passed == {SIGNAL: Light.GREEN}

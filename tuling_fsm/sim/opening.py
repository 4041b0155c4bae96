"""How a run begins: the vehicles of the traffic and the scripted actors are put on the road around the ego."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.cast import Cast
from tuling_fsm.sim.parameters import TrafficParameters
from tuling_fsm.sim.scenario.model import ActorKind, Scenario
from tuling_fsm.sim.seeds import Seeds, generator
from tuling_fsm.sim.setting import Setting
from tuling_fsm.sim.traffic.lane_graph import build_lane_graph
from tuling_fsm.sim.traffic.manager import TrafficManager

FIRST_TRAFFIC_ID = 1001
CLEAR_STEP_M = 5.0
"""Distance between the circles along the route in which nobody is spawned ..."""
CLEAR_MARGIN_M = 5.0
"""... and how much larger than the gap of those that stand they are."""


class RoadUsers(NamedTuple):
    """Traffic, scripted actors, and the index of each lane in the traffic's graph."""

    traffic: TrafficManager
    cast: Cast
    lanes: Mapping[LaneId, int]


def road_users(
    road_map: RoadMap,
    scenario: Scenario,
    setting: Setting,
    signals: Sequence[int],
    seeds: Seeds,
    parameters: TrafficParameters,
) -> RoadUsers:
    """Put everybody but walkers on the road: first whom the scenario places, then the traffic.

    Args:
        road_map: the map.
        scenario: its actors, and how many vehicles the traffic has.
        setting: the ego's start and route, which are kept clear.
        signals: numbers of the signals in the order of the lights' states.
        seeds: of the run.
        parameters: of the traffic.

    Raises:
        InputError: the map has no place that an actor is put to.
    """
    graph, lanes = build_lane_graph(road_map, signals)
    scripted = sum(actor.kind is ActorKind.VEHICLE for actor in scenario.actors)
    count = scripted + TrafficManager.fitting(graph, scenario.population.vehicles)
    own_seeds = np.asarray(seeds.traffic.generate_state(count, np.uint64), dtype=np.uint64)
    traffic = TrafficManager(graph, own_seeds, scripted, parameters, FIRST_TRAFFIC_ID)
    cast = Cast(road_map, scenario.actors, traffic, lanes, generator(seeds.cast))
    cast.enter(scenario.actors, setting.start)
    traffic.populate(_clear_circles(setting, cast.poses(setting.start).values(), parameters))
    return RoadUsers(traffic, cast, lanes)


def _clear_circles(setting: Setting, actors: Collection[Pose], p: TrafficParameters) -> FloatArray:
    """Circles (K, 3) of x, y, radius (m) around the ego's start, the first stretch of its route and scripted actors:
    nobody is spawned there.
    """
    circles = [(setting.start.x, setting.start.y, p.start_clearance)]
    places = list(actors)
    if setting.route is not None:
        places += [setting.route.reference.at(s) for s in np.arange(0.0, p.route_clearance, CLEAR_STEP_M).tolist()]
    circles += [(pose.x, pose.y, p.standing_gap + CLEAR_MARGIN_M) for pose in places]
    return np.array(circles)

"""Lanes of the map from sampled shapes, links, marks and speed records."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.map.lanes import Lane, LaneId, canonical
from tuling_fsm.map.opendrive.boundary import beyond, side_marks
from tuling_fsm.map.opendrive.bounds import MAX_COORDINATE_M, MAX_POINTS
from tuling_fsm.map.opendrive.document import where
from tuling_fsm.map.opendrive.road import LaneSection, Road
from tuling_fsm.map.opendrive.sampling import LaneShape, sample_section, stations
from tuling_fsm.map.opendrive.speed import lowest_in_lane
from tuling_fsm.map.opendrive.topology import Topology

MAX_WIDTH_M = 1000.0
"""Wider lanes are slips of the file."""


def sample_roads(roads: Mapping[str, Road]) -> dict[LaneId, LaneShape]:
    """The shapes of all lanes of all roads, in file order.

    Raises:
        InputError: a lane becomes absurdly wide or far away, or all together absurdly long.
    """
    shapes: dict[LaneId, LaneShape] = {}
    points = 0
    for road in roads.values():
        for index, section in enumerate(road.sections):
            s = stations(road, section)
            points += len(s) * len(section.lanes)
            if points > MAX_POINTS:
                what = f"more than {MAX_POINTS} points of lanes up to road {road.id}"
                raise InputError(where(road.element), what, "shorter roads, fewer lanes or wider bends")
            for number, shape in sample_section(road, section, s).items():
                _check(road, number, shape)
                shapes[LaneId(road.id, index, number)] = shape
    return shapes


def _check(road: Road, number: int, shape: LaneShape) -> None:
    """Refuse what sane numbers in the file, put together, still make senseless."""
    width = 2.0 * float(np.max(shape.half))
    if not width <= MAX_WIDTH_M:
        raise InputError(where(road.element), f"lane {number} becomes {width:g} m wide", f"at most {MAX_WIDTH_M:g} m")
    if not float(np.max(np.abs(shape.xy))) <= 2.0 * MAX_COORDINATE_M or not np.all(np.isfinite(shape.heading)):
        raise InputError(where(road.element), f"lane {number} lies beyond all bounds", "coordinates below 1e8 m")


def build_lanes(
    roads: Mapping[str, Road], shapes: Mapping[LaneId, LaneShape], topology: Topology
) -> dict[LaneId, Lane]:
    """The lanes of the map, in file order."""
    return {lane_id: _build_lane(roads[lane_id.road], lane_id, shape, topology) for lane_id, shape in shapes.items()}


def _build_lane(road: Road, lane_id: LaneId, shape: LaneShape, topology: Topology) -> Lane:
    section = road.sections[lane_id.section]
    lane = section.lanes[lane_id.lane]
    along = _arc_length(shape.xy)
    left = 1 if road.forward(lane) else -1
    return Lane(
        id=lane_id,
        type=canonical(lane.type),
        section=section.index,
        junction=road.junction,
        center=Polyline(shape.xy, along, shape.heading),
        z=shape.z,
        road_s=shape.road_s,
        road_t=shape.road_t,
        left=shape.half,
        right=shape.half,
        left_marks=side_marks(road, section, lane_id.lane, left, shape.road_s, along),
        right_marks=side_marks(road, section, lane_id.lane, -left, shape.road_s, along),
        limit=lowest_in_lane(road.speeds, lane.speeds, section.start, section.end),
        successors=topology.successors[lane_id],
        predecessors=topology.predecessors[lane_id],
        left_neighbour=_neighbour(road, section, lane_id, left),
        right_neighbour=_neighbour(road, section, lane_id, -left),
    )


def _arc_length(xy: FloatArray) -> FloatArray:
    """Cumulative chord length (N,) m; points that fall together are kept a hair apart, so that rows stay aligned."""
    step = elementwise.hypot(*np.diff(xy, axis=0).T)
    hair = max(1e-9, 2.0 * float(np.spacing(np.sum(step))))
    return np.concatenate(([0.0], np.cumsum(np.maximum(step, hair))))


def _neighbour(road: Road, section: LaneSection, lane_id: LaneId, step: int) -> LaneId | None:
    """The next lane on a side if traffic in it runs the same way."""
    number = beyond(section, lane_id.lane, step)
    if number is None or road.forward(section.lanes[number]) != road.forward(section.lanes[lane_id.lane]):
        return None
    return LaneId(lane_id.road, lane_id.section, number)

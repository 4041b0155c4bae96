"""How PDM-Closed scores its proposals: nuPlan's terms over the roll-out, with agents at constant velocity.

Factors: no collision at fault, on the drivable area, in the driving direction. Weighted: progress 5, time to collision
5, comfort 2 ([dauner2023][], section 4; nuPlan, [caesar2021][]).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.standing import STOPPED
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.sim.baselines.forecast import AgentForecast, boxes_apart
from tuling_fsm.sim.baselines.pdm_proposals import STEP_S, ProposalSet
from tuling_fsm.sim.baselines.route_profile import RouteEdges

PROGRESS, TIME_TO_COLLISION, COMFORT = 5.0, 5.0, 2.0
TTC_STEPS = (3, 6, 9)
"""Bodies are compared after so many steps straight on; 0.9 s, nuPlan asks for 0.95 s."""
NEVER = np.inf
LEAST_PROGRESS_M = 0.1
"""Where no proposal comes farther than this, all have come as far as can be."""
OFF_ROAD_M = 0.3
AGAINST_M = (2.0, 6.0)
"""So far in the lane of the oncoming is nothing, and up to so far half a fault."""
ACCEL, DECEL, LATERAL, JERK, YAW_RATE, YAW_ACCEL = 2.40, 4.05, 4.89, 4.13, 0.95, 1.93
"""nuPlan's limits of comfort: m/s^2, m/s^2, m/s^2, m/s^3, rad/s, rad/s^2."""


class ProposalScores(NamedTuple):
    """Of P proposals (P,): the score, 0 to 1, when a collision at fault comes first (s, inf for none), and when the
    time to one first is too short (s, inf for never).
    """

    score: FloatArray
    collision_s: FloatArray
    short_s: FloatArray


def score_proposals(rows: ProposalSet, agents: AgentForecast, edges: RouteEdges, vehicle: Vehicle) -> ProposalScores:
    """Score all proposals.

    Args:
        rows: the roll-out, K steps.
        agents: forecast over K and the longest of `TTC_STEPS`.
        edges: of the road and of the lanes of the car's direction.
        vehicle: the car.
    """
    collision, short = _first_contacts(rows, agents, vehicle)
    factor = np.isinf(collision) * _on_road(rows, edges, vehicle) * _direction(rows, edges)
    way = (rows.s[:, -1] - rows.s[:, 0]) * (factor > 0.0)
    farthest = way.max()
    progress = np.clip(way / farthest, 0.0, 1.0) if farthest > LEAST_PROGRESS_M else np.ones(len(way))
    weighted = PROGRESS * progress + TIME_TO_COLLISION * np.isinf(short) + COMFORT * _comfortable(rows)
    return ProposalScores(factor * weighted / (PROGRESS + TIME_TO_COLLISION + COMFORT), collision, short)


def _first_contacts(rows: ProposalSet, agents: AgentForecast, vehicle: Vehicle) -> tuple[FloatArray, FloatArray]:
    """When each proposal (P,) first collides at fault, and when it is first too near to that in time, s."""
    never = np.full(len(rows.x), NEVER)
    if not len(agents.x):
        return never, never
    steps = rows.x.shape[1]
    touching = _touches(rows, agents, vehicle, 0, steps)
    alive = ~np.logical_or.accumulate(touching, axis=2)
    alive[:, :, 1:] = alive[:, :, :-1].copy()  # A contact is judged as it begins; those of now were before this plan.
    ahead, moving = _ahead(rows, agents, steps), (rows.v > STOPPED)[:, None, :]
    collision = _first(touching & alive & ahead & moving)
    soon = np.zeros_like(touching)
    for later in TTC_STEPS:
        soon |= _touches(rows, agents, vehicle, later, steps)
    return collision, _first(soon & alive & ahead & moving)


def _touches(rows: ProposalSet, agents: AgentForecast, vehicle: Vehicle, later: int, steps: int) -> BoolArray:
    """Which bodies overlap (P, N, K), each proposal having gone straight on for so many steps from each of its own."""
    on = center_ahead(vehicle) + rows.v * (later * STEP_S)
    sine, cosine = elementwise.sin_cos(rows.heading)
    x, y = rows.x + on * cosine, rows.y + on * sine
    own = (x[:, None, :], y[:, None, :], rows.heading[:, None, :])
    others = agents.x[None, :, later : later + steps], agents.y[None, :, later : later + steps]
    column = (slice(None), slice(None), None)
    heading, length, width = (each[None][column] for each in (agents.heading, agents.length, agents.width))
    return np.asarray(boxes_apart(own, vehicle.length, vehicle.width, (*others, heading), length, width) < 0.0)


def _ahead(rows: ProposalSet, agents: AgentForecast, steps: int) -> BoolArray:
    """Whose middle is ahead of the rear axle (P, N, K): a contact with others, from behind, is theirs."""
    dx, dy = agents.x[None, :, :steps] - rows.x[:, None, :], agents.y[None, :, :steps] - rows.y[:, None, :]
    sin, cos = elementwise.sin_cos(rows.heading)
    return np.asarray(dx * cos[:, None, :] + dy * sin[:, None, :] > 0.0)


def _first(found: BoolArray) -> FloatArray:
    """When something is first so for any agent (P,), s."""
    of_any: BoolArray = np.any(found, axis=1)
    return np.where(np.any(of_any, axis=1), STEP_S * np.argmax(of_any, axis=1), NEVER)


def _on_road(rows: ProposalSet, edges: RouteEdges, vehicle: Vehicle) -> BoolArray:
    """Whose body (P,) stays on the road, as far as the offset of its four corners tells."""
    turned = rows.heading - edges.heading_at(rows.s)
    sin, cos = elementwise.sin_cos(turned)
    inside = np.ones(len(rows.x), dtype=np.bool_)
    for along in (vehicle.front, -vehicle.rear_overhang):
        for aside in (0.5 * vehicle.width, -0.5 * vehicle.width):
            offset = rows.offset + along * sin + aside * cos
            left, right = edges.road_at(rows.s + along * cos - aside * sin)
            inside &= np.all((offset < left + OFF_ROAD_M) & (offset > -right - OFF_ROAD_M), axis=1)
    return inside


def _direction(rows: ProposalSet, edges: RouteEdges) -> FloatArray:
    """1, 0.5 or 0 (P,), by the metres that the rear axle drives in the lane of the oncoming."""
    way = np.diff(rows.s, axis=1, append=rows.s[:, -1:])
    against = np.sum(np.where(rows.offset > edges.lanes_left_at(rows.s), way, 0.0), axis=1)
    return np.asarray(1.0 - 0.5 * (against >= AGAINST_M[0]) - 0.5 * (against >= AGAINST_M[1]))


def _comfortable(rows: ProposalSet) -> BoolArray:
    """Which proposals (P,) stay within nuPlan's limits of comfort."""
    yaw_rate = rows.v * rows.curvature
    lateral = rows.v * yaw_rate
    along = np.all((rows.a <= ACCEL) & (rows.a >= -DECEL), axis=1)
    jerk, yaw_accel = (np.diff(each, axis=1) / STEP_S for each in (rows.a, yaw_rate))
    calm = [np.all(np.abs(each) <= most, axis=1) for each, most in ((lateral, LATERAL), (yaw_rate, YAW_RATE))]
    calm += [np.all(np.abs(each) <= most, axis=1) for each, most in ((jerk, JERK), (yaw_accel, YAW_ACCEL))]
    return np.asarray(along & calm[0] & calm[1] & calm[2] & calm[3])

"""Driving along lanes (NOR-3 to NOR-7): candidates to every lane line, two passes, one winner."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.request import FollowLanes, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.lanes import evaluation
from tuling_fsm.planning.lanes.context import CandidateStart, DerivedParameters, EvaluationContext
from tuling_fsm.planning.lanes.cost import MEMORY_S, CostWeights
from tuling_fsm.planning.lanes.explanation import LaneDecision, explain_candidates, explain_limit, why_blocked
from tuling_fsm.planning.lanes.lane_lines import LaneLines, prepare_lines
from tuling_fsm.planning.lanes.path_end import BOUND, CURVATURE
from tuling_fsm.planning.lanes.sampling import MAX_CANDIDATES, SamplingScope
from tuling_fsm.planning.lanes.workspace import LaneWorkspace
from tuling_fsm.planning.obstacles.boxes import CarOnLines
from tuling_fsm.planning.obstacles.moving import is_dangerous_ahead
from tuling_fsm.planning.obstacles.surroundings import Surroundings
from tuling_fsm.planning.paths.frenet_path import LANE, NODE, SPEC, START_D
from tuling_fsm.planning.paths.reference_line import KAPPA
from tuling_fsm.planning.speed.stopping import comfortable_stop
from tuling_fsm.planning.speed.trajectory import from_standstill, timed_path
from tuling_fsm.planning.start_state import StartState, as_measured, state_at

_CROSSING = (Reason.CROSSING, Reason.PEDESTRIAN)
_HARD = 1.5
"""Braking by so much harder than in comfort is not called for where there is no path for a moment only."""
_TURNED = 0.15
"""Wheels that are turned farther (rad) from where the line wants them are turned before a standing car goes on."""
_TURNED_FAR, _WALKING = 0.3, 1.2
"""Wheels turned as far as the one (rad) are not turned back in time by a car that drives off faster than the other
(m/s)."""
_SWERVE = 15.0
"""Lanes are changed in a dangerous situation only where it saves as much more (m): one that comes in may go on across,
and a car that has swung out and back has not braked."""
_STILL_YIELDING = 1.5
"""A car that yields asks for this much more time before it passes first after all."""


def follow_lanes(
    request: FollowLanes,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    derived: DerivedParameters,
    workspace: LaneWorkspace,
) -> PlanResult | None:
    """The best candidate of both passes (NOR-4, NOR-5), in junctions of the first alone (INT-1); `None` where the car
    cannot join any line.

    Where every path to one is too sharp at once, the previous plan is continued for a moment. Where none is feasible
    from the state that was planned, one may be from where the car was measured, or with its wheels turned first.
    """
    result = _best_from(start, _TURNED, request, scene, previous, derived, workspace)
    if result is None or result.feasible:
        return result
    others = (
        _best_from(other, turned, request, scene, previous, derived, workspace)
        for other, turned in _other_starts(start, scene)
    )
    return next((other for other in others if other is not None and other.feasible), result)


def _other_starts(start: StartState, scene: Scene) -> Iterator[tuple[StartState, float]]:
    """States to begin from where there is no way on from the one that was planned, and how far (rad) the wheels of a
    standing car may be turned from where the line wants them.
    """
    here = as_measured(start, scene) if start.planned else start
    if start.planned:
        yield here, _TURNED
    if abs(start.v) < HELD:
        yield here, 0.0


def _best_from(
    start: StartState,
    most_turned: float,
    request: FollowLanes,
    scene: Scene,
    previous: PlanResult | None,
    derived: DerivedParameters,
    workspace: LaneWorkspace,
) -> PlanResult | None:
    """The best candidate from one state. Wheels of a standing car that are turned farther than `most_turned` (rad) from
    where the line wants them are turned first.
    """
    lines = prepare_lines(request, start, derived.reference_line, derived.body, workspace.lines)
    if lines is None:
        return None
    turned = start.curvature
    if _stops_to_steer(start, previous, lines, derived):
        before = previous.trajectory if previous is not None and start.planned else None
        stop = comfortable_stop(scene, start, before, derived.vehicle, derived.parameters.speed)
        return PlanResult(True, stop, Limit(Reason.STEERING), shift=int(lines.shift[lines.home]))
    if abs(start.v) < HELD and _turned_by(start, lines, derived) > most_turned:
        start = start._replace(curvature=_wanted(lines))
        lines = prepare_lines(request, start, derived.reference_line, derived.body, workspace.lines) or lines
    tick, surroundings = prepare(request, scene, start, previous, lines, derived)
    specs: FloatArray = np.empty((MAX_CANDIDATES, SPEC))
    verdicts: FloatArray = np.empty((MAX_CANDIDATES, evaluation.VERDICT))
    buffers = workspace.buffers(len(tick.moving.id))
    count, best, points = evaluation.plan_best(
        tick, sampling_scope(request, derived), derived.candidate_rows, buffers, specs, verdicts
    )
    specs, verdicts = specs[:count], verdicts[:count]
    if _ends_at_once(verdicts[best], tick) and (rest := rest_of_plan(previous, scene, start, derived)) is not None:
        return rest
    situation = LaneDecision(request, lines, surroundings, specs, verdicts, best)
    trajectory = timed_path(scene.stamp, buffers.path, points, buffers.rows, 1.0)
    limit = explain_limit(situation)
    if start.curvature != turned:
        trajectory, limit = from_standstill(trajectory, limit, turned, derived.vehicle)
    reason = why_blocked(situation, start.v, float(buffers.rows[-1, 0]), derived.parameters.speed.blocked)
    return PlanResult(
        feasible=reason is Reason.NONE,
        trajectory=trajectory,
        limit=limit,
        reason=reason,
        shift=int(lines.shift[int(specs[best, LANE])]),
        alternatives=partial(explain_candidates, specs, verdicts, lines.shift, best),
    )


def _wanted(lines: LaneLines) -> float:
    """Curvature (1/m) of the line that the car is on, where it is."""
    return float(lines.row[lines.home][int(lines.start[lines.home, NODE]), KAPPA])


def _turned_by(start: StartState, lines: LaneLines, derived: DerivedParameters) -> float:
    """How far (rad) the wheels are turned from where the line wants them."""
    wheelbase = derived.vehicle.wheelbase
    return abs(elementary.atan(wheelbase * start.curvature) - elementary.atan(wheelbase * _wanted(lines)))


def _stops_to_steer(
    start: StartState, previous: PlanResult | None, lines: LaneLines, derived: DerivedParameters
) -> bool:
    """Whether the car comes out of a maneuver at walking pace with its wheels turned far: it would swing out while
    they turn back, and turns them where it stands.
    """
    comes = previous is not None and (previous.maneuver is not None or previous.limit.reason is Reason.STEERING)
    return comes and HELD <= start.v < _WALKING and _turned_by(start, lines, derived) > _TURNED_FAR


def sampling_scope(request: FollowLanes, derived: DerivedParameters) -> SamplingScope:
    """Which candidates a request allows."""
    slow = 0.9 * min(request.speed_limit, derived.vehicle.max_speed)
    first_pass_only = request.keep_lane or request.static_path
    return SamplingScope(derived.shapes, slow, request.keep_lane, first_pass_only, derived.parameters.clearance.solid)


def prepare(
    request: FollowLanes,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    lines: LaneLines,
    derived: DerivedParameters,
) -> tuple[EvaluationContext, Surroundings]:
    """What all candidates of a tick have in common, and what is around."""
    pose = (start.pose.x, start.pose.y, start.pose.heading, start.curvature)
    parameters, offsets = derived.parameters, np.ascontiguousarray(lines.start[:, START_D])
    car = CarOnLines(
        lines=lines.row, points=lines.points, offsets=offsets, pose=pose, v=max(0.0, start.v), body=derived.body
    )
    surroundings = Surroundings.of(
        scene,
        car,
        solid_gap=parameters.clearance.solid,
        wanted=parameters.clearance.wanted,
        moving_gaps=derived.moving_gaps,
        passing=derived.passing,
        top_speed=derived.vehicle.max_speed,
    )
    walls = np.array([(wall.x0, wall.y0, wall.x1, wall.y1) for wall in request.walls]).reshape(-1, 4)
    yields = previous is not None and previous.limit.reason in _CROSSING
    lead = parameters.speed.pass_ahead * (_STILL_YIELDING if yields else 1.0)
    motion = CandidateStart(scene.stamp, pose, max(0.0, start.v), start.a)
    moving, rss = surroundings.moving, derived.drive.rss
    dangerous = is_dangerous_ahead(moving.box, moving.speed, pose, motion.v, derived.body, rss)
    weights = _weights(scene, previous, lines, derived, dangerous)
    stops = derived.stops._replace(obstacle=derived.stops.end) if request.creeps_up else derived.stops
    tick = EvaluationContext(
        lines=lines,
        static=surroundings.static,
        moving=surroundings.moving,
        beside=surroundings.beside,
        walls=walls,
        start=motion,
        speed_limit=request.speed_limit,
        lead=lead,
        body=derived.body,
        drive=derived.drive,
        stops=stops,
        weights=weights,
        effort=derived.effort,
    )
    return tick, surroundings


def _ends_at_once(verdict: FloatArray, tick: EvaluationContext) -> bool:
    """Whether a path cannot be steered or leaves the bounds sooner than the car could stop without braking hard."""
    braking = 0.5 * tick.start.v * tick.start.v / (_HARD * tick.drive.decel)
    return int(verdict[evaluation.STOP_BY]) in (BOUND, CURVATURE) and bool(verdict[evaluation.STOP_AT] < braking)


def rest_of_plan(
    previous: PlanResult | None, scene: Scene, start: StartState, derived: DerivedParameters
) -> PlanResult | None:
    """What is left of the previous plan along lanes, for a moment in which there is no other; `None` where that has
    lasted, or the car is not on it.
    """
    if previous is None or previous.trajectory is None or not start.planned or start.v < HELD:
        return None
    parameters, plan = derived.parameters, previous.trajectory
    left = plan.end_stamp - scene.stamp
    usable = previous.feasible and previous.maneuver is None
    if not usable or left < parameters.speed.horizon - parameters.fallback.rest - 1e-6:
        return None
    return replace(previous, trajectory=plan.after(scene.stamp))


def _weights(
    scene: Scene, previous: PlanResult | None, lines: LaneLines, derived: DerivedParameters, dangerous: bool
) -> CostWeights:
    parameters, choice = derived.parameters, derived.parameters.choice
    x, y, shift = math.inf, math.inf, int(lines.shift[lines.home])
    if previous is not None and previous.trajectory is not None:
        shift = previous.shift
        x, y = _remembered(previous.trajectory, scene.stamp)
    return CostWeights(
        horizon=choice.horizon,
        lane=choice.lane,
        switch=choice.switch + (_SWERVE if dangerous else 0.0),
        shift=choice.shift,
        offset=choice.offset,
        jerk=choice.jerk,
        clearance=choice.clearance,
        lane_end=choice.lane_end,
        foresight=choice.foresight,
        window=choice.window,
        wanted=parameters.clearance.wanted,
        wheelbase=derived.vehicle.wheelbase,
        steer_rate=parameters.check.steer_rate * derived.vehicle.max_steer_rate,
        previous_shift=shift,
        previous_x=x,
        previous_y=y,
    )


def _remembered(trajectory: Trajectory, stamp: float) -> tuple[float, float]:
    """Where the previous plan is a while from now; nowhere if it stands or is too old."""
    if trajectory.stands or trajectory.end_stamp < stamp + MEMORY_S:
        return math.inf, math.inf
    pose = state_at(trajectory, stamp + MEMORY_S).pose
    return pose.x, pose.y

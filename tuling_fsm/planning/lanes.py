"""Driving along lanes (NOR-3 to NOR-7): candidates to every lane line, two passes, one winner."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.request import FollowLanes, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning import evaluate as ev
from tuling_fsm.planning.candidates import MAX_CANDIDATES, Offers
from tuling_fsm.planning.continuity import StartState, state_at
from tuling_fsm.planning.explain import Situation, explain_candidates, explain_limit, no_way_on
from tuling_fsm.planning.hold import STANDS, comfortable_stop
from tuling_fsm.planning.judge import MEMORY_S, Weights
from tuling_fsm.planning.lines import Lines, prepare_lines
from tuling_fsm.planning.paths import LANE, NODE, SPEC, START_D
from tuling_fsm.planning.reference import KAPPA
from tuling_fsm.planning.scenery import Scenery
from tuling_fsm.planning.steering import from_standstill
from tuling_fsm.planning.stopping import BOUND, CURVATURE
from tuling_fsm.planning.tick import Start, Tick
from tuling_fsm.planning.timed import timed_path
from tuling_fsm.planning.tools import Tools

_CROSSING = (Reason.CROSSING, Reason.PEDESTRIAN)
_HARD = 1.5
"""Braking by so much harder than in comfort is not called for by a way that is not there for a moment."""
_TURNED = 0.15
"""Wheels that stand farther (rad) from where the line wants them are turned before a car that stands goes on."""
_TURNED_FAR, _WALKING = 0.3, 1.2
"""Those that stand as far as the one (rad) are not turned back in time by a car that gets away from the other (m/s)."""
_STILL_YIELDING = 1.5
"""A car that yields asks for this much more time before it passes first after all."""


def follow_lanes(
    request: FollowLanes, scene: Scene, start: StartState, previous: PlanResult | None, tools: Tools
) -> PlanResult | None:
    """The best candidate of both passes (NOR-4, NOR-5), in junctions of the first alone (INT-1); `None` where the car
    cannot join any line.

    Where every way to one is too sharp at once, the previous plan is gone on with for a moment.
    """
    lines = prepare_lines(request, start, tools.line_shape, tools.body)
    if lines is None:
        return None
    turned = start.curvature
    if _stops_to_steer(start, previous, lines, tools):
        before = previous.trajectory if previous is not None and start.planned else None
        stop = comfortable_stop(scene, start, before, tools.vehicle, tools.parameters.speed)
        return PlanResult(True, stop, Limit(Reason.STEERING), shift=int(lines.shift[lines.home]))
    if abs(start.v) < STANDS and _turned_by(start, lines, tools) > _TURNED:
        start = start._replace(curvature=_wanted(lines))
        lines = prepare_lines(request, start, tools.line_shape, tools.body) or lines
    tick, scenery = prepare(request, scene, start, previous, lines, tools)
    specs: FloatArray = np.empty((MAX_CANDIDATES, SPEC))
    verdicts: FloatArray = np.empty((MAX_CANDIDATES, ev.VERDICT))
    count, best, points = ev.plan_best(tick, offers(request, tools), tools.candidate_rows, tools.whole, specs, verdicts)
    specs, verdicts = specs[:count], verdicts[:count]
    if _ends_at_once(verdicts[best], tick) and (rest := rest_of(previous, scene, start, tools)) is not None:
        return rest
    situation = Situation(request, lines, scenery, specs, verdicts, best)
    trajectory = timed_path(scene.stamp, tools.whole.path, points, tools.whole.rows, 1.0)
    limit = explain_limit(situation)
    if start.curvature != turned:
        trajectory, limit = from_standstill(trajectory, limit, turned, tools.vehicle)
    reason = no_way_on(situation, start.v, float(tools.whole.rows[-1, 0]), tools.parameters.speed.blocked)
    return PlanResult(
        feasible=reason is Reason.NONE,
        trajectory=trajectory,
        limit=limit,
        reason=reason,
        shift=int(lines.shift[int(specs[best, LANE])]),
        alternatives=partial(explain_candidates, specs, verdicts, lines.shift, best),
    )


def _wanted(lines: Lines) -> float:
    """Curvature (1/m) of the line that the car is on, where it is."""
    return float(lines.row[lines.home][int(lines.start[lines.home, NODE]), KAPPA])


def _turned_by(start: StartState, lines: Lines, tools: Tools) -> float:
    """How far (rad) the wheels are turned from where the line wants them."""
    wheelbase = tools.vehicle.wheelbase
    return abs(elementary.atan(wheelbase * start.curvature) - elementary.atan(wheelbase * _wanted(lines)))


def _stops_to_steer(start: StartState, previous: PlanResult | None, lines: Lines, tools: Tools) -> bool:
    """Whether the car comes out of a manoeuvre at walking pace with its wheels turned far: it would swing out while
    they turn back, and turns them where it stands.
    """
    comes = previous is not None and (previous.manoeuvre is not None or previous.limit.reason is Reason.STEERING)
    return comes and STANDS <= start.v < _WALKING and _turned_by(start, lines, tools) > _TURNED_FAR


def offers(request: FollowLanes, tools: Tools) -> Offers:
    """Which candidates a request allows."""
    slow = 0.9 * min(request.speed_limit, tools.vehicle.max_speed)
    first_pass_only = request.keep_lane or request.static_path
    return Offers(tools.shapes, slow, request.keep_lane, first_pass_only, tools.parameters.clearance.solid)


def prepare(
    request: FollowLanes, scene: Scene, start: StartState, previous: PlanResult | None, lines: Lines, tools: Tools
) -> tuple[Tick, Scenery]:
    """What all candidates of a tick have in common, and what is around."""
    pose = (start.pose.x, start.pose.y, start.pose.heading, start.curvature)
    parameters, offsets = tools.parameters, np.ascontiguousarray(lines.start[:, START_D])
    scenery = Scenery.of(
        scene, lines.row, lines.points, offsets, pose, tools.body, parameters.clearance.solid,
        parameters.clearance.wanted, tools.mover_gaps, tools.vehicle.max_speed,
    )  # fmt: skip
    walls = np.array([(wall.x0, wall.y0, wall.x1, wall.y1) for wall in request.walls]).reshape(-1, 4)
    yields = previous is not None and previous.limit.reason in _CROSSING
    lead = parameters.speed.pass_ahead * (_STILL_YIELDING if yields else 1.0)
    motion = Start(scene.stamp, pose, max(0.0, start.v), start.a)
    weights = _weights(scene, previous, lines, tools)
    tick = Tick(
        lines, scenery.solids, scenery.movers, walls, motion, request.speed_limit, lead, tools.body, tools.drive,
        tools.gaps, weights, tools.effort,
    )  # fmt: skip
    return tick, scenery


def _ends_at_once(verdict: FloatArray, tick: Tick) -> bool:
    """Whether a path cannot be steered or leaves the bounds sooner than the car could stop without braking hard."""
    braking = 0.5 * tick.start.v * tick.start.v / (_HARD * tick.drive.decel)
    return int(verdict[ev.STOP_BY]) in (BOUND, CURVATURE) and bool(verdict[ev.STOP_AT] < braking)


def rest_of(previous: PlanResult | None, scene: Scene, start: StartState, tools: Tools) -> PlanResult | None:
    """What is left of the previous plan along lanes, for a moment in which there is no other; `None` where that has
    lasted, or the car is not on it.
    """
    if previous is None or previous.trajectory is None or not start.planned or start.v < STANDS:
        return None
    parameters, plan = tools.parameters, previous.trajectory
    left = plan.end_stamp - scene.stamp
    usable = previous.feasible and previous.manoeuvre is None
    if not usable or left < parameters.speed.horizon - parameters.fallback.rest - 1e-6:
        return None
    return replace(previous, trajectory=plan.after(scene.stamp))


def _weights(scene: Scene, previous: PlanResult | None, lines: Lines, tools: Tools) -> Weights:
    parameters, choice = tools.parameters, tools.parameters.choice
    x, y, shift = math.inf, math.inf, int(lines.shift[lines.home])
    if previous is not None and previous.trajectory is not None:
        shift = previous.shift
        x, y = _remembered(previous.trajectory, scene.stamp)
    return Weights(
        choice.horizon, choice.lane, choice.switch, choice.shift, choice.offset, choice.jerk, choice.clearance,
        choice.lane_end, choice.foresight, parameters.clearance.wanted,
        parameters.check.steer_rate * tools.vehicle.max_steer_rate, shift, x, y,
    )  # fmt: skip


def _remembered(trajectory: Trajectory, stamp: float) -> tuple[float, float]:
    """Where the previous plan is a while from now; nowhere if it stands or is too old."""
    if trajectory.stands or trajectory.end_stamp < stamp + MEMORY_S:
        return math.inf, math.inf
    pose = state_at(trajectory, stamp + MEMORY_S).pose
    return pose.x, pose.y

"""Lane driving in traffic: candidates a second, planning, and the whole tick of an agent, against CommonRoad's reactive
planner in the same traffic."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from benchmark.common.peers import ask
from benchmark.common.road import CARS, LANES, SPEEDS, WIDTH, drive, place, three_lanes
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.agent import Agent, Parameters, Tick
from tuling_fsm.core.request import FollowLanes
from tuling_fsm.core.scene import PREDICTION_STEP_S, Obstacles, Scene
from tuling_fsm.planning.lanes import evaluation
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.lane_lines import LaneLineCache, prepare_lines
from tuling_fsm.planning.lanes.lane_planner import follow_lanes, prepare, sampling_scope
from tuling_fsm.planning.lanes.sampling import MAX_CANDIDATES, sample_candidates
from tuling_fsm.planning.lanes.workspace import LaneWorkspace, new_buffers
from tuling_fsm.planning.paths.frenet_path import SPEC
from tuling_fsm.planning.start_state import start_state
from tuling_fsm.world.inputs import Inputs

TICKS, WARM = 400, 80
"""Ticks that are driven, and those of them before the car is under way."""
SITUATIONS, REPEATS = 16, 20
NONE_LEFT_OUT_M = 1000.0
"""No lower speed loses as much."""
PEER_LEVELS, PEER_REPEATS = (0, 1, 2), 5
Situation = tuple[FollowLanes, Scene]


class Evaluated(NamedTuple):
    """Paths of a tick, how many speeds of all of them were judged to the end, and what it all takes (ms)."""

    paths: int
    judged: int
    ms: float


def run() -> Table:
    """Candidates of some ticks of a drive, these ticks' planning, and all ticks of the drive."""
    parameters = Parameters()
    agent = Agent(three_lanes(), parameters)
    agent.warm_up()
    walls, cpus, seen = _driven(agent)
    derived = DerivedParameters.of(parameters.vehicle, parameters.planning)
    every = derived._replace(effort=derived.effort._replace(slack=NONE_LEFT_OUT_M))
    loaded = [_evaluated(each, derived) for each in seen]
    empty = [_evaluated((request, _emptied(scene)), derived) for request, scene in seen]
    at_every_speed = [_evaluated(each, every) for each in seen]
    speeds = 1 + parameters.planning.choice.speeds
    planning = [_planning(each, derived) for each in seen]
    theirs = ask("lanes.py", _question(seen[0][1], parameters.planning.choice.horizon))
    rows: list[tuple[Cell, ...]] = [
        *_candidate_rows(loaded, empty, at_every_speed, speeds, theirs),
        ("planning a tick, ms, median", percentile(planning, 0.5), None, None, ""),
        *_at_equal_candidates(planning, loaded, theirs),
        ("a whole tick, ms, p50", percentile(cpus, 0.5), None, None, "<= 1"),
        ("a whole tick, ms, p99", percentile(cpus, 0.99), None, None, "<= 2"),
        ("the same by the clock on the wall, p50", percentile(walls, 0.5), None, None, ""),
        ("the same by the clock on the wall, p99", percentile(walls, 0.99), None, None, ""),
    ]
    return Table(
        "Lane driving",
        (f"{LANES} lanes, {CARS} cars", "ours", "peer", "ratio", "goal"),
        tuple(rows),
        f"{REPEATS} of each of {SITUATIONS} ticks, {TICKS - WARM} whole ticks, {PEER_REPEATS} of the peer at "
        "each density; CPU time of one core",
        (
            f"Peer: commonroad-reactive-planner {theirs['version']}, one process, horizon "
            f"{parameters.planning.choice.horizon:g} s in steps of 0.1 s; its time is that of `plan` alone, without "
            "the collision checker being built. It checks collisions of the cheapest candidates only, up to the first "
            "that is free.",
            "At equal candidates the peer's time at its nearest density is scaled by the number of our paths.",
            "A path: its points, room to static things, when and where each car is in its way, the car-following model "
            "rolled out among all of them, both passes' costs. A candidate: a path at one speed, by the laws or by a "
            "polynomial, judged to the end; the laws forbid the others on the way. Rates of candidates are with every "
            "speed of every path, the rest of the table with those that may be worth while.",
            "A whole tick also sees, decides, and checks the plan.",
        ),
    )


def _driven(agent: Agent) -> tuple[list[float], list[float], list[Situation]]:
    """Drive; returns ms on the wall and of the CPU of every tick under way, and requests with scenes of some."""
    walls, cpus = [], []

    def step(inputs: Inputs) -> Tick:
        wall, cpu = time.perf_counter(), time.process_time()
        tick = agent.step(inputs)
        cpus.append(1e3 * (time.process_time() - cpu))
        walls.append(1e3 * (time.perf_counter() - wall))
        return tick

    # What is kept of a tick makes the next ones slower, as its memory is not used again.
    seen: list[Situation] = []
    for number, tick in enumerate(drive(TICKS, step)):
        under_way, every = number - WARM, (TICKS - WARM) // SITUATIONS
        if under_way >= 0 and under_way % every == 0 and isinstance(tick.decision.request, FollowLanes):
            seen.append((tick.decision.request, tick.decision.world.scene))
    return walls[WARM:], cpus[WARM:], seen


def _emptied(scene: Scene) -> Scene:
    return Scene(scene.stamp, scene.ego, Obstacles(), scene.static_segments)


def _evaluated(situation: Situation, derived: DerivedParameters) -> Evaluated:
    """Evaluate all candidates of a tick."""
    request, scene = situation
    start = start_state(scene, None, derived.parameters.continuity)
    lines = prepare_lines(request, start, derived.reference_line, derived.body, LaneLineCache())
    assert lines is not None
    tick, _ = prepare(request, scene, start, None, lines, derived)
    specs = np.empty((MAX_CANDIDATES, SPEC))
    specs = specs[
        : sample_candidates(lines, tick.static, tick.moving, sampling_scope(request, derived), tick.body, specs)
    ]
    buffers = new_buffers(derived.candidate_rows, len(tick.moving.id))
    verdicts, times = np.empty((len(specs), evaluation.VERDICT)), []
    for _ in range(REPEATS):
        began = time.process_time()
        evaluation.evaluate_all(specs, tick, buffers, verdicts)
        times.append(1e3 * (time.process_time() - began))
    return Evaluated(len(specs), int(verdicts[:, evaluation.SPEEDS].sum()), percentile(times, 0.5))


def _planning(situation: Situation, derived: DerivedParameters) -> float:
    """What the whole of `follow_lanes` takes (ms)."""
    request, scene = situation
    start, times = start_state(scene, None, derived.parameters.continuity), []
    workspace = LaneWorkspace(derived.rows)
    for _ in range(REPEATS):
        began = time.process_time()
        follow_lanes(request, scene, start, None, derived, workspace)
        times.append(1e3 * (time.process_time() - began))
    return percentile(times, 0.5)


def _paths_rate(found: list[Evaluated]) -> float:
    """Thousands of paths a second."""
    return sum(each.paths for each in found) / sum(each.ms for each in found)


def _candidate_rows(
    loaded: list[Evaluated],
    empty: list[Evaluated],
    at_every_speed: list[Evaluated],
    speeds: int,
    theirs: dict[str, Any],
) -> list[tuple[Cell, ...]]:
    best = max(level["count"] / percentile(level["ms"], 0.5) for level in theirs["levels"])
    mine = sum(each.judged for each in at_every_speed) / sum(each.ms for each in at_every_speed)
    return [
        ("paths of a tick, mean", float(np.mean([each.paths for each in loaded])), None, None, ""),
        ("k candidates/s, judged to the end", mine, best, mine / best, ">= 100, then 300"),
        ("k candidates/s, with those that the laws forbid", speeds * _paths_rate(at_every_speed), None, None, ""),
        ("k paths/s at the laws' speed", _paths_rate(loaded), None, None, ">= 100"),
        ("k paths/s, the same road empty", _paths_rate(empty), None, None, ""),
    ]


def _at_equal_candidates(
    planning: list[float], loaded: list[Evaluated], theirs: dict[str, Any]
) -> list[tuple[Cell, ...]]:
    """Planning a tick with as many candidates as ours has paths: the peer's nearest density, scaled to that number."""
    count = float(np.mean([each.paths for each in loaded]))
    level = min(theirs["levels"], key=lambda each: abs(each["count"] - count))
    scaled = percentile(level["ms"], 0.5) * count / level["count"]
    mine = percentile(planning, 0.5)
    name = f"planning a tick at equal candidates (peer: {level['count']}, scaled), ms"
    return [(name, mine, scaled, scaled / mine, "ratio >= 20")]


def _question(scene: Scene, horizon: float) -> dict[str, Any]:
    """The same road and cars as the peer reads them, and the car in the middle lane."""
    around, ego = scene.obstacles, scene.ego
    return {
        "lanes": [[place(s, lane)[:2] for s in range(0, 500, 2)] for lane in range(LANES)],
        "ego": [*ego.pose, ego.v],
        "cars": [np.column_stack((around.x[i], around.y[i], around.heading[i])).tolist() for i in range(len(around))],
        "speeds": around.speed.tolist(),
        "width": WIDTH,
        "size": [float(around.length[0]), float(around.width[0])],
        "step": PREDICTION_STEP_S,
        "horizon": horizon,
        "wanted": max(SPEEDS),
        "levels": PEER_LEVELS,
        "repeats": PEER_REPEATS,
    }

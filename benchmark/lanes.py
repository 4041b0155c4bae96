"""Lane driving in traffic: candidates a second of a whole planning step, and the whole tick of an agent, against
Frenetix, FISS+ and CommonRoad's reactive planner in the same traffic.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
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
PEER_LEVELS, PEER_REPEATS, PEER_STEP_S = (0, 1, 2), 15, 0.1
MANY = 800
"""Candidates of a peer that is to show how many it can do."""
Situation = tuple[FollowLanes, Scene]


class Planned(NamedTuple):
    """Paths of a step, how many trajectories along them are judged to the end, and what all of it takes (ms)."""

    paths: int
    judged: int
    ms: float


def run() -> Table:
    """Planning steps of some ticks of a drive, the peers' in one of them, and all ticks of the drive."""
    parameters = Parameters()
    agent = Agent(three_lanes(), parameters)
    agent.warm_up()
    walls, cpus, seen = _driven(agent)
    derived = DerivedParameters.of(parameters.vehicle, parameters.planning)
    every = derived._replace(effort=derived.effort._replace(slack=NONE_LEFT_OUT_M))
    kinds = {
        "as it runs": [_planned(each, derived) for each in seen],
        "every speed of every path": [_planned(each, every) for each in seen],
        "as it runs, on an empty road": [_planned((each, _emptied(scene)), derived) for each, scene in seen],
    }
    usual = kinds["as it runs"]
    horizon = parameters.planning.choice.horizon
    question = _question(seen[SITUATIONS // 2][1], horizon, round(_mean(each.judged for each in usual)))
    native, reactive = ask("lanes_native.py", question), ask("lanes.py", question)
    names = {
        "frenetix": "Frenetix", "frenetix_blind": "Frenetix, blind to the cars", "fop": "fiss-planner, all of them",
        "fiss_plus": "FISS+, best first",
    }  # fmt: skip
    peers = [(name, level) for key, name in names.items() for level in native[key]]
    peers += [("commonroad-reactive-planner", level) for level in reactive["levels"]]
    whole = [
        (f"ours, a whole tick, {name}", percentile(usual_ms, 0.5), percentile(usual_ms, 0.99))
        for name, usual_ms in (("CPU time", cpus), ("by the clock", walls))
    ]
    rows: list[tuple[Cell, ...]] = [
        *_rows(kinds, peers),
        *((name, None, p50, p99, None, None, "p50 <= 1 ms, p99 <= 2 ms") for name, p50, p99 in whole),
    ]
    return Table(
        "Lane driving",
        (
            f"{LANES} lanes, {CARS} cars",
            "candidates",
            "a step, ms, p50",
            "p99",
            "k candidates/s",
            "in ours",
            "goal",
        ),
        tuple(rows),
        f"{REPEATS} of each of {SITUATIONS} planning steps, {TICKS - WARM} whole ticks, {PEER_REPEATS} of each peer; "
        "CPU time of one core",
        (
            f"Horizon {horizon:g} s; the peers' in steps of {PEER_STEP_S:g} s. A step is all of the planner's work "
            "from the car's state and the predicted cars, as its own objects, to the trajectory: coordinates, "
            "sampling, judging, choosing.",
            "Ours: trajectories judged to the end, with every car and by both passes' costs, along "
            f"{_mean(each.paths for each in usual):.3g} paths; other speeds of a path are begun and left where a law "
            "forbids them or nothing can be gained.",
            "The last column: a peer's step, scaled to as many candidates, in ours as it runs.",
            f"Frenetix {native['versions']['frenetix']}: four checks of kinematics, five costs, one of them the "
            "probability of a collision with each car. Blind to the cars it has the rest. The exact collision check "
            "that it does in Python afterwards is left out, in its favour.",
            f"fiss-planner {native['versions']['fiss-planner']}: exact boxes with margins. FISS+ makes a few of the "
            "candidates of its lattice, which is what is counted here, and checks two or three of those.",
            f"Reactive planner {reactive['version']}: `plan` alone, without the collision checker being built; it "
            "checks the cheapest candidates for collisions, up to the first that is free.",
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


def _planned(situation: Situation, derived: DerivedParameters) -> Planned:
    """The whole of `follow_lanes`, and what it judges."""
    request, scene = situation
    start, times = start_state(scene, None, derived.parameters.continuity), []
    workspace = LaneWorkspace(derived.rows)
    for _ in range(REPEATS + 1):
        began = time.process_time()
        follow_lanes(request, scene, start, None, derived, workspace)
        times.append(1e3 * (time.process_time() - began))
    paths, judged = _judged(situation, derived)
    return Planned(paths, judged, percentile(times[1:], 0.5))


def _judged(situation: Situation, derived: DerivedParameters) -> tuple[int, int]:
    """How many paths a planning step has, and trajectories that it judges to the end."""
    request, scene = situation
    start = start_state(scene, None, derived.parameters.continuity)
    lines = prepare_lines(request, start, derived.reference_line, derived.body, LaneLineCache())
    assert lines is not None
    tick, _ = prepare(request, scene, start, None, lines, derived)
    specs = np.empty((MAX_CANDIDATES, SPEC))
    count = sample_candidates(lines, tick.static, tick.moving, sampling_scope(request, derived), tick.body, specs)
    verdicts = np.empty((count, evaluation.VERDICT))
    buffers = new_buffers(derived.candidate_rows, len(tick.moving.id))
    evaluation.evaluate_all(specs[:count], tick, buffers, verdicts)
    return count, int(verdicts[:, evaluation.SPEEDS].sum())


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _rows(kinds: dict[str, list[Planned]], peers: list[tuple[str, dict[str, Any]]]) -> list[tuple[Cell, ...]]:
    """Ours and the peers', each at each number of candidates; where those are about as few as ours, how much longer a
    peer takes for as many.
    """
    found: list[tuple[Cell, ...]] = []
    for name, steps in kinds.items():
        count, times = _mean(each.judged for each in steps), [each.ms for each in steps]
        rate, goal = sum(each.judged for each in steps) / sum(times), ">= 100 k, then 300 k" if not found else ""
        found.append((f"ours, {name}", count, percentile(times, 0.5), percentile(times, 0.99), rate, None, goal))
    few, mine = (float(cell) for cell in found[0][1:3] if isinstance(cell, float))
    for name, level in peers:
        count, p50 = level["count"], percentile(level["ms"], 0.5)
        ratio = p50 * few / count / mine if count < 3.0 * few else None
        goal = ">= 20" if ratio is not None else ""
        found.append((name, count, p50, percentile(level["ms"], 0.99), count / p50, ratio, goal))
    return found


def _question(scene: Scene, horizon: float, count: int) -> dict[str, Any]:
    """The same road and cars as the peers read them, and the car in the middle lane."""
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
        "counts": (count, MANY),
        "lattices": (_lattice(count / LANES), _lattice(MANY / LANES)),
        "repeats": PEER_REPEATS,
    }


def _lattice(count: float) -> tuple[int, int, int]:
    """Widths, speeds and times of about as many candidates, as alike in number as can be."""
    side = round(count ** (1.0 / 3.0))
    return max(1, round(count / side**2)), side, side

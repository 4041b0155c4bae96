"""A closed-loop run in this process: scenario in, result, bag and report out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from tuling_fsm.agent import Agent, Parameters, Tick
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.compiling import compiling_beside
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import flatten
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.idm import STATE, IdmPlanner
from tuling_fsm.sim.report import write_report
from tuling_fsm.sim.result import result_of
from tuling_fsm.sim.run_log import LogRow, RunLog, TransitionRow
from tuling_fsm.sim.scenario.load import load_scenario
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Outputs, trajectory_messages
from tuling_fsm.world.inputs import Inputs

Progress = Callable[[str], None]
NOTHING: Mapping[str, str] = {}
AGENT, IDM = "agent", "idm"
"""Who may drive: this planner, and the Intelligent Driver Model to compare with."""
PROGRESS_PERIOD_S = 1.0
"""Simulated time between two lines of progress, s."""


def run_scenario(
    scenario_file: Path,
    *,
    map_file: Path | None = None,
    seed: int = 1,
    overrides: Mapping[str, str] = NOTHING,
    out: Path | None = None,
    progress: Progress | None = None,
    planner: str = AGENT,
) -> dict[str, Any]:
    """Drive a scenario to its end.

    Args:
        scenario_file: OpenSCENARIO 2 text.
        map_file: OpenDRIVE map instead of the scenario's own.
        seed: of everything random.
        overrides: values of variables of the scenario, as text.
        out: folder for `run.mcap`, `result.json` and `report.html`; None writes nothing.
        progress: called with a line of text about once a simulated second.
        planner: who drives: `agent`, or the baseline `idm`.

    Returns:
        The content of `result.json`.

    Raises:
        InputError: the scenario or the map is not usable, or the baseline has no route to follow.
    """
    parameters = Parameters()
    scenario = load_scenario(scenario_file, overrides)
    map_file = chosen_map(scenario, map_file)
    road_map = read_map(map_file)
    simulation = Simulation(road_map, scenario, seed, parameters.vehicle)
    log = RunLog()
    if planner == IDM:
        baseline = _baseline(simulation)
    else:
        agent = Agent(road_map, parameters)
        with compiling_beside():
            agent.warm_up()
    began = time.perf_counter()
    with _bag(out, map_file, parameters) as bag:
        if planner == IDM:
            _drive_baseline(simulation, baseline, log, bag, progress)
        else:
            _drive(simulation, agent, log, bag, progress)
    result = result_of(simulation, log, time.perf_counter() - began)
    if out is not None:
        write_results(out, road_map, log, result)
    return result


def chosen_map(scenario: Scenario, map_file: Path | None) -> Path:
    """The map that a run is driven on.

    Raises:
        InputError: neither the caller nor the scenario names one.
    """
    if map_file is not None:
        return map_file
    if scenario.map_file is None:
        raise InputError(scenario.file, "names no map", "map.set_map_file(...) in it, or --map")
    return Path(scenario.map_file)


def write_results(out: Path, road_map: RoadMap, log: RunLog, result: Mapping[str, Any]) -> None:
    """Write `result.json` and `report.html`."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    write_report(out / "report.html", road_map, log, result)


def _bag(out: Path | None, map_file: Path, parameters: Parameters) -> AbstractContextManager[BagWriter | None]:
    if out is None:
        return nullcontext()
    return BagWriter(out, {"map": str(map_file.resolve()), "parameters": flatten(parameters)})


def _drive(simulation: Simulation, agent: Agent, log: RunLog, bag: BagWriter | None, progress: Progress | None) -> None:
    outputs = Outputs()
    said_at = -PROGRESS_PERIOD_S
    while not simulation.finished:
        inputs = simulation.inputs()
        began = time.perf_counter()
        tick = agent.step(inputs)
        tick_ms = 1e3 * (time.perf_counter() - began)
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        if tick.decision.route_blocked is not None:
            simulation.report_block(tick.decision.route_blocked)
        _note(log, tick, tick_ms)
        if bag is not None:
            _record(bag, inputs, tick, outputs)
        if progress is not None and inputs.stamp - said_at >= PROGRESS_PERIOD_S:
            said_at = inputs.stamp
            progress(progress_line(log.rows[-1], simulation.route_completion))
        simulation.advance(tick.trajectory, tick.state)


def _baseline(simulation: Simulation) -> IdmPlanner:
    if simulation.preset is None:
        raise InputError(simulation.scenario.file, "a mission, which the planner idm cannot perform", "a route")
    return IdmPlanner(simulation.road_map, simulation.preset, simulation.vehicle)


def _drive_baseline(
    simulation: Simulation, planner: IdmPlanner, log: RunLog, bag: BagWriter | None, progress: Progress | None
) -> None:
    said_at = -PROGRESS_PERIOD_S
    while not simulation.finished:
        inputs = simulation.inputs()
        began = time.perf_counter()
        plan = planner.step(inputs)
        tick_ms = 1e3 * (time.perf_counter() - began)
        log.rows.append(LogRow(inputs.stamp, STATE, plan.pose, plan.v, plan.limit, tick_ms))
        if bag is not None:
            bag.write_tick(inputs, trajectory_messages(plan.trajectory, nanoseconds(inputs.stamp)))
        if progress is not None and inputs.stamp - said_at >= PROGRESS_PERIOD_S:
            said_at = inputs.stamp
            progress(progress_line(log.rows[-1], simulation.route_completion))
        simulation.advance(plan.trajectory, STATE)


def progress_line(row: LogRow, completion: float) -> str:
    """What a person watching wants to know, in one line."""
    limit = row.limit
    where = f" in {limit.distance:.0f} m" if limit.distance >= 1.0 else ""
    reason = f"{limit.reason.value}{where} {limit.detail}".rstrip()
    return f"{row.t:7.1f} s  {100 * completion:3.0f} %  {row.v:4.1f} m/s  {row.state}  {reason}"


def _note(log: RunLog, tick: Tick, tick_ms: float) -> None:
    ego = tick.world.ego
    log.rows.append(LogRow(tick.stamp, tick.state, ego.pose, ego.v, tick.limit, tick_ms))
    event = tick.decision.transition
    if event is not None:
        log.transitions.append(TransitionRow(event.stamp, event.source, event.dest, event.clause))
    for event in tick.decision.supervisor_transitions:
        log.supervisors.append(TransitionRow(event.stamp, event.source, event.dest, event.clause))


def _record(bag: BagWriter, inputs: Inputs, tick: Tick, outputs: Outputs) -> None:
    ns = nanoseconds(tick.stamp)
    bag.write_tick(inputs, [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)])

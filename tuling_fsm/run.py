"""A closed-loop run in this process: scenario in, result, bag and report out."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.bag.replay import MAP_SHA256, map_record
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import AGENT
from tuling_fsm.bag.writer import FILM, PICTURES, RESULT, SETTINGS, BagWriter, remove_run
from tuling_fsm.behaviour.decision import Decision, TransitionEvent
from tuling_fsm.compiling import compile_kernels
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import flatten, load, nest
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.drive_status import STATUS_PERIOD_S, DwellTimer, StatusReport, drive_status
from tuling_fsm.input_file import content_sha256, is_file, joined_sha256
from tuling_fsm.interruption import interruptible, terminable
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.output_file import write_file
from tuling_fsm.progress import Report, TimeLeft
from tuling_fsm.run_settings import OWN, RunSettings
from tuling_fsm.sim.actors.foreign import ForeignTraffic
from tuling_fsm.sim.baselines.idm import IdmPlanner
from tuling_fsm.sim.baselines.pdm import PdmPlanner
from tuling_fsm.sim.baselines.planner import BaselinePlanner
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.sim.reporting.result import result_of
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog, TransitionRow
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.sensors.perception_levels import perception_level
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.version import __version__
from tuling_fsm.viewer.film_page import write_film
from tuling_fsm.viewer.live.process import LiveProcess, LiveView
from tuling_fsm.viewer.recording import FilmSource
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Outputs, trajectory_messages
from tuling_fsm.world.inputs import Inputs

BASELINES: Mapping[str, Callable[[RoadMap, Route, Vehicle], BaselinePlanner]] = {"idm": IdmPlanner, "pdm": PdmPlanner}
"""Planners to compare with: the Intelligent Driver Model, and PDM-Closed; their names stand for a state in the log."""
PROGRESS_PERIOD_S = 1.0
"""Simulated time between two lines of progress, s."""


class DrivenFrame(NamedTuple):
    """What a planner makes of a frame: the row for the log, what the car follows, its messages for a bag,
    and the dwell timers that run.
    """

    row: LogRow
    trajectory: Trajectory
    messages: Callable[[], Iterable[tuple[str, bytes]]]
    timers: tuple[DwellTimer, ...] = ()


class RunOutputs(NamedTuple):
    """Where the frames of a run go, beside its log."""

    bag: BagWriter | None
    view: LiveProcess | None

    def take(self, inputs: Inputs, driven: DrivenFrame) -> None:
        """A frame; its messages are packed once, and only if they go anywhere."""
        if self.bag is None and self.view is None:
            return
        messages = list(driven.messages())
        if self.bag is not None:
            self.bag.write_tick(inputs, messages)
        if self.view is not None:
            self.view.tick(inputs, messages, driven.row.tick_ms)


Driver = Callable[[Inputs], DrivenFrame]
"""Answers the inputs of a frame; called once for each."""


@interruptible()
def run_scenario(
    settings: RunSettings,
    *,
    out: Path | None = None,
    progress: Report | None = None,
    bag: bool = True,
    film: bool = True,
    view: LiveView | None = None,
    status: StatusReport | None = None,
) -> dict[str, Any]:
    """Drive a scenario to its end.

    Args:
        settings: of the run.
        out: folder for `run.mcap`, `result.json`, `report.html` and `pictures.html`; None writes nothing.
        progress: called with a line of text about once a simulated second.
        bag: whether more than `result.json` is written.
        film: whether the bag is drawn as well, in `report.html` and `pictures.html`: a third of the time of a run.
        view: where the run is shown while it goes on; None shows it nowhere.
        status: called with how the run stands, some times a simulated second.

    Returns:
        The content of `result.json`.

    Raises:
        InputError: the scenario, the map or a parameter is not usable, there is no such level, the baseline has no
            route, or SUMO is not installed or cannot drive what the scenario asks for.
    """
    parameters = parameters_of(settings)
    scenario = load_scenario(settings.scenario, dict(settings.overrides)).with_mission(settings.mission_file)
    map_file = chosen_map(scenario, settings.map_file)
    recorded = out if bag else None
    with _shown(view) as shown:
        compile_kernels(report=progress)
        sim_parameters = SimParameters(sensors=perception_level(settings.perception))
        road_map = read_map(map_file)
        if shown is not None:
            shown.prepare(f"{scenario.name} on {road_map.name}, seed {settings.seed}", map_file, parameters, recorded)
        with _foreign(settings.traffic, scenario, map_file, road_map) as foreign:
            simulation = Simulation(road_map, scenario, settings.seed, parameters.vehicle, sim_parameters, foreign)
            driven_with = driven_settings(settings, simulation)
            run = {**map_record(map_file, road_map.sha256), "parameters": flatten(parameters), **driven_with}
            log = RunLog(top_speed=parameters.vehicle.max_speed)
            driver = _driver(settings.planner, simulation, parameters, log)
            if shown is not None:
                shown.begin()
            began = time.perf_counter()
            with terminable(), _bag(out, bag, run) as writer:
                outputs, tell = RunOutputs(writer, shown), RunProgress(simulation, log, progress, status)
                _drive(simulation, driver, log, outputs, tell)
            result = result_of(simulation, log, time.perf_counter() - began) | {SETTINGS: driven_with}
        if shown is not None:
            shown.finish(result)
    if out is not None and bag and film:
        write_results(out, road_map, log, result)
        write_film(out / FILM, [FilmSource(BagSource(out), tick_ms=[(row.t, row.tick_ms) for row in log.rows])])
    elif out is not None:
        write_file(out / RESULT, json.dumps(result, indent=1) + "\n")
    return result


def _foreign(
    traffic: str, scenario: Scenario, map_file: Path, road_map: RoadMap
) -> AbstractContextManager[ForeignTraffic | None]:
    """What drives the other vehicles, if it is not the simulator itself."""
    if traffic == OWN:
        return nullcontext()
    from tuling_fsm.sim.sumo.traffic import SumoTraffic, check_scenario

    check_scenario(scenario)
    return SumoTraffic(map_file, road_map)


def parameters_of(settings: RunSettings) -> Parameters:
    """All parameters of the planner and its car in a run.

    Raises:
        InputError: an unknown name, a value out of range.
    """
    return load(Parameters, nest(dict(settings.parameters)))


def driven_settings(settings: RunSettings, simulation: Simulation) -> dict[str, Any]:
    """What makes a run, as its bag and `result.json` tell it: scenario, mission and map by what was read of them, which
    may be in their files no more.
    """
    return _record(settings, simulation.scenario, simulation.road_map.sha256, simulation.mission_sha256)


def settings_record(settings: RunSettings, scenario: Scenario, map_file: Path) -> dict[str, Any]:
    """The same of a run with the scenario that was read, and with the map and the mission that are there now.

    Raises:
        OSError: map or mission cannot be read.
    """
    mission = scenario.mission_file
    mission_sha256 = content_sha256(mission) if mission is not None and is_file(mission) else None
    return _record(settings, scenario, content_sha256(map_file), mission_sha256)


def _record(settings: RunSettings, scenario: Scenario, map_sha256: str, mission_sha256: str | None) -> dict[str, Any]:
    return {
        "scenario_sha256": joined_sha256([*scenario.read_files.values()]),
        "mission_sha256": mission_sha256,
        MAP_SHA256: map_sha256,
        "seed": settings.seed,
        "overrides": dict(settings.overrides),
        "planner": settings.planner,
        "perception": settings.perception,
        "traffic": settings.traffic,
        "set_parameters": dict(settings.parameters),
        "version": __version__,
    }


def chosen_map(scenario: Scenario, map_file: Path | None) -> Path:
    """The map that a run is driven on.

    Raises:
        InputError: neither the caller nor the scenario names one.
    """
    if map_file is not None:
        return map_file
    if scenario.map_file is None:
        raise InputError(scenario.file, "names no map", "map.set_map_file(...) or a LogicFile in it, or --map")
    if not Path(scenario.map_file).is_file():
        raise InputError(scenario.file, f"its map {scenario.map_file} is not there", "that file, or --map")
    return Path(scenario.map_file)


def write_results(out: Path, road_map: RoadMap, log: RunLog, result: Mapping[str, Any]) -> None:
    """Write `pictures.html`, and then `result.json`: where it is nothing is missing but the film, which is made later,
    from the whole bag.
    """
    # It draws with Matplotlib, which takes half a second to load: every process that only drives would wait for it.
    from tuling_fsm.sim.reporting.report import write_report

    write_report(out / PICTURES, road_map, log, result)
    write_file(out / RESULT, json.dumps(result, indent=1) + "\n")


def _bag(out: Path | None, recorded: bool, run: Mapping[str, Any]) -> AbstractContextManager[BagWriter | None]:
    """Where the run is recorded, if it is; in its folder is nothing more of another one."""
    if out is None:
        return nullcontext()
    if recorded:
        return BagWriter(out, run)
    remove_run(out)
    return nullcontext()


def _shown(view: LiveView | None) -> AbstractContextManager[LiveProcess | None]:
    return nullcontext() if view is None else LiveProcess(view)


def _drive(simulation: Simulation, driver: Driver, log: RunLog, sinks: RunOutputs, tell: RunProgress) -> None:
    """Frame by frame to the end of the run."""
    while not simulation.finished:
        inputs = simulation.inputs()
        driven = driver(inputs)
        log.rows.append(driven.row)
        sinks.take(inputs, driven)
        tell.tick(driven.timers)
        simulation.advance(driven.trajectory, driven.row.state)


class RunProgress:
    """Tells how a run stands: a line of text once a simulated second, more than a line some times a second.

    Args:
        simulation: of the run.
        log: has a row of each frame.
        progress: takes the lines, if anything does.
        status: takes the rest, if anything does.
    """

    def __init__(
        self, simulation: Simulation, log: RunLog, progress: Report | None, status: StatusReport | None
    ) -> None:
        self._simulation, self._log = simulation, log
        self._progress, self._status = progress, status
        self._left = TimeLeft()
        self._said_at = self._shown_at = -math.inf

    def tick(self, timers: Iterable[DwellTimer]) -> None:
        """After a frame, which has a row in the log; `timers` run."""
        row = self._log.rows[-1]
        if self._status is not None and row.t - self._shown_at >= STATUS_PERIOD_S - 1e-9:
            self._shown_at = row.t
            words = self._left.words(self._simulation.route_completion)
            self._status(drive_status(self._simulation, self._log, timers, words))
        if self._progress is not None and row.t - self._said_at >= PROGRESS_PERIOD_S:
            self._said_at = row.t
            done = self._simulation.route_completion
            self._progress(self._left.line(progress_line(row, done), done))


def progress_line(row: LogRow, completion: float) -> str:
    """What a person watching wants to know, in one line."""
    limit = row.limit
    where = f" in {limit.distance:.0f} m" if limit.distance >= 1.0 else ""
    reason = f"{limit.reason.value}{where} {limit.detail}".rstrip()
    return f"{row.t:7.1f} s  {100 * completion:3.0f} %  {row.v:4.1f} m/s  {row.state}  {reason}"


def _driver(planner: str, simulation: Simulation, parameters: Parameters, log: RunLog) -> Driver:
    return _agent(simulation, parameters, log) if planner == AGENT else _baseline(planner, simulation, parameters)


def _agent(simulation: Simulation, parameters: Parameters, log: RunLog) -> Driver:
    """This planner, with all kernels compiled."""
    road_map = simulation.road_map
    agent, outputs = Agent(road_map, parameters), Outputs(road_map.left_hand)
    agent.warm_up()

    def drive(inputs: Inputs) -> DrivenFrame:
        began = time.perf_counter()
        tick = agent.step(inputs)
        tick_ms = 1e3 * (time.perf_counter() - began)
        tell_route_server(simulation, tick.decision)
        _note_transitions(log, tick.decision)
        ego, ns = simulation.ego, nanoseconds(tick.stamp)
        row = LogRow(tick.stamp, tick.state, ego.pose, ego.v, tick.limit, tick_ms)
        return DrivenFrame(
            row,
            tick.trajectory,
            lambda: [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)],
            tuple(DwellTimer(each.dest, each.guard, each.held_s, each.dwell_s) for each in tick.decision.pending),
        )

    return drive


def _baseline(name: str, simulation: Simulation, parameters: Parameters) -> Driver:
    """A planner to compare with.

    Raises:
        InputError: a mission leads the ego, and no route.
    """
    if simulation.preset is None:
        raise InputError(simulation.scenario.file, f"a mission, which the planner {name} cannot perform", "a route")
    planner = BASELINES[name](simulation.road_map, simulation.preset, parameters.vehicle)

    def drive(inputs: Inputs) -> DrivenFrame:
        began = time.perf_counter()
        plan = planner.step(inputs)
        tick_ms = 1e3 * (time.perf_counter() - began)
        ego = simulation.ego
        row = LogRow(inputs.stamp, name, ego.pose, ego.v, plan.limit, tick_ms)
        return DrivenFrame(
            row, plan.trajectory, lambda: trajectory_messages(plan.trajectory, nanoseconds(inputs.stamp))
        )

    return drive


def tell_route_server(simulation: Simulation, decision: Decision) -> None:
    """Hand on what a tick asks of the route server, and what it reports to it."""
    for request in decision.route_requests:
        simulation.request_route(request)
    if decision.route_blocked is not None:
        simulation.report_block(decision.route_blocked)


def _note_transitions(log: RunLog, decision: Decision) -> None:
    log.flaps = decision.flaps
    if decision.transition is not None:
        log.transitions.append(_row(decision.transition))
    log.supervisors += [_row(event) for event in decision.supervisor_transitions]


def _row(event: TransitionEvent) -> TransitionRow:
    return TransitionRow(event.stamp, event.source, event.dest, event.clause)

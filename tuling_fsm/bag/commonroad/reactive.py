"""The others of a CommonRoad scenario moved by SUMO, which answers to what the car does ([klischat2019][]).

`commonroad-sumo` makes the network and the others' routes of the scenario and its recorded states, puts them where they
begin, and from there on SUMO drives them; the car is set to where it is at every step.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tuling_fsm.bag.commonroad.drive import EgoDrive, Loop, Planner, ScenarioDrive
from tuling_fsm.bag.commonroad.obstacles import Obstacle
from tuling_fsm.bag.commonroad.problem import ProblemState
from tuling_fsm.core import elementary
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.sumo.installed import VERSION as SUMO_VERSION
from tuling_fsm.sim.sumo.installed import libsumo, sumo_home

VERSION = "2025.1.4"
EXTRA = f"pip install commonroad-sumo=={VERSION} eclipse-sumo=={SUMO_VERSION} libsumo=={SUMO_VERSION}"
OPTION = "--traffic sumo"
SIMULATED = "simulated.xml"
NOWHERE = -1073741824.0
"""Coordinate of a vehicle that SUMO knows and has not put on the road."""


@dataclass(frozen=True)
class ReactiveTraffic:
    """Drives a scenario among others that SUMO moves.

    Args:
        scenario: the file of the scenario.
        out: the folder that gets `simulated.xml`, the scenario with what the others did.
        seed: of all that SUMO draws.
    """

    scenario: Path
    out: Path
    seed: int = 1

    def __call__(self, loop: Loop, plan: Planner) -> ScenarioDrive:
        """The drive, and what the others did in it.

        Raises:
            InputError: `commonroad-sumo` is not installed, or makes no network or traffic of the scenario.
        """
        interactive = _imported("commonroad_sumo.simulation.interactive_simulation")
        # Where `netconvert` is looked for; libsumo, as it is imported, names a folder without it.
        os.environ["SUMO_HOME"] = str(sumo_home())
        scenario, known = self._read()
        problem = known.planning_problem_dict[int(loop.problem.id)]
        problems = _imported("commonroad.planning.planning_problem").PlanningProblemSet([problem])
        config = interactive.InteractiveSumoSimulationWithMotionPlannerConfig(
            random_seed=self.seed, ego_veh_width=loop.vehicle.width, ego_veh_length=loop.vehicle.length
        )
        ego = EgoDrive(loop, plan)
        with _refused_as_input(str(self.scenario)):
            simulation = interactive.InteractiveSumoSimulationWithMotionPlanner.from_scenario(
                scenario, problems, simulation_config=config
            )
            done = simulation.run(_PlannerOfSteps(loop, ego), max_simulation_steps=int(loop.problem.last_step) + 1)
        done.scenario.add_objects(scenario.static_obstacles)
        _leave_out_nowhere(done.scenario)
        self._write(done.scenario, problems)
        return ego.result(tuple(moved_obstacles(loop, done.scenario)))

    def _read(self) -> tuple[Any, Any]:
        """The scenario and its planning problems, as `commonroad-io` has them."""
        reader = _imported("commonroad.common.file_reader")
        try:
            scenario, problems = reader.CommonRoadFileReader(str(self.scenario)).open()
        except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(str(self.scenario), f"commonroad-io cannot read it: {error}", "a valid scenario") from None
        return scenario, problems

    def _write(self, scenario: Any, problems: Any) -> None:
        writer = _imported("commonroad.common.file_writer")
        with warnings.catch_warnings():
            # Of lanelets without a type, which the scenario has as well.
            warnings.simplefilter("ignore", UserWarning)
            file = writer.CommonRoadFileWriter(scenario, problems)
            file.write_to_file(str(self.out / SIMULATED), writer.OverwriteExistingFile.ALWAYS)


@contextmanager
def _refused_as_input(where: str) -> Iterator[None]:
    """What `commonroad-sumo` and SUMO raise as one line; what the planner raises as it is."""
    errors = _imported("commonroad_sumo.errors")
    raised = (errors.SumoInterfaceError, libsumo().TraCIException, RuntimeError, ValueError, KeyError)
    try:
        yield
    except errors.SumoInteractivePlanningFailedError as failed:
        raise (failed.__cause__ or failed) from None
    except raised as error:
        said = f"commonroad-sumo makes no traffic of it: {error}"
        raise InputError(where, said, "a scenario that it can simulate") from None


class _PlannerOfSteps:
    """What `commonroad-sumo` asks for each step of the car: its `TrajectoryPlannerInterface`."""

    def __init__(self, loop: Loop, ego: EgoDrive) -> None:
        self._loop, self._ego = loop, ego
        self._states = _imported("commonroad.scenario.state")
        self._trajectories = _imported("commonroad.scenario.trajectory")

    def plan(self, scenario: Any, planning_problem: Any) -> Any:
        """A trajectory of one state, the next; a car whose drive is over stays where it is."""
        step = int(planning_problem.initial_state.time_step)
        state = self._ego.state if self._ego.over else self._ego.step(_present(self._loop, scenario, step))
        return self._trajectories.Trajectory(step + 1, [self._state_of(state, step + 1)])

    def _state_of(self, state: ProblemState, step: int) -> Any:
        x, y = self._loop.recording.origin
        return self._states.KSState(
            time_step=step, position=np.array((state.x + x, state.y + y)), steering_angle=state.steer,
            velocity=float(state.v), orientation=float(state.heading),
        )  # fmt: skip


def _present(loop: Loop, scenario: Any, step: int) -> list[Obstacle]:
    """The others at a step, which go straight on until the next one."""
    known, dt = _recorded(loop), loop.recording.step
    found = [each for each in loop.recording.obstacles if each.static]
    for moved in scenario.dynamic_obstacles:
        state = moved.state_at_time(step)
        if state is not None and _somewhere(state) and str(moved.obstacle_id) in known:
            t, x, y, heading, v = _row(loop, state)
            ahead = v * dt
            sine, cosine = elementary.sin_cos(heading)
            then = (t + dt, x + ahead * cosine, y + ahead * sine, heading, v)
            found.append(
                replace(known[str(moved.obstacle_id)], states=np.array(((t, x, y, heading, v), then)), boxes=None)
            )
    return found


def moved_obstacles(loop: Loop, scenario: Any) -> list[Obstacle]:
    """What stands, and all that SUMO has moved, with the states that it gave them, as long as it had them."""
    known = _recorded(loop)
    found = [each for each in loop.recording.obstacles if each.static]
    for moved in scenario.dynamic_obstacles:
        later = [] if moved.prediction is None else moved.prediction.trajectory.state_list
        states = np.array([_row(loop, state) for state in (moved.initial_state, *later)])
        states[:, 3] = np.unwrap(states[:, 3])
        if str(moved.obstacle_id) in known:
            found.append(replace(known[str(moved.obstacle_id)], states=states, boxes=None))
    return found


def _leave_out_nowhere(scenario: Any) -> None:
    """Leave out the states of vehicles that were not on the road yet; their first one stands for itself."""
    prediction, trajectory = (
        _imported(f"commonroad.{name}") for name in ("prediction.prediction", "scenario.trajectory")
    )
    for moved in scenario.dynamic_obstacles:
        begin = moved.initial_state.time_step
        later = [] if moved.prediction is None else moved.prediction.trajectory.state_list
        later = [state for state in later if state.time_step > begin and _somewhere(state)]
        moved.prediction = None
        if later:
            way = trajectory.Trajectory(later[0].time_step, later)
            moved.prediction = prediction.TrajectoryPrediction(way, moved.obstacle_shape)


def _somewhere(state: Any) -> bool:
    return float(state.position[0]) > NOWHERE + 1e6


def _recorded(loop: Loop) -> Mapping[str, Obstacle]:
    return {each.id: each for each in loop.recording.obstacles if not each.static}


def _row(loop: Loop, state: Any) -> tuple[float, float, float, float, float]:
    """t (s), x, y (m, from the origin of the recording), heading (rad), v (m/s)."""
    x, y = (float(each - zero) for each, zero in zip(state.position, loop.recording.origin, strict=True))
    v = float(state.velocity) if state.has_value("velocity") else 0.0
    heading = math.remainder(float(state.orientation), 2.0 * math.pi)
    return loop.recording.step * float(state.time_step), x, y, heading, v


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(OPTION, f"the package of {error.name} is not installed", EXTRA) from None

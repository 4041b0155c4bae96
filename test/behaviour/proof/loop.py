"""The closed loop tick by tick: simulator and agent, any state entered by force, and everything written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.agent import Agent, Parameters, Tick
from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import BehaviourRecord, Decision
from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, TaskEntry
from tuling_fsm.behaviour.temporary_stop.memory import TemporaryStop
from tuling_fsm.core.request import PlanResult
from tuling_fsm.machine.engine import Engine, StepResult
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.world import World

from .flagged import Holding

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Moment:
    """A tick of one machine as it was: the record that it began with (without memory), the stamp, and what came of it.

    `holding` are the guards that held, None where no row was tried; `fired` is the key of the row that fired.
    """

    record: StateRecord[None]
    stamp: float
    frozen: bool
    begins: bool
    """The machine did not come here by itself: it was started, or put here."""
    holding: Holding | None = None
    fired: str | None = None


@dataclass(frozen=True, eq=False)
class BehaviourMoment:
    """A tick of the behaviour as it was."""

    record: BehaviourRecord
    world: World
    result: PlanResult | None
    probe: PlanResult | None
    decision: Decision


@dataclass
class Log:
    """What was written down in one run: the ticks of every machine by its name, and those of the behaviour."""

    machines: dict[str, list[Moment]] = field(default_factory=dict)
    behaviour: list[BehaviourMoment] = field(default_factory=list)


class Loop:
    """One run. Guards are written down before the engine tries them; `log` grows while it is driven."""

    def __init__(
        self,
        scenario: Path,
        overrides: Mapping[str, str] = NOTHING,
        seed: int = 1,
        with_task: bool = False,
        parameters: Parameters | None = None,
    ) -> None:
        parsed, parameters = load_scenario(scenario, overrides), parameters or Parameters()
        assert parsed.map_file is not None
        self.map_file = Path(parsed.map_file)
        self.road_map: RoadMap = read_map(self.map_file)
        self.simulation = Simulation(self.road_map, parsed, seed, parameters.vehicle)
        self.log = Log()
        with written_down(self.log):
            self.agent = Agent(self.road_map, parameters)
        self.ticks: list[Tick] = []
        self._mission = {"mission": _mission_goal_on(self.simulation)} if with_task else {}

    def tick(self, **changes: Any) -> Tick:
        """One tick; `changes` are fields of the inputs."""
        simulation = self.simulation
        tick = self.agent.step(replace(simulation.inputs(), **{**self._mission, **changes}))
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        if tick.decision.route_blocked is not None:
            simulation.report_block(tick.decision.route_blocked)
        parked = tick.state == states.PARKED and self._mission
        simulation.advance(tick.trajectory, "" if parked else tick.state)  # it is to go on, parked or not
        self.ticks.append(tick)
        return tick

    def send_mission(self, mission: Mapping[str, Any]) -> None:
        """From now on this is the mission, as on the topic."""
        self._mission = {"mission": mission}

    def run(self, seconds: float) -> list[Tick]:
        """Drive on for a while, or to the end."""
        ticks = []
        for _ in range(round(seconds / self.simulation.dt)):
            if self.simulation.finished:
                break
            ticks.append(self.tick())
        return ticks

    def until(self, holds: Callable[[Tick], bool], seconds: float) -> Tick:
        for _ in range(round(seconds / self.simulation.dt)):
            tick = self.tick()
            if holds(tick):
                return tick
        raise AssertionError(f"waited in vain, now in {self.ticks[-1].state}")

    def force(self, path: str) -> None:
        """Go on in another state, as if it had just been entered."""
        self.agent.restore(forced(self.agent.record, path))


def forced(record: BehaviourRecord, path: str) -> BehaviourRecord:
    """The record of a behaviour that is about to enter a state; a stop is one at the first task's pick-up."""
    memory = replace(record.machine.memory, entered=False, plan=PlanOutcome(), probe=PlanOutcome(), unexplained_s=0.0)
    entries = memory.mission.entries
    if path in (states.APPROACH, states.STOPPED) and entries:
        pickup = MissionGoal(GoalKind.PICKUP, entries[0].task.pickup, 0)
        progress = replace(memory.mission, goal=pickup, entries=(TaskEntry(entries[0].task), *entries[1:]))
        memory = replace(memory, mission=progress, stop=TemporaryStop(pickup))
    clock = record.machine.clock
    return replace(record, machine=replace(record.machine, path=path, memory=memory, entered_at=clock, true_since=()))


def _mission_goal_on(simulation: Simulation) -> dict[str, Any]:
    """A passenger to be taken from one place of the scenario's route to another, and a place to end."""
    assert simulation.preset is not None
    places = [simulation.preset.reference.at(share * simulation.preset.length) for share in (0.5, 0.8, 1.0)]
    pickup, dropoff, goal = ({"x": pose.x, "y": pose.y, "heading": pose.heading} for pose in places)
    return {"tasks": [{"pickup": pickup, "dropoff": dropoff}], "goal": goal}


@contextmanager
def written_down(log: Log) -> Iterator[None]:
    """While this holds, what is built writes down its ticks."""

    class WatchedEngine(Engine[Any, Any, Any]):
        begins = True

        def restore(self, record: StateRecord[Any]) -> None:
            self.begins = self.begins or record is not self.record
            super().restore(record)

        def _note(self, stamp: float, frozen: bool) -> None:
            record = replace(self.record, memory=None)
            log.machines.setdefault(self.table.name, []).append(Moment(record, stamp, frozen, self.begins))
            self.begins = False

        def advance(self, stamp: float) -> float:
            self._note(stamp, frozen=False)
            return super().advance(stamp)

        def freeze(self, stamp: float) -> float:
            self._note(stamp, frozen=True)
            return super().freeze(stamp)

        def step(self, context: Any) -> StepResult[Any]:
            rows = self.table.rows_from[self.record.path]
            holding = frozenset(row.guard_name for row in rows if row.guard(context))
            step = super().step(context)
            moments = log.machines[self.table.name]
            moments[-1] = replace(moments[-1], holding=holding, fired=None if step.fired is None else step.fired.key)
            return step

    class WatchedBehaviour(Behaviour):
        def step(self, world: World, last_result: PlanResult | None, last_probe: PlanResult | None = None) -> Decision:
            record = self.record
            decision = super().step(world, last_result, last_probe)
            log.behaviour.append(BehaviourMoment(record, world, last_result, last_probe, decision))
            return decision

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuling_fsm.behaviour.behaviour.Engine", WatchedEngine)
        patch.setattr("tuling_fsm.agent.Behaviour", WatchedBehaviour)
        yield

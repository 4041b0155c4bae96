"""The behaviour as it is, with guards that are told, tick by tick beside the page's own engine in node."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from behaviour.worlds import VEHICLE, Place

from tuling_fsm.behaviour import behaviour as module
from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.tables import table
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.machine.elements import Leaf, Region
from tuling_fsm.machine.engine import Engine, StepResult
from tuling_fsm.machine.table import Table
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.machine_tables import tables_data

STEPS_JS = Path(__file__).with_name("javascript") / "engine_steps.js"
STRETCHES_S = (0.05,) * 20 + (0.2, 0.25, 0.3) * 6 + (0.2, 0.25, 0.3, 0.0, 0.9, 1.0, 1.5, -0.05, -5.0)
"""From one tick to the next, as they are drawn; above `max_gap` and below zero time jumps."""
CALM_TICKS = 20
"""Now and then one guard holds for so many ticks, and nothing else changes: the longest dwell passes."""
Holding = set[str]


class Tick(NamedTuple):
    """What a test tells: the stamp (s), the guards that hold, and the state in which the machine is put before."""

    stamp: float
    holding: list[str]
    put: str | None = None


class _NotingEngine(Engine[Any, Any, Any]):
    """Keeps what came of its latest tick."""

    last: StepResult[Any] | None = None
    jump = 0.0

    def advance(self, stamp: float) -> float:
        self.last, self.jump = None, super().advance(stamp)
        return self.jump

    def freeze(self, stamp: float) -> float:
        self.last, self.jump = None, super().freeze(stamp)
        return self.jump

    def step(self, context: Any) -> StepResult[Any]:
        self.last = super().step(context)
        return self.last


class ToldBehaviour:
    """The real `Behaviour.step`, whose guards say what they are told and whose states do nothing."""

    def __init__(self, road: RoadMap) -> None:
        self.holding: Holding = set()
        self.place = Place(road)
        self.behaviour = Behaviour(road, VEHICLE, BehaviourParameters())
        self.engines: tuple[Any, ...] = (self.behaviour._machine, *self.behaviour._beside)

    def tick(self, tick: Tick) -> list[Any]:
        """What came of it, as `engine_steps.js` says it."""
        self.holding.clear()
        self.holding.update(tick.holding)
        if tick.put is not None:
            machine = self.engines[0]
            clock = machine.record.clock
            machine.record = replace(machine.record, path=tick.put, entered_at=clock, true_since=())
        self.behaviour.step(self.place.world(tick.stamp, None), None)
        return [self.engines[0].jump, [_record(each) for each in self.engines], [_step(each) for each in self.engines]]


@contextmanager
def told(road: RoadMap) -> Iterator[ToldBehaviour]:
    """One whose guards read its `holding`; what it would look at and send is left out."""
    held: Holding = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "table", lambda parameters: _told_table(table(parameters), held))
        patch.setattr(module, "Engine", _NotingEngine)
        patch.setattr(module, "traffic_rules", lambda *rest, **named: module.Memory().rules)
        patch.setattr(module.rain_fog, "seen", lambda world, *rest: world)
        patch.setattr(module.route_refresh, "carry_out", lambda view, step: view.memory)
        made = ToldBehaviour(road)
        made.holding = held
        yield made


def _told_table(source: Table[Any, Any], held: Holding) -> Table[Any, Any]:
    def guard_named(name: str) -> Callable[[Any], bool]:
        def guard(_: Any) -> bool:
            return name in held

        guard.__name__ = name
        return guard

    guards = {row.guard_name: guard_named(row.guard_name) for row in source.rows}
    rows = tuple(replace(row, guard=guards[row.guard_name]) for row in source.rows)
    beside = tuple(_told_table(other, held) for other in source.beside)
    return replace(source, rows=rows, beside=beside, children=tuple(_idle(child) for child in source.children))


def _idle(state: Leaf[Any] | Region[Any]) -> Leaf[Any] | Region[Any]:
    """The state without what it does; whether it asks for a route itself is kept."""
    if isinstance(state, Region):
        return replace(state, children=tuple(_idle(child) for child in state.children))
    if not isinstance(state.body, LeafBehaviour):
        return state
    return replace(state, body=LeafBehaviour(_stand, may=state.body.may, asks_itself=state.body.asks_itself))


def _stand(_: BehaviourView) -> Hold:
    return Hold(Reason.NONE)


def _record(engine: _NotingEngine) -> list[Any]:
    record = engine.record
    since = [list(pair) for pair in record.true_since]
    return [record.path, record.clock, record.stamp, record.entered_at, since]


def _step(engine: _NotingEngine) -> list[Any] | None:
    step = engine.last
    if step is None:
        return None
    pending = [
        [each.dest, each.guard, each.clause, each.held_s, each.dwell_s, each.remaining_s] for each in step.pending
    ]
    return [step.fired and step.fired.key, pending, [row.key for row in step.rejected]]


def random_ticks(behaviour: ToldBehaviour, rng: random.Random, count: int) -> Iterator[tuple[Tick, list[Any]]]:
    """Ticks that keep guards for a while, most of them such as can fire, with what came of each."""
    stamp, holding, calm = rng.choice((0.0, 100.0, 1.7e9)), set[str](), 0
    names = sorted({row.guard_name for each in behaviour.engines for row in each.table.rows})
    leaves = [path for path, leaf in behaviour.engines[0].table.leaves.items() if leaf.enabled]
    for _ in range(count):
        calm = CALM_TICKS if rng.random() < 0.01 else calm - 1
        stamp += 0.3 if calm > 0 else rng.choice(STRETCHES_S)
        (machine,) = rng.choices(behaviour.engines, (8, 1, 1, 1))
        near = [row.guard_name for row in machine.table.rows_from[machine.record.path]]
        if calm == CALM_TICKS:
            holding = {rng.choice(near)}
        elif calm <= 0:
            holding = _changed(holding, near, names, rng)
        put = rng.choice(leaves) if calm <= 0 and rng.random() < 0.03 else None
        tick = Tick(stamp, sorted(holding), put)
        yield tick, behaviour.tick(tick)


def _changed(holding: Holding, near: list[str], names: list[str], rng: random.Random) -> Holding:
    if rng.random() < 0.1:
        return set(rng.sample(names, rng.randrange(3)))
    return holding ^ {rng.choice(near if rng.random() < 0.9 else names)} if rng.random() < 0.5 else holding


def said_by_page(node: str, ticks: list[Tick]) -> list[list[Any]]:
    """What the page's engine makes of the same ticks."""
    lines = [json.dumps(tables_data()), *(json.dumps(tick) for tick in ticks)]
    done = subprocess.run([node, str(STEPS_JS)], input="\n".join(lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]

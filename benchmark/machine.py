"""The state machine's part of a tick: the engine of the whole hierarchy, alone and with what its guards look at."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from benchmark.common.road import drive, three_lanes
from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.agent import Agent
from tuling_fsm.behaviour import states, table
from tuling_fsm.machine.engine import Engine, StepResult
from tuling_fsm.machine.table import Table as StateTable

TICKS = 20_000
TICK_S = 0.05
HOLDS_EVERY = 7
"""One tick in so many has a guard that holds; in between nothing does."""
GOAL_US = 50.0
DRIVEN = 400
"""Ticks on a road with traffic."""


def run() -> Table:
    """A tick in every composite, one with a transition, and one of all supervisors."""
    hierarchy = table()
    rows: list[tuple[Cell, ...]] = []
    for composite in (region.name for region in hierarchy.children):
        leaves = [path for path in hierarchy.leaves if path.startswith(composite) and hierarchy.leaves[path].enabled]
        if leaves:
            costs = [us for path in leaves for us in _ticks(hierarchy, path, len(leaves))]
            rows.append((*_row(composite, costs), GOAL_US))
    rows.append((*_row("with a transition", _transitions(hierarchy)), None))
    beside = [_ticks(machine, machine.start(None).path, 1) for machine in hierarchy.beside]
    rows.append((*_row("all supervisors", [sum(costs) for costs in zip(*beside, strict=True)]), GOAL_US))
    rows.append((*_row("on_road/normal, with its guards", _driven()), GOAL_US))
    return Table(
        "State machine",
        ("tick", "median us", "p99 us", "goal us"),
        tuple(rows),
        f"{TICKS} ticks each, {DRIVEN} with guards",
        (
            f"{len(hierarchy.leaves)} states, {len(hierarchy.rows)} rows; guards that cost nothing, but for the last "
            "row: there the planner drives in traffic, and every row of the state is evaluated on what it sees.",
        ),
    )


def _row(name: str, costs: list[float]) -> tuple[Cell, ...]:
    return name, percentile(costs, 0.5), percentile(costs, 0.99)


def _said(source: StateTable[Any, Any]) -> StateTable[set[str], Any]:
    """The same table with guards that hold when their name is in a set."""

    def stub(name: str) -> Callable[[set[str]], bool]:
        def guard(holding: set[str]) -> bool:
            return name in holding

        guard.__name__ = name
        return guard

    guards = {row.guard_name: stub(row.guard_name) for row in source.rows}
    rows = tuple(dataclasses.replace(row, guard=guards[row.guard_name]) for row in source.rows)
    return dataclasses.replace(source, rows=rows, beside=())


def _ticks(source: StateTable[Any, Any], path: str, share: int) -> list[float]:
    """Costs of ticks in a state that is never left (us)."""
    machine = _said(source)
    engine: Engine[set[str], Any, None] = Engine(machine, dataclasses.replace(machine.start(None), path=path))
    holding = {row.guard_name for row in machine.rows_from[path] if row.dwell_s > TICK_S}
    costs = []
    for i in range(TICKS // share):
        guards = holding if i % HOLDS_EVERY == 0 else set()
        began = time.perf_counter()
        engine.advance(i * TICK_S)
        engine.step(guards)
        costs.append(1e6 * (time.perf_counter() - began))
    return costs


def _transitions(source: StateTable[Any, Any]) -> list[float]:
    """Costs of ticks on which a row fires, row by row (us)."""
    machine = _said(source)
    engine: Engine[set[str], Any, None] = Engine(machine, machine.start(None))
    costs = []
    for i in range(TICKS // 10):
        row = machine.rows[i % len(machine.rows)]
        path = machine.resolve(row.source)
        record = dataclasses.replace(machine.start(None), path=path, clock=1e3, stamp=0.0)
        engine.record = dataclasses.replace(record, true_since=((row.key, 0.0),))
        began = time.perf_counter()
        engine.advance(TICK_S)
        engine.step({row.guard_name})
        costs.append(1e6 * (time.perf_counter() - began))
    return costs


def _driven() -> list[float]:
    """Costs of the machine's steps on a drive in normal driving (us)."""
    costs = []
    step = Engine.step

    def timed(engine: Engine[Any, Any, Any], context: Any) -> StepResult[Any]:
        began = time.perf_counter()
        done = step(engine, context)
        if done.source == done.dest == states.NORMAL:
            costs.append(1e6 * (time.perf_counter() - began))
        return done

    agent = Agent(three_lanes())
    agent.warm_up()
    with patch.object(Engine, "step", timed):
        for _ in drive(DRIVEN, agent.step):
            pass
    return costs

"""Going on from a record, here or in a process that has never seen the run: everything is told in plain values."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.machine.engine import Engine
from tuling_fsm.machine.record import StateRecord
from tuling_fsm.map.opendrive import read_map

from .flagged import ENGINES, MACHINES, FlaggedEngine
from .loop import BehaviourMoment, Moment

Said = tuple[Any, ...]
Job = tuple[str, StateRecord[None], Sequence[Moment], float]
"""A machine's name, where to go on, the ticks that follow, and by how much later they come (s)."""


def go_on(job: Job) -> list[Said]:
    """What the machine says on these ticks."""
    name, record, moments, shift = job
    engine = ENGINES[name]
    engine.record = record
    return [_tick(engine, moment, shift) for moment in moments]


def _tick(engine: FlaggedEngine, moment: Moment, shift: float) -> Said:
    stamp = moment.stamp + shift
    jump = engine.freeze(stamp) if moment.frozen else engine.advance(stamp)
    fired, pending, rejected = None, (), ()
    if moment.holding is not None:
        step = engine.step(moment.holding)
        fired = None if step.fired is None else step.fired.key
        pending = tuple((p.dest, p.guard, round(p.held_s, 4), round(p.remaining_s, 4)) for p in step.pending)
        rejected = tuple(row.key for row in step.rejected)
    record = engine.record
    return (record.path, round(record.in_state_s, 4), jump != 0.0, fired, pending, rejected)


def frozen(name: str, record: StateRecord[None], seconds: float) -> StateRecord[None]:
    """The record after the machine has stood still for so long."""
    assert record.stamp is not None
    engine: FlaggedEngine = ENGINES[name]
    engine.record = record
    ticks = max(2, math.ceil(seconds / 0.8))  # a gap of a second would be a jump
    for tick in range(1, ticks + 1):
        assert engine.freeze(record.stamp + seconds * tick / ticks) == 0.0
    return engine.record


def jobs_from_bytes(data: bytes) -> list[list[Said]]:
    """Go on with all of these jobs; for another process."""
    jobs: list[Job] = pickle.loads(data)
    assert all(isinstance(Engine(MACHINES[name], record), Engine) for name, record, _, _ in jobs)
    return [go_on(job) for job in jobs]


def behaviour_from_bytes(map_file: Path, data: bytes) -> list[list[Any]]:
    """Go on with the whole behaviour from each first record, with the Worlds and results of the moments after it."""
    runs: list[list[BehaviourMoment]] = pickle.loads(data)
    behaviour = Behaviour(read_map(map_file), Vehicle(), BehaviourParameters())
    said = []
    for run in runs:
        behaviour.restore(run[0].record)
        said.append([plain_decision(behaviour.step(at.world, at.result, at.probe)) for at in run])
    return said


def plain_decision(decision: Decision) -> Any:
    """All that a decision says, to be compared; what it carries along is left out."""
    carried = ("record", "world", "route")
    names = [each.name for each in dataclasses.fields(decision) if each.name not in carried]
    return tuple((name, plain(getattr(decision, name))) for name in names)


def plain(value: Any) -> Any:
    """Nested plain values that are equal when what they were made of is."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, *(plain(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    return value

"""The emergency stop in the closed loop: in every state, at several phases of its timers, by command and by silence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.agent import Tick
from tuling_fsm.behaviour import states, table
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.share import share_file

from .loop import Loop

pytestmark = pytest.mark.exhaustive

ENABLED = [path for path, leaf in table().leaves.items() if leaf.enabled]
PHASES = ["just entered", "in the middle of a dwell", "with its deadline near"]
DWELL_TICKS = 3
TICK = 0.05
VEHICLE = Vehicle()
STANDS = 0.02
LONGEST_STOP = 60
"""Ticks, with all that the brakes are slow in."""


@pytest.fixture(scope="module")
def loop() -> Loop:
    """A car on a long empty road."""
    loop = Loop(share_file("config", "scenarios", "roam.osc"), {"length_m": "1500", "vehicles": "0"}, 5, with_task=True)
    loop.until(lambda tick: tick.state == states.NORMAL, 20.0)
    return loop


def _bring(loop: Loop, path: str, phase: str) -> None:
    """Drive a little, enter the state, and let its timers come to the phase."""
    environment = loop.simulation.environment
    environment.emergency_stop, environment.emergency_link = False, True
    loop.tick()
    loop.tick(clear_emergency_stop=True)
    loop.force(states.NORMAL)
    loop.run(0.6)
    loop.force(path)
    if phase == PHASES[1]:
        loop.run(DWELL_TICKS * TICK)
    elif phase == PHASES[2]:
        loop.tick()
        record = loop.agent.record
        near = loop.agent.parameters.behaviour.switching.deadline - 2.5 * TICK
        memory = replace(record.machine.memory, unexplained_s=near)
        loop.agent.restore(replace(record, machine=replace(record.machine, memory=memory)))
    else:
        loop.tick()


def _brakes(decision: Decision) -> bool:
    request = decision.request
    return isinstance(request, Hold) and request.emergency and request.reason is Reason.EMERGENCY_STOP


def _brake_to_0(loop: Loop, first: Tick) -> None:
    """EST-1: every plan brakes to 0 at `emergency_decel`, the car comes to stand, and nothing moves the machine."""
    state, decel = first.state, VEHICLE.emergency_decel
    ticks = [first]
    while abs(ticks[-1].world.ego.v) >= STANDS and len(ticks) < LONGEST_STOP:
        ticks.append(loop.tick())
    assert abs(ticks[-1].world.ego.v) < STANDS
    for tick in ticks:
        assert _brakes(tick.decision)
        assert (tick.state, tick.decision.transition, tick.decision.route_requests) == (state, None, ())
        speed, t = np.abs(tick.trajectory.v), tick.trajectory.t
        assert speed[-1] == 0.0
        assert (np.diff(speed) <= 1e-9).all()
        length = float(np.sum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t)))
        assert length <= speed[0] ** 2 / (2.0 * decel) + 0.5 * TICK * speed[0] + 0.05
    assert abs(ticks[-1].world.ego.v) <= abs(first.world.ego.v)


def _goes_on(before: Decision, after: Decision) -> None:
    """EST-2: one tick later on the machine's clock: a timer has lost a tick, or its row has fired."""
    one, other = before.record.machine, after.record.machine
    assert other.clock == pytest.approx(one.clock + TICK)
    match_s = other.memory.mission.elapsed_s - one.memory.mission.elapsed_s
    assert match_s == pytest.approx(after.stamp - before.stamp), "the match clock never stopped"
    if after.transition is not None:
        assert after.transition.source == before.state
        return
    assert after.state == before.state
    assert after.time_in_state_s == pytest.approx(before.time_in_state_s + TICK)
    left = {(pending.dest, pending.guard): pending.remaining_s for pending in before.pending}
    for pending in after.pending:
        if pending.held_s > TICK / 2:
            assert pending.remaining_s == pytest.approx(left[pending.dest, pending.guard] - TICK)


@pytest.mark.clause("EST-1", "EST-2")
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("path", ENABLED)
def test_by_command_in_every_state_at_every_phase(loop: Loop, path: str, phase: str) -> None:
    _bring(loop, path, phase)
    loop.simulation.environment.emergency_stop = True
    last = loop.tick()  # the command is on its way
    _brake_to_0(loop, loop.tick())
    loop.simulation.environment.emergency_stop = False
    loop.tick()
    released = loop.tick()
    assert not _brakes(released.decision)
    _goes_on(last.decision, released.decision)


@pytest.mark.clause("EST-1", "EST-2", "EST-3")
@pytest.mark.parametrize("path", ENABLED)
def test_by_silence_in_every_state_until_an_operator_clears_it(loop: Loop, path: str) -> None:
    _bring(loop, path, PHASES[0])
    environment = loop.simulation.environment
    environment.emergency_link = False
    silent = loop.run(loop.agent.parameters.behaviour.estop.silence)
    assert not any(_brakes(tick.decision) for tick in silent[:-1])
    lost = loop.until(lambda tick: _brakes(tick.decision), 0.2)
    last = loop.ticks[-2].decision
    _brake_to_0(loop, lost)
    environment.emergency_link = True
    assert all(_brakes(tick.decision) for tick in loop.run(1.0)), "a link that returns is no consent"
    cleared = loop.tick(clear_emergency_stop=True)
    assert not _brakes(cleared.decision)
    _goes_on(last, cleared.decision)

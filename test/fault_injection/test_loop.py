"""Each fault does to inputs, ticks and outputs what its row says, in a loop that drives."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.agent import Parameters, Tick
from tuling_fsm.core.errors import InputError
from tuling_fsm.fault_injection import driving
from tuling_fsm.fault_injection.driving import drive_cell
from tuling_fsm.fault_injection.faults import BY_NAME, CLOCK_JUMP_S, LATE_PERIODS, InjectedFault
from tuling_fsm.fault_injection.loop import VehicleLoop
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.commands import Drive
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scoring.score import Infraction

from .staged import REFUSING, cell, course, fresh_loop, reference, run, straight_loop

BEGIN_S = 4.0


def ticks(loop: VehicleLoop, seconds: float) -> list[Tick]:
    """Ticks of some seconds, each once."""
    found: list[Tick] = []
    for _ in range(round(seconds / loop.simulation.dt)):
        loop.frame()
        if loop.last_tick is not None and (not found or loop.last_tick is not found[-1]):
            found.append(loop.last_tick)
    return found


def begun(name: str) -> tuple[VehicleLoop, InjectedFault]:
    loop, fault = straight_loop(BEGIN_S), BY_NAME[name]
    loop.inject(fault, name)
    return loop, fault


@pytest.mark.medium
def test_without_a_fault_the_run_repeats_and_ticks_on_every_frame() -> None:
    one, other = fresh_loop(), fresh_loop()
    assert len(ticks(one, 5.0)) == 100
    run(other, 5.0)
    assert one.simulation.trace_sha256() == other.simulation.trace_sha256()
    copied = straight_loop(BEGIN_S)
    run(copied, 5.0 - BEGIN_S)
    assert copied.simulation.trace_sha256() == one.simulation.trace_sha256(), "a copy drives on as what it is made of"
    assert one.state == "on_road/normal"
    assert one.simulation.ego.v > 1.0


@pytest.mark.clause("SAF-3")
@pytest.mark.medium
def test_perception_that_is_off_grows_stale_and_comes_back() -> None:
    loop, fault = begun("perception_off")
    run(loop, 5.0)
    assert loop.simulation.ego.v < 0.1
    assert loop.run_log.rows[-1].limit.reason.value == "OBJECTS_STALE"
    loop.end(fault)
    run(loop, 3.0)
    assert loop.simulation.ego.v > 0.5


@pytest.mark.parametrize(("name", "age"), [("perception_late", 0.4), ("messages_doubled", 0.0)])
@pytest.mark.medium
def test_objects_are_as_old_as_they_are_late(name: str, age: float) -> None:
    loop, _ = begun(name)
    tick = ticks(loop, 2.0)[-1]
    assert tick.world.received.objects is not None
    assert tick.stamp - tick.world.received.objects.stamp == pytest.approx(age, abs=1e-6)


@pytest.mark.medium
def test_ghosts_are_seen_where_nothing_is_and_go_with_the_fault() -> None:
    loop, fault = begun("ghosts")
    most = max(len(_rows(tick)) for tick in ticks(loop, 3.0))
    loop.end(fault)
    run(loop, 1.0)
    after = len(_rows(ticks(loop, 0.1)[-1]))
    assert most > after == 1


def _rows(tick: Tick) -> np.ndarray:
    assert tick.world.received.objects is not None
    return tick.world.received.objects.rows


@pytest.mark.parametrize(("name", "off"), [("localization_jump", math.hypot(0.5, 0.8)), ("localization_drift", 0.6)])
@pytest.mark.medium
def test_the_believed_pose_is_off_and_says_that_it_is_sound(name: str, off: float) -> None:
    loop, fault = begun(name)
    run(loop, 3.05)
    odometry, pose = loop.simulation.inputs().odometry, loop.simulation.ego.pose
    assert odometry is not None
    assert odometry.position_std == 0.0
    assert math.dist(odometry.pose[:2], pose[:2]) == pytest.approx(off, abs=0.03)
    loop.end(fault)
    run(loop, 0.1)
    again = loop.simulation.inputs().odometry
    assert again is not None
    assert again.pose == loop.simulation.ego.pose


@pytest.mark.clause("SAF-1")
def test_a_tick_that_is_late_comes_once_in_ten_frames_and_the_car_brakes_instead() -> None:
    loop, _ = begun("tick_late")
    before = loop.simulation.ego.v
    assert len(ticks(loop, 3.0)) == pytest.approx(60 / LATE_PERIODS, abs=1)
    assert loop.simulation.ego.v < before


@pytest.mark.clause("DWELL-5")
@pytest.mark.parametrize(("name", "jump"), [("clock_forward", CLOCK_JUMP_S), ("clock_back", -CLOCK_JUMP_S)])
@pytest.mark.medium
def test_a_clock_that_jumps_is_that_of_ticks_and_plans_and_the_car_drives_on(name: str, jump: float) -> None:
    loop, fault = begun(name)
    tick = ticks(loop, 1.0)[-1]
    assert tick.stamp == pytest.approx(loop.simulation.stamp - 0.05 + jump)
    assert tick.trajectory.stamp == pytest.approx(tick.stamp)
    assert loop.simulation.ego.v > 1.0
    loop.end(fault)
    assert ticks(loop, 1.0)[-1].stamp == pytest.approx(loop.simulation.stamp - 0.05)


@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize(
    ("name", "state"), [("planner_restarted", "departure/plan_once"), ("planner_resumed", "on_road/normal")]
)
@pytest.mark.medium
def test_a_planner_that_is_dead_sends_nothing_and_goes_on_as_it_is_started(name: str, state: str) -> None:
    loop, fault = begun(name)
    assert len(ticks(loop, 5.0)) == 1
    assert loop.simulation.ego.v < 0.1
    loop.end(fault)
    assert ticks(loop, 0.1)[-1].state == state
    run(loop, 4.0)
    assert loop.simulation.ego.v > 0.5


@pytest.mark.medium
def test_what_is_random_in_a_fault_is_drawn_by_the_cell() -> None:
    def trace(name: str) -> str:
        loop = straight_loop(BEGIN_S)
        loop.inject(BY_NAME["messages_lost"], name)
        run(loop, 4.0)
        return loop.simulation.trace_sha256()

    assert trace("a") == trace("a")
    assert trace("a") != trace("b")


def test_a_command_that_cannot_be_carried_out_is_told() -> None:
    with pytest.raises(InputError, match="the ego cannot Drive"):
        straight_loop().simulation.inject(Drive("ego"))


@pytest.mark.slow
@pytest.mark.clause("SAF-4")
@pytest.mark.parametrize("name", BY_NAME)
def test_a_car_on_the_road_gets_over_every_fault(name: str) -> None:
    loop = straight_loop(BEGIN_S)
    result = drive_cell(loop, cell(name, at_s=BEGIN_S), reference(), 2.0)
    assert (result["verdict"], result["detail"]) == ("passed", "")
    assert 0.0 <= result["recovered_s"] < 10.0


@pytest.mark.slow
@pytest.mark.clause("DEP-2", "TMP-3")
def test_a_planner_that_is_restarted_at_its_stop_goes_on_round_the_block() -> None:
    bays = load_scenario(share_file("config", "faults", "bays.osc"), {})
    loop = VehicleLoop(course(), bays, 1, Parameters())
    run(loop, 35.0)
    assert loop.state == "temporary_stop/stopped"
    fault = BY_NAME["planner_restarted"]
    loop.inject(fault, "bays")
    run(loop, 1.0)
    loop.end(fault)
    stood = loop.simulation.distance_m
    run(loop, 12.0)
    assert loop.state != "departure/plan_once"
    assert loop.simulation.distance_m > stood + 5.0


@pytest.mark.slow
@pytest.mark.clause("DEP-2", "RRF-3")
def test_a_planner_that_is_restarted_without_a_route_is_waited_for_until_the_server_gives_one() -> None:
    loop = fresh_loop(REFUSING)
    run(loop, BEGIN_S)
    result = drive_cell(loop, cell("planner_restarted", at_s=BEGIN_S), reference(), 2.0)
    assert (result["verdict"], result["detail"]) == ("passed", "")
    assert 52.0 < BEGIN_S + 2.0 + result["recovered_s"] < 60.0


@pytest.mark.slow
def test_a_car_that_stands_for_another_reason_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = fresh_loop(REFUSING)
    run(loop, BEGIN_S)
    monkeypatch.setattr(loop, "end", lambda _: None)
    result = drive_cell(loop, cell("emergency_stop", at_s=BEGIN_S), reference(), 2.0)
    assert result["verdict"] == "not recovered" and "EMERGENCY_STOP" in result["detail"]
    assert loop.simulation.stamp < 50.0


def test_a_cell_whose_state_is_not_there_is_not_reached() -> None:
    loop = straight_loop(BEGIN_S)
    result = drive_cell(loop, cell("ghosts", "on_road/explore"), reference(), 2.0)
    assert result == {"verdict": "not reached", "detail": f"in on_road/normal at {BEGIN_S:.2f} s"}


def test_a_loop_that_fails_is_an_error_of_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = straight_loop(BEGIN_S)
    monkeypatch.setattr(loop.simulation, "disturb_tracking", lambda _: 1 / 0)
    result = drive_cell(loop, cell("ghosts"), reference(), 2.0)
    assert result["verdict"] == "error"
    assert "ZeroDivisionError" in result["detail"]


@pytest.mark.medium
@pytest.mark.parametrize(("after", "verdict"), [(0.05, "passed"), (60.0, "infraction")])
def test_what_the_run_without_the_fault_does_much_later_excuses_nothing(
    after: float, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drift(loop: VehicleLoop, *_: object) -> float:
        loop.frame()
        loop.simulation.referee.infractions.append(Infraction(loop.simulation.stamp, "off_road", "0.4 m", True))
        return 1.0

    monkeypatch.setattr(driving, "_drive_through", drift)
    without = replace(reference(), at_fault=((BEGIN_S + after, "off_road"),))
    result = drive_cell(straight_loop(BEGIN_S), cell("ghosts", at_s=BEGIN_S), without, 2.0)
    assert result["verdict"] == verdict

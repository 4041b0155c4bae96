"""The foot on CARLA's pedals, against cars that are not what their numbers say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.wire.carla.pedals import PedalController, PedalParameters, Pedals, TrackerOutput

pytestmark = pytest.mark.clause("CAR-1")
DT, STEER = 0.05, 1.2
P = PedalParameters()


class Plant:
    """A car on a slope; engine and brake pull by factors of what the parameters say, late."""

    def __init__(self, v: float = 0.0, engine: float = 1.0, brakes: float = 1.0, uphill: float = 0.0) -> None:
        self.v, self.engine, self.brakes, self.uphill = v, engine, brakes, uphill
        self.pull = 0.0

    def step(self, pedals: Pedals) -> None:
        gear = -1.0 if pedals.reverse else 1.0
        wanted = gear * self.engine * P.full_throttle_accel * pedals.throttle
        self.pull += (wanted - self.pull) * (1.0 - math.exp(-DT / 0.15))
        free = self.v + (self.pull - 0.02 * self.v - 9.81 * math.sin(self.uphill)) * DT
        held = (self.brakes * P.full_brake_decel * pedals.brake + 0.2) * DT
        self.v = math.copysign(max(abs(free) - held, 0.0), free)


def drive(plant: Plant, seconds: float, output, pedal_controller: PedalController | None = None) -> list[Pedals]:
    """Wishes are given for the time and the speed."""
    pedal_controller, pressed = pedal_controller or PedalController(P), []
    for k in range(round(seconds / DT)):
        pressed.append(pedal_controller.press(output(k * DT, plant.v), plant.v, plant.uphill, STEER, DT))
        plant.step(pressed[-1])
    return pressed


def speed_wish(target: float, gear: float = 1.0):
    """As the tracker wants it: towards a speed, gently."""
    return lambda _, v: TrackerOutput(0.0, min(max(2.0 * (target - gear * v), -2.0), 1.5), gear, False)


@settings(max_examples=60)
@given(
    engine=st.floats(0.6, 1.5), brakes=st.floats(0.6, 1.5), uphill=st.floats(-0.08, 0.08), target=st.floats(2.0, 9.0),
    gear=st.sampled_from((1.0, -1.0)),
)  # fmt: skip
def test_a_speed_is_reached_and_kept_by_any_car_on_any_slope(engine, brakes, uphill, target, gear):
    plant = Plant(0.0, engine, brakes, uphill)
    pressed = drive(plant, 14.0, speed_wish(target, gear))
    assert gear * plant.v == pytest.approx(target, abs=0.25)
    assert not any(p.throttle > 0.0 and p.brake > 0.0 for p in pressed)
    assert all(0.0 <= p.throttle <= 1.0 and 0.0 <= p.brake <= 1.0 for p in pressed)
    assert {p.reverse for p in pressed} == {gear < 0.0}


@settings(max_examples=40)
@given(brakes=st.floats(0.6, 1.5), uphill=st.floats(-0.08, 0.08), v=st.floats(3.0, 10.0))
def test_braking_is_as_hard_as_wanted(brakes, uphill, v):
    plant = Plant(v, 1.0, brakes, uphill)
    drive(plant, 0.6 * v / 1.8, lambda *_: TrackerOutput(0.0, -1.8, 1.0, False))
    assert plant.v == pytest.approx(0.4 * v, abs=0.5)


def test_standing_is_held_on_a_slope_and_left_again():
    plant, pedal_controller = Plant(uphill=0.1), PedalController(P)
    held = drive(plant, 2.0, lambda *_: TrackerOutput(0.3, 0.0, 1.0, True), pedal_controller)
    assert plant.v == 0.0
    assert {(p.throttle, p.brake) for p in held} == {(0.0, P.hold_brake)}
    drive(plant, 3.0, speed_wish(3.0), pedal_controller)
    assert plant.v > 2.0


def test_the_direction_is_changed_only_when_the_car_stands():
    plant = Plant(2.0)
    pressed = drive(plant, 4.0, speed_wish(1.0, -1.0))
    changed = next(k for k, p in enumerate(pressed) if p.reverse)
    assert all(p.brake > 0.0 and p.throttle == 0.0 for p in pressed[:changed])
    assert plant.v < -0.7
    still = Plant(2.0)
    for p in pressed[:changed]:
        still.step(p)
    assert abs(still.v) <= P.turn_speed


def test_to_the_left_is_negative_for_carla():
    pedal_controller = PedalController(P)
    for angle, steer in ((0.6, -0.5), (-1.2, 1.0), (9.0, -1.0)):
        assert pedal_controller.press(TrackerOutput(angle, 0.0, 1.0, True), 0.0, 0.0, STEER, DT).steer == pytest.approx(
            steer
        )


def test_an_error_does_not_wind_up():
    stuck, pedal_controller = Plant(engine=0.0), PedalController(P)
    drive(stuck, 20.0, lambda *_: TrackerOutput(0.0, 1.0, 1.0, False), pedal_controller)
    freed = Plant()
    drive(freed, 6.0, speed_wish(3.0), pedal_controller)
    assert freed.v == pytest.approx(3.0, abs=0.3)
    overshoot = max(0.0, freed.v - 3.0)
    assert overshoot < 0.3

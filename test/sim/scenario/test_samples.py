"""The samples of the triggers' usual documentation run as they stand there, once the actors they name are declared."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.commands import ActivateController, ChangeSpeed, Command
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.model import EGO, ActorState
from tuling_fsm.sim.scenario.storyboard import Storyboard

from .storyboards import View, body, play

DECLARED = """scenario sample:
    Ego: vehicle
    lead_vehicle: vehicle
    cut_in_vehicle: vehicle
    m_z: length = 0m
"""
MEASURES = """m_direction: distance_direction = euclidianDistance
m_mode: distance_mode = reference_points
"""
OBJECT_DISTANCE = f"""{MEASURES}do parallel:
    # Story
    serial:
        # action1:
        wait lead_vehicle.object_distance(reference: Ego, direction: m_direction, mode: m_mode) < 5m
        Ego.activate_controller(true, true)
"""
POINT_DISTANCE = f"""my_xyz: xyz_point = map.create_xyz_point(x: 0.0m, y: 10.0m,z: m_z)
my_pose3d: pose_3d with:
    keep(it.xyz_point == my_xyz)
{MEASURES}do parallel:
    # Story
    serial:
        # action1
        wait Ego.point_distance(my_pose3d, m_direction, m_mode)  >  10.0m
        Ego.activate_controller(true, true)
"""
TIME_TO_COLLISION = """m_profile: dynamics_shape = linear
do parallel:
    # Story
    serial:
        # action1:
        wait cut_in_vehicle.time_to_collision(reference:Ego) < 3s
        Ego.change_speed(target: 0.0mps, rate_profile: m_profile, rate_peak: -0.3mpss)
"""
TIME_HEADWAY = TIME_TO_COLLISION.replace("time_to_collision", "time_headway")
SPEED = """do parallel:
    # Story
    serial:
        # action1
        wait Ego.speed  >  30.0mps
        Ego.activate_controller(true, true)
"""
ACCELERATION = SPEED.replace("speed  >  30.0mps", "acceleration  >  1.0mpss")
ELAPSED = "do serial:\n    # action1\n    wait elapsed(10s)\n    Ego.activate_controller(true, true)\n"
ON, BRAKES = ActivateController(EGO, True, True), ChangeSpeed(EGO, 0.0, 0.3)
HERE = body()


def faster(speed: float, acceleration: float) -> ActorState:
    return ActorState(Pose(0.0, 0.0, 0.0), speed, acceleration, 4.0, 2.0)


def seen(**actors: ActorState) -> View:
    """Actors by name, the road between two of them as long as the straight way."""
    names = {"ego": EGO} | {name: name for name in actors if name != "ego"}
    states = {names[name]: state for name, state in actors.items()}
    gaps = {(a, b): states[b].pose.x - states[a].pose.x for a in states for b in states}
    return View(actors=states, gaps=gaps)


@pytest.mark.clause("OSC-1")
@pytest.mark.parametrize(
    ("sample", "before", "then", "done"),
    [
        (OBJECT_DISTANCE, seen(ego=HERE, lead_vehicle=body(6.0)), seen(ego=HERE, lead_vehicle=body(4.9)), ON),
        (POINT_DISTANCE, seen(ego=body(0.0, 1.0)), seen(ego=body(0.0, -0.1)), ON),
        (
            TIME_TO_COLLISION,
            seen(ego=HERE, cut_in_vehicle=body(-40.0, speed=10.0)),
            seen(ego=HERE, cut_in_vehicle=body(-30.0, speed=10.0)),
            BRAKES,
        ),
        (
            TIME_HEADWAY,
            seen(ego=HERE, cut_in_vehicle=body(-31.0, speed=10.0)),
            seen(ego=HERE, cut_in_vehicle=body(-29.0, speed=10.0)),
            BRAKES,
        ),
        (SPEED, seen(ego=faster(29.0, 0.0)), seen(ego=faster(31.0, 0.0)), ON),
        (ACCELERATION, seen(ego=faster(0.0, 0.9)), seen(ego=faster(0.0, 1.1)), ON),
    ],
)
def test_a_sample_runs_unchanged(sample: str, before: View, then: View, done: Command) -> None:
    text = DECLARED + textwrap.indent(sample, "    ")
    story = Storyboard(compile_text(text, "sample.osc"), np.random.default_rng(1))
    assert play(story, before, 5.0) == []
    then.stamp = 6.0
    assert play(story, then, 7.0) == [(6.0, done)]


@pytest.mark.clause("OSC-1")
def test_the_sample_of_elapsed_runs_unchanged() -> None:
    story = Storyboard(compile_text(DECLARED + textwrap.indent(ELAPSED, "    "), "s.osc"), np.random.default_rng(1))
    assert play(story, View(), 12.0) == [(10.0, ON)]

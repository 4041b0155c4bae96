"""What can happen in no run is refused when the text is read; what may go well is not."""

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.compiler import compile_text

from .storyboards import scene

MORE = """    block: stationary_object
    sky: environment
    lights: traffic_lights
    sensors: sensor_suite
    event done
"""


def said(behaviour: str) -> str:
    """Why a behaviour is refused, empty where it is not."""
    try:
        compile_text(scene(behaviour, MORE), "f.osc")
    except InputError as error:
        assert str(error).startswith("f.osc:") and "(expected " in str(error)
        return str(error)
    return ""


def serial(*lines: str) -> str:
    return "serial:\n" + "\n".join(f"        {line}" for line in lines)


def parallel(*members: str) -> str:
    return "parallel:\n" + "\n".join("        " + member.replace("\n", "\n    ") for member in members)


IN_VAIN = [
    (serial("wait @done"), "nothing emits 'done'"),
    (serial("emit done", "wait elapsed(1s)", "wait @done"), "nothing emits 'done'"),
    (serial("wait @done", "emit done"), "nothing emits 'done'"),
    (serial("ego.lose_odometry() with:\n            until @done"), "nothing emits 'done'"),
    ("part: serial:\n        wait @part.end", "nothing emits 'part.end'"),
    ("one_of:\n        emit done\n        serial:\n            wait @done", "nothing emits 'done'"),
    (serial("wait npc.object_distance(ego, euclidean, reference_points) < 0m"), "never holds"),
    (serial("wait npc.speed < 0mps"), "never holds"),
    (serial("wait npc.time_to_collision(reference: ego) == -1s"), "never holds"),
    (serial("wait ego.speed in [3mps..2mps]"), "nothing lies between"),
    (serial("wait npc.time_headway(reference: npc) < 2s"), "to itself"),
    (serial("wait block.speed > 2mps"), "never moves"),
    (serial("wait ego.object_distance(sky, euclidean, reference_points) < 3m"), "is no physical_object"),
    (serial("wait elapsed(-1s)"), "a time of -1 s"),
    (serial("sky.rain(intensity: 3mmph, duration: -1s)"), "a time of -1 s"),
]
ABSENT = [
    serial("npc.remove()", "npc.drive()"),
    serial("npc.remove()", "npc.remove()"),
    serial("npc.remove()", "npc.assign_position(p)"),
    serial("npc.remove()", "wait npc.speed > 1mps"),
    serial("npc.remove()", "walker.assign_speed(1mps)", "wait walker.time_to_collision(reference: npc) < 1s"),
    serial("wait elapsed(1s)", "npc.change_speed(target: 3mps)", "npc.assign_position(p)"),
    serial(
        "npc.remove()",
        "wait elapsed(1s)",
        "walker.remove()",
        "npc.drive() with:\n            position(3m, ahead_of: walker)",
    ),
]
WRONG = [
    ("npc.change_speed(target: -3mps)", "'target' is below 0"),
    ("npc.assign_speed(-3mps)", "'speed' is below 0"),
    ("npc.change_speed(target: 3mps, rate_profile: cubic)", "speeds change linearly alone"),
    ("npc.change_lane(num_of_lanes: 0, side: left)", "a change over 0 lanes"),
    ("npc.activate_controller(true, false)", "one controller steers and drives"),
    ("npc.drive() with:\n            along(map.create_route([p]))\n            speed(0mps)", "it never gets there"),
    ("npc.drive() with:\n            position(3m, ahead_of: npc)", "to itself"),
    ("npc.drive() with:\n            position(3m, ahead_of: sky)", "is no physical_object"),
    ("walker.walk() with:\n            along(map.create_route([p]))", "a person follows no lanes"),
    ("walker.walk() with:\n            along(map.create_path([p]))\n            speed(0mps)", "it never gets there"),
    ("sky.rain(intensity: -3mmph)", "'intensity' is below 0"),
    ("sky.fog(visual_range: -3m)", "'visual_range' is below 0"),
    ("sensors.disturb(sensor: traffic_lights, noise: 1m)", "'traffic_lights' knows no 'noise'"),
    ("sensors.disturb(sensor: odometry, occlusion: true)", "'odometry' knows no 'occlusion'"),
    ("ego.change_lane(side: left)", "the planner drives the ego"),
]
MAY_GO_WELL = [
    serial("emit done", "wait @done"),
    serial("emit done", "wait npc.speed > 1mps", "wait @done"),
    parallel(serial("wait @done"), serial("wait elapsed(1s)", "emit done")),
    parallel(serial("npc.remove()", "wait npc.speed > 1mps"), serial("wait elapsed(1s)", "npc.assign_position(p)")),
    parallel("part: serial:\n        emit done", serial("wait @part.end")),
    """serial:
        serial:
            wait elapsed(1s)
            emit done
        with:
            until @done""",
    serial("npc.assign_position(p)", "npc.remove()", "npc.assign_position(p)", "npc.drive()"),
    """serial:
        serial(duration: 1s):
            wait elapsed(2s)
            npc.remove()
        npc.drive()""",
    "serial:\n        one_of:\n            npc.remove()\n            npc.drive()\n        npc.drive()",
    serial("ego.activate_controller(false, false)", "ego.drive()", "ego.change_speed(target: 2mps)"),
    serial("wait ego.speed < 0mps"),
    serial("wait npc.speed == 0mps"),
]


@pytest.mark.parametrize(("behaviour", "what"), IN_VAIN)
def test_what_is_waited_for_in_vain_is_refused(behaviour: str, what: str) -> None:
    assert what in said(behaviour)


@pytest.mark.parametrize("behaviour", ABSENT)
def test_one_that_is_not_in_the_world_can_do_nothing(behaviour: str) -> None:
    assert "is not in the world then" in said(behaviour)


@pytest.mark.parametrize(("action", "what"), WRONG)
def test_an_action_that_would_do_nothing_or_never_end_is_refused(action: str, what: str) -> None:
    assert what in said(serial(action))


@pytest.mark.parametrize("behaviour", MAY_GO_WELL)
def test_what_may_go_well_is_not_refused(behaviour: str) -> None:
    assert said(behaviour) == ""


def test_the_ego_reaches_no_speed_without_its_controller() -> None:
    faulty = serial("ego.activate_controller(false, false)", "ego.change_speed(target: 2mps)")
    assert "the ego has no controller now" in said(faulty)

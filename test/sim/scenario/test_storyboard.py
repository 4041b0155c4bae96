"""Serial, parallel, wait, until and events by the stamps that they act at."""

import math

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.commands import (
    ChangeLane,
    ChangeSpeed,
    ClearEmergencyStop,
    Drive,
    EmergencyStop,
    FollowRoute,
    Place,
    Remove,
    SetFog,
    SetLight,
    SetLocalization,
    SetRain,
    Walk,
)
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.model import ActorState, Population, RandomRoute, RouteTo, RouteVia
from tuling_fsm.sim.scenario.placements import Anywhere, AtPose, OnLane, RelativeTo
from tuling_fsm.world.inputs import Light

from .storyboards import View, body, play, scene, storyboard

P = OnLane("1", -1, 5.0)
STOP, GO = EmergencyStop(True), EmergencyStop(False)


def test_serial_waits_and_acts_by_the_stamps() -> None:
    story = storyboard(
        """serial:
        wait elapsed(1s)
        operator.emergency_stop(duration: 1.5s)
        operator.clear()
        wait elapsed(0.5s)
        operator.release()"""
    )
    log = play(story, View(stamp=100.0), 110.0)
    assert log == [(101.0, STOP), (102.5, GO), (102.5, ClearEmergencyStop()), (103.0, GO)]
    assert story.finished


def test_elapsed_does_not_drift_with_sums_of_steps() -> None:
    story = storyboard("serial:\n        wait elapsed(0.3s)\n        operator.release()")
    view, stamp = View(), 0.0
    while not story.finished:
        view.stamp = stamp
        story.step(view)
        stamp += 0.1
    assert view.stamp == pytest.approx(0.3)


def test_parallel_members_run_side_by_side_and_all_are_waited_for() -> None:
    story = storyboard(
        """serial:
        parallel:
            operator.emergency_stop(duration: 2s)
            serial:
                wait elapsed(1s)
                npc.drive()
        walker.remove()"""
    )
    log = play(story, View(), 5.0)
    assert log == [(0.0, STOP), (1.0, Drive("npc", None)), (2.0, GO), (2.0, Remove("walker"))]


def test_a_composition_is_cut_short_by_its_duration_and_ends_what_goes_on() -> None:
    story = storyboard(
        """serial:
        serial(duration: 1s):
            parallel:
                operator.emergency_stop(duration: 1min)
                serial:
                    wait elapsed(10s)
                    npc.drive()
        npc.remove()"""
    )
    assert play(story, View(), 12.0) == [(0.0, STOP), (1.0, GO), (1.0, Remove("npc"))]


def test_until_ends_an_action_and_no_end_means_at_once() -> None:
    story = storyboard(
        """serial:
        npc.drive()
        operator.emergency_stop() with:
            until ego.speed < 1mps
            until elapsed(3s)
        operator.emergency_stop()
        npc.remove()"""
    )
    view = View(actors={"ego": body(speed=5.0)})
    log = play(story, view, 1.0)
    view.stamp, view.actors["ego"] = 1.5, body(speed=0.5)
    log += [(1.5, command) for command in story.step(view)]
    assert log == [(0.0, Drive("npc", None)), (0.0, STOP), (1.5, GO), (1.5, STOP), (1.5, Remove("npc"))]


def test_actions_end_when_the_actor_is_there() -> None:
    story = storyboard(
        """serial:
        npc.change_speed(target: 3mps, rate_peak: -1mpss)
        npc.drive() with:
            along(map.create_route([p]))
            speed(4mps)
        npc.change_lane(num_of_lanes: 2, side: right)
        walker.walk() with:
            along(map.create_path([map.create_xyz_point(1m, 2m)]))"""
    )
    view = View(actors={"npc": body(speed=8.0)})
    assert play(story, view, 1.0) == [(0.0, ChangeSpeed("npc", 3.0, 1.0))]
    view.actors["npc"] = body(speed=3.05)
    assert story.step(view) == (FollowRoute("npc", (P,), 4.0),)
    assert story.step(view) == ()
    view.at_end = {"npc"}
    assert story.step(view) == (ChangeLane("npc", -2),)
    assert story.step(view) == (Walk("walker", (AtPose(1.0, 2.0),), 1.4),)
    assert not story.finished
    view.at_end = {"walker"}
    assert story.step(view) == ()
    assert story.finished


@pytest.mark.clause("OSC-1")
def test_an_action_of_who_is_put_back_elsewhere_is_over_and_that_after_it_is_not() -> None:
    story = storyboard(
        """serial:
        npc.assign_position(p)
        parallel:
            npc.change_speed(target: 3mps, rate_peak: 1mpss)
            serial:
                wait elapsed(1s)
                npc.remove()
                npc.assign_position(p)
                npc.change_speed(target: 4mps, rate_peak: 1mpss)"""
    )
    view = View(actors={"npc": body(speed=8.0)})
    play(story, view, 1.5)
    assert not story.finished
    view.actors["npc"] = body(speed=4.0)
    story.step(view)
    assert story.finished


ONE_OF = """serial:
        one_of(duration: 3s):
            serial:
                wait elapsed(1s)
                npc.drive()
            operator.emergency_stop(duration: 2s)
            walker.remove()
        operator.clear()"""


@pytest.mark.clause("OSC-1")
@pytest.mark.medium
def test_one_of_the_members_is_played_as_the_seed_draws_it() -> None:
    clear = ClearEmergencyStop()
    ways = [
        [(1.0, Drive("npc", None)), (1.0, clear)],
        [(0.0, STOP), (2.0, GO), (2.0, clear)],
        [(0.0, Remove("walker")), (0.0, clear)],
    ]
    played = [play(storyboard(ONE_OF, seed=seed), View(), 5.0) for seed in range(60)]
    assert [played.count(way) > 9 for way in ways] == [True] * 3
    assert all(log in ways for log in played)
    assert played == [play(storyboard(ONE_OF, seed=seed), View(), 5.0) for seed in range(60)]


@pytest.mark.clause("OSC-1")
def test_one_of_is_cut_short_by_its_duration_with_what_goes_on() -> None:
    story = storyboard("serial:\n        one_of(duration: 1s):\n            operator.emergency_stop(duration: 9s)")
    assert play(story, View(), 5.0) == [(0.0, STOP), (1.0, GO)]


def test_events_and_labels_end_the_waits_for_them() -> None:
    story = storyboard(
        """parallel:
        serial:
            wait @go
            npc.remove()
        serial:
            wait @halt.end
            walker.remove()
        serial:
            wait elapsed(1s)
            emit go
            halt: operator.emergency_stop(duration: 1s)"""
    )
    assert play(story, View(), 4.0) == [
        (1.0, STOP), (1.5, Remove("npc")), (2.0, GO), (2.5, Remove("walker")),
    ]  # fmt: skip


def test_an_event_of_the_same_instant_counts_and_an_older_one_does_not() -> None:
    story = storyboard("serial:\n        emit go\n        wait @go\n        npc.remove()")
    assert play(story, View(), 0.0) == [(0.0, Remove("npc"))]
    late = storyboard(
        """parallel:
        emit go
        serial:
            wait elapsed(1s)
            wait @go
            npc.remove()"""
    )
    assert play(late, View(), 5.0) == []


def speeds(condition: str, values: list[float]) -> int | None:
    """Index of the first value at which the wait is over."""
    story = storyboard(f"serial:\n        wait {condition}\n        npc.remove()")
    for index, value in enumerate(values):
        if story.step(View(stamp=index * 0.05, actors={"ego": body(speed=value)})):
            return index
    return None


@pytest.mark.clause("OSC-1")
def test_equality_holds_when_the_value_is_crossed_between_steps() -> None:
    assert speeds("ego.speed == 3mps", [2.0, 2.9, 3.1, 4.0]) == 2
    assert speeds("ego.speed == 3mps", [4.0, 3.1, 2.9]) == 2
    assert speeds("ego.speed == 3mps", [2.0, 3.0]) == 1
    assert speeds("ego.speed == 3mps", [4.0, 5.0, 3.5]) is None
    assert speeds("ego.speed == 3mps and elapsed(0.1s)", [2.9, 3.1, 3.2, 2.9]) == 3
    assert speeds("ego.speed != 3mps", [3.0, 3.0, 3.2]) == 2


@pytest.mark.clause("OSC-1")
def test_the_other_relations_hold_as_they_are_written() -> None:
    assert speeds("ego.speed > 3mps", [3.0, 3.1]) == 1
    assert speeds("ego.speed >= 3mps", [2.9, 3.0]) == 1
    assert speeds("3mps > ego.speed", [3.0, 2.9]) == 1
    assert speeds("ego.speed <= 10.8kmph", [3.1, 3.0]) == 1
    assert speeds("ego.speed in [2mps..3mps]", [1.0, 4.0, 2.5]) == 2


def test_an_actor_out_of_the_world_holds_nothing() -> None:
    story = storyboard("serial:\n        wait npc.speed < 3mps\n        npc.remove()")
    assert play(story, View(actors={"ego": body()}), 1.0) == []


def test_the_first_instant_is_folded_into_the_beginning() -> None:
    text = scene(
        """parallel:
        serial:
            ego.assign_position(p)
            ego.assign_speed(2mps)
            ego.drive() with:
                along(map.create_route([p, map.create_xyz_point(3m, 4m)]))
            npc.drive() with:
                position(20m, behind: ego, at: start)
                lane(left_of: ego)
                speed(6mps)
            wait elapsed(1s)
            walker.assign_position(p)
        other.populate(vehicles: 4)""",
        "    other: traffic_source\n    third: vehicle\n",
    )
    scenario = compile_text(text, "f.osc")
    assert (scenario.ego, scenario.ego_speed) == (P, 2.0)
    assert scenario.route == RouteVia((P, AtPose(3.0, 4.0)))
    assert scenario.population == Population(4, 0)
    npc, pedestrian, third = scenario.actors
    assert (npc.placement, npc.speed) == (RelativeTo("ego", -20.0, 1), 6.0)
    assert pedestrian.placement is None
    assert third.placement == Anywhere()
    log = play(
        storyboard(text[text.index("    do ") + 7 :], "    other: traffic_source\n    third: vehicle\n"), View(), 2.0
    )
    assert log == [(0.0, Drive("npc", 6.0)), (1.0, Place("walker", P))]


def test_routes_of_the_ego() -> None:
    one = compile_text(scene("serial:\n        ego.drive() with:\n            along(map.create_route([p]))"), "f.osc")
    drawn = compile_text(scene("serial(duration: 2min):\n        ego.random_route(length: 2km)"), "f.osc")
    assert one.route == RouteTo(P)
    assert (drawn.route, drawn.max_duration_s, drawn.ego) == (RandomRoute(2000.0), 120.0, Anywhere())


def test_weather_lights_and_localization_come_and_go() -> None:
    more = "    sky: environment\n    lights: traffic_lights\n"
    story = storyboard(
        """serial:
        sky.rain(intensity: 3.6mmph, duration: 1s)
        sky.fog(visual_range: 50m)
        lights.set_state(signal: 7, state: red_yellow, duration: 1s)
        lights.set_state(8, traffic_light_state!dark)
        ego.lose_localization(duration: 1s)""",
        more,
    )
    log = play(story, View(), 5.0)
    stamp, rain = log[0]
    assert stamp == 0.0
    assert isinstance(rain, SetRain)
    assert rain.intensity == pytest.approx(1e-6)
    assert log[1:] == [
        (1.0, SetRain(0.0)),
        (1.0, SetFog(50.0)),
        (1.0, SetLight(7, Light.RED_YELLOW)),
        (2.0, SetLight(7, None)),
        (2.0, SetLight(8, Light.DARK)),
        (2.0, SetLocalization(False)),
        (3.0, SetLocalization(True)),
    ]


def test_the_same_scenario_is_played_twice_alike() -> None:
    scenario = "serial:\n        wait ego.speed == 3mps\n        operator.emergency_stop(duration: 1s)"
    first, second = storyboard(scenario), storyboard(scenario)
    for index in range(100):
        view = View(index * 0.05, {"ego": ActorState(Pose(0.0, 0.0, 0.0), 5.0 * math.sin(index), 0.0, 4.0, 2.0)})
        assert first.step(view) == second.step(view)

"""Actions with a duration that overlap: the end of one takes back its own, and nothing of a later one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.bodies import SPACE
from tuling_fsm.sim.scenario.choices import Sensor
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Light

from .effects import run

pytestmark = pytest.mark.clause("OSC-1")

TEXT = """scenario overlapping:
    ego: vehicle
    works: road_works
    lot: parking_area
    server: route_server
    lights: traffic_lights
    weather: environment
    operator: remote_operator
    sensors: sensor_suite
    start: odr_point = map.create_odr_point("8", "-1", 80m)
    goal: odr_point = map.create_odr_point("8", "-1", 120m)
    here: odr_point = map.create_odr_point("1", "-1", 60m)
    there: odr_point = map.create_odr_point("3", "-1", 60m)
    do parallel:
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
        {first}
        serial:
            wait elapsed(0.5s)
            {second}
"""


def light(sim: Simulation, number: int) -> Light | None:
    return sim.lights._forced.get(number)


def rows(sim: Simulation) -> int:
    """Of how many rows a piece stands."""
    return len({key[:3] for key in sim.scripted.placed_objects.bodies})


def run_of(road_map: RoadMap, first: str, second: str) -> Simulation:
    text = TEXT.format(first=first, second=second)
    return Simulation(road_map, compile_text(text, "overlapping.osc"), 1, Vehicle())


LATER: dict[str, tuple[str, str, Callable[[Simulation], object]]] = {
    "rain": ("weather.rain(8mmph, {})", "weather.rain(20mmph)", lambda sim: sim.environment.rain > 5e-6),
    "fog": ("weather.fog(90m, {})", "weather.fog(50m)", lambda sim: sim.environment.visual_range == 50.0),
    "stop": ("operator.emergency_stop({})", "operator.emergency_stop()", lambda sim: sim.environment.emergency_stop),
    "link": ("operator.lose_link({})", "operator.lose_link()", lambda sim: not sim.environment.emergency_link),
    "odometry": ("ego.lose_odometry({})", "ego.lose_odometry()", lambda sim: not sim.environment.odometry),
    "localization": ("ego.lose_localization({})", "ego.lose_localization()", lambda sim: not sim.environment.localized),
    "stand": (
        "ego.remain_stationary({})", "ego.remain_stationary(duration: 9s)",
        lambda sim: not sim.environment.ego_controlled,
    ),
    "server": ("server.refuse({})", "server.slow_down(5s)", lambda sim: sim.server.settings.delay == 5.0),
    "silence": ("lights.fall_silent({})", "lights.fall_silent()", lambda sim: sim.lights.silent),
    "signal": ("lights.set_state(4, red, {})", "lights.set_state(4, dark)", lambda sim: light(sim, 4) is Light.DARK),
    "signals": ("lights.set_all(red, {})", "lights.set_all(dark)", lambda sim: light(sim, 4) is Light.DARK),
    "all": ("lights.set_state(4, red, {})", "lights.set_all(dark)", lambda sim: light(sim, 4) is Light.DARK),
    "one": ("lights.set_all(red, {})", "lights.set_state(4, dark)", lambda sim: light(sim, 4) is Light.DARK),
    "sensor": (
        "sensors.disturb(objects, noise: 1m, {})", "sensors.disturb(objects, noise: 2m)",
        lambda sim: sim._feed.channels[Sensor.OBJECTS].fault.noise == 2.0,
    ),
    "row": ("works.close_lane(here, {})", "works.close_lane(there)", lambda sim: rows(sim) > 0),
    "same row": ("works.close_lane(here, {})", "works.close_lane(here)", lambda sim: rows(sim) > 0),
    "space": (
        "lot.occupy(['301'], {})", "lot.occupy(['301', '302'])",
        lambda sim: {"301", "302"} <= {name for _, name, _, _ in sim.scripted.placed_objects.bodies},
    ),
    "all spaces": (
        "lot.occupy(['301'], {})", "lot.occupy_all_but('8', ['302'])",
        lambda sim: (SPACE, "301", 0, 0) in sim.scripted.placed_objects.bodies,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LATER)
def test_what_a_later_action_has_set_outlives_the_end_of_an_earlier_one(course: RoadMap, what: str) -> None:
    first, second, is_there = LATER[what]
    sim = run_of(course, first.format("duration: 1s"), second)
    run(sim, 0.7)
    assert is_there(sim)
    run(sim, 0.6)
    assert is_there(sim)


def test_the_end_of_a_later_action_takes_back_its_own_alone(course: RoadMap) -> None:
    sim = run_of(course, "lights.set_all(red, duration: 2s)", "lights.set_state(4, dark, duration: 0.5s)")
    run(sim, 1.2)
    others = [number for number in sim.lights.numbers if number != 4]
    assert light(sim, 4) is None and {light(sim, number) for number in others} == {Light.RED}
    run(sim, 1.0)
    assert {light(sim, number) for number in sim.lights.numbers} == {None}


def test_of_two_rows_and_of_two_lists_of_spaces_what_is_over_goes(course: RoadMap) -> None:
    sim = run_of(course, "works.close_lane(here, duration: 1s)", "works.close_lane(there, duration: 1s)")
    counts = [rows(sim)]
    for seconds in (0.7, 0.6, 0.4):
        run(sim, seconds)
        counts.append(rows(sim))
    assert counts == [1, 2, 1, 0]
    sim = run_of(course, "lot.occupy(['301', '302'], duration: 1s)", "lot.occupy(['302'], duration: 1s)")
    run(sim, 1.2)
    assert list(sim.scripted.placed_objects.bodies) == [(SPACE, "302", 0, 0)]
    run(sim, 0.5)
    assert not sim.scripted.placed_objects.bodies

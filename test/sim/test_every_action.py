"""Every action with every kind of actor: it is seen to be done and ends, or the text is refused where it says so."""

from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.actions import ACTIONS
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.simulation import Simulation

from .plans import along

FILE = str(Path(__file__).resolve().parents[2] / "config" / "scenarios" / "every.osc")
ACTORS = {
    EGO: "ego", "vehicle": "car", "person": "walker", "stationary_object": "thing", "environment": "weather",
    "traffic_source": "traffic", "traffic_lights": "lights", "remote_operator": "operator", "map": "map",
    "Path": "path", "road_works": "works", "parking_area": "lot", "route_server": "server", "sensor_suite": "sensors",
}  # fmt: skip
TEXT = """scenario every:
    ego: vehicle
    path: Path
    car: vehicle
    walker: person
    thing: stationary_object
    marker: stationary_object
    weather: environment
    traffic: traffic_source
    lights: traffic_lights
    operator: remote_operator
    works: road_works
    lot: parking_area
    server: route_server
    sensors: sensor_suite
    start: odr_point = map.create_odr_point("1", "-1", 20m)
    goal: odr_point = map.create_odr_point("2", "-1", 80m)
    near: odr_point = map.create_odr_point("1", "-1", 120m)
    beside: odr_point = map.create_odr_point("1", "-2", 60m)
    ahead: odr_point = map.create_odr_point("1", "-2", 90m)
    far: xyz_point = map.create_xyz_point(x: 900m, y: 900m)
    do serial:
        ego.assign_position(start)
        ego.assign_speed(5mps)
        car.assign_position(beside)
        walker.assign_position(near)
        thing.assign_position(ahead)
"""
ROUTE = "        ego.drive() with:\n            along(map.create_route([goal]))\n"
MARK = "        marker.assign_position(far)\n"
LIMIT_S = 30.0


class Case(NamedTuple):
    """An action as a line of text, with what has to go before it and the modifiers that it needs."""

    call: str
    before: str = ""
    along: str = ""


CASES = {
    "assign_position": Case("assign_position(goal)"),
    "remove": Case("remove()"),
    "assign_speed": Case("assign_speed(2mps)"),
    "change_speed": Case("change_speed(target: 2mps)"),
    "remain_stationary": Case("remain_stationary(duration: 1s)"),
    "drive": Case("drive()"),
    "change_lane": Case("change_lane(side: left)"),
    "activate_controller": Case("activate_controller(false, false)"),
    "random_route": Case("random_route(length: 100m)"),
    "perform_mission": Case('perform_mission(file: "demo.json")'),
    "lose_localization": Case("lose_localization()"),
    "regain_localization": Case("regain_localization()", "ego.lose_localization()"),
    "lose_odometry": Case("lose_odometry()"),
    "regain_odometry": Case("regain_odometry()", "ego.lose_odometry()"),
    "walk": Case("walk()", along="along(map.create_path([map.create_odr_point(1, -1, 122m)]))"),
    "rain": Case("rain(intensity: 8mmph)"),
    "fog": Case("fog(visual_range: 50m)"),
    "populate": Case("populate(vehicles: 3)"),
    "set_state": Case("set_state(signal: 1, state: dark)"),
    "release": Case("release()", "operator.emergency_stop()"),
    "set_all": Case("set_all(dark)"),
    "release_all": Case("release_all()", "lights.set_all(dark)"),
    "fall_silent": Case("fall_silent()"),
    "be_heard": Case("be_heard()", "lights.fall_silent()"),
    "emergency_stop": Case("emergency_stop()"),
    "lose_link": Case("lose_link()"),
    "clear": Case("clear()"),
    "reset": Case("reset()"),
    "skip_task": Case("skip_task()"),
    "close_lane": Case("close_lane(near)"),
    "close_road": Case("close_road(near)"),
    "open": Case("open()", "works.close_lane(near)"),
    "occupy": Case('occupy(["308"])'),
    "occupy_all_but": Case('occupy_all_but(road_id: "8", free: ["308"])'),
    "vacate": Case('vacate(["308"])', 'lot.occupy(["308"])'),
    "disturb": Case("disturb(sensor: objects, noise: 1m)"),
    "go_away": Case("go_away()"),
    "refuse": Case("refuse()"),
    "slow_down": Case("slow_down(delay: 2s)"),
    "answer_opposite": Case("answer_opposite()"),
    "come_back": Case("come_back()", "server.go_away()"),
}
OTHERWISE = {
    (EGO, "drive"): Case("drive()", "ego.activate_controller(false, false)"),
    ("traffic_lights", "release"): Case("release(signal: 1)", "lights.set_state(signal: 1, state: dark)"),
    ("vehicle", "remain_stationary"): Case("remain_stationary()", "car.assign_speed(5mps)"),
    ("vehicle", "activate_controller"): Case("activate_controller(false, false)", "car.assign_speed(5mps)"),
    ("person", "remain_stationary"): Case("remain_stationary()", "walker.assign_speed(1mps)"),
}
AT_THE_BEGINNING = ("random_route", "perform_mission", "populate")


def case_of(kind: str, action: str) -> Case:
    return OTHERWISE.get((kind, action), CASES[action])


def text_of(actor: str, action: str, case: Case) -> str:
    line = f"        {actor}.{case.call}" + (f" with:\n            {case.along}" if case.along else "") + "\n"
    first = line if action in AT_THE_BEGINNING else ""
    before = f"        {case.before}\n" if case.before else ""
    later = "" if first else line
    route = "" if actor == EGO and first else ROUTE
    return TEXT + first + route + "        wait elapsed(0.5s)\n" + before + later + MARK


def look(sim: Simulation) -> str:
    """What can be seen of a frame, the marker aside."""
    told, environment = sim.inputs(), sim.environment
    return repr(
        (
            sim.ego.state.tolist(),
            [sim.scripted.state(name) for name in ("car", "walker", "thing")],
            sim.scripted.placed_objects.boxes.rows.tolist(),
            len(sim.traffic.ids),
            sim.lights.table(sim.stamp).tolist(),
            [None if part is None else sim.stamp - part.stamp for part in (told.odometry, told.traffic_lights)],
            None if told.odometry is None else told.odometry.position_std,
            [None if flag is None else (flag.value, sim.stamp - flag.stamp) for flag in (told.emergency_stop,)],
            None if told.rain_fog is None else told.rain_fog.value,
            (told.clear_emergency_stop, told.reset, told.skip_task),
            None
            if told.objects is None
            else [row for row in told.objects.rows.tolist() if row[0] != sim.scripted.ids["marker"]],
            (environment.rain, environment.visual_range),
            sim.server.settings,
            told.mission,
        )
    )


@cache
def frames(text: str, course: RoadMap) -> tuple[list[str], bool]:
    """What is seen from frame to frame until the marker stands, and whether it does. Most actions are compared with the
    same run without any.
    """
    sim = Simulation(course, compile_text(text, FILE), 1, Vehicle())
    seen, plan = [look(sim)], along(lambda s: 0.0, lambda s: 5.0, 120.0, sim.ego.pose)
    while sim.scripted.state("marker") is None and sim.stamp < LIMIT_S and not sim.finished:
        sim.advance(plan)
        seen.append(look(sim))
    ended = sim.scripted.state("marker") is not None
    for _ in range(20):
        if not sim.finished:
            sim.advance(plan)
            seen.append(look(sim))
    return seen, ended


DONE = [(kind, action) for kind, actions in ACTIONS.items() for action in actions]
REFUSED = [pair for pair in itertools.product(ACTIONS, CASES) if pair not in DONE]


def test_where_nothing_is_done_nothing_is_seen(course: RoadMap) -> None:
    text = TEXT + ROUTE + "        wait elapsed(0.5s)\n        works.close_lane(near)\n"
    one, other = (frames(text + more + MARK, course)[0] for more in ("", "        wait elapsed(1s)\n"))
    assert one == other[: len(one)]


def test_every_action_is_tried() -> None:
    assert {action for _, action in DONE} == set(CASES)
    assert set(ACTORS) == set(ACTIONS)


@pytest.mark.parametrize(("kind", "action"), DONE)
@pytest.mark.medium
def test_an_action_that_is_understood_is_seen_and_ends(kind: str, action: str, course: RoadMap) -> None:
    case = case_of(kind, action)
    text = text_of(ACTORS[kind], action, case)
    seen, ended = frames(text, course)
    assert ended
    without = TEXT + ROUTE + "        wait elapsed(0.5s)\n" + (f"        {case.before}\n" if case.before else "") + MARK
    before, _ = frames(without, course)
    assert any(one != other for one, other in zip(seen, before, strict=False))


@pytest.mark.parametrize(("kind", "action"), REFUSED)
def test_an_action_that_is_not_understood_is_refused_where_it_stands(kind: str, action: str) -> None:
    text = text_of(ACTORS[kind], action, CASES[action])
    with pytest.raises(InputError) as caught:
        compile_text(text, "every.osc")
    line = next(i for i, line in enumerate(text.splitlines(), 1) if CASES[action].call in line and ACTORS[kind] in line)
    assert re.fullmatch(rf"every\.osc:{line}:9: .+ \(expected .+\)", str(caught.value))

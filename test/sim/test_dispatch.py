"""Tables by the members of an enumeration have all of them, and what the language may name is what there is."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.bodies import KINDS, OBJECT_KIND, SIZES_M, SPACING_M
from tuling_fsm.sim.scenario.choices import ActorKind, Material, PerceivedAs, Sensor
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.conditions import Direction, DistanceMode, Relation
from tuling_fsm.sim.scenario.imports import standard_library
from tuling_fsm.sim.scenario.monitors import _RELATIONS
from tuling_fsm.sim.scenario.triggers import FLIPPED
from tuling_fsm.sim.scenario.world_actions import FAULTS
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire import chinese
from tuling_fsm.wire.why import WORDS
from tuling_fsm.world.inputs import Light

TABLES = [
    (KINDS, Material), (SIZES_M, Material), (SPACING_M, Material), (OBJECT_KIND, ActorKind), (FAULTS, Sensor),
    (_RELATIONS, Relation), (FLIPPED, Relation), (WORDS, Reason), (chinese.WORDS, Reason),
]  # fmt: skip
NAMED = [
    ("object_kind", Material), ("seen_as", PerceivedAs), ("sensor", Sensor),
    ("distance_direction", Direction), ("distance_mode", DistanceMode),
]  # fmt: skip


@pytest.mark.parametrize(("table", "members"), TABLES)
def test_a_table_has_every_member(table: Collection[object], members: type[Enum]) -> None:
    assert set(table) == set(members)


@pytest.mark.parametrize(("name", "members"), NAMED)
def test_the_language_names_what_there_is(name: str, members: type[Enum]) -> None:
    assert set(standard_library().enumerations[name].values()) == {member.value for member in members}
    assert set(standard_library().enumerations["traffic_light_state"].values()) == {
        light.name.lower() for light in Light
    }


TEXT = """scenario placed:
    ego: vehicle
    npc: vehicle
    works: road_works
    lot: parking_area
    lights: traffic_lights
    start: xyz_point = map.create_xyz_point(x: 20m, y: -1.75m)
    goal: xyz_point = map.create_xyz_point(x: 380m, y: -1.75m)
    here: xyz_point = map.create_xyz_point(x: 100m, y: -1.75m)
    off: xyz_point = map.create_xyz_point(x: 100m, y: 90m)
    behind: xyz_point = map.create_xyz_point(x: 50m, y: -1.75m)
    nowhere: odr_point = map.create_odr_point("99", "-1", 5m)
    do serial:
        ego.assign_position(start)
        ego.drive() with:
            along(map.create_route([goal]))
        npc.assign_position({npc})
        wait elapsed(0.1s)
        {action}
"""


def refusal(road_map: RoadMap, action: str, npc: str = "here") -> str:
    """What is said of an action before anything drives."""
    text = TEXT.format(action=action, npc=npc)
    with pytest.raises(InputError) as caught:
        Simulation(road_map, compile_text(text, "f.osc"), 1, Vehicle())
    return str(caught.value)


ON_MAP = [
    ("npc.assign_position(nowhere)", "no lane -1 of road '99' at 5 m on this map"),
    ("works.close_lane(nowhere)", "no lane -1 of road '99'"),
    ("works.close_lane(off)", "no lane to close there"),
    ("lights.set_state(signal: 7, state: red)", "no traffic light 7"),
    ('lot.occupy(["7"])', "no parking space '7'"),
    ('lot.occupy_all_but(road_id: "7")', "no parking spaces beside road '7'"),
    ("npc.drive() with:\n            along(map.create_route([nowhere]))", "no lane -1 of road '99'"),
    ("npc.drive() with:\n            along(map.create_path([here, nowhere]))", "no lane -1 of road '99'"),
]


@pytest.mark.parametrize(("action", "what"), ON_MAP)
def test_what_the_map_does_not_have_is_refused_where_it_stands(action: str, what: str, two_lanes: RoadMap) -> None:
    said = refusal(two_lanes, action)
    assert said.startswith("f.osc:19:9: ") and what in said


def test_a_beginning_off_the_map_is_refused_where_it_stands(two_lanes: RoadMap) -> None:
    assert refusal(two_lanes, "npc.remove()", npc="nowhere").startswith("f.osc:17:9: npc: no lane -1 of road '99'")


ON_THE_WAY = [
    ("npc.change_lane(side: left)", "here", "has no 1 lanes to its left"),
    ("npc.change_lane(num_of_lanes: 2, side: right)", "here", "has no 2 lanes to its right"),
    ("npc.change_lane(side: right)", "off", "stands on no driving lane"),
    ("npc.drive()", "off", "stands on no driving lane"),
    ("npc.activate_controller(true, true)", "off", "stands on no driving lane"),
    (
        "npc.drive() with:\n            along(map.create_route([behind]))",
        "here",
        "no lanes lead 'npc' from where it is",
    ),
    ("npc.drive() with:\n            position(30m, ahead_of: ego)\n            lane(left_of: ego)", "here", "no place"),
]


@pytest.mark.parametrize(("action", "npc", "what"), ON_THE_WAY)
def test_what_turns_out_impossible_on_the_way_ends_the_run_with_its_place(
    action: str, npc: str, what: str, two_lanes: RoadMap
) -> None:
    text = TEXT.format(action=action, npc=npc)
    sim = Simulation(two_lanes, compile_text(text, "f.osc"), 1, Vehicle())
    with pytest.raises(InputError, match=rf"f\.osc:19:9: .*{what}"):
        for _ in range(10):
            sim.advance(None)

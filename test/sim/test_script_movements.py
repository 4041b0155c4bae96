"""Movements of the DSL in the world: how they begin, go on and end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.simulation import Simulation

from .plans import along

pytestmark = pytest.mark.clause("OSC-1")
FILE = str(Path(__file__).resolve().parents[2] / "config" / "scenarios" / "movements.osc")
TEXT = """scenario top:
    path: Path
    ego_vehicle: Model3
    npc: Rubicon
    start: odr_point = map.create_odr_point("1", "-1", 40m)
    do serial:
        ego_vehicle.assign_position(start)
        ego_vehicle.assign_speed(5mps)
        parallel(duration: 6s):
            ego_vehicle.drive(path)
            npc.drive(path) with:
                lane(right_of: ego_vehicle, at: start)
                position(10m, behind: ego_vehicle, at: start)
                position(12m, ahead_of: ego_vehicle, at: end)
        parallel(duration: 5s):
            npc.drive(path) with:
                {}
"""


def after(course: RoadMap, modifier: str, seconds: float) -> tuple[Simulation, ActorState]:
    """The world after some time, and the npc in it; the ego goes straight on at 5 m/s."""
    sim = Simulation(course, compile_text(TEXT.format(modifier), FILE), 1, Vehicle())
    plan = along(lambda s: 0.0, lambda s: 5.0, 120.0, sim.ego.pose)
    while sim.stamp < seconds - 1e-6:
        sim.advance(plan)
    state = sim.scripted.state("npc")
    assert state is not None
    return sim, state


def test_it_begins_beside_the_ego_with_its_speed(course: RoadMap) -> None:
    sim, npc = after(course, "speed(5mps)", 0.0)
    assert npc.pose.x - sim.ego.pose.x == pytest.approx(-10.0, abs=0.1)
    assert npc.pose.y - sim.ego.pose.y == pytest.approx(-3.5, abs=0.3)
    assert npc.speed == 5.0


def test_it_is_where_it_has_to_be_at_the_end(course: RoadMap) -> None:
    sim, npc = after(course, "speed(5mps)", 6.0)
    assert npc.pose.x - sim.ego.pose.x == pytest.approx(12.0, abs=0.4)


@pytest.mark.medium
def test_it_changes_into_the_lane_of_the_ego(course: RoadMap) -> None:
    sim, npc = after(course, "lane(same_as: ego_vehicle, at: end)", 11.0)
    assert npc.pose.y == pytest.approx(sim.ego.pose.y, abs=0.3)


@pytest.mark.parametrize(
    ("modifier", "change"),
    [("acceleration(-1mpss)", -5.0), ("change_speed(2mps)", 2.0), ("speed(4mps, at: end)", None)],
)
@pytest.mark.medium
def test_its_speed_changes(course: RoadMap, modifier: str, change: float | None) -> None:
    _, before = after(course, modifier, 6.0)
    _, npc = after(course, modifier, 11.0)
    wanted = 4.0 if change is None else before.speed + change
    assert npc.speed == pytest.approx(wanted, abs=0.15)


@pytest.mark.parametrize("modifier", ["change_speed(-20mps)", "speed(20mps, slower_than: ego_vehicle)"])
def test_no_movement_is_backwards(course: RoadMap, modifier: str) -> None:
    _, npc = after(course, modifier, 11.0)
    assert npc.speed == 0.0


def test_a_lane_that_is_not_there_ends_the_run_at_its_place(course: RoadMap) -> None:
    with pytest.raises(InputError, match=r"movements\.osc:16:13: 'npc' has no such lane beside it"):
        after(course, "change_lane(lane_changes: 5, side: right)", 7.0)

"""Programs of the traffic lights."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from map.joined import joined

from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.parameters import LightParameters
from tuling_fsm.world.inputs import Light


def lights(road_map: RoadMap, seed: int = 1) -> TrafficLights:
    return TrafficLights(road_map, np.random.SeedSequence(seed), LightParameters())


def runs(states: list[int]) -> list[tuple[int, float]]:
    """Stretches of equal state with their length in s, for samples 0.1 s apart."""
    return [(state, 0.1 * len(list(group))) for state, group in itertools.groupby(states)]


def test_a_light_goes_green_yellow_red_for_its_times(lit: RoadMap) -> None:
    one = lights(lit)
    states = [int(one.state(1, 0.1 * i)) for i in range(3000)]
    whole = runs(states)[1:-1]
    assert [b for (a, _), (b, _) in itertools.pairwise(whole) if a == Light.GREEN] == [Light.YELLOW] * sum(
        state == Light.GREEN for state, _ in whole[:-1]
    )
    for state, seconds in whole:
        if state == Light.GREEN:
            assert 11.8 <= seconds <= 15.2
        if state == Light.YELLOW:
            assert seconds == pytest.approx(3.0, abs=0.11)


def test_crossing_approaches_are_never_green_together(lit: RoadMap) -> None:
    one = lights(lit)
    east_west, north_south = (one.numbers.index(1), one.numbers.index(3)), (one.numbers.index(2), one.numbers.index(4))
    seen = set()
    for i in range(4000):
        states = one.states(0.1 * i)
        moving = [[k for k in axis if states[k] in (Light.GREEN, Light.YELLOW)] for axis in (east_west, north_south)]
        assert not (moving[0] and moving[1])
        seen.update(moving[0] + moving[1])
    assert seen == set(east_west + north_south)


@pytest.mark.parametrize("name", ["carla_Town01", "carla_Town07", "pyopendrive_chatt"])
@pytest.mark.medium
def test_phases_of_real_maps_exclude_one_another(name: str, shared_data: Path) -> None:
    road_map = read_map(shared_data / "maps" / f"{name}.xodr")
    one = lights(road_map)
    row = {number: i for i, number in enumerate(one.numbers)}
    for i in range(600):
        states = one.states(0.25 * i)
        for phases in road_map.phases.values():
            going = {n for phase in phases for n in phase if states[row[n]] in (Light.GREEN, Light.YELLOW)}
            assert any(going <= set(phase) for phase in phases)


def test_lights_on_one_way_through_joined_junctions_are_green_together(tmp_path: Path) -> None:
    one = lights(joined(tmp_path, 1.0))
    states = [{n: one.state(n, 0.1 * i) for n in (1, 3, 6)} for i in range(1000)]
    assert all(each[1] is each[3] for each in states)
    assert not any(each[3] is not Light.RED and each[6] is not Light.RED for each in states)
    assert {each[1] for each in states} == {each[6] for each in states} == {Light.GREEN, Light.YELLOW, Light.RED}


def test_a_light_of_two_phases_is_green_in_both_and_from_the_one_into_the_next(
    monkeypatch: pytest.MonkeyPatch, lit: RoadMap
) -> None:
    monkeypatch.setitem(lit.__dict__, "phases", {"9": ((1,), (2, 3), (3,), (4, 3))})
    one = lights(lit)
    states = [{n: one.state(n, 0.1 * i) for n in (1, 2, 3, 4)} for i in range(1000)]
    long = [seconds for state, seconds in runs([int(each[3]) for each in states])[1:-1] if state == Light.GREEN]
    assert long and all(seconds > 3 * 12.0 for seconds in long)
    assert all(each[3] is Light.GREEN for each in states if Light.GREEN in (each[2], each[4]))


def test_a_light_that_stands_alone_cycles_too(shared_data: Path) -> None:
    road_map = read_map(shared_data / "maps" / "esmini_fabriksgatan_traffic_lights.xodr")
    one = lights(road_map)
    for number in one.numbers:
        assert {int(one.state(number, 0.5 * i)) for i in range(200)} == {Light.RED, Light.YELLOW, Light.GREEN}


def test_seeds_shift_the_cycles(lit: RoadMap) -> None:
    assert lights(lit, 1).states(7.0).tolist() == lights(lit, 1).states(7.0).tolist()
    assert any(lights(lit, 1).states(t).tolist() != lights(lit, 2).states(t).tolist() for t in (0.0, 7.0, 20.0))


def test_a_forced_light_stays_until_it_is_given_back(lit: RoadMap) -> None:
    one = lights(lit)
    free = int(one.state(2, 10.0))
    one.force(2, Light.DARK)
    assert one.state(2, 10.0) is Light.DARK
    assert one.table(10.0)["state"][one.numbers.index(2)] == Light.DARK
    one.force(2, None)
    assert one.state(2, 10.0) == free
    assert one.state(99, 10.0) is Light.UNKNOWN
    one.force(2, Light.UNKNOWN)
    row = one.table(10.0)[one.numbers.index(2)]
    assert (one.state(2, 10.0), row["state"], row["confidence"]) == (free, Light.UNKNOWN, 0.0)
    one.force(2, None)
    assert one.table(10.0)["state"][one.numbers.index(2)] == free
    one.force(99, Light.RED)


@pytest.mark.clause("TM-2")
def test_a_reset_gives_back_what_was_forced_and_what_was_unseen(lit: RoadMap) -> None:
    one, fresh = lights(lit), lights(lit)
    one.force(1, Light.UNKNOWN)
    one.force(2, Light.DARK)
    one.reset(0.0)
    assert one.table(0.0).tobytes() == fresh.table(0.0).tobytes()

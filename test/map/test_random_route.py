"""Random drives on any map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from map import towns, xodr
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.random_route import random_route

MAPS = (
    "carla_Town01",
    "carla_Town07",
    "esmini_fabriksgatan_traffic_lights",
    "esmini_parking_demo",
    "pyopendrive_chatt",
)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.medium
def test_on_real_maps(shared_data: Path, name: str) -> None:
    road_map = read_map(shared_data / "maps" / f"{name}.xodr")
    for seed in range(4):
        route = random_route(road_map, np.random.default_rng(seed), 300.0)
        assert 200.0 < route.length <= 300.5
        lanes = [road_map.lanes[stretch.lane] for stretch in route.lanes]
        assert lanes[0].junction is None
        assert lanes[-1].junction is None
        assert route.lanes[0].lane_from >= 8.0
        assert len({lane.id[:2] for lane in lanes}) == len(lanes)
        assert all(stretch.change == 0 for stretch in route.lanes)
        assert all(np.min(lane.left + lane.right) >= 2.2 for lane in lanes)
        curvature = np.diff(route.reference.heading) / np.diff(route.reference.s)
        assert np.abs(curvature).max() < 0.33


def test_the_same_seed_gives_the_same_route(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path)
    one, other = (random_route(road_map, np.random.default_rng(5), 100.0) for _ in range(2))
    assert one.lanes == other.lanes


def test_the_longest_there_is_where_the_map_is_too_small(tmp_path: Path) -> None:
    road_map = towns.straight(tmp_path, lanes=1, length=100.0)
    route = random_route(road_map, np.random.default_rng(0), 1000.0)
    assert 70.0 < route.length < 92.0


def test_a_map_without_room(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no driving lane long enough"):
        random_route(towns.straight(tmp_path, length=9.0), np.random.default_rng(0), 50.0)
    narrow = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1, 1.5)])]))
    with pytest.raises(InputError):
        random_route(narrow, np.random.default_rng(0), 50.0)


@pytest.mark.parametrize(("stub_m", "end_m"), [(5.0, 97.0), (1.0, 93.0), (7.5, 99.0)])
def test_it_ends_well_before_a_dead_end_in_another_section(tmp_path: Path, stub_m: float, end_m: float) -> None:
    """A short road that leads nowhere, behind one of 100 m: a car on the one reaches beyond the other."""
    stub = xodr.road(
        [xodr.section([xodr.lane(-1, links=((-1,), ()))])], number="2", length=stub_m,
        geometries=xodr.geometry(0.0, 100.0, 0.0, 0.0, stub_m),
        link='<predecessor elementType="road" elementId="1" contactPoint="end"/>',
    )  # fmt: skip
    road = xodr.road(
        [xodr.section([xodr.lane(-1, links=((), (-1,)))])], length=100.0,
        link='<successor elementType="road" elementId="2" contactPoint="start"/>',
    )  # fmt: skip
    route = random_route(xodr.read(tmp_path, road, stub), np.random.default_rng(1), 300.0)
    assert [stretch.lane.road for stretch in route.lanes] == ["1"]
    assert route.reference.xy[-1, 0] == pytest.approx(end_m, abs=0.1)

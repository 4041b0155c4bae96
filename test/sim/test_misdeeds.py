"""Forty staged misdeeds that the referee sees as what they are, and twenty sound maneuvers that it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from crossroads import LIGHT, STOP_SIGN, YIELD_SIGN, Town, crossroads, divided, mirrored, turn_lane

from tuling_fsm.map.road_map import RoadMap

from . import misdeeds
from .failures_to_yield import FAILURES_TO_YIELD, SOUND_YIELDING
from .staging import Scene, play, seen_in_a_mirror

MISDEEDS = [*misdeeds.MISDEEDS, *(("yield", scene) for scene in FAILURES_TO_YIELD)]
SOUND = [*misdeeds.SOUND, *SOUND_YIELDING]


@pytest.fixture(scope="session")
def yields(folder: Path) -> RoadMap:
    """Crossroads whose arms N and S have to yield."""
    return crossroads(folder, "yields", dict.fromkeys("NS", YIELD_SIGN), crosswalks="EW")


@pytest.fixture(scope="session")
def lit_from_east(folder: Path) -> RoadMap:
    """Crossroads of which one arm alone has a light."""
    return crossroads(folder, "lit_from_east", {"E": LIGHT})


@pytest.fixture(scope="session")
def all_way_stop(folder: Path) -> RoadMap:
    """Crossroads with a stop sign on every arm."""
    return crossroads(folder, "all_way_stop", dict.fromkeys("ENWS", STOP_SIGN))


@pytest.fixture(scope="session")
def two_way(folder: Path) -> RoadMap:
    """A road along +x with one lane each way, a broken line between them."""
    town = Town()
    town.road(1, 0.0, 0.0, 0.0, 400.0, ("", ""))
    return town.read(folder, "two_way")


@pytest.fixture(scope="session")
def walled(folder: Path) -> RoadMap:
    """The same with a wall across both lanes."""
    return _with_object(folder, "walled", 't="0" length="1" width="6.8"')


@pytest.fixture(scope="session")
def railed(folder: Path) -> RoadMap:
    """The same with a guard rail at the right edge, 0.2 m inside."""
    return _with_object(folder, "railed", 't="-3.3" length="8" width="0.2"')


def _with_object(folder: Path, name: str, measures: str) -> RoadMap:
    town = Town()
    solid = f'<object id="1" type="barrier" s="115" hdg="0" height="1" zOffset="0" {measures}/>'
    town.road(1, 0.0, 0.0, 0.0, 400.0, ("", ""), objects=solid)
    return town.read(folder, name)


@pytest.fixture(scope="session", name="turn_lane")
def turn_lane_map(folder: Path) -> RoadMap:
    return turn_lane(folder)


@pytest.mark.parametrize(("kind", "scene"), [pytest.param(*row, id=row[1].name) for row in MISDEEDS])
@pytest.mark.medium
def test_a_misdeed_is_seen_and_at_fault(kind: str, scene: Scene, request: pytest.FixtureRequest) -> None:
    watch = play(request.getfixturevalue(scene.map), scene)
    assert kind in watch.faults, watch.referee.infractions


@pytest.mark.parametrize("scene", [pytest.param(scene, id=scene.name) for scene in SOUND])
def test_a_sound_maneuver_is_left_alone(scene: Scene, request: pytest.FixtureRequest) -> None:
    watch = play(request.getfixturevalue(scene.map), scene)
    assert watch.faults == [], watch.referee.infractions


@pytest.fixture(scope="session")
def left_hand(folder: Path) -> Callable[[str], RoadMap]:
    """Maps of this folder in left-hand traffic, by name."""
    known: dict[str, RoadMap] = {}

    def get(name: str) -> RoadMap:
        if name not in known:
            known[name] = mirrored(folder / f"{name}.xodr")
        return known[name]

    return get


LEFT_HAND = [
    pytest.param(kind, scene, id=scene.name)
    for kind, scene in (*MISDEEDS, *((None, scene) for scene in SOUND))
    if scene.map != "course"
]


@pytest.mark.parametrize(("kind", "scene"), LEFT_HAND)
@pytest.mark.medium
def test_in_left_hand_traffic_all_is_the_other_way_round(
    kind: str | None, scene: Scene, left_hand: Callable[[str], RoadMap], request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(scene.map)
    faults = play(left_hand(scene.map), seen_in_a_mirror(scene)).faults
    assert kind in faults if kind else faults == []


CROSSINGS = ("plain", "lit", "signed", "yields", "lit_from_east", "all_way_stop")
ROADS = ("two_lanes", "two_way", "two_ways", "wide", "wide_lanes", "parking_strip", "bus_lane")
AT_CROSSING = {"two": (3.0,), "four": (8.0, 14.0, 22.0)}
ALONG_ROAD = {f"every {m} m": tuple(float(s) for s in range(m, 400, m)) for m in (2, 10)}
STATIONS = {**dict.fromkeys(CROSSINGS, AT_CROSSING), **dict.fromkeys(ROADS, ALONG_ROAD)}
"""Where the sections of a divided road begin, m."""
DIVIDED = [
    pytest.param(kind, scene, stations, id=f"{scene.name}-{name}")
    for kind, scene in (*MISDEEDS, *((None, scene) for scene in SOUND))
    for name, stations in STATIONS.get(scene.map, {}).items()
]


@pytest.fixture(scope="session")
def in_sections(folder: Path) -> Callable[[str, tuple[float, ...]], RoadMap]:
    """Maps of this folder with roads divided at stations (m), by name."""
    known: dict[tuple[str, tuple[float, ...]], RoadMap] = {}

    def get(name: str, stations: tuple[float, ...]) -> RoadMap:
        if (name, stations) not in known:
            known[name, stations] = divided(folder / f"{name}.xodr", stations)
        return known[name, stations]

    return get


@pytest.mark.parametrize(("kind", "scene", "stations"), DIVIDED)
@pytest.mark.medium
def test_in_however_many_sections_a_road_is_written_the_verdict_is_the_same(
    kind: str | None,
    scene: Scene,
    stations: tuple[float, ...],
    in_sections: Callable[[str, tuple[float, ...]], RoadMap],
    request: pytest.FixtureRequest,
) -> None:
    request.getfixturevalue(scene.map)
    faults = play(in_sections(scene.map, stations), scene).faults
    assert kind in faults if kind else faults == []


def test_there_are_forty_and_twenty() -> None:
    assert (len(MISDEEDS) >= 40, len(SOUND) >= 20) == (True, True)

"""Places on roads that fulfil what a scenario asks of them."""

import math

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.path_constraints import BendAhead, JunctionOnPath, PathConstraints, ValueRange
from tuling_fsm.sim.scenario.path_places import draw_place, places
from tuling_fsm.sim.scenario.validation import check_on_map

pytestmark = pytest.mark.clause("OSC-1")
TWO = PathConstraints(lanes=ValueRange(low=2.0))


def test_a_lane_is_counted_from_the_left(course: RoadMap) -> None:
    for number in (1, 2):
        found = list(places(course, TWO, number))
        assert found
        for lane, _ in found:
            abreast = course.same_direction(lane.id)
            assert len(abreast) >= 2 and abreast[number - 1] == lane.id and lane.junction is None
    assert list(places(course, TWO, 9)) == []
    assert {lane.id for lane, _ in places(course, TWO, 0)} > {lane.id for lane, _ in places(course, TWO, 1)}


def test_a_place_repeats_with_its_seed(course: RoadMap) -> None:
    drawn = [draw_place(course, TWO, 1, (), np.random.default_rng(seed)) for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 2
    assert draw_place(course, PathConstraints(lanes=ValueRange(low=9.0)), 0, (), np.random.default_rng(1)) is None


def test_length_junction_and_bend_leave_fewer_places(course: RoadMap) -> None:
    every = list(places(course, PathConstraints(), 0))
    left_turn = ValueRange(math.radians(60.0), math.radians(120.0))
    asked = (
        PathConstraints(length=400.0),
        PathConstraints(junction=JunctionOnPath(direction=left_turn, before=ValueRange(0.0, 60.0))),
        PathConstraints(curve=BendAhead(ValueRange(10.0, 60.0), left=True)),
    )
    for path in asked:
        found = list(places(course, path, 0))
        assert 0 < len(found) < len(every), path
    bent = [
        lane.center.at(s + 10.0).heading - lane.center.at(s).heading
        for lane, s in places(course, asked[2], 0)
        if s + 10.0 < lane.length
    ]
    assert bent and all(math.sin(turn) > 0.0 for turn in bent)
    for lane, s in places(course, asked[1], 0):
        assert lane.length - s <= 60.0


def test_a_map_without_such_a_road_is_refused_at_its_place(course: RoadMap) -> None:
    text = (
        "scenario a:\n    path: Path\n    ego: vehicle\n    path.path_min_driving_lanes(7)\n    do serial:\n"
        "        ego.drive(path) with:\n            lane(2, at: start)\n"
    )
    with pytest.raises(InputError, match=r"f\.osc:6:9: ego: no lane 2 of a road with so many driving lanes"):
        check_on_map(compile_text(text, "f.osc"), course)
    check_on_map(compile_text(text.replace("(7)", "(2)"), "f.osc"), course)

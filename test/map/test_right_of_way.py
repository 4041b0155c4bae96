"""Which lane gives way to which by sign or turn, where no light says it."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest
from crossroads import LIGHT, SIDES, STOP_SIGN, YIELD_SIGN, crossroads
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.right_of_way import STRAIGHT_RAD, gives_way, has_sign, turns_across, way_headings
from tuling_fsm.map.road_map import RoadMap

TURNS = {"left": 0.5 * math.pi, "straight": 0.0, "right": -0.5 * math.pi}


def way(town: RoadMap, side: str, turn: str) -> LaneId:
    """The connecting lane that comes from an arm and turns so."""
    begin = SIDES[side] + math.pi
    for lane in town.driving_lanes():
        if town.lanes[lane].junction is not None:
            found = way_headings(town, lane)
            wanted = (begin, begin + TURNS[turn])
            if all(math.cos(a - b) > 0.99 for a, b in zip(found, wanted, strict=True)):
                return lane
    raise AssertionError(f"no way {turn} from {side}")


@pytest.mark.clause("INT-7")
def test_one_that_turns_left_gives_way_to_one_that_comes_towards_it_and_does_not(tmp_path: Path) -> None:
    town = crossroads(tmp_path)
    for (side, turn), (other, theirs) in product(product("ENWS", TURNS), repeat=2):
        opposite = math.cos(SIDES[side] - SIDES[other]) < -0.9
        expected = opposite and turn == "left" and theirs != "left"
        assert gives_way(town, way(town, side, turn), way(town, other, theirs)) is expected, (side, turn, other, theirs)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize("sign", [STOP_SIGN, YIELD_SIGN])
def test_one_that_has_a_sign_gives_way_to_one_that_has_none_whoever_turns(
    tmp_path: Path, sign: tuple[str, str]
) -> None:
    town = crossroads(tmp_path, signs={"S": sign})
    for turn, other, theirs in product(TURNS, "ENW", TURNS):
        assert gives_way(town, way(town, "S", turn), way(town, other, theirs))
        assert not gives_way(town, way(town, other, theirs), way(town, "S", turn))


@pytest.mark.clause("INT-7")
def test_a_light_prevails_over_a_sign(tmp_path: Path) -> None:
    """A lane with green does not give way because of the sign for when the lights are off, 20 m before them."""
    signs = crossroads(tmp_path, signs={"S": YIELD_SIGN})
    assert has_sign(signs, way(signs, "S", "straight"))
    assert not has_sign(crossroads(tmp_path, "lit", signs={"S": LIGHT}), way(signs, "S", "straight"))
    text = (tmp_path / "cross.xodr").read_text(encoding="utf-8")
    begin = text.index('<signal id="4"')
    sign = text[begin : text.index("</signal>", begin) + len("</signal>")]
    light = sign.replace('id="4"', 'id="5"').replace('dynamic="no"', 'dynamic="yes"')
    light = light.replace(f'type="{YIELD_SIGN[0]}"', f'type="{LIGHT[0]}"')
    farther = sign.replace(' s="1.0"', ' s="20.0"')
    (tmp_path / "both.xodr").write_text(text.replace(sign, farther + light), encoding="utf-8")
    both = read_map(tmp_path / "both.xodr")
    assert lines_before(both, "S") == {"light", "yield"}
    assert not has_sign(both, way(both, "S", "straight"))
    assert not gives_way(both, way(both, "S", "straight"), way(both, "E", "straight"))


def lines_before(town: RoadMap, side: str) -> set[str]:
    """What stands before the junction on an arm."""
    lanes = town.lanes[way(town, side, "straight")].predecessors
    return {line.kind for lane in lanes for line in town.stop_lines_of(lane)}


ANGLES = st.floats(-7.0, 7.0)


@given(begin=ANGLES, turn=st.floats(-3.0, 3.0), other=ANGLES, theirs=st.floats(-3.0, 3.0), round_=st.integers(-2, 2))
def test_where_people_drive_on_the_left_all_is_mirrored_and_whole_turns_count_for_nothing(
    begin: float, turn: float, other: float, theirs: float, round_: int
) -> None:
    one, two = (begin, begin + turn), (other, other + theirs)
    mirrored = [(-first, -last) for first, last in (one, two)]
    said = turns_across(one, two, left_hand=False)
    if (
        min(abs(abs(each) - STRAIGHT_RAD) for each in (turn, theirs)) < 1e-6
        or abs(math.cos(begin - other) + 0.5) < 1e-6
    ):
        return
    assert turns_across(*mirrored, left_hand=True) is said
    far = (two[0] + 2.0 * math.pi * round_, two[1] + 2.0 * math.pi * round_)
    assert turns_across(one, far, left_hand=False) is said
    assert not (said and turns_across(two, one, left_hand=False)), "both cannot give way to each other"

"""Lights and stop signs, one tick each: tables with the bounds on both sides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tuling_fsm.behaviour.regulations import regulations
from tuling_fsm.behaviour.traffic.lines import line_rules, lines_ahead, walls_beside
from tuling_fsm.behaviour.traffic.memory import LightDecision, LineKey, LineMemory
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.request import Reason
from tuling_fsm.map.ahead import StopLineAhead
from tuling_fsm.map.lanes import LaneId, StopLine
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light

from ..worlds import FAR_LANE, NEAR_LANE, junction, write_road
from .alone import FRONT, NOW, at, situation


def line(gap: float, kind: str = "light", signal: int = 1, lane: LaneId = NEAR_LANE) -> StopLineAhead:
    """So far ahead of the bumper."""
    s = FRONT + gap
    return StopLineAhead(s, StopLine(lane, s, s, 0.0, s, -3.5, kind, signal))


def judged(now: TrafficSituation, old: LineMemory | None = None) -> tuple[LineMemory, bool]:
    """The new memory of the one line ahead, and whether it is closed."""
    (ahead,) = now.world.stop_lines
    key = LineKey(ahead.line.signal, round(10.0 * ahead.s))
    walls, kept, _ = line_rules(now, {} if old is None else {key: old})
    assert list(kept) == [key]
    return kept[key], bool(walls)


@pytest.mark.clause("INT-2", "USE-4")
@pytest.mark.parametrize(
    ("light", "before", "v", "gap", "after"),
    [
        (Light.YELLOW, LightDecision.OPEN, 6.0, 10.1, LightDecision.STOP),
        (Light.YELLOW, LightDecision.OPEN, 6.0, 9.9, LightDecision.GO),
        (Light.YELLOW, LightDecision.OPEN, 0.0, 0.0, LightDecision.STOP),
        (Light.YELLOW, LightDecision.OPEN, 0.4, 0.0, LightDecision.STOP),
        (Light.YELLOW, LightDecision.OPEN, 0.5, 0.0, LightDecision.GO),
        (Light.YELLOW, LightDecision.STOP, 6.0, 9.0, LightDecision.STOP),
        (Light.YELLOW, LightDecision.GO, 6.0, 20.0, LightDecision.GO),
        (Light.RED, LightDecision.OPEN, 6.0, 3.4, LightDecision.STOP),
        (Light.RED, LightDecision.OPEN, 6.0, 3.3, LightDecision.GO),
        (Light.RED_YELLOW, LightDecision.OPEN, 6.0, 3.3, LightDecision.GO),
        (Light.UNKNOWN, LightDecision.OPEN, 6.0, 3.4, LightDecision.STOP),
        (Light.RED, LightDecision.OPEN, 0.99, 0.01, LightDecision.STOP),
        (Light.RED, LightDecision.OPEN, 1.0, 0.01, LightDecision.GO),
        (Light.RED, LightDecision.GO, 6.0, 5.2, LightDecision.STOP),
        (Light.RED, LightDecision.GO, 6.0, 5.1, LightDecision.GO),
        (Light.RED, LightDecision.STOP, 6.0, 1.0, LightDecision.STOP),
        (Light.FLASHING_YELLOW, LightDecision.STOP, 6.0, 20.0, LightDecision.OPEN),
    ],
)
def test_what_is_decided_at_a_light(
    road: RoadMap, light: Light, before: LightDecision, v: float, gap: float, after: LightDecision
) -> None:
    now = situation(road, v=v, stop_lines=(line(gap),), lights={1: light})
    memory, closed = judged(now, LineMemory(before))
    assert (memory.choice, closed) == (after, after is LightDecision.STOP)
    assert judged(now, LineMemory(before, served=True))[0].served is False
    by_hand, _ = judged(replace(now, by_hand=True), LineMemory(before))
    assert by_hand.choice is (after if light in (Light.RED, Light.RED_YELLOW) else LightDecision.OPEN)


@pytest.mark.clause("USE-4")
@pytest.mark.parametrize(("since", "holds"), [(NOW - 0.3, True), (NOW - 0.25, False), (None, False)])
def test_green_acts_after_it_has_held(road: RoadMap, since: float | None, holds: bool) -> None:
    times = {} if since is None else {1: since}
    now = situation(road, v=6.0, stop_lines=(line(20.0),), lights={1: Light.GREEN}, light_since=times)
    for before in (LightDecision.OPEN, LightDecision.STOP, LightDecision.GO):
        memory, closed = judged(now, LineMemory(before))
        assert closed is (not holds and before is not LightDecision.GO)
        assert memory.choice is (LightDecision.OPEN if holds else before)


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(
    ("v", "gap", "stood", "before", "served"),
    [
        (0.0, 1.5, 1.0, False, True),
        (0.0, 1.5, 0.95, False, False),
        (0.0, 1.6, 1.0, False, False),
        (0.35, 1.0, 1.0, False, False),
        (0.0, 4.0, 4.0, False, True),
        (0.0, 4.0, 3.95, False, False),
        (0.0, 4.1, 9.0, False, False),
        (0.35, 3.0, 9.0, False, False),
        (2.0, 4.0, 0.0, True, True),
        (2.0, 4.1, 0.0, True, False),
    ],
)
def test_a_stop_sign_is_served_by_standing_there(
    road: RoadMap, v: float, gap: float, stood: float, before: bool, served: bool
) -> None:
    now = situation(road, v=v, standing_for=stood, stop_lines=(line(gap - 1e-9, "stop"),))
    memory, closed = judged(now, LineMemory(served=before))
    assert (memory.served, closed) == (served, not served)
    assert line_rules(replace(now, by_hand=True), {}) == ((), {}, None)


@pytest.mark.clause("INT-7", "USE-3")
@pytest.mark.parametrize(("v", "stood", "served"), [(0.06, 0.95, True), (0.06, 0.0, False), (0.1, 0.95, False)])
def test_the_noise_of_the_speed_of_a_standing_car_does_not_begin_its_stop_anew(
    road: RoadMap, v: float, stood: float, served: bool
) -> None:
    now = situation(road, v=v, stop_lines=(line(1.0, "stop"),))
    memory, _ = judged(now, LineMemory(stood_s=stood))
    assert memory.served is served
    assert memory.stood_s == pytest.approx(stood + now.world.dt if served else 0.0)


@pytest.mark.clause("INT-2", "USE-3")
@pytest.mark.parametrize("kind", ["light", "stop"])
@pytest.mark.parametrize(
    ("gap", "v", "begun", "holds"),
    [
        (-0.4, 0.5, True, False),
        (-0.6, 0.5, True, True),
        (-0.6, 0.0, True, True),
        (-0.6, 0.0, False, False),
        (-2.9, 0.0, True, True),
        (-3.1, 0.0, True, False),
        (-1.0, 4.8, True, True),
        (-1.0, 5.0, True, False),
    ],
)
def test_a_stop_that_was_begun_goes_on_beyond_its_line(
    road: RoadMap, kind: str, gap: float, v: float, begun: bool, holds: bool
) -> None:
    now = situation(road, v=v, stop_lines=(line(gap, kind),), lights={1: Light.RED})
    (ahead,) = now.world.stop_lines
    key = LineKey(1, round(10.0 * ahead.s))
    *_, stop = line_rules(now, {key: LineMemory(LightDecision.STOP)} if begun else {})
    reason = Reason.RED_LIGHT if kind == "light" else Reason.STOP_SIGN
    assert (stop is not None) is holds
    assert stop is None or (stop.reason, stop.emergency) == (reason, True)


@pytest.mark.clause("INT-2", "USE-3")
def test_walls_stand_at_the_lines_that_are_still_ahead(road: RoadMap) -> None:
    lines = (
        line(-0.6, signal=1),
        line(-0.4, signal=2),
        line(9.0, "yield", 3),
        line(9.0, "stop", 4),
        line(12.0, signal=5),
    )
    walls, kept, _ = line_rules(situation(road, v=0.5, stop_lines=lines, lights={2: Light.RED, 5: Light.RED}), {})
    assert [(wall.reason, wall.blocker) for _, wall in walls] == [
        (Reason.RED_LIGHT, 2),
        (Reason.STOP_SIGN, 4),
        (Reason.RED_LIGHT, 5),
    ]
    assert [at(road, wall) for _, wall in walls] == pytest.approx([FRONT + 0.05, FRONT + 9.0, FRONT + 12.0], abs=0.006)
    assert [s for s, _ in walls] == pytest.approx([FRONT - 0.4, FRONT + 9.0, FRONT + 12.0])
    assert [wall.detail for _, wall in walls] == ["signal 2 red", "stop sign 4", "signal 5 red"]
    assert set(kept) == {LineKey(s, round(10.0 * (FRONT + gap))) for s, gap in ((2, -0.4), (4, 9.0), (5, 12.0))}
    for _, wall in walls:
        assert (wall.y0, wall.y1) == pytest.approx((8.0, -8.0)), "over the edges of the road, the oncoming side too"


@pytest.mark.parametrize(
    ("gap", "stop"), [(12.9, 12.9), (13.1, 9.5), (29.8, 9.5), (30.0, 30.0), (30.1, 30.1), (9.0, 9.0)]
)
def test_a_line_well_inside_a_junction_is_stopped_at_before_it(road: RoadMap, gap: float, stop: float) -> None:
    now = situation(road, stop_lines=(line(gap),), junctions=(junction(FRONT + 10.0, FRONT + 30.0),))
    ((_, s),) = lines_ahead(now)
    assert s == pytest.approx(FRONT + stop)


@pytest.mark.clause("INT-2", "SAF-2")
@pytest.mark.parametrize(
    ("entered", "gap", "stop", "counts"),
    [
        (0.0, 10.0, -0.5, True),
        (0.1, 10.0, 10.0, True),
        (3.0, 10.0, 10.0, True),
        (3.0, 17.0, 17.0, True),
        (0.0, 20.0, 20.0, True),
        (19.0, -0.4, -0.4, True),
        (19.0, -0.6, None, False),
    ],
)
def test_in_a_junction_the_car_stops_for_a_red_light_where_its_line_is(
    road: RoadMap, entered: float, gap: float, stop: float | None, counts: bool
) -> None:
    """Inside the junction or at its end (20 m long), with the bumper so far over its entry: the check sees it too."""
    lines, crossing = (line(gap),), junction(FRONT - entered, FRONT - entered + 20.0)
    now = situation(road, stop_lines=lines, junctions=(crossing,), lights={1: Light.RED})
    walls, kept, _ = line_rules(now, {})
    assert [s for s, _ in walls] == ([] if stop is None else pytest.approx([FRONT + stop]))
    assert list(kept) == [LineKey(1, round(10.0 * (FRONT + gap)))] * counts
    closed = regulations(now.world, road, now.vehicle, False, 3.0, 8.0).closed_lines
    assert [each.x0 for each in closed] == pytest.approx([FRONT + gap])


@pytest.mark.clause("USE-4")
def test_what_was_decided_before_a_junction_is_kept_to_the_line_inside_it(road: RoadMap) -> None:
    """Too late for a comfortable stop before the junction; from 3 m inside it, one at the line would be comfortable."""
    chosen: dict[LineKey, LineMemory] = {}
    for entry in (FRONT + 5.0, FRONT - 3.0):
        crossing = junction(entry, entry + 20.0)
        now = situation(road, v=6.0, stop_lines=(line(10.2),), junctions=(crossing,), lights={1: Light.YELLOW})
        walls, chosen, _ = line_rules(now, chosen)
        assert not walls
        assert [each.choice for each in chosen.values()] == [LightDecision.GO]


def signal(number: int, s: float, lane: int, kind: str = "1000001", dynamic: str = "yes") -> str:
    return (
        f'<signal id="{number}" name="" s="{s}" t="-8" zOffset="2" hOffset="0" orientation="+" dynamic="{dynamic}" '
        f'country="OpenDRIVE" type="{kind}" subtype="-1" value="-1" height="1" width="1">'
        f'<validity fromLane="{lane}" toLane="{lane}"/></signal>'
    )


def with_signals(folder: Path, *signals: str) -> RoadMap:
    file = write_road(folder)
    text = file.read_text().replace("</lanes>", f"</lanes><signals>{''.join(signals)}</signals>")
    file.write_text(text)
    return read_map(file)


@pytest.mark.clause("INT-2")
def test_a_known_red_light_of_the_next_lane_closes_that_lane_only(tmp_path: Path) -> None:
    lane_map = with_signals(
        tmp_path, signal(4, 80.0, -1), signal(5, 90.0, -2), signal(6, 96.0, -2), signal(7, 85.0, -2, "206", "no")
    )
    lights = {4: Light.RED, 5: Light.RED, 6: Light.RED}
    for lane, own, beside, bounds in (
        (NEAR_LANE, 4, [5], (-4.0, -7.0)),
        (FAR_LANE, 5, [4], (0.0, -3.0)),
    ):
        (mine,) = (each for each in lane_map.stop_lines_of(lane) if each.signal == own)
        ahead = (StopLineAhead(mine.s, mine),)
        now = situation(lane_map, lane=lane, stop_lines=ahead, lights=lights)
        walls = list(walls_beside(now))
        assert [wall.blocker for _, wall in walls] == beside
        ((s, wall),) = walls
        assert s == mine.s
        assert (wall.y0, wall.y1) == pytest.approx(bounds, abs=0.01)
        assert wall.x0 == pytest.approx(90.0 if beside == [5] else 80.0, abs=1.1)
        assert (wall.reason, wall.detail) == (Reason.RED_LIGHT, f"signal {beside[0]} red, lane beside")
        for state in (Light.GREEN, Light.UNKNOWN, Light.YELLOW):
            assert not list(walls_beside(situation(lane_map, lane=lane, stop_lines=ahead, lights={beside[0]: state})))
        passed = (StopLineAhead(FRONT - 0.1, mine),)
        assert not list(walls_beside(situation(lane_map, lane=lane, stop_lines=passed, lights=lights)))
        sign = (StopLineAhead(mine.s, replace(mine, kind="stop")),)
        assert not list(walls_beside(situation(lane_map, lane=lane, stop_lines=sign, lights=lights)))

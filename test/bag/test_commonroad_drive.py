"""A CommonRoad scenario is driven in closed loop, and what comes of it is CommonRoad's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from lxml import etree

from bag.commonroad_text import ROADS, car, lanelet, problem, rectangle, scenario, with_sets
from tuling_fsm.agent import Agent
from tuling_fsm.bag.commonroad.drive import (
    BMW_320I,
    RUN_IN_S,
    SMOOTHING_M,
    TICK_S,
    ScenarioDrive,
    drive,
    drive_agent,
    parameters_for_scenarios,
    prepare,
)
from tuling_fsm.bag.commonroad.problem import GoalState, ProblemState
from tuling_fsm.bag.commonroad.roads import to_opendrive
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.commonroad.solution import solution_xml
from tuling_fsm.bag.commonroad.values import Interval
from tuling_fsm.bag.commonroad.verdict import judge
from tuling_fsm.bag.replay import replay
from tuling_fsm.bag.source import BagSource
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.vehicle import center_ahead
from tuling_fsm.planning.parameters import LateralParameters
from tuling_fsm.sim.scoring.collisions import Contact

BOX = "<length>12</length><width>3</width><center><x>60</x><y>-1.75</y></center>"
HERE = f"<position><rectangle>{BOX}</rectangle></position>"
PASSING = HERE + "<velocity><intervalStart>3</intervalStart><intervalEnd>15</intervalEnd></velocity>"
LEADER = car(7, 30.0, -1.75, 8.0, 80)


def loop_of(tmp_path, content: str):
    return prepare(read_recording(scenario(tmp_path, content)), tmp_path / "out")


def standing(steps: int, x: float, y: float = -1.75, v: float = 0.0) -> tuple[ProblemState, ...]:
    return tuple(ProblemState(k, x, y, 0.0, v) for k in range(steps))


@pytest.mark.slow
@pytest.mark.clause("SIM-1")
def test_the_car_reaches_the_goal_behind_another_one_and_the_solution_says_how(tmp_path):
    loop = loop_of(tmp_path, ROADS + LEADER + problem(8.0, -1.75, 8.0, PASSING, (50, 90)))
    driven = drive_agent(loop, tmp_path / "out")
    verdict = judge(loop, driven)
    assert verdict.solved and 50 <= verdict.reached <= 90, verdict.words()
    assert driven.states[-1].step == verdict.reached
    root = etree.fromstring(solution_xml(loop.recording, driven))
    assert root.get("benchmark_id") == "KS2:WX1:made:2018b"
    states = root.findall("ksTrajectory/ksState")
    assert [int(each.findtext("time")) for each in states] == list(range(verdict.reached + 1))
    first = {field.tag: float(field.text) for field in states[0]}
    wanted = {"x": 8.0, "y": -1.75, "orientation": 0.0, "velocity": 8.0, "steeringAngle": 0.0, "time": 0.0}
    assert first == pytest.approx(wanted)
    rows = np.array(driven.states)
    assert np.hypot(*np.diff(rows[:, 1:3], axis=0).T) == pytest.approx(
        0.1 * 0.5 * (rows[1:, 4] + rows[:-1, 4]), abs=0.02
    )
    assert replay(BagSource(tmp_path / "out")) == []


@pytest.mark.slow
def test_too_early_it_stops_in_the_goal_where_it_may_stand(tmp_path):
    loop = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 8.0, HERE, (130, 130)))
    driven = drive_agent(loop, tmp_path / "out")
    assert driven.reached_step == 130 and driven.states[-1].v < 0.1
    passing = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 8.0, PASSING, (130, 130)))
    assert passing.way.route.length > loop.way.route.length + 5.0


@pytest.mark.slow
@pytest.mark.clause("NOR-4")
def test_a_car_that_suddenly_stands_close_before_it_is_braked_for_as_hard_as_the_tyres_allow(tmp_path):
    queue = car(7, 36.0, -1.75, 0.0, 60) + car(8, 36.0, 1.75, 0.0, 60)
    loop = loop_of(tmp_path, ROADS + queue + problem(8.0, -1.75, 18.0, HERE, (50, 60)))
    driven = drive_agent(loop, tmp_path / "out")
    speeds = np.array([each.v for each in driven.states])
    assert judge(loop, driven).contacts == ()
    assert speeds.min() == 0.0
    assert -11.5 < np.diff(speeds).min() / 0.1 < -8.0


@pytest.mark.slow
@pytest.mark.parametrize("step", [70, 100])
def test_a_goal_that_is_only_a_time_is_reached_on_the_road_that_there_is(tmp_path, step):
    """72 m of road are ahead of the car, which would drive farther in that time."""
    loop = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 12.0, "", (step, step)))
    verdict = judge(loop, drive_agent(loop, tmp_path / "out"))
    assert verdict.solved and verdict.reached == step, verdict.words()


@pytest.mark.slow
def test_on_an_empty_road_a_fast_car_does_not_slow_down(tmp_path):
    """Nor does it mean to in the next seconds, by which it is told whether there is room before another one."""
    road = lanelet(1, 0.0, 0.0, "<speedLimit>20</speedLimit>", length=600.0)
    loop = loop_of(tmp_path, road + problem(8.0, 0.0, 19.5, "", (100, 100)))
    plans = []

    def plan(inputs):
        plans.append(agent.step(inputs).trajectory)
        return plans[-1]

    agent = Agent(loop.road_map, parameters_for_scenarios())
    driven = drive(loop, plan)
    assert min(state.v for state in driven.states) > 19.0
    begins, far_from_the_end = (round((RUN_IN_S + t) / TICK_S) for t in (1.0, 4.0))
    assert min(each.v[each.t <= 5.0].min() for each in plans[begins:far_from_the_end]) > 19.0


def test_anywhere_in_a_long_goal_will_do(tmp_path):
    window = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 8.0, PASSING, (50, 50))).mission["window"]
    assert isinstance(window, dict) and window["length"] > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("y", [-0.9, -2.4])
def test_a_small_goal_beside_the_centre_of_the_lane_is_not_missed(tmp_path, y):
    goal = PASSING.replace(BOX, f"<length>3</length><width>1</width><center><x>60</x><y>{y}</y></center>")
    loop = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 8.0, goal, (55, 90)))
    verdict = judge(loop, drive_agent(loop, tmp_path / "out"))
    assert verdict.solved, verdict.words()


def bend(number: int, radius: float, step: float) -> str:
    """A lanelet 3.5 m wide: 30 m straight on, a quarter of a circle to the left drawn every so many rad, 60 m more."""
    turns = np.linspace(0.0, 0.5 * math.pi, round(0.5 * math.pi / step) + 1)

    def bound(name: str, side: float) -> str:
        sin, cos = (radius - side) * np.sin(turns), (radius - side) * np.cos(turns)
        rows = [(-30.0, side), *zip(sin, radius - cos, strict=True), (radius - side, radius + 60.0)]
        return f"<{name}>{''.join(f'<point><x>{x}</x><y>{y}</y></point>' for x, y in rows)}</{name}>"

    return f'<lanelet id="{number}">{bound("leftBound", 1.75)}{bound("rightBound", -1.75)}</lanelet>'


ALL_OF_IT = "<length>80</length><width>80</width><center><x>20</x><y>20</y></center>"


@pytest.mark.parametrize("turns", [0.0, 2.0 * math.pi], ids=["plain", "a turn on"])
def test_a_goal_with_a_heading_is_where_the_lane_has_it(tmp_path, turns):
    low, high = 0.6 + turns, 1.0 + turns
    heading = f"<intervalStart>{low}</intervalStart><intervalEnd>{high}</intervalEnd>"
    goal = f"<position><rectangle>{ALL_OF_IT}</rectangle></position><orientation>{heading}</orientation>"
    loop = loop_of(tmp_path, bend(1, 30.0, 0.02) + problem(-20.0, 0.0, 8.0, goal, (10, 90)))
    begin, end = (loop.way.route.reference.at(s - center_ahead(BMW_320I)).heading for s in loop.way.stretch)
    assert 0.6 <= begin < 0.65 and 0.95 < end <= 1.0


def test_a_goal_with_a_heading_that_no_lane_has_is_all_of_its_place(tmp_path):
    heading = "<orientation><intervalStart>2.0</intervalStart><intervalEnd>2.2</intervalEnd></orientation>"
    here = f"<position><rectangle>{ALL_OF_IT}</rectangle></position>"
    with_it, without = (
        loop_of(tmp_path, bend(1, 30.0, 0.02) + problem(-20.0, 0.0, 8.0, goal, (10, 90)))
        for goal in (here + heading, here)
    )
    assert with_it.way.stretch == without.way.stretch


@pytest.mark.medium
def test_a_bend_that_is_drawn_with_a_corner_is_driven_as_people_do(tmp_path, monkeypatch):
    """Two corners of 0.8 rad in 12 m."""
    text = bend(1, 12.0, 0.8) + problem(-28.0, 0.0, 8.0, "", (90, 90))
    drives = []
    for smoothing in (SMOOTHING_M, LateralParameters().smoothing):
        monkeypatch.setattr("tuling_fsm.bag.commonroad.drive.SMOOTHING_M", smoothing)
        drives.append(drive_agent(loop_of(tmp_path, text), tmp_path / "out").states)
    people, corners = drives
    assert min(state.v for state in people) > min(state.v for state in corners) + 0.3
    assert people[-1].y > corners[-1].y + 1.0


def test_the_middle_of_the_car_is_where_commonroad_has_it():
    b, length, width = 1.4227170936, 4.508, 1.610
    assert center_ahead(BMW_320I) == pytest.approx(b, abs=1e-3)
    assert (BMW_320I.length, BMW_320I.width) == pytest.approx((length, width), abs=1e-3)


def test_headings_in_a_solution_go_on_from_the_one_that_the_problem_begins_with(tmp_path):
    recording = read_recording(scenario(tmp_path, ROADS + problem(8.0, -1.75, 8.0, PASSING, (5, 8))))
    begin = recording.problems[0].start._replace(heading=-3.2)
    headings = (-3.2 + 2.0 * math.pi, math.pi - 0.01, -math.pi + 0.02)
    states = tuple(ProblemState(k, 0.0, 0.0, heading, 5.0) for k, heading in enumerate(headings))
    driven = ScenarioDrive(replace(recording.problems[0], start=begin), states, None, ())
    written = etree.fromstring(solution_xml(recording, driven)).findall(".//orientation")
    wanted = [-3.2, -math.pi - 0.01, -math.pi + 0.02]
    assert [float(each.text) for each in written] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("state", "reached"),
    [
        (ProblemState(20, 5.0, 0.0, math.pi - 0.05, 5.0), True),
        (ProblemState(20, 5.0, 0.0, -math.pi - 0.05, 5.0), True),
        (ProblemState(30, 5.0, 0.0, math.pi - 0.05, 5.0), True),
        (ProblemState(31, 5.0, 0.0, math.pi - 0.05, 5.0), False),
        (ProblemState(20, 11.0, 0.0, math.pi - 0.05, 5.0), False),
        (ProblemState(20, 5.0, 0.0, math.pi - 0.3, 5.0), False),
        (ProblemState(20, 5.0, 0.0, math.pi - 0.05, 6.5), False),
    ],
)
def test_a_goal_is_reached_when_all_of_it_holds_at_once(state, reached):
    square = np.array([(0.0, -1.0), (10.0, -1.0), (10.0, 1.0), (0.0, 1.0)])
    goal = GoalState(Interval(20, 30), (square,), (), Interval(math.pi - 0.1, math.pi + 0.1), Interval(4.0, 6.0))
    assert goal.reached(state) is reached


def test_a_set_of_occupancy_that_grows_over_the_car_is_touched(tmp_path):
    sets = [(k, k, rectangle(60.0, -1.75, 4.5 + 1.0 * k, 1.8)) for k in range(1, 21)]
    there = with_sets(car(7, 60.0, -1.75, 0.0, 1), *sets)
    loop = loop_of(tmp_path, ROADS + there + problem(30.0, -1.75, 0.0, PASSING, (10, 20)))
    verdict = judge(loop, ScenarioDrive(loop.problem, standing(20, 50.0), None, loop.recording.obstacles))
    # The set's half length, 0.5 m a step, has to reach 10 m less half of the car.
    assert [(each.obstacle, each.step) for each in verdict.contacts] == [("7", 11)]


def test_contacts_are_told_with_their_side_and_fault(tmp_path):
    others = car(7, 20.0, -1.75, 6.0, 40) + car(8, 55.0, -1.75, 0.0, 1)
    loop = loop_of(tmp_path, ROADS + others + problem(30.0, -1.75, 0.0, PASSING, (10, 20)))
    slow = judge(loop, ScenarioDrive(loop.problem, standing(20, 30.0, v=1.0), None, loop.recording.obstacles))
    assert [(each.obstacle, each.contact, each.at_fault) for each in slow.contacts] == [("7", Contact.REAR, False)]
    front = judge(loop, ScenarioDrive(loop.problem, standing(5, 52.0, v=5.0), None, loop.recording.obstacles))
    assert [(each.obstacle, each.contact, each.at_fault) for each in front.contacts] == [("8", Contact.FRONT, True)]
    alone = judge(loop, ScenarioDrive(loop.problem, standing(5, 70.0), None, loop.recording.obstacles))
    assert alone.contacts == () and not alone.solved and alone.left_road is None
    beside = judge(loop, ScenarioDrive(loop.problem, standing(5, 70.0, y=-3.0), None, loop.recording.obstacles))
    assert beside.left_road == 0 and "off the road at step 0" in beside.words()


def test_others_are_replayed_and_the_first_state_is_led_up_to(tmp_path):
    loop, seen = loop_of(tmp_path, ROADS + LEADER + problem(8.0, -1.75, 8.0, PASSING, (5, 8))), []

    def plan(inputs):
        seen.append((inputs.stamp, inputs.odometry.pose.x, float(inputs.objects.rows["x"][0])))

    driven = drive(loop, plan)
    assert driven.reached_step is None and len(driven.states) == 9
    stamps, ego, other = np.array(seen).T
    assert np.diff(stamps) == pytest.approx(0.05)
    assert np.diff(other) == pytest.approx(0.4, abs=1e-4)
    run_in = round(RUN_IN_S / TICK_S)
    assert np.diff(ego[:run_in]) == pytest.approx(0.4) and ego[run_in] == pytest.approx(8.0 - center_ahead(BMW_320I))


def test_roads_go_on_beyond_the_edge_of_the_map_and_have_come_from_there(tmp_path):
    loop = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 8.0, PASSING, (5, 8)))
    for x, y in ((-50.0, -1.75), (-50.0, 1.75), (150.0, -1.75)):
        found = loop.road_map.project(x, y, 0.0)
        assert found is not None and abs(found.offset) < 0.01, (x, y)
    lane, ids = loop.road_map.project(-50.0, -1.75, 0.0), loop.road_map.lanes
    assert lane is not None
    onward = [ids[each].center.at(0.0).x for each in ids[lane.lane].successors]
    assert onward == pytest.approx([0.0]) and ids[lane.lane].left_neighbour is not None


def test_the_route_is_led_up_to_where_lanes_lead_to_its_beginning(tmp_path):
    """Else the car comes along before the beginning of its route, and has to come back to that first."""
    loop, asked = loop_of(tmp_path, ROADS + problem(8.0, -1.75, 8.0, PASSING, (5, 8))), []
    drive(loop, lambda inputs: asked.extend(inputs.route_answers))
    (answer,) = asked
    begin = 8.0 - center_ahead(BMW_320I) - 8.0 * RUN_IN_S
    assert answer.points[0][:2] == pytest.approx((begin, -1.75), abs=0.05)
    assert answer.points[-1] == pytest.approx(loop.way.route.poses()[-1], abs=0.05)


def far_away(x: float, y: float) -> str:
    """A lane, a car on it and a problem, far from zero as in UTM."""
    goal = f"<position><rectangle><length>12</length><width>3</width><center><x>{x + 60.0}</x><y>{y}</y></center>"
    return (
        lanelet(1, x, y, length=100.0)
        + car(7, x + 30.0, y, 8.0, 80)
        + problem(x + 8.0, y, 8.0, f"{goal}</rectangle></position>", (50, 90))
    )


def test_a_scenario_far_from_zero_is_driven_near_zero_and_written_where_it_was(tmp_path):
    """OpenDRIVE's offset, and CommonRoad's solution, are in the coordinates of the file."""
    x, y = 691025.25, 5335031.5
    recording = read_recording(scenario(tmp_path, far_away(x, y)))
    loop = prepare(recording, tmp_path / "out")
    offset = etree.parse(str(tmp_path / "out" / "map.xodr")).find("header/offset")
    assert (float(offset.get("x")), float(offset.get("y"))) == recording.origin
    assert recording.origin == pytest.approx((x + 50.0, y), abs=0.5)
    for along in (0.0, 50.0, 100.0):
        found = loop.road_map.project(x + along - recording.origin[0], y - recording.origin[1], 0.0)
        assert found is not None and abs(found.offset) < 1e-3
    start, goal, leader = loop.problem.start, loop.problem.goals[0], recording.obstacles[0]
    assert (start.x, *leader.at(0.0)[:1]) == pytest.approx((8.0 - 50.0, 30.0 - 50.0), abs=0.5)
    assert loop.way.stretch is not None and goal.reached(start._replace(step=60, x=start.x + 52.0))
    written = etree.fromstring(solution_xml(recording, ScenarioDrive(loop.problem, (start,), None, ()))).find(
        ".//ksState"
    )
    assert (float(written.findtext("x")), float(written.findtext("y"))) == pytest.approx((x + 8.0, y), abs=1e-6)


def test_a_scenario_near_zero_stays_where_it_is(tmp_path):
    recording = read_recording(scenario(tmp_path, far_away(900.5, -40.0)))
    assert recording.origin == (0.0, 0.0) and recording.problems[0].start.x == 908.5
    assert b"offset x" not in to_opendrive("made", recording.lanelets, recording.origin)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ROADS, "no planning problem"),
        (ROADS + problem(8.0, -90.0, 8.0, PASSING, (5, 8)), "begins on no lane"),
        (ROADS + problem(8.0, -1.75, 8.0, '<position><lanelet ref="77"/></position>', (5, 8)), "lanelet 77"),
        (ROADS + '<planningProblem id="5"/>', "without an initial state or a goal"),
    ],
)
def test_what_cannot_be_driven_is_said_in_one_line(tmp_path, content, said):
    with pytest.raises(InputError, match=said):
        loop_of(tmp_path, content)


def test_steps_that_are_no_ticks_are_refused(tmp_path):
    recording = read_recording(scenario(tmp_path, ROADS + problem(8.0, -1.75, 8.0, PASSING, (5, 8))))
    with pytest.raises(InputError, match="steps of 0"):
        prepare(replace(recording, step=0.03), tmp_path / "out")


@pytest.mark.slow
def test_the_verb_drives_says_the_verdict_and_what_it_could_not_keep(tmp_path, capsys):
    goal = '<position><lanelet ref="4"/></position>'
    far = lanelet(9, 0.0, 30.0, "<adjacentLeft ref='1' drivingDir='opposite'/>")
    file = scenario(tmp_path, ROADS + far + problem(36.0, -1.75, 8.0, goal, (5, 30)))
    assert main(["commonroad", str(file), "--out", str(tmp_path / "out"), "--drive"]) == 0
    said = capsys.readouterr()
    assert "goal reached at step" in said.out and "driven the other way" in said.err
    assert {"map.xodr", "run.mcap", "solution.xml"} <= {each.name for each in (tmp_path / "out").iterdir()}
    assert main(["commonroad", str(file), "--out", str(tmp_path / "out"), "--drive", "--ego", "7"]) == 2
    assert main(["commonroad", str(file), "--out", str(tmp_path / "out"), "--problem", "5"]) == 2
    assert main(["commonroad", str(file), "--out", str(tmp_path / "out"), "--drive", "--problem", "6"]) == 2

"""Movements with all that `drive` may say of their beginning, their course and their end."""

import math
from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.commands import ActivateController, Place
from tuling_fsm.sim.scenario.compiler import compile_text, load_scenario
from tuling_fsm.sim.scenario.conditions import Driven, Elapsed
from tuling_fsm.sim.scenario.maneuvers import (
    ApproachSpeed,
    DynamicsDimension,
    FollowTrajectory,
    ManeuverCommand,
    MeetGap,
    ShiftLane,
    StopManeuver,
)
from tuling_fsm.sim.scenario.model import EGO, Action, Scenario, ScriptedRoute, Wait, nodes
from tuling_fsm.sim.scenario.path_constraints import JunctionOnPath, PathConstraints, ValueRange
from tuling_fsm.sim.scenario.placements import AtPose, OnPath, RelativeTo

pytestmark = pytest.mark.clause("OSC-1")
HEAD = """scenario top:
    path: Path
    ego_vehicle: Model3
    npc: Rubicon
"""
BEGIN = """        first: parallel(duration: 10s):
            ego_vehicle.drive(path) with:
                speed(36kph)
                lane(1, at: start)
            npc.drive(path) with:
                lane(right_of: ego_vehicle, at: start)
                position(15m, behind: ego_vehicle, at: start)
"""


def compiled(behaviour: str, head: str = HEAD) -> Scenario:
    return compile_text(f"{head}    do serial:\n{behaviour}", "f.osc")


def then(*modifiers: str, duration: str = "5s") -> list[ManeuverCommand]:
    """What the script asks of the npc in a second phase."""
    lines = "".join(f"                {modifier}\n" for modifier in modifiers)
    text = f"{BEGIN}        parallel(duration: {duration}):\n            npc.drive(path) with:\n{lines}"
    actions = [node for node in nodes(compiled(text).storyboard) if isinstance(node, Action)]
    return [command for command in actions[-1].begin if isinstance(command, ManeuverCommand)]


def fault(*modifiers: str) -> str:
    with pytest.raises(InputError) as caught:
        then(*modifiers)
    return str(caught.value)


def test_the_first_phase_is_how_everybody_begins() -> None:
    scenario = compiled(BEGIN)
    assert (scenario.ego, scenario.ego_speed) == (OnPath(1, PathConstraints(), ((-15.0, -1),)), 10.0)
    (npc,) = scenario.actors
    assert (npc.placement, npc.speed, npc.default_controller) == (RelativeTo(EGO, -15.0, -1), 10.0, True)
    assert (npc.length, npc.width) == (3.87, 1.91)
    assert scenario.route == ScriptedRoute((), 1000.0)
    issued = [command for node in nodes(scenario.storyboard) if isinstance(node, Action) for command in node.begin]
    assert issued == []
    ends = {node.until for node in nodes(scenario.storyboard) if isinstance(node, Action)}
    assert ends == {Elapsed(10.0)}


def test_an_ego_beside_a_drawn_actor_is_drawn_itself() -> None:
    text = (
        "        parallel(duration: 3s):\n            npc.drive(path) with:\n                lane(2, at: start)\n"
        "            ego_vehicle.drive(path) with:\n                lane(left_of: npc, at: start)\n"
        "                position([10m..20m], behind: npc, at: start)\n"
    )
    scenario = compiled(text)
    assert scenario.ego == OnPath(1, PathConstraints(), ((15.0, -1),))
    assert scenario.actors[0].placement == RelativeTo(EGO, 15.0, -1)


def test_a_speed_holds_is_reached_or_is_changed() -> None:
    (holds,) = then("speed(18kph)")
    assert isinstance(holds, ApproachSpeed) and (holds.value, holds.reference) == (5.0, None)
    (reached,) = then("speed(18kph, at: end)")
    assert isinstance(reached, ApproachSpeed) and reached.dynamics.value == 5.0
    (faster,) = then("speed(2mps, faster_than: ego_vehicle)")
    assert isinstance(faster, ApproachSpeed) and (faster.value, faster.reference, faster.continuous) == (2.0, EGO, True)
    (changed,) = then("change_speed(-1mps)")
    assert isinstance(changed, ApproachSpeed) and (changed.value, changed.reference) == (-1.0, "npc")
    (braked,) = then("acceleration(-2mpss)")
    assert isinstance(braked, ApproachSpeed) and (braked.value, braked.dynamics.value) == (0.0, 2.0)
    assert then("keep_lane()", "keep_speed()") == []


def test_lane_and_position_at_the_end() -> None:
    (shift,) = then("lane(left_of: ego_vehicle, at: end)")
    assert isinstance(shift, ShiftLane) and (shift.lane, shift.reference, shift.dynamics.value) == (1, EGO, 4.0)
    (quick,) = then("lane(same_as: ego_vehicle, at: end)", duration="2s")
    assert isinstance(quick, ShiftLane) and (quick.lane, quick.dynamics.value) == (0, 2.0)
    (own,) = then("change_lane(lane_changes: [1..2], side: right)")
    assert isinstance(own, ShiftLane) and (own.lane, own.reference) == (-1, "npc")
    (meet,) = then("position(20m, ahead_of: ego_vehicle, at: end)")
    assert isinstance(meet, MeetGap) and (meet.reference, meet.gap, meet.seconds) == (EGO, 20.0, 5.0)


@pytest.mark.parametrize(
    ("modifier", "what"),
    [
        ("lane(2, at: end)", "the end of a movement by the number of its lane"),
        ("lane(0, at: start)", "there is no lane 0 (expected lanes from the left, from 1)"),
        ("acceleration(2mps)", "a speed is no acceleration"),
        ("change_lane(1)", "'change_lane' needs 'side'"),
        ("position(time: 2s, ahead_of: ego_vehicle, at: end)", "a time is no distance here"),
        ("position(2m, at: end)", "'position' needs one actor to refer to"),
        ("speed(-2mps, at: end)", "'speed' is below 0"),
        ("follow_trajectory(input_file: 'none.csv')", "no file 'none.csv' with a trajectory"),
        ("lane(same_as: npc, at: end)", "'lane' of 'npc' to itself"),
        ("speed(2mps, faster_than: npc)", "'speed' of 'npc' to itself"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_at_its_place(modifier: str, what: str) -> None:
    message = fault(modifier)
    assert what in message
    assert message.split(": ")[0].startswith("f.osc:1")


def test_an_end_needs_its_time() -> None:
    text = BEGIN + "        npc.drive(path) with:\n            lane(same_as: ego_vehicle, at: end)\n"
    with pytest.raises(InputError, match=r"f\.osc:14:13: an end that nothing sets a time for \(expected a duration"):
        compiled(text)


def test_a_movement_that_is_cut_short_stops_its_maneuver() -> None:
    text = BEGIN + "        npc.drive(path, duration: 4s) with:\n            acceleration(1mpss)\n"
    (action,) = [node for node in nodes(compiled(text).storyboard) if isinstance(node, Action) and node.end]
    (begun,) = action.begin
    assert isinstance(begun, ApproachSpeed)
    assert action.end == (StopManeuver("npc", begun.number),)
    assert action.until == Elapsed(4.0)


def test_what_the_script_asks_of_the_ego_later_is_the_planners_and_is_said() -> None:
    text = BEGIN + "        ego_vehicle.drive(path, duration: 4s) with:\n            speed(3kph)\n"
    scenario = compiled(text)
    *_, last = [node for node in nodes(scenario.storyboard) if isinstance(node, Action)]
    assert (last.begin, last.until) == ((), Elapsed(4.0))
    assert scenario.notes == (
        "f.osc:8:17: speed is how the ego begins, then the planner drives the ego",
        "f.osc:14:13: speed has no effect: the planner drives the ego",
    )


def test_the_first_place_of_the_ego_is_where_it_begins() -> None:
    text = BEGIN.replace(
        "        first: parallel(duration: 10s):", "        one_of:\n         parallel(duration: 10s):"
    )
    scenario = compiled(text)
    assert scenario.ego == OnPath(1, PathConstraints(), ((-15.0, -1),))
    placed = [command for node in nodes(scenario.storyboard) if isinstance(node, Action) for command in node.begin]
    assert Place("npc", RelativeTo(EGO, -15.0, -1)) in placed


def test_a_plain_drive_is_the_traffics_as_ever() -> None:
    scenario = compiled("        ego_vehicle.drive()\n        npc.drive() with:\n            speed(5mps)\n")
    assert not scenario.actors[0].default_controller
    assert any(
        isinstance(command, ActivateController)
        for node in nodes(scenario.storyboard)
        if isinstance(node, Action)
        for command in node.begin
    )


def test_what_is_asked_of_the_path() -> None:
    head = HEAD + (
        "    path.path_min_driving_lanes(2)\n    path_max_lanes(3)\n    path.path_length(300m)\n"
        "    path.path_over_junction(direction: [0deg..90deg], distance_before: 50m)\n"
    )
    (asked,) = [compiled(BEGIN, head).ego]
    assert isinstance(asked, OnPath)
    assert (asked.path.lanes, asked.path.length) == (ValueRange(2.0, 3.0), 300.0)
    assert asked.path.junction == JunctionOnPath(ValueRange(0.0, math.pi / 2.0), ValueRange(0.0, 50.0))
    with pytest.raises(InputError, match=r"f\.osc:5:5: no such modifier of a scenario"):
        compiled(BEGIN, HEAD + "    path.path_is_nice(3)\n")
    with pytest.raises(InputError, match=r"f\.osc:5:33: a length is no uint"):
        compiled(BEGIN, HEAD + "    path.path_min_driving_lanes(2m)\n")


def test_a_town_is_looked_for_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    (tmp_path / "Town77.xodr").touch()
    text = f'{HEAD}    path.set_map("Town77")\n    do serial:\n{BEGIN}'
    for folder, found in ((tmp_path / "maps", tmp_path / "Town77.xodr"), (tmp_path, tmp_path / "Town77.xodr")):
        assert compile_text(text, str(folder / "f.osc")).map_file == str(found)
    assert compile_text(text.replace("77", "78"), "f.osc").map_file == "Town78"
    with pytest.raises(InputError, match="a scenario has one map"):
        compiled(BEGIN, HEAD + '    set_map("Town77")\n    path.set_map("Town77")\n')


def test_a_pose_of_carla_is_one_of_the_map() -> None:
    head = HEAD + "    ego_vehicle.set_position(x: 5m, y: -3m, z: 0m, yaw: 90.0rad)\n"
    scenario = compiled("        ego_vehicle.drive(path)\n", head)
    assert scenario.ego == AtPose(5.0, 3.0, -math.pi / 2.0)
    assert "a yaw of 90 rad is read as degrees" in scenario.notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_trajectory_is_read_from_its_file(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "way.csv").write_text("0,0,0,0.5\n10,0,0,1.5\n10,-10,0,2.5\n", encoding=encoding)
    file = tmp_path / "f.osc"
    line = 'follow_trajectory(input_file: "way.csv")'
    file.write_text(
        f"{HEAD}    do parallel(duration: 9s):\n        npc.drive(path) with:\n            {line}\n"
        f"        ego_vehicle.drive(path) with:\n            {line}\n"
    )
    scenario = load_scenario(file)
    assert [Path(each).name for each in scenario.read_files] == ["f.osc", "way.csv"]
    points = (AtPose(0.0, 0.0, 0.0), AtPose(10.0, 0.0, math.pi / 2.0), AtPose(10.0, 10.0, math.pi / 2.0))
    assert (scenario.ego, scenario.route) == (points[0], ScriptedRoute(points[-1:], 1000.0))
    (command,) = [
        command
        for node in nodes(scenario.storyboard)
        if isinstance(node, Action)
        for command in node.begin
        if isinstance(command, FollowTrajectory)
    ]
    assert (command.points, command.times) == (points, (0.5, 1.5, 2.5))
    (tmp_path / "way.csv").write_text("0,0,0,0.5\n10,0,0,0.5\n")
    with pytest.raises(InputError, match=r"way\.csv holds no trajectory \(expected two rows or more"):
        load_scenario(file)


@pytest.mark.parametrize("speed", ["speed(5kph)", "speed(5kph, at: end)"])
def test_the_times_of_a_trajectory_decide_whatever_speed_is_asked_for_beside_it(tmp_path: Path, speed: str) -> None:
    (tmp_path / "way.csv").write_text("0,0,0,0.5\n10,0,0,1.5\n")
    file = tmp_path / "f.osc"
    modifiers = ('follow_trajectory(input_file: "way.csv")', speed)
    for first, second in (modifiers, modifiers[::-1]):
        file.write_text(
            f"{HEAD}    do serial:\n{BEGIN}        parallel(duration: 9s):\n            npc.drive(path) with:\n"
            f"                {first}\n                {second}\n"
        )
        actions = [node for node in nodes(load_scenario(file).storyboard) if isinstance(node, Action)]
        assert [type(command) for command in actions[-1].begin] == [ApproachSpeed, FollowTrajectory]


def test_the_events_that_scenario_runner_knows_by_name() -> None:
    head = HEAD + (
        '    x: speed = "ego_vehicle_speed"\n    y: speed = "npc_speed"\n'
        "    event drive_distance(other_car: Rubicon = npc, distance: length = 100m)\n"
    )
    scenario = compiled(BEGIN + "        wait @drive_distance if x < y\n        npc.drive()\n", head)
    (wait,) = [node for node in nodes(scenario.storyboard) if isinstance(node, Wait)]
    assert Driven("npc", 100.0) in getattr(wait.condition, "conditions", ())


@pytest.mark.parametrize(
    "condition",
    ["@drive_distance", "(@drive_distance and npc.speed > 1mps) or elapsed(9s)", "rise(@drive_distance)"],
)
def test_how_far_a_vehicle_has_gone_the_default_controller_knows(condition: str) -> None:
    head = HEAD + "    event drive_distance(other_car: Rubicon = npc, distance: length = 100m)\n"
    text = f"        ego_vehicle.drive(path)\n        npc.drive()\n        wait {condition}\n        npc.drive()\n"
    assert compiled(text, head).actors[0].default_controller


def in_serial(before: tuple[str, ...], modifier: str) -> tuple[Action, ManeuverCommand]:
    """A movement without a duration after other lines in a serial of 10 s, and what is asked of it."""
    lines = ["parallel(duration: 20s):", "    ego_vehicle.drive(path)", "    serial(duration: 10s):"]
    lines += [f"        {line}" for line in (*before, "npc.drive(path) with:", f"    {modifier}")]
    scenario = compiled(BEGIN + "".join(f"        {line}\n" for line in lines))
    *_, action = [node for node in nodes(scenario.storyboard) if isinstance(node, Action)]
    (command,) = [command for command in action.begin if isinstance(command, ManeuverCommand)]
    return action, command


@pytest.mark.parametrize(
    ("before", "left"),
    [
        (("wait elapsed(6s)",), 4.0),
        (("wait elapsed(2s) and elapsed(6s)",), 4.0),
        (("wait elapsed(12s)",), 0.0),
        (("npc.drive(path, duration: 6s)",), 4.0),
        (("npc.assign_speed(3mps)",), 10.0),
        (("parallel:", "    npc.drive(path, duration: 6s)", "    npc.assign_speed(3mps)"), 4.0),
        (("parallel(duration: 6s):", "    npc.drive(path)", "    serial:", "        wait npc.speed > 90mps"), 4.0),
        (("serial(duration: 6s):", "    wait elapsed(1s)", "    npc.drive(path)"), 4.0),
        (("one_of:", "    npc.drive(path, duration: 6s)", "    serial:", "        wait elapsed(6s)"), 4.0),
    ],
)
def test_in_a_serial_a_movement_has_what_is_left(before: tuple[str, ...], left: float) -> None:
    action, command = in_serial(before, "speed(18kph, at: end)")
    assert isinstance(command, ApproachSpeed) and command.dynamics.value == left
    assert action.until == Elapsed(left)


@pytest.mark.parametrize(
    "before",
    [
        ("wait npc.speed > 1mps",),
        ("wait elapsed(6s) or npc.speed > 1mps",),
        ("npc.change_speed(target: 2mps, rate_peak: 2mpss)",),
        ("parallel(duration: 6s):", "    serial:", "        wait npc.speed > 90mps"),
        ("one_of:", "    npc.drive(path, duration: 6s)", "    npc.drive(path, duration: 5s)"),
    ],
)
def test_an_end_at_an_open_time_is_refused(before: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"f\.osc:\d+:21: an end whose time is open"):
        in_serial(before, "speed(18kph, at: end)")
    _, command = in_serial(before, "change_speed(-1mps)")
    assert isinstance(command, ApproachSpeed) and command.dynamics.dimension is DynamicsDimension.RATE
    _, command = in_serial(before, "change_lane(side: right)")
    assert isinstance(command, ShiftLane) and command.dynamics.value == 4.0


def test_whether_a_time_is_open_is_a_matter_of_what_drives_the_vehicle() -> None:
    """To the traffic a route may end before its duration; what the default controller moves takes all of it."""
    route = ("npc.drive(duration: 6s) with:", "    along(map.create_route([map.create_odr_point('1', '-1', 9m)]))")
    _, command = in_serial(route, "speed(18kph, at: end)")
    assert isinstance(command, ApproachSpeed) and command.dynamics.value == 4.0


@pytest.mark.parametrize(("modifier", "noted"), [("keep_lane()", True), ("speed(3mps)", False)])
def test_what_a_plain_drive_leaves_no_time_for_is_said(modifier: str, noted: bool) -> None:
    """With the traffic it is over at once; what only the default controller does makes it last."""
    lines = ["parallel(duration: 9s):", "    ego_vehicle.drive()", "    serial:", "        npc.drive()"]
    lines += ["        npc.drive(duration: 2s) with:", f"            {modifier}"]
    scenario = compiled("".join(f"        {line}\n" for line in lines))
    (plain, *_) = [node for node in nodes(scenario.storyboard) if isinstance(node, Action) and node.at.line == 9]
    assert plain.until == (Elapsed(9.0) if noted else None)
    assert any(note.startswith("f.osc:10:17: this is never reached") for note in scenario.notes) is noted

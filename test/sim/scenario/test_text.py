"""What is wrong in a text is said where it is wrong."""

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.compiler import compile_text, load_scenario
from tuling_fsm.sim.scenario.model import Action, Parallel, Serial, Wait

from .storyboards import SCENE, scene


def fault(text: str) -> str:
    with pytest.raises(InputError) as caught:
        compile_text(text, "f.osc")
    return str(caught.value)


LAYOUT = [
    ("scenario a\n", "1:1", "0 do in the scenario"),
    (
        "foo\n",
        "1:1",
        "'foo' cannot stand here (expected enum or extend or global or import or modifier or struct, actor,",
    ),
    ("scenario a:\n", "1:12", "expected an indented block"),
    ("scenario a:\n    ego vehicle\n", "2:9", "'vehicle' cannot stand here"),
    ("scenario a:\n    x: float = 3 m\n", "2:18", "'m' cannot stand here"),
    ("scenario a:\n    x: float = $\n", "2:16", "'$' cannot stand here"),
    ("scenario a:\n    x: float = 3 +\n", "2:19", "expected a value"),
    ('scenario a:\n    x: string = "abc\n', "2:17", "cannot stand here"),
    ("scenario a:\n    do serial:\n        a.b(\n        a.c()\n", "3:12", "'(' is never closed"),
    ("scenario a:\n  do serial:\n     a.b()\n   c.d()\n", "4:4", "the indentation fits no open block"),
    ("scenario a:\n    do serial:\n        a.b() with:\n", "4:1", "expected an indented block"),
    ("", "1:1", "no scenario in the file"),
]


@pytest.mark.parametrize(("text", "where", "what"), LAYOUT)
def test_a_syntax_error_has_its_place(text: str, where: str, what: str) -> None:
    message = fault(text)
    assert message.startswith(f"f.osc:{where}: ")
    assert what in message


DECLARATIONS = [
    ("x: velocity", "2:8", "unknown type 'velocity'"),
    ("x: speed = 3m", "2:16", "a length is no speed (expected a speed in mps, kmph"),
    ("x: speed = 3furlong", "2:16", "unknown unit 'furlong'"),
    ("x: length = 3m + 2s", "2:22", "a length and a time do not go together"),
    ("x: float = 1 / 0", "2:20", "division by zero"),
    ("x: int = 2.5", "2:14", "is no int (expected a whole number)"),
    ("x: uint = -2", "2:15", "is no uint"),
    ("x: bool = 1", "2:15", "expected true or false"),
    ("x: float = y", "2:16", "unknown name 'y'"),
    ("x: list of speed = [1mps, 2s]", "2:24", "a time is no speed"),
    ("map: map\n    x: float\n    x: float", "4:5", "'x' is declared twice"),
    ("npc: vehicle with:\n        keep(it.colour == 3m)", "3:14", "vehicle has no field 'colour'"),
    ("npc: vehicle with:\n        keep(it.length == 3s)", "3:27", "a time is no length"),
    ("x: float = 3\n    keep(x > 4)", "3:10", "the constraint does not hold for x = 3.0 (expected"),
    ("x: speed = 3mps\n    y: bool = true\n    keep(x > 4mps and y)", "4:10", "not hold for x = 3.0, y = true ("),
    ("keep(3 > 4)", "2:10", "the constraint does not hold (expected"),
    ("x: float\n    y: float = x", "3:16", "'x' has no value"),
    ('map.set_map_file("no.xodr")', "2:22", "no such file"),
    ("map.set_map_file(3)", "2:22", "the number 3 is no string"),
    ("p: odr_point = map.create_pose(x: 3m)", "2:20", "unknown method map.create_pose"),
    ('p: odr_point = map.create_odr_point("1")', "2:20", "'create_odr_point' needs 'lane_id'"),
]


@pytest.mark.parametrize(("line", "where", "what"), DECLARATIONS)
def test_a_wrong_declaration_has_its_place(line: str, where: str, what: str) -> None:
    message = fault(f"scenario a:\n    {line}\n    ego: vehicle\n    do serial:\n        ego.drive()\n")
    assert message.startswith(f"f.osc:{where}: ")
    assert what in message


ACTIONS = [
    ("npd.drive()", "1", "unknown actor 'npd' (expected one of map, ego, npc"),
    ("npc.fly()", "1", "vehicle 'npc' has no action 'fly' (expected one of assign_position"),
    ("drive()", "1", "this is no action"),
    ("npc.assign_speed(30m)", "18", "a length is no speed"),
    ("npc.assign_speed(pace: 3mps)", "18", "'assign_speed' has no parameter 'pace'"),
    ("npc.assign_speed(3mps, 4s, 5s)", "28", "too many arguments for 'assign_speed'"),
    ("npc.assign_speed(3mps, speed: 4mps)", "24", "'speed' is given twice"),
    ("npc.assign_speed()", "1", "'assign_speed' needs 'speed'"),
    ("npc.change_speed(target: 3mps, rate_peak: 0mpss)", "1", "at rate 0 never ends"),
    ("npc.change_speed(target: 3mps, rate_profile: round)", "46", "unknown name 'round'"),
    ("npc.assign_position(p.s)", "21", "a length is no position"),
    ("traffic.populate(vehicles: 10001)", "1", "10001 vehicles (expected at most 10000)"),
    ("traffic.populate(pedestrians: 1000000000)", "1", "1000000000 pedestrians (expected at most 10000)"),
    ("traffic.populate(rude: 1.5)", "1", "a rude share of 1.5 (expected 0 to 1)"),
    ("npc.random_route(length: 3km)", "1", "'npc' has no planner under test"),
    ("walker.walk()", "1", "a walk needs its path"),
    ("ego.remove()", "1", "the ego cannot be removed"),
    ("emit never", "6", "unknown event 'never'"),
    ("wait @never", "6", "unknown event 'never'"),
    ("wait ego", "6", "this is no condition (expected elapsed(<time>), @<event>"),
    ("wait elapsed(3m)", "14", "a length is no time"),
    ("wait ego.speed > 3m", "18", "a length is no speed"),
    ("wait ego.mood > 3m", "6", "'ego' has no quantity 'mood'"),
    ("wait ego.object_distance(reference: npc) < 3m", "6", "'object_distance' needs 'direction'"),
    ("wait ego.time_headway(reference: p) < 3s", "34", "an odr_point is no physical_object"),
]


@pytest.mark.parametrize(("line", "column", "what"), ACTIONS)
def test_a_wrong_behaviour_has_its_place(line: str, column: str, what: str) -> None:
    text = scene(f"serial:\n        {line}")
    row = text[: text.index(line)].count("\n") + 1
    message = fault(text)
    assert message.startswith(f"f.osc:{row}:{int(column) + 8}: ")
    assert what in message


MODIFIERS = [
    ("npc.drive()", "hop(3m)", "'drive' takes no such modifier (expected one of speed, along, position, lane, acceler"),
    ("npc.drive()", "position(3m)", "'position' needs one actor"),
    ("npc.drive()", "position(3m, ahead_of: ego, behind: walker)", "'position' needs one actor"),
    ("npc.drive()", "speed(3m)", "a length is no speed"),
    ("npc.drive()", "until 3", "this is no condition"),
    ("ego.drive()", "speed(-3mps)", "'speed' is below 0"),
    ("ego.drive()", "along(map.create_path([p]))", "the ego follows no path"),
    ("ego.drive()", "along(p)", "an odr_point is no way (expected map.create_route"),
]


@pytest.mark.parametrize(("action", "modifier", "what"), MODIFIERS)
def test_a_wrong_modifier_is_refused(action: str, modifier: str, what: str) -> None:
    assert what in fault(scene(f"serial:\n        {action} with:\n            {modifier}"))


@pytest.mark.clause("OSC-1")
@pytest.mark.parametrize(
    ("behaviour", "line", "column"),
    [
        ("wait elapsed(1s)", 0, 8),
        ("parallel:\n        wait ego.speed > 1mps", 1, 9),
        ("serial:\n        parallel:\n            npc.drive()\n            w: wait elapsed(1s)", 3, 16),
        ("serial:\n        one_of:\n            npc.drive()\n            wait elapsed(1s)", 3, 13),
    ],
)
def test_a_wait_outside_serial_is_an_error(behaviour: str, line: int, column: int) -> None:
    text = scene(behaviour)
    first = text[: text.index("    do ")].count("\n") + 1
    message = fault(text)
    assert message.startswith(f"f.osc:{first + line}:{column}: a wait ")
    assert "(expected it inside a serial)" in message


@pytest.mark.clause("OSC-1")
@pytest.mark.parametrize(
    "condition",
    [
        "elapsed(10s)",
        "npc.object_distance(reference: ego, direction: m_direction, mode: m_mode) < 5m",
        "ego.point_distance(my_pose, m_direction, m_mode)  >  10.0m",
        "npc.time_to_collision(reference:ego) < 3s",
        "npc.time_headway(reference:ego) < 3s",
        "ego.speed  >  30.0mps",
        "ego.acceleration  >  1.0mpss",
        "ego.speed in [10kmph..20kmph]",
        "3s > npc.time_headway(reference: ego)",
        "(ego.speed > 1mps or elapsed(1min)) and npc.speed == 0mps",
    ],
)
def test_every_trigger_can_be_written(condition: str) -> None:
    text = scene(
        f"parallel:\n        # Story\n        serial:\n            wait {condition}\n"
        "            npc.activate_controller(true, true)",
        """
    m_direction: distance_direction = euclidianDistance
    m_mode: distance_mode = reference_points
    my_xyz: xyz_point = map.create_xyz_point(x: 0.0m, y: 10.0m, z: 0m)
    my_pose: pose_3d with:
        keep(it.xyz_point == my_xyz)
""",
    )
    whole = compile_text(text, "f.osc").storyboard
    assert isinstance(whole, Parallel)
    (story,) = whole.members
    assert isinstance(story, Serial)
    assert [type(member) for member in story.members] == [Wait, Action]


def test_the_run_needs_one_ego_and_one_do() -> None:
    assert "the scenario has no ego" in fault("scenario a:\n    npc: vehicle\n    do serial:\n        npc.drive()\n")
    assert "0 do in the scenario" in fault("scenario a:\n    ego: vehicle\n")
    assert "2 do in the scenario" in fault(
        scene("serial:\n        npc.drive()") + "    do serial:\n        npc.drive()\n"
    )
    assert "the ego is one vehicle" in fault("scenario a:\n    Ego: person\n    do serial:\n        Ego.walk()\n")


def test_what_only_the_beginning_can_set_is_refused_later() -> None:
    late = scene("serial:\n        wait elapsed(1s)\n        ego.random_route(length: 1km)")
    assert "this can only be set at the beginning" in fault(late)
    twice = scene("serial:\n        ego.random_route(length: 1km)\n        ego.random_route(length: 2km)")
    assert "this is set already" in fault(twice)


def test_layout_is_free_where_it_may_be() -> None:
    plain = compile_text(scene("serial:\n        npc.assign_speed(speed: 3mps)\n        wait elapsed(1s)"), "f.osc")
    spread = (
        "\r\n# heading\r\nimport osc.standard  # passed over\r\n\r\n"
        + SCENE.format(more="").replace("\n", "\r\n")
        + "    do serial:   # run\n\n   # odd\n\t\tnpc.assign_speed(\n  speed:\n3mps  # of all\n )\n"
        + "\t\twait \\\n elapsed(1s)"
    )
    assert compile_text(spread, "f.osc") == plain


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.osc: cannot be read"):
        load_scenario(f"{tmp_path}/missing.osc")


def test_two_scenarios_are_one_too_many() -> None:
    text = scene("serial:\n        npc.drive()")
    assert "the scenario 'scene' is declared twice" in fault(text + text)
    assert "a second scenario in the file" in fault(text + text.replace("scenario scene", "scenario other"))


def test_extremes_are_refused(tmp_path: Path) -> None:
    text = scene("serial:\n        npc.drive()", "    x: float = {}\n")
    for value in ("9" * 400, "1e400", "1" + "0" * 15 + " * 10", "1 / 1e-300"):
        assert "too large" in fault(text.format(value))
    assert "nested too deeply" in fault(text.format("-" * 5000 + "1"))
    (tmp_path / "marked.osc").write_text("\ufeff" + text.format(3), encoding="utf-8")
    assert load_scenario(tmp_path / "marked.osc").variables == {"x": 3.0}


def test_a_label_is_used_once() -> None:
    assert "the label 'a' is used twice" in fault(scene("serial:\n        a: npc.drive()\n        a: npc.drive()"))


def test_enumeration_members_go_before_names_where_they_may_stand() -> None:
    start = "    start: odr_point = map.create_odr_point(1, -1, 3m)\n"
    text = scene("serial:\n        npc.drive() with:\n            position(3m, behind: ego, at: start)", start)
    npc, _ = compile_text(text, "f.osc").actors
    assert npc.placement is not None


@pytest.mark.clause("OSC-1")
def test_what_only_the_beginning_can_set_is_refused_where_it_may_not_come_about() -> None:
    message = fault(scene("one_of:\n        ego.random_route(length: 100m)\n        npc.drive()"))
    assert "this can only be set at the beginning" in message
    assert "in no one_of" in message

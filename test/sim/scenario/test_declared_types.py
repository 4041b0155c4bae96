"""What a text declares itself is known as what the library declares: types, units, enumerations, structs, actors."""

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import content_sha256
from tuling_fsm.sim.scenario.actions import ACTIONS
from tuling_fsm.sim.scenario.compiler import compile_text, load_scenario
from tuling_fsm.sim.scenario.imports import standard_library
from tuling_fsm.sim.scenario.model import EGO, Scenario
from tuling_fsm.sim.scenario.type_table import SIMULATED

pytestmark = pytest.mark.clause("OSC-1")


def compiled(declarations: str, members: str = "", **overrides: str) -> Scenario:
    lines = "".join(f"    {line}\n" for line in members.splitlines())
    text = f"{declarations}\nscenario a:\n    ego: vehicle\n{lines}    do serial:\n        ego.drive()\n"
    return compile_text(text, "f.osc", overrides)


def fault(declarations: str, members: str = "") -> str:
    with pytest.raises(InputError) as caught:
        compiled(declarations, members)
    return str(caught.value)


def test_the_library_and_the_actions_name_the_same() -> None:
    library = standard_library()
    known = {name for name, kind in library.behaviours.items() if kind.keyword == "action"}
    carried_out = set()
    for kind, actions in ACTIONS.items():
        for name, action in actions.items():
            declared = library.member("vehicle" if kind == EGO else kind, name)
            assert declared is not None, (kind, name)
            carried_out.add(declared.name)
            assert set(action.modifiers) <= set(library.modifiers)
    assert known - carried_out == {"movable_object.move"}
    assert {EGO, *SIMULATED} == set(ACTIONS)


def test_a_type_and_its_units_are_declared() -> None:
    found = compiled(
        "type velocity is SI(m: 1, s: -1)\nunit furlong of length is SI(m: 1, factor: 201.168)\n"
        "unit |km/day| of velocity is SI(m: 1, s: -1, factor: 0.5)",
        "a: velocity = 4|km/day|\nb: speed = a\nc: length = 2furlong\nd: temperature = 20celsius",
    )
    assert found.variables == pytest.approx({"a": 2.0, "b": 2.0, "c": 402.336, "d": 293.15})
    assert found.notes == ()


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("type a is SI(furlong: 1)", "1:6", "unknown base unit 'furlong' (expected one of m, s, rad"),
        ("unit a of hue is SI(m: 1)", "1:6", "unknown physical type 'hue'"),
        ("unit a of length is SI(m: 1, factor: 0)", "1:6", "a factor of 0 (expected a factor above 0)"),
        ("type a is SI(m: 1)\ntype a is SI(s: 1)", "2:6", "the type 'a' is declared twice"),
        ("enum a: [one, two, one]", "1:20", "the member 'one' is declared twice"),
        ("enum a: [one = 1, two = 1]", "1:19", "'two' has the number of 'one'"),
        ("struct a:\n    x: hue", "2:8", "unknown type 'hue'"),
        ("struct a:\n    x, x: int", "2:8", "'x' is declared twice"),
        ("struct a inherits b", "1:1", "unknown base 'b' (expected the struct b before)"),
        ("struct a\nextend b:\n    x: int", "2:8", "unknown type 'b' to extend"),
        ("actor a\nactor a", "2:1", "the actor 'a' is declared twice"),
        ("modifier someone.hop", "1:1", "unknown actor 'someone'"),
        ("scenario someone.walks:\n    do serial:\n        x.y()", "1:1", "unknown actor 'someone'"),
        ("global x: hue", "1:11", "unknown type 'hue'"),
        ("import nothing.here", "1:1", "no file 'nothing.here' to import"),
    ],
)
def test_a_wrong_declaration_of_a_type_has_its_place(text: str, where: str, what: str) -> None:
    message = fault(text)
    assert message.startswith(f"f.osc:{where}: ")
    assert what in message


def test_a_unit_that_differs_from_the_librarys_counts_and_is_said() -> None:
    found = compiled("unit deg of angle is SI(rad: 1, factor: 2)", "a: angle = 3deg")
    assert found.variables["a"] == 6.0
    assert [note.split(": ", 1)[0] for note in found.notes] == ["f.osc:1:6"]
    same = compiled("unit kph of speed is SI(m: 1, s: -1, factor: 0.277777778)", "a: speed = 36kph")
    assert (same.variables["a"], same.notes) == (10.0, ())
    odd = compiled("unit odd of acceleration is SI(m: 1, s: -1, factor: 2)", "a: acceleration = 3odd")
    assert odd.variables["a"] == 6.0
    assert "the exponents of 'odd' are not those of its type" in odd.notes[0]


def test_an_enumeration_is_declared_and_extended() -> None:
    text = "enum hue: [red = 3, green, blue = 0x07]\nextend hue: [mauve]"
    assert compiled(text, "a: hue = hue!mauve\nb: hue = blue\nkeep(b == hue!blue and a != b)").variables == {}
    message = fault(f"{text}\nenum other: [pink]", "a: hue = other!pink")
    assert "'pink' is no hue (expected one of red, green, blue, mauve)" in message


def test_a_struct_has_fields_defaults_and_methods() -> None:
    text = (
        "struct base:\n    x: int = 3\n"
        "struct pair inherits base:\n    y: int = 4\n    def sum(more: int = 1) -> int is expression x + y + more\n"
        '    def root(of: float) -> float is only external python(module: "math", name: "sqrt", x: of)\n'
        "    def later() is undefined\n"
    )
    members = "p: pair\nq: pair with:\n    keep(it.x == 3)\na: int = p.sum()\nb: float = pair.root(of: 16.0)"
    found = compiled(text, members)
    assert found.variables == {"a": 8, "b": 4.0}
    assert "the method 'later' is undefined" in fault(text, "p: pair\na: int = p.later()")
    assert "no other program is run" in fault(text.replace("math", "os"), "b: float = pair.root(of: 16.0)")


def test_an_actor_is_what_it_inherits() -> None:
    text = (
        "actor lorry inherits vehicle(vehicle_category == vehicle_category!truck):\n    keep(it.length == 12m)\n"
        "    keep(default it.width == 2.4m)\nactor ghost\n"
    )
    found = compiled(text, "a: lorry\nb: lorry with:\n    keep(it.width == 2.6m)\nc: vehicle = a")
    assert [(actor.name, actor.length, actor.width) for actor in found.actors] == [("a", 12.0, 2.4), ("b", 12.0, 2.6)]
    assert "f.osc:8:5: nothing in the simulation is a ghost" in fault(text, "g: ghost")
    assert "the constraint does not hold" in fault(text, "a: lorry with:\n    keep(it.length == 3m)")
    assert "the vehicle 'x' is no lorry" in fault(text, "x: vehicle\na: lorry = x")


def test_a_field_that_nothing_looks_at_is_said() -> None:
    (note,) = compiled("", "a: vehicle with:\n    keep(it.color == red)").notes
    assert note == "f.osc:5:14: 'color' of 'a' has no effect here"


def test_globals_are_known_and_may_be_set() -> None:
    text = "global gap: length = 5m\nglobal npc: vehicle"
    found = compiled(text, "far: length = gap * 2", gap="7m")
    assert found.variables == {"gap": 7.0, "far": 14.0}
    assert [actor.name for actor in found.actors] == ["npc"]


def test_expressions_of_the_language() -> None:
    members = (
        "a: list of int = [3, 4]\nb: int = a[1] + a.size()\nc: string = b > 5 ? 'more' : 'less'\n"
        "d: bool = false => true => false\ne: int\nkeep(e in [1..4])\nf: speed = [2mps..3mps]\n"
        "g: int\nkeep(default g == 9)"
    )
    assert compiled("", members).variables == {"b": 6, "c": "more", "d": True, "e": 2, "f": 2.5, "g": 9}
    assert compiled("", "g: int\nkeep(default g == 9)", g="3").variables == {"g": 3}
    assert "the list has no such element" in fault("", "a: list of int = [3]\nb: int = a[1]")
    assert "nothing lies between these" in fault("", "f: speed = [3mps..2mps]")


def test_files_are_imported_once_and_say_their_names(tmp_path: Path) -> None:
    (tmp_path / "shared.osc").write_text("import other.osc\ntype hue is SI(cd: 1)\nactor lorry inherits vehicle\n")
    (tmp_path / "other.osc").write_text('import "shared.osc"\nglobal gap: length = 3m\n')
    text = "import shared.osc\nimport osc.standard\nscenario a:\n    ego: lorry\n    do serial:\n        ego.drive()\n"
    (tmp_path / "main.osc").write_text(text)
    scenario = load_scenario(tmp_path / "main.osc")
    assert scenario.variables == {"gap": 3.0}
    assert [Path(file).name for file in scenario.read_files] == ["main.osc", "shared.osc", "other.osc"]
    assert {file: content_sha256(file) for file in scenario.read_files} == scenario.read_files
    (tmp_path / "other.osc").write_text("struct x:\n    y: colour\n")
    with pytest.raises(InputError, match=r"other\.osc:2:8: unknown type 'colour'"):
        load_scenario(tmp_path / "main.osc")

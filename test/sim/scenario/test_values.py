"""Units, dimensions, declarations and overrides."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.imports import standard_library
from tuling_fsm.sim.scenario.placements import AtPose, InSlot, OnLane

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 6))
LIBRARY = standard_library()
KINDS = st.sampled_from(sorted(LIBRARY.physical))


def variables(declarations: str, **overrides: str) -> dict[str, bool | int | float | str]:
    lines = "".join(f"    {line}\n" for line in declarations.splitlines())
    text = f"scenario a:\n    ego: vehicle\n{lines}    do serial:\n        ego.drive()\n"
    return dict(compile_text(text, "f.osc", overrides).variables)


@given(value=NUMBERS, unit=st.sampled_from(sorted(LIBRARY.units)))
def test_a_literal_is_its_number_of_si_units(value: float, unit: str) -> None:
    known = LIBRARY.units[unit]
    found = variables(f"x: {known.type} = {value:.6f}{unit}")["x"]
    assert found == pytest.approx(value * known.factor + known.offset)


def test_units_are_what_they_are() -> None:
    found = variables("a: speed = 36kmph\nb: angle = 180deg\nc: time = 1.5min\nd: length = 2e3mm\ne: speed = 3.6mmph")
    assert found == pytest.approx({"a": 10.0, "b": math.pi, "c": 90.0, "d": 2.0, "e": 1e-6})


@given(a=NUMBERS, b=NUMBERS, kind=KINDS, data=st.data())
@pytest.mark.medium
def test_units_of_one_type_add_up(a: float, b: float, kind: str, data: st.DataObject) -> None:
    one, other = (data.draw(st.sampled_from(LIBRARY.units_of(kind))) for _ in "ab")
    found = variables(f"x: {kind} = {a:.6f}{one} + {b:.6f}{other}")["x"]
    first, second = LIBRARY.units[one], LIBRARY.units[other]
    assert found == pytest.approx(a * first.factor + first.offset + b * second.factor + second.offset, abs=1e-6)


@given(kind=KINDS, other=KINDS)
def test_units_of_two_types_do_not(kind: str, other: str) -> None:
    text = f"x: {kind} = 1{LIBRARY.units_of(kind)[0]} + 1{LIBRARY.units_of(other)[0]}"
    if kind == other:
        assert variables(text)
    else:
        with pytest.raises(InputError, match=r"^f\.osc:3:\d+: .* do not go together"):
            variables(text)


def test_dimensions_are_kept_through_products() -> None:
    found = variables(
        "a: speed = 100m / 8s\nb: length = 2 * 3.5m - 1m\nc: float = 10m / 4m\nd: int = 7 % 4 * 2\ne: time = -(3s)"
    )
    assert found == {"a": 12.5, "b": 6.0, "c": 2.5, "d": 6, "e": -3.0}
    with pytest.raises(InputError, match="a m\\^2 is no length"):
        variables("a: length = 2m * 2m")


def test_an_override_takes_the_place_of_the_default() -> None:
    text = "gap: length = 15m\nn: int = 3\non: bool = false\nname: string = 'x'\nhalf: length = gap / 2"
    assert variables(text, gap="2km", n="-4", on="true", name="red car") == {
        "gap": 2000.0, "n": -4, "on": True, "name": "red car", "half": 1000.0,
    }  # fmt: skip
    assert variables(text, name="'red car'", gap="10m + 5m")["half"] == 7.5


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gap", "3", "--set gap=3: the number 3 is no length (expected a length in mm, cm, m"),
        ("gap", "3kmph", "--set gap=3kmph: a speed is no length"),
        ("gap", "3 m", "--set gap=3 m: '3 m' is no value"),
        ("gap", "(3m", "--set gap=(3m: '(' is never closed"),
        ("gap", "wide", "--set gap=wide: unknown name 'wide'"),
        ("n", "2.5", "--set n=2.5: the number 2.5 is no int (expected a whole number)"),
        ("width", "3m", "--set width: the scenario has no such variable (expected one of gap, n)"),
        ("ego", "3m", "--set ego: 'ego' is an actor"),
    ],
)
def test_a_wrong_override_is_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        variables("gap: length = 15m\nn: int = 3", **{name: value})
    assert str(caught.value).startswith(message)


def test_constraints_set_what_is_open_and_check_the_rest() -> None:
    assert variables("a: speed\nb: speed = 3mps\nkeep(a == b)\nkeep(a in [2mps..4mps] and not (a > b))")["a"] == 3.0
    with pytest.raises(InputError, match=r"^f\.osc:4:10: the constraint does not hold"):
        variables("a: int = 3\nkeep(a in [1, 2, 3])", a="4")


@pytest.mark.clause("OSC-1")
@pytest.mark.parametrize("size", ["-4.5m", "0m", "400m"])
@pytest.mark.parametrize("side", ["length", "bounding_box.width"])
def test_a_body_that_nothing_has_is_refused(side: str, size: str) -> None:
    text = f"scenario a:\n    ego: vehicle\n    b: vehicle with:\n        keep(it.{side} == {size})\n    do serial:\n"
    where = rf"^f\.osc:4:{21 + len(side)}: a (length|width) of {size[:-1]} m \(expected 0\.1 m to 200 m\)$"
    with pytest.raises(InputError, match=where):
        compile_text(f"{text}        ego.drive()\n", "f.osc")
    typed = f"actor lorry inherits vehicle:\n    keep(default it.{side} == {size})\n"
    with pytest.raises(InputError, match=r"^f\.osc:2:18: a (length|width) of"):
        compile_text(
            f"{typed}scenario a:\n    ego: vehicle\n    b: lorry\n    do serial:\n        ego.drive()\n", "f.osc"
        )


@pytest.mark.clause("OSC-1")
def test_that_the_size_of_the_ego_is_its_own_is_said() -> None:
    text = (
        "scenario a:\n    hero: vehicle with:\n        keep(it.length == 12m)\n    do serial:\n        hero.drive()\n"
    )
    (note,) = compile_text(text, "f.osc").notes
    assert note.startswith("f.osc:3:14: 'length' of 'hero' has no effect")


def test_actors_have_the_size_that_is_kept() -> None:
    text = (
        "scenario a:\n    Ego: vehicle\n    one, two: vehicle with:\n        keep(it.length == 12m)\n"
        "        keep(it.bounding_box.width == 2.5m)\n    three: person\n"
        "    keep(three.width == two.width + 1m)\n    do serial:\n        Ego.drive()\n"
    )
    with pytest.raises(InputError, match=r"^f\.osc:7:25: a vehicle has no field 'width'"):
        compile_text(text, "f.osc")
    actors = compile_text(text.replace("two.width", "two.bounding_box.width"), "f.osc").actors
    assert [(actor.name, actor.length, actor.width) for actor in actors] == [
        ("one", 12.0, 2.5), ("two", 12.0, 2.5), ("three", 0.6, 3.5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "meant"),
    [
        ('map.create_odr_point("a1", "-2", 5m, t: -0.5m)', OnLane("a1", -2, 5.0, -0.5)),
        ("map.create_odr_point(road_id: 7, lane_id: 1)", OnLane("7", 1, 0.0, 0.0)),
        ("map.create_xyz_point(1m, y: 2km)", AtPose(1.0, 2000.0)),
        ("map.parking_space(31, backed_in: true)", InSlot("31", True)),
        ("posed", AtPose(3.0, 4.0, math.pi / 2.0)),
    ],
)
def test_places_are_what_they_say(place: str, meant: object) -> None:
    text = (
        "scenario a:\n    ego: vehicle\n    posed: pose_3d with:\n"
        "        keep(it.position == map.create_xyz_point(3m, 4m))\n        keep(it.orientation.yaw == 90deg)\n"
        f"    do serial:\n        ego.assign_position({place})\n"
    )
    assert compile_text(text, "f.osc").ego == meant

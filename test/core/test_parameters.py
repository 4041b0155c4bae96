from dataclasses import dataclass

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, flatten, group, load, nest, param, refuse_above


@dataclass(frozen=True)
class Inner:
    gain: float = param(1.0, "1/s", 0.0, 5.0, "how hard")
    mode: str = param("soft", doc="how", choices=("soft", "hard"))
    least: float = param(0.5, "1/s", 0.0, 5.0, "at most gain")

    def __post_init__(self) -> None:
        refuse_above("least", self.least, "gain", self.gain, "1/s")


@dataclass(frozen=True)
class Outer:
    count: int = param(3, "", 1, 10, "how many", clause="USE-12", live=True)
    on: bool = param(True, doc="whether")
    inner: Inner = group(Inner)


def test_absent_values_keep_their_defaults() -> None:
    assert load(Outer, {}) == Outer()
    assert load(Outer, nest({"inner.gain": 2.5, "count": 4})) == Outer(count=4, inner=Inner(gain=2.5))


def test_a_whole_number_is_taken_for_a_float() -> None:
    assert load(Inner, {"gain": 2}).gain == 2.0


@pytest.mark.clause("USE-12")
@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"inner.gain": 7.0}, "inner.gain: 7.0 is out of range (expected float from 0.0 to 5.0 1/s)"),
        ({"inner.gain": "fast"}, "inner.gain: 'fast' is no float (expected float from 0.0 to 5.0 1/s)"),
        ({"inner.mode": "rough"}, "inner.mode: 'rough' is unknown (expected one of soft, hard)"),
        ({"inner.gian": 1.0}, "inner.gian: no such parameter (expected one of gain, least, mode)"),
        ({"count": True}, "count: True is no int (expected int from 1 to 10)"),
        ({"count": 2.0}, "count: 2.0 is no int (expected int from 1 to 10)"),
        ({"on": 1}, "on: 1 is no bool (expected bool)"),
        ({"inner.least": 1.5}, "inner.least: 1.5 1/s is above gain (expected at most 1 1/s)"),
        ({"inner.gain": 0.25}, "inner.least: 0.5 1/s is above gain (expected at most 0.25 1/s)"),
        ({"inner": 3}, "inner: 3 is no group of parameters (expected a mapping)"),
        ({"inner.gain": float("nan")}, "inner.gain: nan is out of range (expected float from 0.0 to 5.0 1/s)"),
    ],
)
def test_a_bad_value_is_refused_in_one_line(values: dict[str, object], line: str) -> None:
    with pytest.raises(InputError) as refused:
        load(Outer, nest(values))
    assert str(refused.value) == line


def test_every_parameter_is_described_with_its_dotted_name() -> None:
    specs = {spec.name: spec for spec in describe(Outer)}
    assert list(specs) == ["count", "on", "inner.gain", "inner.mode", "inner.least"]
    assert (specs["count"].live, specs["count"].clause, specs["inner.gain"].unit) == (True, "USE-12", "1/s")
    assert set(flatten(Outer())) == set(specs)

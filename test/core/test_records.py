from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from tuling_fsm.core.records import replace


@dataclass(frozen=True)
class Thing:
    number: int
    names: tuple[str, ...] = field(default_factory=tuple)
    weight: float = 1.0
    unit: ClassVar[str] = "kg"

    @cached_property
    def twice(self) -> int:
        return 2 * self.number


def test_a_replaced_record_is_that_of_dataclasses() -> None:
    thing = Thing(3, ("a",))
    some: tuple[dict[str, Any], ...] = ({}, {"weight": 2.0}, {"number": 4, "names": ()})
    for changes in some:
        assert replace(thing, **changes) == dataclasses.replace(thing, **changes)
    assert thing == Thing(3, ("a",)) and replace(thing).names is thing.names
    for name in ("number", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(replace(thing), name, 5)


def test_a_field_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="Thing has no field 'wight'"):
        replace(Thing(3), **dict.fromkeys(("number", "wight"), 2))


def test_what_a_record_has_worked_out_is_not_taken_over() -> None:
    thing = Thing(3)
    assert thing.twice == 6
    for changed in (replace(thing, number=5), replace(thing, number=5, weight=2.0)):
        assert changed.twice == 10
    assert replace(thing).twice == 6 and "twice" in vars(thing)
    with pytest.raises(TypeError, match="Thing has no field 'twice'"):
        replace(thing, **{"twice": 7})

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import pytest

from tuling_fsm.core.records import replace


@dataclass(frozen=True)
class Thing:
    number: int
    names: tuple[str, ...] = field(default_factory=tuple)
    weight: float = 1.0


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

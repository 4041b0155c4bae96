"""The code of a function with a fault takes the place of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import sample_room
from .operators import Mutant, mutants
from .swap import code_of, function_of

FILE = Path(sample_room.__file__)
FOUND = list(mutants(f"{sample_room.__name__.replace('.', '/')}.py", FILE.read_text(encoding="utf-8")))


def planted(fault: str) -> Mutant:
    (mutant,) = (mutant for mutant in FOUND if mutant.fault == fault)
    return mutant


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        ("self.seats > LIMIT -> self.seats <= LIMIT", "Room.is_full"),
        ("2 * number -> 2 / number", "Room.twice"),
        ("number / 2.0 -> number * 2.0", "half"),
        ("number + more -> number - more", "with_default"),
    ],
)
def test_functions_methods_and_properties_are_found(fault: str, where: str) -> None:
    mutant = planted(fault)
    assert mutant.where == where
    function = function_of(mutant)
    assert function is not None
    assert code_of(mutant).co_name == function.__code__.co_name == where.split(".")[-1]
    assert code_of(mutant).co_code != function.__code__.co_code


def test_the_other_code_does_what_the_fault_says() -> None:
    function = function_of(planted("number + more -> number - more"))
    assert function is not None
    plain = function.__code__
    try:
        function.__code__ = code_of(planted("number + more -> number - more"))
        assert sample_room.with_default(5) == 4
    finally:
        function.__code__ = plain
    assert sample_room.with_default(5) == 6


def test_what_is_run_while_loading_is_in_no_function() -> None:
    for fault in ("3 -> 4", "1 -> 2"):
        assert planted(fault).where == ""

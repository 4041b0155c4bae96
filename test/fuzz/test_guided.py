"""What tells the search by coverage where a file has led: the functions of the target's modules, without kernels."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import pytest
from numba.core.dispatcher import Dispatcher

import tuling_fsm
from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz.guided import functions_of
from tuling_fsm.fuzz.targets import TARGETS, FuzzTarget

PACKAGE = Path(tuling_fsm.__file__).parent


class Place(NamedTuple):
    """Where a function is written: code objects do not keep their hash while they are run."""

    file: str
    line: int
    name: str


def place(code: CodeType) -> Place:
    return Place(code.co_filename, code.co_firstlineno, code.co_name)


def nested(code: CodeType) -> Iterator[Place]:
    yield place(code)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from nested(each)


def entered(target: FuzzTarget, file: Path) -> set[Place]:
    """The functions of the target's modules that are entered as a file is read."""
    found: set[Place] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(place(frame.f_code))

    sys.setprofile(note)
    try:
        target.read(file)
    except InputError:
        pass
    finally:
        sys.setprofile(None)
    within = tuple(str(PACKAGE.parent / name.replace(".", "/")) for name in target.modules)
    files = tuple(f"{each}{end}" for each in within for end in ("/", ".py"))
    return {each for each in found if each.file.startswith(files) and each.name != "<module>"}


class Known(NamedTuple):
    """The functions that a search is told of, by target, and the kernels of all that is loaded to tell them."""

    told: dict[str, set[Place]]
    kernels: set[Place]


@pytest.fixture(scope="module")
def known() -> Known:
    """Found among all objects that there are, those among them that the tests have set aside as ones that stay."""
    gc.unfreeze()
    told = {
        name: {each for function in functions_of(target.modules) for each in nested(function.__code__)}
        for name, target in TARGETS.items()
    }
    kernels = {place(each.py_func.__code__) for each in gc.get_objects() if issubclass(type(each), Dispatcher)}
    gc.freeze()
    return Known(told, kernels)


@pytest.mark.parametrize("name", sorted(TARGETS))
@pytest.mark.medium
def test_a_search_is_told_of_every_function_that_reading_comes_through(name: str, known: Known, tmp_path: Path) -> None:
    target, told = TARGETS[name], known.told[name]
    assert not told & known.kernels
    reached: set[Place] = set()
    for seed in target.seeds()[:3]:
        file = tmp_path / f"seed{target.suffix}"
        file.write_bytes(seed.content)
        reached |= entered(target, file)
    assert reached, "the modules named are those that read"
    assert reached <= told | known.kernels

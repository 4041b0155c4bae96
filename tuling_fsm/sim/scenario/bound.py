"""Arguments that `bind` has already converted, as the Python types that they are known to have."""

from __future__ import annotations

from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.scope import Bound
from tuling_fsm.sim.scenario.values import PLACEMENTS, ActorName, Physical, Symbol, Way


def si(bound: Bound, name: str) -> float:
    """A physical argument in its SI unit."""
    value = bound[name]
    assert isinstance(value, Physical)
    return value.value


def whole(bound: Bound, name: str) -> int:
    """A whole number."""
    value = bound[name]
    assert isinstance(value, int)
    return value


def number(bound: Bound, name: str) -> float:
    """A number without a unit."""
    value = bound[name]
    assert isinstance(value, float)
    return value


def text(bound: Bound, name: str) -> str:
    """A string."""
    value = bound[name]
    assert isinstance(value, str)
    return value


def texts(bound: Bound, name: str) -> tuple[str, ...]:
    """A list of strings."""
    value = bound[name]
    assert isinstance(value, tuple)
    return tuple(item for item in value if isinstance(item, str))


def truth(bound: Bound, name: str) -> bool:
    """A truth value."""
    value = bound[name]
    assert isinstance(value, bool)
    return value


def member(bound: Bound, name: str) -> str:
    """The member of an enumeration."""
    value = bound[name]
    assert isinstance(value, Symbol)
    return value.member


def actor(bound: Bound, name: str) -> str:
    """The name of an actor."""
    value = bound[name]
    assert isinstance(value, ActorName)
    return value.name


def position(bound: Bound, name: str) -> Placement:
    """A position."""
    value = bound[name]
    assert isinstance(value, PLACEMENTS)
    return value


def way(bound: Bound, name: str) -> Way:
    """A route or a path."""
    value = bound[name]
    assert isinstance(value, Way)
    return value

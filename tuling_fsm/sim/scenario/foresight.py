"""Refuses what can happen in no run: waits for what nobody brings about, and actions of who is not there.

What is said of a moment here is what may hold in it, so nothing is refused that could go well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario.commands import ActivateController, ActorCommand, ChangeSpeed, Command, Place, Remove
from tuling_fsm.sim.scenario.conditions import (
    Acceleration,
    Arrived,
    Both,
    Compare,
    Condition,
    Either,
    Elapsed,
    Emitted,
    ObjectDistance,
    PointDistance,
    Quantity,
    Reached,
    Speed,
    TimeHeadway,
    TimeToCollision,
)
from tuling_fsm.sim.scenario.model import EGO, Action, Emit, Node, OneOf, Parallel, Serial, Wait, nodes
from tuling_fsm.sim.scenario.placements import RelativeTo
from tuling_fsm.sim.scenario.tree import At
from tuling_fsm.sim.scenario.values import FaultError

_NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _May:
    """What may be so: who is in the world, which events are emitted, whether the ego has its controller."""

    present: frozenset[str] = _NOBODY
    emitted: frozenset[str] = _NOBODY
    driven: bool = False

    def __or__(self, other: _May) -> _May:
        return _May(self.present | other.present, self.emitted | other.emitted, self.driven or other.driven)


def refuse_what_never_happens(storyboard: Node, present: Iterable[str]) -> None:
    """Look at a whole storyboard; `present` are the actors that are in the world from the beginning.

    Raises:
        FaultError: something in it can never be done, or is waited for in vain.
    """
    _read(storyboard, _May(frozenset((EGO, *present)), driven=True), _May())


def _read(node: Node, now: _May, beside: _May) -> _May:
    """What may be so after a node. Events of `now` are of this very instant, those of `beside` of any."""
    now = replace(now, emitted=now.emitted | _labels(node, "start"))
    match node:
        case Action():
            after = _act(node.begin, node.at, now, beside)
            _check(node.until, after | beside)
            after = _act(node.end, node.at, _passed(node.until, after), beside)
        case Wait():
            _check(node.condition, now | beside)
            after = _passed(node.condition, now)
        case Emit():
            after = replace(now, emitted=now.emitted | {node.event})
        case Serial():
            after = now
            for member in node.members:
                after = _read(member, after, beside)
            after = _cut_short(node, now, beside, after)
        case Parallel():
            done = [_brought_about(member) for member in node.members]
            afters = [
                _read(member, now, reduce(_May.__or__, done[:i] + done[i + 1 :], beside))
                for i, member in enumerate(node.members)
            ]
            after = _cut_short(node, now, beside, reduce(_May.__or__, afters, now if not afters else _May()))
        case OneOf():
            after = reduce(_May.__or__, [_read(member, now, beside) for member in node.members], _May())
            after = _cut_short(node, now, beside, after)
        case _:
            assert_never(node)
    return replace(after, emitted=after.emitted | _labels(node, "end"))


def _act(issued: tuple[Command, ...], at: At, now: _May, beside: _May) -> _May:
    for command in issued:
        if not isinstance(command, ActorCommand):
            continue
        there, actor = now.present | beside.present, command.actor
        if isinstance(command, Place):
            if isinstance(command.placement, RelativeTo) and command.placement.actor not in there:
                raise _absent(command.placement.actor, at)
            now = replace(now, present=now.present | {actor})
            continue
        if actor not in there:
            raise _absent(actor, at)
        if isinstance(command, Remove):
            now = replace(now, present=now.present - {actor})
        elif isinstance(command, ActivateController) and actor == EGO:
            now = replace(now, driven=command.lateral or command.longitudinal)
        elif isinstance(command, ChangeSpeed) and actor == EGO and not (now.driven or beside.driven):
            raise FaultError(
                at, "the ego has no controller now and stands", "ego.activate_controller(true, true) before"
            )
    return now


def _cut_short(node: Serial | Parallel | OneOf, now: _May, beside: _May, after: _May) -> _May:
    """A composition with an `until` may end anywhere between its beginning and its end."""
    if node.until is None:
        return after
    whole = now | after | reduce(_May.__or__, map(_brought_about, node.members), _May())
    _check(node.until, whole | beside)
    return whole


def _brought_about(node: Node) -> _May:
    """All that a node and those below it may do."""
    found = _May()
    for each in nodes(node):
        emitted = _labels(each, "start") | _labels(each, "end")
        if isinstance(each, Emit):
            emitted |= {each.event}
        issued = (*each.begin, *each.end) if isinstance(each, Action) else ()
        placed = frozenset(command.actor for command in issued if isinstance(command, Place))
        driven = any(isinstance(command, ActivateController) and command.lateral for command in issued)
        found |= _May(placed, emitted, driven)
    return found


def _labels(node: Node, what: str) -> frozenset[str]:
    return frozenset((f"{node.label}.{what}",)) if node.label else _NOBODY


def _passed(condition: Condition | None, now: _May) -> _May:
    """After a wait the instant may be another one, and after some time it is."""
    later = isinstance(condition, Elapsed) and condition.seconds > 0.0
    return replace(now, emitted=_NOBODY) if later else now


def _check(condition: Condition | None, may: _May) -> None:
    match condition:
        case None | Elapsed() | Arrived() | Reached():
            pass
        case Emitted(event, at):
            if event not in may.emitted:
                what = f"this waits for ever: nobody emits {event!r} from then on"
                raise FaultError(at, what, "what emits it in a parallel beside the wait")
        case Compare():
            for actor in _measured(condition.quantity):
                if actor not in may.present:
                    raise _absent(actor, condition.at)
        case Either() | Both():
            for member in condition.conditions:
                _check(member, may)
        case _:
            assert_never(condition)


def _measured(quantity: Quantity) -> tuple[str, ...]:
    match quantity:
        case Speed() | Acceleration() | PointDistance():
            return (quantity.actor,)
        case ObjectDistance() | TimeToCollision() | TimeHeadway():
            return quantity.actor, quantity.reference
        case _:
            assert_never(quantity)


def _absent(actor: str, at: At) -> FaultError:
    return FaultError(at, f"{actor!r} is not in the world then", f"{actor}.assign_position(...) before")

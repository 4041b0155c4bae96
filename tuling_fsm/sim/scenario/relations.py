"""Where modifiers of a movement put an actor: `lane` and `position`, on a road or beside another actor."""

from __future__ import annotations

from collections.abc import Mapping

from tuling_fsm.sim.scenario.action_types import ActionCall, ModifierCall
from tuling_fsm.sim.scenario.placements import OnPath, Placement, RelativeTo
from tuling_fsm.sim.scenario.values import FaultError

AHEAD = {"ahead_of": 1, "behind": -1}
LANES = {"same_as": 0, "left_of": 1, "right_of": -1}
_SIDES = {"left": 1, "right": -1}


def beginning(call: ActionCall) -> Placement | None:
    """The place that `lane` and `position` state for the beginning of a movement; None without them.

    Raises:
        FaultError: they refer to different actors, to the actor itself or to none.
    """
    lane, position = call.modifiers.get("lane"), call.modifiers.get("position")
    if lane is None and position is None:
        return None
    if lane is not None and lane.given["lane"] is not None:
        if position is not None:
            raise FaultError(lane.at, "a lane by its number and a position beside an actor", "lane(same_as: <actor>)")
        return OnPath(_number(lane), call.script.path)
    ahead, lanes, actors = 0.0, 0, set[str]()
    if position is not None:
        actor, ahead = gap(call, position)
        actors.add(actor)
    if lane is not None:
        actor, lanes = lanes_beside(call, lane)
        actors.add(actor)
    if len(actors) > 1:
        raise FaultError(call.at, "position and lane refer to different actors", "one actor in both")
    return RelativeTo(actors.pop(), ahead, lanes)


def gap(call: ActionCall, position: ModifierCall) -> tuple[str, float]:
    """The actor that a `position` refers to, and how far before it (negative: behind it) that is, m.

    Raises:
        FaultError: it refers to no other actor, or states no distance.
    """
    if position.given["distance"] is None:
        what = "a time is no distance here" if position.given["time"] is not None else "'position' needs 'distance'"
        raise FaultError(position.at, what, "position(distance: <length>, ahead_of: <actor>)")
    actor, sign = _reference(call, "position", position, AHEAD)
    return actor, sign * position.given.si("distance")


def lanes_beside(call: ActionCall, lane: ModifierCall) -> tuple[str, int]:
    """The actor that a `lane` refers to, and how many lanes to its left that is.

    Raises:
        FaultError: it refers to no other actor.
    """
    if lane.given["side_of"] is not None:
        if lane.given["side"] is None:
            raise FaultError(lane.at, "'lane' needs 'side'", "lane(side_of: <actor>, side: left)")
        return other_actor(call, "lane", lane, "side_of"), _SIDES[lane.given.member("side")]
    return _reference(call, "lane", lane, LANES)


def _number(lane: ModifierCall) -> int:
    number = lane.given.whole("lane")
    if number == 0:
        raise FaultError(lane.at, "there is no lane 0", "lanes from the left, from 1")
    return number


def _reference(call: ActionCall, name: str, modifier: ModifierCall, signs: Mapping[str, int]) -> tuple[str, int]:
    """The actor that a modifier refers to, and the sign of the relation."""
    named = [each for each in signs if modifier.given[each] is not None]
    if len(named) != 1:
        raise FaultError(call.at, f"{name!r} needs one actor to refer to", " or ".join(signs))
    return other_actor(call, name, modifier, named[0]), signs[named[0]]


def other_actor(call: ActionCall, name: str, modifier: ModifierCall, parameter: str) -> str:
    """The actor that a parameter of a modifier names.

    Raises:
        FaultError: it is the one that moves.
    """
    actor = modifier.given.actor(parameter)
    if actor == call.actor:
        raise FaultError(call.at, f"{name!r} of {actor!r} to itself", "another actor")
    return actor

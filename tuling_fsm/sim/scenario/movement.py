"""Movements of vehicles that OpenSCENARIO's default controller moves: it does what the script says and minds nobody.

A movement lasts as long as its `duration`, or that of what it stands in; without either it is over at once and goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.action_types import ActionCall, ActionEffect, ModifierCall
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import (
    Compare,
    Condition,
    Direction,
    DistanceMode,
    Elapsed,
    ManeuverOver,
    PointDistance,
    Relation,
)
from tuling_fsm.sim.scenario.maneuvers import (
    AT_ONCE,
    ApproachSpeed,
    DynamicsDimension,
    DynamicsShape,
    FollowTrajectory,
    ManeuverCommand,
    MeetGap,
    ShiftLane,
    StopManeuver,
    TakeRoute,
    Transition,
)
from tuling_fsm.sim.scenario.relations import beginning, gap, lanes_beside, other_actor
from tuling_fsm.sim.scenario.trajectory_files import read_trajectory_file
from tuling_fsm.sim.scenario.values import FaultError

SPEED_RATE = 3.0
"""At which a speed is gone over to where the script says nothing of it, m/s^2."""
STANDING_RATE = 2.0
LANE_CHANGE_S = 4.0
"""A change of lanes takes this long, or as long as the movement where that is shorter."""
FASTEST = 70.0
"""Where an acceleration that goes on for ever ends, m/s."""
REACHED_M = 10.0
"""The last place of a route is reached within this."""
_SIDES = {"left": 1, "right": -1}
_BY_TRAFFIC = ("speed", "along", "position", "lane")
"""Modifiers that our traffic carries out too ..."""


def needs_controller(call: ActionCall) -> bool:
    """Whether only the default controller does what a movement asks for: our traffic knows places and speeds beside it,
    but neither how something is at the end of a movement nor lanes by their number.
    """
    lane, speed = call.modifiers.get("lane"), call.modifiers.get("speed")
    return (
        bool(call.ending)
        or call.given.get("path") is not None
        or any(name not in _BY_TRAFFIC for name in call.modifiers)
        or (lane is not None and (lane.given["lane"] is not None or lane.given["side_of"] is not None))
        or (speed is not None and _reference_of(speed) is not None)
    )


def move(call: ActionCall) -> ActionEffect:
    """A movement with all that its modifiers say of it.

    Raises:
        FaultError: something in it cannot be carried out.
    """
    begin: list[Command] = []
    placed, speed = beginning(call), _initial_speed(call)
    if placed is not None:
        begin.append(commands.Place(call.actor, placed, speed))
    until: Condition | None = None if call.phase is None else Elapsed(call.phase.longest)
    maneuvers: list[ManeuverCommand] = []
    for name, modifier in call.modifiers.items():
        if name in _HOLDING:
            maneuvers += _HOLDING[name](call, modifier)
    for name, modifier in call.ending.items():
        if name not in _ENDING:
            raise FaultError(modifier.at, f"{name!r} does not state an end", "one of " + ", ".join(_ENDING))
        maneuvers += _ENDING[name](call, modifier)
    maneuvers.sort(key=_is_timed)  # Wherever it stands among the modifiers: its times decide.
    if call.first and speed is not None:
        begin.append(commands.ChangeSpeed(call.actor, speed, math.inf))
    if until is None:
        until = _own_end(call, maneuvers)
    lasting = (ApproachSpeed, FollowTrajectory)
    end = tuple(StopManeuver(each.actor, each.number) for each in maneuvers if isinstance(each, lasting))
    return ActionEffect((*begin, *maneuvers), until, end)


def _is_timed(maneuver: ManeuverCommand) -> bool:
    return isinstance(maneuver, FollowTrajectory) and bool(maneuver.times)


def _own_end(call: ActionCall, maneuvers: list[ManeuverCommand]) -> Condition | None:
    """The end of the way that a movement leads along."""
    for maneuver in maneuvers:
        if isinstance(maneuver, FollowTrajectory):
            return ManeuverOver(call.actor, maneuver.number)
        if isinstance(maneuver, TakeRoute):
            last = PointDistance(call.actor, maneuver.waypoints[-1], Direction.EUCLIDEAN, DistanceMode.REFERENCE_POINTS)
            return Compare(last, Relation.LESS, REACHED_M, call.at)
    return None


def _initial_speed(call: ActionCall) -> float | None:
    """The speed that a movement begins with, if it states one, m/s."""
    speed = call.modifiers.get("speed")
    return None if speed is None or _reference_of(speed) is not None else _given_speed(speed)


def _given_speed(speed: ModifierCall) -> float:
    value = _needed(speed, "speed")
    if value < 0.0:
        raise FaultError(speed.at, "'speed' is below 0", "0 or more")
    return value


def _needed(modifier: ModifierCall, name: str) -> float:
    if modifier.given[name] is None:
        raise FaultError(modifier.at, f"{name!r} is missing", f"{name}: <value>")
    return modifier.given.si(name)


def _reference_of(speed: ModifierCall) -> str | None:
    """The parameter by which a speed is relative to another actor's."""
    return next((name for name in ("faster_than", "slower_than", "same_as") if speed.given[name] is not None), None)


def _seconds(call: ActionCall, modifier: ModifierCall) -> float:
    """How long a movement lasts whose end is asked for."""
    if call.phase is None:
        raise FaultError(modifier.at, "an end that nothing sets a time for", "a duration: <time>")
    # Until it is known which vehicles the default controller moves, what they do lasts as it does in the traffic.
    if not call.phase.is_known and call.actor in call.script.controlled:
        what = "an end whose time is open: what comes before it in the serial has no duration"
        raise FaultError(modifier.at, what, "a duration: <time> of this movement, or of all before it")
    return call.phase.longest


def _rate(value: float) -> Transition:
    return Transition(DynamicsShape.LINEAR, DynamicsDimension.RATE, value)


def _over(seconds: float, shape: DynamicsShape = DynamicsShape.LINEAR) -> Transition:
    return Transition(shape, DynamicsDimension.TIME, seconds)


def _speed(call: ActionCall, speed: ModifierCall) -> list[ManeuverCommand]:
    name = _reference_of(speed)
    if name is not None:
        more = 0.0 if name == "same_as" else _needed(speed, "speed") * (-1.0 if name == "slower_than" else 1.0)
        number, other = call.script.number(), other_actor(call, "speed", speed, name)
        return [ApproachSpeed(call.actor, number, more, _rate(SPEED_RATE), other, continuous=True, forward=True)]
    target = _given_speed(speed)
    return [] if call.first else [ApproachSpeed(call.actor, call.script.number(), target, _rate(SPEED_RATE))]


def _speed_at_end(call: ActionCall, speed: ModifierCall) -> list[ManeuverCommand]:
    if _reference_of(speed) is not None:
        raise FaultError(speed.at, "a relative speed at the end", "speed(<speed>, at: end)")
    target, seconds = _given_speed(speed), _seconds(call, speed)
    return [ApproachSpeed(call.actor, call.script.number(), target, _over(seconds))]


def _position_at_end(call: ActionCall, position: ModifierCall) -> list[ManeuverCommand]:
    actor, ahead = gap(call, position)
    return [MeetGap(call.actor, call.script.number(), actor, ahead, _seconds(call, position))]


def _lane_at_end(call: ActionCall, lane: ModifierCall) -> list[ManeuverCommand]:
    if lane.given["lane"] is not None:
        raise FaultError(lane.at, "the end of a movement by the number of its lane", "lane(same_as: <actor>, at: end)")
    actor, lanes = lanes_beside(call, lane)
    return [_shift(call, lanes, actor, min(_seconds(call, lane), LANE_CHANGE_S))]


def _shift(call: ActionCall, lanes: int, reference: str, seconds: float) -> ShiftLane:
    dynamics = _over(seconds, DynamicsShape.SINUSOIDAL)
    return ShiftLane(call.actor, call.script.number(), lanes, dynamics, reference, required=True)


def _accelerate(call: ActionCall, modifier: ModifierCall) -> list[ManeuverCommand]:
    rate = _needed(modifier, "acceleration")
    if rate == 0.0:
        return []
    return [ApproachSpeed(call.actor, call.script.number(), FASTEST if rate > 0.0 else 0.0, _rate(abs(rate)))]


def _change_speed(call: ActionCall, modifier: ModifierCall) -> list[ManeuverCommand]:
    """So much more than it drives when the movement begins, linearly over the whole of it."""
    change = _needed(modifier, "speed")
    known = call.phase is not None and call.phase.is_known
    dynamics = _over(_seconds(call, modifier)) if known else _rate(SPEED_RATE)
    return [ApproachSpeed(call.actor, call.script.number(), change, dynamics, call.actor, forward=True)]


def _change_lane(call: ActionCall, modifier: ModifierCall) -> list[ManeuverCommand]:
    if modifier.given["side"] is None:
        raise FaultError(modifier.at, "'change_lane' needs 'side'", "side: left, or side: right")
    lanes = modifier.given.whole("lane_changes") * _SIDES[modifier.given.member("side")]
    seconds = LANE_CHANGE_S if call.phase is None else min(call.phase.longest, LANE_CHANGE_S)
    return [_shift(call, lanes, call.actor, seconds)]


def _along(call: ActionCall, modifier: ModifierCall) -> list[ManeuverCommand]:
    if modifier.given["route"] is None:
        raise FaultError(modifier.at, "'along' needs 'route'", "map.create_route([...]) or map.create_path([...])")
    way = modifier.given.waypoints("route")
    if not way.placements:
        raise FaultError(modifier.at, f"a {way.type} without places", "one place or more")
    if way.type == "route":
        return [TakeRoute(call.actor, call.script.number(), way.placements)]
    return [FollowTrajectory(call.actor, call.script.number(), way.placements)]


def _follow_trajectory(call: ActionCall, modifier: ModifierCall) -> list[ManeuverCommand]:
    trajectory = read_trajectory_file(call, modifier)
    return [FollowTrajectory(call.actor, call.script.number(), trajectory.points, trajectory.times)]


def _keep(call: ActionCall, modifier: ModifierCall) -> list[ManeuverCommand]:
    """Speed and lane stay as they are by themselves."""
    return []


_HOLDING: dict[str, Callable[[ActionCall, ModifierCall], list[ManeuverCommand]]] = {
    "speed": _speed,
    "along": _along,
    "acceleration": _accelerate,
    "change_speed": _change_speed,
    "change_lane": _change_lane,
    "follow_trajectory": _follow_trajectory,
    "keep_lane": _keep,
    "keep_speed": _keep,
}
"""What holds all through a movement."""
_ENDING: dict[str, Callable[[ActionCall, ModifierCall], list[ManeuverCommand]]] = {
    "speed": _speed_at_end,
    "position": _position_at_end,
    "lane": _lane_at_end,
}
"""What holds at its end."""


def _lasting(command: ManeuverCommand) -> ActionEffect:
    actor, number = command.actor, command.number
    return ActionEffect((command,), ManeuverOver(actor, number), (StopManeuver(actor, number),))


def _assign_speed(call: ActionCall) -> ActionEffect:
    target = call.not_below_0("speed")
    if call.first:
        return ActionEffect((commands.ChangeSpeed(call.actor, target, math.inf),))
    return ActionEffect((ApproachSpeed(call.actor, call.script.number(), target, AT_ONCE),))


def _go_over_to_speed(call: ActionCall) -> ActionEffect:
    target, rate = call.not_below_0("target"), abs(call.given.si("rate_peak"))
    if rate == 0.0:
        raise FaultError(call.at, "a change of speed at rate 0 never ends", "another rate_peak")
    shape = DynamicsShape(call.given.member("rate_profile"))
    dynamics = Transition(shape, DynamicsDimension.RATE, rate)
    return _lasting(ApproachSpeed(call.actor, call.script.number(), target, dynamics))


def _stand(call: ActionCall) -> ActionEffect:
    return ActionEffect((ApproachSpeed(call.actor, call.script.number(), 0.0, _rate(STANDING_RATE)),))


def _go_over_to_lane(call: ActionCall) -> ActionEffect:
    lanes = call.given.whole("num_of_lanes") * _SIDES[call.given.member("side")]
    if lanes == 0:
        raise FaultError(call.at, "a change over 0 lanes", "num_of_lanes of 1 or more")
    return _lasting(_shift(call, lanes, call.actor, LANE_CHANGE_S))


def _no_controller(call: ActionCall) -> ActionEffect:
    raise FaultError(
        call.at, f"the script moves {call.actor!r}: it has no other controller", "a vehicle of the traffic"
    )


CONTROLLED: dict[str, Callable[[ActionCall], ActionEffect]] = {
    "drive": move,
    "assign_speed": _assign_speed,
    "change_speed": _go_over_to_speed,
    "remain_stationary": _stand,
    "change_lane": _go_over_to_lane,
    "activate_controller": _no_controller,
}
"""Actions that the default controller carries out otherwise than our traffic does; the rest is alike."""

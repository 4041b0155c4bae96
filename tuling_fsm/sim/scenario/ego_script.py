"""What the script says of the ego: obeyed until it is free, then the planner drives it to the end of its route.

Place and speed of the first instant are how it begins. What a movement asks of it besides is left to the planner, which
is said, and takes the time that the movement does.
"""

from __future__ import annotations

import math

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.action_types import ActionCall, ActionEffect, ModifierCall
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Elapsed
from tuling_fsm.sim.scenario.model import RouteTo, RouteVia, ScriptedRoute
from tuling_fsm.sim.scenario.relations import beginning
from tuling_fsm.sim.scenario.trajectory_files import read_trajectory_file
from tuling_fsm.sim.scenario.values import FaultError, Waypoints

WAY_M = 1000.0
"""How far the ego drives on where the script gives it no route."""
_PLACING = ("lane", "position")


def drive_ego(call: ActionCall) -> ActionEffect:
    """The planner drives the ego: it is told where to, or just to drive.

    Raises:
        FaultError: a path, which is no route; a wrong modifier.
    """
    call.script.ego_driven = True
    asked = (*call.modifiers, *call.ending)
    if call.given.get("path") is None and all(name == "along" for name in asked):
        return _drive(call)
    begin: list[Command] = []
    placed = _place(call)
    if placed is not None and call.first:
        begin.append(placed)
    speed = call.modifiers.get("speed")
    if speed is not None and call.first and speed.given["speed"] is not None:
        begin.append(commands.ChangeSpeed(call.actor, _speed(speed), math.inf))
    _note_rest(call)
    setup = _route(call) if call.first else None
    until = None if call.phase is None else Elapsed(call.phase.longest)
    return ActionEffect(tuple(begin), until, setup=setup)


def _drive(call: ActionCall) -> ActionEffect:
    if "along" not in call.modifiers:
        return ActionEffect((commands.ActivateController(call.actor, True, True),))
    return ActionEffect(setup=_along(call.modifiers["along"]))


def _along(modifier: ModifierCall) -> RouteTo | RouteVia:
    given = modifier.given["route"]
    if not isinstance(given, Waypoints) or given.type != "route":
        raise FaultError(modifier.at, "the ego follows no path", "along(map.create_route([...]))")
    if not given.placements:
        raise FaultError(modifier.at, "a route without places", "one place or more")
    return RouteTo(given.placements[0]) if len(given.placements) == 1 else RouteVia(given.placements)


def _route(call: ActionCall) -> RouteTo | RouteVia | ScriptedRoute | None:
    if "along" in call.modifiers:
        return _along(call.modifiers["along"])
    if "follow_trajectory" in call.modifiers:
        last = read_trajectory_file(call, call.modifiers["follow_trajectory"]).points[-1]
        return ScriptedRoute((last,), WAY_M)
    return None


def _place(call: ActionCall) -> commands.Place | None:
    """Where the movement begins; the first place in the script is where the ego begins if nothing else says so."""
    trajectory = call.modifiers.get("follow_trajectory")
    where = beginning(call) if trajectory is None else read_trajectory_file(call, trajectory).points[0]
    if where is None:
        return None
    call.script.ego_start = call.script.ego_start or where
    return commands.Place(call.actor, where)


def _speed(modifier: ModifierCall) -> float:
    speed = modifier.given.si("speed")
    if speed < 0.0:
        raise FaultError(modifier.at, "'speed' is below 0", "0 or more")
    return speed


def _note_rest(call: ActionCall) -> None:
    """Say what of the movement the planner does its own way."""
    for name, modifier in (*call.modifiers.items(), *call.ending.items()):
        if call.first and name in (*_PLACING, "along") and name not in call.ending:
            continue
        how = "is how the ego begins, then" if call.first and name not in call.ending else "has no effect:"
        call.script.note(modifier.at, f"{name} {how} the planner drives the ego")

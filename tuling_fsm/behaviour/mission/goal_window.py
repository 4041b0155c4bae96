"""How fast to go to be at a place within its window of time and speed.

The car comes to the lane of the place, keeps one speed, and changes it just before the place to that which is asked for
there. In a window that goes on for a while it drives as it would anyhow, but not out of it before its time. It never
goes faster for a window than it would anyhow: a late car comes late.
"""

from __future__ import annotations

import math

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.routing import place_on_route
from tuling_fsm.core.request import RoutePlace
from tuling_fsm.world.mission import GoalWindow

SPEED_MARGIN = 0.5
"""So far inside of the speeds of a window the car aims, m/s."""
SLOWS = 0.75
"""Share of the comfortable deceleration with which the car slows down to the speeds of a window."""
SLOWS_BEFORE_S = 0.5
"""So long before the time of a window begins, s, the car means to be as slow as it asks for: brakes take a while."""
OFF_ROUTE_M = 5.0
"""A place farther than this from the route is not on the way, m."""
LEAST = 1.0
"""For no window the car drives more slowly, m/s: it does not stand on the road to let time go by."""


def window_speed(view: BehaviourView) -> float:
    """The speed limit that the mission's window puts on the way to its place, m/s; inf without one, or past it.

    A window with a length holds the car back no more than to be in it still when its time begins, and as slow as it
    asks for by then.
    """
    window, stretch = _window(view), _stretch(view)
    if window is None or stretch is None:
        return math.inf
    vehicle, v, elapsed_s = view.context.vehicle, view.world.ego.v, view.memory.mission.elapsed_s
    left_s = (window.time_s[0] if window.length > 0.0 else 0.5 * sum(window.time_s)) - elapsed_s
    if left_s <= 0.0:
        return math.inf if window.length == 0.0 or elapsed_s > window.time_s[1] else _fastest(window)
    left_m = stretch[1] - _here(view)
    kept = paced(left_m, left_s, _passing(window, v), vehicle.max_accel, vehicle.comfort_decel)
    if window.length == 0.0:
        return kept
    slows_s = max(left_s - SLOWS_BEFORE_S, 0.0)
    return min(kept, _fastest(window) + SLOWS * vehicle.comfort_decel * slows_s)


def window_place(view: BehaviourView) -> RoutePlace | None:
    """The window's place on the route; None without one, past it, or when its time is over."""
    stretch, window, route = _stretch(view), _window(view), view.memory.routing.route
    if window is None or stretch is None or route is None or view.memory.mission.elapsed_s > window.time_s[1]:
        return None
    there = route.reference.at(stretch[0])
    return RoutePlace(stretch[0], there.x, there.y, window.offset, stretch[1] - stretch[0])


def _stretch(view: BehaviourView) -> tuple[float, float] | None:
    """Arc lengths (m) on the route between which the car is in the window; None without one, or past all of it."""
    window, route = _window(view), view.memory.routing.route
    if window is None or route is None or not view.world.localized:
        return None
    here = _here(view)
    there = route.reference.project(window.x, window.y, s_from=here - window.length)
    if abs(there.offset) > OFF_ROUTE_M:
        return None
    whole = there.s, there.s + window.length
    stretch = whole if window.heading is None else route.reference.heading_between(whole, window.heading)
    return None if stretch is None or stretch[1] <= here else stretch


def _fastest(window: GoalWindow) -> float:
    """The highest speed to aim at in a window, m/s."""
    low, high = window.speed
    return high - min(SPEED_MARGIN, 0.5 * (high - low))


def _window(view: BehaviourView) -> GoalWindow | None:
    mission = view.memory.mission.mission
    return None if mission is None else mission.window


def _here(view: BehaviourView) -> float:
    route = view.memory.routing.route
    return 0.0 if route is None else place_on_route(view, route)


def _passing(window: GoalWindow, v: float) -> float:
    """The speed nearest to the present one that the window has in it, m/s."""
    low, high = window.speed
    margin = min(SPEED_MARGIN, 0.5 * (high - low))
    return min(max(v, low + margin), high - margin)


def paced(left_m: float, left_s: float, passing: float, accel: float, decel: float) -> float:
    """The speed v to keep (m/s) for `left_m` to be driven in `left_s`, the last of it in changing to `passing`.

    Where v is below `passing`, left_m = v left_s + (passing - v)^2 / (2 accel); where it is above,
    left_m = v left_s - (v - passing)^2 / (2 decel). Where the time is too short for the way, v is what can be braked to
    `passing`; where the way is too short for the change, `passing`.
    """
    faster = left_m > passing * left_s
    rate = decel if faster else -accel
    half = rate * left_s + passing
    root = half * half - passing * passing - 2.0 * rate * left_m
    if root < 0.0:
        return math.sqrt(passing * passing + 2.0 * decel * left_m) if faster else max(passing, LEAST)
    change = math.sqrt(root)
    return max(LEAST, half - change if faster else half + change)

"""How SUMO's drivers drive. What is not named here is as SUMO has it; names as in its description of vehicle types."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import group, param


@dataclass(frozen=True)
class DriverParameters:
    """A driver that keeps the rules: SUMO's own defaults (car-following model of Krauss, 1998)."""

    tau: float = param(1.0, "s", 0.1, 5.0, "time gap to the leader")
    min_gap: float = param(2.5, "m", 0.2, 10.0, "gap to the leader at standstill")
    speed_factor: float = param(1.0, "", 0.1, 2.0, "share of the speed limit that is driven, on average")
    speed_deviation: float = param(0.1, "", 0.0, 0.5, "standard deviation of that share")
    ignores_foes: float = param(0.0, "", 0.0, 1.0, "probability of ignoring those with the right of way")
    ignored_speed: float = param(0.0, "m/s", 0.0, 50.0, "only those slower than this are ignored")
    minor_gap: float = param(1.0, "s", 0.0, 10.0, "time gap that is thought enough to cross before others")
    red_most: float = param(-1.0, "s", -1.0, 10.0, "a light that is red for less than this is run; -1: none")
    assertive: float = param(1.0, "", 0.1, 20.0, "share of the gap that a change of lanes leaves out (lcAssertive)")


@dataclass(frozen=True)
class RudeDriverParameters(DriverParameters):
    """A driver that takes the right of way, follows closely and runs a fresh red."""

    tau: float = param(0.7, "s", 0.1, 5.0, "time gap to the leader")
    min_gap: float = param(1.0, "m", 0.2, 10.0, "gap to the leader at standstill")
    speed_factor: float = param(1.1, "", 0.1, 2.0, "share of the speed limit that is driven, on average")
    ignores_foes: float = param(1.0, "", 0.0, 1.0, "probability of ignoring those with the right of way")
    ignored_speed: float = param(20.0, "m/s", 0.0, 50.0, "only those slower than this are ignored")
    minor_gap: float = param(0.3, "s", 0.0, 10.0, "time gap that is thought enough to cross before others")
    red_most: float = param(2.0, "s", -1.0, 10.0, "a light that is red for less than this is run; -1: none")
    assertive: float = param(3.0, "", 0.1, 20.0, "share of the gap that a change of lanes leaves out (lcAssertive)")


@dataclass(frozen=True)
class SumoParameters:
    """Traffic of SUMO's; how dense it may be and where it appears is as for the simulator's own."""

    calm: DriverParameters = group(DriverParameters)
    rude: RudeDriverParameters = group(RudeDriverParameters)
    lane_change_time: float = param(3.0, "s", 0.0, 20.0, "time that a lane change takes")
    routes_ahead: int = param(4, "", 2, 50, "a vehicle knows at least so many edges of its way")
    routes_drawn: int = param(12, "", 3, 200, "and is given so many at a time")
    population_period: float = param(0.5, "s", 0.05, 10.0, "vehicles on the road are looked at this often")
    gap: float = param(25.0, "m", 1.0, 1000.0, "road for each vehicle beside its own length, at least")
    spawn_gap: float = param(12.0, "m", 2.0, 100.0, "from a vehicle that appears to the middle of any other, at least")

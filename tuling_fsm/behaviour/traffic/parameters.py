"""Every number of the traffic rules."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import group, param


@dataclass(frozen=True)
class LineParameters:
    """Stop lines of lights and signs."""

    tolerance: float = param(
        0.5, "m", 0.0, 3.0, "the front this far over a line has still arrived at it", clause="USE-3"
    )
    overshoot: float = param(
        3.0, "m", 0.0, 3.5, "a stop that was begun at a line goes on where it ends no farther over it", clause="USE-3"
    )
    arrived: float = param(1.5, "m", 0.2, 5.0, "a stop this near before the line is a stop at it", clause="USE-3")
    stop_sign_wait: float = param(1.0, "s", 0.0, 10.0, "how long to stand at a stop sign", clause="INT-7", live=True)
    green_hold: float = param(0.3, "s", 0.0, 3.0, "green acts after it held this long", clause="USE-4", live=True)
    red_after_go: float = param(
        3.5,
        "m/s^2",
        0.5,
        9.0,
        "after going on at yellow, red still stops the car with up to this braking",
        clause="USE-4",
    )
    hopeless: float = param(
        0.9, "", 0.3, 1.0, "share of the emergency braking beyond which a line cannot be stopped at", clause="INT-2"
    )


@dataclass(frozen=True)
class JunctionParameters:
    """Right of way where no light gives it."""

    horizon: float = param(60.0, "m", 10.0, 200.0, "junctions up to here are looked at", clause="INT-7")
    setback: float = param(0.5, "m", 0.0, 5.0, "stop this far before a junction without a line", clause="INT-7")
    line_reach: float = param(25.0, "m", 1.0, 60.0, "a line this far before a junction belongs to it", clause="INT-7")
    arrival_zone: float = param(6.0, "m", 1.0, 20.0, "a vehicle this near to its line has arrived", clause="INT-7")
    margin_before: float = param(
        0.7, "s", 0.0, 5.0, "free time before the car gets to a conflict", clause="INT-7", live=True
    )
    margin_after: float = param(
        1.2, "s", 0.0, 5.0, "free time after the car has left a conflict", clause="INT-7", live=True
    )
    tie: float = param(1.5, "s", 0.0, 5.0, "vehicles arriving up to this much later count as first", clause="INT-7")
    others_decel: float = param(
        2.5, "m/s^2", 0.5, 6.0, "other vehicles are trusted to brake this hard for the car", clause="INT-7"
    )
    accel: float = param(1.2, "m/s^2", 0.3, 4.0, "how the car gets going, for its own crossing time", clause="INT-7")
    crossing_speed: float = param(6.0, "m/s", 1.0, 20.0, "and how fast it goes across", clause="INT-7")
    patience: float = param(5.0, "s", 0.0, 60.0, "standing this long the car insists on its turn", clause="INT-7")
    passed_over: float = param(
        3.0, "s", 0.5, 60.0, "a vehicle that stands this long at its line is passed", clause="INT-7"
    )
    deadlock: float = param(
        12.0, "s", 1.0, 120.0, "when all vehicles have stood this long the car goes", clause="INT-7"
    )
    clear_hold: float = param(0.3, "s", 0.0, 3.0, "a junction must stay clear this long", clause="USE-1")
    exit_margin: float = param(1.0, "m", 0.0, 10.0, "room to leave behind the car after a junction", clause="INT-7")
    slow: float = param(1.5, "m/s", 0.1, 5.0, "slower vehicles after a junction block its exit", clause="INT-7")
    late_decel: float = param(
        3.0, "m/s^2", 0.5, 6.0, "where stopping takes more than this, the car has entered already", clause="INT-7"
    )
    entry_speed: float = param(
        5.0, "m/s", 0.5, 20.0, "speed at junctions where vehicles may have to be let by", clause="USE-13"
    )


@dataclass(frozen=True)
class PedestrianParameters:
    """Yielding to pedestrians."""

    horizon: float = param(40.0, "m", 5.0, 100.0, "pedestrians up to here are looked at", clause="INT-3")
    gap: float = param(2.0, "m", 0.3, 10.0, "stop this far before a pedestrian", clause="INT-3", live=True)
    crosswalk_gap: float = param(1.0, "m", 0.0, 10.0, "stop this far before a crosswalk", clause="INT-3", live=True)
    lane_width: float = param(3.5, "m", 1.0, 6.0, "width of the adjacent lane", clause="INT-3")
    walking: float = param(0.3, "m/s", 0.05, 2.0, "sideways speed that counts as coming or going", clause="INT-3")
    kerb: float = param(
        1.5, "m", 0.0, 5.0, "a pedestrian this near to a crosswalk, and coming, steps on it", clause="INT-3"
    )
    margin: float = param(
        2.0, "s", 0.0, 10.0, "time between the car and a pedestrian that comes", clause="INT-3", live=True
    )
    standoff: float = param(5.0, "s", 0.5, 60.0, "when both have stood this long the car creeps on", clause="USE-5")
    patience: float = param(
        60.0, "s", 5.0, 600.0, "one who stands in the way this long, as the car does, is gone round", clause="USE-2"
    )
    creep_speed: float = param(1.0, "m/s", 0.1, 3.0, "speed while creeping past", clause="USE-5", live=True)
    hidden_speed: float = param(
        3.0, "m/s", 0.5, 10.0, "speed at a crosswalk that something hides", clause="USE-13", live=True
    )
    hidden_reach: float = param(
        6.0, "m", 1.0, 20.0, "what stands this near before a crosswalk hides it", clause="USE-13"
    )
    hopeless_decel: float = param(
        5.0, "m/s^2", 1.0, 9.0, "no stop for those beside the lane where it would take more", clause="INT-3"
    )


@dataclass(frozen=True)
class StartParameters:
    """Safe to start."""

    reach: float = param(1.5, "m", 0.3, 10.0, "length of the start path before the front bumper", clause="USE-6")
    trigger: float = param(0.5, "m", 0.0, 3.0, "no start with something this near to the start path", clause="USE-6")
    clear: float = param(0.8, "m", 0.0, 3.0, "and not again until it is farther than this", clause="USE-6")
    clear_time: float = param(2.0, "s", 0.0, 10.0, "for this long", clause="USE-6", live=True)
    look_ahead: float = param(1.0, "s", 0.0, 5.0, "how far ahead moving obstacles are followed", clause="USE-6")


@dataclass(frozen=True)
class QueueWallParameters:
    """Vehicles that wait in a lane and could be passed."""

    horizon: float = param(40.0, "m", 5.0, 100.0, "they are looked for up to here", clause="NOR-11")
    gap: float = param(2.5, "m", 0.5, 10.0, "stop this far behind one that waits in line", clause="NOR-11", live=True)
    late_decel: float = param(
        3.5, "m/s^2", 0.5, 9.0, "one that would take harder braking was seen too late", clause="NOR-11"
    )


@dataclass(frozen=True)
class TrafficRuleParameters:
    """All of them."""

    line: LineParameters = group(LineParameters)
    junction: JunctionParameters = group(JunctionParameters)
    pedestrian: PedestrianParameters = group(PedestrianParameters)
    start: StartParameters = group(StartParameters)
    queue: QueueWallParameters = group(QueueWallParameters)

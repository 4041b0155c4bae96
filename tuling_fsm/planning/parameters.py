"""Parameters of `planning`."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import group, param


@dataclass(frozen=True)
class FreeSpaceParameters:
    """How far, how carefully and how smoothly the car maneuvers without lanes."""

    clearance: float = param(
        0.15, "m", 0.0, 1.0, "wished distance to everything; given up in steps where there is no path", clause="SLF-1"
    )
    least_clearance: float = param(
        0.01, "m", 0.001, 0.3, "distance to everything that is never given up", clause="USE-7"
    )
    gear_cost: float = param(2.0, "m", 0.0, 50.0, "length that a change of gear is worth", clause="SLF-1")
    curve_cost: float = param(
        1.0, "m", 0.0, 20.0, "length that a metre at full steering is worth, less by the square at less", clause="SLF-1"
    )
    greed: float = param(3.0, "", 1.0, 10.0, "weight of the estimated rest of the way while searching")
    improve_expansions: int = param(1200, "", 0, 100_000, "expansions spent on a better path after the first")
    search_margin: float = param(12.0, "m", 1.0, 100.0, "how far around start and goal the rear axle may go")
    max_distance: float = param(150.0, "m", 5.0, 500.0, "a goal farther than this is off the map", clause="USE-7")
    steering_speed: float = param(2.0, "m/s", 0.1, 3.0, "speed at which the car would like to turn the wheel")
    accel: float = param(1.0, "m/s^2", 0.1, 3.0, "acceleration and braking while maneuvering")
    gear_hold: float = param(0.2, "s", 0.0, 5.0, "standing time at a change of gear")
    start_overlap: float = param(
        0.1, "m", 0.0, 0.5, "what reaches no deeper into the car at the start is a false measurement", clause="USE-6"
    )
    line_release: float = param(
        6.0, "m", 0.0, 50.0, "how far a line that the car stands on is dropped around it", clause="REG-2"
    )
    wall_gap: float = param(0.3, "m", 0.0, 5.0, "distance at which the car stops before a stop wall")
    row: float = param(0.04, "s", 0.01, 0.05, "time between the rows of a trajectory")


@dataclass(frozen=True)
class ContinuityParameters:
    """When a plan goes on from the previous one instead of from the measured motion."""

    longitudinal: float = param(0.5, "m", 0.0, 3.0, "the car is this near to its plan along the path")
    lateral: float = param(0.3, "m", 0.0, 1.0, "the car is this near to its plan across the path")
    heading: float = param(0.1, "rad", 0.0, 0.5, "the car is this near to its plan in heading")
    speed: float = param(1.0, "m/s", 0.0, 5.0, "the car is this near to its plan in speed")
    max_age: float = param(1.0, "s", 0.1, 10.0, "older plans are not gone on from")


@dataclass(frozen=True)
class LateralParameters:
    """Shapes of the candidates, in offset over arc length of a lane."""

    step: float = param(0.8, "m", 0.2, 2.0, "distance between samples of a lane line")
    smoothing: float = param(1.5, "m", 0.5, 5.0, "length over which a jump in the centre's curvature is spread")
    curvature_share: float = param(0.9, "", 0.5, 1.0, "reference lines use this share of the car's curvature")
    grid: float = param(8.0, "m", 2.0, 40.0, "transitions end at multiples of this along the route", clause="NOR-3")
    transitions: int = param(5, "", 1, 12, "transitions of different length to each end offset", clause="NOR-3")
    shortest: float = param(4.0, "m", 1.0, 20.0, "shortest transition")
    offset: float = param(0.35, "m", 0.0, 1.5, "end offset beside a lane's centre, to either side", clause="NOR-3")
    around: float = param(0.6, "m", 0.2, 3.0, "gap to what a candidate is led around")
    around_tight: float = param(0.3, "m", 0.1, 3.0, "the same where there is little room")
    return_length: float = param(16.0, "m", 6.0, 60.0, "length of the way back behind what was led around")
    max_heading: float = param(1.05, "rad", 0.2, 1.4, "a car turned farther from a lane has no candidate to it")
    bound_slack: float = param(0.1, "m", 0.0, 0.5, "the body may reach this far over a bound", clause="NOR-6")


@dataclass(frozen=True)
class ClearanceParameters:
    """Room around the body."""

    solid: float = param(0.15, "m", 0.0, 1.0, "gap to static things that no path may go below", clause="NOR-4")
    moving: float = param(0.3, "m", 0.0, 2.0, "gap at which the path of a moving vehicle meets ours", clause="NOR-4")
    person: float = param(0.6, "m", 0.0, 2.0, "the same for pedestrians and animals", clause="NOR-4")
    wanted: float = param(0.9, "m", 0.0, 3.0, "smaller gaps cost", live=True)
    slow_speed: float = param(1.5, "m/s", 0.3, 8.0, "speed when passing static things at gap 0", live=True)
    slow_slope: float = param(10.0, "1/s", 0.5, 100.0, "more speed for each metre of gap", live=True)


@dataclass(frozen=True)
class PassingParameters:
    """Speed by the gap to people, to standing vehicles, and to what hides people: linear through two points, on beyond
    the second, level before the first.
    """

    person_near: float = param(
        0.5, "m", 0.0, 1.5, "gap to a person, the first point (Autoware's obstacle_slow_down: 0.2)", clause="USE-15"
    )
    person_near_speed: float = param(1.5, "m/s", 0.5, 8.0, "speed there (Autoware: 2 for what moves)", clause="USE-15")
    person_far: float = param(
        2.0, "m", 1.6, 5.0, "gap to a person, the second point (Autoware: 1.0; Highway Code, rule 163: 2 m and slow)",
        clause="USE-15",
    )  # fmt: skip
    person_far_speed: float = param(8.3, "m/s", 1.0, 30.0, "speed there (Autoware: 8)", clause="USE-15")
    standing_near: float = param(
        0.3, "m", 0.0, 0.7, "gap to a standing vehicle, the first point (Autoware: 0.2)", clause="USE-15"
    )
    standing_near_speed: float = param(
        2.0, "m/s", 0.5, 8.0, "speed there (Apollo's speed_bounds_decider: 2.5, Autoware: 4 for what stands)",
        clause="USE-15",
    )  # fmt: skip
    standing_far: float = param(
        1.0, "m", 0.8, 3.0, "gap to a standing vehicle, the second point: a door opens 0.9 m wide (Apollo: 1.0)",
        clause="USE-15",
    )  # fmt: skip
    standing_far_speed: float = param(
        8.3, "m/s", 1.0, 30.0, "speed there (Autoware: 8, Apollo: 0.6 of the limit)", clause="USE-15"
    )
    hidden_walk: float = param(
        1.5, "m/s", 0.5, 4.0, "speed of one who steps out before a van or bus (Autoware's occlusion_spot: 1.5)",
        clause="USE-15",
    )  # fmt: skip
    hidden_delay: float = param(0.3, "s", 0.0, 2.0, "time before the car brakes for that one", clause="USE-15")
    hidden_speed: float = param(
        3.0, "m/s", 0.5, 15.0, "speed that is slow enough where people may step out, whatever the gap",
        clause="USE-15",
    )  # fmt: skip
    hiding_length: float = param(
        5.4, "m", 3.0, 20.0, "a car as long as this hides people as trucks and buses do", clause="USE-15"
    )


@dataclass(frozen=True)
class SpeedParameters:
    """The speed profile along a path."""

    horizon: float = param(
        7.0, "s", 4.0, 10.0, "length of a trajectory, at least `max_speed / emergency_decel` of the vehicle"
    )
    gain: float = param(1.4, "1/s", 0.3, 4.0, "how fast the speed follows what is allowed")
    stop_jerk: float = param(1.5, "m/s^3", 0.3, 10.0, "jerk at the end of a stop")
    hard_jerk: float = param(25.0, "m/s^3", 5.0, 200.0, "jerk of braking that comfort does not suffice for")
    steer_share: float = param(0.85, "", 0.2, 1.0, "share of the steering rate that a path may use")
    line_gap: float = param(0.12, "m", 0.05, 2.0, "front bumper stops this far before a stop wall", clause="INT-2")
    obstacle_gap: float = param(4.0, "m", 0.5, 10.0, "stop before a static obstacle, with room to pull out")
    end_gap: float = param(0.8, "m", 0.2, 5.0, "stop before the end of a lane, and least gap to an obstacle")
    merge_gap: float = param(
        8.0,
        "m",
        0.2,
        30.0,
        "stop before the end of a lane beside the route's, with room to change lanes; twice this before a solid line",
        clause="NOR-3",
    )
    headway: float = param(1.2, "s", 0.3, 4.0, "time gap to a leader", live=True)
    standstill_gap: float = param(2.5, "m", 0.5, 10.0, "gap to a standing leader", live=True)
    crossing_gap: float = param(1.5, "m", 0.3, 5.0, "stop before the path of a crossing object", live=True)
    gap_time: float = param(2.0, "s", 0.5, 6.0, "time constant of closing up to a leader")
    pass_ahead: float = param(1.2, "s", 0.2, 5.0, "an object that comes later than this behind us is not waited for")
    start_room: float = param(0.4, "m", 0.0, 2.0, "a standing car starts for no less than this", clause="USE-3")
    crossing_start_room: float = param(
        2.0, "m", 0.0, 10.0, "and for no less than this while something crosses ahead", clause="USE-3"
    )  # fmt: skip
    blocked: float = param(1.0, "m", 0.1, 10.0, "a plan that gets no farther is no way on", clause="NOR-7")


@dataclass(frozen=True)
class ChoiceParameters:
    """Costs of a candidate, in metres of progress (NOR-5)."""

    horizon: float = param(5.0, "s", 2.0, 7.0, "progress is measured after this time", clause="NOR-5")
    lane: float = param(4.0, "m", 0.0, 50.0, "for each lane beside the route's own", clause="NOR-5", live=True)
    switch: float = param(1.5, "m", 0.0, 50.0, "to go to another lane than before", clause="NOR-5", live=True)
    shift: float = param(0.2, "1/m", 0.0, 50.0, "distance from the previous path, squared", clause="NOR-5", live=True)
    offset: float = param(0.3, "1/(m s)", 0.0, 50.0, "distance from the lane's centre, squared, by time", live=True)
    jerk: float = param(0.02, "s^5/m", 0.0, 5.0, "lateral jerk, squared, by time", clause="NOR-5", live=True)
    clearance: float = param(3.0, "m", 0.0, 50.0, "no clearance left", clause="NOR-5", live=True)
    speeds: int = param(
        11, "", 0, 15, "lower speeds on each path beside that of the car-following model", clause="NOR-5"
    )
    braking: float = param(4.0, "s^3/m", 0.0, 50.0, "braking, squared, by time", clause="NOR-5", live=True)
    regain: float = param(
        1.0, "", 0.0, 10.0, "way that getting up to speed again costs, at full acceleration", live=True
    )
    ease: float = param(0.25, "", 0.0, 1.0, "share of what a lower speed saves on a path that counts among paths")
    lane_end: float = param(15.0, "m", 0.0, 100.0, "in a lane that ends at the car, or is blocked there", live=True)
    window: float = param(40.0, "m", 0.0, 200.0, "in another lane than a mission's window, beside its place", live=True)
    foresight: float = param(80.0, "m", 10.0, 300.0, "the same in a lane that ends this far ahead costs nothing")


@dataclass(frozen=True)
class CheckParameters:
    """Limits of the independent check (SAF-2)."""

    curvature: float = param(1.03, "", 1.0, 2.0, "share of the car's curvature", clause="SAF-2")
    steer_rate: float = param(1.25, "", 1.0, 3.0, "share of the car's steering rate", clause="SAF-2")
    accel: float = param(1.3, "", 1.0, 3.0, "share of the car's acceleration and emergency braking", clause="SAF-2")
    lateral: float = param(2.0, "", 1.0, 10.0, "share of the car's lateral acceleration", clause="SAF-2")
    jerk: float = param(2.5, "", 1.0, 20.0, "share of the car's jerk while not braking hard", clause="SAF-2")
    brake_jerk: float = param(80.0, "m/s^3", 5.0, 1000.0, "jerk of hard braking", clause="SAF-2")
    speed: float = param(0.4, "m/s", 0.0, 5.0, "above a speed limit that the plan does not brake for", clause="SAF-2")
    predicted: float = param(3.0, "s", 0.2, 6.0, "collisions with predictions count up to here", clause="SAF-2")
    contact: float = param(0.15, "m", 0.0, 0.5, "what touches at the start may not come closer by this", clause="SAF-2")
    start: float = param(
        0.6, "m", 0.1, 5.0, "a plan begins this near to the measured car, along and across", clause="SAF-5"
    )
    start_heading: float = param(0.25, "rad", 0.05, 1.0, "and turned from it by no more than this", clause="SAF-5")
    position: float = param(
        0.1, "m", 0.01, 1.0, "a row may be this far from where speed and heading lead", clause="SAF-2"
    )
    heading: float = param(0.02, "rad", 0.005, 1.0, "and turned so far from where the curvature leads", clause="SAF-2")
    speed_change: float = param(
        0.75,
        "",
        0.5,
        2.0,
        "share of emergency braking by which speeds may differ from the acceleration",
        clause="SAF-2",
    )


@dataclass(frozen=True)
class FallbackParameters:
    """The ladder of stops (USE-11)."""

    rest: float = param(0.5, "s", 0.0, 5.0, "the last valid plan is driven on for this long", clause="SAF-1")
    comfort: float = param(3.0, "s", 0.0, 20.0, "then this long a comfortable stop", clause="SAF-1")
    release: float = param(
        0.5, "s", 0.05, 20.0, "a stop is let go where every plan has been valid for this long",
        clause="USE-11", live=True,
    )  # fmt: skip


@dataclass(frozen=True)
class ManeuverParameters:
    """Driving a free-space path that was found once (USE-8)."""

    off_path: float = param(0.5, "m", 0.05, 2.0, "a car farther from its path needs another")
    off_heading: float = param(0.2, "rad", 0.02, 1.0, "a car turned farther from its path needs another")
    patience: float = param(
        30.0, "s", 0.0, 600.0, "before it begins, oncoming vehicles are let pass for this long",
        clause="SLF-1", live=True,
    )  # fmt: skip
    cusp: float = param(
        0.05, "m", 0.01, 0.5, "a stretch is driven when this little of it is left, at most half", clause="USE-8"
    )
    retry: float = param(
        0.5, "s", 0.0, 10.0, "what was searched for in vain is searched for again after this, or after a change",
        clause="USE-9", live=True,
    )  # fmt: skip


@dataclass(frozen=True)
class RssParameters:
    """What may be assumed of every road user."""

    response: float = param(0.5, "s", 0.05, 3.0, "no road user reacts before this time", live=True)
    accel: float = param(1.5, "m/s^2", 0.0, 6.0, "hardest acceleration during the response time", live=True)
    brake: float = param(4.0, "m/s^2", 0.5, 10.0, "a vehicle that has to brake brakes at least this hard", live=True)
    brake_hardest: float = param(6.0, "m/s^2", 0.5, 12.0, "no vehicle ahead brakes harder than this", live=True)
    lateral_accel: float = param(0.5, "m/s^2", 0.0, 4.0, "hardest lateral acceleration while not reacting", live=True)
    lateral_brake: float = param(0.8, "m/s^2", 0.1, 6.0, "lateral speed is braked at least this hard", live=True)
    lateral_margin: float = param(0.1, "m", 0.0, 1.0, "lateral movement that means nothing", live=True)


@dataclass(frozen=True)
class RecoveryParameters:
    """How the tracker brings the car back to its path."""

    length: float = param(
        1.8, "m", 0.3, 20.0, "a lateral error decays over this distance, standing still", clause="SAF-2"
    )
    time: float = param(0.45, "s", 0.0, 5.0, "what that distance grows by per m/s of speed", clause="SAF-2")


@dataclass(frozen=True)
class PlanningParameters:
    """All parameters of planning."""

    continuity: ContinuityParameters = group(ContinuityParameters)
    lateral: LateralParameters = group(LateralParameters)
    clearance: ClearanceParameters = group(ClearanceParameters)
    passing: PassingParameters = group(PassingParameters)
    speed: SpeedParameters = group(SpeedParameters)
    rss: RssParameters = group(RssParameters)
    choice: ChoiceParameters = group(ChoiceParameters)
    check: CheckParameters = group(CheckParameters)
    fallback: FallbackParameters = group(FallbackParameters)
    maneuver: ManeuverParameters = group(ManeuverParameters)
    recovery: RecoveryParameters = group(RecoveryParameters)
    free_space: FreeSpaceParameters = group(FreeSpaceParameters)

"""Every number of the room `behaviour`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuling_fsm.behaviour.intersection.parameters import IntersectionParameters
from tuling_fsm.behaviour.mission.parameters import MissionParameters
from tuling_fsm.behaviour.parking.parameters import ParkingParameters
from tuling_fsm.behaviour.temporary_stop.parameters import StopParameters
from tuling_fsm.behaviour.traffic.parameters import TrafficRuleParameters
from tuling_fsm.core.parameters import group, param, refuse_above


@dataclass(frozen=True)
class SwitchingParameters:
    """When a transition may fire. They are built into the tables, so a change needs a new start."""

    dwell: float = param(
        0.3, "s", 0.0, 5.0, "a guard must hold this long, where its row says nothing else", clause="DWELL-1"
    )
    min_dwell: float = param(0.5, "s", 0.0, 5.0, "a state is kept at least this long", clause="DWELL-2")
    max_gap: float = param(1.0, "s", 0.1, 60.0, "a longer step between ticks is a jump of time", clause="DWELL-5")
    deadline: float = param(
        60.0, "s", 5.0, 600.0, "a maneuvering state is left after this long at the latest", clause="USE-2"
    )
    flap_window: float = param(
        3.0, "s", 0.5, 60.0, "two returns to a state within this time are flapping", clause="USE-1"
    )


@dataclass(frozen=True)
class RouteParameters:
    """Asking the route server, and taking what it answers."""

    backoff_first: float = param(
        1.0, "s", 0.1, 30.0, "wait after the first failure; doubles with each more", clause="DEP-2"
    )
    backoff_max: float = param(5.0, "s", 0.1, 120.0, "longest wait between two questions", clause="DEP-2")
    answer_timeout: float = param(2.0, "s", 0.1, 60.0, "an answer is late after this", clause="DEP-2", live=True)
    refresh_period: float = param(
        10.0, "s", 1.0, 600.0, "between two questions for the current route", clause="RRF-1", live=True
    )
    same_direction: float = param(
        math.pi / 2.0,
        "rad",
        0.1,
        math.pi,
        "routes that differ less at the car run the same way",
        clause="RRF-2",
        live=True,
    )
    switch_wait: float = param(
        20.0,
        "s",
        0.0,
        600.0,
        "wait before the third switch of the route in a row; doubles with each more",
        clause="RRF-2",
        live=True,
    )
    switch_wait_max: float = param(
        320.0, "s", 0.0, 3600.0, "longest wait before another switch", clause="RRF-2", live=True
    )
    turn_expansions: int = param(2_000, "", 100, 200_000, "size of the search for a way to turn round", clause="RRF-2")
    turn_period: float = param(1.0, "s", 0.1, 60.0, "between two of those searches", clause="RRF-2", live=True)
    turn_round_reach: float = param(
        15.0,
        "m",
        2.0,
        50.0,
        "an opposite route this near, with nothing between, can be turned to",
        clause="RRF-2",
        live=True,
    )
    arrived: float = param(
        2.0, "m", 0.2, 20.0, "a car standing this near to the route's end has arrived", clause="NOR-10", live=True
    )
    replan_attempts: int = param(3, "", 1, 20, "questions for a way round a block before giving up", clause="RPL-3")
    blocked_ahead: float = param(
        20.0, "m", 2.0, 200.0, "length of route reported as blocked", clause="RPL-1", live=True
    )


@dataclass(frozen=True)
class EmergencyParameters:
    """The remote emergency stop's link."""

    silence: float = param(0.5, "s", 0.05, 10.0, "an armed link silent for longer is a stop", clause="EST-3", live=True)
    required: bool = param(False, doc="armed from activation on, not only after the first message", clause="EST-3")


@dataclass(frozen=True)
class RadarParameters:
    """Driving by radar and history map, in rain and fog."""

    enter_dwell: float = param(0.3, "s", 0.0, 5.0, "rain or fog reported this long switches to them", clause="RFG-1")
    leave_dwell: float = param(5.0, "s", 0.0, 120.0, "none reported this long switches back", clause="RFG-1")
    speed: float = param(20.0 / 3.6, "m/s", 1.0, 30.0, "speed limit meanwhile", clause="RFG-1", live=True)
    covers_rear: bool = param(False, doc="the radar looks back, so that the car may reverse", clause="RFG-1", live=True)


@dataclass(frozen=True)
class RegressionParameters:
    """The way back to the reference road."""

    target: float = param(
        20.0,
        "m",
        5.0,
        100.0,
        "target along the route, from the point nearest to the car; at most `target_max`",
        clause="REG-1",
    )
    target_step: float = param(5.0, "m", 1.0, 20.0, "an occupied target moves on by this", clause="REG-1")
    target_max: float = param(60.0, "m", 5.0, 200.0, "and no farther than this", clause="REG-1")
    lines_ahead: float = param(
        10.0, "m", 1.0, 50.0, "solid lines up to here ahead of the car are lifted", clause="REG-2"
    )
    swing_out: float = param(
        0.5, "m", 0.0, 2.0, "the body may reach so far over the line to the oncoming traffic", clause="REG-2"
    )
    done_heading: float = param(
        math.radians(30.0), "rad", 0.05, 1.5, "back when heading within this of the route", clause="REG-3"
    )
    off_heading: float = param(
        math.radians(60.0), "rad", 0.1, 3.0, "lost when heading more than this off", clause="NOR-9", live=True
    )

    def __post_init__(self) -> None:
        refuse_above("target", self.target, "target_max", self.target_max, "m")


@dataclass(frozen=True)
class FreeDrivingParameters:
    """Free-space driving in all states that use it."""

    speed: float = param(2.5, "m/s", 0.3, 8.0, "speed limit of free-space driving", clause="SLF-1", live=True)
    expansions: int = param(10_000, "", 100, 200_000, "size of a search", clause="SLF-1", live=True)
    confirm: float = param(0.3, "s", 0.0, 5.0, "an attempt has failed when it fails this long", clause="USE-9")
    target_min: float = param(
        15.0, "m", 5.0, 60.0, "nearest target along the lanes, at most `target_max`", clause="SLF-1"
    )
    target_max: float = param(40.0, "m", 5.0, 80.0, "farthest target along the lanes", clause="SLF-1")
    attempts: int = param(4, "", 1, 20, "targets that are tried before there is no path", clause="SLF-3")
    reached: float = param(1.0, "m", 0.2, 5.0, "a target this near is reached", clause="SLF-1")
    clearance: float = param(
        0.2, "m", 0.0, 2.0, "a free place has this much room around the car's outline", clause="REG-1"
    )
    radius: float = param(80.0, "m", 20.0, 200.0, "lane markings up to here hold", clause="REG-2")
    probe_period: float = param(
        0.2, "s", 0.0, 5.0, "how often the forward planner is asked for a way out", clause="SLF-2"
    )
    queue_reach: float = param(
        15.0, "m", 2.0, 60.0, "behind a queue this near ahead the car stands", clause="NOR-11", live=True
    )
    way_out: float = param(5.0, "m", 0.5, 50.0, "a plan that gets this far is a way out", clause="SLF-2", live=True)

    def __post_init__(self) -> None:
        refuse_above("target_min", self.target_min, "target_max", self.target_max, "m")


@dataclass(frozen=True)
class NormalParameters:
    """Driving along the lanes."""

    no_progress: float = param(
        10.0, "s", 1.0, 120.0, "less progress than `progress` for this long is a failure", clause="NOR-7"
    )
    junction_patience: float = param(
        60.0, "s", 1.0, 600.0, "the same while waiting at a stop sign or for a free junction", clause="INT-4"
    )
    progress: float = param(1.0, "m", 0.1, 20.0, "what counts as progress", clause="NOR-7", live=True)


@dataclass(frozen=True)
class ExploreParameters:
    """Finding a way where there is none."""

    reach: float = param(10.0, "m", 3.0, 30.0, "targets lie within this", clause="EXP-1")
    speed: float = param(5.0 / 3.6, "m/s", 0.2, 3.0, "speed limit", clause="EXP-3", live=True)
    timeout: float = param(30.0, "s", 1.0, 600.0, "time localized in this state, added up over visits", clause="EXP-4")
    timeouts: int = param(3, "", 1, 10, "this time-out parks the car", clause="EXP-4")
    probe_period: float = param(1.0, "s", 0.1, 10.0, "how often a path to the route is tried", clause="EXP-2")
    probe_expansions: int = param(5000, "", 100, 100_000, "size of that search", clause="EXP-2")


@dataclass(frozen=True)
class BehaviourParameters:
    """All of them."""

    switching: SwitchingParameters = group(SwitchingParameters)
    route: RouteParameters = group(RouteParameters)
    estop: EmergencyParameters = group(EmergencyParameters)
    radar: RadarParameters = group(RadarParameters)
    regression: RegressionParameters = group(RegressionParameters)
    free: FreeDrivingParameters = group(FreeDrivingParameters)
    normal: NormalParameters = group(NormalParameters)
    intersection: IntersectionParameters = group(IntersectionParameters)
    explore: ExploreParameters = group(ExploreParameters)
    mission: MissionParameters = group(MissionParameters)
    stop: StopParameters = group(StopParameters)
    parking: ParkingParameters = group(ParkingParameters)
    traffic: TrafficRuleParameters = group(TrafficRuleParameters)

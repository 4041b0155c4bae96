"""Every number of the simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import group, param


@dataclass(frozen=True)
class SteppingParameters:
    """Fixed-step lock-step: one frame answers one plan, physics runs in equal sub-steps of it."""

    fixed_delta: float = param(0.05, "s", 0.005, 0.5, "length of a frame", clause="SIM-1")
    max_substep_delta: float = param(0.01, "s", 0.001, 0.05, "longest physics sub-step", clause="SIM-1")
    max_substeps: int = param(10, "", 1, 100, "most sub-steps in a frame", clause="SIM-1")

    def substeps(self, delta: float) -> int:
        """Physics sub-steps in a frame of `delta` s.

        Raises:
            InputError: the frame does not fit into the sub-steps that are allowed (SIM-1).
        """
        most = self.max_substep_delta * self.max_substeps
        if not 0.0 < delta <= most + 1e-12:
            raise InputError(
                "stepping.fixed_delta",
                f"{delta:g} s is not within max_substep_delta * max_substeps",
                f"more than 0 and at most {most:g} s",
            )
        return max(math.ceil(delta / self.max_substep_delta - 1e-9), 1)


@dataclass(frozen=True)
class DynamicsParameters:
    """How the simulated car answers its commands; its shape and comfort limits come from the vehicle."""

    steer_lag: float = param(0.12, "s", 0.0, 1.0, "time constant of the steering")
    drive_lag: float = param(0.15, "s", 0.0, 1.0, "time constant of throttle and brake")
    max_drive_accel: float = param(3.0, "m/s^2", 0.5, 8.0, "strongest acceleration of the motor")
    max_brake_decel: float = param(9.0, "m/s^2", 2.0, 12.0, "strongest braking")


@dataclass(frozen=True)
class TrackerParameters:
    """Gains of the trajectory tracker."""

    decay_length: float = param(1.8, "m", 0.3, 20.0, "distance over which a lateral error decays, standing still")
    decay_time: float = param(0.45, "s", 0.0, 5.0, "what that distance grows by per m/s of speed")
    damping: float = param(1.0, "", 0.3, 3.0, "damping ratio of the lateral error")
    speed_gain: float = param(2.0, "1/s", 0.0, 10.0, "acceleration per speed error")
    position_gain: float = param(1.0, "1/s^2", 0.0, 10.0, "acceleration per error of position along the path")
    max_correction: float = param(2.0, "m/s^2", 0.1, 8.0, "largest feedback part of the acceleration")
    standstill_speed: float = param(0.08, "m/s", 0.0, 1.0, "below it the brake holds when the plan stands")


@dataclass(frozen=True)
class TrafficManagerParameters:
    """How the population drives (Intelligent Driver Model, [treiber2000][])."""

    limit_share: float = param(0.7, "", 0.05, 2.0, "share of the speed limit that is driven", clause="TM-2")
    limit_spread: float = param(0.08, "", 0.0, 0.5, "half-width of that share's spread over the vehicles")
    max_accel: float = param(1.6, "m/s^2", 0.2, 5.0, "acceleration")
    comfort_decel: float = param(2.0, "m/s^2", 0.3, 6.0, "comfortable braking")
    max_decel: float = param(8.0, "m/s^2", 1.0, 12.0, "strongest braking")
    headway: float = param(1.4, "s", 0.3, 5.0, "time gap to the leader")
    standing_gap: float = param(2.0, "m", 0.5, 20.0, "gap to the leader at standstill", clause="TM-2")
    lateral_accel: float = param(1.8, "m/s^2", 0.3, 6.0, "lateral acceleration in bends")
    side_clearance: float = param(0.25, "m", 0.0, 2.0, "half-width of the watched corridor beyond the own half-width")
    prediction: float = param(3.0, "s", 0.0, 10.0, "how far the motion of people and of the ego is predicted")
    patience: float = param(15.0, "s", 1.0, 600.0, "wait at a free junction after which its queue is ignored")
    removal_time: float = param(
        120.0, "s", 10.0, 3600.0, "standing for no light this long, out of sight, it is taken off"
    )
    respawn_distance: float = param(
        60.0, "m", 20.0, 2000.0, "from the ego, at least, to a respawned vehicle", clause="TM-3"
    )
    start_clearance: float = param(15.0, "m", 0.0, 200.0, "from the ego's start, at least, to a spawned vehicle")
    route_clearance: float = param(
        20.0, "m", 0.0, 500.0, "first stretch of the ego's route that is kept free of spawns"
    )
    lane_change_time: float = param(4.0, "s", 0.5, 20.0, "time that a lane change takes")
    auto_lane_change: bool = param(True, doc="vehicles change lanes to get past slow ones", clause="TM-2")
    hybrid_physics: bool = param(True, doc="only vehicles near the ego have dynamics", clause="TM-3")
    hybrid_radius: float = param(50.0, "m", 0.0, 10000.0, "vehicles within this of the ego have them", clause="TM-3")
    sleep_distance: float = param(2000.0, "m", 50.0, 100000.0, "vehicles farther from the ego sleep", clause="TM-3")
    respawn_sleepers: bool = param(False, doc="sleepers come back near the ego", clause="TM-3")
    respawn_nearest: float = param(25.0, "m", 20.0, 10000.0, "from the ego, at least, to where they do", clause="TM-3")
    respawn_farthest: float = param(700.0, "m", 30.0, 100000.0, "and at most", clause="TM-3")


@dataclass(frozen=True)
class PedestrianPopulationParameters:
    """How the population of pedestrians walks."""

    speed: float = param(1.3, "m/s", 0.2, 4.0, "mean walking speed")
    speed_spread: float = param(0.25, "", 0.0, 0.9, "half-width of the speed's spread")
    crossing_share: float = param(0.3, "", 0.0, 1.0, "share of passed crosswalks that are crossed")
    safe_time: float = param(3.0, "s", 0.0, 20.0, "pedestrians wait when a vehicle could be there this soon")
    red_share: float = param(0.0, "", 0.0, 1.0, "share of crossings that are begun on a red light")
    run_out_share: float = param(0.0, "", 0.0, 1.0, "share of crossings that are run over without a look")
    run_out_rate: float = param(0.0, "1/s", 0.0, 10.0, "how often a pedestrian runs across the road from anywhere")
    run_speed: float = param(3.0, "m/s", 0.5, 8.0, "speed of pedestrians that run out")
    perturbation: float = param(
        0.01, "m/s", 0.0, 0.5, "random part of the preferred velocity; settles which one steps aside", clause="ORCA-1"
    )


@dataclass(frozen=True)
class LightParameters:
    """Phases of the traffic lights."""

    green_min: float = param(12.0, "s", 1.0, 300.0, "shortest green")
    green_max: float = param(15.0, "s", 1.0, 300.0, "longest green")
    yellow: float = param(3.0, "s", 0.5, 20.0, "yellow")
    all_red: float = param(2.0, "s", 0.0, 20.0, "red for all between two phases")


@dataclass(frozen=True)
class FaultParameters:
    """What is wrong with one sensor."""

    noise: float = param(0.0, "m", 0.0, 10.0, "standard deviation of positions (and of velocities, in m/s)")
    latency: float = param(0.0, "s", 0.0, 10.0, "a message comes this long after its stamp")
    drop_out: float = param(
        0.0, "", 0.0, 1.0, "share of the rows of a table, or of messages without rows, that is missing"
    )
    occlusion: bool = param(False, doc="objects that stand wholly behind others are not seen")


@dataclass(frozen=True)
class TrackingErrorParameters:
    """What a tracker of objects gets wrong, beside the faults of its sensors."""

    ghosts: float = param(0.0, "1/s", 0.0, 10.0, "how often an object is seen where nothing is")
    splits: float = param(0.0, "1/s", 0.0, 10.0, "how often a long object is seen as two, each object")
    id_changes: float = param(0.0, "1/s", 0.0, 10.0, "how often an object gets another id, each object")


@dataclass(frozen=True)
class SensorParameters:
    """What the ego is told of the world."""

    range: float = param(120.0, "m", 5.0, 1000.0, "objects are seen up to this distance")
    lidar_range: float = param(1000.0, "m", 5.0, 1000.0, "by the lidar no farther than this")
    radar_range: float = param(1000.0, "m", 5.0, 1000.0, "by the radar no farther than this")
    camera_range: float = param(1000.0, "m", 5.0, 1000.0, "by the camera no farther than this")
    slot_range: float = param(30.0, "m", 1.0, 200.0, "parking spaces are seen up to this distance")
    light_range: float = param(1e6, "m", 5.0, 1e6, "traffic lights are seen up to this distance")
    light_view: float = param(
        math.pi, "rad", 0.1, math.pi, "and up to this angle to either side of straight ahead", clause="INT-2"
    )
    lost_position_std: float = param(10.0, "m", 0.5, 1000.0, "standard deviation reported while localization is lost")
    lost_speed_error: float = param(0.01, "", 0.0, 0.2, "while it is lost speed is reckoned too high by this share")
    lost_yaw_rate_error: float = param(
        0.001, "rad/s", 0.0, 0.1, "while it is lost the yaw rate is reckoned too high by this"
    )
    route_latency: int = param(3, "frames", 1, 1000, "answers of the route server come this much later")
    odometry_faults: FaultParameters = group(FaultParameters)
    objects_faults: FaultParameters = group(FaultParameters)
    lane_lines_faults: FaultParameters = group(FaultParameters)
    traffic_lights_faults: FaultParameters = group(FaultParameters)
    parking_slots_faults: FaultParameters = group(FaultParameters)
    occupancy_faults: FaultParameters = group(FaultParameters)
    lidar_faults: FaultParameters = group(FaultParameters)
    radar_faults: FaultParameters = group(FaultParameters)
    camera_faults: FaultParameters = group(FaultParameters)
    tracking_errors: TrackingErrorParameters = group(TrackingErrorParameters)


@dataclass(frozen=True)
class RefereeParameters:
    """What counts as an infraction. Limits of contacts, edges and comfort are nuPlan's (metric configurations of
    nuplan-devkit 1.2).
    """

    off_road: float = param(0.3, "m", 0.0, 5.0, "a corner this far outside every drivable surface has left the road")
    line: float = param(0.2, "m", 0.0, 5.0, "a footprint this far over a solid line has crossed it")
    stop_line: float = param(0.3, "m", 0.0, 5.0, "a bumper this far over a stop line has passed it")
    stop_zone: float = param(4.0, "m", 0.5, 20.0, "a stop sign is heeded by standing this near before the line")
    standing: float = param(0.1, "m/s", 0.01, 1.0, "below this the car stands")
    stopped: float = param(0.05, "m/s", 0.0, 1.0, "an agent touched while no faster than this was standing")
    lateral_accel: float = param(4.89, "m/s^2", 0.5, 20.0, "comfort limit")
    accel: float = param(2.4, "m/s^2", 0.5, 20.0, "comfort limit")
    decel: float = param(4.05, "m/s^2", 0.5, 20.0, "comfort limit")
    jerk: float = param(4.13, "m/s^3", 0.5, 100.0, "comfort limit along the car")
    jerk_magnitude: float = param(8.37, "m/s^3", 0.5, 100.0, "comfort limit of the whole acceleration")
    yaw_rate: float = param(0.95, "rad/s", 0.05, 10.0, "comfort limit")
    yaw_accel: float = param(1.93, "rad/s^2", 0.05, 20.0, "comfort limit")
    speeding: float = param(1.0, "m/s", 0.0, 20.0, "over the limit by this much is speeding")
    blocked: float = param(60.0, "s", 1.0, 3600.0, "standing this long without a visible reason")
    release: float = param(1.0, "s", 0.0, 60.0, "an infraction must be over for this long before it counts again")


@dataclass(frozen=True)
class EndParameters:
    """When a run ends."""

    goal_distance: float = param(1.5, "m", 0.1, 20.0, "from the route's end to the car that stands there")
    overshoot: float = param(3.0, "m", 0.1, 20.0, "or this much past it")
    goal_time: float = param(1.0, "s", 0.0, 60.0, "for this long")
    slowest: float = param(1.5, "m/s", 0.1, 20.0, "the default time limit is the route at this speed ...")
    reserve: float = param(240.0, "s", 0.0, 36000.0, "... and this")
    after_match: float = param(30.0, "s", 0.0, 600.0, "after the match time, for the car to come to a stop")


@dataclass(frozen=True)
class SimParameters:
    """All of the simulator."""

    stepping: SteppingParameters = group(SteppingParameters)
    dynamics: DynamicsParameters = group(DynamicsParameters)
    tracker: TrackerParameters = group(TrackerParameters)
    traffic: TrafficManagerParameters = group(TrafficManagerParameters)
    pedestrians: PedestrianPopulationParameters = group(PedestrianPopulationParameters)
    lights: LightParameters = group(LightParameters)
    sensors: SensorParameters = group(SensorParameters)
    referee: RefereeParameters = group(RefereeParameters)
    end: EndParameters = group(EndParameters)

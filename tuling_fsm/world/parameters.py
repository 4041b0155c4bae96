"""Every number of the room `world`."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class WorldParameters:
    """Freshness and plausibility of the inputs, the horizon of the view, and the prediction of other road users."""

    odometry_max_age: float = param(0.2, "s", 0.02, 2.0, "older odometry is no odometry", clause="SAF-1")
    objects_max_age: float = param(0.5, "s", 0.05, 5.0, "older object tables are refused", clause="SAF-3")
    occupancy_max_age: float = param(2.0, "s", 0.1, 60.0, "older occupancy grids are refused", clause="SAF-3")
    lights_max_age: float = param(1.0, "s", 0.1, 10.0, "older light states are unknown", clause="INT-2")
    lines_max_age: float = param(0.5, "s", 0.05, 5.0, "older perceived lane lines are refused", clause="SAF-3")
    slots_max_age: float = param(2.0, "s", 0.1, 60.0, "older perceived parking slots are refused", clause="SAF-3")
    future_tolerance: float = param(
        0.05, "s", 0.0, 1.0, "a stamp this far ahead of the tick is still taken", clause="SAF-3"
    )
    max_gap: float = param(
        1.0, "s", 0.1, 60.0, "a longer step between ticks forgets what was tracked", clause="DWELL-5"
    )
    max_position_std: float = param(0.5, "m", 0.01, 10.0, "localized up to this standard deviation", live=True)
    max_heading_std: float = param(0.1, "rad", 0.005, 1.0, "localized up to this standard deviation", live=True)
    line_tolerance: float = param(
        0.3, "m", 0.1, 10.0, "lane lines that are seen farther beside the map's put the pose right", live=True
    )
    min_existence: float = param(0.3, "", 0.0, 1.0, "objects less certain than this are left out", live=True)
    min_light_confidence: float = param(
        0.5, "", 0.0, 1.0, "light states less certain are unknown", clause="INT-2", live=True
    )
    max_coordinate: float = param(
        1.0e7, "m", 1.0e3, 1.0e8, "positions beyond are out of range (UTM northings reach 1e7 m)", clause="SAF-3"
    )
    max_object_speed: float = param(80.0, "m/s", 5.0, 200.0, "faster objects are out of range", clause="SAF-3")
    max_object_size: float = param(60.0, "m", 5.0, 500.0, "longer or wider objects are out of range", clause="SAF-3")
    max_objects: int = param(
        1000, "", 1, 10_000, "rows of the object table that are used, nearest first", clause="SAF-3"
    )
    acceleration_filter: float = param(0.15, "s", 0.0, 2.0, "time constant of the differentiated speed")
    behind: float = param(10.0, "m", 0.0, 50.0, "how far behind the car the lanes begin")
    ahead: float = param(80.0, "m", 20.0, 300.0, "how far ahead the car looks along its route", clause="NOR-3")
    approach_min: float = param(
        10.0, "m", 0.0, 60.0, "lanes are not changed this far before a junction's stop line", clause="NOR-2"
    )
    approach_max: float = param(
        60.0, "m", 5.0, 200.0, "solid lines before a junction count as part of it up to here", clause="NOR-2"
    )
    junction_margin: float = param(
        1.0, "m", 0.0, 10.0, "with less than this besides the car between them, junctions are one", clause="INT-7"
    )
    off_road_margin: float = param(
        0.3, "m", 0.0, 2.0, "this far beside the reference road still counts as on it", clause="NOR-9"
    )
    static_radius: float = param(60.0, "m", 10.0, 300.0, "solid edges are collected this far around the car")
    occupied: int = param(65, "", 1, 100, "occupancy cells from this value on are solid")
    max_static_segments: int = param(
        3000, "", 10, 100_000, "solid edges kept: the nearest of the map, and cells of the grid in blocks"
    )
    moving_speed: float = param(0.5, "m/s", 0.05, 3.0, "faster objects move")
    stopped_leader: float = param(
        20.0, "s", 0.0, 300.0, "one that moved this recently still counts as moving", clause="NOR-7"
    )
    junction_wait: float = param(
        40.0, "s", 0.0, 600.0, "one standing at a free junction waits for its turn, no longer than this", clause="NOR-7"
    )
    queue_gap: float = param(
        12.0, "m", 1.0, 50.0, "one standing this close behind another stands in line", clause="NOR-11"
    )
    queue_creeping: float = param(
        2.0, "m/s", 0.3, 5.0, "one no faster than this is the next of a line behind it", clause="NOR-11"
    )
    queue_kerb: float = param(
        0.9, "m", 0.2, 5.0, "one standing this far outside its lane's middle is parked", clause="NOR-11"
    )
    queue_patience: float = param(
        300.0, "s", 1.0, 3600.0, "a line of which nothing has moved for this long is given up", clause="NOR-11"
    )
    coasting: float = param(
        0.5, "s", 0.0, 3.0, "an object that the table misses goes on for this long, if it was seen for as long",
        clause="USE-9",
    )  # fmt: skip
    track_memory: float = param(3.0, "s", 0.1, 60.0, "an object unseen for longer is forgotten")
    lane_heading: float = param(0.785, "rad", 0.1, 1.57, "an object follows a lane up to this heading difference")
    others_lateral_accel: float = param(3.0, "m/s^2", 0.5, 9.0, "other vehicles take bends no harder than this")
    others_decel: float = param(
        3.0, "m/s^2", 0.5, 9.0, "other vehicles brake this hard for a red light or a bend, no harder"
    )
    follow_gap: float = param(1.0, "m", 0.0, 10.0, "other vehicles stay this far behind their leader")

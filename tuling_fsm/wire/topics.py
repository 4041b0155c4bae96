"""The topics of the planner as data: name, type, direction and quality of service."""

from __future__ import annotations

from dataclasses import dataclass

BOOL = "std_msgs/msg/Bool"
CLOUD = "sensor_msgs/msg/PointCloud2"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
GRID = "nav_msgs/msg/OccupancyGrid"
MARKERS = "visualization_msgs/msg/MarkerArray"
ODOMETRY = "nav_msgs/msg/Odometry"
PATH = "nav_msgs/msg/Path"
STRING = "std_msgs/msg/String"
TRAJECTORY = "trajectory_msgs/msg/MultiDOFJointTrajectory"

MAP_FRAME = "map"
BASE_FRAME = "base_link"
"""The rear axle."""


@dataclass(frozen=True)
class Qos:
    """Quality of service: keep-last of `depth`; `latched` (transient local) serves late subscribers too."""

    reliable: bool = True
    depth: int = 1
    latched: bool = False


@dataclass(frozen=True)
class Topic:
    """One topic, seen from the planner."""

    name: str
    type: str
    qos: Qos
    doc: str


SENSOR = Qos(reliable=False)
RELIABLE = Qos()
LATCHED = Qos(latched=True)

INPUTS = (
    Topic("rain_fog", BOOL, LATCHED, "rain or fog detected"),
    Topic("emergency_stop", BOOL, RELIABLE, "true = stop; silence while armed = stop"),
    Topic("mission", STRING, LATCHED, "tasks, match time, car park (JSON)"),
    Topic("route", PATH, LATCHED, "a pushed reference route"),
    Topic("occupancy", GRID, RELIABLE, "static obstacles"),
    Topic("lane_lines", CLOUD, SENSOR, "perceived lines in base_link"),
    Topic("parking_slots", CLOUD, RELIABLE, "perceived slots"),
    Topic("objects", CLOUD, SENSOR, "tracked objects"),
    Topic("traffic_lights", CLOUD, RELIABLE, "state of the map's signals"),
    Topic("odometry", ODOMETRY, RELIABLE, "pose of the rear axle, body twist, quality; drives the tick"),
)
"""In the order in which a subscriber has to serve them: those without a stamp first, what drives the tick last."""

OUTPUTS = (
    Topic("route_blocked", PATH, LATCHED, "the part of the route that cannot be driven"),
    Topic("path", PATH, RELIABLE, "the planned path, every tick"),
    Topic(
        "trajectory",
        TRAJECTORY,
        RELIABLE,
        "the same with speed and time; stamp of the odometry it answers",
    ),
    Topic("state", STRING, LATCHED, "the state, as on_road/normal"),
    Topic("transition", STRING, Qos(depth=200, latched=True), "one record a transition (JSON)"),
    Topic("why", DIAGNOSTICS, RELIABLE, "what limits the car now"),
    Topic("sensors", STRING, LATCHED, "all or radar_and_history"),
    Topic("indicators", STRING, LATCHED, "off, left, right or hazard"),
    Topic("markers", MARKERS, RELIABLE, "path, candidates, targets, stop walls with their reason"),
    Topic("/diagnostics", DIAGNOSTICS, RELIABLE, "input ages, tick time, overruns, flaps"),
)

RECORDED = (
    Topic("route_answer", STRING, RELIABLE, "an answer of the route server (JSON)"),
    Topic("operator", STRING, RELIABLE, "a service call of the operator (JSON)"),
    Topic("late", STRING, RELIABLE, "a plan that came late, so that it was not sent (JSON)"),
    Topic("parameters", STRING, RELIABLE, "the planner's parameters, when one was set in mid-drive (JSON)"),
    Topic("run", STRING, LATCHED, "what a replay has to know: map, parameters, a state that was restored (JSON)"),
)
"""In bag files only: what reaches the planner by services, and what was set."""

BY_NAME = {topic.name: topic for topic in (*INPUTS, *OUTPUTS, *RECORDED)}

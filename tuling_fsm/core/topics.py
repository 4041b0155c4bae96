"""The topics of the planner as data, a row each: what a message is, how it is sent, and what it is to the planner.

From these rows come publishers and subscriptions, packing and unpacking, what is too old, the channels of a bag, and
the tables in `docs/messages.md` and `docs/vehicle.md`.
"""

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

FAR_M = 65_536.0
"""So far from the origin of `map` neighbouring `f4` are 8 mm apart, and twice as far apart with every doubling."""


@dataclass(frozen=True)
class Qos:
    """Quality of service: keep-last of `depth`; `latched` (transient local) serves late subscribers too."""

    reliable: bool = True
    depth: int = 1
    latched: bool = False

    def __str__(self) -> str:
        depth = "" if self.depth == 1 else f", depth {self.depth}"
        return ("reliable" if self.reliable else "best effort") + (", transient local" if self.latched else "") + depth


@dataclass(frozen=True)
class Column:
    """A named field of a table, and its type as NumPy calls it (`u4`); `place` for a coordinate in `map`, which may
    be `f8` as well: beyond `FAR_M` it has to be.
    """

    name: str
    type: str
    doc: str = ""
    place: bool = False


@dataclass(frozen=True)
class Topic:
    """One topic, seen from the planner.

    Args:
        name: relative to the node's namespace.
        type: of its messages.
        qos: offered by a publisher at the least.
        doc: from or to which part of the vehicle, and what.
        frame: `frame_id` of the header, if the message has one.
        field: of `world.inputs.Inputs`, where the value of an input goes.
        max_age: parameter (s) beyond which an input counts as silent; empty where its last value stays.
        lock_step: whether in lock-step a tick waits for the one that bears its stamp: DDS gives no order across
            topics.
        columns: of a table.
    """

    name: str
    type: str
    qos: Qos
    doc: str
    frame: str = ""
    field: str = ""
    max_age: str = ""
    lock_step: bool = False
    columns: tuple[Column, ...] = ()

    @property
    def stamped(self) -> bool:
        """Whether its value bears the stamp of the header; a Bool or a route bears that of its first tick (DWELL-3)."""
        return self.type in _STAMPED


_STAMPED = frozenset({CLOUD, GRID, ODOMETRY})

SENSOR = Qos(reliable=False)
RELIABLE = Qos()
LATCHED = Qos(latched=True)
COMMANDS = Qos(depth=10)
"""None of them is to be lost while a tick is made."""

_OBJECTS = (
    Column("id", "u4", "the same on every message as long as the thing is tracked"),
    Column("kind", "u1", "see below"),
    Column("source", "u1", "which sensors see it, bits added up: in rain and fog only `RADAR` and `HISTORY_MAP` count"),
    Column("x", "f4", "of the centre of the box, in `map`", place=True),
    Column("y", "f4", place=True),
    Column("heading", "f4", "where its front points"),
    Column("vx", "f4", "velocity of the centre along the axes of `map`: in a turn not along the heading"),
    Column("vy", "f4"),
    Column("length", "f4", "along its heading"),
    Column("width", "f4"),
    Column("existence", "f4", "from 0 to 1; below `world.min_existence` it is not there"),
)
_LANE_LINES = (
    Column("line", "u4", "rows with the same number are the points of one line, in their order"),
    Column(
        "kind",
        "u1",
        "0 unknown, 1 solid, 2 broken, 3 solid and solid, 4 solid and broken, 5 broken and solid, 6 kerb, 7 virtual",
    ),
    Column("x", "f4", "in `base_link`, ahead"),
    Column("y", "f4", "to the left"),
)
_TRAFFIC_LIGHTS = (
    Column("signal", "u4", "the number of the signal in the map"),
    Column("state", "u1", "see below"),
    Column("confidence", "f4", "from 0 to 1; below `world.min_light_confidence` the state is unknown"),
)
_PARKING_SLOTS = (
    Column("slot", "u4", "a number of its own"),
    Column("occupied", "u1", "0 free, else taken"),
    Column("x", "f4", "of the centre, in `map`", place=True),
    Column("y", "f4", place=True),
    Column("heading", "f4", "along it, either way: where it opens follows from the aisle"),
    Column("length", "f4"),
    Column("width", "f4"),
)

INPUTS = (
    Topic("rain_fog", BOOL, LATCHED, "weather: rain or fog detected; the last word stays", field="rain_fog"),
    Topic(
        "emergency_stop",
        BOOL,
        COMMANDS,
        "the remote: a heartbeat, true = stop; silence while armed = stop",
        field="emergency_stop",
        max_age="behaviour.estop.silence",
    ),
    Topic(
        "radar_health",
        BOOL,
        RELIABLE,
        "the radar: a heartbeat, true = it works; where it sees nothing, only this tells it from a dead one",
        field="radar_health",
        max_age="world.objects_max_age",
    ),
    Topic("mission", STRING, LATCHED, "the operator: tasks, match time, car park (JSON)", field="mission"),
    Topic(
        "route",
        PATH,
        LATCHED,
        "a pushed reference route; not needed beside a route server",
        MAP_FRAME,
        "route_answers",
    ),
    Topic("occupancy", GRID, RELIABLE, "lidar: what stands", MAP_FRAME, "occupancy", "world.occupancy_max_age"),
    Topic(
        "lane_lines",
        CLOUD,
        SENSOR,
        "camera: lines in `base_link`, for driving without localization",
        BASE_FRAME,
        "lane_lines",
        "world.lines_max_age",
        columns=_LANE_LINES,
    ),
    Topic(
        "parking_slots",
        CLOUD,
        RELIABLE,
        "camera: which spaces are taken",
        MAP_FRAME,
        "parking_slots",
        "world.slots_max_age",
        columns=_PARKING_SLOTS,
    ),
    Topic(
        "objects",
        CLOUD,
        SENSOR,
        "tracking: boxes by their centre in `map`, also an empty table when the road is empty",
        MAP_FRAME,
        "objects",
        "world.objects_max_age",
        lock_step=True,
        columns=_OBJECTS,
    ),
    Topic(
        "traffic_lights",
        CLOUD,
        RELIABLE,
        "camera: states by the signal's number in the map",
        MAP_FRAME,
        "traffic_lights",
        "world.lights_max_age",
        lock_step=True,
        columns=_TRAFFIC_LIGHTS,
    ),
    Topic(
        "odometry",
        ODOMETRY,
        RELIABLE,
        "localization: pose in `map`, twist in the body frame, covariance. Every message is a tick",
        MAP_FRAME,
        "odometry",
        "world.odometry_max_age",
    ),
)
"""In the order in which a subscriber has to serve them: those without a stamp first, what drives the tick last."""

OUTPUTS = (
    Topic("route_blocked", PATH, LATCHED, "the route server: the part of the route that cannot be driven", MAP_FRAME),
    Topic("path", PATH, RELIABLE, "the same way without speed, every tick", MAP_FRAME),
    Topic(
        "trajectory",
        TRAJECTORY,
        RELIABLE,
        "the controller: pose, speed and acceleration over time, with the stamp of the odometry that it answers",
        MAP_FRAME,
    ),
    Topic("state", STRING, LATCHED, "the state, as `on_road/normal`"),
    Topic("transition", STRING, Qos(depth=200, latched=True), "one record a transition (JSON)"),
    Topic("why", DIAGNOSTICS, RELIABLE, "what limits the car now"),
    Topic("sensors", STRING, LATCHED, "the lidar: `all`, or `radar_and_history` in rain and fog"),
    Topic("indicators", STRING, LATCHED, "the body: `off`, `left`, `right` or `hazard`"),
    Topic("markers", MARKERS, RELIABLE, "path, candidates, targets, stop walls with their reason", MAP_FRAME),
    Topic("/diagnostics", DIAGNOSTICS, RELIABLE, "input ages, tick time, overruns, flaps"),
)

RECORDED = (
    Topic("route_answer", STRING, RELIABLE, "an answer of the route server (JSON)", field="route_answers"),
    Topic("operator", STRING, RELIABLE, "a service call of the operator (JSON)"),
    Topic("late", STRING, RELIABLE, "a plan that came late, so that it was not sent (JSON)"),
    Topic("parameters", STRING, RELIABLE, "the planner's parameters, when one was set in mid-drive (JSON)"),
    Topic("run", STRING, LATCHED, "what a replay has to know: map, parameters, a state that was restored (JSON)"),
)
"""In bag files only: what reaches the planner by services, and what was set."""

BY_NAME = {topic.name: topic for topic in (*INPUTS, *OUTPUTS, *RECORDED)}

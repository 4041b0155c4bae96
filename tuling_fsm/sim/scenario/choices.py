"""What a scenario may choose from by name."""

from __future__ import annotations

from enum import Enum


class Material(str, Enum):
    """What a road is closed with."""

    BARRIER = "barrier"
    CONE = "cone"
    DEBRIS = "debris"


class PerceivedAs(str, Enum):
    """Where perception puts a thing: into the table of objects, the occupancy grid, or both."""

    OBJECTS = "objects"
    OCCUPANCY = "occupancy"
    BOTH = "both"


class ServerBehaviour(str, Enum):
    """How the route server answers: as it should, not at all, always no, with a route the other way."""

    WELL = "well"
    AWAY = "away"
    REFUSES = "refuses"
    OPPOSITE = "opposite"


class Sensor(str, Enum):
    """What may be disturbed: fields of `Inputs`, and the sensors that the objects come from."""

    ODOMETRY = "odometry"
    OBJECTS = "objects"
    LANE_LINES = "lane_lines"
    TRAFFIC_LIGHTS = "traffic_lights"
    PARKING_SLOTS = "parking_slots"
    OCCUPANCY = "occupancy"
    LIDAR = "lidar"
    RADAR = "radar"
    CAMERA = "camera"


class ActorKind(str, Enum):
    """What an actor is. The last three are solid things that stand still."""

    VEHICLE = "vehicle"
    PERSON = "person"
    BARRIER = "barrier"
    CONE = "cone"
    DEBRIS = "debris"

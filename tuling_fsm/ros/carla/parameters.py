"""Parameters of the nodes `carla_bridge` and `carla_map`."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import group, param
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters
from tuling_fsm.wire.carla.pedals import PedalParameters

STOP_WORDS = ("none", "go", "stop")


@dataclass(frozen=True)
class CarlaParameters:
    """Of the node `carla_bridge`."""

    map_file: str = param("", doc="OpenDRIVE map of the CARLA world, as `carla_map` writes it; has to be set")
    role: str = param("ego_vehicle", doc="role name of the ego, a part of CARLA's topic names")
    ego_type: str = param(
        "", doc="blueprint of the ego and its sensors, spawned by the bridge; empty where they are spawned by others"
    )
    scenario: str = param("", doc="OpenSCENARIO file (DSL 2 or XML); empty for CARLA's own traffic", clause="CAR-1")
    overrides: str = param("", doc="JSON object of variables of the scenario and their values, as text; empty for none")
    seed: int = param(1, "", 0, 2**31 - 1, "of everything random in the scenario", clause="SIM-2")
    out: str = param("", doc="folder that gets result.json and pictures.html of a scenario; empty for none")
    waypoints: bool = param(True, doc="without a scenario: the way of CARLA's waypoint publisher is the route")
    rain_fog: bool = param(False, doc="tell the planner of rain or fog", clause="RFG-1", live=True)
    emergency_stop: str = param(
        "none", doc="heartbeat of a remote stop without a scenario", clause="EST-1", live=True, choices=STOP_WORDS
    )
    answer_timeout: float = param(
        0.7, "s", 0.05, 10.0, "without a trajectory for so long, wall time, the car brakes: CARLA waits for 1 s only"
    )
    vehicle: Vehicle = group(Vehicle)
    pedals: PedalParameters = group(PedalParameters)
    dynamics: DynamicsParameters = group(DynamicsParameters)
    tracker: TrackerParameters = group(TrackerParameters)


@dataclass(frozen=True)
class CarlaMapParameters:
    """Of the node `carla_map`."""

    map_file: str = param("", doc="OpenDRIVE file that is written; has to be set")
    timeout: float = param(120.0, "s", 0.1, 3600.0, "for CARLA's bridge to send its map, wall time")

"""Types of SUMO's vehicles: every class of the simulator's own traffic with a calm and a rude driver, and the ego."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from tuling_fsm.sim.sumo.parameters import DriverParameters, SumoParameters
from tuling_fsm.sim.traffic.population import VEHICLE_CLASSES
from tuling_fsm.world.inputs import Kind

EGO_TYPE = "ego"
CALM, RUDE = "calm", "rude"


def type_name(vehicle_class: int, rude: bool) -> str:
    """Name of the type of a class (row of `VEHICLE_CLASSES`) and its driver."""
    return f"{RUDE if rude else CALM}{vehicle_class}"


def kind_of(name: str) -> Kind:
    """What perception takes a vehicle of a type for."""
    return VEHICLE_CLASSES[int(name.removeprefix(RUDE).removeprefix(CALM))].kind


def write_types(file: Path, parameters: SumoParameters, ego_length: float, ego_width: float) -> None:
    """Write all types, as SUMO reads them. The ego (m) has the driver of a calm one, which others never see."""
    root = etree.Element("additional")
    for index, each in enumerate(VEHICLE_CLASSES):
        for rude in (False, True):
            driver = attributes(parameters.rude if rude else parameters.calm)
            body = {"length": f"{each.length:g}", "width": f"{each.width:g}"}
            etree.SubElement(root, "vType", {"id": type_name(index, rude), **body, **driver})
    body = {"length": f"{ego_length:g}", "width": f"{ego_width:g}", "minGap": "0.5"}
    etree.SubElement(root, "vType", {"id": EGO_TYPE, **body})
    etree.ElementTree(root).write(file)


def attributes(driver: DriverParameters) -> dict[str, str]:
    """A driver in SUMO's words."""
    numbers = {
        "tau": driver.tau,
        "minGap": driver.min_gap,
        "jmIgnoreFoeProb": driver.ignores_foes,
        "jmIgnoreFoeSpeed": driver.ignored_speed,
        "jmTimegapMinor": driver.minor_gap,
        "jmDriveAfterRedTime": driver.red_most,
        "lcAssertive": driver.assertive,
    }
    speed = f"normc({driver.speed_factor:g},{driver.speed_deviation:g},0.2,2)"
    return {"speedFactor": speed, **{name: f"{value:g}" for name, value in numbers.items()}}

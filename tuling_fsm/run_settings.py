"""What makes a run: runs of equal settings are the same. It is read long before what drives them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tuling_fsm.core.parameters import Scalar
from tuling_fsm.sim.sensors.perception_levels import CLEAN

PLANNERS = ("agent", "idm", "pdm")
"""This one, and those to compare with: the Intelligent Driver Model, and PDM-Closed."""
OWN, SUMO = "own", "sumo"
TRAFFIC = (OWN, SUMO)
"""What drives the other vehicles: the simulator itself, or SUMO beside it."""


@dataclass(frozen=True)
class RunSettings:
    """Of one run."""

    scenario: Path
    """OpenSCENARIO text, DSL 2 or XML (`.xosc`)."""
    seed: int = 1
    """Of everything random."""
    overrides: tuple[tuple[str, str], ...] = ()
    """Values of variables of the scenario, as text."""
    map_file: Path | None = None
    """OpenDRIVE map instead of the scenario's own."""
    mission_file: Path | None = None
    """Mission (JSON) instead of the scenario's own mission or route."""
    planner: str = PLANNERS[0]
    perception: str = CLEAN
    """Level of what the sensors get wrong."""
    traffic: str = OWN
    parameters: tuple[tuple[str, Scalar], ...] = ()
    """Of the planner and its car, by dotted names; the others have their defaults."""

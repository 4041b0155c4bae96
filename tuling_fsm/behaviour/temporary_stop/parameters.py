"""Parameters of stops at the roadside."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class StopParameters:
    """Finding a slot, standing in it, and what is done without one."""

    ahead: float = param(
        40.0, "m", 10.0, 100.0, "a point this near ahead on the route is approached", clause="NOR-1", live=True
    )
    passed: float = param(3.0, "m", 0.5, 20.0, "a point this far behind the car has been passed", clause="NOR-1")
    attempts: int = param(3, "", 1, 20, "failed attempts after which a point is given up", clause="TMP-3")
    wait: float = param(10.0, "s", 0.0, 120.0, "wait for a slot before the way round", clause="TMP-3", live=True)
    duration: float = param(10.0, "s", 10.0, 15.0, "how long the car stands at a point", clause="STP-1", live=True)
    position: float = param(0.3, "m", 0.05, 2.0, "in a slot: this near to its middle", clause="TMP-2")
    heading: float = param(math.radians(5.0), "rad", 0.01, 0.5, "in a slot: turned by no more", clause="TMP-2")
    speed: float = param(4.0, "m/s", 0.5, 8.0, "speed at which the car turns towards a slot", clause="TMP-1", live=True)
    pull_in: float = param(
        22.0, "m", 8.0, 60.0, "until a free slot is this near the approach stays on the lane", clause="TMP-1"
    )
    slot_reach: float = param(25.0, "m", 3.0, 100.0, "spaces of the map this near are a point's", clause="TMP-1")
    slot_turn: float = param(
        math.radians(20.0),
        "rad",
        0.02,
        1.0,
        "spaces turned more against the lane are none to pull into",
        clause="TMP-1",
    )
    slots: int = param(6, "", 1, 20, "free slots that are planned into at once, the nearest ones", clause="TMP-1")
    clearance: float = param(
        0.1, "m", 0.0, 1.0, "a free slot leaves this much room around the car in it", clause="TMP-1"
    )
    legal_from: float = param(20.0, "m", 5.0, 200.0, "nearest other place to let a passenger off", clause="TMP-3")
    legal_to: float = param(400.0, "m", 20.0, 2000.0, "farthest one", clause="TMP-3")
    legal_margin: float = param(
        10.0, "m", 0.0, 50.0, "it lies this far from junctions, stop lines and crosswalks", clause="TMP-3"
    )

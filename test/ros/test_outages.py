"""Perception and localization fall silent in mid-drive and come back: the product on the path of the node."""

from __future__ import annotations

from pathlib import Path

import pytest

from ros.stand import Sink
from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.planning_cycle import PlanningCycle
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import Inputs, RouteRequest

CONFIG = Path(__file__).resolve().parents[2] / "config"
BOOT_NS = 10**15
"""The node's clock is not that of the odometry."""


class Loop(Sink):
    """The simulator on the node's path: what it sends, and what comes back."""

    def __init__(self, road_map: RoadMap) -> None:
        super().__init__()
        scenario = load_scenario(CONFIG / "scenarios" / "roam.osc", {"vehicles": "0", "pedestrians": "0"})
        self.simulation = Simulation(road_map, scenario, 1, Parameters().vehicle)
        inbox, own = Inbox(self.lines.append), PlannerNodeParameters()
        self.cycle = PlanningCycle(Agent(road_map), inbox, own, self.log, self.now_ns, self.wanted, clock=lambda: 0.0)
        self.previous: Inputs | None = None
        self.codes: set[str] = set()

    def ask(self, request: RouteRequest) -> None:
        self.simulation.request_route(request)

    def drive(self, seconds: float, without: str = "") -> float:
        """Go on, with one topic silent; the speed at the end, m/s."""
        self.codes.clear()
        for _ in range(round(seconds / self.simulation.dt)):
            inputs = self.simulation.inputs()
            self.now = BOOT_NS + nanoseconds(inputs.stamp)
            for topic, raw in pack_inputs(inputs, self.previous):
                if topic != without:
                    self.do(self.cycle.receive(topic, raw))
            self.do(self.cycle.timer(other_publishers=0))
            plans = [raw for topic, raw in self.sent if topic == "trajectory"]
            self.codes |= {_code(raw) for topic, raw in self.sent if topic == "why"}
            self.sent.clear()
            self.simulation.advance(unpack_trajectory(plans[-1]) if plans else None)
            self.previous = inputs
        return self.simulation.ego.v


def _code(raw: bytes) -> str:
    return dict(unpack_diagnostics(raw, "why")[0].values)["code"]


@pytest.mark.clause("SAF-3", "SAF-4")
@pytest.mark.parametrize(("topic", "code"), [("objects", "OBJECTS_STALE"), ("odometry", "NO_ODOMETRY")])
@pytest.mark.medium
def test_what_falls_silent_stops_the_car_and_when_it_is_back_the_car_drives_on(topic: str, code: str) -> None:
    loop = Loop(read_map(CONFIG / "course" / "course.xodr"))
    assert loop.drive(8.0) > 3.0
    assert loop.drive(0.15, without=topic) > 3.0
    assert loop.drive(6.0, without=topic) == 0.0
    assert code in loop.codes
    assert loop.drive(12.0) > 2.0
    assert [line.partition(" ")[0] for line in loop.lines] == [f"{topic}:"], "told once"
    assert loop.simulation.infractions == ()

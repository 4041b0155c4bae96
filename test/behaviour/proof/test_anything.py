"""Any sequence of inputs, and any of plans: there is an output on every tick, and switching keeps its rules."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from crossroads import LIGHT, crossroads
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test
from traffic_drive import route_between

from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.request import Hold, Limit, PlanningRequest, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import Violation

from .anything import EAST, NORTH, SOUTH, Anything

pytestmark = pytest.mark.exhaustive

SEQUENCES = int(os.environ.get("PROOF_SEQUENCES", "20"))
"""How many of each kind; `make proofs` runs 2000, which takes the better part of an hour."""
STEPS = 100


class AnyPlanner:
    """In place of the planner: what comes of a request is what the test says."""

    def __init__(self, real: Planner) -> None:
        self.real = real
        self.feasible, self.reason, self.v, self.reverse = True, Reason.NONE, 0.0, False

    def plan(self, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        if isinstance(request, Hold) or not self.feasible:
            result = self.real.plan(request if isinstance(request, Hold) else Hold(self.reason), scene, previous)
            return replace(result, feasible=isinstance(request, Hold), reason=self.reason, limit=Limit(self.reason))
        x, y, heading = scene.ego.pose
        t = np.linspace(0.0, 5.0, 51)
        still = np.zeros(len(t))
        way = self.v * t
        trajectory = Trajectory(
            scene.stamp,
            t,
            x + way * np.cos(heading),
            y + way * np.sin(heading),
            still + heading,
            still,
            still + self.v,
            still,
        )
        return PlanResult(True, trajectory, Limit(self.reason), Reason.NONE, uses_reverse=self.reverse)

    def checked(
        self, result: PlanResult, request: PlanningRequest, scene: Scene, regulations: Regulations
    ) -> tuple[PlanResult, Violation | None]:
        """The real check; what it would plan anew is real too."""
        return self.real.checked(result, request, scene, regulations)


class AnyPlan(Anything):
    """The same with plans that come and go as they like, so that every row is met in every order."""

    def __init__(self) -> None:
        super().__init__()
        self.planner = AnyPlanner(self.agent._planner)
        self.agent._planner = self.planner

    @rule(
        feasible=st.booleans(),
        reason=st.sampled_from(list(Reason)),
        v=st.sampled_from([0.0, 2.0]),
        reverse=st.booleans(),
    )
    def planner_says(self, feasible: bool, reason: Reason, v: float, reverse: bool) -> None:
        planner = self.planner
        planner.feasible, planner.reason, planner.v, planner.reverse = feasible, reason, v, reverse
        self._tick()


@pytest.mark.timeout(7200)
@pytest.mark.clause("SAF-1", "SAF-3", "DWELL-1", "DWELL-2", "DWELL-3", "DWELL-4", "DWELL-5")
@pytest.mark.parametrize("machine", [Anything, AnyPlan])
def test_whatever_happens_there_is_an_output_and_switching_keeps_its_rules(
    machine: type[Anything], tmp_path_factory: pytest.TempPathFactory
) -> None:
    machine.town = crossroads(tmp_path_factory.mktemp("maps"), "lit", dict.fromkeys("ENWS", LIGHT))
    machine.routes = [route_between(machine.town, SOUTH, goal) for goal in (NORTH, EAST)]
    profile = settings(
        max_examples=SEQUENCES,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),  # making a failure smaller takes minutes
    )
    run_state_machine_as_test(machine, settings=profile)

"""A faster car comes into the lane right before the ego and brakes: the planner drives behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.agent import Agent
from tuling_fsm.map.road_map import RoadMap

from .files import after, event, init, lane, run, speed, story, teleport, text

BRAKING = '<SpeedActionDynamics dynamicsShape="linear" value="4" dynamicsDimension="rate"/>'
CHANGE = """<PrivateAction><LateralAction><LaneChangeAction>
<LaneChangeActionDynamics dynamicsShape="sinusoidal" value="3" dynamicsDimension="time"/>
<LaneChangeTarget><RelativeTargetLane entityRef="Ego" value="0"/></LaneChangeTarget>
</LaneChangeAction></LateralAction></PrivateAction>"""


@pytest.mark.slow
@pytest.mark.clause("SAF-2", "NOR-5")
@pytest.mark.parametrize("behind", [14.5, 15.0, 15.5])
def test_one_that_cuts_in_and_brakes_is_braked_for_and_not_swerved_past(
    tmp_path: Path, three_lanes: RoadMap, behind: float
) -> None:
    """It begins to come over when its rear is about beside the ego's front, and brakes while it is still between the
    lanes: a car that swings out to the third lane first, and back when it is not free, has not braked by then.
    """
    ego = init("Ego", teleport(lane(40.0, -2)), speed(8.3))
    npc = init("npc", teleport(lane(40.0 - behind, -1)), speed(10.8))
    events = event("cut in", after(6.0), CHANGE), event("brake", after(6.6), speed(0.0, BRAKING))
    simulation = run(tmp_path, three_lanes, text(story(*events), ego=ego, npc=npc))
    agent, slowest = Agent(three_lanes), 8.3
    while not simulation.finished and simulation.stamp < 14.0:
        tick = agent.step(simulation.inputs())
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        simulation.advance(tick.trajectory, tick.state)
        slowest = min(slowest, tick.world.ego.v)
    assert [record.kind for record in simulation.infractions if record.at_fault] == []
    assert slowest < 1.0

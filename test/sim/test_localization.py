"""Localization and odometry that a scenario takes away, as the planner is told of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.bodies import ROW

from .effects import LANE, rows, run, world


def test_without_localization_the_car_reckons_on_and_drifts_together_with_all_it_sees(two_lanes: RoadMap) -> None:
    cones = "works.close_lane(map.create_odr_point('1', '-1', 200m))"
    sim = world(two_lanes, LANE, cones, "wait elapsed(0.2s)", "ego.lose_localization(duration: 10s)", speed="9mps")
    rest = (np.full(2, value) for value in (-1.75, 0.0, 0.0, 9.0, 0.0))
    ahead = Trajectory(0.0, np.array((0.0, 30.0)), np.array((20.0, 290.0)), *rest)
    run(sim, 0.2, ahead)
    for _ in range(170):
        sim.advance(None)
    inputs, true = sim.inputs(), sim.ego.pose
    assert inputs.odometry is not None
    assert inputs.odometry.position_std > 1.0 and inputs.odometry.heading_std > 1.0
    believed = inputs.odometry.pose
    assert 0.3 < math.dist(believed[:2], true[:2]) < 3.0
    assert believed.heading != true.heading
    seen = rows(inputs.objects)[0]
    distance = math.dist((seen["x"], seen["y"]), believed[:2])
    body = sim.scripted.placed_objects.bodies[ROW, "works", 0, 0]
    assert body.pose is not None
    assert distance == pytest.approx(math.dist(body.pose[:2], true[:2]), abs=0.01)
    assert len(rows(inputs.lane_lines)) > 10
    back = run(sim, 2.0).odometry
    assert back is not None
    assert back.position_std == 0.0
    assert back.pose == sim.ego.pose


@pytest.mark.medium
def test_a_plan_made_in_the_frame_of_a_wrong_belief_moves_the_car_as_it_was_meant(two_lanes: RoadMap) -> None:
    sim = world(two_lanes, LANE, "ego.lose_localization()", speed="9mps")
    lines: list[float] = []
    for frame in range(240):
        odometry = sim.inputs().odometry
        assert odometry is not None
        x, y, heading = odometry.pose
        way = 9.0 * np.array((0.0, 3.0))
        table = rows(sim.inputs().lane_lines)
        left = table[(table["line"] == 0) & (table["x"] < 8.0)]
        turn = float(np.clip(0.02 * (left["y"].mean() - 1.75), -0.02, 0.02)) if len(left) else 0.0
        kind = heading + turn
        zero = np.zeros(2)
        plan = Trajectory(
            sim.stamp, np.array((0.0, 3.0)), x + way * math.cos(kind), y + way * math.sin(kind), zero + kind, zero,
            zero + 9.0, zero,
        )  # fmt: skip
        sim.advance(plan)
        if frame > 100:
            lines.append(sim.ego.pose.y)
    odometry = sim.inputs().odometry
    assert odometry is not None
    assert abs(odometry.pose.y - sim.ego.pose.y) > 0.3
    assert max(abs(y + 1.75) for y in lines) < 0.3


def test_odometry_falls_silent_while_the_rest_goes_on(two_lanes: RoadMap) -> None:
    sim = world(two_lanes, LANE, "wait elapsed(0.5s)", "ego.lose_odometry(duration: 1s)")
    inputs = run(sim, 1.0)
    assert inputs.odometry is not None and inputs.objects is not None
    assert inputs.stamp == inputs.objects.stamp == 1.0
    assert inputs.odometry.stamp == pytest.approx(0.45)
    back = run(sim, 1.0).odometry
    assert back is not None and back.stamp == 2.0

"""Lane lines that are seen beside those of the map put the pose right, and with it what was told by the same pose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crossroads import crossroads
from scenes import row, table

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import LANE_LINES, PARKING_SLOTS, Inputs, Occupancy, Odometry, StampedRows
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.pose_correction import PoseCorrection
from tuling_fsm.world.world import World

from .messages import NORTH

MIDDLE, HALF = 1.75, 1.75
"""Of the lane that leads north, m."""
STEP_S = 0.1
ON_LANE = Pose(MIDDLE, -90.0, NORTH)

pytestmark = pytest.mark.clause("SAF-5")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    return crossroads(tmp_path_factory.mktemp("maps"), "plain", {}, "")


def lines(stamp: float, pose: Pose, apart: float = 2.0 * HALF) -> StampedRows:
    """Both lines of the lane, as they are seen from where the car really is."""
    rows = np.zeros(20, LANE_LINES)
    rows["line"], rows["kind"], rows["x"] = np.repeat((0, 1), 10), 1, np.tile(np.arange(10.0), 2)
    rows["y"] = pose.x - np.repeat((MIDDLE - HALF, MIDDLE - HALF + apart), 10)
    return StampedRows(stamp, rows)


def told(stamp: float, left: float, real: Pose = ON_LANE, apart: float | None = 2.0 * HALF) -> Inputs:
    """A tick of a car that stands, whose localization is off to the left by so much (m); `apart`: of the lines. Parking
    spaces, which are averaged, are seen later than lines.
    """
    wrong = -left
    slots = np.zeros(1, PARKING_SLOTS)
    slots["x"], slots["y"], slots["length"], slots["width"] = real.x + 5.0 + wrong, real.y, 6.0, 2.5
    grid = Occupancy(stamp, 0.5, Pose(real.x - 5.0 + wrong, real.y, 0.0), np.zeros((4, 4), np.int8))
    return Inputs(
        stamp, Odometry(stamp, real._replace(x=real.x + wrong), 0.0, 0.0),
        objects=StampedRows(stamp, table(row(7, real.x + wrong, real.y + 20.0, heading=NORTH))), occupancy=grid,
        lane_lines=None if apart is None else lines(stamp, real, apart),
        parking_slots=StampedRows(stamp, slots) if stamp > 5.5 * STEP_S else None,
    )  # fmt: skip


def seen(road_map: RoadMap, *ticks: Inputs) -> World:
    """The World of the last tick."""
    builder, world = WorldBuilder(road_map, Vehicle(), WorldParameters()), None
    route = plan_route(road_map, Pose(MIDDLE, -110.0, NORTH), Pose(MIDDLE, 110.0, NORTH)).route
    for inputs in ticks:
        world = builder.build(inputs, world, route)
    assert world is not None
    return world


def ticks(left: float, count: int = 8, apart: float | None = 2.0 * HALF, begin: float = 0.0) -> list[Inputs]:
    return [told(begin + k * STEP_S, left, apart=apart) for k in range(count)]


@pytest.mark.parametrize("left", [0.8, -0.8, 0.4, 1.4])
def test_everything_is_where_it_is_though_localization_is_beside_it(plain: RoadMap, left: float) -> None:
    world = seen(plain, *ticks(left))
    assert world.localized
    assert world.ego.pose.x == pytest.approx(ON_LANE.x, abs=0.02)
    assert world.ego.pose.y == pytest.approx(ON_LANE.y, abs=0.02)
    assert world.scene.obstacles.x[0, 0] == pytest.approx(ON_LANE.x, abs=0.02)
    assert world.slots[0].x == pytest.approx(ON_LANE.x + 5.0, abs=0.02)
    assert world.occupancy is not None and world.occupancy.origin.x == pytest.approx(ON_LANE.x - 5.0, abs=0.02)
    assert "localization lines" in world.complaints
    begins = Trajectory.standing(world.stamp, world.ego.pose)
    assert world.pose_correction.sent(begins).x[0] == pytest.approx(ON_LANE.x - left, abs=1e-6), "driven by that pose"


@pytest.mark.parametrize(
    ("left", "count", "apart"),
    [(0.25, 8, 2.0 * HALF), (0.8, 4, 2.0 * HALF), (0.8, 8, None), (0.8, 8, 2.0 * HALF + 0.6), (1.75, 8, 2.0 * HALF)],
    ids=["a little", "for a moment", "no lines", "lines of another lane", "no telling left from right"],
)
def test_a_pose_is_believed_where_lines_do_not_speak_against_it_for_sure(
    plain: RoadMap, left: float, count: int, apart: float | None
) -> None:
    world = seen(plain, *ticks(left, count, apart))
    assert not world.pose_correction.corrects
    assert world.ego.pose.x == ON_LANE.x - left
    assert "localization lines" not in world.complaints


def test_a_pose_that_is_right_again_is_believed_again(plain: RoadMap) -> None:
    world = seen(plain, *ticks(0.8), *ticks(0.05, begin=1.0))
    assert world.pose_correction.corrects is False
    assert world.ego.pose.x == ON_LANE.x - 0.05


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_pose_that_drifts_is_put_right_beyond_half_a_lane(plain: RoadMap, side: float) -> None:
    """By 0.05 m from one table to the next: the median is two tables late."""
    lefts = [0.05 * k for k in range(51)]
    for far in (20, 33, 36, 40, 51):
        world = seen(plain, *(told(k * STEP_S, side * left) for k, left in enumerate(lefts[:far])))
        assert abs(world.ego.pose.x - ON_LANE.x) == pytest.approx(0.1, abs=0.02), lefts[far - 1]
    right = [told(5.1 + k * STEP_S, side * max(2.5 - 0.05 * k, 0.0)) for k in range(64)]
    world = seen(plain, *(told(k * STEP_S, side * left) for k, left in enumerate(lefts)), *right)
    assert not world.pose_correction.corrects, "it drifts back"
    assert world.ego.pose.x == ON_LANE.x


@pytest.mark.parametrize(("most", "corrects"), [(2.45, True), (2.55, False)])
def test_nobody_is_put_nearly_a_lane_aside(plain: RoadMap, most: float, corrects: bool) -> None:
    """More than 2.5 m: lines that were taken for others would keep the car in another lane for good."""
    world = seen(plain, *(told(k * STEP_S, min(0.05 * k, most)) for k in range(60)))
    assert world.pose_correction.corrects is corrects


@pytest.mark.parametrize("late", [0.0, 0.25, 0.4])
def test_lines_that_are_told_late_are_compared_where_they_were_seen(plain: RoadMap, late: float) -> None:
    """By a car that turns its wheels quickly, at 5 m/s: from where it is now it would seem to have come on a circle."""
    x, y, heading, inputs, shown = MIDDLE, -90.0, NORTH, [], dict[int, StampedRows]()
    for k in range(28):
        stamp, curvature = 0.05 * k, max(-0.01 * max(k - 12, 0), -0.09)
        pose = Pose(x, y, heading)
        c, s = math.cos(pose.heading), math.sin(pose.heading)
        rows = np.zeros(20, LANE_LINES)
        rows["line"], rows["kind"] = np.repeat((0, 1), 10), 1
        px, py = np.repeat((MIDDLE - HALF, MIDDLE + HALF), 10) - x, np.tile(np.arange(1.0, 11.0), 2)
        rows["x"], rows["y"] = c * px + s * py, -s * px + c * py
        if k % 2 == 0:
            shown[k] = StampedRows(stamp, rows)
        latest = max((each for each in shown if each * 0.05 <= stamp - late + 1e-9), default=0)
        odometry = Odometry(stamp, pose, 5.0, 5.0 * curvature)
        inputs.append(Inputs(stamp, odometry, lane_lines=shown[latest] if stamp >= late else None))
        x, y, heading = x + 0.25 * c, y + 0.25 * s, heading + 0.25 * curvature
    offsets = seen(plain, *inputs).pose_correction.offsets
    assert len(offsets) == 5 and offsets == pytest.approx([0.0] * 5, abs=0.02)


def test_without_lines_what_was_put_right_is_let_go_step_by_step(plain: RoadMap) -> None:
    known, unseen = ticks(0.8), ticks(0.8, 90, None, begin=0.8)
    off = [abs(seen(plain, *known, *unseen[:count]).pose_correction.x) for count in (5, 29, 45, 90)]
    assert off[0] == off[1] == pytest.approx(0.8, abs=0.02)
    assert 0.3 < off[2] < 0.75
    assert off[3] == 0.0


def test_what_is_right_stays_the_same_object() -> None:
    grid, plan = Occupancy(0.0, 0.5, ON_LANE, np.zeros((2, 2), np.int8)), Trajectory.standing(0.0, ON_LANE)
    assert PoseCorrection().grid(grid) is grid
    assert PoseCorrection().sent(plan) is plan
    assert PoseCorrection().pose(ON_LANE) is ON_LANE


def test_a_pose_that_leaps_has_nothing_put_right_until_lines_have_been_seen_anew(plain: RoadMap) -> None:
    world = seen(plain, *ticks(0.8), *ticks(0.0, 1, None, begin=0.8))
    assert not world.pose_correction.corrects
    assert world.ego.pose.x == ON_LANE.x
    world = seen(plain, *ticks(0.8), *ticks(0.0, 1, None, begin=0.8), *ticks(-0.6, begin=1.0))
    assert world.ego.pose.x == pytest.approx(ON_LANE.x, abs=0.02)


def test_while_odometry_is_silent_plans_are_still_sent_by_the_pose_that_was_told_last(plain: RoadMap) -> None:
    known = seen(plain, *ticks(0.8))
    silent = seen(plain, *ticks(0.8), Inputs(1.2))
    assert not silent.odometry_fresh
    assert silent.ego.pose == known.ego.pose
    assert silent.pose_correction[:2] == known.pose_correction[:2] != (0.0, 0.0)

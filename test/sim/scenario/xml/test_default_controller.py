"""What the default controller makes of private actions, measured on a straight road with two lanes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Kind

from .files import (
    CAR,
    TIMING,
    after,
    drive,
    event,
    init,
    lane,
    load,
    npc,
    run,
    speed,
    story,
    teleport,
    text,
    trajectory,
    vertex,
)

pytestmark = pytest.mark.clause("OSC-1")


def test_an_actor_keeps_speed_and_lane_and_minds_nobody(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(npc=init("npc", teleport(lane(5.0)), speed(10.0))))
    drive(simulation, 3.0)
    state = npc(simulation)
    assert state.pose.x == pytest.approx(35.0, abs=0.01)
    assert (state.pose.y, state.pose.heading, state.speed) == pytest.approx((-1.75, 0.0, 10.0))


SHAPES = [
    ("linear", "time", 4.0, 4.0, 15.0),
    ("cubic", "time", 4.0, 4.0, 15.0),
    ("sinusoidal", "time", 4.0, 4.0, 15.0),
    ("linear", "rate", 2.5, 4.0, 15.0),
    ("cubic", "rate", 3.75, 4.0, 15.0),
    ("sinusoidal", "rate", 2.5 * math.pi / 2.0, 4.0, 15.0),
    ("linear", "distance", 60.0, 4.0, 15.0),
]


@pytest.mark.parametrize(("shape", "dimension", "value", "seconds", "middle"), SHAPES)
@pytest.mark.medium
def test_a_change_of_speed_has_its_shape_and_length(
    tmp_path: Path, two_lanes: RoadMap, shape: str, dimension: str, value: float, seconds: float, middle: float
) -> None:
    dynamics = f'<SpeedActionDynamics dynamicsShape="{shape}" value="{value}" dynamicsDimension="{dimension}"/>'
    simulation = run(tmp_path, two_lanes, text(story(event("faster", after(0.0), speed(20.0, dynamics)))))
    drive(simulation, seconds / 2.0)
    assert npc(simulation).speed == pytest.approx(middle, abs=0.3)
    drive(simulation, seconds / 2.0 - 0.2)
    assert npc(simulation).speed < 20.0
    drive(simulation, 0.4)
    assert npc(simulation).speed == 20.0


def _relative(attributes: str) -> str:
    return (
        '<PrivateAction><LongitudinalAction><SpeedAction><SpeedActionDynamics dynamicsShape="linear" value="1" '
        f'dynamicsDimension="time"/><SpeedActionTarget><RelativeTargetSpeed entityRef="other" {attributes}/>'
        "</SpeedActionTarget></SpeedAction></LongitudinalAction></PrivateAction>"
    )


OTHER = '<ScenarioObject name="other"><Pedestrian name="p" pedestrianCategory="pedestrian"/></ScenarioObject>'


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('value="2" speedTargetValueType="delta" continuous="false"', 6.0),
        ('value="2" speedTargetValueType="factor" continuous="false"', 8.0),
        ('value="2" speedTargetValueType="factor" continuous="true"', 2.0),
    ],
)
@pytest.mark.medium
def test_a_relative_speed_is_of_its_reference(
    tmp_path: Path, two_lanes: RoadMap, attributes: str, expected: float
) -> None:
    slower = story(event("slower", after(3.0), speed(1.0)), actor="other")
    other = init("other", teleport(lane(200.0)), speed(4.0))
    content = text(story(event("as", after(0.0), _relative(attributes))), slower, actions=other, entities=OTHER)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 8.0)
    assert npc(simulation).speed == pytest.approx(expected)


def _lane_change(target: str, dynamics: str = 'dynamicsShape="sinusoidal" value="3" dynamicsDimension="time"') -> str:
    return (
        f"<PrivateAction><LateralAction><LaneChangeAction><LaneChangeActionDynamics {dynamics}/>"
        f"<LaneChangeTarget>{target}</LaneChangeTarget></LaneChangeAction></LateralAction></PrivateAction>"
    )


@pytest.mark.parametrize(
    "target", ['<AbsoluteTargetLane value="-2"/>', '<RelativeTargetLane entityRef="npc" value="-1"/>']
)
@pytest.mark.medium
def test_a_lane_change_takes_its_time(tmp_path: Path, two_lanes: RoadMap, target: str) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("over", after(0.0), _lane_change(target)))))
    drive(simulation, 1.55)
    state = npc(simulation)
    assert state.pose.y == pytest.approx(-3.5, abs=0.15)
    assert state.pose.heading == pytest.approx(-math.atan(3.5 * math.pi / 2.0 / 3.0 / 10.0), abs=0.01)
    drive(simulation, 2.0)
    assert (npc(simulation).pose.y, npc(simulation).pose.heading) == pytest.approx((-5.25, 0.0))


def test_a_lane_change_over_a_distance(tmp_path: Path, two_lanes: RoadMap) -> None:
    over = _lane_change(
        '<AbsoluteTargetLane value="-2"/>', 'dynamicsShape="linear" value="20" dynamicsDimension="distance"'
    )
    simulation = run(tmp_path, two_lanes, text(story(event("over", after(0.0), over))))
    drive(simulation, 1.0)
    assert -5.0 < npc(simulation).pose.y < -2.5
    drive(simulation, 1.2)
    assert npc(simulation).pose.y == pytest.approx(-5.25)


def test_an_offset_is_to_the_left_of_the_road(tmp_path: Path, two_lanes: RoadMap) -> None:
    shift = (
        '<PrivateAction><LateralAction><LaneOffsetAction continuous="false"><LaneOffsetActionDynamics '
        'maxLateralAcc="2" dynamicsShape="sinusoidal"/><LaneOffsetTarget><AbsoluteTargetLaneOffset value="0.5"/>'
        "</LaneOffsetTarget></LaneOffsetAction></LateralAction></PrivateAction>"
    )
    simulation = run(tmp_path, two_lanes, text(story(event("aside", after(0.0), shift))))
    drive(simulation, 3.0)
    assert npc(simulation).pose.y == pytest.approx(-1.25)


CATEGORIES = [
    ("Vehicle", "vehicle", "truck", Kind.TRUCK),
    ("Vehicle", "vehicle", "bicycle", Kind.BICYCLE),
    ("Vehicle", "vehicle", "van", Kind.CAR),
    ("Pedestrian", "pedestrian", "wheelchair", Kind.PEDESTRIAN),
    ("Pedestrian", "pedestrian", "animal", Kind.ANIMAL),
]


@pytest.mark.parametrize(("element", "attribute", "word", "kind"), CATEGORIES)
def test_an_actor_is_seen_as_what_its_category_says(
    tmp_path: Path, two_lanes: RoadMap, element: str, attribute: str, word: str, kind: Kind
) -> None:
    body = f'<{element} name="b" {attribute}Category="{word}"/>'
    entities = f'<ScenarioObject name="other">{body}</ScenarioObject>'
    simulation = run(tmp_path, two_lanes, text(actions=init("other", teleport(lane(200.0))), entities=entities))
    assert next(agent.kind for agent in simulation.agents() if agent.pose.x > 150.0) is kind


def test_a_body_lies_where_its_box_says(tmp_path: Path, two_lanes: RoadMap) -> None:
    car = CAR.replace('x="1.4"', 'x="2.5"')
    entities = f'<ScenarioObject name="other">{car}</ScenarioObject>'
    other = init("other", teleport(lane(200.0)), speed(2.0))
    simulation = run(tmp_path, two_lanes, text(actions=other, entities=entities))
    drive(simulation, 1.0)
    assert npc(simulation, "other").pose.x == pytest.approx(202.0)
    assert next(agent.pose.x for agent in simulation.agents() if agent.pose.x > 150.0) == pytest.approx(204.5)


LANES = [(-1, -2), (-2, -1), (1, 2), (2, 1)]
"""Of the actor and of its reference; those above 0 run against the road."""


def _beside(own: int, others: int, action: str) -> str:
    npc_ = init("npc", teleport(lane(200.0, own)), speed(8.0))
    others_ = init("other", teleport(lane(200.0, others)), speed(8.0))
    lateral = f"<PrivateAction><LateralAction>{action}</LateralAction></PrivateAction>"
    car = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
    return text(story(event("e", after(0.0), lateral)), npc=npc_, actions=others_, entities=car)


@pytest.mark.parametrize(("own", "others"), LANES)
def test_a_distance_to_the_side_is_kept_on_the_side_where_the_actor_is(
    tmp_path: Path, two_ways: RoadMap, own: int, others: int
) -> None:
    keep = (
        '<LateralDistanceAction entityRef="other" distance="3.5" freespace="false" continuous="true">'
        '<DynamicConstraints maxSpeed="2"/></LateralDistanceAction>'
    )
    simulation = run(tmp_path, two_ways, _beside(own, others, keep))
    before = npc(simulation).pose.y
    drive(simulation, 1.0)
    assert npc(simulation).pose.y == pytest.approx(before)


@pytest.mark.parametrize(
    ("system", "displacement", "expected"),
    [
        ("entity", "leftToReferencedEntity", 5.25 - 1.0),
        ("entity", "rightToReferencedEntity", 5.25 + 1.0),
        ("road", "leftToReferencedEntity", 5.25 + 1.0),
        ("road", "any", 5.25 - 1.0),
    ],
)
def test_a_distance_to_the_side_is_kept_on_the_side_that_is_asked_for(
    tmp_path: Path, two_ways: RoadMap, system: str, displacement: str, expected: float
) -> None:
    keep = (
        f'<LateralDistanceAction entityRef="other" distance="1" freespace="false" continuous="true" '
        f'coordinateSystem="{system}" displacement="{displacement}"><DynamicConstraints maxSpeed="9"/>'
        "</LateralDistanceAction>"
    )
    simulation = run(tmp_path, two_ways, _beside(1, 2, keep))
    drive(simulation, 1.0)
    assert npc(simulation).pose.y == pytest.approx(expected)


@pytest.mark.parametrize(("own", "others"), LANES)
def test_a_relative_offset_is_to_that_of_the_reference_on_its_own_lane(
    tmp_path: Path, two_ways: RoadMap, own: int, others: int
) -> None:
    shift = (
        '<LaneOffsetAction continuous="false"><LaneOffsetActionDynamics dynamicsShape="sinusoidal"/><LaneOffsetTarget>'
        '<RelativeTargetLaneOffset entityRef="other" value="0.5"/></LaneOffsetTarget></LaneOffsetAction>'
    )
    simulation = run(tmp_path, two_ways, _beside(own, others, shift))
    before = npc(simulation).pose.y
    drive(simulation, 1.0)
    assert npc(simulation).pose.y == pytest.approx(before + 0.5, abs=0.06)


def test_an_offset_in_coordinates_of_carla_is_to_the_right(tmp_path: Path, two_lanes: RoadMap) -> None:
    shift = (
        '<PrivateAction><LateralAction><LaneOffsetAction continuous="false"><LaneOffsetActionDynamics '
        'maxLateralAcc="4" dynamicsShape="sinusoidal"/><LaneOffsetTarget><AbsoluteTargetLaneOffset value="0.5"/>'
        "</LaneOffsetTarget></LaneOffsetAction></LateralAction></PrivateAction>"
    )
    content = text(story(event("aside", after(0.0), shift))).replace('description="test"', 'description="CARLA:test"')
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 2.0)
    assert npc(simulation).pose.y == pytest.approx(-2.25)


def _gap(attributes: str) -> str:
    return (
        f'<PrivateAction><LongitudinalAction><LongitudinalDistanceAction entityRef="other" {attributes}>'
        '<DynamicConstraints maxAcceleration="3" maxDeceleration="4" maxSpeed="30"/></LongitudinalDistanceAction>'
        "</LongitudinalAction></PrivateAction>"
    )


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('distance="30" freespace="false" continuous="true"', 30.0),
        ('timeGap="2" freespace="false" continuous="true"', 16.0),
    ],
)
@pytest.mark.medium
def test_a_distance_is_kept(tmp_path: Path, two_lanes: RoadMap, attributes: str, expected: float) -> None:
    other = init("other", teleport(lane(100.0)), speed(8.0))
    content = text(story(event("behind", after(0.0), _gap(attributes))), actions=other, entities=OTHER)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 20.0)
    assert npc(simulation, "other").pose.x - npc(simulation).pose.x == pytest.approx(expected, abs=0.5)
    assert npc(simulation).speed == pytest.approx(8.0, abs=0.1)


@pytest.mark.parametrize(
    ("displacement", "expected"),
    [("any", 20.0), ("leadingReferencedEntity", 20.0), ("trailingReferencedEntity", -20.0)],
)
@pytest.mark.medium
def test_a_distance_is_kept_on_the_side_that_is_asked_for(
    tmp_path: Path, two_lanes: RoadMap, displacement: str, expected: float
) -> None:
    gap = _gap(f'distance="20" freespace="false" continuous="true" displacement="{displacement}"')
    other, own = (init(name, teleport(lane(s)), speed(8.0)) for name, s in (("other", 50.0), ("npc", 80.0)))
    content = text(story(event("gap", after(0.0), gap)), npc=own, actions=other, entities=OTHER)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 20.0)
    assert npc(simulation).pose.x - npc(simulation, "other").pose.x == pytest.approx(expected, abs=0.5)


WAY = vertex(60.0, -1.75, 0.0) + vertex(80.0, -1.75, 4.0) + vertex(80.0, -11.75, 6.0)


def test_a_trajectory_is_followed_by_its_times(tmp_path: Path, two_lanes: RoadMap) -> None:
    timing = '<Timing domainAbsoluteRelative="relative" scale="1" offset="0"/>'
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(1.0), trajectory(WAY, timing)))))
    drive(simulation, 3.05)
    assert npc(simulation).pose[:2] == pytest.approx((70.0, -1.75), abs=0.3)
    assert npc(simulation).speed == pytest.approx(5.0, abs=0.1)
    drive(simulation, 3.0)
    assert npc(simulation).pose[:2] == pytest.approx((80.0, -6.75), abs=0.3)


def test_a_trajectory_with_times_is_over_at_the_last_of_them(tmp_path: Path, two_lanes: RoadMap) -> None:
    way = trajectory(vertex(60.0, -1.75, 0.0) + vertex(120.0, -1.75, 3.0), TIMING)
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), way))))
    drive(simulation, 3.0)
    assert (npc(simulation).pose.x, npc(simulation).speed) == pytest.approx((120.0, 20.0))
    assert simulation.scripted.maneuver_over("npc", 2)
    drive(simulation, 0.05)
    assert (npc(simulation).pose.x, npc(simulation).speed) == pytest.approx((121.0, 20.0))


def _turned(*headings: float | None, mode: str = "position", time: str = TIMING) -> str:
    """A trajectory along x, 20 m and 2 s from vertex to vertex, each with its heading or none."""
    vertices = ""
    for i, heading in enumerate(headings):
        stated = "" if heading is None else f' h="{heading}"'
        vertices += vertex(60.0 + 20.0 * i, -1.75, 2.0 * i).replace("/></Position>", f"{stated}/></Position>")
    return trajectory(vertices, time).replace('followingMode="position"', f'followingMode="{mode}"')


@pytest.mark.parametrize(
    ("way", "seconds", "heading"),
    [
        (_turned(0.5, 0.5), 1.0, 0.5),
        (_turned(0.0, 1.0, 0.0), 0.5, 0.25),
        (_turned(0.0, 1.0, 0.0), 3.5, 0.25),
        (_turned(3.0, -3.0), 1.0, math.pi),
        (_turned(1.0, 1.0, None), 1.0, 1.0),
        (_turned(1.0, 1.0, None), 3.0, 0.0),
        (_turned(1.0, 1.0, mode="follow"), 1.0, 0.0),
        (_turned(0.0, 1.0, time="<None/>"), 1.0, 0.5),
    ],
)
def test_an_actor_is_turned_as_the_vertices_of_its_trajectory(
    tmp_path: Path, two_lanes: RoadMap, way: str, seconds: float, heading: float
) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), way))))
    drive(simulation, seconds)
    state = npc(simulation)
    assert state.pose[:2] == pytest.approx((60.0 + 10.0 * seconds, -1.75))
    assert math.cos(state.pose.heading - heading) == pytest.approx(1.0)


def test_the_orientation_of_a_vertex_on_a_lane_is_to_that(tmp_path: Path, two_ways: RoadMap) -> None:
    """Lane 1 runs against x."""
    facing = '<Orientation type="relative" h="0.5"/>'
    vertices = "".join(f'<Vertex time="{time}">{lane(s, 1, facing)}</Vertex>' for time, s in ((0.0, 60.0), (2.0, 80.0)))
    content = text(story(event("way", after(0.0), trajectory(vertices, TIMING))))
    simulation = run(tmp_path, two_ways, content)
    drive(simulation, 1.0)
    assert math.cos(npc(simulation).pose.heading - (0.5 - math.pi)) == pytest.approx(1.0)


def test_a_trajectory_over_a_place_that_is_nowhere_is_refused(tmp_path: Path, two_lanes: RoadMap) -> None:
    nowhere = '<Vertex time="5"><Position><RelativeLanePosition entityRef="npc" dLane="-4" ds="5"/></Position></Vertex>'
    timing = '<Timing domainAbsoluteRelative="relative" scale="1" offset="0"/>'
    way = trajectory(WAY.replace('<Vertex time="6.0">', f'{nowhere}<Vertex time="6.0">'), timing)
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(1.0), way))))
    with pytest.raises(
        InputError, match=r"test\.xosc:\d+:\d+: no place 5 m along the road from 'npc', .* on this map now"
    ):
        drive(simulation, 2.0)


def _shaped(shape: str, timing: str, attributes: str = "", closed: str = "false") -> str:
    return (
        f"<PrivateAction><RoutingAction><FollowTrajectoryAction {attributes}><TrajectoryRef>"
        f'<Trajectory name="t" closed="{closed}"><Shape>{shape}</Shape></Trajectory></TrajectoryRef><TimeReference>'
        f'{timing}</TimeReference><TrajectoryFollowingMode followingMode="position"/></FollowTrajectoryAction>'
        "</RoutingAction></PrivateAction>"
    )


SPLINE = (
    '<ClothoidSpline timeEnd="12"><ClothoidSplineSegment curvatureStart="0" curvatureEnd="0" length="40" timeStart="0">'
    f"<PositionStart>{lane(60.0)[10:-11]}</PositionStart></ClothoidSplineSegment><ClothoidSplineSegment "
    'curvatureStart="0" curvatureEnd="0" length="10" timeStart="10"/></ClothoidSpline>'
)


def _curve(knots: str, *controls: tuple[float, float]) -> str:
    points = "".join(f'<ControlPoint time="{time}">{lane(x)}</ControlPoint>' for x, time in controls)
    return f'<Nurbs order="3">{points}{"".join(f"""<Knot value="{knot}"/>""" for knot in knots.split())}</Nurbs>'


TIMED = [
    (SPLINE, 5.0, 80.0),
    (SPLINE, 11.0, 105.0),
    (_curve("0 0 0 1 1 1", (60.0, 0.0), (80.0, 1.0), (100.0, 8.0)), 0.25 * 1.0 * 2.0 + 0.25 * 8.0, 80.0),
]


@pytest.mark.parametrize(("shape", "seconds", "x"), TIMED)
@pytest.mark.medium
def test_a_curve_is_followed_by_its_times(
    tmp_path: Path, two_lanes: RoadMap, shape: str, seconds: float, x: float
) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), _shaped(shape, TIMING)))))
    drive(simulation, seconds)
    assert npc(simulation).pose.x == pytest.approx(x, abs=0.5)


def test_a_curve_whose_knots_are_spread_ends_before_its_last_control_point(tmp_path: Path, two_lanes: RoadMap) -> None:
    curve = _curve("0 1 2 3 4 5 6", (60.0, 0.0), (80.0, 2.0), (100.0, 4.0), (120.0, 6.0))
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), _shaped(curve, TIMING)))))
    drive(simulation, 5.1)
    assert npc(simulation).pose.x == pytest.approx(110.0, abs=1.1)
    assert simulation.scripted.maneuver_over("npc", 2)


@pytest.mark.parametrize(
    ("shape", "timing", "attributes", "closed", "what"),
    [
        (f"<Polyline>{WAY}</Polyline>", TIMING, "", "true", "the trajectory has no times"),
        (f"<Polyline>{WAY}</Polyline>".replace('"4.0"', '"9"'), TIMING, "", "false", "the trajectory has no times"),
        (f"<Polyline>{WAY}</Polyline>".replace(' time="4.0"', ""), TIMING, "", "false", "the trajectory has no times"),
        (SPLINE.replace('timeStart="10"', ""), TIMING, "", "false", "the trajectory has no times"),
        (SPLINE, TIMING.replace('scale="1"', 'scale="-1"'), "", "false", "scale is '-1' (expected a number from 1e-09"),
        (SPLINE, TIMING, 'initialDistanceOffset="5"', "false", "an offset into a trajectory that is followed by its"),
    ],
)
def test_times_that_cannot_be_followed_are_refused(
    tmp_path: Path, shape: str, timing: str, attributes: str, closed: str, what: str
) -> None:
    with pytest.raises(InputError, match=r"test\.xosc:\d+:\d+: ") as error:
        load(tmp_path, text(story(event("way", after(0.0), _shaped(shape, timing, attributes, closed)))))
    assert what in str(error.value)


def test_a_trajectory_begins_as_far_on_as_it_says(tmp_path: Path, two_lanes: RoadMap) -> None:
    way = _shaped(f"<Polyline>{WAY}</Polyline>", "<None/>", 'initialDistanceOffset="25"')
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), way))))
    drive(simulation, 2.2)
    assert npc(simulation).pose[:2] == pytest.approx((80.0, -8.1), abs=0.2), "straight to where it begins"
    assert npc(simulation).pose.heading == pytest.approx(-math.pi / 2.0, abs=0.1)


def test_a_trajectory_without_times_is_driven_at_the_own_speed(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("way", after(0.0), trajectory(WAY, "<None/>")))))
    drive(simulation, 2.55)
    state = npc(simulation)
    assert (state.pose.x, state.pose.y, state.speed) == pytest.approx((80.0, -7.0, 10.0), abs=0.6)


def test_one_that_is_synchronized_arrives_with_its_master(tmp_path: Path, two_lanes: RoadMap) -> None:
    action = (
        '<PrivateAction><SynchronizeAction masterEntityRef="other">'
        f"<TargetPositionMaster>{lane(300.0)[10:-11]}</TargetPositionMaster>"
        f"<TargetPosition>{lane(140.0)[10:-11]}</TargetPosition></SynchronizeAction></PrivateAction>"
    )
    other = init("other", teleport(lane(200.0)), speed(10.0))
    content = text(story(event("meet", after(0.0), action)), actions=other, entities=OTHER)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 10.0)
    assert npc(simulation, "other").pose.x == pytest.approx(300.0, abs=0.6)
    assert npc(simulation).pose.x == pytest.approx(140.0, abs=1.5)


@pytest.mark.parametrize("steady", ['<TargetDistanceSteadyState distance="40"/>', '<TargetTimeSteadyState time="5"/>'])
def test_one_that_is_synchronized_keeps_its_final_speed_for_as_long_as_it_is_to(
    tmp_path: Path, two_lanes: RoadMap, steady: str
) -> None:
    """It has 40 m left, at 8 m/s, when the master hurries on."""
    action = (
        '<PrivateAction><SynchronizeAction masterEntityRef="other">'
        f"<TargetPositionMaster>{lane(300.0)[10:-11]}</TargetPositionMaster>"
        f"<TargetPosition>{lane(140.0)[10:-11]}</TargetPosition><FinalSpeed><AbsoluteSpeed value='8'>{steady}"
        "</AbsoluteSpeed></FinalSpeed></SynchronizeAction></PrivateAction>"
    )
    other = init("other", teleport(lane(200.0)), speed(10.0))
    hurry = story(event("hurry", after(6.0), speed(20.0)), actor="other").replace('"story"', '"second"')
    content = text(story(event("meet", after(0.0), action)), hurry, actions=other, entities=OTHER)
    simulation = run(tmp_path, two_lanes, content)
    for seconds in (5.5, 1.5, 1.5):
        drive(simulation, seconds)
        assert npc(simulation).speed == pytest.approx(8.0, abs=0.01)
    assert npc(simulation).pose.x == pytest.approx(60.0 + 8.0 * 8.5, abs=1.0)


def test_at_the_end_of_the_road_it_stands(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(npc=init("npc", teleport(lane(390.0)), speed(10.0))))
    drive(simulation, 3.0)
    assert (npc(simulation).pose.x, npc(simulation).speed) == pytest.approx((400.0, 0.0), abs=0.01)

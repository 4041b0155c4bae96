"""What is read, and what is refused, at its line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import content_sha256
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scenario.model import EGO, ScriptedRoute, nodes
from tuling_fsm.sim.scenario.road_places import OnRoadLane
from tuling_fsm.sim.scenario.xml.expressions import ExpressionError, evaluate, resolve

from .files import CAR, after, drive, event, init, lane, load, run, speed, story, teleport, text, when

pytestmark = pytest.mark.clause("OSC-1")

FAULTS = [
    ('laneId="-1" s="60.0"', 'laneId="x" s="60.0"', "3:1", "laneId is 'x' (expected a number)"),
    ('revMinor="2"', 'revMinor="7"', "", "this is version 1.7 (expected 1.0, 1.1, 1.2, 1.3)"),
    ('<Private entityRef="npc">', '<Private entityRef="nobody">', "", "no entity 'nobody' (expected one of npc, Ego)"),
    ("LanePosition", "GeoPosition", "", "this position is not understood (expected one of WorldPosition, LanePosition"),
    ("TeleportAction", "LevitateAction", "", "this action is not understood (expected one of TeleportAction"),
    ("SimulationTimeCondition", "MoonCondition", "", "this condition is not understood (expected one of Simulation"),
    ('value="10.0"', 'value="$v"', "", "unknown parameter $v (expected a ParameterDeclaration)"),
    ('value="10.0"', 'value="${1 +}"', "", "is no expression"),
    ('dynamicsShape="step"', 'dynamicsShape="jump"', "", "dynamicsShape is 'jump' (expected one of linear, cubic"),
    ("<Storyboard>", "<Catalog/><Storyboard>", "", "a catalog is no scenario"),
    ('name="Ego">', 'name="npc">', "", "a second entity 'npc' (expected another name)"),
    ("</OpenSCENARIO>", "", "", "not XML"),
]


SLIPS = [
    ("<Story ", "<Stroy ", "<Stroy>: there is no 'Stroy' (expected 'Story')"),
    ("<Maneuver ", "<Manoeuvre ", "<Manoeuvre>: there is no 'Manoeuvre' (expected 'Maneuver')"),
    ("<Event ", "<Evnt ", "<Evnt>: there is no 'Evnt' (expected 'Event')"),
    ("<StartTrigger>", "<StartTriger>", "<StartTriger>: there is no 'StartTriger' (expected 'StartTrigger')"),
    ("<Condition ", "<Conditon ", "<ConditionGroup>: has no <Condition>"),
    ("Count=", "Counts=", "<ManeuverGroup>: has no attribute 'maximumExecutionCount'"),
    (
        'Count="1"><Action',
        'Counts="1"><Action',
        "<Event>: there is no 'maximumExecutionCounts' (expected 'maximumExecutionCount')",
    ),
    ("priority=", "priorty=", "<Event>: has no attribute 'priority'"),
    ("conditionEdge=", "edge=", "<Condition>: has no attribute 'conditionEdge'"),
    ("dynamicsDimension=", "dynamicDimension=", "<SpeedActionDynamics>: has no attribute 'dynamicsDimension'"),
    ("<Dimensions ", "<Dimension ", "<Dimension>: there is no 'Dimension' (expected 'Dimensions')"),
]


@pytest.mark.parametrize(("name", "slip", "what"), SLIPS)
def test_a_name_that_is_misspelled_is_refused(tmp_path: Path, name: str, slip: str, what: str) -> None:
    content = text(story(event("e", after(1.0), speed(3.0)))).replace(name, slip)
    if name[0] == "<":
        content = content.replace(f"</{name[1:].strip(' >')}>", f"</{slip[1:].strip(' >')}>")
    with pytest.raises(InputError, match=r"test\.xosc:\d+:\d+: ") as error:
        load(tmp_path, content)
    assert what in str(error.value)


def test_a_misspelled_attribute_is_refused_at_its_own_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test\.xosc:6:\d+: <Vehicle>: there is no 'vehicleCategorie'") as error:
        load(tmp_path, text().replace("vehicleCategory", "vehicleCategorie"))
    column = int(error.value.where.rpartition(":")[2])
    assert (tmp_path / "test.xosc").read_text().splitlines()[5][column - 1 :].startswith("vehicleCategorie=")


def test_a_misspelled_name_in_an_entry_of_a_catalog_is_refused_where_the_entry_is_referred_to(tmp_path: Path) -> None:
    entries = (CAR, CAR.replace('name="car"', 'name="slip"').replace("<Center ", "<Centre "))
    (tmp_path / "cars.xosc").write_text(
        f'<OpenSCENARIO><Catalog name="Cars">{"".join(entries)}</Catalog></OpenSCENARIO>'
    )
    places = '<CatalogLocations><VehicleCatalog><Directory path="cars.xosc"/></VehicleCatalog></CatalogLocations>'
    other = '<ScenarioObject name="o"><CatalogReference catalogName="Cars" entryName="{}"/></ScenarioObject>'
    placed = init("o", teleport(lane(9.0)))
    assert load(tmp_path, text(head=places, entities=other.format("car"), actions=placed)).notes == ()
    with pytest.raises(InputError, match=r"cars\.xosc:\d+:\d+: <Centre>: there is no 'Centre'"):
        load(tmp_path, text(head=places, entities=other.format("slip"), actions=placed))


def test_attributes_of_other_name_spaces_are_left_to_other_programs(tmp_path: Path) -> None:
    schema = (
        '<OpenSCENARIO xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="a.xsd">'
    )
    assert load(tmp_path, text().replace("<OpenSCENARIO>", schema)).notes == ()


@pytest.mark.parametrize(("good", "bad", "_", "what"), FAULTS)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, good: str, bad: str, _: str, what: str) -> None:
    content = text(story(event("e", after(1.0), speed(3.0))))
    assert good in content
    with pytest.raises(InputError, match=r"test\.xosc:\d+:\d+: ") as error:
        load(tmp_path, content.replace(good, bad))
    assert what in str(error.value)


BOUNDED = [
    (speed(float("inf")).replace("inf", "INF"), "value is 'INF' (expected a number from -1000 to 1000 m/s)"),
    (speed(1e9), "value is '1000000000.0' (expected a number from -1000 to 1000 m/s)"),
    (
        '<PrivateAction><LateralAction><LaneOffsetAction continuous="false"><LaneOffsetActionDynamics '
        'dynamicsShape="linear"/><LaneOffsetTarget><AbsoluteTargetLaneOffset value="INF"/></LaneOffsetTarget>'
        "</LaneOffsetAction></LateralAction></PrivateAction>",
        "value is 'INF' (expected a number from -10000 to 10000 m)",
    ),
    (
        '<PrivateAction><LongitudinalAction><LongitudinalDistanceAction entityRef="Ego" timeGap="INF" '
        'freespace="false" continuous="true"/></LongitudinalAction></PrivateAction>',
        "timeGap is 'INF' (expected a number from -3600 to 3600 s)",
    ),
]


@pytest.mark.parametrize(("action", "what"), BOUNDED)
def test_what_moves_an_actor_is_of_a_size_that_can_be(tmp_path: Path, action: str, what: str) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, text(story(event("e", after(1.0), action))))
    assert what in str(error.value)


def test_a_condition_may_compare_with_anything(tmp_path: Path) -> None:
    load(tmp_path, text(story(event("e", after(float("inf")), speed(1.0)))))


def test_lines_and_columns_are_counted_in_the_text(tmp_path: Path) -> None:
    content = (
        text().replace("<Storyboard>", "<!-- <Storyboard> -->\n  <Storyboard>").replace('value="10.0"', 'value="fast"')
    )
    before = content[: content.index('value="fast"')]
    line, column = before.count("\n") + 1, len(before) - before.rindex("\n")
    with pytest.raises(InputError) as error:
        load(tmp_path, content)
    assert str(error.value).endswith(
        f"test.xosc:{line}:{column}: <AbsoluteTargetSpeed>: value is 'fast' (expected a number)"
    )


EXPRESSIONS = [
    ("$speed", "12.5"),
    ("${$speed * 3}", "37.5"),
    ("${$speed * 2}", "25"),
    ("${-$speed + 1}", "-11.5"),
    ("${pow($n, 3) % 5}", "2"),
    ("${7 % 4}", "3"),
    ("${pow(2, 5)}", "32"),
    ("${pow(10, 20)}", "1e+20"),
    ("${$n / 3}", "1"),
    ("${round(2.5) + floor(-0.5) + ceil(0.2)}", "3"),
    ("${max($speed, 20) / 4}", "5"),
    ("${not $flag or $n == 3}", "true"),
    ("${sqrt(16) > 3 and $flag}", "true"),
    ("${sign(-2)}", "-1"),
    ("${round(1000 * cos(pi / 4))}", "707"),
    ("${round(1000 * sin(-$n))}", "-141"),
    ("${round(1000 * tan(1))}", "1557"),
    ("${acos(-1) == pi and atan(1) == pi / 4}", "true"),
    ("${asin(0)}", "0"),
    ("plain", "plain"),
]


@pytest.mark.parametrize(("written", "meant"), EXPRESSIONS)
def test_parameters_and_expressions(written: str, meant: str) -> None:
    assert resolve(written, {"speed": "12.5", "n": "3", "flag": "true"}) == meant


@pytest.mark.parametrize(
    "written",
    [
        "1 / 0",
        "$nobody",
        "open('x')",
        "sqrt(-1)",
        "[1]",
        "pow(2)",
        "pow(-1, 0.5)",
        "'a'",
        "asin(2)",
        "cos(1e7)",
        "tan()",
    ],
)
def test_an_expression_without_a_value_is_refused(written: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(written, {"speed": "12.5"})


DECLARED = (
    '<ParameterDeclarations><ParameterDeclaration name="v" parameterType="double" value="4"/></ParameterDeclarations>'
)


def test_a_parameter_is_overridden(tmp_path: Path) -> None:
    content = text(head=DECLARED).replace('value="10.0"', 'value="${$v + 1}"')
    assert load(tmp_path, content).actors[0].speed == 5.0
    assert load(tmp_path, content, v="7").actors[0].speed == 8.0
    with pytest.raises(InputError, match=r"no parameter 'w' to set \(expected one of v, ego\)"):
        load(tmp_path, content, w="7")


CONSTRAINED = DECLARED.replace(
    'value="4"/>',
    'value="4"><ConstraintGroup><ValueConstraint rule="greaterOrEqual" value="0"/><ValueConstraint rule="lessThan" '
    'value="20"/></ConstraintGroup><ConstraintGroup><ValueConstraint rule="equalTo" value="50"/></ConstraintGroup>'
    "</ParameterDeclaration>",
)


def test_a_parameter_keeps_within_its_constraints(tmp_path: Path) -> None:
    content = text(head=CONSTRAINED).replace('value="10.0"', 'value="$v"')
    assert [load(tmp_path, content, v=value).actors[0].speed for value in ("7", "50")] == [7.0, 50.0]
    with pytest.raises(InputError, match=r"test\.xosc:4:\d+: .* v is '60' \(expected a value >= 0 and < 20 or == 50\)"):
        load(tmp_path, content, v="60")


def test_a_selection_has_members_that_there_are(tmp_path: Path) -> None:
    selection = '<EntitySelection name="all"><Members><EntityRef entityRef="{}"/></Members></EntitySelection>'
    fast = story(event("e", after(1.0), speed(3.0)), actor="all")
    load(tmp_path, text(fast, entities=selection.format("npc")))
    with pytest.raises(InputError, match=r"no entity 'nobody' \(expected one of npc, Ego\)"):
        load(tmp_path, text(fast, entities=selection.format("nobody")))


def test_a_selection_by_type_may_be_empty_which_is_said(tmp_path: Path) -> None:
    selection = '<EntitySelection name="all"><Members><ByType objectType="{}"/></Members></EntitySelection>'
    asked = (
        '<ByEntityCondition><TriggeringEntities triggeringEntitiesRule="all"><EntityRef entityRef="all"/>'
        '</TriggeringEntities><EntityCondition><StandStillCondition duration="0"/></EntityCondition>'
        "</ByEntityCondition>"
    )
    stands = story(event("e", when(asked), speed(3.0)))
    assert load(tmp_path, text(stands, entities=selection.format("vehicle"))).notes == ()
    notes = load(tmp_path, text(stands, entities=selection.format("pedestrian"))).notes
    assert ["there is no entity to look at: this never holds" in note for note in notes] == [True]


def test_it_never_snows_which_is_said(tmp_path: Path) -> None:
    snow = (
        '<GlobalAction><EnvironmentAction><Environment name="e"><Weather cloudState="overcast"><Precipitation '
        'precipitationType="snow" precipitationIntensity="10"/></Weather></Environment></EnvironmentAction>'
        "</GlobalAction>"
    )
    assert "has no effect: it never snows" in "".join(load(tmp_path, text(actions=snow)).notes)


@pytest.mark.parametrize("number", [0, -7])
def test_a_lane_that_no_road_has_is_refused(tmp_path: Path, two_lanes: RoadMap, number: int) -> None:
    change = (
        '<PrivateAction><LateralAction><LaneChangeAction><LaneChangeActionDynamics dynamicsShape="linear" value="2" '
        f'dynamicsDimension="time"/><LaneChangeTarget><AbsoluteTargetLane value="{number}"/></LaneChangeTarget>'
        "</LaneChangeAction></LateralAction></PrivateAction>"
    )
    with pytest.raises(InputError, match=rf"test\.xosc:\d+:\d+: no road has a lane {number} on this map"):
        run(tmp_path, two_lanes, text(story(event("e", after(1.0), change))))


def test_the_ego_is_found_by_name_place_or_wish(tmp_path: Path) -> None:
    assert load(tmp_path, text()).ego == OnRoadLane("1", -1, 20.0)
    assert load(tmp_path, text(), ego="npc").ego == OnRoadLane("1", -1, 60.0)
    renamed = text().replace('"Ego"', '"car one"')
    assert load(tmp_path, renamed).ego == OnRoadLane("1", -1, 60.0)
    with pytest.raises(InputError, match="no vehicle 'bus' to be the ego"):
        load(tmp_path, text(), ego="bus")


def test_the_script_of_the_ego_is_obeyed_until_it_is_free(tmp_path: Path, two_lanes: RoadMap) -> None:
    ego = init("Ego", teleport(lane(20.0)), speed(6.0))
    later = story(event("brake", after(1.0), speed(0.0)), actor="Ego")
    scenario = load(tmp_path, text(later, ego=ego))
    assert (scenario.ego_speed, scenario.route) == (6.0, ScriptedRoute((), 1000.0))
    assert "is left to the planner" in "".join(scenario.notes)
    assert run(tmp_path, two_lanes, text(later, ego=ego)).preset is not None


def test_the_ego_goes_where_the_script_sends_it(tmp_path: Path, two_lanes: RoadMap) -> None:
    acquire = (
        f"<PrivateAction><RoutingAction><AcquirePositionAction>{lane(300.0, -2)}</AcquirePositionAction>"
        "</RoutingAction></PrivateAction>"
    )
    content = text(ego=init("Ego", teleport(lane(20.0)), acquire))
    assert load(tmp_path, content).route == ScriptedRoute((OnRoadLane("1", -2, 300.0),), 1000.0)
    route = run(tmp_path, two_lanes, content).preset
    assert route is not None
    assert route.reference.at(route.length)[:2] == pytest.approx((300.0, -5.25), abs=0.1)


def test_an_ego_without_a_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the ego 'Ego' has no place \(expected a TeleportAction of it in <Init>\)"):
        load(tmp_path, text(ego=""))


CATALOG = f"""<OpenSCENARIO><FileHeader revMajor="1" revMinor="0"/><Catalog name="Cars">
{
    CAR.replace('name="car"', 'name="long"')
    .replace(
        "<BoundingBox>",
        '''<ParameterDeclarations>
<ParameterDeclaration name="length" parameterType="double" value="7"/></ParameterDeclarations><BoundingBox>''',
    )
    .replace('length="5"', 'length="$length"')
}
</Catalog></OpenSCENARIO>"""


def test_an_entity_comes_from_a_catalog(tmp_path: Path) -> None:
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "catalogs" / "cars.xosc").write_text(CATALOG)
    places = '<CatalogLocations><VehicleCatalog><Directory path="catalogs"/></VehicleCatalog></CatalogLocations>'
    reference = '<CatalogReference catalogName="Cars" entryName="long"/>'
    content = text(head=places).replace(CAR, reference, 1)
    scenario = load(tmp_path, content)
    assert scenario.actors[0].length == 7.0
    read = (tmp_path / "test.xosc", tmp_path / "catalogs" / "cars.xosc")
    assert scenario.read_files == {str(file): content_sha256(file) for file in read}
    given = '<ParameterAssignments><ParameterAssignment parameterRef="length" value="9"/></ParameterAssignments>'
    longer = reference.replace("/>", f">{given}</CatalogReference>")
    assert load(tmp_path, text(head=places).replace(CAR, longer, 1)).actors[0].length == 9.0
    with pytest.raises(InputError, match="catalog 'Cars' has no entry 'short'"):
        load(tmp_path, content.replace('entryName="long"', 'entryName="short"'))
    with pytest.raises(InputError, match="no catalog 'Bikes'"):
        load(tmp_path, content.replace('catalogName="Cars"', 'catalogName="Bikes"'))


def _entry(tag: str, content: str) -> str:
    return (
        f'<{tag} name="entry"><ParameterDeclarations><ParameterDeclaration name="v" parameterType="double" value="3"/>'
        f"</ParameterDeclarations>{content}</{tag}>"
    )


_POINT = "<Position><WorldPosition x='{}' y='-1.75' h='0'/></Position>"
_ROUTING = "<PrivateAction><RoutingAction>{}</RoutingAction></PrivateAction>"
ASSIGNED = [
    (_entry("Maneuver", event("e", after(0.0), speed(3.0)).replace("3.0", "$v")), "{}", "value=12.0"),
    (
        _entry("Environment", '<Weather><Fog visualRange="$v"/></Weather>'),
        "<GlobalAction><EnvironmentAction>{}</EnvironmentAction></GlobalAction>",
        "SetFog(visual_range=12.0)",
    ),
    (
        _entry("Route", f"<Waypoint routeStrategy='shortest'>{_POINT.format('$v')}</Waypoint>"),
        _ROUTING.format("<AssignRouteAction>{}</AssignRouteAction>"),
        "AtPose(x=12.0",
    ),
    (
        _entry(
            "Trajectory",
            f"<Shape><Polyline><Vertex>{_POINT.format(9)}</Vertex><Vertex>{_POINT.format('$v')}</Vertex></Polyline></Shape>",
        ),
        _ROUTING.format(
            "<FollowTrajectoryAction><TrajectoryRef>{}</TrajectoryRef><TimeReference><None/></TimeReference>"
            "<TrajectoryFollowingMode followingMode='position'/></FollowTrajectoryAction>"
        ),
        "AtPose(x=12.0",
    ),
]


@pytest.mark.parametrize(("entry", "use", "words"), ASSIGNED)
def test_an_entry_of_a_catalog_has_the_parameters_that_it_is_given(
    tmp_path: Path, entry: str, use: str, words: str
) -> None:
    (tmp_path / "all.xosc").write_text(
        f'<OpenSCENARIO><FileHeader revMajor="1" revMinor="0"/><Catalog name="All">{entry}</Catalog></OpenSCENARIO>'
    )
    used = use.format(
        '<CatalogReference catalogName="All" entryName="entry"><ParameterAssignments>'
        '<ParameterAssignment parameterRef="v" value="12"/><ParameterAssignment parameterRef="w" value="1"/>'
        "</ParameterAssignments></CatalogReference>"
    )
    whole = story("X").replace('<Maneuver name="maneuver">X</Maneuver>', used)
    played = whole if use == "{}" else story(event("e", after(0.0), used))
    places = '<CatalogLocations><RouteCatalog><Directory path="."/></RouteCatalog></CatalogLocations>'
    scenario = load(tmp_path, text(played, head=places))
    assert words in str(list(nodes(scenario.storyboard)))
    without_effect = [each for each in scenario.notes if "is not read" not in each]
    assert len(without_effect) == 1
    assert "<ParameterAssignment>: has no effect: 'entry' declares no parameter 'w'" in without_effect[0]


def test_what_has_no_effect_is_said(tmp_path: Path) -> None:
    controller = "<PrivateAction><ActivateControllerAction lateral='true' longitudinal='true'/></PrivateAction>"
    notes = load(tmp_path, text(npc=init("npc", teleport(lane(60.0)), controller))).notes
    assert len(notes) == 1
    assert notes[0].startswith(f"{tmp_path / 'test.xosc'}:15:")
    assert "the default controller anything else" in notes[0]


def test_a_file_is_known_by_its_ending(tmp_path: Path) -> None:
    load(tmp_path, text(head='<RoadNetwork><LogicFile filepath="Town01"/></RoadNetwork>'))
    scenario = load_scenario(tmp_path / "test.xosc")
    assert (scenario.name, scenario.map_file) == ("test", str(tmp_path / "Town01"))
    (tmp_path / "Town01.xodr").touch()
    assert load_scenario(tmp_path / "test.xosc").map_file == str(tmp_path / "Town01.xodr")
    assert [actor.name for actor in scenario.actors] == ["npc"]
    assert EGO not in [actor.name for actor in scenario.actors]


def test_the_others_do_not_touch_the_ego(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(ego=init("Ego", teleport(lane(20.0)), speed(5.0))))
    drive(simulation, 1.0)
    assert simulation.ego.pose.y == pytest.approx(-1.75)

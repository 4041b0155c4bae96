"""What is understood in part, or measured otherwise, is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap

from .files import CAR, after, drive, event, init, lane, load, npc, run, speed, story, teleport, text, when

pytestmark = pytest.mark.clause("OSC-1")

PROFILE = (
    "<PrivateAction><LongitudinalAction><SpeedProfileAction followingMode='follow'{}>{}</SpeedProfileAction>"
    "</LongitudinalAction></PrivateAction>"
)
GAP = (
    "<PrivateAction><LongitudinalAction><LongitudinalDistanceAction entityRef='Ego' distance='20' freespace='false' "
    "continuous='false'>{}</LongitudinalDistanceAction></LongitudinalAction></PrivateAction>"
)
ASIDE = (
    "<PrivateAction><LateralAction><LateralDistanceAction entityRef='Ego' distance='2' freespace='false' "
    "continuous='false'>{}</LateralDistanceAction></LateralAction></PrivateAction>"
)
OFFSET = (
    "<PrivateAction><LateralAction><LaneOffsetAction continuous='false'><LaneOffsetActionDynamics "
    "dynamicsShape='linear'{}/><LaneOffsetTarget>{}</LaneOffsetTarget></LaneOffsetAction></LateralAction>"
    "</PrivateAction>"
)
MEETING = (
    "<PrivateAction><SynchronizeAction masterEntityRef='Ego'{}>"
    f"{lane(90.0).replace('Position>', 'TargetPositionMaster>', 1)[:-11]}</TargetPositionMaster>"
    f"{lane(90.0).replace('Position>', 'TargetPosition>', 1)[:-11]}</TargetPosition>"
    "<FinalSpeed><AbsoluteSpeed value='5'>{}</AbsoluteSpeed></FinalSpeed></SynchronizeAction></PrivateAction>"
)
ENTRY = '<SpeedProfileEntry speed="20"/>'
BY_RATE = '<SpeedActionDynamics dynamicsShape="linear" value="1" dynamicsDimension="rate"/>'
ALL_LIMITS = '<DynamicConstraints maxAcceleration="1" maxDeceleration="1" maxSpeed="50"/>'
FOLLOWING = "<SpeedProfileAction>: its attribute 'followingMode' is not read"
SAID = [
    (PROFILE.format("", ENTRY), ["has limits where it states none: maxAcceleration 5, maxDeceleration 5", FOLLOWING]),
    (PROFILE.format("", ALL_LIMITS + ENTRY), ["maxSpeed: without effect", FOLLOWING]),
    (
        PROFILE.format(' entityRef="Ego"', '<SpeedProfileEntry speed="2" time="4"/>'),
        ["the speed of the reference is that of the moment when the action begins", FOLLOWING],
    ),
    (GAP.format(""), ["none: maxAcceleration 5, maxDeceleration 10, maxSpeed 100"]),
    (GAP.format(ALL_LIMITS), []),
    (ASIDE.format(""), ["has limits where it states none: maxSpeed 1"]),
    (ASIDE.format(ALL_LIMITS), ["maxAcceleration, maxDeceleration: without effect"]),
    (OFFSET.format("", '<AbsoluteTargetLaneOffset value="1"/>'), ["without maxLateralAcc it is 1 m/s^2"]),
    (OFFSET.format(' maxLateralAcc="2"', '<AbsoluteTargetLaneOffset value="1"/>'), []),
    (
        OFFSET.format("", '<RelativeTargetLaneOffset entityRef="Ego" value="1"/>'),
        ["has no effect on a relative offset"],
    ),
    (MEETING.format(' targetTolerance="1"', ""), ["its tolerances have no effect"]),
    (MEETING.format("", '<TargetTimeSteadyState time="2"/>'), []),
]


@pytest.mark.parametrize(("action", "words"), SAID)
def test_what_an_action_states_without_effect_and_what_it_has_unstated_is_said(
    tmp_path: Path, action: str, words: list[str]
) -> None:
    notes = load(tmp_path, text(story(event("e", after(1.0), action)))).notes
    assert len(notes) == len(words)
    assert all(each in note for each, note in zip(words, notes, strict=True))


UNREAD = [
    ('name="e" priority', 'name="e" prio="1" priority', "<Event>: its attribute 'prio' is not read"),
    ("</TeleportAction>", "</TeleportAction><Xx/>", "<Xx>: is not read in <PrivateAction>"),
    ("<Entities>", "<UsedArea/><Entities>", "<UsedArea>: is not read in <OpenSCENARIO>"),
    ("<Actions>", "<Actions><Privates/>", "<Privates>: is not read in <Actions>"),
    ("</StartTrigger></Ev", "</StartTrigger><StartTrigger/></Ev", "<StartTrigger>: is not read in <Event>"),
    ("revMajor", 'xmlns:x="urn:x" x:more="1" author="me" revMajor', ""),
    ("<BoundingBox>", '<Performance maxSpeed="9"/><BoundingBox>', ""),
    ("<Storyboard>", "<!-- <Xx/> --><Storyboard>", ""),
]


@pytest.mark.parametrize(("good", "more", "what"), UNREAD)
def test_what_nobody_reads_is_said_once_for_each_name_at_its_first_place(
    tmp_path: Path, good: str, more: str, what: str
) -> None:
    content = text(story(event("e", after(1.0), speed(3.0))), story(event("e", after(2.0), speed(4.0))))
    lines = content.replace(' author="us"', "").replace(good, more).splitlines()
    notes = load(tmp_path, "\n".join(lines)).notes
    assert len(notes) == (1 if what else 0)
    if what:
        where, _, said = notes[0].partition(": ")
        line, column = (int(number) for number in where.split(":")[-2:])
        assert said == what
        name = what.split("'")[1] if "attribute" in what else what.split(":")[0][:-1]
        assert lines[line - 1][column - 1 :].startswith(name)
        assert line == 1 + next(i for i, each in enumerate(lines) if name in each)


MISSPELLED = [
    (
        when(
            "<ByEntityCondition><TriggeringEntities triggeringEntitiesRule='any'><EntityReff entityRef='npc'/>"
            "</TriggeringEntities><EntityCondition><EndOfRoadCondition duration='1'/></EntityCondition>"
            "</ByEntityCondition>"
        ),
        speed(3.0),
        "<EntityReff>: there is no 'EntityReff' (expected 'EntityRef')",
    ),
    (
        when("<ByValueCondition><VariableCondition varRef='v' rule='equalTo' value='1'/></ByValueCondition>"),
        speed(3.0),
        "<VariableCondition>: has no attribute 'variableRef'",
    ),
    (
        after(0.0),
        MEETING.format("", "").replace("AbsoluteSpeed", "AbsolutSpeed").replace("></AbsolutSpeed>", "/>"),
        "<AbsolutSpeed>: there is no 'AbsolutSpeed' (expected 'AbsoluteSpeed')",
    ),
]


@pytest.mark.parametrize(("trigger", "action", "what"), MISSPELLED)
def test_a_misspelled_name_is_refused_where_its_absence_means_something(
    tmp_path: Path, trigger: str, action: str, what: str
) -> None:
    with pytest.raises(InputError, match=r"test\.xosc:\d+:\d+: ") as error:
        load(tmp_path, text(story(event("e", trigger, action))))
    assert what in str(error.value)


def test_what_is_in_an_element_that_is_left_out_as_a_whole_is_not_looked_at(tmp_path: Path) -> None:
    action = "<PrivateAction><VisibilityAction graphics='true'><SensorReferenceSet/></VisibilityAction></PrivateAction>"
    unknown = when("<ByValueCondition><VariableCondition variableRef='v' rule='equalTo' value='1'/></ByValueCondition>")
    notes = load(tmp_path, text(story(event("e", unknown, action)))).notes
    assert [note.partition("<")[2] for note in notes] == [
        "VisibilityAction>: has no effect: everything can be seen",
        "VariableCondition>: nothing declares 'v': this never holds",
    ]


@pytest.mark.parametrize(("closed", "said"), [("false", []), ("true", [True])])
def test_a_closed_route_is_said_to_end(tmp_path: Path, closed: str, said: list[bool]) -> None:
    route = f"<Route name='r' closed='{closed}'><Waypoint>{lane(90.0)}</Waypoint></Route>"
    action = (
        f"<PrivateAction><RoutingAction><AssignRouteAction>{route}</AssignRouteAction></RoutingAction></PrivateAction>"
    )
    notes = load(tmp_path, text(story(event("e", after(1.0), action)))).notes
    assert ["<Route>: closed has no effect: it ends at its last waypoint" in note for note in notes] == said


def test_a_speed_profile_keeps_within_its_limits(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("e", after(0.0), PROFILE.format("", ALL_LIMITS + ENTRY)))))
    drive(simulation, 2.0)
    assert npc(simulation).speed == pytest.approx(12.0, abs=0.1)


def test_what_the_ego_is_not_asked_to_take_its_time_for_is_said(tmp_path: Path) -> None:
    begins = load(tmp_path, text(ego=init("Ego", teleport(lane(20.0)), speed(8.0, BY_RATE)))).notes
    assert ["the ego begins with this speed" in note for note in begins] == [True]
    later = load(tmp_path, text(story(event("e", after(1.0), speed(8.0, BY_RATE)), actor="Ego"))).notes
    assert ["its dynamics state no time" in note for note in later] == [False, True]


def test_an_entity_that_nothing_places_is_said_to_be_nowhere(tmp_path: Path) -> None:
    other = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
    fast = story(event("e", after(0.5), speed(5.0)), actor="other")
    notes = load(tmp_path, text(fast, entities=other)).notes
    assert ["'other' is never in the world" in note for note in notes] == [True]
    comes = story(event("e", after(0.5), teleport(lane(90.0))), actor="other")
    assert load(tmp_path, text(comes, entities=other)).notes == ()


def test_a_state_of_a_group_of_signals_is_said_to_have_no_effect(tmp_path: Path) -> None:
    phase = '<Phase name="p" duration="5"><TrafficSignalGroupState state="off;off;on"/></Phase>'
    controller = f'<TrafficSignalController name="c">{phase}</TrafficSignalController>'
    notes = load(tmp_path, text(head=f"<RoadNetwork><TrafficSignals>{controller}</TrafficSignals></RoadNetwork>")).notes
    assert ["it names no signal" in note for note in notes] == [True]


@pytest.mark.parametrize(("direction", "fires"), [("", False), (" direction='longitudinal'", True)])
def test_a_speed_without_a_direction_is_the_total_one(
    tmp_path: Path, two_lanes: RoadMap, direction: str, fires: bool
) -> None:
    slow = when(
        '<ByEntityCondition><TriggeringEntities triggeringEntitiesRule="any"><EntityRef entityRef="npc"/>'
        f'</TriggeringEntities><EntityCondition><SpeedCondition value="1" rule="lessThan"{direction}/>'
        "</EntityCondition></ByEntityCondition>"
    )
    back = init("npc", teleport(lane(200.0)), speed(-6.0))
    simulation = run(tmp_path, two_lanes, text(story(event("e", slow, speed(2.0))), npc=back))
    drive(simulation, 0.5)
    assert npc(simulation).speed == (2.0 if fires else -6.0)


@pytest.mark.parametrize("encoding", ["windows-936", "EUC-TW", "no-such"])
def test_an_encoding_that_is_not_known_is_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError, match=r"test\.xosc:1:\d+: .*ncoding"):
        load(tmp_path, text().replace("UTF-8", encoding))

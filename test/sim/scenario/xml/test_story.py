"""Events, priorities, edges, states and the end of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.reporting.result import result_of
from tuling_fsm.sim.reporting.run_log import RunLog
from tuling_fsm.world.inputs import Light

from .files import CAR, after, drive, event, init, lane, load, npc, run, speed, story, teleport, text, when, when_state

pytestmark = pytest.mark.clause("OSC-1")

DECLARED = (
    '<ParameterDeclarations><ParameterDeclaration name="go" parameterType="double" value="1"/></ParameterDeclarations>'
)
_ADD = (
    '<GlobalAction><ParameterAction parameterRef="go"><ModifyAction><Rule><AddValue value="{}"/></Rule>'
    "</ModifyAction></ParameterAction></GlobalAction>"
)
OTHER = '<ScenarioObject name="other"><Pedestrian name="p" pedestrianCategory="pedestrian"/></ScenarioObject>'
ONE_S_MORE = (
    "<PrivateAction><LongitudinalAction><SpeedAction><SpeedActionDynamics dynamicsShape='linear' value='1' "
    "dynamicsDimension='time'/><SpeedActionTarget><RelativeTargetSpeed entityRef='npc' value='1' "
    "speedTargetValueType='delta' continuous='false'/></SpeedActionTarget></SpeedAction></LongitudinalAction>"
    "</PrivateAction>"
)
RAMP = '<SpeedActionDynamics dynamicsShape="linear" value="4" dynamicsDimension="time"/>'


def _parameter(rule: str, value: float | str) -> str:
    return f'<ByValueCondition><ParameterCondition parameterRef="go" value="{value}" rule="{rule}"/></ByValueCondition>'


def _of(condition: str, entity: str = "npc") -> str:
    return (
        f'<ByEntityCondition><TriggeringEntities triggeringEntitiesRule="any"><EntityRef entityRef="{entity}"/>'
        f"</TriggeringEntities><EntityCondition>{condition}</EntityCondition></ByEntityCondition>"
    )


@pytest.mark.parametrize(("priority", "expected"), [("override", 3.0), ("parallel", 3.0), ("skip", 14.0)])
@pytest.mark.medium
def test_priority_says_what_becomes_of_one_that_is_under_way(
    tmp_path: Path, two_lanes: RoadMap, priority: str, expected: float
) -> None:
    slow = event("slow", after(1.0), speed(3.0), priority=priority)
    content = text(story(event("fast", after(0.0), speed(14.0, RAMP)), slow))
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 6.0)
    assert npc(simulation).speed == pytest.approx(expected)


def test_an_event_is_executed_as_often_as_it_may(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("more", after(0.0), ONE_S_MORE, count=3))))
    drive(simulation, 8.0)
    assert npc(simulation).speed == pytest.approx(13.0)


@pytest.mark.parametrize(
    ("state", "begins"),
    [("startTransition", 1.0), ("endTransition", 5.0), ("completeState", 5.0), ("runningState", 1.0)],
)
@pytest.mark.medium
def test_one_event_waits_for_another(tmp_path: Path, two_lanes: RoadMap, state: str, begins: float) -> None:
    first = event("first", after(1.0), speed(14.0, RAMP))
    other = init("other", teleport(lane(200.0, -2)), speed(1.0))
    second = story(event("second", when_state("first", "event", state), speed(2.0)), actor="other").replace(
        '"story"', '"another"'
    )
    simulation = run(tmp_path, two_lanes, text(story(first), second, actions=other, entities=OTHER))
    drive(simulation, begins - 0.2)
    assert npc(simulation, "other").speed == 1.0
    drive(simulation, 0.5)
    assert npc(simulation, "other").speed == 2.0


@pytest.mark.parametrize("transition", ["startTransition", "endTransition"])
@pytest.mark.medium
def test_a_transition_holds_once(tmp_path: Path, two_lanes: RoadMap, transition: str) -> None:
    first = event("first", after(1.0), speed(14.0, RAMP))
    again = event("again", when_state("first", "event", transition), _ADD.format(1), count=5)
    twice = event("twice", when(_parameter("greaterOrEqual", 3)), speed(3.0))
    simulation = run(tmp_path, two_lanes, text(story(first, again, twice), head=DECLARED))
    drive(simulation, 6.0)
    assert npc(simulation).speed == 14.0


def _seen(tmp_path: Path, two_lanes: RoadMap, played: str, condition: str, latest: float) -> float | None:
    """When a pedestrian sees that a condition on a story of the car holds, s."""
    watcher = story(event("watcher", condition, speed(2.0)), actor="other").replace('"story"', '"another"')
    other, entities = init("other", teleport(lane(200.0, -2)), speed(1.0)), OTHER
    simulation = run(tmp_path, two_lanes, text(played, watcher, actions=other, entities=entities, head=DECLARED))
    while simulation.stamp < latest:
        drive(simulation, simulation.dt)
        if npc(simulation, "other").speed == 2.0:
            return simulation.stamp - simulation.dt
    return None


@pytest.mark.parametrize("element", ["group", "maneuver", "A"])
@pytest.mark.parametrize(("state", "expected"), [("completeState", 3.0), ("runningState", 1.5)])
@pytest.mark.medium
def test_what_is_executed_again_is_not_complete(
    tmp_path: Path, two_lanes: RoadMap, element: str, state: str, expected: float
) -> None:
    kind = {"group": "maneuverGroup", "maneuver": "maneuver", "A": "event"}[element]
    later = after(1.5).removeprefix("<ConditionGroup>")
    asks = when_state(element, kind, state).removesuffix("</ConditionGroup>") + later
    played = story(event("A", after(0.0), ONE_S_MORE)).replace('Count="1">', 'Count="3">', 1)
    assert _seen(tmp_path, two_lanes, played, asks, 4.0) == pytest.approx(expected, abs=0.11)


@pytest.mark.parametrize(("element", "kind"), [("act", "act"), ("A", "event"), ("A 0", "action")])
@pytest.mark.parametrize(("transition", "expected"), [("stopTransition", 1.0), ("endTransition", None)])
@pytest.mark.medium
def test_an_act_that_is_stopped_stops_all_in_it(
    tmp_path: Path, two_lanes: RoadMap, element: str, kind: str, transition: str, expected: float | None
) -> None:
    played = story(event("A", after(0.0), speed(18.0, RAMP))).replace(
        "</StartTrigger></Act>", f"</StartTrigger><StopTrigger>{after(1.0)}</StopTrigger></Act>"
    )
    seen = _seen(tmp_path, two_lanes, played, when_state(element, kind, transition), 2.0)
    assert seen == (None if expected is None else pytest.approx(expected, abs=0.06))


def test_an_event_that_is_skipped_for_the_last_time_is_complete(tmp_path: Path, two_lanes: RoadMap) -> None:
    played = story(event("long", after(0.0), speed(18.0, RAMP)), event("A", after(0.5), speed(3.0), priority="skip"))
    seen = _seen(tmp_path, two_lanes, played, when_state("A", "event", "completeState"), 2.0)
    assert seen == pytest.approx(0.5, abs=0.06)


BY_ENTITY = [
    ('<TraveledDistanceCondition value="20"/>', 2.0),
    ('<ReachPositionCondition tolerance="1">' + lane(81.0) + "</ReachPositionCondition>", 2.0),
    ('<DistanceCondition value="10" freespace="false" rule="lessThan">' + lane(90.0) + "</DistanceCondition>", 2.0),
    ('<RelativeDistanceCondition entityRef="Ego" relativeDistanceType="longitudinal" value="60" freespace="false" '
     'rule="greaterThan"/>', 2.0),
    ('<RelativeDistanceCondition entityRef="Ego" relativeDistanceType="longitudinal" coordinateSystem="road" '
     'value="60" freespace="false" rule="greaterThan"/>', 2.0),
    ('<TimeHeadwayCondition entityRef="Ego" value="6" freespace="false" rule="greaterThan"/>', 2.0),
    ('<SpeedCondition value="9" rule="greaterThan"/>', 0.0),
    ('<RelativeSpeedCondition entityRef="Ego" value="9" rule="greaterThan"/>', 0.0),
    ('<EndOfRoadCondition duration="1"/>', 35.0),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "begins"), BY_ENTITY)
@pytest.mark.medium
def test_conditions_of_entities(tmp_path: Path, two_lanes: RoadMap, condition: str, begins: float) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("e", when(_of(condition)), speed(-0.5)))))
    drive(simulation, begins - 0.2)
    assert begins == 0.0 or npc(simulation).speed != -0.5
    drive(simulation, 0.6)
    assert npc(simulation).speed == -0.5


HEADWAYS = [
    ("", 0.53),
    ('coordinateSystem="entity" relativeDistanceType="euclidianDistance"', 0.53),
    ('coordinateSystem="entity" relativeDistanceType="longitudinal"', 0.4),
    ('coordinateSystem="road" relativeDistanceType="longitudinal"', 0.4),
    ('coordinateSystem="entity" relativeDistanceType="lateral"', 0.35),
    ('alongRoute="true"', 0.4),
]


@pytest.mark.parametrize(("how", "seconds"), HEADWAYS)
def test_a_headway_is_measured_as_it_is_asked_for(tmp_path: Path, two_lanes: RoadMap, how: str, seconds: float) -> None:
    events = [
        event(
            rule,
            when(_of(f'<TimeHeadwayCondition entityRef="Ego" value="{value}" freespace="false" rule="{rule}" {how}/>')),
            _ADD.format(1),
        )
        for rule, value in (("greaterThan", seconds - 0.01), ("lessThan", seconds + 0.01))
    ]
    both = event("both", when(_parameter("equalTo", 3)), speed(2.0))
    own = init("npc", teleport(lane(24.0, -2)), speed(10.0))
    simulation = run(tmp_path, two_lanes, text(story(*events, both), npc=own, head=DECLARED))
    drive(simulation, 0.06)
    assert npc(simulation).speed == 2.0


@pytest.mark.parametrize(("freespace", "begins"), [("false", 2.0), ("true", 1.5)])
def test_a_time_to_collision_is_of_points_or_of_bodies(
    tmp_path: Path, two_lanes: RoadMap, freespace: str, begins: float
) -> None:
    asks = (
        f'<TimeToCollisionCondition freespace="{freespace}" rule="lessThan" value="2"><TimeToCollisionConditionTarget>'
        '<EntityRef entityRef="Ego"/></TimeToCollisionConditionTarget></TimeToCollisionCondition>'
    )
    own, ego = init("npc", teleport(lane(20.0)), speed(10.0)), init("Ego", teleport(lane(60.0)))
    simulation = run(tmp_path, two_lanes, text(story(event("e", when(_of(asks)), speed(2.0))), npc=own, ego=ego))
    drive(simulation, begins)
    assert npc(simulation).speed == 10.0
    drive(simulation, 0.3)
    assert npc(simulation).speed == 2.0


FRAMES = [
    ('<DistanceCondition relativeDistanceType="longitudinal" coordinateSystem="{}" value="1" freespace="false" '
     f'rule="lessThan">{lane(90.0)}</DistanceCondition>', "a longitudinal distance is measured in the frame of the "),
    ('<RelativeDistanceCondition entityRef="Ego" relativeDistanceType="lateral" coordinateSystem="{}" value="1" '
     'freespace="false" rule="lessThan"/>', "a lateral distance is measured in the frame of the entity"),
    ('<TimeToCollisionCondition coordinateSystem="{}" freespace="true" value="1" rule="lessThan">'
     '<TimeToCollisionConditionTarget><EntityRef entityRef="Ego"/></TimeToCollisionConditionTarget>'
     "</TimeToCollisionCondition>", "is the time until both touch on their way"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "note"), FRAMES)
def test_a_frame_that_is_not_measured_in_is_said_and_a_word_that_is_none_refused(
    tmp_path: Path, condition: str, note: str
) -> None:
    asks = when(_of(condition.format("lane")))
    assert note in "".join(load(tmp_path, text(story(event("e", asks, speed(2.0))))).notes)
    with pytest.raises(InputError, match=r"coordinateSystem is 'bogus' \(expected one of entity, lane, road"):
        load(tmp_path, text(story(event("e", asks.replace('"lane"', '"bogus"'), speed(2.0)))))


@pytest.mark.parametrize(("kind", "speed_after"), [("pedestrian", 10.0), ("vehicle", 2.0)])
def test_a_collision_with_a_type_is_with_one_of_it(
    tmp_path: Path, two_lanes: RoadMap, kind: str, speed_after: float
) -> None:
    hit = event("hit", when(_of(f'<CollisionCondition><ByType type="{kind}"/></CollisionCondition>')), speed(2.0))
    car = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
    content = text(story(hit), actions=init("other", teleport(lane(70.0))), entities=car)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 1.0)
    assert npc(simulation).speed == speed_after


def test_standing_still_and_collisions(tmp_path: Path, two_lanes: RoadMap) -> None:
    stop = event("stop", after(1.0), speed(0.0))
    again = event("again", when(_of('<StandStillCondition duration="2"/>')), speed(-10.0))
    hit = event("hit", when(_of('<CollisionCondition><EntityRef entityRef="Ego"/></CollisionCondition>')), speed(0.0))
    simulation = run(tmp_path, two_lanes, text(story(stop, again, hit)))
    drive(simulation, 2.9)
    assert npc(simulation).speed == 0.0
    drive(simulation, 0.4)
    assert npc(simulation).speed == -10.0
    drive(simulation, 6.0)
    assert npc(simulation).speed == 0.0
    assert 20.0 < npc(simulation).pose.x < 26.0


def test_an_edge_is_a_change_and_a_delay_is_waited_for(tmp_path: Path, two_lanes: RoadMap) -> None:
    fast = '<SpeedCondition value="5" rule="greaterThan"/>'
    falling = event("down", when(_of(fast), edge="falling", delay=1.0), speed(7.0))
    rising = event("up", when(_of(fast), edge="rising"), speed(20.0))
    slower = event("slower", after(2.0), speed(3.0))
    simulation = run(tmp_path, two_lanes, text(story(falling, rising, slower)))
    drive(simulation, 1.9)
    assert npc(simulation).speed == 10.0, "what holds from the beginning on has no edge"
    drive(simulation, 1.0)
    assert npc(simulation).speed == 3.0
    drive(simulation, 0.5)
    assert npc(simulation).speed == 20.0, "the delayed event makes it fast, and that is the rising edge"


def test_parameters_change_while_it_runs(tmp_path: Path, two_lanes: RoadMap) -> None:
    asks = when(_parameter("equalTo", 3))
    content = text(story(event("set", after(1.0), _ADD.format(2)), event("then", asks, speed(2.0))), head=DECLARED)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 0.9)
    assert npc(simulation).speed == 10.0
    drive(simulation, 0.4)
    assert npc(simulation).speed == 2.0


TYPED = (
    '<VariableDeclarations><VariableDeclaration name="word" variableType="string" value="1"/>'
    '<VariableDeclaration name="flag" variableType="boolean" value="true"/>'
    '<VariableDeclaration name="day" variableType="dateTime" value="2026-01-01T00:00:00Z"/></VariableDeclarations>'
)


def _variable(name: str, rule: str, value: str) -> str:
    return when(
        f'<ByValueCondition><VariableCondition variableRef="{name}" value="{value}" rule="{rule}"/></ByValueCondition>'
    )


@pytest.mark.parametrize(
    ("name", "rule", "value", "expected"),
    [
        ("word", "equalTo", "1.0", False),
        ("word", "notEqualTo", "1.0", True),
        ("flag", "equalTo", "1", True),
        ("flag", "notEqualTo", "true", False),
        ("day", "lessThan", "2027-01-01T00:00:00", True),
        ("day", "lessThan", "2026-01-01T00:00:00", False),
        ("day", "equalTo", "2026-01-01T01:30:00.0+01:30", True),
        ("day", "greaterThan", "2025-12-31T23:59:59.9Z", True),
    ],
)
def test_values_are_compared_by_their_type(
    tmp_path: Path, two_lanes: RoadMap, name: str, rule: str, value: str, expected: bool
) -> None:
    content = text(story(event("e", _variable(name, rule, value), speed(2.0))), head=TYPED)
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 0.2)
    assert (npc(simulation).speed == 2.0) is expected


@pytest.mark.parametrize(
    ("name", "rule", "value", "what"),
    [
        ("word", "lessThan", "abc", "'word' is a string, which has no order (expected equalTo, notEqualTo)"),
        ("flag", "greaterThan", "true", "'flag' is a boolean, which has no order (expected equalTo, notEqualTo)"),
        ("flag", "equalTo", "yes", "value is 'yes' (expected one to compare 'flag' with, a boolean)"),
        ("day", "lessThan", "noon", "value is 'noon' (expected one to compare 'day' with, a dateTime)"),
        ("day", "lessThan", "2026-02-30T00:00:00", "(expected one to compare 'day' with, a dateTime)"),
    ],
)
def test_a_comparison_that_has_no_meaning_is_refused(
    tmp_path: Path, name: str, rule: str, value: str, what: str
) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, text(story(event("e", _variable(name, rule, value), speed(2.0))), head=TYPED))
    assert what in str(error.value)


def test_a_time_between_two_steps_is_met_once(tmp_path: Path, two_lanes: RoadMap) -> None:
    asks = '<ByValueCondition><SimulationTimeCondition value="{}" rule="equalTo"/></ByValueCondition>'
    between, on = (event(str(at), when(asks.format(at)), _ADD.format(1), count=9) for at in (0.52, 0.6))
    twice = event("twice", when(_parameter("equalTo", 3)), speed(3.0))
    more = event("more", when(_parameter("greaterThan", 3)), speed(4.0))
    simulation = run(tmp_path, two_lanes, text(story(between, on, twice, more), head=DECLARED))
    drive(simulation, 1.0)
    assert npc(simulation).speed == 3.0


def test_entities_come_and_go(tmp_path: Path, two_lanes: RoadMap) -> None:
    gone = '<GlobalAction><EntityAction entityRef="npc"><DeleteEntityAction/></EntityAction></GlobalAction>'
    back = gone.replace("<DeleteEntityAction/>", f"<AddEntityAction>{lane(100.0)}</AddEntityAction>")
    simulation = run(tmp_path, two_lanes, text(story(event("gone", after(1.0), gone), event("back", after(2.0), back))))
    drive(simulation, 1.5)
    assert simulation.scripted.state("npc") is None
    drive(simulation, 1.0)
    assert npc(simulation).pose.x == pytest.approx(100.0)


def test_the_stop_trigger_ends_the_run(tmp_path: Path, two_lanes: RoadMap) -> None:
    simulation = run(tmp_path, two_lanes, text(stop=after(3.0)))
    drive(simulation, 10.0)
    assert simulation.end == "scenario"
    assert simulation.stamp == pytest.approx(3.0, abs=0.11)
    assert result_of(simulation, RunLog(), 0.0)["finished"]


def test_the_stop_trigger_of_an_act_ends_its_maneuvers(tmp_path: Path, two_lanes: RoadMap) -> None:
    content = text(story(event("fast", after(0.0), speed(18.0, RAMP)))).replace(
        "</StartTrigger></Act>", f"</StartTrigger><StopTrigger>{after(2.0)}</StopTrigger></Act>"
    )
    simulation = run(tmp_path, two_lanes, content)
    drive(simulation, 6.0)
    assert npc(simulation).speed == pytest.approx(14.0, abs=0.3), "half of the change, which then goes no further"


def test_a_file_that_is_over_before_the_first_frame_is_refused(tmp_path: Path, two_lanes: RoadMap) -> None:
    with pytest.raises(InputError, match=r"\.xosc: over before the first frame"):
        run(tmp_path, two_lanes, text(stop=after(0.0)))


def test_weather_and_fog(tmp_path: Path, two_lanes: RoadMap) -> None:
    weather = (
        '<GlobalAction><EnvironmentAction><Environment name="e"><Weather cloudState="overcast"><Fog visualRange="50"/>'
        '<Precipitation precipitationType="rain" precipitationIntensity="10"/></Weather></Environment>'
        "</EnvironmentAction></GlobalAction>"
    )
    simulation = run(tmp_path, two_lanes, text(actions=weather))
    assert simulation.environment.foggy
    assert simulation.environment.rains


CONTROLLER = """<RoadNetwork><LogicFile filepath="x.xodr"/><TrafficSignals><TrafficSignalController name="c">
<Phase name="go" duration="2"><TrafficSignalState trafficSignalId="{0}" state="off;off;on"/></Phase>
<Phase name="stop" duration="3"><TrafficSignalState trafficSignalId="{0}" state="red"/></Phase>
</TrafficSignalController></TrafficSignals></RoadNetwork>"""


def test_a_signal_controller_goes_through_its_phases(tmp_path: Path, lit: RoadMap) -> None:
    number = next(signal.number for signal in lit.signals.values() if signal.dynamic)
    place = '<Position><WorldPosition x="-80" y="-1.75" h="0"/></Position>'
    asks = (
        '<ByValueCondition><TrafficSignalControllerCondition trafficSignalControllerRef="c" phase="stop"/>'
        "</ByValueCondition>"
    )
    content = text(
        story(event("e", when(asks), speed(1.0))),
        head=CONTROLLER.format(number),
        npc=init("npc", teleport('<Position><WorldPosition x="-60" y="-1.75" h="0"/></Position>')),
        ego=init("Ego", teleport(place)),
    )
    simulation = run(tmp_path, lit, content)
    seen = []
    for _ in range(3):
        drive(simulation, 1.5 if seen else 1.0)
        seen.append(simulation.lights.state(number, simulation.stamp))
    drive(simulation, 2.0)
    assert seen == [Light.GREEN, Light.RED, Light.RED]
    assert simulation.lights.state(number, simulation.stamp) is Light.GREEN
    assert npc(simulation).speed == 1.0


def _phase_is(name: str, phase: str) -> str:
    return when(
        f'<ByValueCondition><TrafficSignalControllerCondition trafficSignalControllerRef="{name}" phase="{phase}"/>'
        "</ByValueCondition>"
    )


def _switches(tmp_path: Path, two_lanes: RoadMap, controllers: str, name: str, *events: str) -> list[float]:
    """When a controller goes over to another one of the phases `go` and `stop`, s."""
    head = f'<RoadNetwork><LogicFile filepath="x"/><TrafficSignals>{controllers}</TrafficSignals></RoadNetwork>'
    shown = [
        event(phase, _phase_is(name, phase), speed(value), count=999) for phase, value in (("go", 2.0), ("stop", 1.0))
    ]
    simulation = run(tmp_path, two_lanes, text(story(*events, *shown), head=head))
    found, before = [], npc(simulation).speed
    while simulation.stamp < 8.0:
        drive(simulation, simulation.dt)
        if npc(simulation).speed != before:
            found.append(simulation.stamp - simulation.dt)
            before = npc(simulation).speed
    return found


def _controller(name: str, attributes: str, seconds: float) -> str:
    phases = "".join(f'<Phase name="{phase}" duration="{seconds}"/>' for phase in ("go", "stop"))
    return f'<TrafficSignalController name="{name}" {attributes}>{phases}</TrafficSignalController>'


@pytest.mark.medium
def test_a_controller_begins_after_the_one_that_it_refers_to(tmp_path: Path, two_lanes: RoadMap) -> None:
    both = _controller("b", 'reference="a" delay="1"', 2.0) + _controller("a", 'delay="2"', 2.0)
    assert _switches(tmp_path, two_lanes, both, "b") == pytest.approx([3.0, 5.0, 7.0], abs=0.06)


@pytest.mark.medium
def test_phases_do_not_drift_where_they_end_between_two_steps(tmp_path: Path, two_lanes: RoadMap) -> None:
    found = _switches(tmp_path, two_lanes, _controller("c", "", 0.33), "c")
    assert found == pytest.approx([0.33 * i for i in range(len(found))], abs=0.06)
    assert len(found) == 25


@pytest.mark.medium
def test_a_phase_that_is_set_lasts_as_long_as_any(tmp_path: Path, two_lanes: RoadMap) -> None:
    action = (
        '<GlobalAction><InfrastructureAction><TrafficSignalAction><TrafficSignalControllerAction phase="stop" '
        'trafficSignalControllerRef="c"/></TrafficSignalAction></InfrastructureAction></GlobalAction>'
    )
    found = _switches(tmp_path, two_lanes, _controller("c", "", 2.0), "c", event("set", after(1.0), action))
    assert found == pytest.approx([0.0, 1.0, 3.0, 5.0, 7.0], abs=0.06)


@pytest.mark.parametrize(
    ("reference", "what"), [("z", "no controller 'z'"), ("c", "refers to itself (expected a TrafficSignalController")]
)
def test_a_reference_to_no_other_controller_is_refused(tmp_path: Path, reference: str, what: str) -> None:
    controller = _controller("c", f'reference="{reference}" delay="1"', 2.0)
    head = f'<RoadNetwork><LogicFile filepath="x"/><TrafficSignals>{controller}</TrafficSignals></RoadNetwork>'
    with pytest.raises(InputError) as error:
        load(tmp_path, text(head=head))
    assert what in str(error.value)


def test_a_condition_on_a_signal_that_is_not_there_is_refused(tmp_path: Path, two_lanes: RoadMap) -> None:
    asks = '<ByValueCondition><TrafficSignalCondition name="999" state="red"/></ByValueCondition>'
    with pytest.raises(InputError, match="no traffic light 999 on this map"):
        run(tmp_path, two_lanes, text(story(event("e", when(asks), speed(1.0)))))


def test_a_condition_on_nothing_never_holds_and_says_so(tmp_path: Path) -> None:
    scenario = load(tmp_path, text(story(event("e", when_state("nobody", "event", "endTransition"), speed(1.0)))))
    assert "no element 'nobody' in the storyboard: this never holds" in "".join(scenario.notes)

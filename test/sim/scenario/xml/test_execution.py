"""When events begin again, what a storyboard element goes through when it is cut short, and whom an act is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap

from .files import (
    CAR,
    STRAIGHT_ON,
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
    when,
    when_state,
)

pytestmark = pytest.mark.clause("OSC-1")

OTHER = f'<ScenarioObject name="other">{CAR}</ScenarioObject>'
OTHER_AT = init("other", teleport(lane(60.0, -2)), speed(5.0))
LONG = '<SpeedActionDynamics dynamicsShape="linear" value="8" dynamicsDimension="time"/>'
SLOWER = (
    f"<PrivateAction><LongitudinalAction><SpeedAction>{LONG}<SpeedActionTarget><RelativeTargetSpeed entityRef='npc' "
    "value='-4' speedTargetValueType='delta' continuous='false'/></SpeedActionTarget></SpeedAction>"
    "</LongitudinalAction></PrivateAction>"
)
VARIABLE = (
    '<VariableDeclarations><VariableDeclaration name="k" variableType="double" value="1"/></VariableDeclarations>'
)
OFFSET = (
    "<PrivateAction><LateralAction><LaneOffsetAction continuous='{}'><LaneOffsetActionDynamics maxLateralAcc='2' "
    "dynamicsShape='sinusoidal'/><LaneOffsetTarget><AbsoluteTargetLaneOffset value='{}'/></LaneOffsetTarget>"
    "</LaneOffsetAction></LateralAction></PrivateAction>"
)


def _set(value: float) -> str:
    return f'<GlobalAction><VariableAction variableRef="k"><SetAction value="{value}"/></VariableAction></GlobalAction>'


def _fast(*entities: str, rule: str = "any") -> str:
    refs = "".join(f'<EntityRef entityRef="{each}"/>' for each in entities)
    return (
        f'<ByEntityCondition><TriggeringEntities triggeringEntitiesRule="{rule}">{refs}</TriggeringEntities>'
        '<EntityCondition><SpeedCondition value="4" rule="greaterThan"/></EntityCondition></ByEntityCondition>'
    )


def _also(*events: str, actor: str = "other") -> str:
    return story(*events, actor=actor).replace('<Story name="story"', '<Story name="another"')


@pytest.mark.medium
def test_what_was_so_while_an_event_went_on_does_not_begin_it_again(tmp_path: Path, two_lanes: RoadMap) -> None:
    late = when(_fast("npc").replace('"4"', '"8"'), delay=2.0)
    simulation = run(tmp_path, two_lanes, text(story(event("slower", late, SLOWER, count=2))))
    drive(simulation, 14.0)
    assert npc(simulation).speed == pytest.approx(6.0)


@pytest.mark.medium
def test_an_edge_is_missed_by_an_event_that_goes_on(tmp_path: Path, two_lanes: RoadMap) -> None:
    is_set = '<ByValueCondition><VariableCondition variableRef="k" value="0" rule="greaterThan"/></ByValueCondition>'
    slower = event("slower", when(is_set, "risingOrFalling"), SLOWER, count=2)
    switched = _also(event("down", after(1.0), _set(0.0)), event("up", after(3.0), _set(1.0)), actor="npc")
    simulation = run(tmp_path, two_lanes, text(story(slower), switched, head=VARIABLE))
    drive(simulation, 12.0)
    assert npc(simulation).speed == pytest.approx(6.0)


@pytest.mark.parametrize(("state", "seen"), [("stopTransition", True), ("endTransition", False)])
@pytest.mark.parametrize("kind", ["speed", "offset", "speed by times", "times by speed"])
@pytest.mark.medium
def test_an_action_that_another_takes_the_place_of_is_stopped(
    tmp_path: Path, two_lanes: RoadMap, kind: str, state: str, seen: bool
) -> None:
    first, second = {
        "speed": (speed(0.0, LONG), speed(15.0)),
        "offset": (OFFSET.format("true", 0.5), OFFSET.format("false", -0.5)),
        "speed by times": (speed(0.0, LONG), trajectory(STRAIGHT_ON)),
        "times by speed": (trajectory(STRAIGHT_ON), speed(15.0)),
    }[kind]
    sees = _also(event("sees", when_state("first 0", "action", state), speed(2.0)))
    played = story(event("first", after(0.0), first), event("second", after(2.0), second))
    simulation = run(tmp_path, two_lanes, text(played, sees, actions=OTHER_AT, entities=OTHER))
    drive(simulation, 1.9)
    assert npc(simulation, "other").speed == 5.0
    drive(simulation, 1.0)
    assert (npc(simulation, "other").speed == 2.0) is seen


@pytest.mark.parametrize(("continuous", "speed_after"), [("true", 5.0), ("false", 2.0)])
@pytest.mark.medium
def test_an_offset_that_is_held_does_not_end(
    tmp_path: Path, two_lanes: RoadMap, continuous: str, speed_after: float
) -> None:
    sees = _also(event("sees", when_state("aside", "event", "completeState"), speed(2.0)))
    aside = story(event("aside", after(0.0), OFFSET.format(continuous, 0.5)))
    simulation = run(tmp_path, two_lanes, text(aside, sees, actions=OTHER_AT, entities=OTHER))
    drive(simulation, 5.0)
    assert npc(simulation).pose.y == pytest.approx(-1.25, abs=0.01)
    assert npc(simulation, "other").speed == speed_after


@pytest.mark.medium
def test_an_act_that_is_stopped_on_standby_never_starts(tmp_path: Path, two_lanes: RoadMap) -> None:
    acts = story(event("e", after(0.0), speed(3.0))).replace(
        f"<StartTrigger>{after(0.0)}</StartTrigger></Act>",
        f"<StartTrigger>{after(2.0)}</StartTrigger><StopTrigger>{after(1.0)}</StopTrigger></Act>",
    )
    sees = _also(event("sees", when_state("act", "act", "stopTransition"), speed(2.0)))
    simulation = run(tmp_path, two_lanes, text(acts, sees, actions=OTHER_AT, entities=OTHER))
    drive(simulation, 1.5)
    assert npc(simulation, "other").speed == 2.0
    drive(simulation, 1.5)
    assert npc(simulation).speed == 10.0


def _of_triggering(trigger: str) -> str:
    selected = '<Actors selectTriggeringEntities="true"/>'
    named = '<Actors selectTriggeringEntities="false"><EntityRef entityRef="npc"/></Actors>'
    watched = event("e", when(_fast("npc", "other", rule="all")), speed(2.0))
    played = story(watched).replace(named, selected)
    return played.replace(
        f"<StartTrigger>{after(0.0)}</StartTrigger></Act>", f"<StartTrigger>{trigger}</StartTrigger></Act>"
    )


@pytest.mark.parametrize(
    ("trigger", "slowed"),
    [
        (when(_fast("npc")), ["npc"]),
        (when(_fast("npc", "other", rule="all")), ["npc", "other"]),
        (when(_fast("other")) + when(_fast("other")), ["other"]),
        (after(0.0), []),
    ],
)
def test_actors_that_trigger_the_act_are_those_of_its_start_trigger(
    tmp_path: Path, two_lanes: RoadMap, trigger: str, slowed: list[str]
) -> None:
    simulation = run(tmp_path, two_lanes, text(_of_triggering(trigger), actions=OTHER_AT, entities=OTHER))
    drive(simulation, 0.5)
    assert [name for name in ("npc", "other") if npc(simulation, name).speed == 2.0] == slowed
    assert any("no entity triggers the act" in note for note in simulation.scenario.notes) is (not slowed)


@pytest.mark.parametrize("trigger", [when(_fast("npc", "other")), when(_fast("npc")) + when(_fast("other"))])
def test_actors_that_only_the_run_would_show_are_refused(tmp_path: Path, trigger: str) -> None:
    with pytest.raises(InputError, match=r"test\.xosc:\d+:\d+: <Actors>: which entities trigger the act is known only"):
        load(tmp_path, text(_of_triggering(trigger), actions=OTHER_AT, entities=OTHER))


def _change(target: str) -> str:
    return (
        "<PrivateAction><LateralAction><LaneChangeAction><LaneChangeActionDynamics dynamicsShape='linear' value='3' "
        f"dynamicsDimension='time'/><LaneChangeTarget>{target}</LaneChangeTarget></LaneChangeAction></LateralAction>"
        "</PrivateAction>"
    )


_BACK = "".join(f"<Waypoint routeStrategy='shortest'>{lane(s)}</Waypoint>" for s in (5.0, 2.0))
UNDOABLE = [
    (_change('<RelativeTargetLane entityRef="npc" value="1"/>'), "'npc' has no such lane beside it where it is"),
    (_change('<RelativeTargetLane entityRef="npc" value="-4"/>'), "'npc' has no such lane beside it where it is"),
    (
        "<PrivateAction><RoutingAction><AssignRouteAction><Route name='r' closed='false'>"
        f"{_BACK}</Route></AssignRouteAction></RoutingAction></PrivateAction>",
        "no lanes lead 'npc' from where it is along this route",
    ),
    (
        teleport('<Position><RelativeLanePosition entityRef="Ego" dLane="5" ds="10"/></Position>'),
        "no place 10 m along the road from 'ego', 5 lanes beside it on this map now",
    ),
]


@pytest.mark.parametrize(("action", "what"), UNDOABLE)
def test_what_cannot_be_done_where_an_actor_is_ends_the_run_with_a_line(
    tmp_path: Path, two_lanes: RoadMap, action: str, what: str
) -> None:
    simulation = run(tmp_path, two_lanes, text(story(event("e", after(0.5), action))))
    with pytest.raises(InputError, match=rf"test\.xosc:\d+:\d+: {what}"):
        drive(simulation, 1.0)


def test_a_route_goes_on_from_where_an_actor_is_past_its_beginning(tmp_path: Path, two_lanes: RoadMap) -> None:
    points = "".join(f"<Waypoint routeStrategy='shortest'>{lane(s)}</Waypoint>" for s in (5.0, 90.0))
    route = (
        "<PrivateAction><RoutingAction><AssignRouteAction><Route name='r' closed='false'>"
        f"{points}</Route></AssignRouteAction></RoutingAction></PrivateAction>"
    )
    simulation = run(tmp_path, two_lanes, text(story(event("e", after(0.5), route))))
    drive(simulation, 1.0)
    assert npc(simulation).pose.x == pytest.approx(70.0, abs=0.1)


def _beside(entity: str, lanes: int) -> str:
    relative = f'<RelativeLanePosition entityRef="{entity}" dLane="{lanes}" ds="10"/>'
    return teleport(f"<Position>{relative}</Position>")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (
            text(npc=init("npc", _beside("Ego", 5))),
            "npc: no place 10 m along the road from 'ego', 5 lanes beside it on",
        ),
        (
            text(ego=init("Ego", _beside("npc", 5))),
            "ego: no place 10 m along the road from 'npc', 5 lanes beside it on",
        ),
        (
            text(npc=init("npc", _beside("npc", 0))),
            "npc: no place 10 m along the road from 'npc', 0 lanes beside it on",
        ),
    ],
)
def test_a_relative_place_that_is_not_there_is_refused_where_it_stands(
    tmp_path: Path, two_lanes: RoadMap, content: str, what: str
) -> None:
    with pytest.raises(InputError, match=rf"test\.xosc:1[56]:\d+: {what}"):
        run(tmp_path, two_lanes, content)

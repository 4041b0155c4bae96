"""Scenarios in scenarios, and events with arguments and conditions."""

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.commands import ChangeSpeed, EmergencyStop
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.conditions import AllOf, Compare, Edge, Elapsed, Emitted, OnEdge, RelativeSpeed
from tuling_fsm.sim.scenario.model import EGO, Action, Scenario, Wait, nodes

from .storyboards import View, body, play, scene, storyboard

pytestmark = pytest.mark.clause("OSC-1")
PART = """scenario vehicle.slow_down:
    to: speed
    within: time = 4s
    do serial(duration: within):
        slowing: change_speed(target: to)
scenario top:
    ego: vehicle
    npc: vehicle
"""


def compiled(behaviour: str, text: str = PART) -> Scenario:
    return compile_text(f"{text}    do serial:\n{behaviour}", "f.osc")


def fault(behaviour: str, text: str = PART) -> str:
    with pytest.raises(InputError) as caught:
        compiled(behaviour, text)
    return str(caught.value)


def test_a_scenario_of_an_actor_is_played_for_it() -> None:
    scenario = compiled(
        "        a: npc.slow_down(3mps)\n        npc.slow_down(to: 2mps, within: 5s)\n        wait @a.end\n"
    )
    assert scenario.name == "top"
    actions = [node for node in nodes(scenario.storyboard) if isinstance(node, Action)]
    assert [node.begin for node in actions] == [
        (ChangeSpeed("npc", 3.0, 2.0),), (ChangeSpeed("npc", 2.0, 2.0),),
    ]  # fmt: skip
    assert [node.label for node in actions] == ["a.slowing", "vehicle.slow_down(2).slowing"]
    ends = [node.until for node in nodes(scenario.storyboard) if getattr(node, "until", None)]
    assert Elapsed(4.0) in ends and Elapsed(5.0) in ends


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("npc.slow_down(3m)", "f.osc:10:23: a length is no speed"),
        ("npc.slow_down(3mps, quickly: true)", "'vehicle.slow_down' has no parameter 'quickly'"),
        ("npc.slow_down()", "f.osc:5:39: 'to' has no value"),
        ("npc.slow_up()", "vehicle 'npc' has no action 'slow_up'"),
        ("npc.slow_down(3mps) with:\n            speed(3mps)", "'vehicle.slow_down' takes no such modifier"),
    ],
)
def test_a_wrong_invocation_has_its_place(line: str, what: str) -> None:
    assert what in fault(f"        {line}\n")


def test_names_of_the_invoking_scenario_are_known_and_actors_of_a_name_are_one() -> None:
    text = (
        "actor crew\nglobal pace: speed = 7mps\n"
        "scenario crew.part:\n    npc: vehicle\n    do serial:\n        npc.assign_speed(pace + more)\n"
        "        other.assign_speed(pace)\n"
        "scenario top:\n    ego: vehicle\n    npc: vehicle\n    other: vehicle\n    more: speed = 1mps\n"
    )
    scenario = compiled("        crew.part()\n", text)
    assert [(actor.name, actor.speed) for actor in scenario.actors] == [("npc", 8.0), ("other", 7.0)]
    alone = text.replace("    npc: vehicle\n    other", "    other")
    assert [actor.name for actor in compiled("        crew.part()\n        crew.part()\n", alone).actors] == [
        "other", "npc", "npc_2",
    ]  # fmt: skip


def test_a_scenario_cannot_invoke_itself_and_several_need_a_top() -> None:
    assert "'top' is invoked in itself" in fault("        top()\n")
    unnamed = PART.replace("scenario top", "scenario whole")
    assert "a second scenario in the file" in fault("        npc.drive()\n", unnamed)
    assert compiled("        npc.slow_down(3mps)\n", unnamed).name == "whole"
    assert compiled("        npc.drive()\n").name == "top"


def test_a_scenario_inherits_what_it_does() -> None:
    text = "scenario base:\n    ego: vehicle\n    npc: vehicle\n    do serial:\n        npc.assign_speed(3mps)\n"
    text += "scenario more inherits base:\n    x: int = 3\n"
    scenario = compile_text(text, "f.osc")
    assert (scenario.name, scenario.variables, scenario.actors[0].speed) == ("more", {"x": 3}, 3.0)


EVENTS = """    event brake(rate: acceleration, hard: bool = false)
    event late is elapsed(2s)
    event quick is rise(ego.speed > 5mps)
"""


def test_an_event_is_waited_for_with_what_it_is_emitted_with() -> None:
    behaviour = (
        "parallel:\n        serial:\n            wait elapsed(1s)\n            emit brake(1mpss)\n"
        "            wait elapsed(1s)\n            emit brake(rate: 3mpss)\n        serial:\n"
        "            wait @brake as b if b.rate > 2mpss and not b.hard\n            operator.emergency_stop()"
    )
    view = View(actors={EGO: body()})
    log = play(storyboard(behaviour, EVENTS), view, 4.0)
    assert [(stamp, command) for stamp, command in log if isinstance(command, EmergencyStop)] == [
        (2.0, EmergencyStop(True))
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("emit brake(3m)", "a length is no acceleration"),
        ("emit brake()", "'brake' needs 'rate'"),
        ("emit late(3)", "too many arguments for 'late'"),
        ("wait @brake as b if b.rate > 2mpss", "unknown actor 'b'"),
        ("wait every(3s)", "this is no condition"),
    ],
)
def test_a_wrong_event_is_refused(line: str, what: str) -> None:
    with pytest.raises(InputError, match=r"^f\.osc:\d+:\d+: ") as caught:
        compile_text(scene(f"serial:\n        {line}", EVENTS), "f.osc")
    assert what in str(caught.value)


def test_no_emit_that_fulfils_the_condition_is_a_wait_for_ever() -> None:
    text = scene("serial:\n        emit brake(1mpss)\n        wait @brake as b if b.rate > 2mpss", EVENTS)
    with pytest.raises(InputError, match="no emit of 'brake' fulfils this"):
        compile_text(text, "f.osc")


def test_an_event_may_be_declared_as_something_that_happens() -> None:
    text = scene(
        "serial:\n        wait @late\n        wait @quick\n        wait ego.speed < npc.speed\n        npc.drive()",
        EVENTS,
    )
    waits = [node.condition for node in nodes(compile_text(text, "f.osc").storyboard) if isinstance(node, Wait)]
    late, quick, slower = waits
    assert late == Elapsed(2.0)
    assert isinstance(quick, OnEdge) and quick.edge is Edge.RISING
    assert isinstance(slower, Compare) and slower.quantity == RelativeSpeed(EGO, "npc")


def test_a_condition_on_an_event_is_one_at_its_moment() -> None:
    behaviour = (
        "parallel:\n        serial:\n            wait elapsed(1s)\n            emit go\n        serial:\n"
        "            wait @go if ego.speed > 5mps\n            operator.emergency_stop()"
    )
    (wait,) = [
        node.condition
        for node in nodes(compile_text(scene(behaviour), "f.osc").storyboard)
        if isinstance(node, Wait) and isinstance(node.condition, AllOf)
    ]
    assert Emitted("go", now=True) in wait.conditions
    slow = View(actors={EGO: body(speed=3.0)})
    story = storyboard(behaviour)
    assert play(story, slow, 3.0) == []
    slow.actors[EGO] = body(speed=9.0)
    assert play(story, slow, 6.0) == []
    fast = View(actors={EGO: body(speed=9.0)})
    assert [stamp for stamp, _ in play(storyboard(behaviour), fast, 3.0)] == [1.0]

"""Stories, acts, groups, maneuvers and events of OpenSCENARIO XML (1.3, 7.3) as nodes of the storyboard."""

from __future__ import annotations

from collections.abc import Iterator

from tuling_fsm.sim.scenario.action_types import ActionEffect
from tuling_fsm.sim.scenario.commands import EndRun
from tuling_fsm.sim.scenario.conditions import Edge
from tuling_fsm.sim.scenario.model import (
    EGO,
    Action,
    Event,
    EventPriority,
    Node,
    Parallel,
    Repeat,
    ScriptedManeuver,
    Serial,
    Wait,
)
from tuling_fsm.sim.scenario.xml.conditions import ALL_OF, EDGES, trigger
from tuling_fsm.sim.scenario.xml.ego import ego_action
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.global_actions import global_action
from tuling_fsm.sim.scenario.xml.private_actions import private_action
from tuling_fsm.sim.scenario.xml.script import Script, declaring

PRIORITIES = {
    "overwrite": EventPriority.OVERRIDE,
    "override": EventPriority.OVERRIDE,
    "skip": EventPriority.SKIP,
    "parallel": EventPriority.PARALLEL,
}
_LEVELS = (("Story",), ("Act",), ("ManeuverGroup",), ("Maneuver",), ("Event",), ("Action",))
_ENDED = Action((EndRun(),))


def label_elements(storyboard: XmlElement, script: Script) -> None:
    """Tell the script the labels of all elements, which conditions refer to."""
    script.labels += list(_labels(storyboard, "", 0, script))


def _labels(parent: XmlElement, above: str, level: int, script: Script) -> Iterator[str]:
    if level == len(_LEVELS):
        return
    for child in _members(parent, _LEVELS[level][0], script):
        label = _below(above, child)
        yield label
        yield from _labels(child, label, level + 1, script)


def _members(parent: XmlElement, tag: str, script: Script) -> list[XmlElement]:
    """Children of a name; maneuvers may be in a catalog."""
    found = [declaring(child) for child in parent.all(tag)]
    if tag == "Maneuver":
        found += [script.catalog_entry(reference) for reference in parent.all("CatalogReference")]
    return found


def _below(above: str, element: XmlElement) -> str:
    name = element.name()
    return f"{above}::{name}" if above else name


def stories(storyboard: XmlElement, script: Script) -> list[Node]:
    """All stories, and the end of the run where the storyboard has a stop trigger.

    Raises:
        InputError: something in them is not understood.
    """
    found: list[Node] = []
    for story in _members(storyboard, "Story", script):
        label = _below("", story)
        acts = tuple(_act(act, label, script) for act in _members(story, "Act", script))
        found.append(Parallel(acts, label=label, at=story.at))
    stop = trigger(storyboard.find("StopTrigger"), script)
    if stop is not None:
        found.append(Serial((Wait(stop, at=storyboard.at), _ENDED)))
    return found


def _act(act: XmlElement, above: str, script: Script) -> Node:
    """An act is one event by itself: it starts by its trigger, and is stopped on standby too."""
    label, start = _below(above, act), act.find("StartTrigger")
    groups = tuple(_group(group, start, label, script) for group in _members(act, "ManeuverGroup", script))
    played = Event(Parallel(groups), trigger(start, script), label=label, at=act.at)
    return Serial((ScriptedManeuver((played,), at=act.at),), trigger(act.find("StopTrigger"), script), at=act.at)


def _group(group: XmlElement, start: XmlElement | None, above: str, script: Script) -> Node:
    label = _below(above, group)
    actors = group.find("Actors")
    named = [
        actor for each in (actors.all("EntityRef") if actors is not None else []) for actor in script.entities(each)
    ]
    if actors is not None and actors.truth("selectTriggeringEntities", default=False):
        named += [actor for actor in _triggering(start, actors, script) if actor not in named]
    maneuvers = tuple(
        ScriptedManeuver(
            tuple(_event(event, _below(label, maneuver), named, script) for event in maneuver.all("Event")),
            _below(label, maneuver),
            maneuver.at,
        )
        for maneuver in _members(group, "Maneuver", script)
    )
    return Repeat(Parallel(maneuvers, label=label), _executions(group), at=group.at)


def _triggering(start: XmlElement | None, actors: XmlElement, script: Script) -> list[str]:
    """The entities that fulfil the conditions of an act's start trigger when it starts (1.3, `Actors`).

    Raises:
        InputError: it is known only while it runs which of them do.
    """
    groups = start.all("ConditionGroup") if start is not None else []
    found = [_fulfilling(group, script) for group in groups]
    known = next(iter(found), set())
    if known is None or any(each != known for each in found):
        raise actors.fault(
            "which entities trigger the act is known only while it runs",
            'an EntityRef for each actor, or one entity or triggeringEntitiesRule="all" in the trigger of the act',
            "selectTriggeringEntities",
        )
    if not known:
        script.note(actors, "selectTriggeringEntities has no effect: no entity triggers the act")
    return [actor for actor in script.kinds if actor in known]


def _fulfilling(group: XmlElement, script: Script) -> set[str] | None:
    """All entities of the conditions of a group, where each of them fulfils its own; None where some may not."""
    found = set[str]()
    for condition in group.all("Condition"):
        asked = condition.find("ByEntityCondition", "TriggeringEntities")
        if asked is None:
            continue
        names = {actor for each in asked.all("EntityRef") for actor in script.entities(each)}
        each_one = asked.choice("triggeringEntitiesRule", ALL_OF)
        if len(names) > 1 and not (each_one and condition.choice("conditionEdge", EDGES) in (Edge.NONE, Edge.RISING)):
            return None
        found |= names
    return found


def _executions(element: XmlElement, default: float | None = None) -> int:
    return int(min(max(element.number("maximumExecutionCount", default), 0.0), 1e9))


def _event(event: XmlElement, above: str, actors: list[str], script: Script) -> Event:
    label = _below(above, event)
    return Event(
        member=Parallel(tuple(_action(each, label, actors, script) for each in event.all("Action"))),
        trigger=trigger(event.find("StartTrigger"), script),
        priority=event.choice("priority", PRIORITIES),
        executions=_executions(event, default=1.0),
        label=label,
        at=event.at,
    )


def _action(action: XmlElement, above: str, actors: list[str], script: Script) -> Node:
    label, kind = _below(above, action), next(iter(action), None)
    if kind is None:
        return Action((), label=label, at=action.at)
    if kind.tag == "GlobalAction":
        return global_action(kind, label, script)
    if kind.tag == "UserDefinedAction":
        script.note(kind, "has no effect: it means something to another simulator")
        return Action((), label=label, at=kind.at)
    if kind.tag != "PrivateAction":
        raise kind.fault("this action is not understood", "PrivateAction, GlobalAction, UserDefinedAction")
    members = tuple(node(private_effect(kind, actor, script), kind) for actor in actors)
    return Parallel(members, label=label, at=action.at)


def private_effect(element: XmlElement, actor: str, script: Script) -> ActionEffect:
    """What a PrivateAction does to an actor.

    Raises:
        InputError: it is not understood, or lacks something.
    """
    return ego_action(element, script) if actor == EGO else private_action(element, actor, script)


def node(effect: ActionEffect, element: XmlElement) -> Action:
    """The node of an effect."""
    return Action(effect.begin, effect.until, effect.end, at=element.at)

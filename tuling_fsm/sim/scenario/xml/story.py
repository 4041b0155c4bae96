"""Stories, acts, groups, maneuvers and events of OpenSCENARIO XML (1.3, 7.3) as nodes of the storyboard."""

from __future__ import annotations

from collections.abc import Iterator

from tuling_fsm.sim.scenario.action_types import ActionEffect
from tuling_fsm.sim.scenario.commands import EndRun
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
from tuling_fsm.sim.scenario.xml.conditions import ALWAYS, trigger
from tuling_fsm.sim.scenario.xml.ego import ego_action
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.global_actions import global_action
from tuling_fsm.sim.scenario.xml.private_actions import private_action
from tuling_fsm.sim.scenario.xml.script import Script, declared

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
    found = parent.all(tag)
    if tag == "Maneuver":
        found += [script.catalog_entry(reference) for reference in parent.all("CatalogReference")]
    return [child.within(declared(child)) for child in found]


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
    label = _below(above, act)
    groups = tuple(_group(group, label, script) for group in _members(act, "ManeuverGroup", script))
    start, stop = (trigger(act.find(which), script) for which in ("StartTrigger", "StopTrigger"))
    played = Parallel(groups, stop, label, act.at)
    return Serial((Wait(ALWAYS if start is None else start, at=act.at), played))


def _group(group: XmlElement, above: str, script: Script) -> Node:
    label = _below(above, group)
    actors = group.find("Actors")
    named = [
        actor for each in (actors.all("EntityRef") if actors is not None else []) for actor in script.entities(each)
    ]
    if actors is not None and actors.truth("selectTriggeringEntities", default=False):
        named += [actor for actor in _triggering(group, script) if actor not in named]
    maneuvers = tuple(
        ScriptedManeuver(
            tuple(_event(event, _below(label, maneuver), named, script) for event in maneuver.all("Event")),
            _below(label, maneuver),
            maneuver.at,
        )
        for maneuver in _members(group, "Maneuver", script)
    )
    return Repeat(Parallel(maneuvers, label=label), _executions(group), at=group.at)


def _triggering(element: XmlElement, script: Script) -> Iterator[str]:
    """Entities that conditions below an element look at."""
    for child in element:
        if child.tag == "TriggeringEntities":
            for each in child.all("EntityRef"):
                yield from script.entities(each)
        else:
            yield from _triggering(child, script)


def _executions(element: XmlElement) -> int:
    return int(min(max(element.number("maximumExecutionCount", 1.0), 0.0), 1e9))


def _event(event: XmlElement, above: str, actors: list[str], script: Script) -> Event:
    label = _below(above, event)
    return Event(
        member=Parallel(tuple(_action(each, label, actors, script) for each in event.all("Action"))),
        trigger=trigger(event.find("StartTrigger"), script),
        priority=event.choice("priority", PRIORITIES, default=EventPriority.PARALLEL),
        executions=_executions(event),
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

"""Reads an OpenSCENARIO XML file ([openscenario][], 1.0 to 1.3) into the scenario that the simulation drives."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.commands import Place
from tuling_fsm.sim.scenario.model import (
    EGO,
    Action,
    Node,
    Parallel,
    Population,
    Scenario,
    ScenarioActor,
    ScriptedRoute,
    nodes,
)
from tuling_fsm.sim.scenario.xml.elements import XmlDocument, XmlElement
from tuling_fsm.sim.scenario.xml.entities import Entity, read_entities
from tuling_fsm.sim.scenario.xml.files import look_up
from tuling_fsm.sim.scenario.xml.global_actions import variables_set
from tuling_fsm.sim.scenario.xml.initial import InitialState, read_init
from tuling_fsm.sim.scenario.xml.positions import POSITIONS
from tuling_fsm.sim.scenario.xml.script import Script, declared, declared_types
from tuling_fsm.sim.scenario.xml.signals import read_controllers
from tuling_fsm.sim.scenario.xml.story import label_elements, stories
from tuling_fsm.sim.scenario.xml.trajectories import trajectory_position
from tuling_fsm.sim.scenario.xml.unread import unread_names

SUFFIX = ".xosc"
VERSIONS = ((1, 0), (1, 1), (1, 2), (1, 3))
CARLA = "CARLA:"
"""The description of a file in CARLA's coordinates begins so (ScenarioRunner)."""
WAY_M = 1000.0
"""How far the ego drives on where the script gives it no route."""
EGO_OPTION = "ego"
"""The override that names the car under test, where no parameter has this name."""


def load_xosc(path: Path, overrides: Mapping[str, str]) -> Scenario:
    """The scenario of a file; `overrides` are values of its parameters, and `ego` the entity that is driven.

    Raises:
        InputError: an unreadable file, what is not understood (`file:line:column`), an override that fits nothing.
    """
    document = XmlDocument(path)
    root = document.root
    _check_kind(root)
    parameters = declared(root, overrides)
    unknown = [name for name in overrides if name not in parameters and name != EGO_OPTION]
    if unknown:
        known = ", ".join((*parameters, EGO_OPTION))
        raise InputError(str(path), f"no parameter {unknown[0]!r} to set", f"one of {known}")
    root = root.within(parameters)
    script = Script(path, {**POSITIONS, "TrajectoryPosition": trajectory_position})
    script.left_handed = root.child("FileHeader").text("description", "").startswith(CARLA)
    script.folders += _catalog_folders(root)
    entities = read_entities(root, script, None if EGO_OPTION in parameters else overrides.get(EGO_OPTION))
    script.variables.update(_variables(root, parameters))
    script.types.update(declared_types(root))
    scenario = _scenario(root, script, entities)
    unread = unread_names([root, *script.referenced_entries])
    read_files = {str(path): document.sha256, **script.read_files}
    return dataclasses.replace(scenario, notes=(*scenario.notes, *unread), read_files=read_files)


def _check_kind(root: XmlElement) -> None:
    """Refuse other XML, catalogs and versions.

    Raises:
        InputError: it is no scenario of a version that is read.
    """
    if root.tag != "OpenSCENARIO":
        raise root.fault("this is no OpenSCENARIO XML", "<OpenSCENARIO>")
    header = root.child("FileHeader")
    version = header.whole("revMajor"), header.whole("revMinor")
    if version not in VERSIONS:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise header.fault(f"this is version {version[0]}.{version[1]}", known, "revMajor")
    if root.find("Catalog") is not None:
        raise root.fault("a catalog is no scenario", "a file with a <Storyboard>")
    if root.find("ParameterValueDistribution") is not None:
        raise root.fault("a distribution of parameters is many scenarios", "a <Storyboard>, or the verb campaign")


def _catalog_folders(root: XmlElement) -> list[Path]:
    locations = root.find("CatalogLocations")
    folders = []
    for location in locations if locations is not None else ():
        directory = location.find("Directory")
        found = look_up(root.file, directory.text("path"), SUFFIX) if directory is not None else None
        if found is not None:
            folders.append(found)
    return folders


def _variables(root: XmlElement, parameters: Mapping[str, str]) -> dict[str, str]:
    """What conditions may ask for: declared variables, and all parameters."""
    found = dict(parameters)
    for parent in root.all("VariableDeclarations"):
        found.update({each.text("name"): each.text("value") for each in parent.all("VariableDeclaration")})
    known = set(found)
    for name, tag in variables_set(root):
        if name not in known:
            raise root.fault(f"a {tag} sets {name!r}, which is not declared", "one of " + ", ".join(sorted(known)))
    return found


def _scenario(root: XmlElement, script: Script, entities: list[Entity]) -> Scenario:
    storyboard = root.child("Storyboard")
    programs = read_controllers(root, script)
    label_elements(storyboard, script)
    initial = read_init(storyboard, script)
    members = (*initial.begun, *programs, *stories(storyboard, script))
    ego = next(entity for entity in entities if entity.actor == EGO)
    start = initial.placements.get(EGO, script.ego_start)
    if start is None:
        raise ego.element.fault(f"the ego {ego.name!r} has no place", "a TeleportAction of it in <Init>")
    _say_what_is_nowhere(members, initial, entities, script)
    return Scenario(
        name=root.file.stem,
        file=str(root.file),
        map_file=_map_file(root),
        ego=start,
        ego_speed=max(initial.speeds.get(EGO, 0.0), 0.0),
        route=ScriptedRoute(script.ego_route, WAY_M),
        actors=tuple(_actor(entity, initial) for entity in entities if entity.actor != EGO),
        population=Population(),
        max_duration_s=None,
        storyboard=Parallel(members),
        variables=dict(script.variables),
        places_at=initial.places_at,
        notes=tuple(script.notes),
    )


def _say_what_is_nowhere(
    members: tuple[Node, ...], initial: InitialState, entities: list[Entity], script: Script
) -> None:
    """Note the entities that nothing places: what they are asked to do is over at once."""
    actions = (node for node in nodes(Parallel(members)) if isinstance(node, Action))
    placed = {command.actor for action in actions for command in action.begin if isinstance(command, Place)}
    for entity in entities:
        if entity.actor != EGO and entity.actor not in initial.placements and entity.actor not in placed:
            script.note(entity.element, f"{entity.name!r} is never in the world: no action places it")


def _actor(entity: Entity, initial: InitialState) -> ScenarioActor:
    name, body = entity.actor, entity.body
    return ScenarioActor(
        name=name,
        kind=body.kind,
        length=body.length,
        width=body.width,
        placement=initial.placements.get(name),
        speed=initial.speeds.get(name, 0.0),
        default_controller=True,
        seen_as=body.seen_as,
        center_ahead=body.center_ahead,
    )


def _map_file(root: XmlElement) -> str | None:
    """The file of the road network; None where the text names none."""
    logic = root.find("RoadNetwork", "LogicFile") or root.find("RoadNetwork", "Logics")
    if logic is None or not logic.has("filepath"):
        return None
    named = logic.text("filepath")
    return str(look_up(root.file, named, ".xodr") or root.file.parent / named)

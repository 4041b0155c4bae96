"""Entities of OpenSCENARIO XML (1.3, 7.2): their bodies, which of them is the ego, and selections of them."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.script import Script, declaring
from tuling_fsm.world.inputs import Kind

EGO_NAMES = ("ego", "hero")
"""Names, in any spelling, of the car under test; without one of them it is the first vehicle."""
KINDS = {"Vehicle": ActorKind.VEHICLE, "Pedestrian": ActorKind.PERSON, "MiscObject": ActorKind.BARRIER}
SIZES_M = {ActorKind.VEHICLE: (4.5, 1.8), ActorKind.PERSON: (0.6, 0.6), ActorKind.BARRIER: (2.0, 0.5)}
"""Length and width where the text does not say them."""
LEAST_M = 0.1


class EntityBody(NamedTuple):
    """Kind, what is seen in it, length and width, and how far the centre lies ahead of the reference point, m (None: as
    far as in any actor of its kind).
    """

    kind: ActorKind
    seen_as: Kind
    length: float
    width: float
    center_ahead: float | None


class Entity(NamedTuple):
    """A scenario object: its name in the text and in the simulation, and its body."""

    name: str
    actor: str
    body: EntityBody
    element: XmlElement


def read_entities(root: XmlElement, script: Script, wanted_ego: str | None) -> list[Entity]:
    """All scenario objects; the script gets their names and the selections.

    Args:
        root: the document.
        script: is told the names.
        wanted_ego: the name of the car under test, if the caller says it.

    Raises:
        InputError: no entities, no vehicle among them, or one of them is not understood.
    """
    parent = root.child("Entities")
    objects = [(each.text("name"), each, _body(each, script)) for each in parent.all("ScenarioObject")]
    ego = _ego([(name, body.kind) for name, _, body in objects], parent, wanted_ego)
    entities = []
    for name, element, body in objects:
        if name in script.names:
            raise element.fault(f"a second entity {name!r}", "another name", "name")
        script.names[name] = EGO if name == ego else name if name != EGO else f"{name} of the text"
        script.kinds[script.names[name]] = body.kind
        entities.append(Entity(name, script.names[name], body, element))
    for selection in parent.all("EntitySelection"):
        script.selections[selection.text("name")] = _members(selection, entities, script)
    return entities


def _ego(objects: list[tuple[str, ActorKind]], parent: XmlElement, wanted: str | None) -> str:
    vehicles = [name for name, kind in objects if kind is ActorKind.VEHICLE]
    if wanted is not None:
        if wanted not in vehicles:
            raise parent.fault(f"no vehicle {wanted!r} to be the ego", "one of " + ", ".join(vehicles))
        return wanted
    named = [name for name in vehicles if name.lower() in EGO_NAMES]
    named = named or [name for name in vehicles if name.lower().startswith(EGO_NAMES)]
    if not named and not vehicles:
        raise parent.fault("there is no vehicle to be the ego", "a ScenarioObject with a Vehicle")
    return (named or vehicles)[0]


def _body(entity: XmlElement, script: Script) -> EntityBody:
    element = next(iter(entity.all(*KINDS, "CatalogReference", "ExternalObjectReference")), None)
    if element is None or element.tag == "ExternalObjectReference":
        raise entity.fault("this entity is not understood", "one of " + ", ".join((*KINDS, "CatalogReference")))
    element = script.catalog_entry(element) if element.tag == "CatalogReference" else declaring(element)
    if element.tag not in KINDS:
        raise entity.fault(f"the catalog has a {element.tag} for it", "one of " + ", ".join(KINDS))
    kind = KINDS[element.tag]
    length, width = SIZES_M[kind]
    size, center = element.find("BoundingBox", "Dimensions"), element.find("BoundingBox", "Center")
    if size is not None:
        length, width = size.number("length", length), size.number("width", width)
    if center is not None and center.number("y", 0.0) != 0.0:
        script.note(center, "y has no effect: the reference point is midway between the sides")
    if element.find("Trailer") is not None:
        script.note(element, "drives without its trailer")
    ahead = None if center is None else center.number("x", 0.0)
    return EntityBody(kind, _seen_as(element), max(length, LEAST_M), max(width, LEAST_M), ahead)


_SEEN_AS = {
    "Vehicle": (
        "vehicleCategory",
        Kind.CAR,
        {
            "car": Kind.CAR,
            "van": Kind.CAR,
            "truck": Kind.TRUCK,
            "semitrailer": Kind.TRUCK,
            "trailer": Kind.TRUCK,
            "train": Kind.TRUCK,
            "tram": Kind.BUS,
            "bus": Kind.BUS,
            "motorbike": Kind.MOTORCYCLE,
            "bicycle": Kind.BICYCLE,
        },
    ),
    "Pedestrian": (
        "pedestrianCategory",
        Kind.PEDESTRIAN,
        {"pedestrian": Kind.PEDESTRIAN, "wheelchair": Kind.PEDESTRIAN, "animal": Kind.ANIMAL},
    ),
}
"""By the element: the attribute that says it, what it is without, and what its words mean."""


def _seen_as(element: XmlElement) -> Kind:
    if element.tag not in _SEEN_AS:
        return Kind.BARRIER
    attribute, plain, words = _SEEN_AS[element.tag]
    return element.choice(attribute, words, default=plain)


OBJECT_TYPES = {"vehicle": ActorKind.VEHICLE, "pedestrian": ActorKind.PERSON, "miscellaneous": ActorKind.BARRIER}


def _members(selection: XmlElement, entities: list[Entity], script: Script) -> tuple[str, ...]:
    members = selection.child("Members")
    named = [actor for each in members.all("EntityRef") for actor in script.entities(each)]
    kinds = [each.choice("objectType", OBJECT_TYPES) for each in members.all("ByType")]
    return tuple(dict.fromkeys((*named, *(entity.actor for entity in entities if entity.body.kind in kinds))))

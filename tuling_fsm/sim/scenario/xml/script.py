"""What all parts of a file share while it is read: entities, catalogs, numbers of maneuvers, and what has no effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.xml.comparisons import check_constraints
from tuling_fsm.sim.scenario.xml.elements import XmlDocument, XmlElement


@dataclass
class Script:
    """One file while it is read."""

    file: Path
    positions: Mapping[str, Callable[[XmlElement, Script], Placement]]
    """How each position that is understood is read, by the name of its element."""
    left_handed: bool = False
    """Whether coordinates are CARLA's, whose y axis and angles go the other way."""
    names: dict[str, str] = field(default_factory=dict)
    """Entities by the names of the text, and what the simulation calls them."""
    kinds: dict[str, ActorKind] = field(default_factory=dict)
    """Of the entities, by what the simulation calls them."""
    selections: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Members of entity selections, as the simulation calls them, by the names of the text."""
    folders: list[Path] = field(default_factory=list)
    """Where catalogs lie."""
    signal_phases: dict[str, dict[str, tuple[Command, ...]]] = field(default_factory=dict)
    """By traffic signal controller and name of the phase, what it sets."""
    labels: list[str] = field(default_factory=list)
    """Of all elements of the storyboard, as paths `story::act::group::maneuver::event::action`."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables and parameters that conditions ask for or actions set, with the values that they begin with."""
    types: dict[str, str] = field(default_factory=dict)
    """Of variables and parameters, as their declarations say."""
    ego_start: Placement | None = None
    """The first place that the script gives the ego after the initial instant."""
    ego_route: tuple[Placement, ...] = ()
    """The places that the script sends the ego to."""
    referenced_entries: list[XmlElement] = field(default_factory=list)
    """Entries of catalogs that the text refers to."""
    notes: list[str] = field(default_factory=list)
    read_files: dict[str, str] = field(default_factory=dict)
    """The files of the catalogs that were looked into, and the SHA-256 of what was read of each."""
    _entries: dict[Path, list[XmlElement]] = field(default_factory=dict)
    _maneuvers: int = 0

    def mirrored(self, value: float) -> float:
        """A coordinate to the left, or an angle, in the right-handed frame of the map."""
        return -value if self.left_handed else value

    def note(self, element: XmlElement, what: str) -> None:
        """Say, once, that an element has no effect."""
        line = f"{element.place()}: <{element.tag}>: {what}"
        if line not in self.notes:
            self.notes.append(line)

    def leave_out(self, element: XmlElement, what: str) -> None:
        """Say, once, that an element has no effect, whatever it states."""
        self.note(element, what)
        element.leave()

    def number(self) -> int:
        """A number for a maneuver that no other has."""
        self._maneuvers += 1
        return self._maneuvers

    def entity(self, element: XmlElement, attribute: str = "entityRef") -> str:
        """The actor that an attribute refers to.

        Raises:
            InputError: there is none of that name.
        """
        name = element.text(attribute)
        if name not in self.names:
            known = ", ".join(self.names) or "a ScenarioObject"
            raise element.fault(f"no entity {name!r}", f"one of {known}", attribute)
        return self.names[name]

    def entities(self, element: XmlElement) -> tuple[str, ...]:
        """The actor that `entityRef` refers to, or the members of the selection.

        Raises:
            InputError: there is none of that name.
        """
        members = self.selections.get(element.text("entityRef"))
        if members is None:
            return (self.entity(element),)
        return members

    def catalog_entry(self, reference: XmlElement) -> XmlElement:
        """The element that a CatalogReference means, with the parameters that it is given.

        Raises:
            InputError: there is no such catalog or entry.
        """
        catalog, name = reference.text("catalogName"), reference.text("entryName")
        seen = False
        for entry in self._catalogs():
            if catalog not in entry[0]:
                continue
            seen = True
            for candidate in entry[1]:
                if candidate.has("name") and candidate.text("name") == name:
                    self.referenced_entries.append(candidate)
                    return candidate.within({**reference.parameters, **self._assigned(candidate, reference)})
        if seen:
            raise reference.fault(f"catalog {catalog!r} has no entry {name!r}", "an entry of the catalog", "entryName")
        raise reference.fault(f"no catalog {catalog!r}", "its folder in <CatalogLocations>", "catalogName")

    def _assigned(self, entry: XmlElement, reference: XmlElement) -> dict[str, str]:
        """The parameters of an entry with the values that its reference assigns."""
        parent = reference.find("ParameterAssignments")
        assignments = parent.all("ParameterAssignment") if parent is not None else []
        values = declared(entry, {each.reference("parameterRef"): each.text("value") for each in assignments})
        for each in assignments:
            name = each.reference("parameterRef")
            if name not in values:
                self.note(each, f"has no effect: {reference.text('entryName')!r} declares no parameter {name!r}")
        return values

    def _catalogs(self) -> list[tuple[tuple[str, str], list[XmlElement]]]:
        """Every catalog by its name and that of its file: some texts refer to the one, some to the other."""
        found = []
        for folder in self.folders:
            for file in sorted(folder.glob("*.xosc")) if folder.is_dir() else [folder] if folder.is_file() else []:
                if file not in self._entries:
                    document = XmlDocument(file)
                    self.read_files[str(file)] = document.sha256
                    self._entries[file] = document.root.all("Catalog")
                found += [((each.name(), file.stem), list(each)) for each in self._entries[file]]
        return found

    def inline(self, element: XmlElement, tag: str) -> XmlElement:
        """The child of a name, or the entry that a CatalogReference in its place means, with its parameters.

        Raises:
            InputError: it has neither.
        """
        found, reference = element.find(tag), element.find("CatalogReference")
        if found is None and reference is not None:
            return self.catalog_entry(reference)
        return declaring(element.child(tag))


def declared(element: XmlElement, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The parameters that an element declares, with their values; `given` takes the place of the declared ones.

    Raises:
        InputError: a value that the constraints of its parameter do not allow.
    """
    values: dict[str, str] = {}
    for parent in element.all("ParameterDeclarations", "ParameterDeclaration"):
        for declaration in parent.all("ParameterDeclaration") if parent.tag == "ParameterDeclarations" else [parent]:
            name = declaration.name()
            own = declaration.within(values).text("value")
            values[name] = own if given is None else given.get(name, own)
            check_constraints(declaration.within(values), values[name])
    return values


def declaring(element: XmlElement) -> XmlElement:
    """The same element where the parameters that it declares have their declared values: those of an entry of a catalog
    have what its reference assigns instead.

    Raises:
        InputError: as `declared`.
    """
    return element.within(declared(element))


def declared_types(root: XmlElement) -> dict[str, str]:
    """The types of the parameters and variables that a document declares, by their names."""
    return {
        each.name(): each.text(kind, "string")
        for parents, tag, kind in (
            ("ParameterDeclarations", "ParameterDeclaration", "parameterType"),
            ("VariableDeclarations", "VariableDeclaration", "variableType"),
        )
        for parent in root.all(parents)
        for each in parent.all(tag)
    }

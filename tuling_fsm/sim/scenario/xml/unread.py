"""What a file states that the reader has not asked for: a name that is misspelled is refused, any other is said."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from tuling_fsm.sim.scenario.xml.elements import XmlElement

NEARLY = 0.8
"""From this similarity on (`difflib`, 0 to 1) a name is another one misspelled."""
INDIFFERENT = frozenset(
    (
        *("FileHeader", "License", "author", "date", "name", "Properties"),
        *("z", "dz", "p", "r", "height"),
        *("mass", "model", "model3d", "role", "vehicleRole", "miscObjectCategory"),
        *("Performance", "Axles", "TrailerHitch", "TrailerCoupler"),
        *("SceneGraphFile", "DomeImage", "Sun", "cloudState", "fractionalCloudCover"),
        *("temperature", "atmosphericPressure"),
        "None",
    )
)
"""Attributes and elements without a difference to a drive: labels, heights, looks, and how bodies are built."""


def unread_names(roots: Iterable[XmlElement]) -> list[str]:
    """A line for each attribute and element that is not read, at its first place in a file.

    Args:
        roots: elements that have been read. In them, elements that were asked for nothing are left out as a whole.

    Raises:
        InputError: the name of one is nearly another that its element was asked for and does not have.
    """
    notes = dict[tuple[str, str, str], str]()
    for element in (each for root in roots for each in _visited(root)):
        file = str(element.file)
        for name in element.unread_attributes:
            if name not in INDIFFERENT:
                what = f"{element.place(name)}: <{element.tag}>: its attribute {name!r} is not read"
                notes.setdefault((file, element.tag, name), what)
                _check_spelling(name, element.missing_attributes, element, name)
        for child in element.unread_children:
            if child.tag not in INDIFFERENT:
                what = f"{child.place()}: <{child.tag}>: is not read in <{element.tag}>"
                notes.setdefault((file, element.tag, f"<{child.tag}>"), what)
                _check_spelling(child.tag, element.missing_tags, child)
    return list(notes.values())


def _visited(element: XmlElement) -> Iterator[XmlElement]:
    yield element
    for child in element.visited_children:
        yield from _visited(child)


def _check_spelling(name: str, missing: list[str], element: XmlElement, attribute: str = "") -> None:
    for meant in difflib.get_close_matches(name, missing, n=1, cutoff=NEARLY):
        raise element.fault(f"there is no {name!r}", repr(meant), attribute)

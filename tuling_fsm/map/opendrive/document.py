"""XML underneath: parsing, checked attributes, and errors and warnings that say file, line and element."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import in_letters
from tuling_fsm.map.opendrive.bounds import BOUNDS

Element = etree._Element

EXAMPLES = 5
"""A warning about many elements names so many of them."""

# A comment ends at the first end of one: however many there are, there is one way to read them.
_LATE_DECLARATION = re.compile(rb"(\xef\xbb\xbf)?((?:\s|<!--[^-]*(?:-(?!->)[^-]*)*-->)+)(<\?xml\s.*?\?>)", re.DOTALL)


class Warnings(list[str]):
    """What is told of a map: a line each, and one for all elements of a kind."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[tuple[str, str], dict[tuple[Element, str], None]] = {}

    def one_of(self, kind: str, element: Element, name: str, effect: str) -> None:
        """One more element of a kind: what they are, what it is called among the examples, and what is made of them."""
        self._kinds.setdefault((kind, effect), {})[element, name] = None

    def lines(self) -> tuple[str, ...]:
        """All of them, those of kinds with the place of the first, how many there are and the first few."""
        found = list(self)
        for (kind, effect), elements in self._kinds.items():
            first, _ = next(iter(elements))
            names = list(dict.fromkeys(name for _, name in elements))
            found.append(f"{where(first)}: {kind}: {len(elements)} ({examples(names)}); {effect}")
        return tuple(dict.fromkeys(found))


def read_content(path: Path) -> bytes:
    """What an OpenDRIVE file holds.

    Raises:
        InputError: the file cannot be read.
    """
    if path.is_char_device():
        # A scenario or a bag may name one, and it may have no end.
        raise InputError(str(path), "is a device", "an OpenDRIVE file")
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise InputError(str(path), f"cannot be read: {reason}", "an OpenDRIVE file") from error


def parse(content: bytes, path: Path, warnings: list[str]) -> Element:
    """The root of an OpenDRIVE file, without comments and name spaces. An XML declaration that something stands before
    is read as if it were the first, and noted.

    Raises:
        InputError: it is not XML, or XML of another kind; the line names the file by `path`.
    """
    late = _LATE_DECLARATION.match(content)
    if late is not None:
        mark, before, declaration = late.groups(b"")
        line = before.count(b"\n") + 1
        warnings.append(f"{in_letters(path)}:{line}: the XML declaration is not at the very beginning; read even so")
        # It says the encoding. The lines after it stay the same.
        content = mark + declaration + before + content[late.end() :]
    try:
        root = _parse_bytes(content, path, None)
    except etree.XMLSyntaxError as error:
        root = _parse_misdeclared(content, path, error)
    for element in root.iter():
        if "}" in str(element.tag):
            element.tag = str(element.tag).rpartition("}")[2]
    if root.tag != "OpenDRIVE":
        raise InputError(where(root), "not an OpenDRIVE document", "a root element <OpenDRIVE>")
    return root


def _parse_bytes(content: bytes, path: Path, encoding: str | None) -> Element:
    parser = etree.XMLParser(
        remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True, encoding=encoding
    )
    return etree.fromstring(content, parser, base_url=in_letters(path))


def _parse_misdeclared(content: bytes, path: Path, first: etree.XMLSyntaxError) -> Element:
    """A second try for files whose bytes do not fit their declared encoding (umlauts in road names, mostly)."""
    try:
        return _parse_bytes(content.decode("utf-8", "replace").encode(), path, "utf-8")
    except etree.XMLSyntaxError:
        line = first.lineno or 1
        raise InputError(f"{path}:{line}", f"not XML: {first.msg}", "an OpenDRIVE file") from first


def where(element: Element) -> str:
    """`file:line: <element>` for error lines."""
    return f"{element.getroottree().docinfo.URL}:{element.sourceline}: <{element.tag}>"


def finite(element: Element, name: str, default: float | None = None) -> float:
    """A finite number of any size from an attribute; `default` where the attribute is absent or empty.

    Raises:
        InputError: absent without a default, or not a finite number.
    """
    raw = _written(element, name)
    if raw is None:
        if default is None:
            raise InputError(where(element), f"attribute {name} is missing", "a number")
        return default
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(where(element), f"{name}={raw!r} is no finite number", "a number")
    return value


def number(element: Element, name: str, default: float | None = None, low: float = -math.inf) -> float:
    """As `finite`, within the attribute's row of `BOUNDS`.

    Raises:
        InputError: absent without a default, not a finite number, below `low` or outside its row of `BOUNDS`.
    """
    value, bound = finite(element, name, default), BOUNDS[name].at_least(low)
    if _written(element, name) is not None and not bound.holds(value):
        raise InputError(where(element), f"{name}={element.get(name)!r} is out of range", str(bound))
    return value


def _written(element: Element, name: str) -> str | None:
    """An attribute that is there and not empty."""
    raw = element.get(name)
    return None if raw is None or not raw.strip() else raw


def integer(element: Element, name: str) -> int:
    """A whole number from an attribute, or `InputError`."""
    value = number(element, name)
    if value != int(value):
        raise InputError(where(element), f"{name}={element.get(name)!r} is no whole number", "a whole number")
    return int(value)


def text(element: Element, name: str) -> str:
    """An attribute that must be there, or `InputError`."""
    raw = element.get(name)
    if raw is None or not raw.strip():
        raise InputError(where(element), f"attribute {name} is missing", "a value")
    return raw.strip()


def examples(names: Sequence[str]) -> str:
    """The first few of many names."""
    return ", ".join(names[:EXAMPLES]) + (", ..." if len(names) > EXAMPLES else "")


def raw_dict(element: Element) -> dict[str, Any]:
    """An element as plain data: tag, attributes, text and children."""
    children = [raw_dict(child) for child in element]
    return {
        "tag": str(element.tag),
        "attributes": {str(key): str(value) for key, value in element.attrib.items()},
        "text": (element.text or "").strip(),
        "children": children,
    }

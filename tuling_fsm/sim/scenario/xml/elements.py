"""XML underneath: documents, elements with their parameters, and faults at `file:line:column`."""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from lxml import etree

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.xml.bounds import bound_of
from tuling_fsm.sim.scenario.xml.expressions import ExpressionError, resolve

_START_TAG = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![A-Z].*?>|<([^\s/>!?][^\s/>]*)(?:\"[^\"]*\"|'[^']*'|[^'\">])*>",
    re.DOTALL,
)
"""What may begin with `<`; the name of the element in the first group where it is a start tag."""
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
T = TypeVar("T")


@dataclass
class ElementRequests:
    """What the reader has asked an element for, whether it is there or not, and the children that it has been given."""

    attributes: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    given: set[etree._Element] = field(default_factory=set)


class XmlDocument:
    """A parsed file, and where in its text each element begins."""

    def __init__(self, file: Path) -> None:
        """Read a file.

        Raises:
            InputError: it cannot be read, or is no XML.
        """
        self.file = file
        try:
            content = file.read_bytes()
        except OSError as error:
            raise InputError(str(file), f"cannot be read: {error.strerror}", "an OpenSCENARIO XML file") from error
        self.sha256 = hashlib.sha256(content).hexdigest()
        """Of what was read."""
        parser = etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False, no_network=True)
        try:
            root = etree.fromstring(content, parser)
        except etree.XMLSyntaxError as error:
            line, column = error.position
            where = f"{file}:{line or 1}:{column or 1}"
            raise InputError(where, f"not XML: {error.msg}", "an OpenSCENARIO XML file") from error
        encoding = root.getroottree().docinfo.encoding or "utf-8"
        try:
            text = content.decode(encoding, "replace")
        except LookupError as error:
            raise InputError(f"{file}:1:1", f"the encoding {encoding!r} is unknown", "UTF-8") from error
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        tags = [(match.start(), match[0]) for match in _START_TAG.finditer(text) if match[1]]
        self._tags = dict(zip(root.iter(etree.Element), tags, strict=False))
        self.asked: defaultdict[etree._Element, ElementRequests] = defaultdict(ElementRequests)
        """Of every element that has been asked for anything."""
        self.root = XmlElement(root, self, {})

    def location(self, node: etree._Element, attribute: str = "") -> SourceLocation:
        """Line and column of an element, or of one of its attributes, counted from 1."""
        if node not in self._tags:
            return SourceLocation(1, 1)
        start, tag = self._tags[node]
        found = re.search(rf"\s{re.escape(attribute)}\s*=", tag) if attribute else None
        offset = start + (0 if found is None else found.start() + 1)
        line = bisect_right(self._lines, offset)
        return SourceLocation(line, offset - self._lines[line - 1] + 1)


class XmlElement:
    """An element and the parameters that are known in it."""

    def __init__(self, node: etree._Element, document: XmlDocument, parameters: Mapping[str, str]) -> None:
        self._node, self._document, self.parameters = node, document, parameters

    @property
    def tag(self) -> str:
        """Its name, without a name space."""
        return str(self._node.tag).rpartition("}")[2]

    @property
    def file(self) -> Path:
        """The file that it stands in."""
        return self._document.file

    @property
    def at(self) -> SourceLocation:
        """Where it begins."""
        return self._document.location(self._node)

    @property
    def attributes(self) -> list[str]:
        """Names of its attributes, without those of a name space, which mean something to other programs."""
        names = self._own_attributes()
        self._asked.attributes.update(names)
        return names

    @property
    def visited(self) -> bool:
        """Whether it has been asked for anything."""
        return self._node in self._document.asked

    @property
    def missing_attributes(self) -> list[str]:
        """Names of the attributes that it has been asked for and does not have."""
        return sorted(self._asked.attributes.difference(self._own_attributes()))

    @property
    def missing_tags(self) -> list[str]:
        """Names of the children that it has been asked for and does not have."""
        return sorted(self._asked.tags.difference(child.tag for child in self._children()))

    @property
    def unread_attributes(self) -> list[str]:
        """Names of its attributes that it has not been asked for, without those of a name space."""
        return [name for name in self._own_attributes() if name not in self._asked.attributes]

    @property
    def unread_children(self) -> list[XmlElement]:
        """Its children that nobody has been given."""
        return [child for child in self._children() if child._node not in self._asked.given]

    @property
    def visited_children(self) -> list[XmlElement]:
        """Its children that somebody has been given and has asked for anything."""
        return [child for child in self._children() if child._node in self._asked.given and child.visited]

    def leave(self) -> None:
        """Forget what it has been asked for: it is told of as a whole."""
        self._document.asked.pop(self._node, None)

    def below(self, *tags: str) -> Iterator[XmlElement]:
        """All elements of these names in it, however deep, in the order of the text; this does not ask for them."""
        for node in self._node.iterdescendants(etree.Element):
            element = XmlElement(node, self._document, self.parameters)
            if element.tag in tags:
                yield element

    def within(self, parameters: Mapping[str, str]) -> XmlElement:
        """The same element where these parameters are known besides."""
        return XmlElement(self._node, self._document, {**self.parameters, **parameters})

    def fault(self, what: str, expected: str, attribute: str = "") -> InputError:
        """What is wrong here, or with an attribute, and what would be right."""
        return InputError(self.place(attribute), f"<{self.tag}>: {what}", expected)

    def place(self, attribute: str = "") -> str:
        """Where it begins, or an attribute of it: `file:line:column`."""
        return self._document.location(self._node, attribute).within(str(self.file))

    @property
    def _asked(self) -> ElementRequests:
        return self._document.asked[self._node]

    def _own_attributes(self) -> list[str]:
        return [name for name in map(str, self._node.attrib) if not name.startswith("{")]

    def _children(self) -> Iterator[XmlElement]:
        for child in self._node:
            if isinstance(child.tag, str):
                yield XmlElement(child, self._document, self.parameters)

    def __iter__(self) -> Iterator[XmlElement]:
        asked = self._asked
        for child in self._children():
            asked.given.add(child._node)
            yield child

    def all(self, *tags: str) -> list[XmlElement]:
        """Children of these names, in the order of the text."""
        self._asked.tags.update(tags)
        found = [child for child in self._children() if child.tag in tags]
        self._asked.given.update(child._node for child in found)
        return found

    def find(self, *path: str) -> XmlElement | None:
        """The first child of a name, its first child of the next one, and so on."""
        found: XmlElement | None = self
        for tag in path:
            found = found._first(tag) if found is not None else None
        return found

    def _first(self, tag: str) -> XmlElement | None:
        self._asked.tags.add(tag)
        found = next((child for child in self._children() if child.tag == tag), None)
        if found is not None:
            self._asked.given.add(found._node)
        return found

    def _raw(self, name: str) -> str | None:
        self._asked.attributes.add(name)
        return self._node.get(name)

    def child(self, *path: str) -> XmlElement:
        """As `find`.

        Raises:
            InputError: there is none.
        """
        here = self
        for tag in path:
            found = here.find(tag)
            if found is None:
                raise here.fault(f"has no <{tag}>", f"a <{tag}> in it")
            here = found
        return here

    def only(self) -> XmlElement:
        """The child that says which kind it is.

        Raises:
            InputError: it has no children.
        """
        first = next(iter(self), None)
        if first is None:
            raise self.fault("is empty", "an element in it")
        return first

    def has(self, name: str) -> bool:
        """Whether an attribute is given and not empty."""
        return bool(self._raw(name))

    def text(self, name: str, default: str | None = None) -> str:
        """An attribute, parameters and expressions resolved.

        Raises:
            InputError: it is missing, or names an unknown parameter.
        """
        raw = self._raw(name)
        if raw is None:
            if default is None:
                raise self._lacks(name)
            return default
        try:
            return resolve(raw, self.parameters)
        except ExpressionError as error:
            raise self.fault(error.what, error.expected, name) from error

    def name(self) -> str:
        """The name that is declared here, as it stands there: `$` is no part of it."""
        return (self._raw("name") or "").removeprefix("$")

    def reference(self, attribute: str) -> str:
        """A name that is referred to, as it stands there: `$` is no part of it.

        Raises:
            InputError: it is missing.
        """
        raw = self._raw(attribute)
        if raw is None:
            raise self._lacks(attribute)
        return raw.removeprefix("$")

    def _lacks(self, attribute: str) -> InputError:
        return self.fault(f"has no attribute {attribute!r}", f'{attribute}="..."')

    def number(self, name: str, default: float | None = None) -> float:
        """An attribute as a number, `INF` among them.

        Raises:
            InputError: it is missing or none.
        """
        text = self.text(name, None if default is None else "") if self.has(name) or default is None else ""
        if not text and default is not None:
            return default
        bound = bound_of(self.tag, name)
        try:
            value = float(text)
        except ValueError as error:
            raise self.fault(f"{name} is {text!r}", "a number", name) from error
        if not bound.holds(value):
            raise self.fault(f"{name} is {text!r}", str(bound), name)
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """An attribute as a whole number.

        Raises:
            InputError: it is missing or none.
        """
        value = self.number(name, None if default is None else float(default))
        if math.isinf(value) or value != math.floor(value):
            raise self.fault(f"{name} is {value:g}", "a whole number", name)
        return int(value)

    def truth(self, name: str, default: bool | None = None) -> bool:
        """An attribute as `true` or `false`.

        Raises:
            InputError: it is missing or neither.
        """
        return self.choice(name, _TRUTHS, default)

    def choice(self, name: str, choices: Mapping[str, T], default: T | None = None) -> T:
        """What a word of an enumeration means.

        Raises:
            InputError: it is missing, or none of the words.
        """
        if not self.has(name) and default is not None:
            return default
        word = self.text(name)
        for candidate in (word, word.strip(), word.strip().lower()):
            if candidate in choices:
                return choices[candidate]
        raise self.fault(f"{name} is {word!r}", "one of " + ", ".join(choices), name)

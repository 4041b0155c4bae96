"""Mutations of files: of bytes and words as they come, and of XML, JSON and YAML by their structure.

Structure-aware as in libprotobuf-mutator and Grammarinator: most of what is made still parses, so that it comes as far
as what reads the values ([atheris][]). The same generator makes the same mutants.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, MutableMapping, MutableSequence
from random import Random

import yaml
from lxml import etree

from tuling_fsm.fuzz.extremes import LONG_NUMBER, MANY, NESTED, NUMBERS, TEXTS, VALUES

Mutation = Callable[[bytes, Random], bytes]
"""From the bytes of a file to those of a mutant."""
MOST_BYTES = 4_000_000
"""No mutant is longer."""
_MOST_COPIED = 20_000
"""Values or elements that one change adds by saying something again: a few changes would make thousands of millions."""
_MOST_CHANGES = 4
_STRUCTURED_SHARE = 0.85
_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD = re.compile(rb"\w+|[^\w\s]")
_Container = MutableMapping[object, object] | MutableSequence[object]
_Place = tuple[_Container, object]
"""A container, and a key or an index in it."""


def mutate_text(content: bytes, random: Random) -> bytes:
    """Numbers to extremes, words left out, doubled or taken from elsewhere, lines moved about."""
    for _ in range(random.randint(1, _MOST_CHANGES)):
        content = random.choice(_OF_TEXT)(content, random)
    return content[:MOST_BYTES]


def mutate_bytes(content: bytes, random: Random) -> bytes:
    """Bytes changed, left out, doubled or cut off."""
    for _ in range(random.randint(1, _MOST_CHANGES)):
        content = random.choice(_OF_BYTES)(content, random)
    return content[:MOST_BYTES]


def mutate_xml(content: bytes, random: Random) -> bytes:
    """Attributes and elements dropped, doubled, moved, nested, and their values to extremes."""
    if random.random() > _STRUCTURED_SHARE:
        return mutate_text(content, random)
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return mutate_text(content, random)
    for _ in range(random.randint(1, _MOST_CHANGES)):
        elements = list(root.iter(etree.Element))
        random.choice(_OF_XML)(random.choice(elements), elements, random)
    return etree.tostring(root)[:MOST_BYTES]


def mutate_json(content: bytes, random: Random) -> bytes:
    """Members dropped, doubled, renamed, nested, and their values to those of other types."""
    if random.random() > _STRUCTURED_SHARE:
        return mutate_text(content, random)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return mutate_text(content, random)
    text = json.dumps(_changed(value, random))
    return _with_long_number(text, random).encode()[:MOST_BYTES]


def mutate_yaml(content: bytes, random: Random) -> bytes:
    """As `mutate_json`."""
    if random.random() > _STRUCTURED_SHARE:
        return mutate_text(content, random)
    try:
        value = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        return mutate_text(content, random)
    return yaml.safe_dump(_changed(value, random), sort_keys=False).encode()[:MOST_BYTES]


def _changed(value: object, random: Random) -> object:
    for _ in range(random.randint(1, _MOST_CHANGES)):
        places = list(_places(value))
        if not places:
            return copy.deepcopy(random.choice(VALUES))
        random.choice(_OF_VALUES)(*random.choice(places), random)
    return value


def _places(value: object) -> list[_Place]:
    """Every member of every container of a tree."""
    found: list[_Place] = []
    open_: list[object] = [value]
    while open_:
        here = open_.pop()
        if isinstance(here, MutableMapping):
            found += [(here, key) for key in here]
            open_ += here.values()
        elif isinstance(here, MutableSequence):
            found += [(here, i) for i in range(len(here))]
            open_ += here
    return found


def _put(parent: _Container, key: object, value: object) -> None:
    if isinstance(parent, MutableMapping):
        parent[key] = value
    else:
        parent[_index(key)] = value


def _index(key: object) -> int:
    assert isinstance(key, int)  # `_places` counts the members of a list
    return key


def _get(parent: _Container, key: object) -> object:
    return parent[key] if isinstance(parent, MutableMapping) else parent[_index(key)]


def _extreme_value(parent: _Container, key: object, random: Random) -> None:
    value = random.choice((*VALUES, *map(_as_number, NUMBERS), *TEXTS))
    _put(parent, key, copy.deepcopy(value))


def _as_number(text: str) -> object:
    """The number that a text is, as JSON writes it; the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _dropped(parent: _Container, key: object, random: Random) -> None:
    if isinstance(parent, MutableMapping):
        del parent[key]
    else:
        del parent[_index(key)]


def _repeated(parent: _Container, key: object, random: Random) -> None:
    value = _get(parent, key)
    if isinstance(parent, MutableMapping):
        parent[f"{key}{random.choice(TEXTS)[:20]}"] = copy.deepcopy(value)
    else:
        many = _times(random, 1 + len(_places(value)), _MOST_COPIED)
        parent[_index(key) : _index(key)] = [copy.deepcopy(value) for _ in range(many)]


def _times(random: Random, size: int, most: int) -> int:
    """How often something of a size is said again where no more than `most` may come of it, but once."""
    return min(random.choice(MANY), max(most // size, 1))


def _wrapped(parent: _Container, key: object, random: Random) -> None:
    value = _get(parent, key)
    for _ in range(random.choice((1, 2, 60))):
        value = [value] if random.random() < 0.5 else {"x": value}
    _put(parent, key, value)


_OF_VALUES = (_extreme_value, _extreme_value, _extreme_value, _dropped, _repeated, _wrapped)


def _with_long_number(text: str, random: Random) -> str:
    """Now and then what only a text can hold: a number of thousands of digits, brackets thousands deep."""
    chance = random.random()
    if chance < 0.02:
        return re.sub(r"\d+", LONG_NUMBER, text, count=1)
    if chance < 0.03:
        return "[" * NESTED + text + "]" * NESTED
    return text


def _number_replaced(content: bytes, random: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = random.choice(found)
    chosen = random.choice((*NUMBERS, LONG_NUMBER)).encode()
    return content[: match.start()] + chosen + content[match.end() :]


def _number_changed(content: bytes, random: Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = random.choice(found)
    factor = random.choice((-1.0, 0.0, 0.5, 1.001, 10.0, 1e3, 1e6))
    return content[: match.start()] + repr(float(match[0]) * factor).encode() + content[match.end() :]


def _word_changed(content: bytes, random: Random) -> bytes:
    found = list(_WORD.finditer(content))
    if not found:
        return content
    match, other = random.choice(found), random.choice(found)[0]
    instead = random.choice((b"", other, match[0] * 2, match[0] + b" " + match[0], random.choice(TEXTS).encode()))
    return content[: match.start()] + instead + content[match.end() :]


def _lines_changed(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    i, j = sorted((random.randrange(len(lines)), random.randrange(len(lines))))
    block = lines[i : min(j + 1, i + 20)]
    kind = random.randrange(4)
    if kind == 0:
        del lines[i : i + len(block)]
    elif kind == 1:
        lines[i:i] = block * _times(random, len(b"\n".join(block)) + 1, MOST_BYTES)
    elif kind == 2:
        place = random.randrange(len(lines))
        lines[place:place] = block
    else:
        lines[i] = random.choice((b"    ", b"\t", b" ")) + lines[i]
    return b"\n".join(lines)


def _nested(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content) + 1)
    opening, closing = random.choice(((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"not ", b""), (b"-", b"")))
    deep = random.choice((3, 50, NESTED))
    return content[:place] + opening * deep + b"1" + closing * deep + content[place:]


def _bytes_changed(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 4, 16))):
        if changed:
            changed[random.randrange(len(changed))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return bytes(changed)


def _words_changed(content: bytes, random: Random) -> bytes:
    """Whole 4 or 8 bytes, as binary formats have them."""
    size = random.choice((4, 8))
    if len(content) < size:
        return content
    place = random.randrange(len(content) - size + 1)
    known = (
        b"\xff" * size,
        b"\0" * size,
        b"\xff" * (size - 1) + b"\x7f",
        b"\0" * (size - 2) + b"\xf0\x7f",
        b"\0" * (size - 2) + b"\xf8\x7f",
    )
    return content[:place] + random.choice(known) + content[place + size :]


def _cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _block_moved(content: bytes, random: Random) -> bytes:
    i, j = sorted((random.randrange(len(content) + 1), random.randrange(len(content) + 1)))
    place, block = random.randrange(len(content) + 1), content[i : min(j, i + 256)]
    return (
        content[:place] + block + content[place:] if random.random() < 0.5 else content[:i] + content[i + len(block) :]
    )


_OF_BYTES = (_bytes_changed, _bytes_changed, _words_changed, _words_changed, _block_moved, _cut)
_OF_TEXT = (
    _number_replaced, _number_replaced, _number_replaced, _number_changed, _number_changed, _word_changed,
    _word_changed, _lines_changed, _nested, _bytes_changed, _cut,
)  # fmt: skip


def _attribute_changed(element: etree._Element, _: list[etree._Element], random: Random) -> None:
    if not element.attrib:
        return
    name = random.choice(sorted(map(str, element.attrib)))
    value = element.attrib[name]
    pool = NUMBERS if _NUMBER.fullmatch(str(value).encode()) else (*TEXTS, *NUMBERS)
    chosen = LONG_NUMBER if random.random() < 0.02 else random.choice(pool)
    element.set(name, "".join(letter for letter in chosen if letter.isprintable()))


def _attribute_scaled(element: etree._Element, _: list[etree._Element], random: Random) -> None:
    numbers = [(str(k), str(v)) for k, v in element.attrib.items() if _NUMBER.fullmatch(str(v).encode())]
    if numbers:
        name, value = random.choice(numbers)
        element.set(name, repr(float(value) * random.choice((-1.0, 0.0, 1e-3, 0.9, 1.001, 10.0, 1e3, 1e6))))


def _attribute_dropped(element: etree._Element, _: list[etree._Element], random: Random) -> None:
    if element.attrib:
        del element.attrib[random.choice(sorted(map(str, element.attrib)))]


def _text_changed(element: etree._Element, _: list[etree._Element], random: Random) -> None:
    chosen = random.choice((*NUMBERS, *TEXTS, LONG_NUMBER))
    element.text = "".join(letter for letter in chosen if letter.isprintable())


def _element_dropped(element: etree._Element, _: list[etree._Element], random: Random) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _element_repeated(element: etree._Element, _: list[etree._Element], random: Random) -> None:
    parent = element.getparent()
    if parent is not None:
        many = _times(random, sum(1 for _inside in element.iter()), _MOST_COPIED)
        for _unused in range(many):
            parent.append(copy.deepcopy(element))


def _element_moved(element: etree._Element, elements: list[etree._Element], random: Random) -> None:
    """A copy of it into another one, or that one's name for it."""
    other = random.choice(elements)
    if random.random() < 0.3:
        element.tag = other.tag
    elif len(element) < 500:
        other.append(copy.deepcopy(element))


def _attribute_lent(element: etree._Element, elements: list[etree._Element], random: Random) -> None:
    """A value of another element, so that ids and references meet where they should not."""
    other = random.choice(elements)
    shared = sorted(set(map(str, element.attrib)) & set(map(str, other.attrib)))
    if shared:
        name = random.choice(shared)
        element.set(name, other.attrib[name])


_OF_XML = (
    _attribute_changed, _attribute_changed, _attribute_changed, _attribute_changed, _attribute_scaled,
    _attribute_scaled, _attribute_scaled, _attribute_dropped, _attribute_lent, _text_changed, _element_dropped,
    _element_repeated, _element_moved,
)  # fmt: skip

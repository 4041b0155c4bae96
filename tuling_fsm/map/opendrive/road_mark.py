"""Road marks as written, and what they mean for a car in the lane beside them (ASAM OpenDRIVE 1.8, clause 11.9)."""

from __future__ import annotations

from typing import NamedTuple

from tuling_fsm.map.lanes import MarkKind
from tuling_fsm.map.opendrive.document import Element, number


class RoadMark(NamedTuple):
    """From road station `s` (m) on: one or two lines, listed from inside to outside (centre lane: left to right).

    `lines` holds True for each solid line; `kind` is the mark seen from the inside (centre lane: from the left).
    """

    s: float
    kind: MarkKind | None
    """None: no mark at all."""
    lines: tuple[bool, ...]
    lane_change: str | None


_TYPES: dict[str, tuple[MarkKind | None, tuple[bool, ...]]] = {
    "none": (None, ()),
    "solid": (MarkKind.SOLID, (True,)),
    "broken": (MarkKind.BROKEN, (False,)),
    "solid solid": (MarkKind.SOLID_SOLID, (True, True)),
    "solid broken": (MarkKind.SOLID_BROKEN, (True, False)),
    "broken solid": (MarkKind.BROKEN_SOLID, (False, True)),
    "broken broken": (MarkKind.BROKEN, (False, False)),
    "botts dots": (MarkKind.BROKEN, (False,)),
    "curb": (MarkKind.CURB, (True,)),
    "grass": (MarkKind.CURB, (True,)),
    "edge": (MarkKind.VIRTUAL, (True,)),
}

_BY_LINES = {lines: kind for kind, lines in _TYPES.values() if kind not in (MarkKind.CURB, MarkKind.VIRTUAL)}

_MIRRORED = {MarkKind.SOLID_BROKEN: MarkKind.BROKEN_SOLID, MarkKind.BROKEN_SOLID: MarkKind.SOLID_BROKEN}


def read_road_marks(lane: Element, start: float) -> tuple[RoadMark, ...]:
    """The marks of a lane (its outer line; for the centre lane the line itself), ordered by station; its section
    begins at `start` (m).
    """
    return tuple(sorted((_read_mark(e, start) for e in lane.findall("roadMark")), key=lambda mark: mark.s))


def _read_mark(element: Element, start: float) -> RoadMark:
    written = " ".join(element.get("type", "none").replace("_", " ").split())
    kind, lines = _TYPES.get(written, (MarkKind.UNKNOWN, (True,)))
    if written == "custom" or written not in _TYPES:
        detail = _lines(element)
        if detail:
            kind, lines = _BY_LINES.get(detail[:2], MarkKind.UNKNOWN), detail
    return RoadMark(start + number(element, "sOffset", 0.0), kind, lines, element.get("laneChange"))


def _lines(mark: Element) -> tuple[bool, ...]:
    """Solid or not for every line of `<type>`, from inside (larger t for right lanes) to outside."""
    found = [(number(e, "tOffset", 0.0), number(e, "space", 0.0) <= 0.0) for e in mark.findall("type/line")]
    lane = mark.getparent()
    outwards = 1.0 if lane is not None and not lane.get("id", "0").startswith(("-", "0")) else -1.0
    return tuple(solid for _, solid in sorted(found, key=lambda line: outwards * line[0]))


def seen_from_outside(mark: RoadMark) -> RoadMark:
    """The same mark for the lane on its other side."""
    kind = None if mark.kind is None else _MIRRORED.get(mark.kind, mark.kind)
    return mark._replace(kind=kind, lines=mark.lines[::-1])

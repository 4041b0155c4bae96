"""Small OpenDRIVE texts for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap

LINE = "<line/>"


def geometry(s: float, x: float, y: float, heading: float, length: float, shape: str = LINE) -> str:
    return f'<geometry s="{s!r}" x="{x!r}" y="{y!r}" hdg="{heading!r}" length="{length!r}">{shape}</geometry>'


def lane(
    number: int,
    width: float | str = 3.5,
    kind: str = "driving",
    mark: str = "",
    links: tuple[Sequence[int], Sequence[int]] = ((), ()),
    inside: str = "",
    attributes: str = "",
) -> str:
    """A lane; `width` is a number or the text of its records, `mark` a type or the text of its marks."""
    widths = width if isinstance(width, str) else f'<width sOffset="0" a="{width}" b="0" c="0" d="0"/>'
    marks = mark if mark.startswith("<") or not mark else f'<roadMark sOffset="0" type="{mark}"/>'
    link = "".join(f'<predecessor id="{n}"/>' for n in links[0]) + "".join(f'<successor id="{n}"/>' for n in links[1])
    return (
        f'<lane id="{number}" type="{kind}" level="false" {attributes}><link>{link}</link>'
        f"{widths if number else ''}{marks}{inside}</lane>"
    )


def section(lanes: Sequence[str], s: float = 0.0, centre: str = "") -> str:
    """A lane section; lanes are sorted to their sides by number."""
    numbers = [int(text.split('"')[1]) for text in lanes]
    left = "".join(text for text, n in zip(lanes, numbers, strict=True) if n > 0)
    right = "".join(text for text, n in zip(lanes, numbers, strict=True) if n < 0)
    middle = lane(0, kind="none", mark=centre)
    return f'<laneSection s="{s!r}"><left>{left}</left><center>{middle}</center><right>{right}</right></laneSection>'


def road(
    sections: Sequence[str] | str,
    number: str = "1",
    geometries: str = "",
    length: float = 100.0,
    junction: str = "-1",
    link: str = "",
    rule: str = "",
    lanes: str = "",
    inside: str = "",
    kind: str = "",
) -> str:
    """A road, 100 m straight along x if nothing else is said."""
    body = sections if isinstance(sections, str) else "".join(sections)
    plan = geometries or geometry(0.0, 0.0, 0.0, 0.0, length)
    said = f'rule="{rule}"' if rule else ""
    return (
        f'<road id="{number}" length="{length!r}" junction="{junction}" {said}><link>{link}</link>{kind}'
        f"<planView>{plan}</planView><lanes>{lanes}{body}</lanes>{inside}</road>"
    )


def document(*parts: str) -> str:
    body = "\n".join(parts)
    return (
        f'<?xml version="1.0"?>\n<OpenDRIVE>\n<header revMajor="1" revMinor="8" name="small"/>\n{body}\n</OpenDRIVE>\n'
    )


def read(folder: Path, *parts: str) -> RoadMap:
    """The map of a document made of roads, junctions and controllers."""
    return read_text(folder, document(*parts))


def read_text(folder: Path, text: str) -> RoadMap:
    file = folder / "small.xodr"
    file.write_text(text, encoding="utf-8")
    return read_map(file)


def road_link(kind: str, number: str, contact: str = "start", which: str = "successor") -> str:
    said = f'contactPoint="{contact}"' if kind == "road" else ""
    return f'<{which} elementType="{kind}" elementId="{number}" {said}/>'

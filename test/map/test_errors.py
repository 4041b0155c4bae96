"""Files that cannot be read: one clear line each, with file, line, element, what is wrong and what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from map import xodr
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive import read_map

GOOD = xodr.document(xodr.road([xodr.section([xodr.lane(-1)])]))


def error_of(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        xodr.read_text(folder, text)
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_the_good_one_is_good(tmp_path: Path) -> None:
    assert len(xodr.read_text(tmp_path, GOOD).lanes) == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('length="100.0"><line', 'length="abc"><line', r"xodr:4: <geometry>: length='abc' is no finite number"),
        (
            'length="100.0"><line',
            'length="-1"><line',
            r"<geometry>: length='-1' is out of range \(expected from 0 to 200000\)",
        ),
        ('x="0.0"', 'x="nan"', r"<geometry>: x='nan' is no finite number"),
        ('x="0.0"', "", r"<geometry>: attribute x is missing"),
        ("<line/>", "<helix/>", r"<geometry>: unknown geometry: <helix> \(expected one of <line>, <arc>"),
        ("<line/>", "", r"unknown geometry: nothing"),
        ("<line/>", "<arc/>", r"<arc>: attribute curvature is missing"),
        ("<line/>", '<paramPoly3 aU="0"/>', r"<paramPoly3>: attribute bU is missing"),
        ('a="3.5"', 'a="inf"', r"<width>: a='inf' is no finite number"),
        ('id="-1" type', 'id="x" type', r"<lane>: id='x' is no finite number"),
        ('id="-1" type', 'id="-1.5" type', r"<lane>: id='-1.5' is no whole number"),
        ('<road id="1"', "<road", r"<road>: attribute id is missing"),
        ('revMajor="1"', 'revMajor="2"', r"<header>: OpenDRIVE 2.8 \(expected version 1.4 to 1.8\)"),
        ("OpenDRIVE>", "OpenScenario>", r"<OpenScenario>: not an OpenDRIVE document"),
        ("<planView>", "<planView></planView><nothing>", r"not XML"),
    ],
)
def test_malformed_files(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    assert re.search(told, error_of(tmp_path, GOOD.replace(old, new)))


def test_no_road(tmp_path: Path) -> None:
    assert "no road" in error_of(tmp_path, xodr.document())


def test_no_geometry_no_lanes_no_width(tmp_path: Path) -> None:
    assert "road without lanes" in error_of(tmp_path, xodr.document(xodr.road([])))
    assert "no road has a lane" in error_of(tmp_path, xodr.document(xodr.road([xodr.section([])])))
    bare = re.sub(r"<planView>.*</planView>", "<planView/>", GOOD)
    assert "road without geometry" in error_of(tmp_path, bare)


def test_two_of_the_same(tmp_path: Path) -> None:
    road = xodr.road([xodr.section([xodr.lane(-1)])])
    assert "a second road has id '1'" in error_of(tmp_path, xodr.document(road, road))
    twice = xodr.document(xodr.road([xodr.section([xodr.lane(-1), xodr.lane(-1)])]))
    assert "a second lane has id -1" in error_of(tmp_path, twice)


def test_files_that_are_none(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.xodr", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_map(path)
    (tmp_path / "noise.xodr").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="not XML"):
        read_map(tmp_path / "noise.xodr")


def test_umlauts_in_another_encoding_are_survived(tmp_path: Path) -> None:
    file = tmp_path / "german.xodr"
    file.write_bytes(GOOD.replace('name="small"', 'name="M\u00fchle"').encode("latin-1"))
    assert len(read_map(file).lanes) == 1


def test_name_spaces_and_comments_do_not_matter(tmp_path: Path) -> None:
    text = GOOD.replace("<OpenDRIVE>", '<OpenDRIVE xmlns="http://code.asam.net/simulation/standard/opendrive_schema">')
    assert len(xodr.read_text(tmp_path, text.replace("<lanes>", "<!-- x --><lanes>")).lanes) == 1


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 40))
def test_a_damaged_file_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, start: int, count: int
) -> None:
    """Whatever is cut out: a map, or an `InputError`, and nothing else."""
    folder = tmp_path_factory.mktemp("cut")
    try:
        xodr.read_text(folder, GOOD[:start] + GOOD[start + count :])
    except InputError as error:
        assert "\n" not in str(error)


@given(st.sampled_from(re.findall(r'="([^"]*)"', GOOD)), st.sampled_from(["", "nan", "-1", "1e300", "1e9", "x", "0"]))
def test_a_nonsense_value_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    folder = tmp_path_factory.mktemp("value")
    try:
        xodr.read_text(folder, GOOD.replace(f'="{old}"', f'="{new}"', 1))
    except InputError as error:
        assert "\n" not in str(error)

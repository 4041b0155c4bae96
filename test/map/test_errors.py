"""Files that cannot be read: one clear line each, with file, line, element, what is wrong and what would be right."""

from __future__ import annotations

import os
import re
import warnings
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
            r"<geometry>: length='-1' is out of range \(expected from 0 to 200000 m\)",
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


def test_a_folder_whose_name_is_no_utf_8_is_like_any_other(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode("地图".encode("gbk"))
    folder.mkdir()
    assert len(xodr.read_text(folder, GOOD).lanes) == 1
    told = error_of(folder, xodr.document(""))
    assert r"\udcb5\udcd8" in told and told.isprintable()


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


@pytest.mark.parametrize("before", [" ", "\n\n", "<!-- licence\nof the map -->\n", "\ufeff <!-- <?xml ?> -->"])
def test_what_stands_before_the_xml_declaration_is_passed_over(tmp_path: Path, before: str) -> None:
    """With one warning; messages name the lines of the file."""
    (warning,) = xodr.read_text(tmp_path, before + GOOD).warnings
    line = before.count("\n") + 1
    assert f"small.xodr:{line}: the XML declaration is not at the very beginning" in warning
    told = error_of(tmp_path, before + GOOD.replace('x="0.0"', ""))
    assert f"xodr:{line + 3}: <geometry>: attribute x is missing" in told


@pytest.mark.parametrize("encoding", ["iso-8859-1", "gb18030"])
def test_a_late_xml_declaration_says_the_encoding_too(tmp_path: Path, encoding: str) -> None:
    name = "Stra\u00dfe" if encoding == "iso-8859-1" else "\u505c\u8f66\u573a"
    file = tmp_path / "late.xodr"
    declared = GOOD.replace('encoding="UTF-8"', "").replace("?>", f' encoding="{encoding}"?>', 1)
    file.write_bytes(("<!-- licence -->\n" + declared.replace('road id="1"', f'road id="{name}"')).encode(encoding))
    assert [lane.road for lane in read_map(file).lanes] == [name]


def test_a_second_xml_declaration_is_no_xml(tmp_path: Path) -> None:
    assert "not XML" in error_of(tmp_path, GOOD.replace("<OpenDRIVE>", '<?xml version="1.0"?><OpenDRIVE>'))


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


RICH = """<OpenDRIVE><header revMajor="1" revMinor="6" name="rich"/>
<road id="1" length="80" junction="-1"><type s="0" type="town"><speed max="50" unit="km/h"/></type>
<planView><geometry s="0" x="0" y="0" hdg="0" length="20"><spiral curvStart="0.0" curvEnd="0.01"/></geometry>
<geometry s="20" x="20" y="0" hdg="0" length="20"><arc curvature="0.011"/></geometry>
<geometry s="40" x="40" y="0" hdg="0" length="20"><poly3 a="0.1" b="0.2" c="0.002" d="0.0001"/></geometry>
<geometry s="60" x="60" y="0" hdg="0" length="20"><paramPoly3 aU="0.3" bU="1.1" cU="0.003" dU="0.0002" aV="0.4" bV="0.5"
cV="0.004" dV="0.0003" pRange="arcLength"/></geometry></planView>
<elevationProfile><elevation s="0" a="0.6" b="0" c="0" d="0"/></elevationProfile>
<lanes><laneOffset s="0" a="0.7" b="0" c="0" d="0"/><laneSection s="0"><center><lane id="0" type="none"/></center>
<right><lane id="-1" type="driving"><link><successor id="-1"/></link><width sOffset="0" a="3.5" b="0.01" c="0" d="0"/>
<roadMark sOffset="0.5" type="custom"><type><line tOffset="0.12" space="0"/></type></roadMark>
<speed sOffset="0" max="8"/></lane></right></laneSection></lanes><objects>
<object id="5" type="parkingSpace" s="21" t="-5" width="2.5" length="5" hdg="0.2"/>
<object id="6" type="pole" zOffset="0.15" s="22" t="-6" radius="0.16">
<repeat s="23" length="30" distance="7" tStart="-7" tEnd="-8"/>
</object><object id="7" type="barrier" s="24" t="-9"><outline><cornerLocal u="1" v="2"/><cornerLocal u="-1" v="2"/>
<cornerLocal u="0" v="-2.2"/></outline></object></objects>
<signals><signal id="7" s="50" t="-4" hOffset="0.17" dynamic="yes" orientation="+" type="1000001" subtype="-1">
<validity fromLane="-2" toLane="-1"/></signal></signals></road></OpenDRIVE>"""
"""One element of every kind that is read for its numbers."""

VALUES = re.findall(r'[ \n](\w+)="(-?[0-9.]+)"', RICH)
TEXTS = ("id", "junction", "type", "subtype", "name")
EXTREMES = [
    "",
    "nan",
    "-1",
    "1e300",
    "-1e308",
    "1e9",
    "x",
    "0",
    "2000000000",
    "9" * 5000,
    "-" + "9" * 20,
    "1e-320",
    "\u0663",
]


def test_the_rich_one_is_good(tmp_path: Path) -> None:
    found = xodr.read_text(tmp_path, RICH)
    assert (len(found.lanes), len(found.slots), len(found.signals), len(found.objects)) == (1, 1, 1, 6)


@pytest.mark.parametrize(("name", "value"), sorted({each for each in VALUES if each[0] not in TEXTS}))
def test_every_quantity_of_a_file_has_a_bound(tmp_path: Path, name: str, value: str) -> None:
    """Refused in one line, with the bound and its unit; only an object is left out."""
    for extreme in ("1e300", "-1e308", "9" * 30):
        text = re.sub(rf'([ \n]{name})="{value}"', rf'\1="{extreme}"', RICH, count=1)
        changed = next(i for i, (old, new) in enumerate(zip(RICH, text, strict=False)) if old != new)
        if RICH.index("<objects>") < changed < RICH.index("</objects>"):
            (told,) = xodr.read_text(tmp_path, text).warnings
            assert told.endswith("; the object is left out") and "\n" not in told
        else:
            told = error_of(tmp_path, text)
        assert re.search(r"out of range \(expected from \S+ to \S+.*\)|version 1.4 to 1.8", told), told


STEEP = 'a="3.5" b="0" c="-6e12" d="4e18"'


@pytest.mark.parametrize("name", ["width", "laneOffset", "elevation"])
def test_records_that_join_others_may_be_steep(tmp_path: Path, name: str) -> None:
    """Over nanometres, as exporters write them; over metres they are refused."""

    def text(joint: float) -> str:
        start = "sOffset" if name == "width" else "s"
        steep, level = f'<{name} {start}="40" {STEEP}/>', f'<{name} {start}="{40.0 + joint!r}" a="3.5"/>'
        width = steep + level if name == "width" else '<width sOffset="0" a="3.5"/>'
        elevation = f"<elevationProfile>{steep + level if name == 'elevation' else ''}</elevationProfile>"
        lanes = [xodr.section([xodr.lane(-1, width)])]
        return xodr.document(xodr.road(lanes, lanes=steep + level if name == "laneOffset" else "", inside=elevation))

    (lane,) = xodr.read_text(tmp_path, text(1e-7)).lanes.values()
    drawn = {"width": 2.0 * lane.left, "laneOffset": lane.center.xy[:, 1] + 1.75, "elevation": lane.z}[name]
    assert drawn == pytest.approx(3.5)
    assert f"<{name}>: c='-6e12' is out of range" in error_of(tmp_path, text(0.01))


def test_a_section_of_a_micrometre_may_be_steep(tmp_path: Path) -> None:
    sections = [
        xodr.section([xodr.lane(-1)]),
        xodr.section([xodr.lane(-1, f'<width sOffset="0" {STEEP}/>')], s=99.999999),
    ]
    _, last = xodr.read(tmp_path, xodr.road(sections)).lanes.values()
    assert 2.0 * last.left == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('curvature="0.011"', 'curvature="6"', r"arc with a curvature up to 6 1/m over 20 m .* 100 rad at most"),
        ('<lane id="-1"', '<lane id="-999999999999"', r"<lane>: .* \(expected from -1000 to 1000\)"),
        ('toLane="-1"', 'toLane="2000000000"', r"expected from -100000 to 100000"),
        ('a="3.5"', 'a="1001"', r"lane -1 becomes .* m wide \(expected at most 1000 m\)"),
        ('length="20"><arc', 'length="200001"><arc', r"expected from 0 to 200000 m"),
    ],
)
def test_what_would_exhaust_memory_is_refused_before_it_is_begun(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert re.search(told, error_of(tmp_path, RICH.replace(old, new, 1)))


def test_a_map_of_too_many_points_is_refused_before_they_are_made(tmp_path: Path) -> None:
    lanes = "".join(xodr.lane(-1 - i) for i in range(60))
    text = xodr.document(xodr.road([xodr.section([lanes])])).replace("100.0", "199000.0")
    assert "more than 10000000 points of lanes" in error_of(tmp_path, text)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(("x", "told"), [(4412345.0, "4412 km from the origin"), (60_000.0, "")])
def test_a_map_so_far_away_that_places_cannot_be_told_exactly_says_so(tmp_path: Path, x: float, told: str) -> None:
    far = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1)])], "1", xodr.geometry(0.0, x, 0.0, 0.0, 100.0)))
    assert len(far.warnings) == bool(told)
    assert all(told in line and "steps of 0.5 m" in line for line in far.warnings)


@given(st.sampled_from(VALUES), st.sampled_from(EXTREMES))
@pytest.mark.medium
def test_a_nonsense_value_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, written: tuple[str, str], new: str
) -> None:
    """Nor does it leave a warning of numpy behind."""
    folder = tmp_path_factory.mktemp("value")
    name, old = written
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            xodr.read_text(folder, re.sub(rf'([ \n]{name})="{old}"', rf'\1="{new}"', RICH, count=1))
    except InputError as error:
        assert "\n" not in str(error)

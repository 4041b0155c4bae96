"""Files from elsewhere run nothing, read nothing that they were not given, write nothing beside what they were asked
for, and come to an end.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.output_file import write_file
from tuling_fsm.ros.node_parameters import ViewNodeParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.sumo.network import read_network
from tuling_fsm.sim.traffic import client
from tuling_fsm.verbs import runs
from tuling_fsm.viewer.live import server
from tuling_fsm.viewer.single_file import single_file

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tuling_fsm").rglob("*.py"))
SECRET = "the words of another file"
READERS: dict[str, Callable[[Path], Any]] = {
    "OpenDRIVE": read_map,
    "OpenSCENARIO": load_scenario,
    "commonRoad": read_recording,
    "net": read_network,
}
"""What reads XML, by the root of its files; the last reads what SUMO makes of a map."""
SUFFIXES = {"OpenSCENARIO": ".xosc"}
TEN_TO_THE_11TH = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))
HOSTILE = {
    "entities that grow in a text": ('<!ENTITY l0 "ha">' + TEN_TO_THE_11TH, "<{0}><a>&l11;</a></{0}>"),
    "entities that grow in an attribute": ('<!ENTITY l0 "ha">' + TEN_TO_THE_11TH, '<{0}><a b="&l11;"/></{0}>'),
    "an entity that is a file": ('<!ENTITY x SYSTEM "{1}">', "<{0}><a>&x;</a></{0}>"),
    "a file in the declaration": ('<!ENTITY % x SYSTEM "{1}"> %x;', "<{0}><a/></{0}>"),
    "an entity of itself": ('<!ENTITY x "&y;"><!ENTITY y "&x;">', "<{0}><a>&x;</a></{0}>"),
    "an inclusion": ("", '<{0}><i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{1}" parse="text"/></{0}>'),
    "a thousand levels": ("", "<{0}>" + "<a>" * 1000 + "</a>" * 1000 + "</{0}>"),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("root", READERS)
def test_hostile_xml_shows_nothing_and_ends(root: str, hostile: tuple[str, str], tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    declared, body = (part.replace("{0}", root).replace("{1}", secret.as_uri()) for part in hostile)
    file = tmp_path / f"file{SUFFIXES.get(root, '.xml')}"
    file.write_text(f'<?xml version="1.0"?><!DOCTYPE {root} [{declared}]>{body}', encoding="utf-8")
    try:
        found = repr(READERS[root](file))
    except InputError as error:
        found = str(error)
        assert "\n" not in found
    assert SECRET not in found
    assert len(found) < 1000


def method_calls() -> Iterator[tuple[str, ast.Call]]:
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield f"{file.relative_to(ROOT)}:{node.lineno}", node


@pytest.mark.medium
def test_every_xml_parser_is_told_to_leave_entities_alone() -> None:
    seen = 0
    for at, call in method_calls():
        function = ast.unparse(call.func)
        if function == "etree.XMLParser":
            seen += 1
            options = {each.arg: ast.unparse(each.value) for each in call.keywords}
            assert options["resolve_entities"] == "False", at
            assert options["no_network"] == "True", at
            assert "huge_tree" not in options, at
        elif function in ("etree.parse", "etree.fromstring", "etree.XML", "etree.iterparse"):
            assert len(call.args) + len(call.keywords) > 1, f"{at}: without a parser of its own"
    assert seen == len([*READERS, "what fuzz makes mutants of"])


ONCE = {
    "pickle": {"tuling_fsm/bag/saved_state.py"},
    "marshal": set[str](),
    "shelve": set[str](),
    "dill": set[str](),
    "cloudpickle": set[str](),
}
BANNED = re.compile(
    r"\b(?:eval|exec)\(|\bos\.(?:system|popen)\b|shell=True|\byaml\.(?!safe_|YAMLError)|\bnp\.load\b|allow_pickle=True"
    r"|\b(?:tarfile|zipfile)\b|extractall|\b__import__\("
)


@pytest.mark.medium
def test_what_could_run_something_is_in_its_place_or_nowhere() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        name = file.relative_to(ROOT).as_posix()
        code = "\n".join(line.partition("#")[0] for line in text.splitlines())
        found = [each for each in BANNED.findall(re.sub(r'"""(?s:.*?)"""', "", code)) if "literal_eval" not in each]
        assert found == [], name
        for module, places in ONCE.items():
            assert not re.search(rf"^\s*(?:import|from) {module}\b", text, re.MULTILINE) or name in places, name


@pytest.mark.parametrize(
    "code",
    ["x = eval(text)", "yaml.load(text)", "np.load(file)", "subprocess.run(command, shell=True)", "os.system(text)"],
)
def test_what_could_run_something_is_found(code: str) -> None:
    assert BANNED.search(code)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder from elsewhere, deep in one in which nothing may change."""
    inner = tmp_path / "home" / "downloads" / "scenarios"
    inner.mkdir(parents=True)
    (tmp_path / "home" / "profile").write_text(SECRET, encoding="utf-8")
    yield inner
    assert (tmp_path / "home" / "profile").read_text(encoding="utf-8") == SECRET
    assert sorted(each.name for each in (tmp_path / "home").iterdir()) == ["downloads", "profile"]


IMPORTS = {
    "a file of another folder that is none of the language": ('import "../../profile"', "profile:1"),
    "a folder": ('import "../.."', "no file"),
    "a device": ('import "/dev/null"', "no file"),
    "a link to itself": ('import "loop.osc"', "no file"),
    "a pipe that nobody writes to": ('import "pipe.osc"', "no file"),
    "a map that is a device": (
        'scenario a:\n    map: map\n    map.set_map_file("/dev/null")\n    do serial:\n        wait elapsed(1s)',
        "no such file",
    ),
}


@pytest.mark.parametrize(("text", "said"), IMPORTS.values(), ids=IMPORTS)
def test_what_a_scenario_names_is_a_file_or_refused(text: str, said: str, folder: Path) -> None:
    (folder / "loop.osc").symlink_to(folder / "loop.osc")
    os.mkfifo(folder / "pipe.osc")
    (folder / "a.osc").write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(said)) as error:
        load_scenario(folder / "a.osc")
    assert "\n" not in str(error.value)


def test_files_that_import_each_other_end(folder: Path) -> None:
    (folder / "a.osc").write_text('import "b.osc"\nscenario a:\n    do serial:\n        wait elapsed(1s)\n')
    (folder / "b.osc").write_text('import "a.osc"\n')
    with pytest.raises(InputError):
        load_scenario(folder / "b.osc")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/tty"])
def test_a_map_is_no_device(device: str) -> None:
    with pytest.raises(InputError, match="is a device"):
        read_map(Path(device))


def test_nothing_is_written_through_a_link(folder: Path) -> None:
    """As `tuling-fsm report` writes its page beside the bag, in a folder that came with links in it."""
    for name in ("report.html", "report.html.new"):
        (folder / name).symlink_to(folder.parents[1] / "profile")
    write_file(folder / "report.html", "a page")
    assert not (folder / "report.html").is_symlink()
    assert (folder / "report.html").read_text(encoding="utf-8") == "a page"


DESCRIPTIONS = {
    "another file": "rosbag2_bagfile_information: {version: 9, storage_identifier: mcap, relative_file_paths: "
    "[../../profile], duration: {nanoseconds: 0}, starting_time: {nanoseconds_since_epoch: 0}, message_count: 0, "
    "topics_with_message_count: [], compression_format: '', compression_mode: '', files: []}\n",
    "a program": "!!python/object/apply:os.mkdir [ran]\n",
}


@pytest.mark.parametrize("text", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_a_bag_that_names_another_file_or_a_program_is_refused(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "metadata.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        list(read_messages(BagSource(folder)))
    assert SECRET not in str(error.value)
    assert [each.name for each in folder.iterdir()] == ["metadata.yaml"]


def test_words_from_elsewhere_are_words_on_a_page() -> None:
    page = single_file("map", "</title><script>alert(1)</script>", [b"</script><script>alert(1)</script>"])
    assert "<script>alert(1)" not in page


SCRIPTS = sorted(file for file in (ROOT / "tuling_fsm" / "viewer" / "page").rglob("*.js") if "vendor" not in file.parts)


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_the_page_puts_in_words_as_words(file: Path) -> None:
    """What a bag says is never taken for elements of the page, nor for a program."""
    banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function"
    assert re.findall(banned, file.read_text(encoding="utf-8")) == []


def test_ports_are_for_this_computer_unless_it_is_said_otherwise() -> None:
    assert ViewNodeParameters().host == "127.0.0.1"
    assert {runs.LOOPBACK, server.LOOPBACK, client.HOST} == {"127.0.0.1"}
    started = server.LiveServer("a drive")
    try:
        assert started.url.startswith("http://127.0.0.1:")
    finally:
        started.close(0.0)
    launch = (ROOT / "launch" / "planner.launch.py").read_text(encoding="utf-8")
    assert 'DeclareLaunchArgument("view_host", default_value="127.0.0.1"' in launch

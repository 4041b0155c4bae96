"""What the pages for the car and its bags say: their commands run, and every name in them is there."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tuling_fsm.agent import Parameters
from tuling_fsm.cli import main
from tuling_fsm.core.parameters import describe
from tuling_fsm.core.request import Reason
from tuling_fsm.core.topics import BY_NAME, INPUTS, OUTPUTS
from tuling_fsm.ros.node_parameters import RouteServerParameters
from tuling_fsm.ros.parameter_file import specs_of
from tuling_fsm.ros.tracking_cycle import TrackingParameters
from tuling_fsm.wire.commands import ACKERMANN_CMD, CMD_VEL
from tuling_fsm.wire.inputs import OPERATOR

ROOT = Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("vehicle", "bags")}
TEXT = "\n".join(PAGES.values())
FENCE = re.compile(r"^(<!-- run -->\n)?```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETUP = (ROOT / "setup.py").read_text(encoding="utf-8")
SOURCES = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "tuling_fsm").rglob("*.py")))

PARAMETERS = {spec.name: spec for spec in specs_of("planner")}
TRACKING = {spec.name: spec for spec in describe(TrackingParameters)}
COMMANDS = (CMD_VEL, ACKERMANN_CMD)
SERVICES = {*OPERATOR, *re.findall(r'"~/(\w+)"', (ROOT / "tuling_fsm/ros/planner.py").read_text(encoding="utf-8"))}
LAUNCH_ARGUMENTS = {
    file.name: set(re.findall(r'DeclareLaunchArgument\(\s*"(\w+)"', file.read_text(encoding="utf-8")))
    for file in (ROOT / "launch").glob("*.launch.py")
}
NAMES = {
    "topic": set(BY_NAME),
    "service": SERVICES,
    "launch argument": LAUNCH_ARGUMENTS["planner.launch.py"],
    "package": set(re.findall(r'^ {8}"([\w.]+)[<>=]', SETUP, re.MULTILINE)),
    "parameter": set(PARAMETERS),
    "code": {reason.value for reason in Reason},
    "command": {topic.name for topic in COMMANDS},
    "parameter of the tracker": set(TRACKING),
    "message": {words for words in re.findall(r"`([a-z_ ]+)` \|", PAGES["bags"]) if words in SOURCES},
}
"""By the heading of a table's first column: what may stand in it."""
NEVER_S = 1e6
"""However slow a machine is, no command tells how far it is before it is over."""


def blocks(page: str, run: bool) -> Iterator[str]:
    """The commands of a page's blocks, those that are marked to be run or the others."""
    for marked, body in FENCE.findall(PAGES[page]):
        if bool(marked) is run:
            yield from (line for line in body.splitlines() if line.strip())


def tables() -> Iterator[tuple[str, list[list[str]]]]:
    """The heading of the first column, and the cells of the rows below."""
    for lines in re.findall(r"(?:^\|.*\|\n)+", TEXT, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines.splitlines()]
        head, _, *body = rows
        yield head[0].strip("| "), [[cell.strip("| ") for cell in row] for row in body]


def spans() -> list[str]:
    """What is set as code within the text."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", TEXT))


def test_every_table_names_what_there_is() -> None:
    seen = set()
    for heading, rows in tables():
        seen.add(heading)
        for name, *_ in rows:
            assert name.strip("`") in NAMES[heading], f"{heading} {name}"
    assert seen == set(NAMES)


def test_every_input_is_to_be_connected_with_its_type() -> None:
    connected = next(rows for heading, rows in tables() if heading == "topic")
    types = {name.strip("`"): kind.strip("`") for name, kind, *_ in connected}
    assert types == {topic.name: topic.type for topic in (*INPUTS, *OUTPUTS)}
    commands = next(rows for heading, rows in tables() if heading == "command")
    assert {name.strip("`"): kind.strip("`") for name, kind, _ in commands} == {
        each.name: each.type for each in COMMANDS
    }


def test_what_an_input_does_that_falls_silent_is_told_with_its_time_out() -> None:
    silent = next(rows for heading, rows in tables() if heading == "topic" and len(rows[0]) == 3)
    told = {name.strip("`"): after.strip("`") for name, after, _ in silent}
    assert told == {topic.name: topic.max_age for topic in INPUTS if topic.max_age}


def test_every_service_and_every_launch_argument_is_explained() -> None:
    told = {heading: {row[0].strip("`") for row in rows} for heading, rows in tables()}
    assert told["service"] == SERVICES
    assert told["launch argument"] == LAUNCH_ARGUMENTS["planner.launch.py"]


def test_whatever_is_set_as_code_is_in_the_code() -> None:
    for span in spans():
        if re.match(r"(vehicle|world|behaviour|planning)\.", span):
            assert span in PARAMETERS, span
        elif span in TRACKING or span in NAMES["launch argument"]:
            continue
        elif span.startswith("ros2 "):
            check_command(span)
        elif (
            span.startswith("config/") or span.endswith((".py", ".txt", ".yaml", ".json", ".md"))
        ) and span != "metadata.yaml":
            assert (ROOT / span).is_file(), span
        else:
            assert span in PARAMETERS or span.removeprefix("~/") in SOURCES or span in SETUP, span


def check_command(line: str) -> None:
    """Names in a command of ROS 2."""
    arguments = re.findall(r"(\w+):=", line)
    if "ros2 launch" in line:
        file = re.search(r"ros2 launch tuling_fsm (\S+)", line)
        assert file is not None, line
        topics = BY_NAME if file[1] == "planner.launch.py" else {}
        assert set(arguments) <= {*LAUNCH_ARGUMENTS[file[1]], *topics}, line
    if "ros2 run" in line:
        program = re.search(r"ros2 run tuling_fsm (route_server|tracker|tuling-fsm)\b", line)
        assert program is not None, line
        known = {spec.name for spec in describe(RouteServerParameters)} if program[1] == "route_server" else TRACKING
        assert set(arguments) <= {*known, *(topic.name for topic in COMMANDS)}, line
    for name, value in re.findall(r"ros2 param set /planner (\S+) (\S+)", line):
        assert PARAMETERS[name].live, line
        PARAMETERS[name].check(value if isinstance(PARAMETERS[name].default, str) else float(value))
    for name in re.findall(r"ros2 service call /planner/(\w+) std_srvs/srv/Trigger", line):
        assert name in SERVICES, line
    for name, kind in re.findall(r"ros2 topic (?:echo|pub)(?: -r \d+)? (/\w+)(?: (\w+/msg/\w+))?", line):
        topic = BY_NAME.get(name) or BY_NAME[name.removeprefix("/")]
        assert kind in ("", topic.type), line


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_ros_name_what_there_is(page: str) -> None:
    lines = list(blocks(page, run=False))
    for line in lines:
        check_command(line)
    assert not [line for line in lines if line.startswith("tuling-fsm")], "a command that is not run"
    shares = re.findall(r"share/tuling_fsm/(\S+)", "\n".join(lines))
    assert all((ROOT / share).is_file() for share in shares)


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    assert all((ROOT / "docs" / link).is_file() for link in links)


def test_defaults_that_are_told_are_the_defaults() -> None:
    assert Parameters().behaviour.estop.silence == 0.5
    assert "`behaviour.estop.silence` (0.5 s)" in TEXT


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the pages find what they name."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "config").symlink_to(ROOT / "config")
    return folder


@pytest.mark.slow
def test_the_commands_of_the_pages_run(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(desk)
    monkeypatch.setattr("tuling_fsm.progress.PERIOD_S", NEVER_S)
    for line in (*blocks("vehicle", run=True), *blocks("bags", run=True)):
        program, *arguments = shlex.split(line)
        assert program == "tuling-fsm"
        assert main(arguments) == 0, line
        printed = capsys.readouterr()
        if arguments[0] == "replay":
            assert printed.out == "", line
            assert "salvage" in line or printed.err == "", line
        if arguments[0] == "sim":
            damage(Path("out"))


def damage(out: Path) -> None:
    """Beside the bag of a run: that of the same run again, and one whose recorder lost power."""
    shutil.copytree(out / "roam", out / "again")
    (out / "cut").mkdir()
    whole = (out / "roam" / "run.mcap").read_bytes()
    (out / "cut" / "run.mcap").write_bytes(whole[: int(0.7 * len(whole))])
    assert main(["replay", str(out / "cut")]) == 2


def test_the_page_for_the_car_has_every_reason_for_a_stop() -> None:
    assert [reason.value for reason in Reason if f"`{reason.value}`" not in PAGES["vehicle"]] == []

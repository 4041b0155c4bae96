"""What the page for the first hour says can be done as it is said there."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tuling_fsm.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "first_hour.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^<!-- (run|run with the patch|patch|file: (\S+)) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
STATE = "on_road/wait_for_operator"
PROGRAM = """
import json
import sys
from tuling_fsm.cli import main

for arguments in json.load(sys.stdin):
    assert main(arguments) == 0, arguments
    print("\\f")
"""
"""Runs commands one after the other in one process, which is loaded once, with a form feed after each."""

pytestmark = pytest.mark.slow


def blocks(kind: str) -> list[str]:
    return [body for found, _, body in BLOCK.findall(PAGE) if found == kind]


def commands(kind: str) -> list[list[str]]:
    lines = [shlex.split(line) for body in blocks(kind) for line in body.splitlines()]
    assert all(program == "tuling-fsm" for program, *_ in lines)
    return [arguments for _, *arguments in lines]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page, beside those of the source tree."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "config").symlink_to(ROOT / "config")
    for _, name, body in BLOCK.findall(PAGE):
        if name:
            (folder / name).write_text(body, encoding="utf-8")
    return folder


def test_the_files_and_commands_of_the_page_are_seen() -> None:
    assert [name for _, name, _ in BLOCK.findall(PAGE) if name] == ["street.xodr", "van.osc", "call.osc"]
    assert (len(commands("run")), len(commands("run with the patch")), len(blocks("patch"))) == (6, 2, 1)


def test_the_commands_run_and_say_what_the_page_tells(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(desk)
    said = ""
    for arguments in commands("run"):
        assert main(arguments) == 0, arguments
        said += capsys.readouterr().out
    assert "warnings: none" in said
    assert "a red light" in said
    assert "on_road/normal -> on_road/solid_line_free" in said


def test_the_state_is_in_the_table_and_is_driven(desk: Path, tmp_path: Path) -> None:
    """In a copy of the package with its compiled kernels, none of which the patch touches."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git")
    shutil.copytree(ROOT / "tuling_fsm", tmp_path / "tuling_fsm")
    for name in ("package.xml", "config"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "state.patch").write_text(blocks("patch")[0], encoding="utf-8")
    ours = {"PYTHONPATH": str(tmp_path), "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run([git, "apply", "state.patch"], cwd=tmp_path, env=os.environ | ours, check=False)
    assert done.returncode == 0, "the patch of the page does not fit the package any more"

    asked = [["diagram"], *commands("run with the patch")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=desk, env=os.environ | ours, input=json.dumps(asked),
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    diagram, *others, after = done.stdout.split("\f")
    assert (len(others), after) == (len(asked) - 1, "\n")
    assert STATE.replace("/", "__") in diagram
    said = "".join(others)
    assert f"on_road/normal -> {STATE}" in said
    assert f"{STATE} -> on_road/normal" in said
    assert "waits for the operator" in said

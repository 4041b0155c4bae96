"""The help of every verb ends with an example that is understood, and a shell completes what the help names."""

from __future__ import annotations

import gc
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tuling_fsm.cli import command_line, main
from tuling_fsm.verbs.completion import SHELLS, completion_script

ROOT = Path(__file__).resolve().parents[2]
MADE = {"case.csv", "scenario.xml", "out/roam"}
"""What an example reads that its user has, or that another example has written."""


def verbs() -> list[str]:
    (choices,) = (action.choices for action in command_line()._actions if isinstance(action.choices, dict))
    return list(choices)


@pytest.mark.parametrize("verb", verbs())
def test_the_help_of_a_verb_ends_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    *_, head, example = capsys.readouterr().out.rstrip().splitlines()
    assert head == "example:"
    program, *arguments = shlex.split(example)
    assert (program, arguments[0]) == ("tuling-fsm", verb)
    assert callable(command_line().parse_args(arguments).verb)
    for word in arguments[1:]:
        is_read = word.startswith("config/") or word in MADE
        assert not is_read or word in MADE or (ROOT / word).is_file(), word


def test_a_program_looks_for_garbage_seldom() -> None:
    before = gc.get_threshold()
    try:
        with pytest.raises(SystemExit):
            main(["--version"])
        assert gc.get_threshold()[0] > 10 * 700
    finally:
        gc.set_threshold(*before)


def test_the_help_says_where_the_examples_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "tuling-fsm VERB --help" in capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_a_shell_names_every_verb(shell: str) -> None:
    pytest.importorskip("shtab")
    script = completion_script(command_line(), shell)
    assert [verb for verb in verbs() if verb not in script] == []
    assert "perception" in script


def test_without_the_package_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err == "completion: the package shtab is not installed (expected pip install shtab)\n"


COMPLETES = """
source "$1"
complete() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "$FUNCTION"; echo "${COMPREPLY[@]}"; }
FUNCTION=_shtab_tuling_fsm
complete tuling-fsm co
complete tuling-fsm sim --perc
complete tuling-fsm sim --perception cl
complete tuling-fsm map con
"""


def test_bash_completes_verbs_options_values_and_files(tmp_path: Path) -> None:
    pytest.importorskip("shtab")
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    script, driver = tmp_path / "completion.bash", tmp_path / "driver.bash"
    script.write_text(completion_script(command_line(), "bash"), encoding="utf-8")
    driver.write_text(COMPLETES, encoding="utf-8")
    done = subprocess.run([bash, driver, script], cwd=ROOT, capture_output=True, text=True, check=True)
    verbs_found, option, level, folders = done.stdout.splitlines()
    assert {"commonroad", "completion"} == set(verbs_found.split())
    assert option.split() == ["--perception"]
    assert level.split() == ["clean"]
    assert "config" in [each.rstrip("/") for each in folders.split()]

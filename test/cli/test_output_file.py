"""Files that are written: whole or not at all, and the error names the file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tuling_fsm.bag.reader import files_of
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import keep_inputs, locked_folder, write_file


def test_text_and_bytes_are_written_with_the_folders_above_them(tmp_path: Path) -> None:
    write_file(tmp_path / "deep" / "text", "M\u00fchle\n")
    write_file(str(tmp_path / "bytes"), b"\xff\x00")
    assert (tmp_path / "deep" / "text").read_text(encoding="utf-8") == "M\u00fchle\n"
    assert (tmp_path / "bytes").read_bytes() == b"\xff\x00"


def test_on_a_full_disk_the_file_is_named_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "result.json"
    write_file(file, "old")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as begun:
            begun.write(content[:1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"result.json: cannot be written: No space left on device"):
        write_file(file, "new")
    assert file.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("name", [".", "..", "/"])
def test_a_file_that_is_a_folder_is_said(name: str) -> None:
    with pytest.raises(InputError, match=r"is a folder \(expected the name of a file\)"):
        write_file(name, "x")


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_file(tmp_path / "file" / "below", "x")


def test_a_folder_is_locked_for_one_until_it_lets_go(tmp_path: Path) -> None:
    folder, written = tmp_path / "a" / "b", "is being written by another program"
    with locked_folder(folder), pytest.raises(InputError, match=f"b: {written}"), locked_folder(folder):
        pass
    with locked_folder(folder), locked_folder(tmp_path):
        write_file(folder / "c", "may be written")
    with pytest.raises(InputError, match="c: cannot be written"), locked_folder(folder / "c"):
        pass


@pytest.mark.medium
@pytest.mark.parametrize(
    "asked",
    [
        ("map", "{file}", "--html", "{file}"),
        ("map", "{file}", "--png", "{folder}/../run/run.mcap"),
        ("map", "no.xodr", "--points", "{file}", "--png", "{file}"),
        ("route", "{file}", "--from", "0", "0", "--to", "9", "9", "--html", "{file}"),
        ("plan", "{file}", "--png", "{file}"),
        ("report", "{file}", "--out", "{file}"),
        ("report", "{folder}", "--out", "{file}"),
        ("report", "no.mcap", "{folder}", "--out", "{file}"),
        ("report", "no.mcap", "--map", "{file}", "--out", "{file}"),
        ("why", "{folder}", "--png", "{file}"),
        ("machine", "--run", "{folder}", "--html", "{file}"),
        ("commonroad", "{file}", "--out", "{folder}"),
        ("commonroad", "{file}", "--drive", "--out", "{folder}"),
    ],
)
def test_what_a_command_reads_is_not_written_over(
    asked: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    file = folder / "run.mcap"
    write_file(file, "a map, a case, a bag")
    assert main([each.format(file=file, folder=folder) for each in asked]) == 2
    assert "run.mcap: is a file that is read (expected another name)" in capsys.readouterr().err
    assert file.read_text() == "a map, a case, a bag"


def test_a_solution_is_not_written_over_the_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "solution.xml"
    write_file(scenario, "<commonRoad/>")
    for drive, said in ((["--drive"], "is a file that is read"), ([], "solution.xml")):
        assert main(["commonroad", str(scenario), "--out", str(tmp_path), *drive]) == 2
        assert said in capsys.readouterr().err
    assert scenario.read_text() == "<commonRoad/>"


def test_a_page_beside_the_bag_that_it_is_made_of_may_be_made_anew(tmp_path: Path) -> None:
    write_file(tmp_path / "report.html", "old")
    keep_inputs([tmp_path / "report.html", None], [*files_of(tmp_path), None])

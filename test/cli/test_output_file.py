"""Files that are written: whole or not at all, and the error names the file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import write_file


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

"""Shared files are found in the source tree, below the interpreter, and in sourced workspaces."""

from __future__ import annotations

import os
import sys

import pytest

from tuling_fsm import share
from tuling_fsm.core.errors import InputError
from tuling_fsm.share import share_file


def test_the_source_tree_comes_first():
    assert share_file("config", "planner.yaml").parents[1] / "package.xml" == share_file("package.xml")


def test_then_the_interpreter_then_the_workspaces(tmp_path, monkeypatch):
    monkeypatch.setattr(share, "__file__", str(tmp_path / "lib" / "tuling_fsm" / "share.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(("", str(tmp_path / "a"), str(tmp_path / "b"))))
    with pytest.raises(InputError, match=r"config/x.yaml: not installed"):
        share_file("config", "x.yaml")
    for name in ("b", "a", "prefix"):
        file = tmp_path / name / "share" / "tuling_fsm" / "config" / "x.yaml"
        file.parent.mkdir(parents=True)
        file.touch()
        assert share_file("config", "x.yaml") == file

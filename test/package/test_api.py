"""What `import tuling_fsm` shows: these names and no others, typed, imported when they are used first; one version."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import tuling_fsm
from tuling_fsm import api
from tuling_fsm.api import LARGEST_SEED
from tuling_fsm.core.errors import InputError
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.verbs import parser

ROOT = Path(__file__).resolve().parents[2]
EXPORTED = {
    "Agent": "tuling_fsm.agent",
    "Inputs": "tuling_fsm.world.inputs",
    "Tick": "tuling_fsm.agent",
    "load_map": "tuling_fsm.api",
    "plan_free_space": "tuling_fsm.planning.free_space.planner",
    "read_run": "tuling_fsm.api",
    "replay": "tuling_fsm.api",
    "simulate": "tuling_fsm.api",
}
"""By name: the module in which it is defined."""
SEMANTIC = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"


def test_the_names_are_these() -> None:
    assert set(tuling_fsm.__all__) == {*EXPORTED, "__version__"}
    assert set(tuling_fsm.__all__) <= set(dir(tuling_fsm))
    for name, module in EXPORTED.items():
        assert getattr(tuling_fsm, name).__module__ == module, name


def test_what_a_type_checker_sees_is_what_there_is() -> None:
    tree = ast.parse(Path(tuling_fsm.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module.removeprefix("tuling_fsm.")
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    assert seen == tuling_fsm._WHERE
    assert (Path(tuling_fsm.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", [name for name in EXPORTED if name[0].islower()])
def test_every_parameter_has_a_type(name: str) -> None:
    signature = inspect.signature(getattr(tuling_fsm, name))
    parameters = [*signature.parameters.values()]
    assert all(each.annotation is not inspect.Parameter.empty for each in parameters)
    assert signature.return_annotation is not inspect.Signature.empty


def test_an_import_brings_nothing_with_it() -> None:
    code = (
        "import sys, tuling_fsm; print(*sorted(m for m in sys.modules if m.split('.')[0] in ('tuling_fsm', 'numpy')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tuling_fsm"]


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        getattr(tuling_fsm, "simul" + "at")


def test_the_version_is_semantic_and_said_once() -> None:
    said = ElementTree.parse(ROOT / "package.xml").findtext("version")
    assert said is not None and re.fullmatch(SEMANTIC, said)
    assert tuling_fsm.__version__ == said
    sources = [ROOT / "setup.py", *(ROOT / "tuling_fsm").rglob("*.py")]
    assert [file for file in sources if f'"{said}"' in file.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("seed", [-1, LARGEST_SEED + 1, 1.5, "1", True, np.True_, 3.0])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match=f"^seed: .* from 0 to {parser.LARGEST_SEED}"):
        tuling_fsm.simulate("any.osc", seed=seed)


FLAG = """scenario flag:
    wet: bool
    count: int
    spaces: list of string
    ego: vehicle
    do serial(duration: 1s):
        ego.random_route(length: 60m)
"""


def test_seed_and_overrides_are_taken_as_python_writes_them_and_notes_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flag.osc").write_text(FLAG)
    asked: dict[str, Any] = {}

    def drive(settings: RunSettings, **_: Any) -> dict[str, Any]:
        asked.update(vars(settings), variables=load_scenario(settings.scenario, dict(settings.overrides)).variables)
        left = {"finished": True, "end": "goal", "sim_s": 1.0, "distance_m": 1.0, "infractions": [], "score": {}}
        return left | {"trace_sha256": "", "notes": ["a line"]}

    monkeypatch.setattr(api, "run_scenario", drive)
    overrides = {"wet": True, "count": np.int64(2), "spaces": ["411", "308"]}
    result = tuling_fsm.simulate(tmp_path / "flag.osc", seed=np.int64(3), overrides=overrides)
    assert (asked["seed"], type(asked["seed"])) == (3, int)
    assert dict(asked["overrides"]) == {"wet": "true", "count": "2", "spaces": '["411", "308"]'}
    assert {name: asked["variables"][name] for name in ("wet", "count")} == {"wet": True, "count": 2}
    assert result.notes == ("a line",)


def test_a_planner_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="agent or idm or pdm"):
        tuling_fsm.simulate("any.osc", planner="nobody")


def test_an_empty_name_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^out: an empty name is no folder"):
        tuling_fsm.simulate("any.osc", out="")
    assert list(tmp_path.iterdir()) == []


def test_a_map_that_there_is_not_is_refused() -> None:
    with pytest.raises((InputError, FileNotFoundError), match=r"absent\.xodr"):
        tuling_fsm.load_map("absent.xodr")

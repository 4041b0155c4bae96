"""How kernels are compiled: nothing stale is run, and nothing that would crash is written."""

import ast
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import tuling_fsm
from tuling_fsm.core.kernel_cache import source_stamp

CORE = Path(tuling_fsm.__file__).parent / "core"
INNER = "from tuling_fsm.core.kernels import inlined_kernel\n@inlined_kernel\ndef inner(x):\n    return x + {}\n"
CONSTANT = "STEP = {}\n"
OUTER = (
    "from tuling_fsm.constant import STEP\nfrom tuling_fsm.core.kernels import kernel\n"
    "from tuling_fsm.inner import inner\n@kernel\ndef outer(x):\n    return inner(x) + STEP\n"
)


def _run(root: Path) -> str:
    """What the outer kernel says in a process of its own, and whether it came out of the cache."""
    code = "from tuling_fsm.outer import outer; print(outer(1.0), sum(outer.stats.cache_hits.values()))"
    environment = os.environ | {"PYTHONPATH": str(root)}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_anything_changes_that_it_took_in(tmp_path: Path) -> None:
    package = tmp_path / "tuling_fsm"
    shutil.copytree(CORE, package / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text(INNER.format("10.0"))
    (package / "constant.py").write_text(CONSTANT.format("100.0"))
    (package / "outer.py").write_text(OUTER)
    assert _run(tmp_path) == "111.0 0"
    assert _run(tmp_path) == "111.0 1"
    (package / "inner.py").write_text(INNER.format("20.0"))
    assert _run(tmp_path) == "121.0 0"
    (package / "constant.py").write_text(CONSTANT.format("200.0"))
    assert _run(tmp_path) == "221.0 0"
    assert _run(tmp_path) == "221.0 1"


def test_the_stamp_of_a_file_is_of_all_that_it_takes_in() -> None:
    planner, geometry = (CORE.parent / each for each in ("planning/lanes/evaluation.py", "core/geometry.py"))
    assert source_stamp(planner) == source_stamp(planner) != source_stamp(geometry)


POSE = frozenset(("x", "y", "heading", "cos", "sin", "t"))
NUMBERS = frozenset(("float", "int", "bool"))


def _signatures(tree: ast.Module, module: str) -> dict[tuple[str, str], list[ast.arg]]:
    """Parameters of the kernels of a file that have eight or more."""
    return {
        (module, each.name): each.args.args
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        and len(each.args.args) >= 8
        and any("kernel" in ast.unparse(decorator) for decorator in each.decorator_list)
    }


def _named_here(tree: ast.Module, module: str) -> dict[str, tuple[str, str]]:
    """What the functions that a file has, or has imported, are called in it."""
    own = {each.name: (module, each.name) for each in tree.body if isinstance(each, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name: (each.module or "", alias.name)
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    }
    return imported | own


@pytest.mark.medium
def test_the_many_numbers_of_a_kernel_are_not_swapped_by_accident() -> None:
    """With eight parameters or more, at most two numbers besides a pose are handed on by their place alone."""
    root = CORE.parent.parent
    modules = {".".join(each.relative_to(root).with_suffix("").parts): each for each in CORE.parent.rglob("*.py")}
    texts = {module: each.read_text(encoding="utf-8") for module, each in modules.items()}
    trees = {module: ast.parse(text) for module, text in texts.items() if "kernel\ndef " in text}
    kernels = {key: found for module, tree in trees.items() for key, found in _signatures(tree, module).items()}
    named = re.compile("|".join(rf"\b{name}\b" for _, name in kernels))
    trees = {module: ast.parse(text) for module, text in texts.items() if named.search(text)}
    calls, risky = 0, []
    for module, tree in trees.items():
        names = _named_here(tree, module)
        for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
            parameters = kernels.get(names.get(ast.unparse(call.func), ("", "")))
            if parameters is None:
                continue
            calls += 1
            placed = parameters[: len(call.args)]
            numbers = [each.arg for each in placed if ast.unparse(each.annotation or call) in NUMBERS]
            if len(set(numbers) - POSE) > 2:
                risky.append(f"{module}:{call.lineno}: {numbers}")
    assert calls > 30
    assert risky == []


def _holds_an_array(hint: object) -> bool:
    origin = typing.get_origin(hint) or hint
    if origin is np.ndarray:
        return True
    if isinstance(origin, type) and issubclass(origin, tuple) and hasattr(origin, "_fields"):
        return any(_holds_an_array(each) for each in typing.get_type_hints(origin).values())
    return any(_holds_an_array(each) for each in typing.get_args(hint))


def test_only_array_kernels_hand_arrays_to_python() -> None:
    """Without reference counts an array that Python is given would be freed twice."""
    seen = 0
    for info in pkgutil.walk_packages(tuling_fsm.__path__, "tuling_fsm."):
        if ".ros" in info.name:
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            if not isinstance(value, Dispatcher) or value.py_func.__module__ != info.name:
                continue
            seen += 1
            hints = typing.get_type_hints(value.py_func)
            if "_nrt" in value.targetoptions and _holds_an_array(hints["return"]):
                assert value.targetoptions.get("forceinline") and name.startswith("_"), f"{info.name}.{name}"
    assert seen > 400


def test_all_kernels_are_compiled_by_the_same_decorators() -> None:
    files = [file for file in CORE.parent.rglob("*.py") if "njit" in file.read_text(encoding="utf-8")]
    assert files == [CORE / "kernels.py"]


def test_without_compiling_a_kernel_says_the_same() -> None:
    """For a debugger, and for faults that are planted: roots, and rows of a table with their columns as attributes."""
    code = (
        "from scenes import row, table\nfrom tuling_fsm.planning.obstacles.rss import Rss, safe_speed\n"
        "from tuling_fsm.planning.parameters import RssParameters\n"
        "from tuling_fsm.world.objects import read_objects\nfrom tuling_fsm.world.parameters import WorldParameters\n"
        "found, faults = read_objects(table(row(7, 3.0, 4.0, 0.5, 2.0)), (0.0, 0.0), WorldParameters())\n"
        "safe = safe_speed(12.0, 5.0, Rss.of(RssParameters()))\n"
        "print(found.id.tolist(), found.body.round(6).tolist(), faults, [round(float(each), 9) for each in safe])"
    )
    said = []
    for plain in ("0", "1"):
        folders = f"{CORE.parents[1]}{os.pathsep}{CORE.parents[1] / 'test'}"
        environment = os.environ | {"NUMBA_DISABLE_JIT": plain, "PYTHONPATH": folders}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        said.append(done.stdout)
    assert said[0] == said[1] and said[0].startswith("[7]")

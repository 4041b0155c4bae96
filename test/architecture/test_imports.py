"""Imports go one way."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from importlinter.api import read_configuration

ROOT = Path(__file__).resolve().parents[2]


def test_the_import_contract_holds() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_no_named_tuple_is_generic() -> None:
    """Python 3.10 does not import such a class; type checkers do not say so."""
    seen = 0
    for file in (ROOT / "tuling_fsm").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
                assert len(node.bases) == 1, f"{file.name}:{node.lineno}: {node.name}"
                seen += 1
    assert seen > 50


def test_every_package_of_messages_is_kept_out_of_everything_but_ros() -> None:
    contracts = read_configuration(str(ROOT / "pyproject.toml"))["contracts_options"]
    contract = next(each for each in contracts if each["name"] == "rclpy and messages live in ros alone")
    modules = {path.stem for path in (ROOT / "tuling_fsm").iterdir() if path.is_dir() or path.suffix == ".py"}
    rooms = {f"tuling_fsm.{name}" for name in modules - {"ros", "py"} if not name.startswith("__")}
    assert set(contract["source_modules"]) == rooms
    wheels = re.findall(r"^ros-([\w-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M)
    packages = {wheel.replace("-", "_") for wheel in wheels if wheel.endswith(("-msgs", "-srvs", "-interfaces"))}
    assert len(packages) > 10
    assert packages <= set(contract["forbidden_modules"])

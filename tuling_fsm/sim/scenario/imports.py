"""The libraries that come with the package, and the files that a scenario imports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from tuling_fsm.input_file import ReadText, is_file, read_text
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.syntax import parse
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.type_declarations import TypeDeclarations
from tuling_fsm.sim.scenario.type_table import TypeTable
from tuling_fsm.sim.scenario.values import FaultError

LIBRARIES = ("standard.osc", "scenario_runner.osc")
BUILT_IN = ("osc", "basic")
"""First parts of the names of imports that the libraries of the package stand for, where no file is there instead."""


class ScenarioSource(NamedTuple):
    """What a scenario file declares with all that it imports: types, own scenarios in order, notes; and the
    imported files with the SHA-256 of each.
    """

    types: TypeTable
    scenarios: tuple[syntax_tree.TypeDeclaration, ...]
    notes: tuple[tuple[SourceLocation, str], ...]
    imported: Mapping[str, str]


@cache
def standard_library() -> TypeTable:
    """What every scenario knows: never to be changed, only copied."""
    declarations = TypeDeclarations(TypeTable(), standard=True)
    for name in LIBRARIES:
        text = resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
        declarations.add(parse(text, name, imported=True))
    declarations.check()
    return declarations.types


def read_source(text: str, file: str) -> ScenarioSource:
    """The text of a scenario file and the files that it imports, which are looked for beside it.

    Raises:
        InputError: a syntax error, an import that cannot be read.
        FaultError: a wrong declaration.
    """
    statements = parse(text, file)
    declarations = TypeDeclarations(standard_library().copy())
    files = {Path(file).resolve(): ""}
    for imported in _imported(statements, Path(file), files):
        declarations.add(imported)
    declarations.add(statements)
    declarations.check()
    own = [each for each in statements if isinstance(each, syntax_tree.TypeDeclaration) and each.keyword == "scenario"]
    scenarios = tuple(declarations.types.behaviours[each.name] for each in own)
    return ScenarioSource(
        declarations.types,
        tuple(
            syntax_tree.TypeDeclaration(kind.at, kind.keyword, kind.name, kind.members, kind.base) for kind in scenarios
        ),
        tuple(declarations.notes),
        {str(other): sha256 for other, sha256 in files.items() if sha256},
    )


def _imported(
    statements: list[syntax_tree.Statement], file: Path, seen: dict[Path, str]
) -> list[list[syntax_tree.Statement]]:
    """The statements of all imported files, those that others import first; in `seen` then their SHA-256."""
    found: list[list[syntax_tree.Statement]] = []
    for statement in statements:
        if not isinstance(statement, syntax_tree.Import):
            continue
        other = _file_of(statement, file)
        if other is None or other.resolve() in seen:
            continue
        text, seen[other.resolve()] = _read(other, statement)
        parsed = parse(text, str(other), imported=True)
        found += [*_imported(parsed, other, seen), parsed]
    return found


def _file_of(statement: syntax_tree.Import, file: Path) -> Path | None:
    """The file that an import names, None for a library of the package.

    An identifier is tried as it stands (`import basic.osc` is how ScenarioRunner's examples name a file) and with its
    parts as folders.
    """
    named = statement.path.removeprefix("file://")
    folders = named.replace(".", "/") + ".osc"
    for candidate in (named,) if statement.quoted else (named, f"{named}.osc", folders):
        path = file.parent / candidate
        if is_file(path):
            return path
    if named.split("/")[-1].split(".")[0] in BUILT_IN:
        return None
    raise FaultError(statement.at, f"no file {named!r} to import", "one beside this file, or osc.standard")


def _read(file: Path, statement: syntax_tree.Import) -> ReadText:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise FaultError(statement.at, f"{file} cannot be read: {error}", "a text in UTF-8") from error

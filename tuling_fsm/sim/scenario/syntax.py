"""OpenSCENARIO DSL text to `syntax_tree`: lexing, indentation, grammar, and what a syntax error says."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.tree_builder import TreeBuilder
from tuling_fsm.sim.scenario.values import FaultError

GRAMMAR = "osc2.lark"
READABLE = {
    "NAME": "a name",
    "_NEWLINE": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "STRING": "a string in quotes",
    "PHYSICAL": "a number with a unit",
    "INTEGER": "a number",
    "FLOAT": "a number",
    "BOOL": "true or false",
    "RELATION": "a relation",
    "SIGN": "+ or -",
    "SCALE": "an operator",
    "COMPOSITION": "serial, parallel or one_of",
    "LIST_OF": "list of",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "COLON": ":",
    "COMMA": ",",
    "EQUAL": "=",
    "DOT": ".",
    "AT": "@",
    "DOUBLE_DOT": "..",
    "_IMPLIES": "=>",
    "_QUESTION": "?",
    "_RETURNS": "->",
    "IF": "if",
    "_ON": "on",
    "_DEF": "def",
    "_CALL": "call",
    "HEXADECIMAL": "a number",
    "STRUCTURED": "struct, actor, action or scenario",
    "COVERAGE": "cover or record",
    "DEFAULT": "default or hard",
    "$END": "the end of the file",
}
"""Terminals as a reader knows them; keywords go by their own spelling."""

VALUE = {"NAME", "STRING", "PHYSICAL", "INTEGER", "HEXADECIMAL", "FLOAT", "BOOL", "LSQB", "LPAR", "AT", "NOT", "SIGN"}
OPERATOR = {"RELATION", "SIGN", "SCALE", "DOT", "LPAR", "LSQB", "AND", "OR", "_IMPLIES", "_QUESTION"}
SUMMED_UP = (({"NAME", "INTEGER"}, VALUE, "a value"), ({"DOT", "RELATION"}, OPERATOR, "an operator"))
"""When the first set is possible, the word stands for all of the second."""
TAB = 4
"""Columns of indentation that a tab fills."""


def parse(text: str, file: str, imported: bool = False) -> list[syntax_tree.Statement]:
    """The statements of a file, in order; places in an `imported` one name it.

    Raises:
        InputError: a syntax error, at `file:line:column`.
    """
    return TreeBuilder(file if imported else "").statements(_parse(text, file, "start"))


def parse_value(text: str, where: str) -> syntax_tree.Expression:
    """One expression, as an override on the command line gives it.

    Raises:
        InputError: a syntax error, at `where`.
    """
    try:
        return TreeBuilder().value(_parser().parse(text, start="value"))
    except UnexpectedInput as error:
        raise InputError(where, f"{text!r} is no value", "as in 12, 1.5, 30kmph, true or a name") from error
    except FaultError as error:
        raise InputError(where, error.what, error.expected) from error


def _parse(text: str, file: str, start: str) -> object:
    try:
        return _parser().parse(text if text.endswith("\n") else text + "\n", start=start)
    except UnexpectedToken as error:
        raise _unexpected(error, file) from error
    except UnexpectedCharacters as error:
        where = f"{file}:{error.line}:{error.column}"
        raise InputError(where, f"{text[error.pos_in_stream]!r} cannot stand here", _choice(error.allowed)) from error
    except FaultError as error:
        raise InputError(f"{file}:{error.at.line}:{error.at.column}", error.what, error.expected) from error


@cache
def _parser() -> Lark:
    """LALR(1) with a contextual lexer: keywords are keywords only where the grammar asks.

    Its tables are kept beside the bytecode of this file, as building them takes 0.2 s: Lark builds them anew where they
    are not, or are another grammar's. One process at a time, since it writes them in place; where nothing can be
    written, each builds its own.
    """
    kept = Path(cache_from_source(__file__)).with_suffix(".lark")
    if sys.dont_write_bytecode:
        return _opened(kept_at=None)
    try:
        lock = kept.with_suffix(".lock").open("w")
    except OSError:
        return _opened(kept_at=None)
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _opened(kept)


def _opened(kept_at: Path | None) -> Lark:
    return Lark.open_from_package(
        __package__ or "", GRAMMAR, start=["start", "value"], parser="lalr", postlex=_Blocks(),
        propagate_positions=True, cache=str(kept_at) if kept_at is not None else False,
    )  # fmt: skip


def _unexpected(error: UnexpectedToken, file: str) -> InputError:
    token: Token = vars(error)["token"]
    expected = _choice(error.accepts or error.expected)
    where = f"{file}:{token.line}:{token.column}"
    if token.type in ("_NEWLINE", "_INDENT", "_DEDENT", "$END"):
        return InputError(where, f"{READABLE[token.type]} cannot stand here", expected)
    return InputError(where, f"{str(token)!r} cannot stand here", expected)


def _choice(terminals: Iterable[str]) -> str:
    """The terminals in words, values and operators summed up."""
    left, words = set(terminals), []
    for sign, group, word in SUMMED_UP:
        if left >= sign:
            words.append(word)
            left -= group
    words += [READABLE.get(name, name.lower()) for name in left if name != "COMMENT"]
    return " or ".join(sorted(set(words)))


class _Blocks:
    """Indentation to block tokens, between Lark's lexer and its parser; newlines inside brackets do not count."""

    always_accept = ("_NEWLINE",)

    def process(self, stream: Iterable[Token]) -> Iterator[Token]:
        """The tokens with `_INDENT` and `_DEDENT` put in."""
        brackets: list[Token] = []
        levels = [0]
        for token in stream:
            if token.type in ("LPAR", "LSQB"):
                brackets.append(token)
            elif token.type in ("RPAR", "RSQB") and brackets:
                brackets.pop()
            if token.type != "_NEWLINE":
                yield token
            elif not brackets:
                yield token
                yield from self._turn(token, levels)
        if brackets:
            at = SourceLocation(brackets[-1].line, brackets[-1].column)
            raise FaultError(at, f"{str(brackets[-1])!r} is never closed", "its counterpart")
        for _ in levels[1:]:
            yield Token("_DEDENT", "")

    def _turn(self, newline: Token, levels: list[int]) -> Iterator[Token]:
        """The block tokens of one line start."""
        width = len(newline.rsplit("\n", 1)[1].expandtabs(TAB))
        at = SourceLocation(newline.end_line, newline.end_column)
        if width > levels[-1]:
            levels.append(width)
            yield Token("_INDENT", "", line=at.line, column=at.column)
        while width < levels[-1]:
            levels.pop()
            yield Token("_DEDENT", "", line=at.line, column=at.column)
        if width != levels[-1]:
            raise FaultError(at, "the indentation fits no open block", "that of a line above")

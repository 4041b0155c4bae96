"""The matrix as a table: faults down, states across, in each place the worst of its phases; then, in words, every cell
that does not pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tuling_fsm.fault_injection.faults import BY_NAME
from tuling_fsm.fault_injection.verdict import CellVerdict, worst

Result = Mapping[str, Any]
SIGNS: Mapping[CellVerdict, str] = {
    CellVerdict.PASSED: "ok",
    CellVerdict.NOT_REACHED: "-",
    CellVerdict.NOT_RECOVERED: "stays",
    CellVerdict.UNREPORTED_STAND: "mute",
    CellVerdict.INFRACTION: "rule",
    CellVerdict.COLLISION: "hit",
    CellVerdict.ERROR: "error",
}
"""Of a verdict in a place of the table."""
MEANINGS = (
    "ok: no collision or infraction at fault, every stand has a reason, and the car goes on after the fault; "
    "stays: it does not go on in time; mute: it stands for more than 10 s without a reason; rule: another infraction "
    "at fault; hit: a collision at fault; error: something failed; -: the state was not reached, which is no pass"
)


def verdict_of(result: Result) -> CellVerdict:
    """Of a cell."""
    return CellVerdict(result["verdict"])


def rows(results: Sequence[Result]) -> list[list[str]]:
    """The heading (states by number), then a row for each fault."""
    faults = list(dict.fromkeys(result["fault"] for result in results))
    states = states_of(results)
    heading = ["fault", *(str(number) for number in range(1, len(states) + 1))]
    return [heading, *([fault, *(_sign(results, fault, state) for state in states)] for fault in faults)]


def states_of(results: Sequence[Result]) -> list[str]:
    """In their order."""
    return list(dict.fromkeys(result["state"] for result in results))


def _sign(results: Sequence[Result], fault: str, state: str) -> str:
    own = [verdict_of(each) for each in results if each["fault"] == fault and each["state"] == state]
    reached = [verdict for verdict in own if verdict is not CellVerdict.NOT_REACHED]
    return SIGNS[worst(reached)]


def holds(results: Sequence[Result]) -> bool:
    """Whether every cell that was reached passes, and any was."""
    return not list(failures(results)) and any(verdict_of(result) is CellVerdict.PASSED for result in results)


def counted(results: Sequence[Result]) -> str:
    """How many cells there are of each verdict, in words."""
    counts = Counter(verdict_of(result) for result in results)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in CellVerdict if counts[verdict])


def failures(results: Sequence[Result]) -> Iterator[str]:
    """A line for each cell that was reached and does not pass."""
    for result in results:
        if verdict_of(result) not in (CellVerdict.PASSED, CellVerdict.NOT_REACHED):
            yield f"{result['fault']}, {result['state']}, {result['phase']}: {result['verdict']}, {result['detail']}"


def text(results: Sequence[Result]) -> Iterator[str]:
    """Lines for a terminal."""
    table = rows(results)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *rest in table:
        yield "  ".join(
            (first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)))
        )
    yield from (f"{number}: {state}" for number, state in enumerate(states_of(results), 1))
    yield MEANINGS
    yield from failures(results)
    yield f"{len(results)} cells: {counted(results)}"


def markdown(results: Sequence[Result]) -> str:
    """For a page: what the faults are, the table, the states, and the cells that do not pass."""
    table = rows(results)
    faults = [row[0] for row in table[1:]]
    lines = ["| fault | what is wrong | clause |", "|---|---|---|"]
    lines += [f"| `{name}` | {BY_NAME[name].text} | {BY_NAME[name].clause} |" for name in faults]
    phases = ", ".join(dict.fromkeys(result["phase"] for result in results))
    lines += ["", f"{len(results)} cells (phases: {phases}): {counted(results)}.", ""]
    lines += [f"| {' | '.join(table[0])} |", "|---" * len(table[0]) + "|"]
    lines += [f"| `{first}` | {' | '.join(rest)} |" for first, *rest in table[1:]]
    lines += ["", "States: " + ", ".join(f"{k} `{state}`" for k, state in enumerate(states_of(results), 1)) + ".", ""]
    lines += [f"{MEANINGS[0].upper()}{MEANINGS[1:]}."]
    open_cells = list(failures(results))
    if open_cells:
        lines += ["", "Open:", "", *(f"- {line}" for line in open_cells)]
    return "\n".join(lines) + "\n"

"""The table of `why --time`: where the time went, of one run or of two side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tuling_fsm.core.time_loss import ALL, TimeLoss, TimeLosses, TimeLossKey, by_loss, summed

_HEAD = ("state", "limited by", "time s", "mean m/s", "lost s")
_AGAINST = ("time s", "mean m/s", "lost s", "more time s", "more lost s")
NOT_KNOWN = "-"
"""Stands for a figure of a time in which nobody knows how fast the car was."""
_NAMES = 2
"""Columns of words; the others are numbers, flush right."""


def table_lines(losses: TimeLosses, against: TimeLosses | None = None) -> Iterator[str]:
    """The lines of the table; of two runs the differences are those of the first from the second."""
    head = _HEAD if against is None else (*_HEAD, *_AGAINST)
    rows = [head, *(_cells(key, losses, against) for key in by_loss(losses, against))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        words = (cell.ljust(width) for cell, width in zip(row[:_NAMES], widths[:_NAMES], strict=True))
        numbers = (cell.rjust(width) for cell, width in zip(row[_NAMES:], widths[_NAMES:], strict=True))
        yield " | ".join((*words, *numbers))


def _cells(key: TimeLossKey, losses: TimeLosses, against: TimeLosses | None) -> tuple[str, ...]:
    here = summed(losses, key)
    name = "total" if key.state == ALL else key.state
    if against is None:
        return (name, key.code, *_figures(here))
    there = summed(against, key)
    lost = f"{_rounded(here.lost_s - there.lost_s, 1):+.1f}" if here.known and there.known else NOT_KNOWN
    more = (f"{_rounded(here.time_s - there.time_s, 1):+.1f}", lost)
    return (name, key.code, *_figures(here), *_figures(there), *more)


def _figures(loss: TimeLoss) -> tuple[str, str, str]:
    moved = (f"{loss.mean_speed:.1f}", f"{_rounded(loss.lost_s, 1):.1f}") if loss.known else (NOT_KNOWN, NOT_KNOWN)
    return (f"{loss.time_s:.1f}", *moved)


def table_as_json(losses: TimeLosses, against: TimeLosses | None = None) -> dict[str, Any]:
    """The same rows as plain data; `against` and the differences only of two runs."""
    return {"rows": [_row_as_json(key, losses, against) for key in by_loss(losses, against)]}


def _row_as_json(key: TimeLossKey, losses: TimeLosses, against: TimeLosses | None) -> dict[str, Any]:
    here = summed(losses, key)
    row: dict[str, Any] = {"state": key.state, "code": key.code, **_loss_as_json(here)}
    if against is not None:
        there = summed(against, key)
        row["against"] = _loss_as_json(there)
        row["more_time_s"] = _rounded(here.time_s - there.time_s)
        row["more_lost_s"] = _rounded(here.lost_s - there.lost_s) if here.known and there.known else None
    return row


def _loss_as_json(loss: TimeLoss) -> dict[str, float | None]:
    return {
        "time_s": round(loss.time_s, 3),
        "unknown_s": round(loss.unknown_s, 3),
        "distance_m": round(loss.distance_m, 3) if loss.known else None,
        "mean_mps": round(loss.mean_speed, 3) if loss.known else None,
        "lost_s": _rounded(loss.lost_s) if loss.known else None,
    }


def _rounded(figure: float, digits: int = 3) -> float:
    """What is nothing has no sign."""
    return round(figure, digits) + 0.0

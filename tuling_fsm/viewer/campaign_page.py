"""A campaign as a page: its runs, the worst first, each with a link to its film, and what came of all of them."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tuling_fsm.input_file import in_letters
from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.single_file import single_file

Run = Mapping[str, Any]
"""The content of a `result.json` with the `file` of its scenario, or what stands for a run that broke off."""
PAGES = (("report.html", "film"), ("pictures.html", "pictures"), ("result.json", "result"))
"""Files in the folder of a run, and the words of their links."""


def faults(run: Run) -> list[Mapping[str, Any]]:
    """The infractions that the car is to blame for."""
    return [item for item in run["infractions"] if item["at_fault"]]


def scenario_name(run: Run) -> str:
    """Of the file; of a variation that of its distribution, and its number."""
    return f"{Path(run['distribution']).stem} {run['variation']}" if "distribution" in run else Path(run["file"]).stem


def _score(name: str) -> Callable[[Run], float | str]:
    return lambda run: run["score"][name]


_COLUMNS: tuple[tuple[str, Callable[[Run], float | str], str], ...] = (
    ("scenario", scenario_name, ""),
    ("map", lambda run: str(run["map"]), ""),
    ("seed", lambda run: run["seed"], "d"),
    ("end", lambda run: str(run["end"]), ""),
    ("faults", lambda run: len(faults(run)), "d"),
    ("closed loop", _score("closed_loop"), ".2f"),
    ("driving", _score("driving"), ".2f"),
    ("time s", lambda run: run["sim_s"], ".1f"),
    ("way m", lambda run: run["distance_m"], ".0f"),
    ("unexplained s", lambda run: run["longest_unexplained_stop_s"], ".2f"),
    ("p99 ms", lambda run: run["tick_ms"]["p99"], ".1f"),
)
"""Heading, value of a run, and how it is written; a click on the heading sorts by the value."""


def write_campaign_page(file: Path, campaign: Mapping[str, Any], folders: Sequence[Path | None]) -> None:
    """Write the page.

    Args:
        file: where to; links are relative to its folder.
        campaign: the content of `campaign.json`.
        folders: of each of its runs, in the same order; what is in one is linked, unless the run broke off.

    Raises:
        InputError: the file cannot be written.
    """
    runs = list(zip(campaign["runs"], folders, strict=True))
    runs.sort(key=lambda each: badness(each[0]))
    rows = "\n".join(_row(run, _links(run, folder, file.parent)) for run, folder in runs)
    text = single_file(
        "campaign",
        f"A campaign of {len(runs)} run{'' if len(runs) == 1 else 's'}",
        headings="".join(_heading(name, form) for name, _, form in _COLUMNS),
        rows=rows,
        totals="".join(_totals(campaign)),
        rates=_rates(campaign["exposure"]),
    )
    write_file(file, in_letters(text))  # Names of files, also those in what went wrong, may be no UTF-8.


def badness(run: Run) -> tuple[bool, int, float, float, str, int]:
    """By which runs are sorted, the worst first: not finished, more faults, a lower score, a longer time."""
    time_s = float(run.get("sim_s", 0.0))
    return run["finished"], -len(faults(run)), _closed_loop(run), -time_s, scenario_name(run), run["seed"]


def _closed_loop(run: Run) -> float:
    """The score; a run that broke off has none, and counts as nothing."""
    return float(run["score"]["closed_loop"]) if "score" in run else 0.0


def _heading(name: str, form: str) -> str:
    side = ' class="number"' if form else ""
    return f'<th{side} aria-sort="none"><button>{html.escape(name)}</button></th>'


def _row(run: Run, links: Iterable[str]) -> str:
    bad = not run["finished"] or faults(run)
    cells = "".join(_cell(run, value, form) for _, value, form in _COLUMNS)
    said = "".join(f"<li>{html.escape(line)}</li>" for line in _wrong(run))
    notes = f'<ul class="wrong">{said}</ul>' if said else ""
    return f'<tr class="{"bad" if bad else "good"}">{cells}<td>{" ".join(links)}{notes}</td></tr>'


def _cell(run: Run, value: Callable[[Run], float | str], form: str) -> str:
    """A run that broke off has not every figure."""
    side = ' class="number"' if form else ""
    try:
        found = value(run)
    except KeyError:
        return f'<td{side} data-value="">-</td>'
    shown = format(found, form) if form else str(found)
    return f'<td{side} data-value="{html.escape(str(found))}">{html.escape(shown)}</td>'


def _wrong(run: Run) -> Iterator[str]:
    if "error" in run:
        yield str(run["error"])
    yield from (f"{item['t']:.2f} s: {item['kind']}, {item['detail']}" for item in faults(run))


def _links(run: Run, folder: Path | None, root: Path) -> Iterator[str]:
    """To what is in the folder of a run: of one that broke off nothing is, what may be there is of an earlier one."""
    for name, words in PAGES:
        if folder is not None and "error" not in run and (folder / name).is_file():
            address = (folder / name).relative_to(root).as_posix()
            yield f'<a href="{quote(os.fsencode(address))}">{words}</a>'


def _totals(campaign: Mapping[str, Any]) -> Iterator[str]:
    runs, exposure = campaign["runs"], campaign["exposure"]
    finished = sum(bool(run["finished"]) for run in runs)
    faulty = sum(bool(faults(run)) for run in runs)
    held = ("good", "held") if campaign["held"] else ("bad", "did not hold")
    yield f'<span class="verdict {held[0]}">{held[1]}</span>'
    facts = [f"{finished} of {len(runs)} finished", f"{faulty} with faults"]
    if exposure["different"] < exposure["runs"]:
        facts.append(f"of {exposure['runs']} runs {exposure['different']} different: the same drive counts once")
    facts += [f"{exposure['km']:.1f} km", f"{exposure['hours']:.2f} h"]
    facts += [f"closed loop {sum(map(_closed_loop, runs)) / len(runs):.3f} in the mean"] if runs else []
    yield from (f'<span class="fact">{fact}</span>' for fact in facts)


def _rates(exposure: Mapping[str, Any]) -> str:
    """Events by the kilometre, with the bound of their rate."""
    rows = "".join(
        f'<tr><td>{html.escape(name)}</td><td class="number">{found["count"]}</td>'
        f'<td class="number">{found["per_km"]:.4f}</td><td class="number">{found["upper_95_per_km"]:.4f}</td></tr>'
        for name, found in exposure["events"].items()
    )
    heads = '<th>event</th><th class="number">number</th><th class="number">per km</th>'
    bound = '<th class="number">below, with 95 %</th>'
    if not rows:
        return '<p class="quiet">Nothing was driven.</p>'
    return f'<table class="rates"><thead><tr>{heads}{bound}</tr></thead><tbody>{rows}</tbody></table>'

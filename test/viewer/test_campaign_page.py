"""`index.html` of a campaign: the worst runs first, links that lead somewhere, and the rates of all."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import pytest

from tuling_fsm.cli import main
from tuling_fsm.share import share_file
from tuling_fsm.verbs.campaign_exposure import exposure_of
from tuling_fsm.viewer.campaign_page import badness, write_campaign_page

from .tabs import Tab

OFF_ROAD = {"t": 3.25, "kind": "off_road", "detail": "0.4 m <left>", "at_fault": True}
STRUCK = {"t": 1.0, "kind": "collision", "detail": "car 3 from behind", "at_fault": False}
ORDER = ["broken", "lost", "twice", "once", "slow", "quick", "good"]


def run(
    name: str, closed_loop: float = 1.0, sim_s: float = 60.0, faults: int = 0, finished: bool = True
) -> dict[str, Any]:
    return {
        "file": f"scenarios/{name}.osc", "scenario": name, "map": "town", "seed": 1, "finished": finished,
        "end": "goal" if finished else "time", "infractions": [STRUCK, *[OFF_ROAD] * faults], "sim_s": sim_s,
        "distance_m": 500.0, "score": {"closed_loop": closed_loop, "driving": 0.5}, "longest_unexplained_stop_s": 0.0,
        "tick_ms": {"p99": 12.0},
    }  # fmt: skip


BROKEN = {"file": "scenarios/broken.osc", "scenario": "broken", "seed": 1, "finished": False, "end": "error",
          "infractions": [], "error": "ValueError: a < b"}  # fmt: skip
RUNS = [run("good"), run("quick", 0.8, 50.0), run("slow", 0.8, 90.0), run("once", faults=1), run("twice", faults=2),
        run("lost", 0.2, finished=False), BROKEN]  # fmt: skip


@pytest.mark.parametrize("name", ["c #1?", "100 %41", 'a"<b>&', "\u573a\u5730", os.fsdecode(b"\xb3\xa1")])
def test_a_link_leads_to_a_file_in_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "result.json").write_text("{}")
    campaign = {"held": True, "exposure": exposure_of([run("good")]), "runs": [run("good")]}
    write_campaign_page(tmp_path / "index.html", campaign, [folder])
    (link,) = re.findall(r'<a href="([^"]+)">', (tmp_path / "index.html").read_text(encoding="utf-8"))
    address = urlsplit(urljoin((tmp_path / "index.html").as_uri(), html.unescape(link)))
    assert Path(os.fsdecode(unquote_to_bytes(address.path))) == folder / "result.json"


def test_a_scenario_whose_name_is_no_utf_8_is_shown_by_its_bytes(tmp_path: Path) -> None:
    named = run(os.fsdecode(b"\xd3\xea"))
    campaign = {"held": True, "exposure": exposure_of([named]), "runs": [named]}
    write_campaign_page(tmp_path / "index.html", campaign, [None])
    assert r"\udcd3\udcea" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("campaign")
    folders: list[Path | None] = []
    for each in RUNS:
        folder = root / each["scenario"] / "seed_1"
        folder.mkdir(parents=True)
        folders.append(folder)
        names = ("result.json",) if each["scenario"] == "quick" else ("report.html", "pictures.html", "result.json")
        for name in names:  # In the folder of the one that broke off they are of an earlier run.
            (folder / name).write_text("<p>here</p>", encoding="utf-8")
    campaign = {"held": False, "exposure": exposure_of(RUNS), "runs": RUNS}
    write_campaign_page(root / "index.html", campaign, folders)
    return root / "index.html"


def test_the_worst_runs_come_first() -> None:
    assert [each["scenario"] for each in sorted(RUNS, key=badness)] == ORDER


def test_a_run_that_broke_off_counts_as_nothing_in_the_mean(page: Path, tmp_path: Path) -> None:
    assert "closed loop 0.686 in the mean" in page.read_text(encoding="utf-8")
    for runs, mean in (([run("good"), BROKEN, BROKEN, BROKEN], "0.250"), ([BROKEN], "0.000")):
        campaign = {"held": False, "exposure": exposure_of(runs), "runs": runs}
        write_campaign_page(tmp_path / "index.html", campaign, [None] * len(runs))
        assert f"closed loop {mean} in the mean" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_page_says_how_many_runs_are_different(page: Path, tmp_path: Path) -> None:
    assert "the same drive counts once" not in page.read_text(encoding="utf-8")
    runs = [run("good") | {"motion_sha256": "1", "seed": seed} for seed in (1, 2, 3)]
    write_campaign_page(
        tmp_path / "index.html", {"held": True, "exposure": exposure_of(runs), "runs": runs}, [None] * 3
    )
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "of 3 runs 1 different: the same drive counts once" in text
    assert ">0.5 km<" in text


def test_every_link_leads_to_a_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"]+)">', text)
    assert len(links) == 3 * 5 + 1
    assert all((page.parent / link).is_file() for link in links)
    assert "quick/seed_1/report.html" not in links
    assert "a &lt; b" in text
    assert "<left>" not in text


def names(tab: Tab) -> list[str]:
    return [row.split("\t")[0] for row in tab.page.locator("#runs tbody tr:visible").all_inner_texts()]


@pytest.mark.slow
def test_the_table_is_sorted_and_chosen_from(tab: Tab) -> None:
    assert names(tab) == ORDER
    head = tab.page.locator("#runs th button", has_text="time s")
    head.click()
    assert names(tab)[0] == "quick"
    assert names(tab)[-1] == "broken"
    head.click()
    assert names(tab)[0] == "slow"
    assert names(tab)[-1] == "broken"
    tab.page.check("#only-bad")
    assert set(names(tab)) == {"broken", "lost", "twice", "once"}
    tab.page.fill("#filter", "off_road")
    assert set(names(tab)) == {"twice", "once"}
    assert tab.page.locator("#shown").inner_text() == "2 of 7 runs"


@pytest.mark.slow
def test_totals_and_rates_are_those_of_the_campaign(tab: Tab) -> None:
    head = tab.page.locator("#headline").inner_text()
    for words in ("did not hold", "5 of 7 finished", "2 with faults", "3.0 km"):
        assert words in head, words
    exposure = exposure_of(RUNS)["events"]["red lights run"]
    rates = tab.page.locator(".rates tr", has_text="red lights run").inner_text().split("\t")
    assert rates[1:] == ["0", "0.0000", f"{exposure['upper_95_per_km']:.4f}"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_on_a_narrow_screen(browser: Any, page: Path, scheme: str) -> None:
    opened = Tab(browser, page, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    assert opened.ask("document.documentElement.dataset.theme") == scheme
    assert opened.ask("document.documentElement.scrollWidth") <= 390
    opened.page.click("text=film")
    opened.page.wait_for_url("**/report.html")
    assert opened.said == []
    opened.page.close()


@pytest.mark.slow
@pytest.mark.parametrize("results_only", [False, True])
def test_a_campaign_leaves_it_beside_its_results(tmp_path: Path, results_only: bool, capsys: Any) -> None:
    scenario = share_file("config", "scenarios", "roam.osc")
    options = ["--seeds", "1", "--workers", "1", "--set", "length_m=30", "--set", "vehicles=0", "--out", str(tmp_path)]
    main(["campaign", str(scenario), *options, *(["--results-only"] if results_only else [])])
    capsys.readouterr()
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    found = re.findall(r'<a href="([^"]+)">', text)
    films = [] if results_only else ["roam/seed_1/report.html", "roam/seed_1/pictures.html"]
    assert found == [*films, "roam/seed_1/result.json"]
    assert all((tmp_path / link).is_file() for link in found)
    (kept,) = json.loads((tmp_path / "campaign.json").read_text(encoding="utf-8"))["runs"]
    assert f'data-value="{kept["sim_s"]}"' in text

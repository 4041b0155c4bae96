"""The pages make a site without a warning: every link and anchor leads somewhere, every docstring is understood."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_page_is_in_it(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if not (site / page).is_file()] == []


def test_pages_from_outside_and_linked_files_are_in_it(site: Path) -> None:
    for name in ("contributing.html", "changelog.html", "benchmarks/results.html", "files/examples/first_drive.ipynb"):
        assert (site / name).is_file(), name


def test_the_reference_has_the_names_of_the_package_and_leads_to_sources(site: Path) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    for name in ("tuling_fsm.api.simulate", "tuling_fsm.agent.Agent.step", "tuling_fsm.world.inputs.Inputs"):
        assert f'id="{name}"' in text, name
    assert 'href="../bibliography.html#' in text


def test_nothing_is_fetched_but_the_drawing_of_diagrams(site: Path) -> None:
    """Fonts of others would be asked for by every reader."""
    assert "fonts.googleapis.com" not in (site / "index.html").read_text(encoding="utf-8")

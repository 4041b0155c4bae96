"""The pictures of the documentation are those that `make pictures` makes, and show what they are said to show."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from .chromium import chromium

pictures = pytest.importorskip("viewer.pictures", reason="playwright, of the extra `test`, is not installed")
KINDS = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"}
ROOT = Path(__file__).resolve().parents[2]


def test_every_picture_of_the_documentation_is_made_by_the_script() -> None:
    there = {file for file in (ROOT / "docs").rglob("*") if file.suffix in KINDS}
    assert there == {pictures.IMAGES / name for name in pictures.PICTURES}


def test_make_pictures_makes_them() -> None:
    rule = re.search(r"^pictures:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert rule is not None
    assert "-m viewer.pictures" in rule.group(1)


@pytest.mark.slow
def test_the_case_of_the_page_about_planners_is_drawn(tmp_path: Path) -> None:
    if chromium() is None:
        pytest.skip("no Chromium; `make browser` brings that of the distribution")
    made = pictures.plan(pictures.Studio(tmp_path))
    assert made.size == (pictures.SIZE["width"], pictures.SIZE["height"])
    pixels = np.asarray(made).reshape(-1, 3)
    for colour in ((0x16, 0x68, 0xDC), (0x8D, 0x85, 0x77)):  # The car in forward gear, and the boxes.
        assert (np.abs(pixels.astype(int) - colour).max(axis=1) < 8).sum() > 500, colour

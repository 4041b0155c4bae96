"""docs/architecture.md shows the calls of a tick as they are, and docs/map.md names files that are there."""

from __future__ import annotations

import re

from .tick import PACKAGE, PAGE, page


def test_the_pictures_are_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "renew them with `make pictures`"


def test_the_map_of_tasks_names_files_that_are_there() -> None:
    files = re.findall(r"`([a-z_/]+\.py)`", PAGE.with_name("map.md").read_text(encoding="utf-8"))
    assert len(files) >= 10
    assert [file for file in files if not (PACKAGE / file).is_file()] == []

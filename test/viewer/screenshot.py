"""A picture of a film for the documentation: `python -m viewer.screenshot PAGE T PNG`, with Chromium and playwright."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from viewer.chromium import OPTIONS, chromium

SIZE = {"width": 1280, "height": 1100}
ZOOM = 1.6


def picture(page: Path, t: float) -> Image.Image:
    """The page at a moment (s), as it opens."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=OPTIONS)
        tab = browser.new_page(viewport=SIZE, color_scheme="light")
        tab.goto(f"{page.resolve().as_uri()}#t={t}")
        tab.wait_for_selector("html[data-ready=true]")
        tab.evaluate(f"film.zoom({ZOOM})")
        tab.wait_for_timeout(500)
        taken = Image.open(io.BytesIO(tab.screenshot()))
        browser.close()
    return taken.convert("RGB")


def main(page: str, t: str, png: str) -> None:
    """Write it."""
    picture(Path(page), float(t)).save(png, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])

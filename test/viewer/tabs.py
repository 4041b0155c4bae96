"""A page in a tab of headless Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WIDE = {"width": 1300, "height": 860}
READY = "html[data-ready=true]"


class Tab:
    """A page that was opened, and what its console said."""

    def __init__(self, browser: Any, file: Path, link: str = "", **options: Any) -> None:
        self.said: list[str] = []
        self.page = browser.new_page(**{"viewport": WIDE, **options})
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.said.append(request.url) if "http" in request.url[:5] else None)
        self.page.goto(f"{file.as_uri()}{link}")
        self.page.wait_for_selector(READY)
        self.drawn()

    def drawn(self) -> None:
        """Wait until what was asked for is on the screen."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def go(self, t: float) -> None:
        """With the slider, as a hand does."""
        self.page.evaluate(
            "t => { const s = document.getElementById('slider'); s.value = t; s.dispatchEvent(new Event('input')); }", t
        )
        self.drawn()

    def ask(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    @property
    def t(self) -> float:
        return float(self.ask("film.clock.t"))

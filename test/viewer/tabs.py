"""A page in a tab of headless Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WIDE = {"width": 1300, "height": 860}
READY = "html[data-ready=true]"


class OpenPage:
    """A page at an address, and what its console said."""

    def __init__(self, browser: Any, url: str, timeout_ms: float = 30_000, **options: Any) -> None:
        self.said: list[str] = []
        self.page = browser.new_page(**{"viewport": WIDE, **options})
        self.page.set_default_timeout(timeout_ms)
        self.page.on("console", lambda message: self.said.append(f"{message.text} {message.location}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", self._requested)
        self.page.goto(url)

    def _requested(self, request: Any) -> None:
        """Whatever address the page asks for."""

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


class Tab(OpenPage):
    """A page that is a file, which asks the network for nothing."""

    def __init__(self, browser: Any, file: Path, link: str = "", **options: Any) -> None:
        super().__init__(browser, f"{file.as_uri()}{link}", **options)
        self.page.wait_for_selector(READY)
        self.drawn()

    def _requested(self, request: Any) -> None:
        if request.url.startswith("http"):
            self.said.append(request.url)

    @property
    def t(self) -> float:
        return float(self.ask("film.clock.t"))

"""The Chromium of the distribution, and how it is started."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first that is there is taken; the shell, which can open no windows, takes a third of the CPU less."""
OPTIONS = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
"""Without a GPU, as on any server; root has to do without the sandbox."""


def chromium() -> str | None:
    """Where it is, if it is there."""
    return next(filter(None, map(shutil.which, NAMES)), None)

"""What all figures by matplotlib share: their canvas, bands over time, and the file that they become."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from tuling_fsm.output_file import write_file

DPI = 110
BAND_HEIGHT = 0.19
"""Of a line of a band, inches."""
PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#ff9da7", "#bab0ac")
CHINESE = ("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "SimHei")
"""Fonts that have the letters which matplotlib's own lacks; those that are installed are used."""
Bar = tuple[float, float, str]
"""From one time to another (s), and its label."""
_LEAST_S = 0.05
"""A shorter stretch is drawn as long as this, or it could not be seen."""


def new_figure(width: float, height: float) -> Figure:
    """An empty one, inches."""
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


@cache
def as_written(family: str = "sans-serif") -> dict[str, Any]:
    """How text is set that comes from a file, such as a name: letters of any language, and no formula."""
    installed = {font.name for font in fontManager.ttflist}
    return {"parse_math": False, "family": [family, *(name for name in CHINESE if name in installed)]}


def png(figure: Figure) -> bytes:
    """It as PNG; a letter that no font has is a box."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(buffer, format="png")
    return buffer.getvalue()


def write_png(file: Path, figure: Figure) -> None:
    """Write it.

    Raises:
        InputError: the file cannot be written.
    """
    write_file(file, png(figure))


def bands_height(bars: Sequence[Bar]) -> float:
    """Of the bands, inches: every label has a line of its own."""
    return 0.3 + BAND_HEIGHT * len({label for *_, label in bars})


def draw_bands(axes: Axes, bars: Sequence[Bar], colours: Mapping[str, str] | None = None) -> None:
    """One row a label, a bar a stretch; labels without a colour take those of `PALETTE` in turn."""
    names = list(dict.fromkeys(label for *_, label in bars))
    for i, name in enumerate(names):
        own = [(t_from, max(t_to - t_from, _LEAST_S)) for t_from, t_to, label in bars if label == name]
        axes.broken_barh(own, (i - 0.4, 0.8), color=(colours or {}).get(name, PALETTE[i % len(PALETTE)]))
    axes.set_yticks(range(len(names)), names, fontsize=8, **as_written())
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)

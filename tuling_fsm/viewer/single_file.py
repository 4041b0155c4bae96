"""Pages that are one HTML file each: styles, modules, charts and data are in it, so that it can be sent."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).with_name("page")
_CHARTS = ("vendor/uPlot.LICENSE", "vendor/uPlot.iife.min.js")
_IMPORTED = re.compile(r'import (?:[^;"]*from )?"#film/([a-z_]+\.js)";')


def single_file(name: str, title: str, data: Sequence[bytes] = (), *, charts: bool = False, **parts: str) -> str:
    """A page as text.

    Args:
        name: of its template `NAME.html`, which imports the module that it begins with; of its styles `NAME.css`,
            if it has more than `film.css`.
        title: of the page.
        data: packed columns, which the page finds in the elements `script.run`.
        charts: whether it draws curves.
        parts: what else the template leaves open, as HTML.
    """
    styles = [f"{name}.css"] if (_FOLDER / f"{name}.css").is_file() else []
    packed = (f'<script type="text/plain" class="run">{b64encode(each).decode()}</script>' for each in data)
    template = _text(f"{name}.html")
    licence, drawn = (_text(each) for each in _CHARTS) if charts else ("", "")
    return Template(template).substitute(
        title=html.escape(title),
        styles=(_text("vendor/uPlot.min.css") if charts else "") + "".join(map(_text, ("film.css", *styles))),
        charts=f"<script>/*\n{licence}\n*/\n{drawn}</script>" if charts else "",
        imports=json.dumps({"imports": dict(_modules(template))}),
        runs="\n".join(packed),
        **parts,
    )


def _modules(template: str) -> Iterator[tuple[str, str]]:
    """Every module that a page needs by the name that others import it by, as an address that holds it."""
    needed, left = set[str](), _IMPORTED.findall(template)
    while left:
        module = left.pop()
        if module not in needed:
            needed.add(module)
            left += _IMPORTED.findall(_text(module))
    for module in sorted(needed):
        # The last line is its name in the browser's tools.
        text = f"{_text(module)}\n//# sourceURL=film/{module}\n"
        yield f"#film/{module}", "data:text/javascript;base64," + b64encode(text.encode()).decode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")

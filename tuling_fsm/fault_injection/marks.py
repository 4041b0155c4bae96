"""A part of a page that is made by a command, between `<!-- name -->` and `<!-- /name -->`."""

from __future__ import annotations

import re
from pathlib import Path

from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import write_file


def write_between_marks(page: Path, name: str, content: str) -> None:
    """Put a text in the place of what is between the marks.

    Raises:
        InputError: the page has not both marks, once.
    """
    text = page.read_text(encoding="utf-8")
    around = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- /{re.escape(name)} -->)", re.DOTALL)
    if len(around.findall(text)) != 1:
        raise InputError(str(page), f"has not the marks of {name}", f"<!-- {name} --> and <!-- /{name} -->, once")
    write_file(page, around.sub(lambda _: content, text))

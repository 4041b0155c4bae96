"""What the site shows that lies outside `docs/`: pages of their own, and every other file that a page links to.

Links are written as they hold in the source tree. In the site they lead to the page that is made of a file, or to a
copy of it below `files/`. mkdocs then checks all of them, anchors too.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmark/README.md": "benchmarks/index.md",
    "benchmark/RESULTS.md": "benchmarks/results.md",
}
"""By path in the source tree: the page of the site."""
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    for source, uri in PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text with links that hold in the site."""
    sources = {uri: ROOT / source for source, uri in PAGES.items()}
    here = page.file.src_uri
    folder = sources.get(here, DOCS / here).parent

    def link(match: re.Match[str]) -> str:
        uri = _uri((folder / match[1]).resolve(), config, files)
        return match[0] if uri is None else os.path.relpath(uri, Path(here).parent) + (match[2] or "")

    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def _uri(target: Path, config: MkDocsConfig, files: Files) -> str | None:
    """Where a file of the source tree is in the site, which gets a copy if need be; None for one that is not there."""
    if not target.is_file():
        return None
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix()
    source = target.relative_to(ROOT).as_posix()
    if source in PAGES:
        return PAGES[source]
    uri = f"files/{source}" + (".txt" if target.suffix in (".md", ".py") else "")
    if files.get_file_from_path(uri) is None:
        files.append(File.generated(config, uri, content=target.read_bytes()))
    return uri

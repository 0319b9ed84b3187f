"""Build the documentation site into docs/_build/html: no warning, no link that leads nowhere, below 15 MB.

    python tools/docs.py

Sources are put together by `tools/docs_source.py`; notebooks are executed unless `make notebooks` has done it for this
very tree.
"""

from __future__ import annotations

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import docs_source
from sphinx.cmd.build import build_main

HTML = docs_source.DOCS / "_build" / "html"
LARGEST_BYTES = 15_000_000
# What browsers load only while somebody looks into the theme's own scripts.
UNUSED = ("*.map", "*.LICENSE.txt")


class Page(HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.references: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.references.append(value)


def broken(folder: Path) -> list[str]:
    """References of a folder's pages to files that are not in it, or to anchors that a page does not have."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for reference in page.references:
            parts = urlsplit(reference)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else None
            if not target.exists() or (parts.fragment and anchors is not None and unquote(parts.fragment) not in anchors):
                found.append(f"{path.relative_to(folder.resolve())}: {reference}")
    return found


def built(source: Path, html: Path) -> int:
    """Sphinx's exit status; warnings are errors."""
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    return build_main(["-W", "--keep-going", "-q", "-j", "auto", "-c", str(docs_source.SITE), str(source), str(html)])


def main() -> int:
    if status := built(docs_source.write(), HTML):
        return status
    for path in (p for pattern in UNUSED for p in (HTML / "_static").rglob(pattern)):
        path.unlink()
    size = sum(p.stat().st_size for p in HTML.rglob("*") if p.is_file() and ".doctrees" not in p.parts)
    print(f"{HTML / 'index.html'}: {len(list(HTML.rglob('*.html')))} pages, {size / 1e6:.1f} MB")
    faults = broken(HTML)
    if size > LARGEST_BYTES:
        faults.append(f"the site has {size} bytes, {LARGEST_BYTES} are allowed")
    print(*faults, sep="\n", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

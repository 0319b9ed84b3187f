"""Links within a folder of HTML pages: which lead nowhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


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
    """References of a folder's pages to files that are not there, or to anchors that a page does not have."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        lost = [reference for reference in page.references if _lost(reference, path, pages)]
        found += [f"{path.relative_to(folder.resolve())}: {reference}" for reference in lost]
    return found


def _lost(reference: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(reference)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return True
    return bool(parts.fragment) and target in pages and unquote(parts.fragment) not in pages[target].anchors

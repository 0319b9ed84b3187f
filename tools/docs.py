"""Build the documentation site into docs/_build/html: no warning, no link that leads nowhere, below 15 MB.

    python tools/docs.py

Sources are put together by `tools/docs_source.py`; notebooks are executed unless `make notebooks` has done it for this
very tree.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import docs_source
import site_links
from sphinx.cmd.build import build_main

HTML = docs_source.DOCS / "_build" / "html"
LARGEST_BYTES = 15_000_000
# Of the theme's files what no page loads.
UNUSED = ("*.map", "webpack-macros.html")


def built(source: Path, html: Path) -> int:
    """Sphinx's exit status; warnings are errors."""
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    doctrees = str(html.parent / "doctrees")
    options = ["-W", "--keep-going", "-q", "-j", "auto", "-d", doctrees, "-c", str(docs_source.SITE)]
    return build_main([*options, str(source), str(html)])


def main() -> int:
    shutil.rmtree(HTML, ignore_errors=True)
    if status := built(docs_source.write(), HTML):
        return status
    for path in (p for pattern in UNUSED for p in (HTML / "_static").rglob(pattern)):
        path.unlink()
    size = sum(p.stat().st_size for p in HTML.rglob("*") if p.is_file())
    print(f"{HTML / 'index.html'}: {len(list(HTML.rglob('*.html')))} pages, {size / 1e6:.1f} MB")
    faults = site_links.broken(HTML)
    if size > LARGEST_BYTES:
        faults.append(f"the site has {size} bytes, {LARGEST_BYTES} are allowed")
    print(*faults, sep="\n", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

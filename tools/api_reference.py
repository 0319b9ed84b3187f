"""Write the API reference from the docstrings, as static HTML that needs no network.

    python tools/api_reference.py docs/api
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pdoc
import pdoc.render

import workbench


def modules() -> list[str]:
    """Every module of the library; names that rooms load on first use are loaded for pdoc to find."""
    names = ["workbench", *(m.name for m in walk_packages(workbench.__path__, "workbench."))]
    for module in map(import_module, names):
        for name in getattr(module, "__all__", ()):
            getattr(module, name)
    return names


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/api")
    pdoc.render.configure(docformat="markdown", footer_text=f"workbench {workbench.__version__}")
    pdoc.pdoc(*modules(), output_directory=folder)
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())

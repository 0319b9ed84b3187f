"""Write the API reference from the docstrings, as static HTML.

python tools/api_reference.py docs/api
"""

from __future__ import annotations

import sys
from pathlib import Path

import pdoc

import workbench


def face() -> None:
    """Load every public name, so that pdoc finds it on the face."""
    for name in workbench.__all__:
        getattr(workbench, name)


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/api")
    face()
    pdoc.render.configure(docformat="markdown", math=True, footer_text=f"workbench {workbench.__version__}")
    pdoc.pdoc("workbench", output_directory=folder)
    print(f"{folder / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

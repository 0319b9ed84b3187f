"""Programs that run where the workbench cannot be imported, as those of the people who get an export."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT

HEAD = """
import sys
from importlib.util import find_spec
sys.path = [path for path in sys.path if path not in ({root!r}, "")]
assert find_spec("workbench") is None, "the workbench can be imported"
"""


def alone(program: str, *arguments: str | Path, folder: Path, python: str = sys.executable, **variables: str) -> str:
    """What a program prints; it must end well.  Its folder is where its modules are looked for."""
    place = folder / "program.py"
    place.write_text(HEAD.format(root=str(ROOT)) + program, encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | variables
    done = subprocess.run([python, str(place), *map(str, arguments)], capture_output=True, text=True, timeout=600,
                          cwd=folder, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr

"""From a project's folder to its wheel, by the tool that builds this project's own."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from workbench.errors import BuildError
from workbench.export.dispatch.files import put_file
from workbench.runtime.processes import CannotStart, run_limited

SECONDS = 300.0


def wheel_of(project: Path, directory: Path) -> Path:
    """The wheel of a project, in the directory; nothing is fetched.  BuildError with the tool's words."""
    if find_spec("hatchling") is None:
        raise BuildError("wheels are built by hatchling, which is not installed: pip install hatchling")
    made = project / "dist"
    shutil.rmtree(made, ignore_errors=True)
    command = (sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(made))
    try:
        done = run_limited(command, SECONDS, project)
    except CannotStart as reason:
        raise BuildError(f"hatchling cannot be started: {reason}") from reason
    wheels = sorted(made.glob("*.whl"))
    if done.code != 0 or not wheels:
        raise BuildError(f"hatchling {done} on {project}:\n{done.output[:4000]}")
    placed = put_file(wheels[0], directory / wheels[0].name)
    shutil.rmtree(made)
    return placed

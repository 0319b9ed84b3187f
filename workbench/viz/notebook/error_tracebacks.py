"""What a cell shows of an error of ours: its message, and the lines of the user that led to it, not our frames.

`%xmode Verbose` (or `Plain`, `Minimal`) asks IPython for its own form again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from traceback import FrameSummary, extract_tb
from typing import Any

from workbench.errors import WorkbenchError

OURS = str(Path(__file__).resolve().parents[2])
# Packages through which a cell is run.
RUNNERS = ("IPython", "ipykernel", "asyncio", "traitlets")
MODE = "Context"
RED, BOLD, DIM, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"


def shorten(shell: Any) -> None:
    """Let a shell of IPython show errors of the workbench so."""

    def rendered(self: WorkbenchError) -> list[str]:
        own = shell.InteractiveTB
        if getattr(own, "mode", MODE) != MODE:
            return own.structured_traceback(type(self), self, self.__traceback__)
        plain = getattr(shell, "colors", "").lower() == "nocolor"
        return error_lines(self, names=_cell_names(shell), colours=not plain)

    WorkbenchError._render_traceback_ = rendered  # type: ignore[attr-defined]


def _cell_names(shell: Any) -> dict[str, str]:
    """File of a cell's code → `cell [3]`, as IPython counts; empty where it does not tell."""
    known = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return {str(file): f"cell [{number}]" for file, number in known.items()}


def error_lines(error: WorkbenchError, names: dict[str, str] | None = None, *, colours: bool = False) -> list[str]:
    """The kind of error, its message, and each line of the user's code on the way to it, the last one first."""
    kind = type(error).__name__
    lines = [f"{RED}{BOLD}{kind}{PLAIN}: {error}" if colours else f"{kind}: {error}"]
    cause = error.__cause__
    if cause is not None and not isinstance(cause, WorkbenchError):
        lines.append(f"because of {type(cause).__name__}: {cause}")
    for frame in reversed(list(_users(error))):
        place = (names or {}).get(frame.filename, frame.filename)
        inside = "" if frame.name == "<module>" else f", in {frame.name}"
        where = f"at {place}, line {frame.lineno}{inside}:"
        lines += ["", f"{DIM}{where}{PLAIN}" if colours else where, f"    {frame.line}"]
    return lines


def _users(error: WorkbenchError) -> Iterator[FrameSummary]:
    """Frames that are neither ours nor of what runs cells; those below ours are not the user's any more."""
    for frame in extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if frame.filename.startswith(OURS):
            return
        if not any(runner in path.parts for runner in RUNNERS):
            yield frame

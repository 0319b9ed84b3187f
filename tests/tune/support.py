"""Small problems, and what the tests of the tuner share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import workbench as wb

SMALL = wb.operator("def odd(float(N,M) A, float(M) w) -> (R) { R(n) max=! fabs(A(n,m)) * w(m) }")
SIZES = {"N": 24, "M": 40}


def sketch(*options: int) -> wb.Sketch:
    """A space of a few points."""
    start = wb.schedule(SMALL, **SIZES)
    rows = wb.choose(*(options or (2, 3, 4, 6)), name="rows")
    return start | wb.tile({"R/n": rows}) | wb.choose(wb.unroll("R/n_i"), None, name="unrolled")


def waited(condition: Callable[[], object], seconds: float = 30.0) -> bool:
    """Whether something happened in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """Processes that a process started, and those that they did."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found, waiting = [], [pid]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += own
    return found

"""The processors of a contender: which it may use, and how far apart they are.

It has one for each of its threads, each on a physical core of its own.  What one of two processors writes, the other
reads sooner where they share a cache.  Those of a virtual machine may share a cache of its host now and not in a
minute; then what passes between threads takes five times as long, and a network of many small layers half as long
again.  `serving` notes it beside each turn of several threads, so that figures are compared with those of the same
moment.  Imports nothing of the workbench, so that a peer's own environment can use it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent / "handoff.c"


def pin(threads: int) -> list[int]:
    """Confine this process to as many processors as it has threads; [] where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return []
    chosen = _spread(sorted(os.sched_getaffinity(0)))[-threads:]
    os.sched_setaffinity(0, chosen)
    return sorted(chosen)


def _spread(allowed: list[int]) -> list[int]:
    """The processors, siblings of a core that was named already at the front (they are taken last)."""
    firsts: dict[str, int] = {}
    for cpu in allowed:
        firsts.setdefault(_siblings(cpu), cpu)
    return [cpu for cpu in allowed if cpu not in firsts.values()] + sorted(firsts.values())


def _siblings(cpu: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)


def round_trip() -> float | None:
    """Seconds from the first processor of this process to the second and back; None where it cannot be told."""
    if not hasattr(os, "sched_getaffinity") or len(processors := sorted(os.sched_getaffinity(0))) < 2:
        return None
    function = _function()
    return (function(*processors[:2]) or None) if function else None


@cache
def _function() -> Callable[[int, int], float] | None:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "handoff.so"
        flags = ["-O2", "-pthread", "-shared", "-fPIC"]
        try:
            subprocess.run(["cc", *flags, str(SOURCE), "-o", str(library)], check=True, capture_output=True)
            function = ctypes.CDLL(str(library)).handoff
        except (OSError, subprocess.CalledProcessError):
            return None
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_int]
    return function

"""The processors a contender may use: one for each of its threads, each on a physical core of its own."""

from __future__ import annotations

import os
from pathlib import Path


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

"""How many threads can be started here: an OpenMP runtime that cannot start one ends the whole process."""

from __future__ import annotations

import warnings
from functools import cache
from threading import Event, Thread


@cache
def startable(wanted: int) -> int:
    """`wanted`, or as many threads as run at once here if that is less; tried once, with one warning."""
    if wanted == 1:
        return 1
    finish, started = Event(), []
    try:
        for _ in range(wanted):
            started.append(Thread(target=finish.wait, daemon=True))
            started[-1].start()
    except (RuntimeError, MemoryError):
        started.pop()
    finish.set()
    for thread in started:
        thread.join()
    if len(started) < wanted:
        _warn(wanted, len(started))
    return len(started) if len(started) == wanted else max(1, len(started) // 2)


def _warn(wanted: int, possible: int) -> None:
    warnings.warn(
        f"{wanted} threads were asked for, but this process can start {possible} (limits of memory or of the number "
        f"of threads): kernels run on {max(1, possible // 2)}. settings(threads=...) chooses another number.",
        RuntimeWarning,
        stacklevel=5,
    )

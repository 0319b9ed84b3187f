"""A line about what is running, where somebody watches a terminal."""

from __future__ import annotations

import sys
import threading
import time
from typing import Protocol

WIDTH = 24
LOOK_SECONDS = 0.05
"""How often a wait looks for interrupts."""


class Watched(Protocol):
    """What a line is about: trials that are done, of how many, and what the best is so far."""

    @property
    def done(self) -> int: ...

    @property
    def budget(self) -> int: ...

    @property
    def headline(self) -> str: ...

    def pause(self) -> None: ...


class Progress:
    """One line that replaces itself: a bar, trials, the best, about how many seconds are left."""

    EVERY = 0.5

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.shown = sys.stderr is not None and sys.stderr.isatty()
        self.begun = self.last = time.monotonic()
        self.already = watched.done

    def update(self) -> None:
        """Write the line anew, at most twice a second."""
        now = time.monotonic()
        if not self.shown or now - self.last < self.EVERY:
            return
        self.last = now
        done, budget = self.watched.done, self.watched.budget
        fresh = done - self.already
        parts = [f"{done}/{budget} trials"]
        parts += [self.watched.headline] if self.watched.headline else []
        parts += [f"about {(now - self.begun) / fresh * (budget - done):.0f} s left"] if fresh > 0 else []
        filled = min(WIDTH, round(WIDTH * done / max(1, budget)))
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (WIDTH - filled)}] {', '.join(parts)}   ")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self.shown:
            sys.stderr.write("\n")


def wait_for(watched: Watched, ended: threading.Event) -> None:
    """Wait for the end, with a line about it; an interrupt pauses what is waited for."""
    line = Progress(watched)
    try:
        while not ended.wait(LOOK_SECONDS):
            line.update()
    except KeyboardInterrupt:
        watched.pause()
        raise
    finally:
        line.end()

"""A lock that a forked child finds open: the thread that held it exists in the parent only."""

from __future__ import annotations

import os
import threading


class Lock:
    """As `threading.Lock`, in a `with` statement, but its own in each process."""

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
        self._lock.acquire()

    def taken_now(self) -> bool:
        """Take it, if nobody holds it; whether that went well.  `give` gives it back."""
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
        return self._lock.acquire(blocking=False)

    def give(self) -> None:
        """Give back what `taken_now` took."""
        self._lock.release()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

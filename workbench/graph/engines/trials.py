"""Trials: something that somebody else wrote is run with a limit on its time, or in a process that may die of it."""

from __future__ import annotations

import contextvars
import faulthandler
import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from workbench.errors import EngineError

R = TypeVar("R")


def within_seconds(seconds: float, what: Callable[[], R]) -> R:
    """What a function gives; EngineError if that takes longer.

    A thread cannot be ended: what hangs goes on in the background, without keeping the process alive.
    """
    found: list[Any] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            found.append((context.run(what), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        raise EngineError(f"hangs: it has not ended within {seconds:g} s")
    value, error = found[0]
    if error is not None:
        raise error if isinstance(error, Exception) else EngineError(f"ended with {type(error).__name__}")
    return value


def in_child(what: Callable[[], Any], seconds: float) -> None:
    """Run a function in a process forked from this one; EngineError if it raises, hangs or takes that with it."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads: that is what is tried
        child = os.fork()
    if child == 0:
        faulthandler.disable()  # the parent says what became of it
        os.close(reading)
        os.write(writing, _tried(what).encode()[:4096])
        os._exit(0)
    os.close(writing)
    try:
        said = _said(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        if not os.waitpid(child, os.WNOHANG)[0]:
            _end(child)
    if said is None:
        raise EngineError(f"hangs: it has not ended within {seconds:g} s")
    if said != "fine":
        raise EngineError(said or "it took its process with it (a crash below Python)")


def _tried(what: Callable[[], Any]) -> str:
    try:
        what()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


def _said(reading: int, until: float) -> str | None:
    """What the child wrote before it ended; None if it has not ended in time."""
    said = b""
    while (left := until - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            piece = os.read(reading, 4096)
            if not piece:
                return said.decode(errors="replace")
            said += piece
    return None


def _end(child: int) -> None:
    """End the child, unless it has just ended by itself."""
    time.sleep(0.01)
    if not os.waitpid(child, os.WNOHANG)[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

"""Helper processes: they answer one request after another, may crash or hang, and never outlive the one who asks."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from workbench.errors import WorkbenchError
from workbench.runtime.host.processes import signal_name

START_SECONDS = 60.0
LOOK_SECONDS = 0.2
"""How often a helper looks whether its parent still lives."""

PROGRAM = "from workbench.tune.measuring.helpers import main; main({}, {!r}, {})"


class Died(Exception):
    """The helper ended without an answer; the text says how."""


class TooLate(Exception):
    """The helper did not answer in time, and was ended."""


class Helper:
    """A process of this interpreter that answers requests with a function: "module:function", called with each.

    `variables` are put into its environment; `memory` bounds its address space in bytes.
    """

    def __init__(self, answering: str, variables: dict[str, str] | None = None, memory: int = 0) -> None:
        self.answering = answering
        self.variables = variables or {}
        self.memory = memory
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: Connection[Any, Any] | None = None
        self.ready = False
        self.lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The process's number while it runs."""
        return None if self.process is None or self.process.poll() is not None else self.process.pid

    def ask(self, request: Any, seconds: float) -> Any:
        """The answer to a request; Died or TooLate, after which the next request meets a new process."""
        self.send(request)
        return self.receive(seconds)

    def send(self, request: Any) -> None:
        """A request, whose answer `receive` gives."""
        self.start()
        assert self.connection is not None
        try:
            self.connection.send_bytes(pickle.dumps(request, protocol=5))
        except OSError:
            raise Died(self._end()) from None

    def receive(self, seconds: float) -> Any:
        """The answer to the last request."""
        connection = self.connection
        if connection is None:
            raise Died("was ended")
        try:
            if not connection.poll(seconds):
                self.stop()
                raise TooLate(f"did not answer within {seconds:.3g} s")
            kind, answer = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError, TypeError):  # TypeError: closed by another thread while we waited
            raise Died(self._end()) from None
        if kind == "error":
            raise answer
        return answer

    def start(self) -> None:
        """Start the process if it does not run, and wait until it listens."""
        self.spawn()
        with self.lock:
            if self.ready or self.connection is None:
                return
            if not self.connection.poll(START_SECONDS):
                self._kill()
                raise WorkbenchError("a process for the tuner does not start")
            with suppress(EOFError, OSError):
                self.connection.recv_bytes()
            self.ready = True

    def spawn(self) -> None:
        """Start the process if it does not run; several start at the same time."""
        with self.lock:
            if self.pid is not None:
                return
            self._release()
            self.ready = False
            ours, theirs = Pipe()
            program = PROGRAM.format(theirs.fileno(), self.answering, self.memory)
            path = os.pathsep.join(p for p in sys.path if p)
            self.process = subprocess.Popen(
                [sys.executable, "-c", program], pass_fds=[theirs.fileno()], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path, **self.variables},
            )  # fmt: skip
            theirs.close()
            self.connection = ours

    def stop(self) -> None:
        """End the process and everything that it started."""
        with self.lock:
            self._kill()
            self._release()

    def _end(self) -> str:
        """End what is left of it; in words, how the process itself ended."""
        process = self.process
        with suppress(subprocess.TimeoutExpired, AttributeError):
            process.wait(1.0)  # type: ignore[union-attr]  # the connection closes a moment before the process ends
        code = None if process is None else process.poll()
        self.stop()
        if code is None or code == 0:
            return "was ended"
        return f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit status {code}"

    def _kill(self) -> None:
        if self.process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _release(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = self.process = None


def main(descriptor: int, answering: str, memory: int) -> None:
    """What the process does: answer until the connection closes."""
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt of the terminal is for the one who asks
    connection: Connection[Any, Any] = Connection(descriptor)
    answer = _function(answering)
    gc.freeze()  # what was imported stays: looking through it again and again took a tenth of deriving a schedule
    _bound_memory(memory)
    connection.send_bytes(b"ready")
    while True:
        try:
            request = connection.recv_bytes()
        except EOFError:
            os._exit(0)
        connection.send_bytes(_answered(answer, request))


def _answered(answer: Callable[[Any], Any], request: bytes) -> bytes:
    try:
        return pickle.dumps(("answer", answer(pickle.loads(request))), protocol=5)
    except MemoryError:
        return pickle.dumps(("error", MemoryError("the process has no more memory")))
    except Exception as error:  # what a candidate does must not end the helper
        try:
            return pickle.dumps(("error", error))
        except Exception:  # an error that cannot travel
            return pickle.dumps(("error", WorkbenchError(f"{type(error).__name__}: {error}")))


def _function(where: str) -> Callable[[Any], Any]:
    from importlib import import_module

    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def _bound_memory(memory: int) -> None:
    """Take no more address space than this, beside what is taken already."""
    if memory:
        with suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _watch(parent: int) -> None:
    """End this process group when the parent is gone, even while a kernel runs that never ends."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)

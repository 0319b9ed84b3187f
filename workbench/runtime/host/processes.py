"""Run another program under a time limit, and end all of it when the limit passes."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from workbench.records import record

OUTPUT_LIMIT = 64 << 10


class CannotStart(Exception):
    """The program is missing or is not one that can be run."""


@record(slots=True)
class Finished:
    """How a program ended: `code` (negative: the signal; None: stopped by the clock) and first output."""

    code: int | None
    output: str

    def __str__(self) -> str:
        """How it ended, in words."""
        if self.code is None:
            return "did not finish in time"
        if self.code < 0:
            return f"was killed by {signal_name(-self.code)}"
        return f"ended with exit status {self.code}"


def run_limited(
    command: Sequence[str],
    seconds: float,
    folder: Path | None = None,
    variables: dict[str, str] | None = None,
    *,
    own_group: bool = True,
) -> Finished:
    """Run a program in `folder`; its whole process group is killed after `seconds`.

    Without a group of its own it belongs to ours, and what ends us all ends it; the clock then ends only itself.

    Output goes to a file and not to a pipe: a grandchild that outlives its parent cannot keep us waiting.
    Raises CannotStart if the program cannot be run, OSError if `folder` cannot be written.
    """
    environment = {**os.environ, "LC_ALL": "C", **(variables or {})}
    with TemporaryFile(dir=folder) as output:
        program = _Program(tuple(command), folder, environment, output, own_group)
        try:
            code: int | None = _code(program.begun(), seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            program.end()
        return Finished(code, _start_of(output))


@record(frozen=False)
class _Program:
    """A program that a thread of its own starts.

    An interrupt comes to the main thread, between any two of its steps: were it to come while that starts a process,
    nobody would know which one to end.
    """

    command: tuple[str, ...]
    folder: Path | None
    environment: dict[str, str]
    output: IO[bytes]
    own_group: bool = True
    process: subprocess.Popen[bytes] | None = None
    reason: Exception | None = None
    ended: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begun(self) -> subprocess.Popen[bytes]:
        """The running process."""
        thread = threading.Thread(target=self._start, daemon=True)
        thread.start()
        thread.join()
        if self.process is None:
            why = getattr(self.reason, "strerror", None) or str(self.reason)
            raise CannotStart(why) from self.reason
        return self.process

    def _start(self) -> None:
        with self.lock:
            if self.ended:
                return
            try:
                self.process = subprocess.Popen(
                    self.command,
                    cwd=self.folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=self.output,
                    stderr=subprocess.STDOUT,
                    start_new_session=self.own_group,
                )
            except (OSError, ValueError) as reason:
                self.reason = reason

    def end(self) -> None:
        """Kill the process group if its leader still runs (the clock passed, or we were interrupted)."""
        with self.lock:
            self.ended = True
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                (os.killpg if self.own_group else os.kill)(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _code(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit status as soon as there is one; TimeoutExpired after `seconds`.

    The wait of `subprocess` looks at ever longer intervals, up to 50 ms: a third of what a small kernel takes to
    compile.
    """
    try:
        ends = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, an old kernel, or a sandbox that does not know it
        return process.wait(seconds)
    try:
        ready = select.poll()
        ready.register(ends, select.POLLIN)
        ready.poll(1e3 * seconds)
    finally:
        os.close(ends)
    return process.wait(0.0)


def _start_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(OUTPUT_LIMIT).decode(errors="replace")


def signal_name(number: int) -> str:
    """`SIGSEGV`; a signal without a name by its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

"""Run another program under a time limit, and end all of it when the limit passes."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
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
            return f"was killed by {_signal_name(-self.code)}"
        return f"ended with exit status {self.code}"


def run_limited(
    command: Sequence[str],
    seconds: float,
    folder: Path | None = None,
    variables: dict[str, str] | None = None,
) -> Finished:
    """Run a program in `folder`; its whole process group is killed after `seconds`.

    Output goes to a file and not to a pipe: a grandchild that outlives its parent cannot keep us waiting.
    Raises CannotStart if the program cannot be run, OSError if `folder` cannot be written.
    """
    with TemporaryFile(dir=folder) as output:
        process = _started(command, folder, {**os.environ, "LC_ALL": "C", **(variables or {})}, output)
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        return Finished(code, _start_of(output))


def _started(
    command: Sequence[str], folder: Path | None, environment: dict[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as reason:
        raise CannotStart(reason.strerror or str(reason)) from reason


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group if its leader still runs (the clock passed, or we were interrupted)."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _start_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(OUTPUT_LIMIT).decode(errors="replace")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

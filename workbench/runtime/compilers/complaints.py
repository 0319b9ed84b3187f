"""What a BuildError says: what happened, the compiler's first messages, where the source was saved."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress

from workbench.errors import BuildError
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.storage import subdirectory, write_file
from workbench.runtime.host.processes import Finished

MESSAGE_LINES = 12
FAILED_KEPT = 50


def failure(job: Job, finished: Finished, limit: float) -> str:
    """The message for a compiler that did not end well."""
    if finished.code is None:
        what = f"did not finish within {limit:g} s (settings(compile_seconds=...) sets the limit)"
    elif finished.code < 0:
        what = f"crashed: it {finished}"
    else:
        what = f"refused the generated C ({finished})"
    return complaint(job, what, finished.output)


def complaint(job: Job, what: str, output: str) -> str:
    """The message of a BuildError: what happened, the compiler's words, the saved source, the command."""
    lines = [f"{job.toolchain.name} {what}, for kernel {job.name!r}"]
    lines += [f"    {line}" for line in _first_errors(output)]
    lines.append(f"source:  {_saved(job)}")
    lines.append(f"command: {shlex.join(job.command())}")
    return "\n".join(lines)


def _first_errors(output: str) -> Sequence[str]:
    """The first lines worth reading: errors before notes."""
    lines = [line[:200] for line in output.splitlines() if line.strip()]
    first = next((n for n, line in enumerate(lines) if "error" in line.lower()), 0)
    return lines[first : first + MESSAGE_LINES]


def _saved(job: Job) -> str:
    """Keep the source that failed where a person can look at it; the oldest of many go."""
    try:
        folder = subdirectory("failed")
        path = folder / f"{re.sub(r'[^A-Za-z0-9_]', '_', job.name)[:60]}-{job.key[:12]}.c"
        write_file(path, job.text.encode())
        for old in sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime)[:-FAILED_KEPT]:
            with suppress(OSError):
                old.unlink()
        return str(path)
    except (OSError, BuildError):
        return "(could not be saved)"

"""A kernel that may crash, in a process of its own: what the two processes leave for each other.

After an illegal address CUDA gives a process no further work; here that process is another one, which `building.py` is.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from workbench import errors
from workbench.codegen.kernel import Kernel
from workbench.errors import CallError, KernelError, WorkbenchError
from workbench.runtime.arrays.foreign import several
from workbench.runtime.host.processes import run_limited

JOB, ANSWER = "job.pickle", "answer.pickle"
TOLD_LINES = 3


def run_apart(kernel: Kernel, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any], seconds: float) -> Any:
    """What a call gives in another process; `out` is filled.

    An error of the workbench there is raised here; KernelError if the process crashes or is still busy after `seconds`.
    """
    with TemporaryDirectory(prefix="tensor-workbench-") as name:
        folder = Path(name)
        leave_job(folder, kernel, arrays, out, scalars)
        finished = run_limited(command(folder), seconds)
        if not (folder / ANSWER).exists():
            said = " ".join(finished.output.strip().splitlines()[-TOLD_LINES:])
            advice = "wb.sanitize(schedule, *arrays) finds the line without a GPU"
            raise KernelError(f"{kernel.name}: the process that ran it {finished} ({seconds:g} s). {advice}. {said}")
        result, outputs, error = pickle.loads((folder / ANSWER).read_bytes())
    if error is not None:
        kind, message = error
        raise getattr(errors, kind, KernelError)(message)
    for given, filled in zip(several(out), several(outputs), strict=True):
        if given is not None:
            given[...] = filled
    return result if out is None else out


def command(folder: Path) -> tuple[str, ...]:
    """What starts the process for a job that was left in a folder."""
    return sys.executable, "-m", "workbench.runtime.gpu.building", str(folder)


def leave_job(folder: Path, kernel: Kernel, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any]) -> None:
    """Write a call where the other process reads it.  CallError for arrays that are not the host's."""
    for value in (*arrays, *scalars.values(), *several(out)):
        if not isinstance(value, np.ndarray | np.generic | bool | int | float | list | tuple | None):
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            raise CallError(f"{kernel.name} runs in a process of its own, which takes arrays of NumPy, not a {kind}")
    (folder / JOB).write_bytes(pickle.dumps((kernel, arrays, out, scalars)))


def take_job(folder: Path) -> tuple[Kernel, tuple[Any, ...], Any, dict[str, Any]]:
    """(kernel, arrays, out, scalars) of the job that was left in a folder."""
    return pickle.loads((folder / JOB).read_bytes())


def leave_answer(folder: Path, call: Callable[[], Any], out: Any) -> None:
    """Write what a call gives, or the error of the workbench that it raises, where the first process reads it."""
    try:
        result = call()
        said = (None if out is not None else result, out, None)
    except WorkbenchError as error:
        said = (None, None, (type(error).__name__, str(error)))
    partial = folder / f"{ANSWER}.partial"
    partial.write_bytes(pickle.dumps(said))
    partial.rename(folder / ANSWER)

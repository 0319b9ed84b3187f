"""The process of one contender at the PolyBench kernels: `python -m bench.polybench.worker CONTENDER THREADS`.

Requests and answers are those of `bench.workers.worker`.  Arrays that a kernel updates are restored before each call,
outside the time.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import workbench as wb
from bench.polybench import compilers, kernels
from bench.workers.prepared import Unavailable
from bench.workers.serving import SETTLE_SECONDS, Server, serve
from workbench.poly.programs.tree import loops

Call = Callable[..., Any]


class Bench(Server):
    """One prepared kernel."""

    def __init__(self, contender: str, threads: int) -> None:
        self.contender = contender
        self.threads = threads
        self.call: Call | None = None
        self.fresh: list[Any] = []
        self.own: list[Any] = []

    def prepare(self, kernel: str, sizes: dict[str, int], reassociate: bool) -> dict[str, Any]:
        """Schedule or compile, and make arguments."""
        text = kernels.text(kernel)
        program = wb.from_c(text, reassociate=reassociate)
        self.fresh = kernels.arguments(kernel, program, sizes)
        self.own = [a.copy() if isinstance(a, np.ndarray) else a for a in self.fresh]
        start = time.perf_counter()
        if self.contender == "workbench":
            self.call, about = _ours(program, sizes, self.threads)
        else:
            self.call, about = _theirs(self.contender, text, self.threads, reassociate=reassociate)
        return {"first_seconds": time.perf_counter() - start, "function": about}

    def restore(self) -> None:
        """The arguments as they were made."""
        for own, fresh in zip(self.own, self.fresh, strict=True):
            if isinstance(own, np.ndarray):
                np.copyto(own, fresh)

    def once(self) -> float:
        """Seconds of one call on restored arguments."""
        if self.call is None:
            raise Unavailable("nothing is prepared")
        self.restore()
        start = time.perf_counter()
        self.call(*self.own)
        return time.perf_counter() - start

    def results(self, file: Path) -> dict[str, Any]:
        """Write every array after one call into a file; the time of that call, the first, is not counted."""
        took = self.once()
        arrays = [a for a in self.own if isinstance(a, np.ndarray)]
        np.savez(file, allow_pickle=False, **{f"a{n}": a for n, a in enumerate(arrays)})
        return {"forms": 1, "seconds": took}

    def time(self, seconds: float) -> dict[str, Any]:
        """Seconds of calls during about so many seconds, one at least."""
        time.sleep(SETTLE_SECONDS)
        end = time.perf_counter() + seconds
        times = [self.once()]
        while time.perf_counter() < end:
            times.append(self.once())
        return {"times": [statistics.median(times)], "calls": len(times)}


def _ours(program: Any, sizes: dict[str, int], threads: int) -> tuple[Call, str]:
    """The default recipe's kernel, and its schedule in words."""
    with wb.settings(threads=threads):
        schedule = wb.autoschedule(program, sizes=sizes)
        kernel = wb.build(schedule, threads=threads)
    kinds = {loop.kind for loop in loops(schedule.tree)}
    found = [
        word for kind, word in (("parallel", "parallel"), ("vector", "vectorised")) if any(kind in k for k in kinds)
    ]
    return kernel, f"[{', '.join(found) or 'neither parallel nor vectorised'}] {schedule.steps()}"


def _theirs(contender: str, text: str, threads: int, *, reassociate: bool) -> tuple[Call, str]:
    """The text itself, compiled; the function as ctypes calls it."""
    if reason := compilers.missing(contender):
        raise Unavailable(reason)
    count = 1 if contender == "sequential" else threads
    line = compilers.COMPILERS[contender].line(count, reassociate=reassociate)
    library = Path(mkdtemp(prefix="workbench-bench-")) / "kernel.so"
    if said := compilers.compiled(line, text, library):
        raise RuntimeError(said)
    name = re.search(r"\bvoid\s+(\w+)\s*\(", text)
    assert name
    function = getattr(ctypes.CDLL(str(library)), name[1])
    function.restype = None
    floats = re.findall(r"\bfloat\s+\w+\s*[,)]", text)
    number = ctypes.c_float if floats else ctypes.c_double

    def call(*arguments: Any) -> None:
        function(*(_passed(a, number) for a in arguments))

    return call, f"{compilers.version(contender)}: {' '.join(line[1:])}"


def _passed(value: Any, number: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_int(value) if isinstance(value, int) else number(value)


if __name__ == "__main__":
    serve(Bench(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]))

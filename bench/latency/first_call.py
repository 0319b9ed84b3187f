"""From `import workbench` to the first result, step by step; run in a fresh process, prints JSON.

    python -m bench.latency.first_call

An audit hook tells when the compiler starts and when its library is loaded, so nothing of the library has to be
taken apart to see it.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from typing import Any

TEXT = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
SIZE = 512
MARKS: list[tuple[str, float]] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Note when a process starts and when a library is loaded."""
    if event == "subprocess.Popen":
        MARKS.append(("compiler starts", time.perf_counter()))
    elif event == "ctypes.dlopen" and str(arguments[0]).endswith((".so", ".dylib")):
        MARKS.append(("library loaded", time.perf_counter()))


def steps() -> dict[str, float]:
    """Seconds of each step, in order; the compiler has no step if the kernel came from the cache."""
    times = [("", time.perf_counter())]

    def mark(name: str) -> None:
        times.append((name, time.perf_counter()))

    import workbench as wb

    mark("import workbench")
    import numpy as np

    from workbench.runtime.compilers.discovery import preferred_toolchain

    assert wb.runtime, "a room is loaded when it is named, and with it those before"
    mark("load the rooms, NumPy and islpy")
    preferred_toolchain()
    mark("ask the compiler what it can do")
    A = B = np.ones((SIZE, SIZE), np.float32)
    operator = wb.operator(TEXT)
    sys.addaudithook(_watch)
    result = operator(A, B)
    done = time.perf_counter()
    assert float(result[0, 0]) == SIZE
    return {**_differences(times), **_of_the_call(times[-1][1], done), "all of it": done - times[0][1]}


def _differences(times: list[tuple[str, float]]) -> dict[str, float]:
    return {name: end - start for (_, start), (name, end) in pairwise(times)}


def _of_the_call(start: float, done: float) -> dict[str, float]:
    """The steps of the first call, from what the hook saw."""
    starts = [at for name, at in MARKS if name == "compiler starts"]
    loaded = [at for name, at in MARKS if name == "library loaded" and (not starts or at > starts[-1])]
    if not starts:
        return {"from text to C, and the library from the cache": loaded[0] - start, "call": done - loaded[0]}
    return {"from text to C": starts[-1] - start, "compiler": loaded[0] - starts[-1], "call": done - loaded[0]}


if __name__ == "__main__":
    print(json.dumps(steps()))

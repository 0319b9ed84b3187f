"""What a call costs above the kernel itself; run in a process of its own, prints JSON.

    python -m bench.latency.call_overhead ROUNDS SECONDS

The raw call is a loop in C around the same function with prepared pointers.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import workbench as wb
from bench.timing import batches
from workbench.runtime import CompiledKernel

# Small enough that the kernel does not hide the call.
OPERATORS = {"matmul": {"M": 16, "N": 16, "K": 16}, "mlp1": {"B": 8, "M": 16, "N": 16}}
LOOPS = 64

Array = np.ndarray[Any, Any]


def raw_call(kernel: CompiledKernel, arrays: list[Array], sizes: dict[str, int]) -> Callable[[], Any]:
    """`LOOPS` calls of the compiled function by a loop in C (arrays are inputs, then outputs; no scalars)."""
    data = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    values = (ctypes.c_int64 * (len(arrays) + 1))()
    layout = kernel.layout(sizes)

    def call() -> Any:
        addresses = ctypes.addressof(data), ctypes.addressof(values), layout.symbols_address
        return kernel.border.repeat(*addresses, 1, LOOPS)

    return call


def forms(name: str, sizes: dict[str, int], *, symbolic: bool) -> dict[str, Callable[[], Any]]:
    """Every way to call an operator."""
    op = getattr(wb.ops, name)
    arrays = wb.ops.sample_arrays(op, **sizes)
    result = op(*arrays)
    schedule = wb.schedule(op) if symbolic else op.plan(*arrays).schedule
    kernel = wb.build(schedule)
    out = np.zeros_like(result)
    raw = raw_call(kernel, [*arrays, out], sizes)
    assert raw() == 0
    assert np.allclose(out, result, rtol=1e-4, atol=1e-4)
    calls = {"kernel(A, B)": partial(kernel, *arrays), "kernel(A, B, out=C)": partial(kernel, *arrays, out=out)}
    if not symbolic:
        calls |= {"op(A, B)": partial(op, *arrays), "op(A, B, out=C)": partial(op, *arrays, out=out)}
    return {"raw": raw, **calls}


def main(rounds: int, seconds: float) -> None:
    """Seconds above the raw call: group → form → a list for each round."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for name, sizes in OPERATORS.items():
        for symbolic in (False, True):
            calls = forms(name, sizes, symbolic=symbolic)
            group = f"{name} {'x'.join(map(str, sizes.values()))}{', symbolic kernel' if symbolic else ''}"
            found[group] = _in_turns(calls, rounds, seconds)
    print(json.dumps(found))


def _in_turns(calls: dict[str, Callable[[], Any]], rounds: int, seconds: float) -> dict[str, list[list[float]]]:
    times: dict[str, list[list[float]]] = {form: [] for form in calls}
    for _ in range(rounds):
        raw = [t / LOOPS for t in batches(calls["raw"], seconds)[0]]
        median = statistics.median(raw)
        times["raw"].append(raw)
        for form, call in calls.items():
            if form != "raw":
                times[form].append([t - median for t in batches(call, seconds)[0]])
    return times


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))

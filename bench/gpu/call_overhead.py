"""What a call on CUDA tensors costs the host, beside PyTorch's own operators; prints JSON.

    python -m bench.gpu.call_overhead ROUNDS

Microseconds of a call, medians of the rounds; contenders alternate.  Arrays are so small that the GPU is done before
the next call comes, and calls are few enough between two waits that none waits for a place in the queue.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import torch

import workbench as wb
from workbench.runtime.gpu.gpu_kernel import GpuKernel

CALLS = 300
SIZES = {"matmul": {"M": 64, "N": 64, "K": 64}, "softmax": {"M": 64, "N": 128}}
EAGER: dict[str, Callable[..., Any]] = {"matmul": torch.matmul, "softmax": partial(torch.softmax, dim=1)}


def seconds(call: Callable[[], Any]) -> float:
    """Of one call, on the host."""
    torch.cuda.synchronize()
    begin = perf_counter()
    for _ in range(CALLS):
        call()
    found = (perf_counter() - begin) / CALLS
    torch.cuda.synchronize()
    return found


def contenders(name: str) -> dict[str, Callable[[], Any]]:
    """The ways to call an operator, after each has given the right result."""
    op, sizes = wb.ops.load(name), SIZES[name]
    arrays = [torch.from_numpy(a).cuda() for a in wb.ops.sample_arrays(op, **sizes)]
    schedule = wb.autoschedule(op, "cuda", sizes=sizes)
    kernel, registered = wb.build(schedule, target="cuda"), wb.export.torch(schedule, namespace="wb_bench")
    assert isinstance(kernel, GpuKernel)
    wanted = EAGER[name](*arrays)
    out = torch.empty_like(wanted)
    calls = {
        "kernel(out=)": partial(kernel, *arrays, out=out), "kernel()": partial(kernel, *arrays),
        "prepared": kernel.prepared(*arrays, out=out), "torch.ops": partial(registered, *arrays),
        "eager": partial(EAGER[name], *arrays),
    }  # fmt: skip
    for call in calls.values():
        torch.testing.assert_close(call(), wanted, rtol=1e-3, atol=1e-3)
    return calls


def main(rounds: int) -> dict[str, dict[str, float]]:
    """Operator → contender → microseconds."""
    found: dict[str, dict[str, float]] = {}
    with torch.no_grad():
        for name in SIZES:
            calls = contenders(name)
            each = [{form: seconds(call) for form, call in calls.items()} for _ in range(rounds)]
            found[name] = {form: round(1e6 * statistics.median(r[form] for r in each), 2) for form in calls}
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 15), indent=1))

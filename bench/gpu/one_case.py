"""One case on the GPU: this project and its peers, as JSON.  `python -m bench.gpu.one_case NAME FILE`, in a process of
its own; FILE is whole after each contender.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import workbench as wb
from bench.gpu.cases import CASES, GpuCase
from bench.gpu.results import Entry
from bench.peers import torch_peers
from workbench import ops
from workbench.target_gpus import GPUS

Call = Callable[[], Any]
BATCH_SECONDS, MEASURED_SECONDS = 5e-3, 0.3
IN_GRAPH = 10
SHOWN = 800


def device_seconds(call: Call, per_call: int = 1) -> float:
    """Median time between two events around calls, divided by what one call contains."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    one = max(_between(call, 1), 1e-6)
    times = max(1, round(BATCH_SECONDS / one))
    batches = max(5, min(100, round(MEASURED_SECONDS / (one * times))))
    return statistics.median(_between(call, times) / times for _ in range(batches)) / per_call


def _between(call: Call, times: int) -> float:
    begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begun.record()
    for _ in range(times):
        call()
    ended.record()
    torch.cuda.synchronize()
    return begun.elapsed_time(ended) * 1e-3


def wall_seconds(call: Call) -> float:
    """Median time of a call until its result is there."""
    times = []
    for _ in range(30):
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def in_graph(call: Call) -> Call:
    """Several calls captured once and replayed: without the time that the processor takes to start them."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(IN_GRAPH):
            call()
    return graph.replay


def copy_bytes_per_second() -> float:
    """Bytes read and written a second by a copy of 1 GiB on the device."""
    source = torch.empty(1 << 28, device="cuda").normal_()
    target = torch.empty_like(source)
    return 2 * source.nbytes / device_seconds(lambda: target.copy_(source))


class Measured:
    """The entry of a case, written after each contender."""

    def __init__(self, case: GpuCase, file: Path) -> None:
        self.case, self.file = case, file
        self.entry: Entry = {"device_us": {}, "wall_us": {}, "error": {}, "missing": {}}

    def save(self) -> None:
        """Write what is known."""
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(self.entry), encoding="utf-8")
        partial.replace(self.file)

    def contender(self, name: str, make: Callable[[], tuple[Call, int]], wanted: Any = None) -> None:
        """Measure what `make` gives, a call and how many are in it; what fails is told."""
        try:
            call, per_call = make()
            result = call()
            torch.cuda.synchronize()
            if wanted is not None:
                self.entry["error"][name] = relative_error(result, wanted)
            self.entry["device_us"][name] = device_seconds(call, per_call) * 1e6
            if per_call == 1:
                self.entry["wall_us"][name] = wall_seconds(call) * 1e6
        except Exception as reason:  # one contender's trouble is not the others'
            self.entry["missing"][name] = f"{type(reason).__name__}: {reason}"[:SHOWN]
            traceback.print_exc()
        self.save()


def relative_error(found: Any, wanted: Any) -> float:
    """Largest difference relative to the largest magnitude."""
    pairs = zip(_several(found), _several(wanted), strict=True)
    return max(
        float((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1e-30)) if b.numel() else 0.0
        for a, b in pairs
    )


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def arguments(case: GpuCase) -> tuple[Any, ...]:
    """Arrays on the GPU and scalars, in the operator's order."""
    op = ops.load(case.operator)
    given = ops.sample_arrays(op, seed=7, **case.sizes)
    return tuple(_tensor(value) if getattr(value, "ndim", 0) else _number(value) for value in given)


def _number(value: Any) -> Any:
    """A number of Python, which PyTorch's functions want where NumPy has an array of rank 0."""
    return value.item() if hasattr(value, "item") else value


def _tensor(array: Any) -> torch.Tensor:
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16).cuda()
    return torch.from_numpy(array).cuda()


def gpu_target() -> str:
    """The name of this GPU among those the workbench knows, "cuda" otherwise."""
    name = torch.cuda.get_device_name().lower().replace(" ", "")
    return next((known for known in sorted(GPUS, key=len, reverse=True) if known in name), "cuda")


def measure(case: GpuCase, file: Path) -> None:
    """All contenders of a case; the first result of PyTorch in double precision is what the others should be."""
    measured = Measured(case, file)
    given = arguments(case)
    peer = getattr(torch_peers, case.torch)
    wanted = _wanted(peer, given)
    ours = _ours(case, given, measured)
    measured.contender("workbench", lambda: (ours(), 1), wanted)
    measured.contender("workbench, graph", lambda: (in_graph(ours()), IN_GRAPH))
    measured.contender("eager", lambda: (lambda: peer(*given), 1), wanted)
    measured.contender("eager, graph", lambda: (in_graph(lambda: peer(*given)), IN_GRAPH))
    if case.triton:
        measured.contender("triton", lambda: (_triton(case, given), 1), wanted)
    measured.contender("compiled", lambda: (_compiled(peer, given), 1), wanted)
    finish(measured)


def _wanted(peer: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    wide = tuple(a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in given)
    try:
        return peer(*wide)
    except (RuntimeError, TypeError):
        return peer(*given)


def _ours(case: GpuCase, given: tuple[Any, ...], measured: Measured) -> Callable[[], Call]:
    """A function that gives the call of this project's kernel, built once."""
    built: list[Call] = []

    def call() -> Call:
        if not built:
            started = time.perf_counter()
            schedule = wb.autoschedule(ops.load(case.operator), gpu_target(), sizes=case.sizes)
            scheduled = time.perf_counter()
            kernel = wb.build(schedule, target=gpu_target(), unchecked=True)
            program = wb.lower(ops.load(case.operator), sizes=case.sizes)
            measured.entry |= {
                "schedule": schedule.python(), "schedule_seconds": scheduled - started,
                "build_seconds": time.perf_counter() - scheduled, "resources": str(kernel.resources),  # type: ignore[attr-defined]
                "bytes": wb.poly.bytes(program), "flops": wb.poly.flops(program),
            }  # fmt: skip
            out = kernel(*given)
            built.append(lambda: kernel(*given, out=out))
        return built[0]

    return call


def _compiled(peer: Callable[..., Any], given: tuple[Any, ...]) -> Call:
    function = torch.compile(peer, mode="max-autotune", dynamic=False)
    return lambda: function(*given)


def _triton(case: GpuCase, given: tuple[Any, ...]) -> Call:
    from bench.gpu import triton_peers

    function = getattr(triton_peers, case.triton)
    return lambda: function(*given)


def finish(measured: Measured) -> None:
    """The ratios."""
    entry, times = measured.entry, measured.entry["device_us"]
    ours = min((t for name, t in times.items() if name.startswith("workbench")), default=None)
    peers = {name: t for name, t in times.items() if not name.startswith("workbench")}
    right = entry["error"].get("workbench", 1.0) <= measured.case.tolerance
    if ours is not None and not right:
        entry["failed"] = f"the result differs from PyTorch's: {entry['error'].get('workbench')}"
    if ours is None:
        entry["failed"] = entry["missing"].get("workbench", "not measured")
    elif right and peers:
        entry["against_eager"] = times["eager"] / ours if "eager" in times else None
        entry["against_best"] = min(peers.values()) / ours
        if measured.case.memory_bound:
            entry["copy_gbs"] = copy_bytes_per_second() / 1e9
            entry["of_copy"] = entry["bytes"] / (ours * 1e-6) / (entry["copy_gbs"] * 1e9)
    measured.save()


if __name__ == "__main__":
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    measure(next(case for case in CASES if case.name == sys.argv[1]), Path(sys.argv[2]))

"""The process of one contender of `bench.models`: a whole network, prepared, checked and timed on request.

    python -m bench.models.worker CONTENDER THREADS
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

import workbench as wb
from bench.models.networks import network
from bench.timing import batches
from bench.workers.prepared import Unavailable
from bench.workers.serving import Server, serve

Call = Callable[[], Any]


class ModelsBench(Server):
    """One contender with the network that it was asked to prepare last."""

    def __init__(self, contender: str, threads: int) -> None:
        self.make, self.threads, self.call = CONTENDERS[contender], threads, None
        torch.set_num_threads(threads)
        self.before = kilobytes("VmRSS")

    def prepare(self, **request: Any) -> dict[str, Any]:
        """Make the callable and call it once."""
        module, x = network(request["network"])
        begin = time.perf_counter()
        with torch.no_grad():
            self.call, facts = self.make(module, x, self.threads)
            self.result = self.call()
        return {"first_seconds": time.perf_counter() - begin, **facts}

    def results(self, file: Path) -> dict[str, Any]:
        """Its result, as an array."""
        np.save(file, np.asarray(self.result))
        return {}

    def time(self, **request: Any) -> dict[str, Any]:
        """Seconds of each batch of calls."""
        assert self.call is not None
        forget_peak()
        with torch.no_grad():
            times, calls = batches(self.call, request["seconds"], request["seconds"] / 4)
        peak = kilobytes("VmHWM")
        return {"batches": times, "calls": calls, "peak_kilobytes": peak, "own_kilobytes": peak - self.before}


def kilobytes(field: str) -> int:
    """What Linux says of this process: VmRSS is what it holds, VmHWM the most that it held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0])


def forget_peak() -> None:
    """From here on VmHWM counts anew: what was needed to compile does not count."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _ours(module: torch.nn.Module, x: torch.Tensor, threads: int) -> tuple[Call, dict[str, Any]]:
    built = wb.build(wb.optimize(wb.from_torch(module, x)), threads=threads)
    built(x)
    (program,) = built.programs
    facts = {"profile": str(built.profile(x)), "arena_bytes": program.arena.bytes, "program": str(program)}
    return lambda: built(x), facts


def _eager(module: torch.nn.Module, x: torch.Tensor, threads: int) -> tuple[Call, dict[str, Any]]:
    return lambda: module(x), {}


def _compiled(module: torch.nn.Module, x: torch.Tensor, threads: int) -> tuple[Call, dict[str, Any]]:
    compiled = torch.compile(module)
    return lambda: compiled(x), {}


def _onnxruntime(module: torch.nn.Module, x: torch.Tensor, threads: int) -> tuple[Call, dict[str, Any]]:
    try:
        import onnxruntime
    except ImportError:
        raise Unavailable("onnxruntime is not installed") from None
    file = io.BytesIO()
    torch.onnx.export(module, (x,), file, dynamo=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
    given = {session.get_inputs()[0].name: x.numpy()}
    return lambda: session.run(None, given)[0], {}


CONTENDERS = {"workbench": _ours, "eager": _eager, "torch.compile": _compiled, "onnxruntime": _onnxruntime}

if __name__ == "__main__":
    serve(ModelsBench(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]))

"""The process of a peer in an environment of its own: `python -m bench.workers.foreign_worker CONTENDER THREADS`.

Answers the requests of `bench.workers.worker` without the workbench: arguments come in a file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bench.timing import batches
from bench.workers.placing import placed
from bench.workers.prepared import Unavailable
from bench.workers.serving import SETTLE_SECONDS, Server, serve

# Contender → the module with `prepare(name, arguments, threads)`: what to call, how to see its results, what it is.
MODULES = {
    "jax": "bench.peers.jax_peers",
    "onnxruntime": "bench.peers.onnx_peers",
    "halide": "bench.peers.halide_peers",
    "tvm": "bench.peers.tvm_peers",
}


class Bench(Server):
    """One prepared case of a peer."""

    def __init__(self, contender: str, threads: int) -> None:
        self.contender = contender
        self.threads = threads
        self.call: Callable[[], Any] | None = None
        self.arrays: Callable[[Any], list[Any]] = list

    def prepare(self, case: dict[str, Any], arguments: str) -> dict[str, Any]:
        """Make what is called, and call it once."""
        module = import_module(MODULES[self.contender])
        names = [n for n in (case["operator"], *case["torch"].split()) if hasattr(module, n)]
        if not names:
            raise Unavailable("has no such operator here")
        start = time.perf_counter()
        self.call, self.arrays, about = module.prepare(names[0], loaded(Path(arguments)), self.threads)
        self.call()
        return {"first_seconds": time.perf_counter() - start, "function": about}

    def results(self, file: Path) -> dict[str, Any]:
        """Write the results into a file."""
        arrays = self.arrays(self._call()())
        np.savez(file, allow_pickle=False, **{f"a{n}": a for n, a in enumerate(arrays)})
        return {"forms": 1}

    def time(self, form: str, seconds: float) -> dict[str, Any]:
        """Time the call; there is only the form that allocates."""
        if form != "fresh":
            raise Unavailable("has no preallocated form")
        time.sleep(SETTLE_SECONDS)
        times, calls = batches(self._call(), seconds, warm_up_seconds=0.2 * seconds)
        return {"times": times, "calls": calls}

    def _call(self) -> Callable[[], Any]:
        if self.call is None:
            raise Unavailable("nothing is prepared")
        return self.call


def saved(arguments: list[Any], file: Path) -> None:
    """Arguments in their order; numbers that are no arrays are marked."""
    named = {f"{'a' if isinstance(a, np.ndarray) else 's'}{n:03}": np.asarray(a) for n, a in enumerate(arguments)}
    np.savez(file, allow_pickle=False, **named)


def loaded(file: Path) -> list[Any]:
    """What `saved` wrote."""
    with np.load(file) as arrays:
        names = sorted(arrays.files, key=lambda name: name[1:])
        return [placed(arrays[n]) if n.startswith("a") else arrays[n].item() for n in names]


if __name__ == "__main__":
    serve(Bench(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]))

"""The process of one contender: `python -m bench.worker CONTENDER THREADS` reads requests, answers each with a line.

Requests are lines of JSON; the answer goes to what standard output was at the start, so that nothing a library
prints can come between.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from bench.contenders import prepare
from bench.pinning import pin
from bench.prepared import Prepared, Unavailable
from bench.suite import Case
from bench.timing import batches

# Threads of other contenders may still spin at a barrier when their turn has ended.
SETTLE_SECONDS = 0.03


class Bench:
    """What is on the bench of this process: one prepared case."""

    def __init__(self, contender: str, threads: int) -> None:
        self.contender = contender
        self.threads = threads
        self.prepared: Prepared | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request says."""
        match request.pop("do"):
            case "prepare":
                return self.prepare(Case(**request["case"]))
            case "results":
                return self.results(Path(request["file"]))
            case "time":
                return self.time(**request)
            case unknown:
                raise ValueError(f"unknown request {unknown!r}")

    def prepare(self, case: Case) -> dict[str, Any]:
        """Prepare a case; what was on the bench before is gone."""
        self.prepared = None
        self.prepared = prepare(self.contender, case, self.threads)
        return {"first_seconds": self.prepared.first_seconds, "function": self.prepared.function}

    def results(self, file: Path) -> dict[str, Any]:
        """Write the results of both forms into a file."""
        ours = self._prepared()
        forms = [ours.fresh()] + ([ours.preallocated()] if ours.preallocated else [])
        arrays = [array for form in forms for array in ours.arrays(form)]
        named = {f"a{n}": a if a.dtype.kind in "fiub" else a.astype(np.float32) for n, a in enumerate(arrays)}
        np.savez(file, allow_pickle=False, **named)
        return {"forms": len(forms)}

    def time(self, form: str, seconds: float) -> dict[str, Any]:
        """Time one form, "fresh" or "preallocated"."""
        call = self._prepared().fresh if form == "fresh" else self._prepared().preallocated
        if call is None:
            raise Unavailable("has no preallocated form")
        time.sleep(SETTLE_SECONDS)
        times, calls = batches(call, seconds, warm_up_seconds=0.2 * seconds)
        return {"times": times, "calls": calls}

    def _prepared(self) -> Prepared:
        if self.prepared is None:
            raise Unavailable("nothing is prepared")
        return self.prepared


def _safely(bench: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return bench.answer(request)
    except (Unavailable, NotImplementedError) as reason:
        return {"unavailable": str(reason)}
    except Exception as reason:  # whatever a library raises is an outcome of the benchmark, not its end
        traceback.print_exc()
        lines = f"{type(reason).__name__}: {reason}".strip().splitlines()
        return {"failed": lines[0][:300]}


def serve(bench: Any, threads: int) -> None:
    """Let something with a method `answer` answer until there are no more requests."""
    pin(threads)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(_safely(bench, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(Bench(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]))

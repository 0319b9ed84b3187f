"""The process of one contender: `python -m bench.workers.worker CONTENDER THREADS`.

Requests are lines of JSON, each is answered with a line; the answer goes to what standard output was at the start, so
that nothing a library prints can come between.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.contenders import prepare
from bench.suite import Case
from bench.timing import batches
from bench.workers.prepared import Prepared, Unavailable
from bench.workers.serving import SETTLE_SECONDS, Server, serve


class Bench(Server):
    """What is on the bench of this process: one prepared case."""

    def __init__(self, contender: str, threads: int) -> None:
        self.contender = contender
        self.threads = threads
        self.prepared: Prepared | None = None

    def prepare(self, case: dict[str, Any]) -> dict[str, Any]:
        """Prepare a case; what was on the bench before is gone."""
        self.prepared = None
        self.prepared = prepare(self.contender, Case(**case), self.threads)
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


if __name__ == "__main__":
    serve(Bench(sys.argv[1], int(sys.argv[2])), int(sys.argv[2]))

"""A worker's end of the conversation: lines of JSON in, lines of JSON out.  Imports nothing of the workbench, so that a
peer's own environment can run it.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from bench.workers.prepared import Unavailable
from bench.workers.processors import pin, round_trip

# Threads of other contenders may still spin at a barrier when their turn has ended.
SETTLE_SECONDS = 0.03


class Server:
    """What requests ask for, by the methods of a worker's bench."""

    threads = 1

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request says."""
        match request.pop("do"):
            case "prepare":
                return self.prepare(**request)
            case "results":
                return self.results(Path(request["file"]))
            case "time":
                return self.time(**request) | ({"round_trip": round_trip()} if self.threads > 1 else {})
            case unknown:
                raise ValueError(f"unknown request {unknown!r}")

    def prepare(self, **request: Any) -> dict[str, Any]:
        """Make what is called."""
        raise NotImplementedError

    def results(self, file: Path) -> dict[str, Any]:
        """Write the results into a file."""
        raise NotImplementedError

    def time(self, **request: Any) -> dict[str, Any]:
        """Call it for a while."""
        raise NotImplementedError


def serve(bench: Server, threads: int) -> None:
    """Let a bench answer until there are no more requests."""
    pin(threads)
    bench.threads = threads
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(_safely(bench, json.loads(line))) + "\n")
        answers.flush()


def _safely(bench: Server, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return bench.answer(request)
    except (Unavailable, NotImplementedError) as reason:
        return {"unavailable": str(reason)}
    except Exception as reason:  # whatever a library raises is an outcome of the benchmark, not its end
        traceback.print_exc()
        lines = f"{type(reason).__name__}: {reason}".strip().splitlines()
        return {"failed": lines[0][:300]}

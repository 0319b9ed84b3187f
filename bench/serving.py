"""A worker's end of the conversation: lines of JSON in, lines of JSON out.  Imports nothing of the workbench, so that a
peer's own environment can run it.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

from bench.pinning import pin
from bench.prepared import Unavailable

# Threads of other contenders may still spin at a barrier when their turn has ended.
SETTLE_SECONDS = 0.03


def serve(bench: Any, threads: int) -> None:
    """Let something with a method `answer` answer until there are no more requests."""
    pin(threads)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(_safely(bench, json.loads(line))) + "\n")
        answers.flush()


def _safely(bench: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return bench.answer(request)
    except (Unavailable, NotImplementedError) as reason:
        return {"unavailable": str(reason)}
    except Exception as reason:  # whatever a library raises is an outcome of the benchmark, not its end
        traceback.print_exc()
        lines = f"{type(reason).__name__}: {reason}".strip().splitlines()
        return {"failed": lines[0][:300]}

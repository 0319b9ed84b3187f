"""How long each compiler takes for a kernel; run in a process of its own, prints JSON.

    python -m bench.latency.build_times ROUNDS

Each round compiles a text that differs in a comment, so that nothing comes from the cache.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

import workbench as wb
from bench.contenders import arguments_of, operator_of
from bench.suite import BUILD_CASES, CASES, Case
from workbench.runtime.compilers.discovery import every_toolchain


def build_seconds(case: Case, compiler: str, number: int) -> float:
    """Seconds of one compiler run, with loading."""
    with wb.settings(compiler=compiler):
        op: Any = operator_of(case)
        plan = op.plan(*arguments_of(case))
        kernel = wb.generate(plan.schedule, plan.target)
        other = replace(kernel, source=f"{kernel.source}\n/* {number} */\n")
        start = time.perf_counter()
        wb.build(other)
        return time.perf_counter() - start


def main(rounds: int) -> None:
    """Compiler → case → seconds of each round."""
    found: dict[str, dict[str, list[float]]] = {}
    twice = wb.operator("def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }")
    for toolchain in every_toolchain():
        with wb.settings(compiler=toolchain.family):
            twice(np.ones(5, np.float32))  # zig builds its runtime library once
        cases = [case for case in CASES if case.name in BUILD_CASES]
        found[toolchain.family] = {
            case.name: [build_seconds(case, toolchain.family, n) for n in range(rounds)] for case in cases
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))

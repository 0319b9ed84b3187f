"""Questions a person asks of a schedule, for a convolution of seven loops; run in a fresh process, prints JSON.

    python -m bench.latency.stepping ROUNDS

Each round has indices of other names, so that nothing remembered from an earlier one helps.  Beside them, for each
storage and instance step, its wall and CPU seconds on several operators, which `python -m bench.latency.step_kinds`
prints.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import workbench as wb
from bench.latency import step_kinds
from workbench.schedules import Schedule, Transform

BOUND = {"N": 2, "C": 64, "H": 58, "W": 58, "F": 64, "KH": 3, "KW": 3}


def text(number: int) -> str:
    """The convolution, its indices numbered."""
    n, f, y, x, c, h, w = (f"{name}{number}" for name in ("n", "f", "p", "q", "c", "kh", "kw"))
    return f"""
def conv_{number}(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) {{
    O({n},{f},{y},{x}) +=! I({n},{c},{y}+{h},{x}+{w}) * K({f},{c},{h},{w})
}}"""


def order_steps(k: int, sizes: tuple[int, ...]) -> list[Transform]:
    """Steps that change only the order, on the decomposed convolution; legal ones and one that is not."""
    return [
        wb.tile({f"O/f{k}": sizes[0], f"O/p{k}": sizes[1], f"O/q{k}": sizes[2], f"O/c{k}": sizes[3]}),
        wb.split(f"O/q{k}", sizes[4]),
        wb.interchange(f"O/c{k}", f"O/q{k}"),
        wb.parallelize(f"O/f{k}"),
        wb.vectorize(f"O/q{k}"),
        wb.parallelize(f"O/c{k}"),
    ]


def storage_steps(k: int) -> list[Transform]:
    """Steps that change instances or storage, as far as there are any, on the tiled convolution."""
    known = {"stage": ("I", f"c{k}_o"), "split_reduction": (f"O/kh{k}", 2)}
    return [getattr(wb, name)(*arguments) for name, arguments in known.items() if name in Transform.known]


def asked(number: int, sizes: dict[str, int]) -> dict[str, list[float]]:
    """Seconds of each question."""
    seconds: dict[str, list[float]] = {}

    def timed(name: str, function: Callable[..., Any]) -> Any:
        start = time.perf_counter()
        result = function()
        seconds.setdefault(name, []).append(time.perf_counter() - start)
        return result

    start = wb.schedule(wb.operator(text(number)), sizes=sizes) | wb.decompose_reduction("O")
    for step in order_steps(number, (16, 4, 8, 16, 8)):
        if timed("can: an order step on the naive order", lambda step=step: start.can(step)):
            timed("new C text after a step", lambda after=start | step: wb.generate(after, "c"))
    tiled = start | order_steps(number, (16, 4, 8, 16, 8))[0]
    for step in order_on_tiled(number):
        timed("can: an order step on tiles", lambda step=step: tiled.can(step))
    fresh: Schedule = wb.schedule(wb.operator(text(number + 1000)), sizes=sizes) | wb.decompose_reduction("O")
    for step in order_steps(number + 1000, (8, 2, 24, 32, 16)):
        timed("legality of an order step", lambda step=step: _taken(fresh, step))
    for step in storage_steps(number):
        timed(f"legality of {step.name}", lambda step=step: _taken(tiled, step))
    timed("a refusal with its repair", lambda: _refused(tiled, f"O/kh{number}"))
    timed("all steps that may come next", lambda: wb.next_steps(tiled))
    record = timed("to JSON", tiled.to_json)
    operator = tiled.original.definition
    timed("from JSON", lambda: wb.Schedule.from_json(operator, record))
    return seconds


def order_on_tiled(k: int) -> list[Transform]:
    """What one does with tiles."""
    return [
        wb.parallelize(f"f{k}_o"), wb.vectorize(f"q{k}_i"), wb.unroll(f"O/kh{k}"), wb.split(f"f{k}_i", 4),
        wb.interchange(f"c{k}_o", f"q{k}_o"), wb.tile({f"f{k}_i": 4, f"p{k}_i": 2}), wb.parallelize(f"c{k}_o"),
    ]  # fmt: skip


def _taken(schedule: Schedule, step: Transform) -> None:
    with suppress(wb.errors.IllegalSchedule):
        _ = schedule | step


def _refused(schedule: Schedule, loop: str) -> str:
    try:
        _ = schedule | wb.parallelize(loop)
    except wb.errors.IllegalSchedule as error:
        return str(error)
    raise AssertionError(f"{loop} is a reduction; its iterations race")


def main(rounds: int) -> None:
    """Bound and symbolic sizes; the first round warms the process up and does not count."""
    asked(999, BOUND)
    bound = [asked(number, {**BOUND, "N": 3 + number}) for number in range(rounds)]
    symbolic = [asked(100 + number, {}) for number in range(rounds)]
    kinds = {kind: times.taken for kind, times in step_kinds.measured(1 + rounds // 5).items()}
    print(json.dumps({"questions": {"bound": bound, "symbolic": symbolic}, "steps": kinds}))


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Backward operators against PyTorch's own backward: `python -m bench.backward`, one and two threads in one run.

"workbench" is `wb.grad` of an operator of the library: forward inputs and the derivatives by the results go in, and
what it needs of the values between is computed again inside.  "workbench/saved" is given those values, as PyTorch
keeps them from its forward run.  "torch" is `torch.autograd.grad` over a graph that stands before the timing begins;
gradients by numbers (an epsilon) are asked of nobody.  Writes JSON and a page as `python -m bench` does; the geometric
means of the ratios stand in their settings.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench import facts
from bench.backward.cases import OURS, SAVED, TORCH, cases
from bench.page import leave
from bench.record import OUT, RESULTS, Comparison, Record
from bench.rounds import Effort, compare, worker_pool
from bench.table import ratio

FULL, QUICK = Effort(rounds=7, seconds=0.3), Effort(rounds=2, seconds=0.02)
WANTED, LEAST = 0.9, 0.6
"""The geometric mean of PyTorch's times over ours that is aimed at, and what no case is to fall below."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 if results differed or something failed."""
    options = _options(arguments)
    chosen = [case for case in cases() if not options.filters or any(f in case.name for f in options.filters)]
    effort = Effort(options.rounds or options.effort.rounds, options.seconds or options.effort.seconds)
    before, rows = facts.load(), list[Comparison]()
    for threads in options.threads:
        with worker_pool((OURS, SAVED, TORCH), threads, module="bench.backward.worker") as workers:
            for case in chosen:
                rows.append(compare(case, workers, effort))
                _say(f"{threads} threads, {case.name}: torch {ratio(_torch_over_ours(rows[-1]))}")
    settings = {**asdict(effort), "quick": options.quick, **_summary(rows)}
    load = {"before": before, "after": facts.load()}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = Record(facts.machine(), facts.software(), settings, load, tuple(rows), now)
    leave(record, options.output or (OUT if options.quick else RESULTS), "-backward")
    return int(any(r.missing.startswith(("failed", "differs")) for row in rows for r in row.results.values()))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.backward", description=__doc__)
    add = parser.add_argument
    add("filters", nargs="*", help="parts of names of cases; all cases if none")
    add("--quick", action="store_true", help="few and short rounds, into bench/out")
    add("--threads", type=_numbers, default=(1, 2), help="numbers of threads, with commas: 1,2")
    add("--rounds", type=int, help=f"turns for each contender ({FULL.rounds})")
    add("--seconds", type=float, help=f"length of a turn ({FULL.seconds})")
    add("--output", type=Path, help="folder for the JSON and the page")
    options = parser.parse_args(arguments)
    if not 1 <= min(options.threads) <= max(options.threads) <= facts.machine()["cores"]:
        parser.error(f"--threads takes numbers up to {facts.machine()['cores']}")
    options.effort = QUICK if options.quick else FULL
    return options


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _summary(rows: Sequence[Comparison]) -> dict[str, str]:
    """PyTorch's time over ours for each number of threads: geometric mean, and the least with its case."""
    found: dict[str, str] = {}
    for threads in dict.fromkeys(row.threads for row in rows):
        known = {r.case: value for r in rows if r.threads == threads and (value := _torch_over_ours(r)) is not None}
        if known:
            mean, least = statistics.geometric_mean(known.values()), min(known, key=lambda case: known[case])
            words = f"{ratio(mean)} (aim {WANTED}), least {ratio(known[least])} (aim {LEAST}; {least})"
            found[f"geometric mean of torch / ours with {threads} thread{'s' * (threads > 1)}"] = words
    return found


def _torch_over_ours(row: Comparison) -> float | None:
    return row.ratios.get(TORCH, {}).get("fresh")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    # So that processes and folders of a run that is ended from outside end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())

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
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import workbench as wb
from bench import facts
from bench.page import leave
from bench.record import OUT, RESULTS, Comparison, Record
from bench.rounds import Effort, compare, worker_pool
from bench.suite import Case
from bench.table import ratio
from workbench.lang.operator import Operator

FULL, QUICK = Effort(rounds=7, seconds=0.3), Effort(rounds=2, seconds=0.02)
OURS, SAVED, TORCH = "workbench", "workbench/saved", "torch"
WANTED, LEAST = 0.9, 0.6
"""The geometric mean of PyTorch's times over ours that is aimed at, and what no case is to fall below."""


@dataclass(frozen=True, slots=True)
class Backward:
    """An operator of the library, the inputs by which it is differentiated, and what is saved of its forward run.

    `cases` are names and sizes; `torch` is the function of `torch_peers` that is differentiated by PyTorch.
    """

    operator: str
    torch: str
    by: tuple[str, ...]
    saved: tuple[str, ...]
    memory_bound: bool
    cases: tuple[tuple[str, dict[str, int]], ...]


def _conv(n: int, c: int, size: int, f: int, k: int, stride: int = 1) -> dict[str, int]:
    picture = {"N": n, "C": c, "H": size, "W": size}
    return {**picture, "F": f, "KH": k, "KW": k, "stride": stride, "pad": k // 2, "dilation": 1}


def _depthwise(n: int, c: int, size: int, k: int) -> dict[str, int]:
    return {"N": n, "C": c, "H": size, "W": size, "KH": k, "KW": k, "stride": 1, "pad": k // 2}


OPERATORS = (
    Backward("matmul", "matmul", ("A", "B"), (), False, (
        ("matmul 1024", {"M": 1024, "N": 1024, "K": 1024}),
        ("matmul 512x3072x768", {"M": 512, "N": 3072, "K": 768}),
    )),
    Backward("conv2d", "conv2d", ("I", "K"), (), False, (
        ("conv 3x3 64x56x56 to 64", _conv(4, 64, 56, 64, 3)),
        ("conv 3x3 256x14x14 to 256", _conv(4, 256, 14, 256, 3)),
        ("conv 3x3 128x56x56 to 128, /2", _conv(4, 128, 56, 128, 3, 2)),
        ("conv 1x1 256x56x56 to 64", _conv(4, 256, 56, 64, 1)),
    )),
    Backward("depthwise_conv2d", "depthwise_conv2d", ("I", "K"), (), False, (
        ("depthwise conv 3x3 128x56x56", _depthwise(4, 128, 56, 3)),
    )),
    Backward("layer_norm", "layer_norm", ("X", "gamma", "beta"), ("total", "square"), True, (
        ("layer norm 4096x1024", {"M": 4096, "N": 1024}), ("layer norm 1024x768", {"M": 1024, "N": 768}),
    )),
    Backward("softmax", "softmax", ("X",), ("top", "Y_1", "total"), True, (
        ("softmax 4096x1024", {"M": 4096, "N": 1024}), ("softmax 6144x512", {"M": 6144, "N": 512}),
    )),
    Backward("attention", "attention", ("Q", "K", "V"), ("top", "total", "O_1"), False, (
        ("attention 8x512x64", {"B": 8, "M": 512, "N": 512, "D": 64, "E": 64}),
        ("attention 48x128x64", {"B": 48, "M": 128, "N": 128, "D": 64, "E": 64}),
    )),
    Backward("lstm_cell", "lstm_cell", ("X", "h", "c", "W", "U", "bias"), ("Z", "cell"), False, (
        ("LSTM cell 64x256", {"B": 64, "I": 256, "H": 256}), ("LSTM cell 32x512", {"B": 32, "I": 512, "H": 512}),
    )),
)  # fmt: skip


def forward(of: Backward) -> Operator:
    """The operator that is differentiated, in float32."""
    op = wb.ops.load(of.operator)
    return op.astype("float") if op.generic else op


def cases() -> tuple[Case, ...]:
    """All of them; the text of each is our gradient's."""
    return tuple(
        Case(f"{name}, backward", made.name, sizes, "", of.torch, of.memory_bound, 1e-3, made.text)
        for of in OPERATORS
        for made in [wb.grad(forward(of), of.by)]
        for name, sizes in of.cases
    )


def of_case(case: Case) -> Backward:
    """What is differentiated in a case."""
    return next(of for of in OPERATORS if f"{of.operator}_grad" == case.operator)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 1 if results differed or something failed."""
    options = _options(arguments)
    chosen = [case for case in cases() if not options.filters or any(f in case.name for f in options.filters)]
    effort = Effort(options.rounds or options.effort.rounds, options.seconds or options.effort.seconds)
    before, rows = facts.load(), list[Comparison]()
    for threads in options.threads:
        with worker_pool((OURS, SAVED, TORCH), threads, module="bench.backward_worker") as workers:
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

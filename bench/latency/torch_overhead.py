"""What a call of an exported operator costs in PyTorch beside one of ATen's; prints JSON.

    python -m bench.latency.torch_overhead ROUNDS

`call` are calls on 4 x 4 matrices, where the kernel takes no time, without gradients; contenders alternate.
`alternating` are an operator of ATen, ours and one of ATen in turn on large arrays, beside the sum of the parts:
threads of two pools would wait for one another.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

import workbench as wb

CALLS = 2000
TURNS = 1000
ADD = "def wb_add(float(M,N) A, float(M,N) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }"
PRODUCT = "def wb_mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def seconds(call: Callable[[], Any], calls: int) -> float:
    """Of one call."""
    begin = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - begin) / calls


def per_call(rounds: int) -> dict[str, float]:
    """Medians of the rounds, in microseconds, by contender."""
    A, B = torch.randn(4, 4), torch.randn(4, 4)
    ours, product = wb.export.torch(wb.operator(ADD)), wb.export.torch(wb.operator(PRODUCT))
    calls = {
        "ours, add": lambda: ours(A, B), "torch.ops.aten.add": lambda: torch.ops.aten.add(A, B),
        "torch.add": lambda: torch.add(A, B), "ours, mm": lambda: product(A, B),
        "torch.ops.aten.mm": lambda: torch.ops.aten.mm(A, B), "torch.mm": lambda: torch.mm(A, B),
    }  # fmt: skip
    with torch.no_grad():
        for call in calls.values():
            seconds(call, CALLS)
        found = [{name: seconds(call, CALLS) for name, call in calls.items()} for _ in range(rounds)]
    return {name: round(1e6 * statistics.median(each[name] for each in found), 3) for name in calls}


def alternating(threads: int) -> dict[str, float]:
    """Microseconds of a turn of three operators, and of its parts alone."""
    torch.set_num_threads(threads)
    A, B = torch.randn(256, 512), torch.randn(512, 256)
    ours = wb.export.torch(wb.operator(ADD))
    parts: dict[str, Callable[[], Any]] = {
        "relu": lambda: torch.relu(A), "ours": lambda: ours(A, A), "mm": lambda: torch.mm(A, B),
    }  # fmt: skip

    def turn() -> None:
        for part in parts.values():
            part()

    with torch.no_grad():
        seconds(turn, 50)
        alone = {name: 1e6 * seconds(part, TURNS) for name, part in parts.items()}
        together = 1e6 * seconds(turn, TURNS)
    return {**{n: round(v, 2) for n, v in alone.items()}, "turn": round(together, 2),
            "turn / sum of parts": round(together / sum(alone.values()), 3)}  # fmt: skip


def main(rounds: int) -> dict[str, Any]:
    """Everything, with what is compared."""
    torch.set_num_threads(1)
    call = per_call(rounds)
    ratios = {
        "add / torch.ops.aten.add": call["ours, add"] / call["torch.ops.aten.add"],
        "add / torch.add": call["ours, add"] / call["torch.add"],
        "mm / torch.ops.aten.mm": call["ours, mm"] / call["torch.ops.aten.mm"],
        "mm / torch.mm": call["ours, mm"] / call["torch.mm"],
    }
    return {"torch": torch.__version__, "call, microseconds": call,
            "ratios": {name: round(ratio, 3) for name, ratio in ratios.items()},
            "alternating, two threads": alternating(2)}  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 9), indent=1) + "\n")

"""python -m bench.tuning.rates: trials a second of small kernels, from the call to the end, and what the search takes.

Everything is in it: starting processes, compiling, checking and timing, and timing the finalists again.
"""

from __future__ import annotations

import sys

import workbench as wb
from bench.record import Tuned
from bench.tuning.campaign import Campaign, main
from bench.tuning.studies import alone

STENCIL = "def smooth(float(N,M) A) -> (B) { B(i,j) = 0.25 * A(i,j) + 0.5 * A(i,j+1) + 0.25 * A(i,j+2) }"

CASES = {
    "matmul 128": (wb.ops.matmul, {"M": 128, "N": 128, "K": 128}),
    "softmax 256x256": (wb.ops.softmax, {"M": 256, "N": 256}),
    "stencil of 3 points 256x258": (wb.operator(STENCIL), {"N": 256, "M": 258}),
}


def run(case: str, trials: int) -> Tuned:
    """One of the kernels."""
    name, _, more = case.partition(", ")
    operator, sizes = CASES[name]
    return alone(case, operator, sizes, int(more.split()[0]) if more else trials)


COUNTS = (64, 200)
CAMPAIGN = Campaign(
    "rates", "trials a second", 64, {f"{case}, {count} trials": case for case in CASES for count in COUNTS}, run
)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))

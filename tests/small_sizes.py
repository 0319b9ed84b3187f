"""Small awkward sizes for every operator of the library, and its default schedule there."""

from __future__ import annotations

from functools import cache

import workbench as wb
from workbench.target import Target

MACHINE = Target(vector_bits=256, isa=("avx2", "fma"), march="haswell", parallel="serial")
LARGE = (11, 9, 10)


def small_sizes(op: wb.Operator) -> dict[str, int]:
    """Sizes at which every instance can be looked at; the operator's own where its sizes depend on one another."""
    fitting = min(op.examples, key=lambda sizes: max(sizes.values()))
    if op.name in ("conv2d_weight_gradient", "kronecker3"):
        return {**fitting, **({"N": 1, "C": 2, "H": 6, "W": 7, "F": 9, "OH": 4, "OW": 5} if "OH" in fitting else {})}
    cap = 11 if len(fitting) <= 3 else 9 if len(fitting) <= 5 else 5
    return {k: v if v <= cap else min(cap, LARGE[i % 3]) for i, (k, v) in enumerate(fitting.items())}


@cache
def small_schedule(name: str) -> wb.Schedule:
    """The default schedule of an operator of the library at small sizes."""
    op = wb.ops.load(name)
    return wb.autoschedule(op, MACHINE, sizes=small_sizes(op))


@cache
def small_rewrites(name: str) -> wb.codegen.Rewritings:
    """Its nests."""
    return wb.rewrites(small_schedule(name), MACHINE)

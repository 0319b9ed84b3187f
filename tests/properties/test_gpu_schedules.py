"""Random legal schedules for a GPU: their CUDA text compiles, and executed on the processor equals the oracle."""

from __future__ import annotations

from collections import Counter

import workbench as wb
from tests.support import examples
from tests.wild_gpu_schedules import wild_gpu_schedule
from workbench.ops import sample_arrays, sample_out
from workbench.runtime.compilers.gpu_compiling import gpu_binary
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.runtime.emulation.emulated import build_on_cpu
from workbench.schedules import Schedule

ARCHITECTURES = ("sm_80", "sm_90")
SEEDS = range(examples(quick=2, ci=10, full=2200))


def agrees(schedule: Schedule, counts: Counter[str]) -> None:
    """Threads of a block in one order, then in the other: what a barrier is missing for shows."""
    op, sizes = schedule.program.definition, schedule.program.sizes
    assert op is not None
    kernel = wb.generate(schedule, target="cuda")
    for order in ("forward", "reverse"):
        run = build_on_cpu(kernel, order=order)
        assert wb.verify(run, *sample_arrays(op, **sizes), out=sample_out(op, **sizes)), f"{order}: {schedule}"
    if nvrtc() is not None:
        for architecture in ARCHITECTURES:
            assert gpu_binary(kernel, architecture).warnings == (), f"{architecture}: {schedule}"
        counts["compiled"] += 1
    counts["executed"] += 1
    counts["with barriers"] += "__syncthreads" in kernel.source
    counts["with shared memory"] += "__shared__ " in kernel.source.split("#endif\n\n")[1]


def test_random_schedules_for_a_gpu_compute_their_operator(report):
    counts: Counter[str] = Counter()
    for seed in SEEDS:
        schedule = wild_gpu_schedule(seed)
        if schedule is None:
            counts["not bound"] += 1
            continue
        agrees(schedule, counts)
    report(", ".join(f"{what} {n}" for what, n in sorted(counts.items())))
    assert counts["executed"] > len(SEEDS) / 2

"""`sanitize`: what can go wrong among the threads of a kernel, proved where it can be, else tried and watched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from workbench.codegen import Kernel, generate
from workbench.errors import BuildError, shown
from workbench.runtime.checking.verification import verify
from workbench.runtime.emulation.accesses import strangers
from workbench.runtime.emulation.cpp_job import cpp_toolchain
from workbench.runtime.emulation.emulated import callable_kernel, load_unit
from workbench.runtime.emulation.findings import Finding, Findings
from workbench.runtime.emulation.proving import proof
from workbench.runtime.emulation.records import Order
from workbench.runtime.emulation.repetitions import repetitions
from workbench.runtime.emulation.watched_library import WatchedLibrary
from workbench.runtime.emulation.watcher import Watcher
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.schedules import Schedule
from workbench.target import Target

SEEDS = (1,)
# What may be the cause of others comes first.
GRAVEST = (
    "illegal schedule", "divergent barrier", "out of bounds", "unfinished copy", "race", "uninitialised",
    "wrong element", "repeated", "wrong result",
)  # fmt: skip


def sanitize(
    what: Schedule | Kernel,
    /,
    *arrays: Any,
    out: Any = None,
    target: str | Target = "cuda",
    seeds: Sequence[int] = SEEDS,
    **scalars: Any,
) -> Findings:
    """Races, accesses outside of arrays, values that nobody wrote, barriers that not all threads reach.

    Of a schedule it is decided by happens-before whether threads race, for all of its sizes: a proof either way.  With
    `arrays` (and `out=` where an operator updates it) the CUDA text is executed on this processor, threads forwards,
    backwards, and in a random order after each barrier for each of `seeds`; every access of memory is watched, and the
    results are compared with the oracle.  What is executed may be a schedule that is not legal, or a Kernel in CUDA.
    Raises CodegenError where no CUDA can be written, BuildError without a compiler for C++, CallError for arrays that
    do not fit, KernelError for an index in the data that is out of range.
    """
    if isinstance(what, Schedule):
        proved, sentence = proof(what)
        if what.program.parameters and not arrays and not scalars:
            return Findings(proved, sentence, "nothing was executed: no arrays were given")
        what = generate(what, target, unsafe=True)
    elif isinstance(what, Kernel):
        proved, sentence = (), "nothing: this is text, not a schedule"
    else:
        raise BuildError(f"sanitize takes a Schedule or a Kernel in CUDA, not {shown(what)}")
    found, tried = _executed(what, arrays, out, scalars, seeds, compared=what.schedule is not None)
    return Findings((*proved, *found), sentence, tried)


def _executed(
    kernel: Kernel, arrays: tuple[Any, ...], out: Any, scalars: dict[str, Any], seeds: Sequence[int], *, compared: bool
) -> tuple[list[Finding], str]:
    """What executions in several orders found, each thing once, and a sentence about them."""
    toolchain = cpp_toolchain()
    handle, file = load_unit(kernel, toolchain, watched=True)
    library = WatchedLibrary(handle, file)
    plan: list[tuple[Order, int]] = [("forward", 0), ("reverse", 0), *(("random", seed) for seed in seeds)]
    found: list[Finding] = []
    for order, seed in plan:
        watcher = Watcher(kernel, library, order, seed)
        call = callable_kernel(kernel, watcher.run, file, toolchain, [], 1)
        found += _watched(call, watcher, arrays, out, scalars, compared=compared)
    orders = ", ".join(order if order != "random" else f"random (seed {seed})" for order, seed in plan)
    against = " and compared with the oracle" if compared else ""
    return _distinct(found), f"these arrays, threads in the orders {orders}; every access watched{against}"


def _watched(
    call: CompiledKernel,
    watcher: Watcher,
    arrays: tuple[Any, ...],
    out: Any,
    scalars: dict[str, Any],
    *,
    compared: bool,
) -> list[Finding]:
    if not compared:
        call(*arrays, **({} if out is None else {"out": out}), **scalars)
        return watcher.found
    verdict = verify(call, *arrays, out=out, **scalars)
    watcher.found += strangers(watcher.kernel, watcher.sizes, watcher.logged)
    watcher.found += repetitions(watcher.kernel, watcher.sizes, watcher.written)
    if verdict or watcher.stopped:
        return watcher.found
    method = f"executor ({watcher.order}) against the oracle"
    wrong = Finding(
        "wrong result", call.name, 0, "", (None, None), 0, "", verdict.output, None, method, str(verdict)
    )  # fmt: skip
    return [*watcher.found, wrong]


def _distinct(found: Iterable[Finding]) -> list[Finding]:
    """Findings of one kind at the same lines once, with all the orders that showed them."""
    kept: dict[tuple[Any, ...], Finding] = {}
    for finding in found:
        key = (finding.kind, finding.kernel, *sorted((finding.line, finding.other_line)), finding.array)
        earlier = kept.get(key)
        if earlier is None:
            kept[key] = finding
        elif finding.method not in earlier.method:
            order = finding.method.partition("(")[2].partition(")")[0]
            if order not in earlier.method:
                kept[key] = replace(earlier, method=earlier.method.replace(")", f", {order})", 1))
    return sorted(kept.values(), key=lambda finding: GRAVEST.index(finding.kind))

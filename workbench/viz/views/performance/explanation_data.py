"""Why a kernel is as fast as it is, as plain data: traffic, the machine code of its hot loops, what each step gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from workbench import ops, poly
from workbench.errors import BuildError, CallError, LoweringError
from workbench.poly.programs.marks import NontemporalStores
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import marked
from workbench.records import record
from workbench.runtime import build
from workbench.runtime.host.machine import thread_count
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.runtime.measuring import roofs
from workbench.runtime.measuring.folding import fold_bytes, folded, folds
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.frames.coordinates import concrete
from workbench.viz.views.performance.ablation_data import Once, Removal, Timed, ablation
from workbench.viz.views.performance.footprint_data import LEVELS, Level, level
from workbench.viz.views.performance.hot_loops import StatementLoop, statement_loops
from workbench.viz.views.performance.roofline_data import Entry, Roofline, roofline_data


@record
class Explanation:
    """`program` has the sizes that were counted and measured; `timed` is the kernel on so many `threads`.

    `levels` are the caches with the bytes that each moves from and to what is behind it.  `roofline` is None for what
    does no arithmetic.  `loops` are the innermost loops of the machine code, most work first; `unread` says why there
    are none.  `removals` are in the order of the trace.
    """

    program: Program
    target: Target
    threads: int
    timed: Timed
    flops: int
    bytes_moved: int
    levels: tuple[Level, ...]
    roofline: Roofline | None
    loops: tuple[StatementLoop, ...]
    unread: str
    made_by: str
    removals: tuple[Removal, ...]

    @property
    def hot(self) -> tuple[StatementLoop, ...]:
        """The loops in which a good part of the time can be spent."""
        return tuple(loop for loop in self.loops if loop.hot)

    @property
    def flops_per_second(self) -> float:
        """Operations of the definition a second."""
        return self.flops / self.timed.seconds

    @property
    def bytes_per_second(self) -> float:
        """Least traffic (each input read and each output written once) a second."""
        return self.bytes_moved / self.timed.seconds

    @property
    def entry(self) -> Entry | None:
        """The place on the roofline."""
        return self.roofline.entries[0] if self.roofline else None


@record
class Asked:
    """How to measure: threads (None: the settings say), seconds a turn, whether steps are left out, ceilings."""

    threads: int | None = None
    seconds: float = 0.03
    ablation: bool = True
    ceilings: roofs.Ceilings | None = None


def explanation_of(schedule: Schedule, target: Target, sizes: Mapping[str, int], asked: Asked) -> Explanation:
    """Everything about a schedule; `sizes` are those that it leaves open.  LoweringError while one is missing."""
    of = concrete(schedule, _open(schedule.program, sizes))
    program, tree = of.program, of.tree
    known = {**schedule.original.sizes, **sizes}
    kernel = build(schedule, target, asked.threads)
    own = arguments_of(kernel, known)

    def prepare(one: Schedule) -> Once:
        if one is schedule:
            return caller(kernel, own)
        other = build(one, target, asked.threads)
        return caller(other, arguments_of(other, known))

    beside = folded_callers(kernel, own, thread_count(asked.threads))
    timed, removals = ablation(schedule, prepare, seconds=asked.seconds, steps=asked.ablation, beside=beside)
    machine = kernel.kernel.target
    flops, threads = poly.flops(program.original), thread_count(asked.threads)
    place = None
    if poly.flops(program):
        roof = asked.ceilings or _ceilings(program, threads)
        place = roofline_data({program.name: of}, roof, machine, {program.name: timed.seconds})
    levels = tuple(level(program, tree, n, b) for n, b in zip(LEVELS, machine.cache_bytes, strict=True) if b)
    loops, unread = _loops(kernel, program)
    moved, made_by = poly.bytes(program.original), str(kernel.toolchain)
    return Explanation(program, machine, threads, timed, flops, moved, levels, place, loops, unread, made_by, removals)


def _open(program: Program, sizes: Mapping[str, int]) -> dict[str, int]:
    left = [s for s in program.original.symbols if s not in sizes]
    if left:
        given = ", ".join(f'"{s}": 64' for s in left)
        raise LoweringError(f"{program.name}: a measurement needs every size; give sizes={{{given}}}, or others")
    return {name: value for name, value in sizes.items() if program.original.sizes.get(name) != value}


def roof_type(program: Program) -> str:
    """The type whose ceilings are a program's."""
    types = {a.dtype.name for a in program.arrays.values()}
    return "float64" if "float64" in types else "float32"


def _ceilings(program: Program, threads: int) -> roofs.Ceilings:
    return roofs.ceilings(roof_type(program), threads=threads)


def _loops(kernel: CompiledKernel, program: Program) -> tuple[tuple[StatementLoop, ...], str]:
    try:
        return statement_loops(kernel, program), ""
    except BuildError as error:
        return (), str(error)


@record
class Arguments:
    """Sample arrays of a kernel, what it writes to, the sizes that no array tells.

    What an array that the kernel updates is before a call is `fresh`; None where it updates none.
    """

    arrays: tuple[Any, ...]
    out: Any
    scalars: Mapping[str, int]
    fresh: Any


def arguments_of(kernel: CompiledKernel, sizes: Mapping[str, int]) -> Arguments:
    """Arguments with which the kernel was called once."""
    op = kernel.schedule.original.definition
    if op is None:
        raise CallError(
            f"{kernel.name}: its arguments are not known; expected the schedule of an operator or C program"
        )
    named = dict(zip(op.parameters, ops.sample_arrays(op, **sizes), strict=True))
    arrays = tuple(named[p.name] for p in kernel.signature.inputs)
    scalars = {n: sizes[n] for n in kernel.signature.symbols if n not in {p.name for p in kernel.signature.inputs}}
    fresh = ops.sample_out(op, **sizes)
    return Arguments(arrays, kernel(*arrays, out=_copied(fresh), **scalars), scalars, fresh)


def caller(kernel: CompiledKernel, own: Arguments) -> Once:
    """A function that calls the kernel once, and says how many seconds that took.

    An array that the kernel updates is restored before each call, outside the time.
    """

    def once() -> float:
        if own.fresh is not None:
            _restore(own.out, own.fresh)
        start = perf_counter()
        kernel(*own.arrays, out=own.out, **own.scalars)
        return perf_counter() - start

    return once


def folded_callers(kernel: CompiledKernel, own: Arguments, threads: int) -> tuple[Once, Once] | None:
    """The same with arrays of data that are folded onto a few pages, and with arrays that are like them unfolded.

    What is computed is of no use.  None where there is no such array, where stores go by the caches, or where the
    system does not fold.
    """
    outs = own.out if isinstance(own.out, tuple) else (own.out,)
    every = [a for a in (*own.arrays, *(() if own.fresh is not None else outs)) if folds(a)]
    if not every or marked(kernel.schedule.tree, NontemporalStores):
        return None

    def called(size: int | None) -> Once | None:
        found = {id(a): folded(a, size, threads) for a in every}
        if any(a is None for a in found.values()):
            return None
        arrays, written = (tuple(found.get(id(a), a) for a in these) for these in (own.arrays, outs))
        return caller(kernel, replace(own, arrays=arrays, out=written if isinstance(own.out, tuple) else written[0]))

    near, far = called(fold_bytes(every)), called(None)
    return None if near is None or far is None else (near, far)


def _copied(out: Any) -> Any:
    return tuple(a.copy() for a in out) if isinstance(out, tuple) else None if out is None else out.copy()


def _restore(out: Any, fresh: Any) -> None:
    for to, of in zip(out, fresh, strict=True) if isinstance(out, tuple) else ((out, fresh),):
        to[...] = of

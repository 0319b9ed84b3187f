"""`build`: a schedule or a kernel becomes something to call."""

from __future__ import annotations

import ctypes
from dataclasses import replace

from workbench import poly
from workbench.codegen import Kernel, as_target, generate
from workbench.errors import BuildError, WorkbenchError, shown
from workbench.face import uncollected
from workbench.runtime.compilers.compiling import load
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.locks import Lock
from workbench.runtime.host.machine import this_machine
from workbench.runtime.host.processor import this_processor
from workbench.runtime.kernels.border import open_border, with_border
from workbench.runtime.kernels.launch import CompiledKernel, Rebuild
from workbench.schedules import Schedule
from workbench.settings import THREADS_LIMIT, current
from workbench.target import Target

# CUDA text executed on a processor.
ON_CPU = "cuda-on-cpu"
# CUDA text on this machine's GPU, with the limits that `generate` takes.
ON_GPU = "cuda"

Strides = tuple[tuple[str, tuple[int, ...]], ...]


def build(
    what: Schedule | Kernel,
    /,
    target: str | Target | None = None,
    threads: int | None = None,
    debug: bool = False,
    *,
    unchecked: bool | None = None,
    unsafe: bool = False,
) -> CompiledKernel:
    """Compile a schedule, or a kernel generated before, and load it.

    `target` is "c" for this machine, "cuda" (or the name of a GPU, "h200") for this machine's GPU, "cuda-on-cpu" for
    the CUDA text executed on this processor, the name of a kind of processor ("neon"), or a Target; without one it is
    "c", and a Kernel keeps its own.  What is for another architecture is executed by an emulator.  `threads` fixes the
    number of threads of every call (None: the settings say).
    `debug` compiles without optimisation, with line numbers.  `unchecked` leaves out the checks of indices found in
    data (None: the settings say).  Raises BuildError if there is no compiler, or it refuses, crashes or hangs;
    IllegalSchedule for a schedule that would compute something else (a preview), unless `unsafe=True`.
    """
    whole = isinstance(threads, int) and not isinstance(threads, bool)
    if threads is not None and not (whole and 1 <= threads <= THREADS_LIMIT):
        limits = f"a whole number from 1 to {THREADS_LIMIT}, or None"
        raise BuildError(f"threads={threads!r} does not fit; expected {limits}")
    if unchecked is not None and not isinstance(unchecked, bool):
        raise BuildError(f"unchecked={shown(unchecked)} does not fit; expected True, False or None")
    if not isinstance(what, Schedule | Kernel):
        advice = "wb.build(wb.autoschedule(op, M=64))"
        raise BuildError(f"build takes a Schedule or a Kernel, not {shown(what)}; for an operator: {advice}")
    if target == ON_CPU:
        return _on_cpu(what, threads, unchecked=unchecked, unsafe=unsafe)
    if target is None:
        target = what.target if isinstance(what, Kernel) and what.target.language.runs_on_gpu else "c"
    if _is_for_gpu(target):
        return _on_gpu(what, target, unchecked=unchecked, unsafe=unsafe)
    toolchain = preferred_toolchain()
    if isinstance(what, Kernel):
        if _is_elsewhere(what.target):
            return _elsewhere(what, threads)
        return compiled(what, toolchain, threads=threads, debug=debug)
    machine = build_target(target, toolchain)
    omit = current().unchecked if unchecked is None else unchecked
    if _is_elsewhere(machine):
        return _elsewhere(generate(what, replace(machine, parallel="pool"), unchecked=omit, unsafe=unsafe), threads)
    with uncollected():
        kernel = generate(what, machine, unchecked=omit, unsafe=unsafe)
    # A schedule that is not legal is compiled as it stands, for the usual strides alone.
    rebuild = None if unsafe else _rebuilder(what, machine, threads, debug=debug, unchecked=omit)
    return compiled(kernel, toolchain, threads=threads, debug=debug, rebuild=rebuild)


def _is_elsewhere(target: Target) -> bool:
    """Whether code for the target cannot run on this processor, because the architecture is another."""
    here = this_processor().architecture in ("aarch64", "arm64")
    return bool(target.isa) and not target.language.for_gpu and target.is_arm != here


def _elsewhere(kernel: Kernel, threads: int | None) -> CompiledKernel:
    from workbench.runtime.emulation.cross_execution import build_cross  # kernels for this machine do without

    refuse_missing_features(kernel)
    return build_cross(kernel, threads=threads)


def _on_cpu(what: Schedule | Kernel, threads: int | None, *, unchecked: bool | None, unsafe: bool) -> CompiledKernel:
    """The CUDA text of a schedule, or a kernel in CUDA, to be executed on this processor."""
    from workbench.runtime.emulation.emulated import build_on_cpu  # C kernels do without

    omit = current().unchecked if unchecked is None else unchecked
    kernel = what if isinstance(what, Kernel) else generate(what, "cuda", unchecked=omit, unsafe=unsafe)
    return build_on_cpu(kernel, threads=threads)


def _is_for_gpu(target: str | Target) -> bool:
    return target != "c" and as_target(target).language.runs_on_gpu


def _on_gpu(what: Schedule | Kernel, target: str | Target, *, unchecked: bool | None, unsafe: bool) -> CompiledKernel:
    """A kernel in CUDA on this machine's GPU."""
    omit = current().unchecked if unchecked is None else unchecked
    kernel = what if isinstance(what, Kernel) else generate(what, target, unchecked=omit, unsafe=unsafe)
    # What may write anywhere must not cost this process its GPU.
    return as_target(target).language.load("builder")(kernel, isolated=unsafe or kernel.schedule is None)


def build_target(target: str | Target, toolchain: Toolchain) -> Target:
    """The machine to generate for: "c" is this one; parallel loops become what the compiler has."""
    machine = this_machine() if target == "c" else as_target(target)
    if machine.language.for_gpu:
        what = f"a kernel in {machine.dialect} cannot be built here"
        raise BuildError(f"{what}; build it for target='c', or generate its text")
    if machine.parallel == "openmp" and not toolchain.openmp:
        return replace(machine, parallel="pool")
    return machine


def refuse_missing_features(kernel: Kernel) -> None:
    """BuildError if a micro-kernel needs what the target's processor does not have."""
    missing = [x for x in kernel.needs if x not in kernel.target.isa]
    if missing:
        has = ", ".join(kernel.target.isa) or "none that is known"
        raise BuildError(f"{kernel.name}: its micro-kernels need {', '.join(missing)}; the processor's features: {has}")


def compiled(
    kernel: Kernel,
    toolchain: Toolchain,
    *,
    threads: int | None = None,
    debug: bool = False,
    rebuild: Rebuild | None = None,
) -> CompiledKernel:
    """A kernel's text together with its border, compiled by one compiler."""
    if kernel.target.language.for_gpu:
        runs = kernel.target.language.runs_on_gpu
        where = "target='cuda' runs it on a GPU, 'cuda-on-cpu' on this processor" if runs else ""
        raise BuildError(
            f"kernel {kernel.name!r} is in {kernel.target.dialect}; a C compiler takes C. {where}".rstrip()
        )
    refuse_missing_features(kernel)
    text = with_border(kernel.source, kernel.signature)
    library = load(Job(kernel.name, text, toolchain, kernel.target, debug, kernel.libraries))
    notes = [f"compiled by {toolchain}", *(["debug"] if debug else [])]
    if kernel.target.parallel == "openmp" and not toolchain.openmp:
        notes.append("written for OpenMP, which this compiler does not have: parallel loops run serially")
    try:
        border = open_border(library.handle)
    except AttributeError as reason:
        what = f"{toolchain.name} wrote a library without what the source defines, for kernel {kernel.name!r}"
        raise BuildError(f"{what}: {reason}. Choose another compiler with settings(compiler=...)") from reason
    share_pool(library.handle)
    return CompiledKernel(kernel, border, library.path, toolchain, notes, rebuild, threads)


def _rebuilder(schedule: Schedule, machine: Target, threads: int | None, *, debug: bool, unchecked: bool) -> Rebuild:
    """A function that builds the same schedule for arrays with other strides (memoised)."""
    made: dict[Strides, CompiledKernel | None] = {}
    lock = Lock()

    def rebuild(strides: dict[str, tuple[int, ...]]) -> CompiledKernel | None:
        key = tuple(sorted(strides.items()))
        with lock:
            if key not in made:
                made[key] = _restrided(schedule, strides, machine, threads, debug=debug, unchecked=unchecked)
            return made[key]

    return rebuild


def _restrided(
    schedule: Schedule,
    strides: dict[str, tuple[int, ...]],
    machine: Target,
    threads: int | None,
    *,
    debug: bool,
    unchecked: bool,
) -> CompiledKernel | None:
    """The same time map over the operator lowered with other strides; None where that cannot be had."""
    program = schedule.program
    if program.definition is None or program != poly.lower(program.definition, program.sizes):
        return None
    try:
        again = replace(schedule, program=poly.lower(program.definition, program.sizes, strides))
        kernel = generate(again, machine, unchecked=unchecked)
    except WorkbenchError:
        return None
    return compiled(kernel, preferred_toolchain(), threads=threads, debug=debug)


# Address of the thread pool that all kernels of this process use: that of the first kernel which brought one.
_pool: list[int] = []


def share_pool(handle: ctypes.CDLL) -> None:
    """Let the kernels of a process share one pool of threads."""
    if not hasattr(handle, "wb_pool_lend"):
        return
    if not _pool:
        handle.wb_pool_lend.restype = ctypes.c_void_p
        _pool.append(handle.wb_pool_lend())
    handle.wb_pool_borrow.argtypes = [ctypes.c_void_p]
    handle.wb_pool_borrow(_pool[0])

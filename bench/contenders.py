"""The contenders: for a case, something to call, in the process of the contender.

"workbench" is this project with the compiler and threads it chooses; "workbench/pool", "workbench/clang" and so on
are the same with another construct for parallel loops or another compiler; "workbench/torch" is the operator that
`wb.export.torch` registers, called with tensors through `torch.ops`, with PyTorch's threads and memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from shutil import which
from typing import Any

import numpy as np

import workbench as wb
from bench.environments import interpreter
from bench.suite import Case
from bench.timing import batches
from bench.workers.placing import empty_like, placed
from bench.workers.prepared import Array, Prepared, Unavailable, numpy_arrays, prepared, tensor, tensor_arrays, with_out
from workbench.lang.operator import Operator
from workbench.runtime.compilers.discovery import every_toolchain

PEERS = ("numpy", "torch", "torch.compile", "torch.compile/max-autotune")
# Peers that have an environment of their own (bench/environments.py).
FOREIGN = ("jax", "onnxruntime", "halide", "tvm")
EVERYONE = ("workbench", *PEERS, *FOREIGN)
# How long each way to write an operator is tried, to find the fastest.
TRIAL_SECONDS = 0.02
BACKENDS = ("workbench/pool", "workbench/clang", "workbench/zig")
EXPORTED = "workbench/torch"
LIMITS: dict[str, dict[str, str]] = {
    "avx2": {
        "WORKBENCH_PROCESSOR": "avx2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    },
}
"""An instruction set that everybody may be limited to → how each library is told: variables of the environment."""


def operator_of(case: Case) -> Operator:
    """The operator of a case."""
    return wb.operator(case.text) if case.text else getattr(wb.ops, case.operator)


def arguments_of(case: Case) -> list[Any]:
    """The same data for every contender; numbers that are no arrays are Python's."""
    given = wb.ops.sample_arrays(operator_of(case), **case.sizes)
    return [a if not isinstance(a, np.ndarray) else placed(a) if a.ndim else a.item() for a in given]


def missing(contender: str) -> str | None:
    """Why a contender cannot take part on this machine; None if it can."""
    if (contender.startswith("torch") or contender == EXPORTED) and find_spec("torch") is None:
        return "PyTorch is not installed"
    if contender in FOREIGN and interpreter(contender) is None:
        return f"{contender} is not installed: python -m bench.environments {contender}"
    if contender.startswith("torch.compile") and not any(map(which, (os.environ.get("CXX", "g++"), "clang++"))):
        return "torch.compile needs a C++ compiler"
    if contender.startswith("workbench/") and contender != EXPORTED:
        compiler = _compiler(contender.partition("/")[2])
        if compiler and compiler not in {t.family for t in every_toolchain()}:
            return f"{compiler} is not installed"
    return None


def prepare(contender: str, case: Case, threads: int) -> Prepared:
    """Make a contender ready for a case and call it once; raises Unavailable if it has no function for it.

    The compilers have been used before, so that `first_seconds` is the time of this case alone.
    """
    _used_before(contender)
    tried = [_called_once(candidate) for candidate in _candidates(contender, case, threads)]
    if len(tried) == 1:
        return tried[0]
    return min(tried, key=lambda c: batches(c.fresh, TRIAL_SECONDS, TRIAL_SECONDS)[0][-1])


def _candidates(contender: str, case: Case, threads: int) -> list[Prepared]:
    """All ways a contender has to do a case."""
    kind, _, backend = contender.partition("/")
    match kind, backend:
        case "workbench", "":
            return [_operator(case)]
        case "workbench", "torch":
            return [_exported(case, threads)]
        case "workbench", _:
            return [_backend(case, backend)]
        case "numpy", _:
            return _numpy(case)
        case "torch" | "torch.compile", _:
            return _torch(case, threads, compiled=kind == "torch.compile", mode=backend or None)
        case "copy", _:
            return [_copy(case, threads)]
    raise Unavailable(f"unknown contender {contender!r}; known: {', '.join((*EVERYONE, *BACKENDS, EXPORTED, 'copy'))}")


@cache
def _used_before(contender: str) -> None:
    """Load what is loaded once, and compile something small."""
    if contender.startswith("workbench"):
        twice = wb.operator("def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }")
        with wb.settings(compiler=_compiler(contender.partition("/")[2])):
            twice(np.ones(5, np.float32))
    if contender.startswith("torch.compile"):
        torch = import_module("torch")
        torch.compile(lambda x: 2 * x)(torch.ones(5))


def _called_once(candidate: Prepared) -> Prepared:
    start = time.perf_counter()
    candidate.fresh()
    return replace(candidate, first_seconds=candidate.first_seconds + time.perf_counter() - start)


def _compiler(backend: str) -> str | None:
    """The compiler of a backend; None for the one this project chooses."""
    return backend if backend in ("clang", "zig") else None


def _operator(case: Case) -> Prepared:
    """The public call of this project."""
    op: Any = operator_of(case)
    return with_out(partial(op, *arguments_of(case)), empty_like, numpy_arrays)


def _backend(case: Case, backend: str) -> Prepared:
    """The same schedule built in another way."""
    op: Any = operator_of(case)
    arguments = arguments_of(case)
    start = time.perf_counter()
    with wb.settings(compiler=_compiler(backend)):
        plan = op.plan(*arguments)
        target = replace(plan.target, parallel="pool") if backend == "pool" else plan.target
        kernel = wb.build(plan.schedule, target)
    seconds = time.perf_counter() - start
    by_name = dict(zip(op.parameters, arguments, strict=True))
    inputs = [by_name[p.name] for p in kernel.signature.inputs]
    return replace(with_out(partial(kernel, *inputs), empty_like, numpy_arrays), first_seconds=seconds)


def _exported(case: Case, threads: int) -> Prepared:
    """The schedule of the public call as an operator of PyTorch."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    op: Any = operator_of(case)
    arguments = arguments_of(case)
    start = time.perf_counter()
    registered = wb.export.torch(op.plan(*arguments).schedule, namespace="bench")
    seconds = time.perf_counter() - start
    tensors = [tensor(torch, a) if isinstance(a, np.ndarray) else a for a in arguments]
    return Prepared(partial(registered, *tensors), None, partial(tensor_arrays, torch), first_seconds=seconds)


def _numpy(case: Case) -> list[Prepared]:
    arguments = arguments_of(case)
    functions = _functions("bench.peers.numpy_peers", case.numpy)
    return [prepared(f, f, arguments, empty_like, numpy_arrays) for f in functions]


def _torch(case: Case, threads: int, *, compiled: bool, mode: str | None = None) -> list[Prepared]:
    if find_spec("torch") is None:
        raise Unavailable("PyTorch is not installed")
    torch = import_module("torch")
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    arguments = [tensor(torch, a) if isinstance(a, np.ndarray) else a for a in arguments_of(case)]
    to_arrays = partial(tensor_arrays, torch)
    functions = _functions("bench.peers.torch_peers", case.torch)
    if compiled:
        import_module("torch._dynamo").reset()
    called = [torch.compile(f, dynamic=False, mode=mode) if compiled else f for f in functions]
    pairs = zip(functions, called, strict=True)
    return [prepared(f, c, arguments, torch.empty_like, to_arrays) for f, c in pairs]


def _copy(case: Case, threads: int) -> Prepared:
    """A copy that reads and writes as many bytes as the case has to move, with as many threads."""
    half = max(1, wb.ops.bytes(operator_of(case), **case.sizes) // 2)
    fresh, preallocated = copies(half, threads)
    return Prepared(fresh, preallocated, lambda result: [])


def copies(count: int, threads: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Two functions that copy `count` bytes with so many threads: into fresh memory, and into the same again."""
    source = placed(np.ones(count, np.uint8))
    kept = empty_like(source)
    copy_into = _copier(source, threads)
    return lambda: copy_into(empty_like(source)), lambda: copy_into(kept)


def _copier(source: Array, threads: int) -> Callable[[Array], Array]:
    """NumPy releases the interpreter's lock while it copies, so threads of Python share the work."""
    if threads == 1 or source.size < threads:
        return lambda out: np.copyto(out, source) or out
    bounds = [source.size * n // threads for n in range(threads + 1)]
    parts = [slice(a, b) for a, b in pairwise(bounds)]
    pool = ThreadPoolExecutor(threads - 1)

    def copy_into(out: Array) -> Array:
        waiting = [pool.submit(np.copyto, out[part], source[part]) for part in parts[1:]]
        np.copyto(out[parts[0]], source[parts[0]])
        for done in waiting:
            done.result()
        return out

    return copy_into


def _functions(module: str, names: str) -> list[Callable[..., Any]]:
    if not names:
        raise Unavailable("has no such operator")
    return [getattr(import_module(module), name) for name in names.split()]

"""Kernels written by hand, so that the runtime is tested without the generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.codegen.kernel import ArrayParameter, IndexCheck, Kernel, Signature
from workbench.lang.dtypes import FLOAT32, INT32, DType, dtype
from workbench.lang.expr import Binary, Const, Expr, Size, integer
from workbench.runtime.building import compiled
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.host.machine import this_machine
from workbench.runtime.kernels.launch import CompiledKernel

Array = np.ndarray[Any, Any]


def parameter(
    name: str, shape: tuple[int | str | Expr, ...], element: str | DType = FLOAT32, role: Any = "input", **more: Any
) -> ArrayParameter:
    """A dense array parameter; extents are numbers, size names or expressions."""
    extents = tuple(_expr(e) for e in shape)
    strides: list[Expr] = []
    step: Expr = integer(1)
    for extent in reversed(extents):
        strides.insert(0, step)
        step = extent if step == integer(1) else Binary("*", step, extent, INT32)
    kind = dtype(element) if isinstance(element, str) else element
    given = more.pop("strides", None)
    steps = tuple(strides) if given is None else tuple(integer(s) for s in given)
    return ArrayParameter(name, name, kind, role, extents, steps, **more)


def _expr(value: int | str | Expr) -> Expr:
    if isinstance(value, int):
        return integer(value)
    return Size(value) if isinstance(value, str) else value


def kernel(name: str, body: str, *parameters: ArrayParameter, **more: Any) -> Kernel:
    """A Kernel whose C function has `body`; symbols= and checks= go to the signature, workspace= is bytes of it."""
    symbols = more.pop("symbols", ())
    workspace = more.pop("workspace", None)
    pointers = [p for p in parameters if not p.by_value]
    scalars = [p for p in parameters if p.by_value]
    arguments = [
        *(f"{'' if p.is_output else 'const '}{p.dtype.c_name} *restrict {p.name}" for p in pointers),
        *(f"{p.dtype.c_name} {p.name}" for p in scalars),
        *(f"int64_t {s}" for s in symbols),
        "void *workspace, int threads",
    ]
    needs = "".join(f"int64_t {s}, " for s in symbols)
    source = "#include <stdint.h>\n"
    if workspace is not None:
        source += f"int64_t {name}_workspace({needs}int threads) {{ return {workspace}; }}\n"
    source += f"int {name}({', '.join(arguments)}) {{\n{body}\nreturn 0;\n}}\n"
    amount = None if workspace is None else Const(1, INT32)
    signature = Signature(name, parameters, symbols, amount, more.pop("checks", ()))
    return Kernel(name, source, signature, this_machine(), more.pop("sizes", {}))


def make(*arguments: Any, **more: Any) -> CompiledKernel:
    """The hand-written kernel, compiled."""
    rebuild = more.pop("rebuild", None)
    return compiled(kernel(*arguments, **more), preferred_toolchain(), rebuild=rebuild)


def adder(n: int = 16, element: str = "float") -> CompiledKernel:
    """C = A + alpha B of n elements."""
    return make(
        "add",
        f"for (int i = 0; i < {n}; ++i) C[i] = A[i] + alpha * B[i];",
        parameter("A", (n,), element),
        parameter("B", (n,), element),
        parameter("alpha", (), element),
        parameter("C", (n,), element, "output"),
    )


def symbolic_adder() -> CompiledKernel:
    """C = A + B for any M and N."""
    return make(
        "add_any",
        "for (int64_t i = 0; i < M * N; ++i) C[i] = A[i] + B[i];",
        parameter("A", ("M", "N")),
        parameter("B", ("M", "N")),
        parameter("C", ("M", "N"), role="output"),
        symbols=("M", "N"),
    )


def taker() -> CompiledKernel:
    """O = T[I] with a check of the index."""
    return make(
        "take",
        "for (int i = 0; i < 4; ++i) { if ((uint32_t)I[i] >= 10) return 1; O[i] = T[I[i]]; }",
        parameter("T", (10,)),
        parameter("I", (4,), "int"),
        parameter("O", (4,), role="output"),
        checks=(IndexCheck("O", "T", 0, "I(i)"),),
    )


def numbers(*shape: int, seed: int = 0) -> Array:
    """Reproducible float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)

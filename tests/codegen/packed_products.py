"""Products of 8- and 16-bit numbers in every form that recipes pack, and what their kernels must give.

The texts for x86 are built with what an instruction does written out, so that any processor executes them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.lang import Operator
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.schedules import Schedule

EMULATED = (Path(__file__).parent / "emulated_intrinsics.h").read_text(encoding="utf-8")
PLAIN = "def f({0}(M,K) A, {1}(K,N) B) -> (C) {{ C(m,n) +=! {2} }}", "A(m,k)", "B(k,n)"
TURNED = "def f({0}(K,M) A, {1}(N,K) B) -> (C) {{ C(m,n) +=! {2} }}", "A(k,m)", "B(n,k)"
ROWS = "def f({0}(M,K) A, {1}(N,K) B) -> (C) {{ C(m,n) +=! {2} }}", "A(m,k)", "B(n,k)"
BATCHED = "def f({0}(P,M,K) A, {1}(P,K,N) B) -> (C) {{ C(p,m,n) +=! {2} }}", "A(p,m,k)", "B(p,k,n)"
TAPS = "def f({0}(M,S,K) A, {1}(S,K,N) B) -> (C) {{ C(m,n) +=! {2} }}", "A(m,s,k)", "B(s,k,n)"
CLIPPED = (
    "def f({0}(M,K) A, {1}(K,N) B) -> (D) {{ C(m,n) +=! {2}\n D(m,n) = max(C(m,n), A(m,0) - B(0,n)) }}",
    "A(m,k)",
    "B(k,n)",
)
PICTURE = (
    "def f({0}(K,H,W) A, {1}(M,K,R,S) B) -> (C) {{ C(m,y,x) +=! {2} where r in 0:R, s in 0:S }}",
    "A(k, y + r, x + s)",
    "B(m,k,r,s)",
)
LAST = (
    "def f({0}(H,W,K) A, {1}(R,S,K,M) B) -> (C) {{ C(y,x,m) +=! {2} where r in 0:R, s in 0:S }}",
    "A(y + r, x + s, k)",
    "B(r,s,k,m)",
)
FORMS = {
    "picture": PICTURE, "channels last": LAST, "plain": PLAIN, "turned": TURNED, "rows": ROWS, "batched": BATCHED,
    "taps": TAPS, "clipped": CLIPPED,
}  # fmt: skip


def product(form: str, pair: tuple[str, str]) -> Operator:
    text, a, b = FORMS[form]
    left, right = pair
    return wb.operator(text.format(left, right, f"int32({a}) * int32({b})" if left.endswith("int8") else f"{a} * {b}"))


def sizes_of(op: Operator, form: str) -> dict[str, int]:
    """Numbers of rows, columns and contributions that nothing divides."""
    known = {"M": 133, "N": 131, "K": 123, "P": 2, "S": 2, "H": 20, "W": 25, "R": 3}
    known |= {"M": 37, "K": 17, "S": 3} if form in ("picture", "channels last") else {}
    return {n: known[n] for n in op.size_names}


def written_out(schedule: Schedule, machine: str) -> CompiledKernel:
    """The kernel for a processor of x86 with functions in place of its instructions, compiled for this machine."""
    kernel = wb.generate(schedule, machine)
    text = EMULATED + kernel.source.replace("#include <immintrin.h>\n", "")
    return wb.build(replace(kernel, source=text, needs=(), target=replace(kernel.target, march="native")))


def assert_right(op: Operator, kernel: CompiledKernel, sizes: dict[str, int]) -> None:
    arrays = wb.ops.sample_arrays(op, **sizes)
    for a in arrays:
        if a.dtype.kind in "iu":
            ends = np.iinfo(a.dtype)
            a[...] = np.random.default_rng(1).integers(ends.min, ends.max + 1, a.shape)
            a[0], a[-1] = ends.min, ends.max
    assert wb.verify(kernel, *arrays)

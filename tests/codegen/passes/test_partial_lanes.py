"""Register tiles whose last vector ends early: every size is right, and nothing behind the arrays is touched."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from workbench.codegen.nest.nest import For, walk
from workbench.codegen.passes.pipeline import lower_nest
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

PRODUCT = "def product({0}(M,K) A, {0}(K,N) B) -> (C) {{ C(m,n) +=! A(m,k) * B(k,n) }}"
FUSED = """def fused({0}(M,K) A, {0}(K,N) B, {0}(N) bias) -> (C) {{
    C(m,n) +=! A(m,k) * B(k,n)
    C(m,n) = max(C(m,n) + bias(n), 0)
}}"""
TYPES = {"float": np.float32, "double": np.float64, "int32": np.int32, "int64": np.int64}


def guarded(array: np.ndarray) -> np.ndarray:
    """A copy that ends where a page that may not be touched begins."""
    page = mmap.PAGESIZE
    pages = -(-array.nbytes // page)
    block = mmap.mmap(-1, (pages + 1) * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(block))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + pages * page), page, 0) == 0
    copy = np.frombuffer(block, array.dtype, array.size, pages * page - array.nbytes).reshape(array.shape)
    copy[...] = array
    return copy


def given(text: str, kind: str, m: int, n: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(m * 100 + n)
    for shape in ((m, 5), (5, n), (n,))[: 3 if "bias" in text else 2]:
        yield rng.integers(-4, 5, shape).astype(TYPES[kind])


@pytest.mark.parametrize("bits", [256, 512])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("text", [PRODUCT, FUSED], ids=["product", "fused"])
def test_open_sizes_are_right_at_every_rest(text, kind, bits):
    op = wb.operator(text.format(kind))
    kernel = wb.build(default_schedule(wb.lower(op, {}), Target(vector_bits=bits, cores=1)))
    assert "_first(" in kernel.source
    for m in (1, 2, 3, 5, 6, 9):
        for n in (*range(1, 19), 31, 33):
            arrays = [guarded(x) for x in given(text, kind, m, n)]
            out = guarded(np.zeros((m, n), TYPES[kind]))
            kernel(*arrays, out=out)
            np.testing.assert_array_equal(out, op.evaluate(*arrays))


@pytest.mark.parametrize("n", [9, 10, 13, 15, 26, 50])
def test_fixed_sizes_are_right(n):
    op = wb.operator(PRODUCT.format("float"))
    kernel = wb.build(default_schedule(wb.lower(op, {"M": 11, "N": n, "K": 5}), Target(vector_bits=256, cores=1)))
    arrays = [guarded(x) for x in given(PRODUCT, "float", 11, n)]
    out = guarded(np.zeros((11, n), np.float32))
    kernel(*arrays, out=out)
    np.testing.assert_array_equal(out, op.evaluate(*arrays))


def ends_early(text: str, **sizes: int) -> bool:
    schedule = default_schedule(wb.lower(wb.operator(text), sizes), Target(vector_bits=256, cores=1))
    nest = lower_nest(schedule.program, schedule.tree, Target(vector_bits=256, cores=1))
    return any(isinstance(node, For) and node.limit is not None for node in walk(nest))


def test_whole_vectors_need_no_end():
    assert not ends_early(PRODUCT.format("float"), M=12, N=32, K=8)
    assert ends_early(PRODUCT.format("float"), M=12, N=30, K=8)


@pytest.mark.parametrize(
    "text",
    [
        "def halves(float16(M,K) A, float16(K,N) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }",
        "def quotients(int32(M,K) A, int32(K,N) B) -> (C) { C(m,n) +=! A(m,k) / B(k,n) }",
        "def bytes(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! int32(A(m,k)) * int32(B(k,n)) }",
    ],
)
def test_what_cannot_be_left_out_or_may_not_be_computed_does_not_end_early(text):
    assert not ends_early(text, M=12, N=30, K=8)


def test_narrow_registers_keep_narrow_vectors():
    schedule = default_schedule(wb.lower(wb.operator(PRODUCT.format("float")), {}), Target(vector_bits=128, cores=1))
    nest = lower_nest(schedule.program, schedule.tree, Target(vector_bits=128, cores=1))
    assert not any(isinstance(node, For) and node.limit is not None for node in walk(nest))

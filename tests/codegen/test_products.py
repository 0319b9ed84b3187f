"""Small, thin and strided products of 8- and 16-bit numbers, and those with a vector: schedules with an instruction."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.codegen.packed_products import assert_right, written_out
from tests.support import examples
from workbench.errors import BuildError, ScheduleError
from workbench.runtime import this_machine
from workbench.runtime.emulation.cross_execution import emulation
from workbench.schedules.kernels.former_functions import former_function
from workbench.target import Target

CONVOLUTION = "def c(uint8(C,H,W) I, int8(F,C,R,S) K) -> (O) { O(f,y,x) +=! int32(I(c,y+r,x+s)) * int32(K(f,c,r,s)) }"
TRANSPOSED = "def t(bfloat16(K,M) A, bfloat16(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }"
PICTURE = "def p(bfloat16(N,C,H,W) I, bfloat16(F,C,R,S) K) -> (O) { O(n,f,y,x) +=! I(n,c,y+r,x+s) * K(f,c,r,s) }"
STRIDED = "def s(int8(C,H,W) I, int8(F,C,R,S) K) -> (O) { O(f,y,x) +=! int32(I(c,2*y+r,2*x+s)) * int32(K(f,c,r,s)) }"
CHANNELS_LAST = "def l(int8(H,W,C) I, int8(R,S,C,F) K) -> (O) { O(y,x,f) +=! int32(I(y+r,x+s,c)) * int32(K(r,s,c,f)) }"
SIGNAL = "def w(uint8(C,W) I, int8(F,C,S) K) -> (O) { O(f,x) +=! int32(I(c,x+s)) * int32(K(f,c,s)) }"
CONTRACTION = "def t(uint8(M,P,Q) A, uint8(P,Q,Y,X) B) -> (C) { C(m,y,x) +=! int32(A(m,p,q)) * int32(B(p,q,y,x)) }"
VECTOR = "def v(int8(M,K) A, uint8(K) x) -> (y) { y(m) +=! int32(A(m,k)) * int32(x(k)) }"
SIGNED = "def v(int8(M,K) A, int8(K) x) -> (y) { y(m) +=! int32(A(m,k)) * int32(x(k)) }"
BATCHED = "def b(int8(B,M,K) X, uint8(B,K,N) Y) -> (C) { C(b,n,m) +=! int32(X(b,m,k)) * int32(Y(b,k,n)) }"
LINEAR = "def d(int8(M,K) A, int8(N,K) B) -> (C) { C(m,n) +=! int32(A(m,k)) * int32(B(n,k)) }"
CLIPPED = """def d(uint8(M,K) A, int8(K,N) B) -> (D) {
    C(m,n) +=! int32(A(m,k)) * int32(B(k,n))
    D(m,n) = max(C(m,n), 0) / 3
}"""

SHAPES = {
    "convolution": (CONVOLUTION, {"C": 33, "H": 6, "W": 47, "F": 37, "R": 3, "S": 2}),
    "three channels": (CONVOLUTION, {"C": 3, "H": 20, "W": 27, "F": 17, "R": 3, "S": 3}),
    "pictures": (PICTURE, {"N": 3, "C": 17, "H": 12, "W": 12, "F": 40, "R": 3, "S": 3}),
    "pointwise": (PICTURE, {"N": 1, "C": 300, "H": 9, "W": 9, "F": 40, "R": 1, "S": 1}),
    "strided": (STRIDED, {"C": 20, "H": 31, "W": 31, "F": 33, "R": 3, "S": 3}),
    "channels last": (CHANNELS_LAST, {"C": 20, "H": 15, "W": 13, "F": 33, "R": 3, "S": 3}),
    "words of channels": (CHANNELS_LAST, {"C": 96, "H": 15, "W": 13, "F": 33, "R": 1, "S": 1}),
    "signal": (SIGNAL, {"C": 33, "W": 100, "F": 33, "S": 5}),
    "contraction": (CONTRACTION, {"M": 30, "P": 9, "Q": 13, "Y": 10, "X": 11}),
    "vector": (VECTOR, {"M": 301, "K": 203}),
    "vector of signed bytes": (SIGNED, {"M": 301, "K": 201}),
    "transposed": (TRANSPOSED, {"M": 39, "N": 50, "K": 70}),
    "transposed and deep": (TRANSPOSED, {"M": 500, "N": 17, "K": 1070}),
    "batched": (BATCHED, {"B": 3, "M": 19, "N": 50, "K": 70}),
    "linear": (LINEAR, {"M": 4, "N": 67, "K": 130}),
    "small": (LINEAR, {"M": 33, "N": 34, "K": 35}),
    "clipped": (CLIPPED, {"M": 7, "N": 90, "K": 101}),
    "few columns": (CLIPPED, {"M": 90, "N": 9, "K": 101}),
}
X86 = ("avx512_vnni", "avx2", "avx_vnni", "avx512")
IN_TURN = [(shape, X86[n % len(X86)]) for n, shape in enumerate(SHAPES)]


@pytest.mark.parametrize(("shape", "machine"), IN_TURN)
def test_small_and_thin_products_end_in_an_instruction(shape, machine):
    """Executed with what the instruction does written out, so that any processor can; halves may be widened only."""
    text, sizes = SHAPES[shape]
    op = wb.operator(text)
    schedule = wb.autoschedule(op, machine, sizes=sizes)
    assert schedule.verdict
    assert "replace(" in schedule.steps() or ("bfloat16" in text and schedule.steps().count("widen(") == 2)
    assert_right(op, written_out(schedule, machine), sizes)


@pytest.mark.parametrize("shape", SHAPES)
def test_this_machine_itself(shape):
    text, sizes = SHAPES[shape]
    op = wb.operator(text)
    assert_right(op, wb.build(wb.autoschedule(op, this_machine(), sizes=sizes), threads=2), sizes)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_processors_of_arm_under_an_emulator(shape):
    try:
        emulation()
    except BuildError:
        pytest.skip("install qemu-user and gcc-aarch64-linux-gnu: kernels for ARM cannot be executed here")
    text, sizes = SHAPES[shape]
    op = wb.operator(text)
    assert_right(op, wb.build(wb.autoschedule(op, "neon_dot", sizes=sizes), "neon_dot"), sizes)


INSTRUCTIONS = {
    "vpdpbusd": ("uint8", "int8", "avx512_vnni"), "vpdpwssd": ("int8", "int8", "avx512_vnni"),
    "vpmaddwd_512": ("uint8", "int8", "avx512"), "vpmaddwd": ("uint8", "uint8", "avx2"),
    "vpdpwssd_vex": ("int8", "uint8", "avx_vnni"),
}  # fmt: skip


@given(st.sampled_from(sorted(INSTRUCTIONS)), st.integers(1, 9), st.integers(1, 150), st.integers(2, 6))
@settings(max_examples=examples(quick=5, ci=12, full=200))
def test_any_sum_of_contributions_in_lanes(name, rows, depth, abreast):
    """A schedule by hand on an operator of three arrays: whole vectors, one that ends early, what fills no group."""
    left, right, machine = INSTRUCTIONS[name]
    value = "int32(A(m,k)) * int32(x(k))"
    op = wb.operator(f"def f({left}(M,K) A, {right}(K) x, int32(M) b) -> (y) {{ y(m) = b(m)\n y(m) += {value} }}")
    group = 4 if name == "vpdpbusd" else 2
    whole, sizes = depth - depth % group, {"M": rows, "K": depth}
    s = wb.schedule(op, sizes=sizes) | wb.tile({"y.1/m": abreast, "y.1/k": group}) | wb.unroll("y.1/m_i")
    own = "y.1"
    if 0 < whole < depth:
        s, own = s | wb.partition("y.1", f"k < {whole}", at="k_o"), "y.1.then"
    if whole:
        s = s | wb.vectorize(f"{own}/k_o") | wb.replace(f"{own}/k_i", name)
    assert_right(op, written_out(s, machine), sizes)


def test_the_trace_touches_every_contribution_once():
    """After all rewrites a vector that ends early touches what the loops touch."""
    s = wb.schedule(wb.operator(VECTOR), M=6, K=100) | wb.decompose_reduction("y") | wb.tile(m=6, k=4)
    s = s | wb.unroll("y/m_i") | wb.vectorize("y/k_o") | wb.replace("y/k_i", "vpdpbusd")
    for after in (1, None):
        found = wb.trace_touches(s, "avx512_vnni", after=after)
        reads = [(t.array, t.element) for t in found if t.array in ("A", "x") and t.kind == "read"]
        assert len(reads) == 2 * 6 * 100


@pytest.mark.parametrize("shape", ["vector", "linear", "few columns", "pointwise"])
def test_a_certificate_sees_inside(shape):
    """Packing, rests and tiles are proved; what one instruction adds up is trusted, and said."""
    text, sizes = SHAPES[shape]
    found = wb.certify(wb.autoschedule(wb.operator(text), "avx512_vnni", sizes=sizes), "avx512_vnni")
    assert any(re.search(r"the micro-kernel vdp\w+|the micro-kernel vpdp\w+", x) for x in found.assumed)


@pytest.mark.parametrize(
    ("machine", "kernel"),
    [("avx2", "vpmaddwd"), ("avx512", "vpmaddwd_512"), ("avx512_vnni", "vpdpbusd_s8"),
     ("amx", "wb_tdpbssd"), ("avx_vnni", "vpdpbusd_s8_vex"), ("neon_dot", "wb_smmla")],
)  # fmt: skip
def test_the_default_recipe_takes_what_the_machine_has(machine, kernel):
    text = str(wb.autoschedule(wb.ops.load("matmul_int8"), machine, M=128, N=128, K=128).steps())
    assert f"'{kernel}'" in text
    for plain in (Target("c"), "neon"):
        steps = wb.autoschedule(wb.ops.load("matmul_int8"), plain, M=40, N=40, K=40).steps()
        assert "replace" not in str(steps)


# -- What old records name --

@pytest.mark.parametrize(
    ("name", "text", "sizes"),
    [
        ("wb_vnni512_ss_i8_i8", LINEAR, {"M": 5, "N": 6, "K": 7}),
        ("wb_amx_ss_i8_i8", LINEAR, {"M": 5, "N": 6, "K": 7}),
        ("wb_vnni256_us_u8_i8_c1k1r0", VECTOR, {"M": 5, "K": 7}),
        ("wb_bf16_512_bf16_bf16", TRANSPOSED, {"M": 5, "N": 6, "K": 7}),
        ("wb_madd256_i8_u8_c2k3", CONVOLUTION, {"C": 3, "H": 6, "W": 7, "F": 4, "R": 3, "S": 2}),
    ],
)
def test_functions_of_old_records_are_read_as_loops(name, text, sizes):
    op = wb.operator(text)
    out = next(iter(op.outputs))
    schedule = wb.schedule(op, sizes=sizes) | wb.decompose_reduction(out)
    first = next(x for x in op.statements() if x.reduction).targets[0].subscripts[0].name
    kernel = wb.build(schedule | wb.replace(f"{out}/{first}", name))
    assert name in kernel.source
    assert_right(op, kernel, sizes)


def test_halves_of_old_records_are_widened():
    """Every finite float16 and infinity, by the function that old records name, is what NumPy says."""
    op = wb.operator("def h(float16(M,K) A, float16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    schedule = wb.schedule(op, M=252, N=2, K=2) | wb.decompose_reduction("C")
    built = wb.build(schedule | wb.replace("C/m", "wb_widened_avx2_256_f16_f16"))
    halves = np.arange(0, 1 << 16, 260, dtype=np.uint16)[:252].view(np.float16)
    found = built(np.stack([halves, np.zeros_like(halves)], axis=1), np.ones((2, 2), np.float16))
    np.testing.assert_array_equal(found[:, 0], halves.astype(np.float32))


def test_other_names_are_unknown():
    assert former_function("wb_madd256_i8") is None
    with pytest.raises(ScheduleError, match=r"unknown micro-kernel 'wb_madd256_i8'.*vpmaddwd"):
        wb.schedule(wb.ops.load("matmul_int8")) | wb.replace("C/m", "wb_madd256_i8")

"""Integer division, shifts, minima and the 16-bit floats."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.cmath.library import Array, Entry, Library, compiled, source
from workbench.codegen.cmath import conversion, in_order
from workbench.errors import CodegenError
from workbench.lang.dtypes import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)

INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
PAIRS = ("floordiv", "mod", "min", "max", "shl", "shr")
Compilers = dict[str, tuple[str, ...]]


@pytest.fixture(scope="module")
def library(compilers: Compilers, tmp_path_factory: pytest.TempPathFactory) -> Library:
    entries = [Entry(name, dtype) for name in (*PAIRS, "abs", "sign", "relu") for dtype in INTEGERS]
    entries += [Entry(name, d, 8) for name in ("min", "max", "abs", "sign", "relu") for d in INTEGERS]
    return Library(next(iter(compilers.values())), entries, tmp_path_factory.mktemp("integers"))


def values(dtype: DType) -> Array:
    """All of an 8-bit type; else the ends, the middle, and random ones."""
    info = np.iinfo(dtype.numpy)
    if dtype.bits == 8:
        return np.arange(info.min, info.max + 1).astype(dtype.numpy)
    near = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 10]
    near += [-1, -2, -3, -7, -10] if info.min else []
    random = np.random.default_rng(5).integers(info.min, info.max, 64, dtype=dtype.numpy, endpoint=True)
    return np.concatenate([np.array(near, dtype=dtype.numpy), random])[:64]


def pairs(dtype: DType) -> tuple[Array, Array]:
    a, b = np.meshgrid(values(dtype), values(dtype))
    return a.ravel(), b.ravel()


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_division_rounds_down_and_never_traps(library, dtype):
    a, b = pairs(dtype)
    wide = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    wrap = (1 << dtype.bits) - 1
    for name, expected in (
        ("floordiv", [x // y & wrap if y else 0 for x, y in wide]),
        ("mod", [x % y & wrap if y else 0 for x, y in wide]),
    ):
        got = library(Entry(name, dtype), a, b).astype(f"uint{dtype.bits}")
        np.testing.assert_array_equal(got, np.array(expected, dtype=f"uint{dtype.bits}"))


@pytest.mark.parametrize("dtype", [INT32, INT64], ids=str)
def test_a_number_and_its_opposite_are_divided_alike(compiler, dtype, tmp_path):
    """GCC 12 takes -x / 3 for -(x / 3) where both are wanted; the least x has no opposite."""
    t, quotient, a = dtype.c_name, Entry("floordiv", dtype), values(dtype)
    body = f"{t} x = a[i]; p[i] = {quotient.helper.name}(x, 3); q[i] = {quotient.helper.name}(-x, 3);"
    text = f"void f(long n, {t} *a, {t} *p, {t} *q) {{ for (long i = 0; i < n; i++) {{ {body} }} }}"
    shared = compiled(compiler, source([quotient]) + text, tmp_path / "both.so", "-shared", "-fPIC", "-fwrapv")
    p, q = np.zeros_like(a), np.zeros_like(a)
    ctypes.CDLL(str(shared)).f(ctypes.c_long(len(a)), *(ctypes.c_void_p(x.ctypes.data) for x in (a, p, q)))
    np.testing.assert_array_equal(p, a // 3)
    np.testing.assert_array_equal(q, -a // 3)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_shifts_by_any_count(library, dtype):
    counts = np.array([0, 1, dtype.bits - 1, dtype.bits, dtype.bits + 1, 64, 1000, -1, -(2**62)], np.int64)
    a, n = (x.ravel() for x in np.meshgrid(values(dtype), counts))
    inside = [0 <= int(c) < dtype.bits for c in n]
    wrap = (1 << dtype.bits) - 1
    left = [int(x) << int(c) & wrap if ok else 0 for x, c, ok in zip(a, n, inside, strict=True)]
    right = [(int(x) >> int(c) if ok else -int(x < 0)) & wrap for x, c, ok in zip(a, n, inside, strict=True)]
    for name, expected in (("shl", left), ("shr", right)):
        got = library(Entry(name, dtype), a.copy(), n.copy()).astype(f"uint{dtype.bits}")
        np.testing.assert_array_equal(got, np.array(expected, dtype=f"uint{dtype.bits}"))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_minimum_maximum_absolute_value_sign_relu(library, dtype):
    a, b = pairs(dtype)
    expected = {
        "min": np.minimum(a, b),
        "max": np.maximum(a, b),
        "abs": np.abs(a),
        "sign": np.sign(a),
        "relu": np.maximum(a, dtype.numpy.type(0)),
    }
    for name, value in expected.items():
        arguments = (a, b) if name in PAIRS else (a,)
        for lanes in (1, 8):
            np.testing.assert_array_equal(library(Entry(name, dtype, lanes), *arguments), value)


# -- 16-bit floats ---------------------------------------------------------------------------------

HALVES = {FLOAT16: np.float16, BFLOAT16: ml_dtypes.bfloat16}


def halves_source() -> str:
    """Loops `to_f16_1`, `from_f16_8`, ... over arrays, by scalars and by vectors."""
    text, helpers = "", []
    for half, name in ((FLOAT16, "f16"), (BFLOAT16, "bf16")):
        for lanes in (1, 8, 16):
            to, back = conversion(FLOAT32, half, lanes), conversion(half, FLOAT32, lanes)
            helpers += [to, back]
            f, h = ("float", "uint16_t") if lanes == 1 else (f"wb_v{lanes}f32_u", f"wb_v{lanes}u16_u")
            step = f"for (long i = 0; i < count; i += {lanes}) *({{0}} *)(r + i) = {{1}}(*(const {{2}} *)(a + i));"
            text += (
                f"void to_{name}_{lanes}(long count, const float *a, uint16_t *r) {{\n"
                f"    {step.format(h, to.name, f)}\n}}\n"
                f"void from_{name}_{lanes}(long count, const uint16_t *a, float *r) {{\n"
                f"    {step.format(f, back.name, h)}\n}}\n"
            )
    return "".join(h.source for h in in_order(helpers)) + text


@pytest.fixture(scope="module")
def halves(compilers: Compilers, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    binary = tmp_path_factory.mktemp("halves") / "halves.so"
    command = next(iter(compilers.values()))
    return ctypes.CDLL(str(compiled(command, halves_source(), binary, "-shared", "-fPIC", "-march=native")))


def convert(handle: ctypes.CDLL, name: str, values: Array, result: type) -> Array:
    out = np.zeros(len(values), result)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (values, out)]
    getattr(handle, name)(ctypes.c_long(len(values)), *pointers)
    return out


@pytest.mark.parametrize("lanes", [1, 8, 16])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_half_becomes_its_float(halves, dtype, lanes):
    bits = np.arange(65536, dtype=np.uint16)
    name = "f16" if dtype == FLOAT16 else "bf16"
    expected = bits.view(HALVES[dtype]).astype(np.float32)
    got = convert(halves, f"from_{name}_{lanes}", bits, np.float32)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    back = convert(halves, f"to_{name}_{lanes}", got, np.uint16)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(back[number], bits[number])


@pytest.mark.parametrize("lanes", [1, 8, 16])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_floats_round_to_the_nearest_half_ties_to_even(halves, dtype, lanes):
    """Bit patterns all over, and the neighbourhood of every midpoint between two halves."""
    near = np.arange(65536, dtype=np.uint16).view(HALVES[dtype]).astype(np.float32)
    near = np.sort(near[np.isfinite(near)])
    middle = near[1:] / 2 + near[:-1] / 2
    everywhere = np.arange(0, 2**32, 40961, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([everywhere, middle, np.nextafter(middle, np.float32(9)), np.nextafter(middle, -np.float32(9))])
    x = x[: len(x) // 8 * 8].copy()
    with np.errstate(over="ignore", invalid="ignore"):
        expected = x.astype(HALVES[dtype])
    got = convert(halves, f"to_{'f16' if dtype == FLOAT16 else 'bf16'}_{lanes}", x, np.uint16)
    number = ~np.isnan(x)
    np.testing.assert_array_equal(got[number], expected.view(np.uint16)[number])
    assert np.all(np.isnan(got[~number].view(HALVES[dtype])))


def test_a_conversion_that_does_not_exist_is_refused():
    with pytest.raises(CodegenError, match="by way of float32"):
        conversion(FLOAT64, FLOAT16)

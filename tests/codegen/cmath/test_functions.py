"""The C functions against exact values, special values, one another, and on several machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from tests.codegen.cmath.library import Array, Entry, Library, compiled, source
from tests.codegen.cmath.reference import DOMAIN, EXACT, ulps
from workbench.codegen.cmath import scalar, ulp_bound, vector, vector_types
from workbench.errors import CodegenError
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import FLOAT32, FLOAT64, INT32, UINT8, DType

FLOATS = (FLOAT32, FLOAT64)
_HOT = """exp exp2 exp10 expm1 log log2 log10 log1p tanh sigmoid logsigmoid erf sqrt rsqrt sin cos pow abs floor ceil
trunc round relu min max sign copysign fmin fmax fma fdivide"""
HOT = _HOT.split()
LANES = {FLOAT32: (2, 8, 16), FLOAT64: (4, 8)}
INF, NAN = float("inf"), float("nan")
Compilers = dict[str, tuple[str, ...]]


def all_entries() -> list[Entry]:
    """Every builtin of the language on both types, and the vector forms of the hot ones."""
    scalars = [Entry(name, dtype) for name in [*BUILTINS, "min", "max", "mod"] for dtype in FLOATS]
    return scalars + [Entry(name, d, lanes) for name in HOT for d in FLOATS for lanes in LANES[d]]


@pytest.fixture(scope="module")
def library(compilers: Compilers, tmp_path_factory: pytest.TempPathFactory) -> Library:
    command = next(iter(compilers.values()))
    return Library(command, all_entries(), tmp_path_factory.mktemp("cmath"), "-march=native")


@pytest.fixture(scope="module")
def unfused(compilers: Compilers, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Scalars as on a machine without fused multiply-add, from another compiler where there is one."""
    entries = [Entry(name, dtype) for name in EXACT for dtype in FLOATS]
    return Library([*compilers.values()][-1], entries, tmp_path_factory.mktemp("unfused"), "-ffp-contract=off")


# -- accuracy --------------------------------------------------------------------------------------


def bound(function: str, dtype: DType) -> float:
    """The stated bound, which exists."""
    value = ulp_bound(function, dtype)
    assert value is not None
    return value


def samples(function: str, dtype: DType, count: int) -> list[Array]:
    """Arguments inside the function's domain that the type can hold."""
    rng = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        arrays = [sampler(rng, count)[:count].astype(dtype.numpy) for sampler in DOMAIN[function]]
    length = min(len(a) for a in arrays)
    arrays = [a[:length] for a in arrays]
    keep = np.logical_and.reduce([np.isfinite(a) & (a != 0) for a in arrays])
    return [np.ascontiguousarray(a[keep]) for a in arrays]


def exact_value(function: str, arguments: tuple[float, ...]) -> Any:
    """The exact result; None at a pole or outside the domain (rounding may put a sample there)."""
    try:
        value = EXACT[function](*[mpf(float(x)) for x in arguments])
    except (ZeroDivisionError, ValueError):
        return None
    return value if isinstance(value, mpf) and mp.isfinite(value) else None


def worst(run: Library, function: str, dtype: DType, count: int) -> tuple[float, tuple[float, ...]]:
    """Largest distance from the exact result in ulp, and where."""
    arrays = samples(function, dtype, count)
    found = (0.0, tuple(float(a[0]) for a in arrays))
    for got, *arguments in zip(run(Entry(function, dtype), *arrays), *arrays, strict=True):
        value = exact_value(function, tuple(arguments))
        if value is not None:
            found = max(found, (ulps(got, value, dtype), tuple(map(float, arguments))))
    return found


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function", EXACT)
def test_error_stays_below_the_stated_bound(library, function, dtype):
    error, where = worst(library, function, dtype, 240)
    assert error <= bound(function, dtype), f"{function}{where}"


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function", [name for name in EXACT if name in HOT or name.startswith("erf")])
def test_error_without_fused_multiply_add(unfused, function, dtype):
    error, where = worst(unfused, function, dtype, 160)
    assert error <= bound(function, dtype), f"{function}{where}"


NUMPY = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


@pytest.mark.parametrize("function", NUMPY)
def test_float32_of_every_exponent(library, function):
    """One bit pattern in 65537, both signs, denormals, infinities and NaN included."""
    x = np.arange(0, 2**32, 65537, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        exact = NUMPY[function](x.astype(np.float64))
        got, rounded = library(Entry(function, FLOAT32), x), exact.astype(np.float32)
        unit = np.maximum(np.spacing(np.abs(rounded)).astype(np.float64), 2.0**-149)
        error = np.abs(got.astype(np.float64) - exact) / unit
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    finite = np.isfinite(got) & np.isfinite(rounded)
    edge = np.isinf(got) & (np.abs(exact) > 3.4028234e38) & (np.sign(got) == np.sign(exact))
    assert np.all(same | finite | edge), x[~(same | finite | edge)]
    assert np.max(error[finite & ~same], initial=0) <= bound(function, FLOAT32)


@pytest.mark.parametrize("function", ["sin", "cos"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_arguments_next_to_multiples_of_a_quarter_turn(library, function, dtype):
    """Where reduction loses most: doubles and floats nearest to n pi/2, also far out."""
    turns = [*range(1, 40), 355, 710, 3 * 10**5, 664_000, 10**6 + 7, 10**9 + 3, 2**60 + 1, 2**100 + 9]
    x = np.array([float(n * mp.pi / 2) for n in turns]).astype(dtype.numpy)
    x = np.concatenate([x, np.nextafter(x, dtype.numpy.type(0)), -x])
    for got, argument in zip(library(Entry(function, dtype), x), x, strict=True):
        assert ulps(got, EXACT[function](mpf(float(argument))), dtype) <= bound(function, dtype), argument


# -- vectors ---------------------------------------------------------------------------------------


def wild(dtype: DType) -> Array:
    """Random bit patterns, ordinary numbers and special values."""
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**dtype.bits, 4096, dtype=f"uint{dtype.bits}").view(dtype.numpy)
    special = np.array([0.0, -0.0, INF, -INF, NAN, 1, -1, 0.5, -0.5, 2.5, -2.5, 3, 1e-40, 1e30, 88, -88])
    parts = [rng.standard_normal(4096), 100 * rng.standard_normal(4096), special]
    return np.concatenate([bits, *(p.astype(dtype.numpy) for p in parts)])


def assert_same_bits(run: Library, function: str, dtype: DType) -> None:
    """All vector forms agree with the scalar one (NaN with any NaN)."""
    x = wild(dtype)
    arity = BUILTINS[function].arity if function in BUILTINS else 2
    arrays = [x, np.roll(x, 5), np.roll(x, 77)][:arity]
    expected = run(Entry(function, dtype), *arrays)
    for lanes in LANES[dtype]:
        got = run(Entry(function, dtype, lanes), *arrays)
        np.testing.assert_array_equal(got, expected, err_msg=f"{function}, {lanes} lanes")
        np.testing.assert_array_equal(np.signbit(got)[got == 0], np.signbit(expected)[got == 0])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function", HOT)
def test_vectors_give_the_bits_of_scalars(library, function, dtype):
    assert_same_bits(library, function, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("options", ["-march=native -O3", "-O3 -ffp-contract=off"])
def test_vectors_give_the_bits_of_scalars_however_compiled(compiler, options, tmp_path):
    optimised = Library(compiler, all_entries(), tmp_path, *options.split())
    for function in HOT:
        for dtype in FLOATS:
            assert_same_bits(optimised, function, dtype)


def test_one_machine_gets_one_variant():
    both, narrow, wide = (vector("exp", FLOAT32, 8, register_bytes=n) for n in (0, 16, 32))
    assert both is not None
    assert narrow is not None
    assert wide is not None
    assert "#if WB_VECTOR_BYTES >= 32" in both.source
    assert "#if" not in narrow.source + wide.source
    assert "wb_exp_v4f32(" in narrow.source
    assert "wb_exp_v4f32(" not in wide.source


# -- special values --------------------------------------------------------------------------------

SPECIAL = {
    "exp": [(-INF, 0), (INF, INF), (NAN, NAN), (0, 1), (-0.0, 1), (1000, INF), (-1000, 0)],
    "exp2": [(-INF, 0), (INF, INF), (NAN, NAN), (3, 8), (-1, 0.5), (2000, INF), (-2000, 0)],
    "exp10": [(-INF, 0), (INF, INF), (NAN, NAN), (0, 1), (400, INF), (-400, 0)],
    "expm1": [(-INF, -1), (INF, INF), (NAN, NAN), (-0.0, -0.0), (-100, -1)],
    "log": [(0, -INF), (-0.0, -INF), (-1, NAN), (-INF, NAN), (INF, INF), (NAN, NAN), (1, 0)],
    "log2": [(0, -INF), (-1, NAN), (INF, INF), (NAN, NAN), (1, 0), (8, 3), (0.25, -2)],
    "log10": [(0, -INF), (-1, NAN), (INF, INF), (NAN, NAN), (1, 0)],
    "log1p": [(-1, -INF), (-2, NAN), (INF, INF), (NAN, NAN), (-0.0, -0.0)],
    "tanh": [(-INF, -1), (INF, 1), (NAN, NAN), (-0.0, -0.0), (50, 1)],
    "sigmoid": [(-INF, 0), (INF, 1), (NAN, NAN), (0, 0.5)],
    "logsigmoid": [(-INF, -INF), (INF, 0), (NAN, NAN), (-200, -200)],
    "erf": [(-INF, -1), (INF, 1), (NAN, NAN), (-0.0, -0.0), (-9, -1)],
    "sin": [(INF, NAN), (-INF, NAN), (NAN, NAN), (-0.0, -0.0), (0, 0)],
    "cos": [(INF, NAN), (-INF, NAN), (NAN, NAN), (0, 1)],
    "sqrt": [(-1, NAN), (INF, INF), (-0.0, -0.0)],
    "rsqrt": [(0, INF), (INF, 0), (-1, NAN), (4, 0.5)],
    "round": [(0.5, 1), (-0.5, -1), (2.5, 3), (-2.5, -3), (0.49999997, 0), (1e30, 1e30), (NAN, NAN)],
    "sign": [(3, 1), (-3, -1), (0, 0), (NAN, NAN), (-INF, -1)],
    "relu": [(-3, 0), (3, 3), (NAN, NAN), (-INF, 0)],
    "erfinv": [(1, INF), (-1, -INF), (2, NAN), (NAN, NAN), (0, 0)],
    "erfcinv": [(0, INF), (2, -INF), (1, 0), (-1, NAN), (NAN, NAN)],
    "erfcx": [(INF, 0), (-INF, INF), (NAN, NAN), (0, 1)],
    "normcdf": [(-INF, 0), (INF, 1), (0, 0.5), (NAN, NAN)],
    "normcdfinv": [(0, -INF), (1, INF), (0.5, 0), (2, NAN), (NAN, NAN)],
    "cyl_bessel_i0": [(0, 1), (INF, INF), (-INF, INF), (NAN, NAN)],
    "cyl_bessel_i1": [(0, 0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "sinpi": [(1, 0), (-3, -0.0), (0.5, 1), (-2.5, -1), (1e30, 0), (INF, NAN), (NAN, NAN)],
    "cospi": [(0.5, 0), (1, -1), (2, 1), (1e30, 1), (INF, NAN), (NAN, NAN)],
    "rcbrt": [(8, 0.5), (-8, -0.5), (0, INF), (-0.0, -INF), (INF, 0), (NAN, NAN)],
    "isnan": [(NAN, 1), (INF, 0), (0, 0)],
    "isinf": [(NAN, 0), (INF, 1), (-INF, 1), (0, 0)],
    "logb": [(8, 3), (0.3, -2), (0, -INF), (INF, INF)],
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("function", SPECIAL)
def test_special_values(library, function, dtype):
    with np.errstate(over="ignore"):
        x, expected = (np.array(column).astype(dtype.numpy) for column in zip(*SPECIAL[function], strict=True))
    got = library(Entry(function, dtype), x)
    np.testing.assert_array_equal(got, expected)
    zeros = expected == 0
    if any(value == 0 and np.signbit(value) for value in expected):
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_pow_of_special_values_is_that_of_c(library, dtype):
    values = [0.0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -0.5, 2, -2, 3, -3, 1e-30, 1e30, -1e30, 4097, 2.5, 1e-45]
    x, y = (a.ravel().astype(dtype.numpy) for a in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    got = library(Entry("pow", dtype), x, y)
    np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype == FLOAT32 else 1e-15)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sums_of_exponentials_neither_overflow_nor_forget_what_is_no_number(library, dtype):
    values = [0.0, -0.0, 1, -1, 0.3, -40, INF, -INF, NAN, 1000, -1000, 999.5, 1e30]
    x, y = (a.ravel().astype(dtype.numpy) for a in np.meshgrid(values, values))
    got = library(Entry("logaddexp", dtype), x, y)
    np.testing.assert_allclose(got, np.logaddexp(x, y), rtol=1e-6 if dtype == FLOAT32 else 1e-15)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_minimum_and_maximum_keep_nan_and_fmin_fmax_drop_it(library, dtype):
    values = [NAN, 1, 2, -INF, INF, -0.0]
    a, b = (v.ravel().astype(dtype.numpy) for v in np.meshgrid(values, values))
    for name, expected in {"min": np.minimum, "max": np.maximum, "fmin": np.fmin, "fmax": np.fmax}.items():
        np.testing.assert_array_equal(library(Entry(name, dtype), a, b), expected(a, b))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_mod_of_floats_rounds_towards_minus_infinity(library, dtype):
    values = [3.5, -3.5, 1, -1, 0.75, -0.75, 7, -7, 1e10]
    a, b = (v.ravel().astype(dtype.numpy) for v in np.meshgrid(values, values))
    np.testing.assert_array_equal(library(Entry("mod", dtype), a, b), np.remainder(a, b))


def test_norms_do_not_overflow_or_underflow(library):
    big, small = np.array([1e300, 1e-300, INF, NAN]), np.array([1e300, 1e-300, NAN, 1])
    np.testing.assert_allclose(
        library(Entry("norm3d", FLOAT64), big, small, small), [3**0.5 * 1e300, 3**0.5 * 1e-300, INF, NAN]
    )
    np.testing.assert_allclose(library(Entry("rhypot", FLOAT64), big, small), [1e-300 / 2**0.5, 1e300 / 2**0.5, 0, NAN])


# -- machines and names ----------------------------------------------------------------------------


TARGETS = [
    ("gcc", "-march=x86-64"), ("gcc", "-march=haswell"), ("gcc", "-march=skylake-avx512"),
    ("clang", "-march=x86-64"), ("clang", "-march=skylake-avx512"), ("zig", "-target aarch64-linux-gnu"),
]  # fmt: skip
FEW = ("exp", "log", "tanh", "erf", "sin", "pow", "round", "max", "sqrt")


@pytest.mark.parametrize(("name", "options"), TARGETS)
def test_other_machines_compile(compilers, name, options, tmp_path):
    if name not in compilers:
        pytest.skip(f"install {name}: this C compiler was not found")
    entries = [Entry(f, d, lanes) for f in FEW for d in FLOATS for lanes in (1, LANES[d][-1])]
    compiled(compilers[name], source(entries), tmp_path / "some.o", "-c", *options.split())


def test_every_builtin_has_text_and_a_bound_is_stated():
    for name in BUILTINS:
        for dtype in FLOATS:
            assert scalar(name, dtype).name.startswith(f"wb_{name}_")
            bound = ulp_bound(name, dtype)
            assert bound is None or 0 <= bound <= (4 if name in HOT else 6)


def test_names_of_functions_and_types():
    assert vector_types(UINT8, 16).name == "wb_v16u8"
    assert {h.name for h in vector_types(FLOAT64, 4).requires} >= {"wb_v4i64", "wb_v4u64"}
    assert "wb_v8f32_u" in vector_types(FLOAT32, 8).source
    assert vector("max", INT32, 8).name == "wb_max_v8i32"  # type: ignore[union-attr]
    assert vector("j0", FLOAT64, 4) is None


def test_an_unknown_function_lists_the_known_ones():
    with pytest.raises(CodegenError, match=r"unknown C function on float32 'tanhh'; did you mean 'tanh'"):
        scalar("tanhh", FLOAT32)


def test_the_text_depends_on_nothing_but_its_arguments(tmp_path: Path):
    entries = all_entries()
    assert source(entries) == source(entries)


def test_functions_that_need_no_mathematics_are_those_of_the_tables():
    from workbench.codegen.cmath.catalogue import PLAIN, recipes

    for dtype in (FLOAT32, FLOAT64):
        assert {name: recipes(dtype)[name] for name in PLAIN} == PLAIN

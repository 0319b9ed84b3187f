"""Expressions of all element types have the same bits in lanes, one by one, as CUDA and in the oracle."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.codegen.expression_campaign import failures
from tests.codegen.expression_ways import building, differences
from tests.runtime.emulation.test_generated import on_threads
from tests.support import examples
from workbench.lang.dtypes import DTYPES

BATCHES = examples(quick=2, ci=6, full=600)
SEED = 31

# (expression, what went wrong): each was computed in two ways, with two results.
FOUND = [
    ("X_int64(i) % 1000000 * 30000000000000 / 10", "a remainder is not negative, so its multiples were not either"),
    ("int64(N) * 3000000000 * 4000000000 / 10", "a size is not negative, so its multiples were not either"),
    ("float64(N * 1000000000)", "a size was a number of 64 bits in C"),
    ("i * 1000000000 < 5 ? 1 : 2", "whole numbers were compared in lanes of 32 bits"),
    ("X_int64(i) * 20 / 10 + 1", "an int64 was shortened as index arithmetic, in CUDA"),
    ("int64(2147483647) << 31", "a constant of 64 bits was an int in C"),
    ("(~int64(5)) * int64(2147483647)", "so was its complement"),
    ("(X_bool(i) ? int64(65536) : int64(7)) * int64(65536)", "and a choice of two"),
    ("uint64(X_float64(i)) + uint64(X_float16(i))", "beyond the ends of the type C leaves open what a float becomes"),
    ("float(int32(X_float32(i)))", "GCC 12 takes it for a rounding, which keeps the sign of a zero"),
    ("double(int32(X_float64(i))) + double(int8(X_float32(i)))", "likewise"),
    ("bfloat16(X_float16(i))", "16 bits of one kind were taken for those of the other"),
    ("float64(X_int16(i) > X_int16(i)) - float64(~max(X_uint32(0), uint32(4294967295)))", "GCC 12: 0.0 - x is -x"),
    ("0.0 - float(X_bool(i) && X_int8(i) > 0)", "likewise"),
    ("double(X_int16(i) > X_int16(i)) - abs(double(X_bool(i)))", "likewise"),
    ("1.0 / round(X_float32(i))", "round lost the sign of a zero in the oracle"),
]


@pytest.fixture
def users_flags(tmp_path):
    """Kernels are built with the flags that users get, in a place of their own."""
    with building(tmp_path):
        yield


@pytest.mark.parametrize("width", [64, 128, 256, 512])
def test_expressions_that_went_wrong_are_equal_in_every_way(width: int, users_flags) -> None:
    assert not differences([expression for expression, _ in FOUND], 5, width)


@pytest.mark.parametrize("part", range(5))
def test_random_expressions_are_equal_in_every_way(part: int, tmp_path) -> None:
    for seed in range(SEED + part, SEED + BATCHES, 5):
        with building(tmp_path, "-O0"):
            assert not failures(seed), f"python -m tests.codegen.expression_campaign --expressions 1 --seed {seed}"


def test_random_expressions_are_equal_with_the_flags_that_users_get(users_flags) -> None:
    assert not failures(SEED - 1)


def test_no_signed_product_sum_or_shift_of_values_is_left_to_a_compiler_that_knows_no_wrapping() -> None:
    op = wb.operator("def f(int32(N) A, int64(N) B) -> (o) { o(i) = -((A(i) * A(i) + B(i) - 7) / 3 << 2) }")
    text = wb.generate(on_threads(wb.schedule(op)), "cuda").source
    called = ("wb_mul_i32", "wb_add_i64", "wb_sub_i64", "wb_shl_i64", "wb_neg_i64")
    assert [name for name in called if f"{name}(" not in text.partition("__global__")[2]] == []


@pytest.mark.parametrize("name", [d.name for d in DTYPES.values() if d.is_integral])
def test_a_float_becomes_the_nearest_end_of_an_integer_type_and_0_if_it_is_no_number(name: str) -> None:
    op = wb.operator(f"def f(double(N) A) -> (o) {{ o(i) = {name}(A(i)) }}")
    ends = np.iinfo(name)
    given = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, -0.9, 1.9, 100.5])
    wanted = [0, ends.max, ends.min, ends.max, ends.min, 0, 1, 100]
    assert op(given).tolist() == op.evaluate(given).tolist() == wanted

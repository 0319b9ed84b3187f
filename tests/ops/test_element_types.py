"""Every operator of the library in every element type that it takes, compiled, against the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import workbench as wb
from tests.codegen.expression_ways import building
from tests.ops.awkward import awkward_sizes
from tests.ops.test_compiled import given, needs_out, tupled
from tests.ops.test_values import wide
from tests.support import PROFILE, examples
from workbench import ops
from workbench.errors import CallError, OperatorError, UnknownOperator
from workbench.lang import Operator
from workbench.lang.dtypes import DTYPES

GENERIC = [name for name in ops.list() if ops.load(name).generic]
SIZES = examples(quick=1, ci=1, full=2)
SAMPLE = examples(quick=16, ci=64, full=10_000)
TOLERANCE = {"float64": 1e-6, "float32": 5e-5, "float16": 3e-3, "bfloat16": 2e-2}


def in_type(name: str, dtype: str) -> tuple[Operator | None, str]:
    """The operator in an element type, or why there is none."""
    try:
        return ops.load(name).astype(dtype) if dtype else ops.load(name), ""
    except OperatorError as error:
        return None, str(error)


def cases() -> list[tuple[str, str]]:
    """All operators with all element types (one without a type variable has those of its text), or some of them."""
    every = [(name, dtype) for name in ops.list() for dtype in (DTYPES if name in GENERIC else [""])]
    step = max(1, len(every) // SAMPLE)
    return every[len(PROFILE) % step :: step]


def arguments(op: Operator, sizes: dict[str, int]) -> tuple:
    """Sample arguments, diagonally dominant where the operator divides by a diagonal, and the contents of `out=`."""
    arrays, out = ops.sample_arrays(op, seed=7, **sizes), ops.sample_out(op, seed=8, **sizes)
    if op.name in ("cholesky", "lu", "triangular_solve"):
        first = wide(arrays[0])
        first = first @ first.T + 2 * len(first) * np.eye(len(first))
        arrays = (first.astype(arrays[0].dtype), *arrays[1:])
    return arrays, out if needs_out(op) else None


@pytest.fixture(scope="module")
def plain_builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels without optimisation: what is tried is the text."""
    with building(tmp_path_factory.mktemp("plain"), "-O0"):
        yield


@pytest.mark.parametrize(("name", "dtype"), cases())
def test_an_operator_computes_in_every_element_type_what_the_oracle_says(name, dtype, plain_builds) -> None:
    op, refusal = in_type(name, dtype)
    if op is None:
        assert dtype == "bool" or f"{name} takes floats only" in refusal
        return
    for sizes in awkward_sizes(name)[:SIZES]:
        arrays, out = arguments(op, sizes)
        agree(op(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))


def agree(found, wanted) -> None:
    for a, b in zip(map(np.asarray, tupled(found)), map(np.asarray, tupled(wanted)), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b)
        else:
            tolerance = TOLERANCE[a.dtype.name]
            np.testing.assert_allclose(wide(a), wide(b), rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "float64"])
def test_fields_of_a_tuple_may_differ_in_width(name: str, dtype: str, plain_builds) -> None:
    random = np.random.default_rng(3)
    for shape in ((3, 17), (6, 2), (64, 33)):
        A = random.integers(0, 100, shape).astype(dtype)
        agree(ops.load(name)(A), ops.load(name).evaluate(A))


def test_nearest_of_int64_is_that_of_the_oracle(plain_builds) -> None:
    random = np.random.default_rng(4)
    for m, n, k in ((3, 17, 2), (6, 2, 5), (64, 33, 3)):
        X, C = (random.integers(-(2**40), 2**40, (rows, k)) for rows in (m, n))
        agree(ops.nearest(X, C), ops.nearest.evaluate(X, C))


WIDTHS = """
monoid most<T, U>(int8 left, T value, U weight, int64 index) {
    identity (0, -inf, 0, 9223372036854775807)
    combine (a, v, u, i), (b, w, x, j) -> (first ? a : b, first ? v : w, u + x, first ? i : j)
        where far = int64(v) - int64(w), first = a > b || (a == b && (far > 0 || (far == 0 && i < j)))
}
def f<T, U>(int8(M,N) L, T(M,N) A, U(M,N) W) -> (a, b, c, d) {
    (a(m), b(m), c(m), d(m)) most=! (L(m,n), A(m,n), W(m,n), int64(n))
}
"""


@pytest.mark.parametrize("first", ["int8", "uint16", "int32"])
@pytest.mark.parametrize("second", ["float", "double", "int64", "uint8"])
def test_temporaries_of_a_combination_have_their_own_widths(first: str, second: str, plain_builds) -> None:
    random = np.random.default_rng(5)
    names = {"float": "float32", "double": "float64"}
    for shape in ((3, 17), (7, 2), (5, 64)):
        L = random.integers(0, 2, shape).astype("int8")
        A, W = (random.integers(0, 9, shape).astype(names.get(d, d)) for d in (first, second))
        op = wb.operator(WIDTHS)
        agree(op(L, A, W), op.evaluate(L, A, W))


@pytest.mark.parametrize("name", GENERIC)
def test_a_generic_operator_takes_every_number_or_says_in_its_own_line_which(name: str) -> None:
    for dtype in ("uint8", "int64", "float16", "bfloat16") if PROFILE == "full" else ("int16", "float16"):
        op, refusal = in_type(name, dtype)
        assert op or (f"{name} takes floats only" in refusal and f"def {name}<T: floats>(" in refusal)


def test_the_message_at_a_call_says_which_types_an_operator_takes(golden) -> None:
    with pytest.raises(CallError) as caught:
        ops.attention(*(np.ones((1, 2, 3), np.int32) for _ in "QKV"))
    golden(str(caught.value))


def test_the_largest_are_found_once_each_though_others_are_as_small_as_can_be() -> None:
    least = np.iinfo(np.int8).min
    values, places = ops.top_k(np.array([[least, 5, least]], np.int8), k=3)
    assert values.tolist() == [[5, least, least]]
    assert places.tolist() == [[1, 0, 2]]
    values, places = ops.top_k(np.array([[5, -np.inf, 3]], np.float32), k=3)
    assert values.tolist() == [[5, 3, -np.inf]]
    assert places.tolist() == [[0, 2, 1]]


def test_examples_of_an_operator_are_found_by_its_name() -> None:
    assert ops.examples("softmax") == ops.examples(ops.softmax)
    with pytest.raises(UnknownOperator, match="did you mean 'softmax'"):
        ops.examples("sofmax")
    with pytest.raises(CallError, match="takes an operator or the name"):
        ops.examples(3)  # type: ignore[arg-type]

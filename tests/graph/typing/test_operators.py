"""The type of every operator follows from its definition: what inference says is what the oracle gives."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.small_sizes import small_sizes
from workbench.errors import ModelError
from workbench.graph import Builder, model
from workbench.graph.terms.types import TensorType, TupleType
from workbench.graph.text.printing_types import print_type
from workbench.graph.typing.signatures import signature
from workbench.lang.dtypes import BFLOAT16


def arguments(op: wb.Operator, sizes: dict[str, int]) -> list[np.ndarray]:
    """Sample arguments in the order in which a model gives them: no sizes, but initial contents."""
    given = [
        a for name, a in zip(op.parameters, wb.ops.sample_arrays(op, **sizes), strict=True) if name not in op.scalars
    ]
    out = wb.ops.sample_out(op, **sizes)
    contents = () if out is None else out if isinstance(out, tuple) else (out,)
    pairs = zip(op.outputs, contents, strict=False)
    return given + [array for name, array in pairs if op.tensors[name].role == "inout"]


@pytest.mark.parametrize("name", wb.ops.list())
def test_the_inferred_type_of_a_result_is_that_of_the_oracles_array(name):
    op = wb.ops.load(name)
    sizes = small_sizes(op)
    arrays = arguments(op, sizes)
    told = signature(op).told
    b = Builder()
    call = b.call(op, *arrays, **{size: value for size, value in sizes.items() if size not in told})
    found = b.model(call)
    value = found.evaluate()
    values = value if isinstance(value, tuple) else (value,)
    of = found.type_of(call)
    types = of.items if isinstance(of, TupleType) else (of,)
    for array, kind in zip(values, types, strict=True):
        assert isinstance(kind, TensorType)
        assert kind.element.name == array.dtype.name
        assert tuple(dim.constant for dim in kind.dims) == array.shape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fn main(x: float32[n, c, h, w], k: float32[f, c, 3, 3]) { conv2d(x, k, stride=1, pad=1, dilation=1) }",
         "float32[n, f, h, w]"),
        ("fn main(x: float32[n, c, h, w], k: float32[f, c, 3, 3]) { conv2d(x, k, stride=2, pad=1, dilation=1) }",
         "float32[n, f, (h + 1) / 2, (w + 1) / 2]"),
        ("fn main(x: int64[n, k]) { softmax(x) }", "float32[n, k]"),
        ("fn main(x: bfloat16[n, k]) { softmax(x) }", "float32[n, k]"),
        ("fn main(x: float64[n, k]) { argmax(x) }", "(float64[n], int32[n])"),
        ("fn main(a: int8[n, k], b: int8[k, m]) { matmul_int8(a, b) }", "int32[n, m]"),
        ("fn main(x: float32[n, c, h, w]) { max_pool2d(x, k=h, stride=1, pad=0) }", "float32[n, c, 1, w - h + 1]"),
        ("fn main(x: float32[a, b]) { top_k(x, k=b) }", "(float32[a, b], int32[a, b])"),
        ("fn main(x: float32[n, 2*k]) { transpose(x) }", "float32[2 * k, n]"),
    ],
)  # fmt: skip
def test_results_have_named_sizes(text, expected):
    assert print_type(model(text).type_of("main").result) == expected  # type: ignore[union-attr]


def test_an_operator_of_a_cell_is_a_full_citizen_at_once():
    """Nobody has planned for it, and nothing but its definition says anything of it."""
    stretch = wb.operator("""
    def stretch<T>(T(N,M) X, int32 by) -> (Y, S) {
        Y(i,j) = X(i, j / by) where i in 0:N, j in 0:M*by
        S(i) +=! Y(i,j)
    }""")
    b = Builder()
    x = b.parameter("x", "float32[n, m]")
    made = b.model(b.call(stretch, x, by="n + 1"))
    assert print_type(made.type_of("main").result) == "(float32[n, m * n + m], float32[n])"  # type: ignore[union-attr]
    y, s = made.evaluate(np.ones((2, 3), np.float32))
    assert y.shape == (2, 9)
    assert np.array_equal(s, [9, 9])
    assert model(str(made)) == made


def test_what_means_nothing_for_a_type_is_said_where_it_is_called():
    text = "def root<T>(T(N) x) -> (y) { y(i) = x(i) && true }\nfn main(x: float32[n]) { root(x) }"
    with pytest.raises(ModelError):
        model(text)


@pytest.mark.parametrize("name", ["matmul", "conv2d_bias"])
def test_sums_of_narrow_numbers_have_the_type_in_which_they_are_summed(name):
    b = wb.graph.Builder()
    shapes = {"matmul": ["2, 3", "3, 4"], "conv2d_bias": ["1, 2, 5, 5", "3, 2, 2, 2", "3"]}[name]
    arguments = [b.parameter(f"x{at}", f"bfloat16[{shape}]") for at, shape in enumerate(shapes)]
    model = b.model(b.call(name, *arguments))
    given = [np.ones(tuple(map(int, shape.split(","))), BFLOAT16.numpy) for shape in shapes]
    assert model.type_of("main").result.element.numpy == model.evaluate(*given).dtype == np.float32


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_what_begins_with_a_literal_has_the_type_of_what_is_written_to_it(element):
    text = """
    def smoothed<T: floats>(T(N,D) x) -> (y) {
        y(t,d) = 0.0 where t in 0:N, d in 0:D
        for t in 1:N { y(t,d) = 0.5 * y(t-1,d) + x(t,d) }
    }
    """
    made = model(f"{text}\nfn main(x: {element}[n, d]) {{ smoothed(x) }}")
    assert print_type(made.type_of("main").result) == f"{element}[n, d]"  # type: ignore[union-attr]
    assert made.evaluate(np.ones((3, 2), element)).tolist() == [[0, 0], [1, 1], [1.5, 1.5]]
    assert print_type(model(f"{text}\nfn main(x) {{ smoothed(x) }}").type_of("main").result) == "t[d, i]"  # type: ignore[union-attr]

"""The element type of a temporary or result is the widest of the values written into it; a literal takes theirs."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.codegen.expression_ways import building
from tests.lang.derived.differences import Point, complaints
from tests.ops.test_values import wide
from tests.support import examples
from workbench.errors import OperatorError
from workbench.lang import Operator, operator
from workbench.lang.dtypes import dtype
from workbench.runtime.emulation import build_on_cpu

FLOATS = ("float32", "float64", "float16", "bfloat16")

SMOOTHED = """
def smoothed<T: floats>(T(N,D) x, T a) -> (y) {
    y(t,d) = 0.0 where t in 0:N, d in 0:D
    for t in 1:N { y(t,d) = a * y(t-1,d) + x(t,d) }
}"""
BORDERED = """
def bordered<T: floats>(T(N,D) x) -> (y) {
    y(t,d) = 0.5 where t in 0:N+2, d in 0:D
    y(t,d) = x(t-1,d)
}"""
COUNTED = """
def counted<T: floats>(T(N,D) x) -> (y) {
    y(t) = -0.5 where t in 0:N
    y(t) += x(t,d)
}"""
MUTUAL = """
def mutual<T: floats>(T(N,D) x) -> (y, z) {
    y(t,d) = 1.0 where t in 0:N+1, d in 0:D
    z(t,d) = y(t,d)
    for t in 1:N { y(t,d) = x(t-1,d)   z(t,d) = y(t-1,d) }
}"""
CALLED = """
def copied<T>(T(N,D) u) -> (T(N,D) v) { v(i,j) = u(i,j) }
def called<T: floats>(T(N,D) x) -> (y, z) {
    y(t,d) = 0.0 where t in 0:N, d in 0:D
    z = copied(y)
    y = copied(x)
    z(t,d) = y(t,d)
}"""
LAST = """
def last<T: floats>(T(N,D) x) -> (y) {
    h(t,d) = 0.25 where t in 0:N, d in 0:D
    g(t,d) = h(t,d)
    h(t,d) max= g(t,d) * x(t,d)
    y(t,d) = h(t,d) + g(t,d)
}"""
COPIES = {"float32": "float32", "float64": "float64", "float16": "float16", "bfloat16": "bfloat16"}
COMPUTED = {**COPIES, "float16": "float32", "bfloat16": "float32"}
CASES = {
    "smoothed": (SMOOTHED, COMPUTED), "bordered": (BORDERED, COPIES), "counted": (COUNTED, COMPUTED),
    "mutual": (MUTUAL, COPIES), "called": (CALLED, COPIES), "last": (LAST, COMPUTED),
}  # fmt: skip


def types(op: Operator) -> set[str]:
    """The element types of the results."""
    return {op.tensors[name].dtype.name for name in op.outputs}


def data(element: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype(element).numpy)


def arguments(op: Operator, element: str, shape: tuple[int, ...]) -> list:
    return [data(element, shape), *(0.75 for name in op.parameters if name == "a")]


def tupled(found) -> tuple:
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_a_literal_takes_the_type_of_the_other_values(name, element):
    text, wanted = CASES[name]
    assert types(wb.operators(text)[name].astype(element)) == {wanted[element]}


@pytest.fixture(scope="module")
def plain_builds(tmp_path_factory):
    """Kernels without optimisation: what is tried is the text."""
    with building(tmp_path_factory.mktemp("plain"), "-O0"):
        yield


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_c_computes_in_the_common_type_what_the_oracle_says(name, element, plain_builds):
    op = wb.operators(CASES[name][0])[name]
    for shape in ((1, 1), (5, 17)):
        given = arguments(op, element, shape)
        for a, b in zip(tupled(op(*given)), tupled(op.evaluate(*given)), strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(wide(a), wide(b), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_cuda_computes_in_the_common_type_what_the_oracle_says(name):
    for element in ("float64", "float16"):
        op = wb.operators(CASES[name][0])[name].astype(element)
        given = arguments(op, element, (5, 17))
        kernel = build_on_cpu(wb.generate(wb.autoschedule(op, "h200", N=5, D=17), target="h200"))
        for a, b in zip(tupled(kernel(*given)), tupled(op.evaluate(*given)), strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(wide(a), wide(b), rtol=1e-6, atol=1e-6)


def test_the_values_are_those_of_the_recurrence():
    x = data("float64", (6, 3))
    y = np.zeros_like(x)
    for t in range(1, 6):
        y[t] = 0.75 * y[t - 1] + x[t]
    np.testing.assert_array_equal(operator(SMOOTHED).evaluate(x, 0.75), y)


@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_differences_and_has_the_variables_type(name):
    op = wb.operators(CASES[name][0])[name]
    assert complaints(Point(op.astype("double"), arguments(op, "float64", (4, 3)))) == []
    gradient = wb.grad(op)
    assert "double" not in gradient.text
    for element in FLOATS:
        assert gradient.astype(element).tensors["d_x"].dtype.name in (element, COMPUTED[element])


@pytest.mark.parametrize(
    ("parameters", "body", "wanted"),
    [
        ("float(N) x, double(N) z", "y(i) = x(i)  y(i) += z(i)", "float64"),
        ("half(N) x, bfloat16(N) z", "y(i) = x(i)  y(i) = z(i)", "float32"),
        ("half(N) x, half(N) z", "y(i) = x(i)  y(i) += z(i)", "float16"),
        ("uint8(N) x, int32(N) z", "y(i) = x(i)  y(i) max= z(i)", "int32"),
        ("int64(N) x", "y(i) = 0 where i in 0:N  y(i) += x(i)", "int64"),
        ("int8(N) x", "y(i) = 0 where i in 0:N  y(i) += x(i)", "int32"),
        ("uint8(N) x", "y(i) = 0 where i in 0:N  y(i) += x(i)", "int32"),
        ("uint32(N) x", "y = 0  y += x(i)", "uint32"),
        ("uint64(N) x", "y = 0  y max= x(i)", "uint64"),
        ("uint64(N) x", "y = 5000000000  y += x(i)", "uint64"),
        ("uint32(N) x", "y = 5000000000  y += x(i)", "int64"),
        ("uint32(N) x", "y = 0  y = -1  y max= x(i)", "int32"),
        ("int8(N) x", "y(i) = x(i)  y(i) = 7 where i in 0:1", "int8"),
        ("int8(N) x", "y(i) = x(i)  y(i) = 300 where i in 0:1", "int32"),
        ("int32(N) x", "y(i) = 0.5 where i in 0:N  y(i) = x(i)", "float32"),
        ("bool(N) x", "y(i) = 0 where i in 0:N  y(i) += x(i)", "int32"),
        ("float(N) x", "y(i) = 0.5 where i in 0:N  y(i) = 1.5 where i in 0:1", "float32"),
        ("double(N) x", "y(i) = 0.5 where i in 0:N  y(i) = y(i)  y(i) = x(i) where i in 0:1", "float64"),
    ],
)
def test_the_widest_value_of_its_kind_decides(parameters, body, wanted):
    assert types(operator(f"def f({parameters}) -> (y) {{ {body} }}")) == {wanted}


@pytest.mark.parametrize("element", ["uint8", "int8", "uint32", "int64", "uint64"])
def test_a_sum_that_begins_with_an_integer_holds_for_every_type_of_integers(element, plain_builds):
    op = operator("def f<T: integers>(T(N) x) -> (y) { y = 0  y += x(n) }")
    x = np.array([np.iinfo(element).max - 3, 1, 2], element)
    total, wanted = op(x), op.evaluate(x)
    assert total == wanted == int(np.iinfo(element).max)
    assert total.dtype == wanted.dtype == np.dtype("int32" if np.iinfo(element).bits < 32 else element)


@pytest.mark.parametrize(
    ("parameters", "body", "words"),
    [
        ("float(N) x", "y(i) = 0 where i in 0:N  y(i) = x(i)", "assign type float to y of narrower type int32"),
        ("uint64(N) x", "y(i) = -1 where i in 0:N  y(i) = x(i)", "assign type uint64 to y of narrower type int32"),
        ("uint64(N) x", "y = 0  y += x(i)  y = -1", "assign type int32 to y of narrower type uint64"),
        ("uint8(N) x, int8(N) z", "y(i) = x(i)  y(i) = z(i)", "assign type int8 to y of narrower type uint8"),
        ("bool(N) x, int8(N) z", "y(i) = x(i)  y(i) = z(i)", "assign type int8 to y of narrower type bool"),
        ("double(N) x", "y(i) = 0.0 where i in 0:N  y(i) = x(i)  y(q) = w(i)", "unknown tensor or function 'w'"),
    ],
)
def test_what_no_type_of_its_kind_has_room_for_is_refused(parameters, body, words):
    with pytest.raises(OperatorError) as caught:
        operator(f"def f({parameters}) -> (y) {{ {body} }}")
    assert words in str(caught.value)
    assert str(caught.value).count("line 1") == 1


# --- random programs: what annotations say independently


WIDER = ("float16", "bfloat16", "float32", "float64")


def program(random: Random) -> str:
    """A body of copies, literals, sums and casts between three tensors and inputs of several types."""
    names, inputs = ("u", "v", "w"), ("a", "b", "c")
    lines, written = [], []
    for _ in range(random.randint(3, 8)):
        target = random.choice(names)
        value = random.choice(("literal", "input", "copy", "sum", "cast", "call"))
        sources = written or inputs
        read = f"{random.choice(sources)}(i)"
        text = {
            "literal": random.choice(("0.0", "-1.5", "2.0 * 0.25")), "input": f"{random.choice(inputs)}(i)",
            "copy": read, "sum": f"0.5 * {read} + {random.choice(inputs)}(i)",
            "cast": f"{random.choice(('float', 'half'))}({read})", "call": f"max({read}, 0.25)",
        }[value]  # fmt: skip
        sign = random.choice(("=", "=", "+=", "max=")) if target in written else "="
        lines.append(f"    {target}(i) {sign} {text} where i in 0:N")
        written += [target] * (target not in written)
    lines = ["    for t in 0:2 {", *lines, "    }"] if random.random() < 0.3 else lines
    declared = ", ".join(f"{random.choice(WIDER)}(N) {name}" for name in inputs)
    return f"def f({declared}) -> ({', '.join(written)}) {{\n" + "\n".join(lines) + "\n}"


def decided(text: str) -> list[str]:
    """Results into which something is written whose type is known, and nothing is added up (which is of float32)."""
    lines = re.findall(r" (\w)\(i\) (\S*)= (.*) where", text)
    known: set[str] = set()
    for _ in lines:
        given = re.compile(rf"\b([abc]\(|half|float|[{''.join(known)}_]\(i)")
        known |= {name for name, _, value in lines if given.search(value)}
    return sorted(known - {name for name, sign, _ in lines if sign})


def annotated(text: str, chosen: dict[str, str]) -> Operator | None:
    """The program with these types written at its results; None where the language refuses one as too narrow."""
    head, _, rest = text.partition(" -> (")
    names, _, body = rest.partition(") {")
    results = ", ".join(f"{chosen[name]}(N) {name}" for name in names.split(", "))
    try:
        return operator(f"{head} -> ({results}) {{{body}")
    except OperatorError as refused:
        return None if "narrower type" in str(refused) else operator(text)


def test_annotations_with_the_types_that_are_found_mean_the_same_and_narrower_ones_are_refused():
    counts: Counter[str] = Counter()
    for seed in range(examples(quick=60, ci=200, full=3000)):
        text = program(Random(seed))
        op = operator(text)
        found = {name: op.tensors[name].dtype.name for name in op.outputs}
        same = annotated(text, found)
        assert same is not None, text
        given = [data(op.tensors[name].dtype.name, (3,), seed + at) for at, name in enumerate(op.parameters)]
        for a, b in zip(tupled(op.evaluate(*given)), tupled(same.evaluate(*given)), strict=True):
            np.testing.assert_array_equal(wide(a), wide(b))
        counts.update(found.values())
        wide_ones = [name for name, of in found.items() if of == "float64"]
        for name in wide_ones:
            assert annotated(text, {**found, name: "float32"}) is None, text
        counts["narrower refused"] += len(wide_ones)
        single = [name for name in decided(text) if found[name] == "float32"]
        for some in [[name] for name in single] + [single] * (len(single) > 1):
            fit = [annotated(text, {**found, **dict.fromkeys(some, of)}) is not None for of in WIDER[:2]]
            assert fit[0] == fit[1], f"one of 16 bits is enough for {some}:\n{text}"
            counts["narrower refused"] += not fit[0]
    assert min(counts[name] for name in WIDER) > 2
    assert counts["narrower refused"] > counts.total() / 5


def test_a_truth_value_is_no_number_that_takes_the_type_of_integers():
    with pytest.raises(OperatorError, match="bool"):
        operator("def f(int32(N) A) -> (b) { b(i) = false where i in 0:N  b(i) = A(i) }")
    with pytest.raises(OperatorError, match="bool"):
        operator("def f(uint64(N) A) -> (n) { n = true  n += A(i) }")

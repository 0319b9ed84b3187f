"""Bodies of plain ONNX: the whole library and random operators, in ONNX Runtime alone, against the oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.export.onnx_calls import arguments, called, expected, family, session
from tests.properties.batches import compare
from tests.properties.inputs import Problem, problem
from tests.properties.inputs import arguments as positional
from tests.properties.writer import Writer
from tests.small_sizes import small_sizes
from tests.support import examples
from workbench.errors import BudgetExceeded, CallError, CodegenError, LoweringError, OperatorError
from workbench.export.dispatch import Family, family_of

ort = pytest.importorskip("onnxruntime", reason="install onnxruntime: nothing here runs models")
pytest.importorskip("onnx", reason="install onnx: nothing here writes models")

LARGEST = 9


def body_alone(own: Family) -> Any:
    """A session of the model without the library."""
    from workbench.export.ort.body.function import onnx_function
    from workbench.export.ort.model import model_of

    return session(model_of(own, [onnx_function(own)]).SerializeToString())


@pytest.mark.parametrize("name", wb.ops.list())
def test_the_body_of_an_operator_of_the_library_computes_what_the_oracle_says(name):
    op = wb.ops.load(name)
    sizes = small_sizes(op)
    _, own = family(op, sizes)
    known = expected(op, sizes)
    answer = called(body_alone(own), own, arguments(op, sizes), {n: v.shape for n, v in known.items()})
    for result, value in zip(answer, known.values(), strict=True):
        loose = 2e-2 if value.dtype.itemsize == 2 else 1e-4
        assert (result.dtype, result.shape) == (value.dtype, value.shape)
        np.testing.assert_allclose(result.astype(float), value.astype(float), rtol=loose, atol=loose)


# -- random operators


def random_problem(seed: int) -> Problem:
    made = Writer(Random(seed)).case(f"p{seed}")
    made = replace(made, sizes={n: min(v, LARGEST) for n, v in made.sizes.items()})
    found = problem(made, Random(seed))
    for name in found.op.outputs:  # cells that nothing writes hold 0
        if name in found.values and found.op.tensors[name].role != "inout":
            found.values[name] = np.zeros_like(found.values[name])
    return found


def answers_of(found: Problem) -> dict[str, np.ndarray]:
    out = tuple(found.values.get(n) for n in found.op.outputs)
    given = None if all(v is None for v in out) else out
    answer = wb.lang.evaluate(found.op, *positional(found), out=given, **found.case.sizes)
    return dict(zip(found.op.outputs, answer if isinstance(answer, tuple) else (answer,), strict=True))


def judged(seed: int) -> tuple[str, str]:
    """What became of a seed: a word for the count, and what is wrong."""
    try:
        found = random_problem(seed)
        _, own = family(found.op, found.sizes)
        alone = body_alone(own)
    except (OperatorError, CallError, LoweringError, BudgetExceeded) as reason:
        return f"refused: {type(reason).__name__}", ""
    except CodegenError:
        return "no body", ""
    known = answers_of(found)
    answer = called(alone, own, {**found.sizes, **found.values}, {n: v.shape for n, v in known.items()})
    bounds = [4 * found.case.bounds.get(name, 0.0) for name in known]  # contractions sum in another order
    wrong = [compare(*each) for each in zip(answer, known.values(), bounds, strict=True)]
    return "compared", "; ".join(filter(None, wrong))


@pytest.mark.parametrize("batch", range(4))
def test_bodies_of_random_operators_compute_what_the_oracle_says(batch):
    count = examples(quick=10, ci=40, full=300)
    words: Counter[str] = Counter()
    for seed in range(20000 * batch, 20000 * batch + count):
        word, wrong = judged(seed)
        words[word] += 1
        assert not wrong, f"seed {seed}: {wrong}"
    assert words["compared"] >= count // 2
    assert words["no body"] <= count // 20


def test_random_operators_in_libraries_compute_what_the_oracle_says(tmp_path):
    count = examples(quick=2, ci=6, full=60)
    compared = 0
    for seed in range(1000, 1000 + 4 * count):
        if compared == count:
            break
        try:
            found = random_problem(seed)
            what, own = family(found.op, found.sizes)
            exported = wb.export.onnxruntime(what, tmp_path)
        except (OperatorError, CallError, LoweringError, BudgetExceeded):
            continue
        known = answers_of(found)
        runs = session(exported.model, exported.library, threads=2)
        answer = called(runs, own, {**found.sizes, **found.values}, {n: v.shape for n, v in known.items()})
        for result, (name, value) in zip(answer, known.items(), strict=True):
            assert not compare(result, value, found.case.bounds.get(name, 0.0)), f"seed {seed}: {name}"
        compared += 1
    assert compared == count


# -- what is written


def operators_in(text: str) -> Counter[str]:
    from workbench.export.ort.body.function import onnx_function

    return Counter(_operators(onnx_function(family_of(wb.operator(text))).node))


def _operators(nodes: Any) -> list[str]:
    inner = [name for node in nodes for attribute in node.attribute for name in _operators(attribute.g.node)]
    return [node.op_type for node in nodes] + inner


def test_sums_of_products_are_contractions():
    found = operators_in("def f(float(B,M,K) A, float(K,N) C, float s) -> (O) { O(b,m,n) +=! s * A(b,m,k) * C(k,n) }")
    assert (found["Einsum"], found["Mul"], found["Transpose"]) == (1, 1, 1)
    assert not {"Gather", "GatherND", "ScatterND", "ReduceSum", "Loop"} & found.keys()


def test_statements_that_depend_on_themselves_are_loops():
    found = operators_in("def f(float(N,M) A) -> (B) { B(i,j) = A(i,j)\n B(i,j) = B(i-1,j) + A(i,j) where i in 1:N }")
    assert found["Loop"] == 1
    assert not operators_in("def f(float(N,M) A) -> (B) { B(i,j) = A(i,j)\n B(i,j) = 2 * B(i,j) }")["Loop"]


def test_what_onnx_has_no_operator_for_has_no_body_and_says_why(tmp_path):
    found = wb.export.onnxruntime(wb.operator("def f(float(N) A) -> (B) { B(i) = j0(A(i)) }"), tmp_path)
    assert found.pure is None
    assert "no body of plain ONNX: j0 has no operator in ONNX" in str(found)
    assert not (tmp_path / "f_pure.onnx").exists()
    a = np.linspace(0, 5, 7, dtype=np.float32)
    (result,) = session(found.model, found.library).run(None, {"A": a})
    np.testing.assert_allclose(result, wb.lang.evaluate(wb.operator("def f(float(N) A) -> (B) { B(i) = j0(A(i)) }"), a),
                               rtol=1e-5)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float", "double"])
def test_functions_of_the_language_are_made_of_those_of_onnx(dtype):
    from workbench.export.ort.body.functions import _DIRECT, _MADE, _SINGLE
    from workbench.lang.builtins import BUILTINS

    x = np.array([-7.5, -2.5, -1.0, -0.5, -1e-6, 0.0, 1e-6, 0.3, 0.5, 1.0, 1.5, 2.5, 6.25], np.dtype(dtype + "32"
                 if dtype == "float" else "float64"))  # fmt: skip
    tried = 0
    for name in sorted({*_DIRECT, *_MADE}):
        if dtype == "double" and name in _SINGLE:
            continue
        arity = BUILTINS[name].arity
        arrays = [np.roll(x, 4 * n) for n in range(arity)]
        taken = ", ".join(f"{dtype}(N) A{n}" for n in range(arity))
        given = ", ".join(f"A{n}(i)" for n in range(arity))
        op = wb.operator(f"def f({taken}) -> (B) {{ B(i) = {name}({given}) }}")
        (result,) = body_alone(family_of(op)).run(None, {f"A{n}": a for n, a in enumerate(arrays)})
        known = wb.lang.evaluate(op, *arrays)
        loose = 2e-6 if dtype == "float" else 1e-12
        np.testing.assert_allclose(result, known, rtol=loose, atol=loose / 4, err_msg=name)
        tried += 1
    assert tried > 35


def test_whole_numbers_wrap_divide_and_shift_as_the_language_says():
    kinds = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    generator = np.random.default_rng(5)
    for kind in kinds:
        info = np.iinfo(kind)
        a, b = (generator.integers(info.min, info.max, 40, dtype=kind, endpoint=True) for _ in range(2))
        a[:2], b[:4] = (info.min, info.max), (info.max, 1, 0, 2)
        c = generator.integers(0, 2 * info.bits, 40).astype(kind)
        operators = ["+", "-", "*", "&", "|", "^", "<<", ">>", *([] if kind == "uint64" else ["/", "%"])]
        for operator in operators:
            other = c if operator in ("<<", ">>") else b
            op = wb.operator(f"def f({kind}(N) A, {kind}(N) B) -> ({kind}(N) C) {{ C(i) = A(i) {operator} B(i) }}")
            (result,) = body_alone(family_of(op)).run(None, {"A": a, "B": other})
            np.testing.assert_array_equal(result, wb.lang.evaluate(op, a, other), err_msg=f"{kind} {operator}")
        for reduction in ("+", "*", "min", "max"):
            op = wb.operator(f"def f({kind}(N) A) -> ({kind} C) {{ C {reduction}=! A(i) }}")
            (result,) = body_alone(family_of(op)).run(None, {"A": a})
            np.testing.assert_array_equal(result, wb.lang.evaluate(op, a), err_msg=f"{kind} {reduction}")


def test_floats_become_whole_numbers_as_the_language_says():
    x = np.array([np.nan, -np.inf, np.inf, -1e30, 1e30, -3.7, 3.7, 127.9, 128.0, 255.0, 256.0, -0.5], np.float32)
    for kind in ("int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"):
        op = wb.operator(f"def f(float(N) A) -> ({kind}(N) B) {{ B(i) = {kind}(A(i)) }}")
        (result,) = body_alone(family_of(op)).run(None, {"A": x})
        np.testing.assert_array_equal(result, wb.lang.evaluate(op, x), err_msg=kind)


@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1)])
def test_bodies_take_sizes_of_0_and_1(sizes):
    m, k, n = sizes
    a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    for text in (
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) + B(k,n) }",
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) = m > 0 ? (n > 0 ? 1 : 2) : 3 where m in 0:M, n in 0:N }",
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,k) = A(m,k) * B(k,0) where k in 0:K / 2 }",
    ):
        op = wb.operator(text)
        if n or "B(k,0)" not in text:
            (result,) = body_alone(family_of(op)).run(None, {"A": a, "B": b})
            np.testing.assert_array_equal(result, wb.lang.evaluate(op, a, b))

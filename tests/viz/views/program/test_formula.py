"""`viz.formula`: the same mathematics as MathML, LaTeX and text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import workbench as wb
from workbench import viz
from workbench.lang.dtypes import FLOAT32, INT32
from workbench.lang.expr import Binary, Call, Const, Index, Read, Select, Unary
from workbench.viz.views.program.formula_view import Equation, Repeat, derivation_table, formula_data, tensors_table
from workbench.viz.views.program.math_of import math_of
from workbench.viz.views.program.math_printing import latex, mathml, text_of

NAMES = [
    "matmul",
    "conv2d",
    "jacobi_2d",
    "trmm",
    "attention",
    "argmax",
    "layer_norm",
    "embedding",
    "softmax",
    "lstm_cell",
]
A = Read("A", (Index("i"),), FLOAT32)
B = Read("B", (Index("i"),), FLOAT32)


def binary(op, left, right, dtype=FLOAT32):
    return Binary(op, left, right, dtype)


@pytest.mark.parametrize(
    ("expr", "text", "tex"),
    [
        (binary("*", binary("+", A, B), A), "(A[i] + B[i]) · A[i]", r"\left( A_{i} + B_{i} \right) \cdot A_{i}"),
        (binary("-", A, binary("-", B, A)), "A[i] − (B[i] − A[i])", r"A_{i} - \left( B_{i} - A_{i} \right)"),
        (binary("-", binary("-", A, B), A), "A[i] − B[i] − A[i]", r"A_{i} - B_{i} - A_{i}"),
        (binary("/", binary("+", A, B), A), "(A[i] + B[i]) / A[i]", r"\frac{A_{i} + B_{i}}{A_{i}}"),
        (binary("*", A, A), "A[i]^2", r"{A_{i}}^{2}"),
        (binary("/", Index("i"), Const(2, INT32), INT32), "⌊i / 2⌋", r"\left\lfloor \frac{i}{2} \right\rfloor"),
        (binary("*", Const(2, INT32), Index("i"), INT32), "2 i", "2 i"),
        (binary("*", Unary("-", A, FLOAT32), B), "(−A[i]) · B[i]", r"\left( - A_{i} \right) \cdot B_{i}"),
        (Call("sqrt", (A,), FLOAT32), "√A[i]", r"\sqrt{A_{i}}"),
        (Call("exp", (A,), FLOAT32), "exp(A[i])", r"\operatorname{exp} \left( A_{i} \right)"),
        (Call("pow", (binary("+", A, B), A), FLOAT32), "(A[i] + B[i])^A[i]", None),
        (Const(1e-5, FLOAT32), "10^−5", "{10}^{-5}"),
        (Const(float("-inf"), FLOAT32), "−∞", r"- \infty"),
        (Read("gamma", (), FLOAT32), "γ", r"\gamma"),
        (Read("a_b", (), FLOAT32), "a_b", r"\mathit{a\_b}"),
    ],
)
def test_expressions(expr, text, tex):
    math = math_of(expr)
    assert text_of(math) == text
    assert tex is None or latex(math) == tex
    ElementTree.fromstring(mathml(math))


def test_cases():
    expr = Select(binary("<", Index("i"), Const(3, INT32), INT32), A, Const(0.0, FLOAT32), FLOAT32)
    assert text_of(math_of(expr)) == "{A[i] if i < 3; 0 otherwise}"
    assert latex(math_of(expr)) == r"\begin{cases} A_{i} & \text{if } i < 3 \\ 0 & \text{otherwise} \end{cases}"


def test_the_parts_of_a_sum_are_held_together():
    op = wb.operator("def f(float(N) A, float(N) B) -> (s) { s +=! A(i) + B(i) }")
    (equation,) = formula_data(op)
    assert isinstance(equation, Equation)
    assert text_of(equation.math) == "s = ∑_{i} (A[i] + B[i])"


def test_an_accumulation_shows_the_old_value():
    op = wb.operator("def f(float(M,N) A, float(M) x) -> (float(M) y) { y(m) = x(m)\n y(m) max= A(m,n) }")
    _, second = formula_data(op)
    assert text_of(second.math) == "y[m] ← max(y[m], max_{n} A[m,n])"


def test_a_sequential_axis_is_a_loop():
    _, loop = formula_data(wb.ops.jacobi_1d)
    assert isinstance(loop, Repeat)
    assert text_of(loop.axis) == "0 ≤ t < steps"
    assert [e.statement for e in loop.body] == ["B", "A.1"]


def test_derivations_are_told():
    rows = derivation_table(wb.ops.matmul).rows
    assert rows[0] == ("C", "0 ≤ m < M", "free", "A(m, k) needs 0 <= m < M in dimension 0 (round 1)")


@pytest.mark.parametrize("name", NAMES)
def test_mathml_is_well_formed(name):
    for step in formula_data(getattr(wb.ops, name)):
        for equation in step.body if isinstance(step, Repeat) else [step]:
            ElementTree.fromstring(mathml(equation.math))


@pytest.mark.parametrize("name", NAMES)
def test_text(name, golden):
    picture = viz.formula(getattr(wb.ops, name))
    golden(f"{picture.text}\n\n{picture.latex}")


def test_latex_brackets_match():
    for name in NAMES:
        tex = viz.formula(getattr(wb.ops, name)).latex
        assert tex.count(r"\left") - tex.count(r"\leftarrow") == tex.count(r"\right") - tex.count(r"\rightarrow")
        assert tex.count("{") - tex.count(r"\{") == tex.count("}") - tex.count(r"\}")


def test_a_scatter_adds_to_what_is_there():
    op = wb.operator("def f(float(N,K) x, int32(N) i, int32 M) -> (float(M) y) { y(i(n)) max=! x(n,k) }")
    (equation,) = formula_data(op)
    assert text_of(equation.math) == "y[i[n]] ← max(y[i[n]], max_{k} x[n,k])"
    assert text_of(equation.ranges[0]) == "from y = −∞"
    apart = wb.operator("def f(float(N,K) x) -> (y) { y(2*n + 1) +=! x(n,k) }")
    assert text_of(formula_data(apart)[0].math) == "y[2 n + 1] = ∑_{k} x[n,k]"
    same = wb.operator("def f(float(N) x) -> (y) { y(n/2) +=! x(n) }")
    assert text_of(formula_data(same)[0].math) == "y[⌊n / 2⌋] ← y[⌊n / 2⌋] + x[n]"


def test_type_variables_stand_where_types_do():
    body = "y(j) = x(j) * i(j)  z(j) = x(i(j))  n +=! i(j)"
    op = wb.operator(f"def f<T, U: integers>(T(N) x, U(N) i) -> (y, z, n) {{ {body} }}")
    rows = {row[0]: row[2] for row in tensors_table(op).rows}
    assert rows == {"x": "T", "i": "U", "y": "of T, U", "z": "T", "n": "U", "T": "any type", "U": "integers"}
    assert "float" not in viz.formula(op).text


def test_conditions_and_warnings_stand_in_the_text_too():
    op = wb.operator("def f(float(N) x, int32 s) -> (y) { y(i) = x(s*i)  unused = 0.0 }")
    text = viz.formula(op).text
    assert "requires s > 0" in text
    assert "warning: temporary 'unused' is written but never read" in text

"""docs/language.md line by line: what is accepted, and what it means."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import OperatorError
from workbench.lang import evaluate, operator, operators
from workbench.lang.expr import Cast, Const
from workbench.lang.operator import For
from workbench.lang.printing.printer import show


def value_of(
    expression: str, parameters: str = "float(N) A, double(N) D, int32(N) I, uint8(N) U, half(N) H, bool(N) P"
):
    """The resolved value of `O(i) = expression`."""
    op = operator(f"def f({parameters}) -> (O) {{ O(i) = {expression} where i in 0:N }}")
    return next(op.statements()).values[0]


def typed(expression: str) -> str:
    """Its type."""
    return value_of(expression).dtype.name


# -- 1. definitions --------------------------------------------------------------------------------


def test_comments_blanks_and_newlines_are_free():
    text = "def f ( float ( N ) A ) -> ( B ) # comment\n{\n\n B\n(\ti )\n = \n A # more\n ( i ) }"
    assert operator(text) == operator("def f(float(N) A)->(B){B(i)=A(i)}")


@pytest.mark.parametrize(
    ("word", "name"),
    [("float", "float32"), ("double", "float64"), ("half", "float16"), ("int", "int32"), ("bfloat16", "bfloat16")]
    + [(name, name) for name in ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")],
)
def test_element_types(word, name):
    op = operator(f"def f({word}(N) A) -> (B) {{ B(i) = A(i) }}")
    assert (op.tensors["A"].dtype.name, op.tensors["B"].dtype.name) == (name, name)


@pytest.mark.parametrize(
    "name",
    [
        "register",
        "restrict",
        "int8_t",
        "while",
        "double_",
        "info",
        "nan_x",
        "Infinity",
        "monoid",
        "combine",
        "identity",
    ],
)
def test_words_of_c_and_of_other_places_are_names(name):
    op = operator(f"def {name}(float(N) {name}) -> (B) {{ B(i) = {name}(i) }}")
    assert op.parameters == (name,)


def test_a_tensor_may_hide_a_function_that_is_not_of_cuda():
    op = operator("def f(float(N) A) -> (O) { sigmoid(i) = 1.0 / (1.0 + exp(-A(i)))  O(i) = sigmoid(i) }")
    assert "sigmoid" in op.tensors


def test_sizes_and_integer_scalars():
    parameters = "float(2*N+1, K) A, int32 s, int32 offset, float x, int32 y"
    op = operator(f"def f({parameters}) -> (O) {{ O(i,j) = x * y + A(s*i, j + offset) }}")
    assert op.size_names == ("N", "K")
    assert op.scalars == ("s", "offset")
    assert (op.tensors["x"].rank, op.tensors["y"].dtype.name) == (0, "int32")


def test_a_scalar_in_a_dimension_is_no_size_symbol():
    op = operator("def f(float((H-1)*stride+K) A, float(K) W, int32 stride, int64 H) -> (O) { O(i) = A(i) + W(0) }")
    assert (op.size_names, op.scalars) == (("K",), ("stride", "H"))


def test_a_let_used_in_a_subscript_makes_its_scalar_shape_the_program():
    op = operator("def f(float(N) A, int32 s) -> (O) { O(i) = A(p) where i in 0:4, q = s, p = q + i }")
    assert op.scalars == ("s",)


def test_annotations_fix_shapes_and_leave_cells_out():
    op = operator("def f(float(N) A) -> (float(N+2) B) { B(i+1) = A(i) }")
    assert op.tensors["B"].partial
    assert evaluate(op, np.ones(2, np.float32)).tolist() == [0, 1, 1, 0]


def test_an_annotation_that_cannot_be_proved_is_a_condition():
    op = operator("def f(float(N) A, float(M) B) -> (float(M) C) { C(i) = A(i) }")
    assert [show(c.expr) for c in op.conditions] == ["N <= M"]


def test_temporaries_and_their_order():
    op = operator("def f(float(N) A) -> (C) { T(i) = A(i)  C(i) = T(i)  T(i) = T(i) + 1.0  C(i) += T(i) }")
    assert [s.name for s in op.statements()] == ["T", "C", "T.1", "C.1"]
    assert op.tensors["T"].role == "temporary"
    assert evaluate(op, np.array([5], np.float32)).tolist() == [11]


def test_a_temporary_that_nothing_reads_is_a_warning():
    op = operator("def f(float(N) A) -> (C) { T(i) = A(i)  C(i) = A(i) }")
    assert op.warnings == ("temporary 'T' is written but never read",)


@pytest.mark.parametrize("statement", ["C(i) += A(i)", "C(i) = C(i) + A(i)", "C(i) max= A(i)"])
def test_in_out(statement):
    op = operator(f"def f(float(N) A) -> (float(N) C) {{ {statement} }}")
    assert op.tensors["C"].role == "inout"


def test_an_accumulation_alone_needs_no_annotation():
    op = operator("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }")
    assert op.tensors["C"].role == "inout"
    assert op.warnings[0].startswith("Reduction without initialization")


def test_a_size_of_an_in_out_tensor_alone():
    op = operator("def f(int32(B) I, float(B,D) G) -> (float(V,D) T) { T(I(b), d) += G(b,d) }")
    assert op.size_names == ("B", "D", "V")


def test_an_in_out_stencil_stays_inside_its_tensor():
    op = operator("def f(float(N) A) -> (float(N) X) { X(i) = X(i-1) + A(i) }")
    (statement,) = op.statements()
    assert [show(statement.ranges[0].lower), show(statement.ranges[0].upper)] == ["1", "N"]


# -- 2. statements ---------------------------------------------------------------------------------


def test_the_library_annotation_of_tensor_comprehensions_is_ignored():
    text = "def f(float(M,K) A) -> (C) { C(m) +=! A(m,k) <=> gemv(A, C) where k in 0:K }"
    assert operator(text) == operator(text.replace("<=> gemv(A, C)", ""))


@pytest.mark.parametrize(
    ("assign", "reduction", "initialise"),
    [("=", None, False), *((f"{op}={mark}", op, mark == "!") for op in ("+", "*", "min", "max") for mark in ("", "!"))],
)
def test_assignments(assign, reduction, initialise):
    op = operator(f"def f(float(N) A) -> (float(N) C) {{ C(i) {assign} A(i) }}")
    (statement,) = op.statements()
    assert (statement.reduction, statement.initialise) == (reduction, initialise)


def test_order_of_indices():
    op = operator("""
def f(float(A,B,C,D) X, float(D,E) Y) -> (O) {
    for t in 0:3 { O(e,a) +=! X(a,b,c,d) * Y(d,e) }
}""")
    (statement,) = op.statements()
    assert statement.indices() == ("t", "e", "a", "b", "c", "d")
    assert statement.indices("sequential") == ("t",)
    assert statement.indices("free") == ("e", "a")
    assert statement.indices("reduction") == ("b", "c", "d")


def test_a_triangular_bound_moves_a_reduced_index():
    op = operator("def f(float(M,M,M) A) -> (O) { O +=! A(i,k,l) where k in l:M, i in 0:k }")
    (statement,) = op.statements()
    assert statement.indices() == ("l", "k", "i")


def test_for_is_sequential_and_may_be_triangular():
    op = operator("""
def f(float(N,N) A) -> (float(N,N) L) {
    for k in 0:N {
        L(k,k) = sqrt(A(k,k))
        for j in k+1:N { L(j,k) = A(j,k) / L(k,k) }
    }
}""")
    (outer,) = op.body
    assert isinstance(outer, For)
    assert isinstance(outer.body[1], For)
    assert show(outer.body[1].axis.lower) == "k + 1"


def test_recurrence():
    op = operator("def scan(float(T) X) -> (H) { H(0) = X(0)  for t in 1:T { H(t) = 0.5 * H(t-1) + X(t) } }")
    assert evaluate(op, np.array([1, 2, 3], np.float32)).tolist() == [1, 2.5, 4.25]


def test_computed_left_hand_sides():
    op = operator("def up(float(N) A) -> (O) { O(2*i+1) = A(i) }")
    assert ([show(e) for e in op.tensors["O"].lower], [show(e) for e in op.tensors["O"].extent]) == (
        ["1"],
        ["2 * N - 1"],
    )
    op = operator("def hist(int32(N) I, int32 V) -> (int32(V) O) { O(I(n)) +=! 1 }")
    assert evaluate(op, np.array([1, 1, 3], np.int32), V=5).tolist() == [0, 2, 0, 1, 0]


def test_a_box_that_does_not_start_at_0():
    op = operator("def f(float(N) A) -> (O) { O(i) = A(i-1) }")
    assert evaluate(op, np.array([7, 8], np.float32)).tolist() == [7, 8]


CALLS = """
def norm(float(N) X, float eps) -> (float(N) Y) {
    S +=! X(i) * X(i)
    Y(i) = X(i) * rsqrt(S + eps)
}
def shift(float(N) X) -> (Y) { Y(i) = X(i - 1) }
def twice(float(M) A) -> (B, T) {
    T = shift(A)
    U = norm(T, 2.0 * 0.0)
    B = shift(U)
}
"""


def test_calls_are_inlined():
    op = operator(CALLS)
    assert op.name == "twice"
    assert set(op.tensors) == {"A", "B", "T", "U", "norm_S"}
    assert [show(e) for e in op.tensors["T"].lower] == ["1"]
    result, shifted = evaluate(op, np.array([3, 4], np.float32))
    np.testing.assert_allclose(result, [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(shifted, [3, 4])
    assert operator(op.text) == op
    assert op.text.count("def ") == 3


def test_a_called_def_may_use_any_names():
    op = operator("""
def inner(float(N) X) -> (Y) { Y(M) = X(M) }
def f(float(M) A) -> (B) { B = inner(A) }
""")
    (statement,) = op.statements()
    assert statement.ranges[0].index != "M"


def test_a_call_inside_a_loop_and_with_several_results():
    op = operator("""
def both(float(N) X, int32 k) -> (P, Q) { P(i) = X(i) + k  Q(i) = X(i) - k where i in 0:k }
def f(float(M) A) -> (B) {
    B(i) = 0.0 where i in 0:M
    for i in 1:3 {
        (P, Q) = both(A, 2)
        B(j) += P(j) + (j < 2 ? Q(j) : 0.0)
    }
}""")
    assert evaluate(op, np.array([1, 2, 3], np.float32)).tolist() == [4, 8, 10]
    assert op.conditions == ()


def test_sizes_of_calls_become_expressions_and_conditions():
    op = operator("""
def pair(float(2*N) X, float(N) Z) -> (Y) { Y(i) = X(2*i) + Z(i) }
def f(float(M) A, float(K) B) -> (C) { C = pair(A, B) }
""")
    assert sorted(show(c.expr) for c in op.conditions) == ["2 * (M / 2) == M", "M / 2 == K"]


def test_generic_defs_take_the_types_of_their_arguments():
    op = operator("""
def g<T>(T(N) X) -> (Y) { Y(i) = X(i) * 0.1 }
def f(double(N) A, half(N) H) -> (B, C) { B = g(A)  C = g(H) }
""")
    assert (op.tensors["B"].dtype.name, op.tensors["C"].dtype.name) == ("float64", "float32")


def test_a_type_variable_stands_for_types_of_its_class():
    op = operator("def f<T: integers, U: floats>(T(N) A, U(N) B) -> (C) { C(i) = A(i) % 3 * B(i) }")
    assert "def f<T: integers, U: floats>(" in op.text
    assert (op.tensors["A"].dtype.name, op.tensors["B"].dtype.name) == ("int32", "float32")
    assert op(np.arange(4), np.ones(4)).tolist() == [0, 1, 2, 0]
    with pytest.raises(OperatorError, match=r"f takes floats only .* and U is int8 here"):
        op.astype("int8")


# -- 3. expressions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("P(i) ? A(i) : P(i) ? D(i) : 1.0", "P(i) ? A(i) : (P(i) ? D(i) : 1.0)"),
        ("P(i) || P(i) && P(i)", "P(i) || (P(i) && P(i))"),
        ("I(i) | I(i) ^ I(i) & 3", "I(i) | (I(i) ^ (I(i) & 3))"),
        ("I(i) + 1 << 2", "(I(i) + 1) << 2"),
        ("1 - 2 - 3 * 4 % 5", "(1 - 2) - ((3 * 4) % 5)"),
        ("-I(i) * 2", "(-I(i)) * 2"),
        ("I(i) << 1 < 3 ? 1 : 2", "((I(i) << 1) < 3) ? 1 : 2"),
    ],
)
def test_precedence(text, grouped):
    assert value_of(text) == value_of(grouped)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.", 1.0), (".5", 0.5), ("3E-5", 3e-5), ("1e3", 1000.0), ("0x10", 16), ("0.1", 0.1), ("inf", float("inf"))],
)
def test_numbers(text, value):
    assert value_of(text) == Const(value, value_of(text).dtype)


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("0.1", "float32"),
        ("0.1 * A(i)", "float32"),
        ("0.1 * D(i)", "float64"),
        ("(0.1 + 2) * D(i)", "float64"),
        ("exp(0.1) * D(i)", "float64"),
        ("0.5 * i", "float32"),
        ("2147483647", "int32"),
        ("2147483648", "int64"),
        ("-2147483648", "int32"),
        ("U(i) + U(i)", "uint8"),
        ("U(i) + 1", "int32"),
        ("I(i) + A(i)", "float32"),
        ("A(i) + D(i)", "float64"),
        ("H(i)", "float16"),
        ("H(i) + H(i)", "float32"),
        ("P(i) ? H(i) : 0.0", "float32"),
        ("exp(I(i))", "float32"),
        ("exp(D(i))", "float64"),
        ("abs(I(i))", "int32"),
        ("relu(U(i))", "uint8"),
        ("min(I(i), 2, U(i))", "int32"),
        ("max(A(i), 0)", "float32"),
        ("I(i) < A(i)", "bool"),
        ("isnan(A(i))", "bool"),
        ("P(i) & P(i)", "bool"),
        ("U(i) << 2", "uint8"),
        ("double(0.1)", "float64"),
        ("int8(A(i))", "int8"),
        ("N + i", "int32"),
    ],
)
def test_types(expression, dtype):
    assert typed(expression) == dtype


def test_a_literal_takes_the_type_of_its_target():
    op = operator("def f(double(N) D) -> (half(N) A, double(N) B, uint8(N) C) { A(i) = 0.5  B(i) = 0.1  C(i) = 7 }")
    assert [s.values[0] for s in op.statements()] == [
        Const(0.5, op.tensors["A"].dtype),
        Const(0.1, op.tensors["B"].dtype),
        Const(7, op.tensors["C"].dtype),
    ]


def test_a_reduction_of_half_is_float():
    op = operator("def f(half(M,N) A) -> (S, C) { S(m) +=! A(m,n)  C(m,n) = A(m,n) }")
    assert (op.tensors["S"].dtype.name, op.tensors["C"].dtype.name) == ("float32", "float16")


def test_casts_are_inserted_where_types_differ():
    value = value_of("I(i) + A(i)")
    assert isinstance(value.left, Cast)
    assert value.left.dtype == value.right.dtype == value.dtype


def test_lets_are_inlined_and_may_use_earlier_ones():
    op = operator("def f(float(N) A) -> (O) { O(i) = y * y where x = A(i), y = x + 1.0 }")
    (statement,) = op.statements()
    assert show(statement.values[0]) == "(A(i) + 1.0) * (A(i) + 1.0)"


# -- 5. promises and 6. monoids --------------------------------------------------------------------


def test_promises():
    op = operator("def f(float(V,D) T, int32(N) I) -> (O) where in_range(I, 0, V), injective(I) { O(n,d) = T(I(n),d) }")
    assert [(p.kind, p.tensor, p.text) for p in op.promises] == [
        ("in_range", "I", "in_range(I, 0, V)"),
        ("injective", "I", "injective(I)"),
    ]


ARGMAX = """
monoid argmax<T>(T value, int32 index) {
    identity (-inf, 2147483647)
    combine (v, i), (w, j) -> (first ? v : w, first ? i : j)
        where first = v > w || (v == w && i < j)
}
"""


def test_monoids():
    op = operator(ARGMAX + "def f(float(M,N) A) -> (V, I) { (V(m), I(m)) argmax=! (A(m,n), n) }")
    values, indices = evaluate(op, np.array([[1, 5, 5], [2, 0, 1]], np.float32))
    assert (values.tolist(), indices.tolist()) == ([5, 2], [1, 0])
    assert operator(op.text) == op


def test_a_monoid_takes_the_types_of_its_values():
    body = "(V(m), I(m)) argmax=! (A(m,n), n)  (X, J) argmax=! (D(n), n)"
    op = operator(ARGMAX + f"def f(int8(M,N) A, double(N) D) -> (V, I, X, J) {{ {body} }}")
    assert [monoid.dtypes[0].name for monoid in op.monoids] == ["int8", "float64"]
    assert op.monoids[0].identity[0] == Const(-128, op.tensors["A"].dtype)
    assert op.tensors["X"].dtype.name == "float64"


def test_a_tuple_statement_may_follow_a_bare_name():
    text = ARGMAX + "def f(float(N) A, float s) -> (S, V, I) {\n S = s\n (V, I) argmax=! (A(n), n)\n }"
    assert [s.name for s in operator(text).statements()] == ["S", "V"]


# -- texts -----------------------------------------------------------------------------------------


def test_operators_gives_all_defs():
    assert list(operators(CALLS)) == ["norm", "shift", "twice"]


def test_the_text_is_canonical():
    op = operator("def f(float32(N)A,int k)->(float64(N)O){O(i)=((A(i)+(A(i)*2))) where i in(0):(N),x=3*(k+1)}")
    assert op.text == (
        "def f(float(N) A, int32 k) -> (double(N) O) {\n    O(i) = A(i) + A(i) * 2 where i in 0:N, x = 3 * (k + 1)\n}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "I(i) - (U(i) - 1)",
        "I(i) - U(i) - 1",
        "-(I(i) - 2)",
        "-(I(i) + 1) * 2",
        "!(I(i) < 1) ? 1 : 2",
        "(P(i) ? I(i) : 1) + 2",
        "(P(i) ? P(i) : I(i) < 3) ? I(i) : 2",
        "I(i) / (U(i) * 3)",
        "I(i) & (I(i) | 7)",
        "~(I(i) << 1) + (2 << 1)",
    ],
)
def test_parentheses_survive_where_they_matter(text):
    op = operator(f"def f(int32(N) I, uint8(N) U, bool(N) P) -> (O) {{ O(i) = {text} where i in 0:N }}")
    assert text in op.text
    assert [s.values for s in operator(op.text).statements()] == [s.values for s in op.statements()]


def test_equal_texts_are_equal_operators():
    a, b = (operator(f"def f(float(N) {n}) -> (B) {{ B(i) = {n}(i) }}") for n in ("A", "X"))
    assert a != b
    assert hash(a) == hash(operator(a.text))
    assert len({a, b, operator(a.text)}) == 2


def test_errors_do_not_hide_in_the_cache():
    for _ in range(2):
        with pytest.raises(OperatorError):
            operator("def f(float(N) A) -> (B) { B(i) = C(i) }")


def test_an_index_may_stand_twice_on_the_left():
    op = operator("def f(float(N,K) X) -> (D) { D(i,i) +=! X(i,k) }")
    (statement,) = op.statements()
    assert statement.indices("free") == ("i",)
    assert statement.initialises_all
    assert op.tensors["D"].partial
    assert evaluate(op, np.ones((2, 3), np.float32)).tolist() == [[3, 0], [0, 3]]


def test_a_loop_axis_may_stand_twice_on_the_left():
    op = operator("def f(float(N,K) X) -> (D) { for t in 0:N { D(t,t) +=! X(t,k) } }")
    (statement,) = op.statements()
    assert statement.indices("free") == ()
    assert not statement.initialises_all

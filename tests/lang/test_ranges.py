"""Range inference: the worked outcomes of Tensor Comprehensions and the rules of docs/language.md §4."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import OperatorError
from workbench.lang import fold, operator
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import show


def ranges(text: str) -> dict[str, str]:
    """index → "lower:upper" over all statements of the def."""
    return {r.index: f"{show(r.lower)}:{show(r.upper)}" for s in operator(text).statements() for r in s.ranges}


def extents(op: Operator, name: str) -> list[str]:
    """Extents of a tensor as text."""
    return [show(extent) for extent in op.tensors[name].extent]


def body(params: str, statement: str, outputs: str = "O") -> str:
    """A def of one line."""
    return f"def f({params}) -> ({outputs}) {{ {statement} }}"


TABLE = {
    "stride": ("float(N) I", "O(i) = I(123*i)", {"i": "0:(N + 122) / 123"}),
    "shift down": ("float(N) I", "O(i) = I(i-1)", {"i": "1:N + 1"}),
    "shift up": ("float(N) I", "O(i) = I(i+5)", {"i": "-5:N - 5"}),
    "reversed": ("float(N) B", "O(i) = B(10-i)", {"i": "11 - N:11"}),
    "convolution": (
        "float(H) I, float(KH) W",
        "O(h) +=! I(h+kh) * W(kh)",
        {"kh": "0:KH", "h": "0:H - KH + 1"},
    ),
    "data gradient": (
        "float(OH) dO, float(KH) W",
        "O(h) +=! dO(h-kh) * W(kh)",
        {"kh": "0:KH", "h": "KH - 1:OH"},
    ),
    "weight gradient": (
        "float(OH) dO, float(H) I",
        "O(kh) +=! dO(h-kh) * I(h)",
        {"h": "0:H", "kh": "H - OH:1"},
    ),
    "intersection": (
        "float(B0,B1,B2) B, float(A0,A1,A2) A",
        "O(j,k,l) +=! B(j,k,l) + A(i,j,k)",
        {"i": "0:A0", "j": "0:min(B0, A1)", "k": "0:min(B1, A2)", "l": "0:B2"},
    ),
    "mixed and plain": ("float(N,M,P) I", "O(i,j) = I(i, i+j, j)", {"i": "0:N", "j": "0:P"}),
    "sum of solved": (
        "float(N) B, float(M) C, float(P) D",
        "O(i,j) = B(i)*C(i+j)*D(j)",
        {"i": "0:N", "j": "0:P"},
    ),
    "where settles": (
        "float(N,N) I",
        "O(i,j) = I(10+i-j, i+j) where i in 0:10",
        {"i": "0:10", "j": "max(20 - N, 0):min(N - 9, 11)"},
    ),
    "constant": ("float(N) I", "O(i,j) = 3 where i in 0:N, j in 2:7", {"i": "0:N", "j": "2:7"}),
    "gather": ("float(V,D) T, int32(B,N) I", "O(b,n,d) = T(I(b,n), d)", {"b": "0:B", "n": "0:N", "d": "0:D"}),
    "floor division": ("float(N) I", "O(i) = I(i/2)", {"i": "0:2 * N"}),
    "floor division and shift": ("float(N) I", "O(i) = I(i/3 + 1)", {"i": "-3:3 * N - 3"}),
    "symbolic stride": (
        "float(H) I, float(K) W, int32 s",
        "O(h) +=! I(s*h+k) * W(k)",
        {"k": "0:K", "h": "0:(H - K) / s + 1"},
    ),
    "triangular": (
        "float(M,M) L, float(M) x",
        "O(i) +=! L(i,k) * x(k) where k in 0:i+1",
        {"i": "0:M", "k": "0:i + 1"},
    ),
    "guard does not bind": ("float(N) I", "O(i) = i > 0 ? I(i-1) : I(i) where i in 0:N", {"i": "0:N"}),
    "guard and plain access": ("float(N) I", "O(i) = I(i) + (i > 0 ? I(i-1) : 0)", {"i": "0:N"}),
    "guard alone binds": ("float(N) I", "O(i) = i > 0 ? I(i-1) : 0", {"i": "1:N + 1"}),
    "exists": ("float(N) I, float(M) J", "O(i) = 3 where exists I(i) + J(i)", {"i": "0:min(N, M)"}),
    "let": ("float(N) I", "O(i) = x * x where x = I(i + 1)", {"i": "-1:N - 1"}),
    "size arithmetic": ("float(2*N+1) I", "O(i) = I(i)", {"i": "0:2 * N + 1"}),
}


@pytest.mark.parametrize("case", TABLE)
def test_table(case):
    parameters, statement, expected = TABLE[case]
    assert ranges(body(parameters, statement)) == expected


@pytest.mark.parametrize("statement", ["O(i,j) = I(i+j,i+j,i+j)", "O(i,j) = I(i+j, 0, i-j)"])
def test_what_no_round_solves_is_an_error(statement):
    with pytest.raises(OperatorError, match="could not infer the range"):
        operator(body("float(N,N,N) I", statement))


def test_padding_then_a_strided_kernel_keeps_the_minimum():
    op = operator("""
def f(float(H) I, float(KH) W) -> (O) {
    P(i) = I(i - 5)
    O(h) +=! P(2*h + kh) * W(kh)
}""")
    assert [show(e) for e in op.tensors["P"].lower] == ["5"]
    assert [show(e) for e in op.tensors["O"].lower] == ["3"]
    assert extents(op, "O") == ["(H - KH + 1) / 2"]


def test_an_annotated_output_binds_what_only_guards_bind():
    text = "def f(float(H) I, float(K) W) -> (float(H) O) { O(h) +=! W(k) * (h + k < H ? I(h + k) : 0) }"
    assert ranges(text) == {"h": "0:H", "k": "0:K"}


def test_a_derivation_says_which_access_in_which_round():
    op = operator(body("float(H) I, float(KH) W", "O(h) +=! I(h+kh) * W(kh)"))
    (statement,) = op.statements()
    words = {r.index: r.derivation for r in statement.ranges}
    assert words["h"] == "I(h + kh) needs 0 <= h + kh < H in dimension 0 (round 2)"


def test_a_scalar_that_multiplies_an_index_must_be_positive():
    op = operator(body("float(H) I, float(K) W, int32 s", "O(h) +=! I(s*h+k) * W(k)"))
    assert [show(c.expr) for c in op.conditions] == ["s > 0"]


def test_the_box_of_several_statements_holds_them_all():
    op = operator("def f(float(N) A) -> (O) { O(i) = A(i-1)  O(i) = A(i+1) }")
    assert [show(e) for e in op.tensors["O"].lower] == ["-1"]
    assert extents(op, "O") == ["N + 2"]


@pytest.mark.parametrize(
    ("statements", "partial"),
    [
        ("O(i) = A(i)", False),
        ("O(i) = A(i) where i in 1:N-1", False),
        ("O(2*i) = A(i)", True),
        ("O(0) = 1.0  O(i) = A(i) where i in 1:N", False),
        ("O(0) = 1.0  O(i) = A(i) where i in 2:N", True),
        ("O(0) = 1.0  for t in 1:N { O(t) = A(t) }", False),
        ("for t in 0:N { O(i) = A(i) }", True),
        ("for t in 0:4 { O(i) = A(i) }", False),
        ("O(i) +=! A(i) where k in 0:N", False),
        ("O(i) = A(i) where i in 0:4  O(i) = A(i) where i in 4:9", False),
    ],
)
def test_partial_says_whether_a_cell_may_be_left_out(statements, partial):
    assert operator(body("float(N) A", statements)).tensors["O"].partial is partial


# --- against brute force


def largest_interval(lower: int, upper: int, accesses: list[tuple[int, int, int, int]], others: range) -> set[int]:
    """All i for which every access `0 <= a*i + b*k + c < size` holds for all k."""
    return {
        i
        for i in range(lower, upper)
        if all(0 <= a * i + b * k + c < size for a, b, c, size in accesses for k in others)
    }


coefficients = st.integers(-3, 3).filter(bool)
accesses = st.lists(
    st.tuples(coefficients, st.integers(-2, 2), st.integers(-5, 5), st.integers(8, 30)),
    min_size=1,
    max_size=3,
)


@given(accesses, st.integers(1, 4))
def test_inference_finds_the_largest_interval(found, count):
    params = ", ".join(f"float({size}) T{n}" for n, (_, _, _, size) in enumerate(found))
    reads = " + ".join(f"T{n}(({a})*i + ({b})*k + ({c}))" for n, (a, b, c, _) in enumerate(found))
    expected = largest_interval(-200, 200, found, range(count))
    text = body(params, f"O(i) +=! {reads} where k in 0:{count}")
    if not expected:
        with pytest.raises(OperatorError, match="empty range"):
            operator(text)
        return
    (statement,) = operator(text).statements()
    solved = next(r for r in statement.ranges if r.index == "i")
    assert set(range(fold(solved.lower, {}), fold(solved.upper, {}))) == expected


@given(coefficients, st.integers(0, 3), st.integers(-4, 4), st.integers(1, 40), st.integers(1, 5))
def test_symbolic_bounds_agree_with_numbers(a, b, c, size, count):
    op = operator(body("float(N) T, float(K) W", f"O(i) +=! T(({a})*i + {b}*k + ({c})) * W(k)"))
    (statement,) = op.statements()
    solved = next(r for r in statement.ranges if r.index == "i")
    sizes = {"N": size, "K": count}
    expected = largest_interval(-200, 200, [(a, b, c, size)], range(count))
    assert set(np.arange(fold(solved.lower, sizes), fold(solved.upper, sizes))) == expected


# -- what must not become a bound ------------------------------------------------------------------


def test_accesses_under_conditions_that_allow_different_ranges_are_warned_of():
    matching = "V(d,w) = w >= d ? fabs(L(w) - R(w-d)) : 1.0 where d in 0:D"
    op = operator(body("float(W) L, float(W) R, int32 D", matching, "V"))
    (said,) = op.warnings
    assert "runs over w in max(D - 1, 0):W" in said
    assert "alone they allow L(w) 0:W, R(w - d) D - 1:W" in said
    for told in (f"{matching}, w in 0:W", matching.replace("L(w)", "L(w-d)"), f"{matching}, exists L(w)"):
        assert operator(body("float(W) L, float(W) R, int32 D", told, "V")).warnings == ()


@pytest.mark.parametrize("subscript", ["I(0) + i", "i + (s & 3)", "int8(i)", "i % 3", "min(i, 3)", "i * i", "i * j"])
def test_a_subscript_that_is_not_plain_says_nothing(subscript):
    with pytest.raises(OperatorError, match="could not infer the range of 'i'"):
        operator(body("float(N) A, int32(N) I, int32 s", f"O(i,j) = A({subscript}) where j in 0:4"))


@pytest.mark.parametrize("bound", ["abs(s)", "s & 3", "s > 0 ? s : 1", "int8(s)"])
def test_bounds_are_plain_arithmetic(bound):
    with pytest.raises(OperatorError, match=r"a bound of i is made of integers, sizes"):
        operator(body("float(N) A, int32 s", f"O(i) = A(0) where i in 0:{bound}"))


def test_unsigned_arithmetic_in_a_subscript_keeps_its_type():
    op = operator(body("float(N) A, uint8(N) U", "O(U(i) + U(i)) +=! A(i)", "float(300) O"))
    (statement,) = op.statements()
    assert statement.targets[0].subscripts[0].dtype.name == "uint8"


def test_a_loop_may_shape_a_called_def_but_not_its_dimensions():
    inner = "def g(float(N) X, int32 k) -> ({} Y) {{ Y(i) = X(i+k) }}\n"
    outer = "def f(float(N) A) -> (O) { O(i) = 0.0 where i in 0:N  for t in 0:3 { B = g(A, t)  O(i) += B(i) } }"
    assert extents(operator(inner.format("").replace("( Y)", "(Y)") + outer), "B") == ["N - 2"]
    with pytest.raises(OperatorError, match="a dimension of g depends on the loop t"):
        operator(inner.format("float(N+k)") + outer)

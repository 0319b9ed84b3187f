"""No text makes the language raise anything but its own errors; what parses prints and parses back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench import ops
from workbench.errors import WorkbenchError
from workbench.lang import operators

SEEDS = [ops.load(name).text for name in ops.list()]
_PIECES = """( ) { } , : = += +=! *= min= max=! ? ! ~ - + * / % < > <= == != && || & | ^ << >> -> <=> # . ; [ ] @
0 1 2 7 0.5 1e5 .5 1. 0x1F 3E-5 99999999999999999999 def where in for exists monoid identity combine min max
true false inf nan float
double int32 uint8 bool half bfloat16 exp pow abs A B C O T M N K i j k m n t x idx \u03b1"""
PIECES = _PIECES.split()
OPERATORS = "+ - * / % < <= == && || & | ^ << >>"
ASSIGNS = "= += +=! *=! min=! max="
HEADS = [
    "def f(float(M,K) A, float(K,N) B, int32(M) idx, int32 s, float x) -> (C) {",
    "def f<T>(T(M) A) -> (T(M) C) {",
]


def accept_or_refuse(text: str) -> None:
    """Either operators that print to a text which gives them again, or a WorkbenchError."""
    try:
        found = operators(text)
    except WorkbenchError:
        return
    for name, op in found.items():
        assert operators(op.text)[name] == op


@given(st.text(max_size=200))
def test_any_text(text):
    accept_or_refuse(text)


@given(
    st.lists(st.sampled_from(PIECES), max_size=60),
    st.sampled_from(["", *HEADS]),
    st.sampled_from([" ", "\n"]),
)
def test_any_pieces(pieces, head, blank):
    accept_or_refuse(f"{head} {blank.join(pieces)} " + ("}" if head else ""))


@given(st.data())
def test_mutated_library_operators(data):
    text = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 6)))
        insert = data.draw(st.sampled_from(["", *PIECES]) | st.just(text[start:stop] * 2))
        text = f"{text[:start]}{insert}{text[stop:]}"
    accept_or_refuse(text)


TOKENS = [
    "A(i)",
    "A(i+1)",
    "A(2*i-1)",
    "A(i/2)",
    "A(s*i)",
    "idx(i)",
    "A(idx(i))",
    "i",
    "s",
    "x",
    "N",
    "1",
    "0.5",
    "inf",
    "C(i)",
]
expressions = st.recursive(
    st.sampled_from(TOKENS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS.split()), inner).map(" ".join),
        st.tuples(st.sampled_from(["exp", "abs", "-", "!", "~", "int32", "double", "half", "bool"]), inner).map(
            "{0[0]}({0[1]})".format
        ),
        st.tuples(inner, inner, inner).map("({0[0]} > 0 ? {0[1]} : {0[2]})".format),
        st.tuples(inner, inner).map("min({0[0]}, {0[1]})".format),
        inner.map("({})".format),
    ),
    max_leaves=8,
)
wheres = st.sampled_from(["", " where i in 0:N", " where i in s:N, j in 0:i", " where x2 = A(i)", " where exists A(i)"])
targets = st.sampled_from(["C(i)", "C(2*i)", "C(idx(i))", "C(i,j)", "C", "D(i)", "C(i/2)", "C(0)"])
assigns = st.sampled_from(ASSIGNS.split())
statements = st.tuples(targets, assigns, expressions, wheres).map("{0[0]} {0[1]} {0[2]}{0[3]}".format)


@given(
    st.lists(statements, min_size=1, max_size=3),
    st.sampled_from(["C", "float(N) C", "double(2*N) C"]),
    st.booleans(),
)
def test_random_statements(body, output, looped):
    block = "\n".join(body)
    block = f"for t in 1:N {{ {block} }}" if looped else block
    accept_or_refuse(f"def f(float(N) A, int32(N) idx, int32 s, float x) -> ({output}) {{ {block} }}")

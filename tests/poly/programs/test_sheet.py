"""A program prints as a sheet."""

from __future__ import annotations

from tests.poly.making import matmul, op, read, span, statement, tensor
from tests.schedules.texts import EVERY
from workbench.lang import operator
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Index, Read
from workbench.poly import lower
from workbench.poly.programs.sheet import own_text

SHEET = """\
program matmul(K=8, M, N)
  for all M >= 0 and N >= 0
arrays
  float32 A(M, 8)  input
  float32 B(8, N)  input
  float32 C(M, N)  output
statements
  S0 C.init: C(m, n) = 0.0
     [m, n] : 0 <= m < M and 0 <= n < N
     writes C(m, n)
  S1 C: C(m, n) += A(m, k) * B(k, n)
     [m, n, k] : 0 <= m < M and 0 <= n < N and 0 <= k < 8
     reads A(m, k)
     reads B(k, n)
     writes C(m, n)
order
  for m, n
    C.init
    for k
      C"""


def test_matmul():
    assert str(lower(matmul(), {"K": 8})) == SHEET


def test_may_accesses_and_scalars_say_so():
    i = span("i", "N", "reduction")
    value = read("T", Read("idx", (Index("i"),), INT32))
    tensors = [tensor("T", "input", 9), tensor("idx", "input", "N", dtype=INT32), tensor("s", "output")]
    text = str(lower(op("pick", tensors, [statement(("s",), value, [i], "+")], "N")))
    assert "float32 s     output" in text
    assert "reads T(idx(i))  (any cell: not affine)" in text
    assert "S0 s: s += T(idx(i))" in text


def test_a_box_that_starts_elsewhere_shows_both_ends():
    text = str(lower(operator("def shift(float(N) A) -> (B) { B(i) = A(i-1) + A(i+1) }")))
    assert "float32 B(1:N - 1)  output" in text


def test_of_a_reduction_each_part_has_its_own_words():
    """Also where the initial value is none that is added up, and where several are combined as one."""
    text = """def norms(float(N,D) X) -> (top, s) {
        top(n) max=! fabs(X(n,d))
        s(n) +=! X(n,d) where d in 0:D
    }"""
    said = {s.name: own_text(s) for s in lower(operator(text)).statements}
    assert said["top.init"] == "top(n) = -inf"
    assert said["top"] == "top(n) max= fabs(X(n, d))"
    assert said["s.init"] == "s(n) = 0.0"
    assert said["s"] == "s(n) += X(n, d) where d in 0:D"
    tuples = lower(operator(EVERY["argmax"][0])).statements
    assert not any("=!" in own_text(s) for s in tuples)
    assert {s.kind for s in tuples} >= {"initialise", "update"}

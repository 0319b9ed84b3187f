"""Tiles take along what gives their cells the first value, and what is computed from the last."""

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.codegen.nest.nest import Accumulate, For, walk, writes
from workbench.codegen.passes.pipeline import lower_nest
from workbench.target import Target

AVX2 = Target(vector_bits=256)

TOGETHER = {
    "bias and ReLU": "O(m,n) = max(C(m,n) + b(n), 0)",
    "in place": "C(m,n) = max(C(m,n) + b(n), 0)\n O(m,n) = C(m,n) * 2",
    "what it writes it reads again": "O(m,n) = C(m,n) + b(n)\n O(m,n) = O(m,n) * C(m,n)",
    "a number of half the size": "O(m,n) = bfloat16(C(m,n) + b(n))",
    "its own indices": "O(m,n) = C(m,n) * float(m + 2 * n)",
}
APART = {
    "a neighbour": "O(m,n) = C(m,n) + (n > 0 ? C(m,n-1) : b(n)) where n in 0:N",
    "another place": "O(m,n) = C(m,n) + b(n)\n Q(m,n) = (n > 0 ? O(m,n-1) : 0) + C(m,n) where n in 0:N",
    "a wider type": "O(m,n) = double(C(m,n)) * double(b(n))",
}


def product(rest: str) -> str:
    lines = "\n    ".join(rest.split("\n"))
    outputs = "O, Q" if "Q(" in rest else "O"
    return f"""def f(float(M,K) A, float(K,N) B, float(N) b) -> ({outputs}) {{
    C(m,n) +=! A(m,k) * B(k,n)
    {lines}
}}"""


def by_hand(text: str, sizes: dict[str, int]) -> wb.Schedule:
    """One nest of everything, in tiles."""
    schedule = wb.schedule(wb.operator(text), sizes=sizes)
    return in_tiles(schedule, [s.name for s in schedule.program.statements][2:])


def in_tiles(schedule: wb.Schedule, last: list[str]) -> wb.Schedule:
    """The product and the statements after it in one nest of tiles."""
    for name in last:
        schedule = schedule | wb.merge("C", name, depth=2)
    schedule = schedule | wb.tile({"C/m": 3, "C/n": 16}) | wb.distribute("C", loop="m_i")
    schedule = schedule | wb.distribute(last[0], loop="C/m_i") | wb.reorder("C/k", "C/m_i", "C/n_i")
    for name in ("C.init", "C", last[0]):
        schedule = schedule | wb.unroll(f"{name}/m_i") | wb.vectorize(f"{name}/n_i")
    return schedule


def registers(schedule: wb.Schedule) -> list[Accumulate]:
    return [n for n in walk(lower_nest(schedule.program, schedule.tree, AVX2)) if isinstance(n, Accumulate)]


@pytest.mark.parametrize(
    "sizes", [{"M": 6, "N": 32, "K": 5}, {"M": 7, "N": 29, "K": 4}, {"M": 1, "N": 1, "K": 0}], ids=str
)
@pytest.mark.parametrize("rest", TOGETHER.values(), ids=TOGETHER)
def test_what_fits_is_computed_in_registers(rest, sizes):
    schedule = by_hand(product(rest), sizes)
    count = len(schedule.program.statements)
    for own in registers(schedule):
        assert not own.loads
        assert len({w.statement for w in writes(own)}) == count
    agree(schedule)


@pytest.mark.parametrize("rest", APART.values(), ids=APART)
def test_what_would_be_something_else_stays_outside(rest):
    sizes = {"M": 7, "N": 29, "K": 4}
    schedule = by_hand(product(rest), sizes)
    assert registers(schedule)
    for own in registers(schedule):
        assert {w.cells[0].array for w in writes(own)} == {"C"}
    agree(schedule)
    agree(wb.autoschedule(wb.operator(product(rest)), sizes=sizes))


BEGUN = {
    "a temporary": "D(m,n) = X(m,n)\n C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = D(m,n) - C(m,n)\n O(m,n) = 2 * D(m,n)",
    "across the lanes": "O(n,m) = X(m,n)\n C(m,n) +=! A(m,k) * B(k,n)\n O(n,m) = 2 * O(n,m) - C(m,n)",
}


@pytest.mark.parametrize("sizes", [{"M": 6, "N": 32, "K": 5}, {"M": 7, "N": 29, "K": 4}], ids=str)
@pytest.mark.parametrize("case", BEGUN)
def test_what_is_read_before_it_is_written_comes_from_memory(case, sizes):
    """Registers for cells that an epilogue changes began with nothing: gradients of recurrences came out wrong."""
    text = f"def f(float(M,K) A, float(K,N) B, float(M,N) X) -> (O) {{ {BEGUN[case]} }}"
    schedule = wb.schedule(wb.operator(text), sizes=sizes)
    if case == "a temporary":
        schedule = in_tiles(schedule, ["D.1", "O"])
    else:
        schedule = in_tiles(schedule | wb.reorder("O.1/m", "O.1/n"), ["O.1"])
    held = {x.cell.array: own for own in registers(schedule) for x in own.locals}
    assert held["D" if case == "a temporary" else "O"].loads
    agree(schedule)


def test_a_first_value_may_be_any():
    text = """def f(float(M,K) A, float(K,N) B, float(N) b) -> (C) {
        C(m,n) = b(n) * float(m) where m in 0:M
        C(m,n) += A(m,k) * B(k,n)
    }"""
    schedule = wb.schedule(wb.operator(text), M=6, N=32, K=5)
    first, sums = (s.name for s in schedule.program.statements)
    schedule = schedule | wb.merge(first, sums, depth=2) | wb.tile({f"{sums}/m": 3, f"{sums}/n": 16})
    schedule = (
        schedule | wb.distribute(sums, loop="m_i") | wb.reorder(*(f"{sums}/{x}" for x in ("k", "m_i", "n_i")))
    )
    for name in (first, sums):
        schedule = schedule | wb.unroll(f"{name}/m_i") | wb.vectorize(f"{name}/n_i")
    assert [own.loads for own in registers(schedule)] == [False]
    agree(schedule)


def test_epilogues_of_the_library_are_fused():
    """A convolution, bias, scale and ReLU write each result once."""
    op = wb.operator("""def block(float(N,C,H,W) I, float(F,C,KH,KW) K, float(F) b) -> (O) {
        O(n,f,y,x) +=! I(n,c,y+kh,x+kw) * K(f,c,kh,kw)
        O(n,f,y,x) = max(O(n,f,y,x) + b(f), 0)
    }""")
    schedule = wb.autoschedule(op, AVX2, N=1, C=32, H=30, W=30, F=32, KH=3, KW=3)
    nest = lower_nest(schedule.program, schedule.tree, AVX2)
    outside = [n for n in walk(nest) if isinstance(n, For) and n.kind == "parallel"]
    assert len(outside) == 1
    assert all(not own.loads and len(list(writes(own))) == 3 for own in registers(schedule))
    agree(schedule)


def test_the_result_is_the_oracle_s_where_nothing_is_added():
    schedule = by_hand(product(TOGETHER["bias and ReLU"]), {"M": 6, "N": 32, "K": 5})
    A, B, b = np.zeros((6, 5), np.float32), np.ones((5, 32), np.float32), np.arange(32, dtype=np.float32)
    assert np.array_equal(wb.build(schedule)(A, B, b), np.tile(b, (6, 1)))

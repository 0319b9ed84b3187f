"""compute_at, reverse_compute_at, inline, root, split_reduction: their laws, their refusals, and what is compiled."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.errors import IllegalSchedule, KernelError, ScheduleError
from workbench.poly.programs.tree import loops
from workbench.schedules import Schedule, Transform
from workbench.target import Target

BLUR = """
def blur(float(H,W) I) -> (O) {
    T(y,x) = I(y,x) + I(y,x+1) + I(y,x+2)
    O(y,x) = T(y,x) + T(y+1,x) + T(y+2,x)
}"""

MLP = """
def mlp(float(M,K) A, float(K,N) W, float(N,P) V, float(N) b) -> (O) {
    H(m,n) +=! A(m,k) * W(k,n)
    R(m,n) = fmax(H(m,n) + b(n), 0)
    O(m,p) +=! R(m,n) * V(n,p)
}"""

SOFTMAX = """
def softmax(float(M,N) X) -> (Y) {
    top(m) max=! X(m,n)
    E(m,n) = exp(X(m,n) - top(m))
    total(m) +=! E(m,n)
    Y(m,n) = E(m,n) / total(m)
}"""

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"

HALVES = """
def halves(half(N) A, half(N) B) -> (half(N) T, C) {
    T(i) = half(A(i) * B(i))
    C(i) = T(i) - A(i) * B(i)
}"""

LOOKUP = """
def lookup(float(N) A, int32(M) J) -> (C) {
    T(i) = A(i) * 2
    C(j) = T(J(j))
}"""

OVERWRITTEN = """
def overwritten(float(N) A) -> (B, C) {
    B(i) = A(i)
    T(i) = B(i) * 2
    B(i) = B(i) + 1
    C(i) = T(i) + B(i)
}"""

RECURRENT = """
def recurrent(float(T,N) X, float(N,N) W) -> (H) {
    H(n) = X(0,n)
    for t in 1:T {
        Z(n) +=! W(n,k) * H(k)
        H(n) = Z(n) + X(t,n)
    }
}"""

PADDED = """
def padded(float(N) A) -> (C) {
    T(i) = i < 1 || i > N ? 0 : A(i - 1) where i in 0:N+2
    C(i) = T(i) + T(i+1) + T(i+2) where i in 0:N
}"""

ARGMAX = """
monoid best(float value, int32 index) {
    identity (-inf, 2147483647)
    combine (v, i), (w, j) -> (first ? v : w, first ? i : j) where first = v > w || v == w && i < j
}
def farthest(float(M,N) A) -> (V, I) {
    (V(m), I(m)) best=! (A(m,n), n)
}"""

COUNTS = """
def counts(int32(M) J, float(N) Z) -> (H) {
    H(n) = Z(n)
    H(J(j)) += 1
}"""


AVX2 = Target(vector_bits=256)


def naive(text: str, **sizes: int) -> Schedule:
    return wb.schedule(wb.operator(text), **sizes)


def tree(schedule: Schedule) -> str:
    return str(schedule).partition("loops\n")[2]


def code(schedule: Schedule) -> str:
    """The tree and the kernel itself."""
    source = wb.generate(schedule, AVX2).source
    return f"{schedule}\n\n{source[source.rindex(chr(10) + 'int ') + 1 :]}"


def same(schedule: Schedule, *given: np.ndarray) -> None:
    """The compiled kernel gives, bit for bit, what the oracle gives."""
    op = schedule.original.definition
    assert op is not None
    found, wanted = wb.build(schedule)(*given), op.evaluate(*given)  # type: ignore[attr-defined]
    for a, b in zip(np.atleast_2d(found), np.atleast_2d(wanted), strict=True):
        np.testing.assert_array_equal(a, b)


STEPS = {
    "line": (BLUR, wb.compute_at("T", "O/y")),
    "point": (BLUR, wb.compute_at("T", "O/x")),
    "sliding": (BLUR, wb.compute_at("T", "O/y", recompute=False)),
    "chain": (MLP, wb.compute_at("H", "R/n") | wb.compute_at("R", "O/m")),
    "reverse": (SOFTMAX, wb.reverse_compute_at("E", "top/m") | wb.reverse_compute_at("total", "E/n")),
    "inline": (BLUR, wb.inline("T")),
    "root": (SOFTMAX, wb.compute_at("total", "Y/m", recompute=False) | wb.root("total")),
    "parts": (MATMUL, wb.split_reduction("k", 8) | wb.parallelize("k_o")),
}


@pytest.mark.parametrize("case", STEPS)
def test_tree_and_code(case: str, golden) -> None:
    text, step = STEPS[case]
    golden(code(naive(text) | step))


@pytest.mark.parametrize("case", STEPS)
@pytest.mark.parametrize("sizes", [{"H": 9, "W": 11}, {"H": 2, "W": 30}], ids=["all", "none"])
def test_compiled_results_are_the_oracles(case: str, sizes: dict[str, int]) -> None:
    text, step = STEPS[case]
    known = {n: sizes.get(n, 3 if sizes["H"] == 2 else 13) for n in wb.operator(text).size_names}
    agree(naive(text) | step, known)
    agree(naive(text, **known) | step)


FURTHER = {
    "lanes and threads": (BLUR, wb.compute_at("T", "O/y") | wb.vectorize("O/x") | wb.parallelize("y")),
    "lanes of the producer": (BLUR, wb.compute_at("T", "O/y") | wb.vectorize("T_local/x")),
    "lanes around": (BLUR, wb.compute_at("T", "O/x") | wb.vectorize("x")),
    "tiles": (BLUR, wb.tile({"O/y": 4, "O/x": 8}) | wb.compute_at("T", "O/x_o") | wb.parallelize("y_o")),
    "tiled producer": (BLUR, wb.tile({"T/y": 2, "T/x": 4}) | wb.compute_at("T", "O/y")),
    "other order": (MLP, wb.compute_at("R", "O/m") | wb.compute_at("H", "R_local/n")),
    "inlined lanes": (BLUR, wb.inline("T") | wb.tile(y=3, x=8) | wb.vectorize("x_i") | wb.unroll("y_i")),
    "both": (MLP, wb.inline("R") | wb.compute_at("H", "O/m") | wb.parallelize("m")),
    "reduction outside": (MATMUL, wb.reorder("k", "m", "n") | wb.split_reduction("k") | wb.parallelize("k")),
    "three reductions": (SOFTMAX, wb.split_reduction("total/n", 4) | wb.split_reduction("top/n", 4)),
    "time": (RECURRENT, wb.compute_at("Z", "H.1/t")),
    "tuples": (ARGMAX, wb.split_reduction("n", 4) | wb.parallelize("n_o")),
    "padding": (PADDED, wb.inline("T")),
    "padded tiles": (PADDED, wb.split("C/i", 4) | wb.compute_at("T", "i_o")),
}


@pytest.mark.parametrize("case", FURTHER)
def test_other_steps_follow(case: str) -> None:
    text, step = FURTHER[case]
    known = dict.fromkeys(wb.operator(text).size_names, 13)
    agree(naive(text) | step, known)
    agree(naive(text, **known) | step)


def test_recomputation_is_counted() -> None:
    start = naive(BLUR, H=6, W=5)
    assert str(wb.compute_at("T", "O/y").recomputed(start)) == "36 instances computed, 18 needed (2.00 times each)"
    assert wb.compute_at("R", "O/m").recomputed(naive(MLP, M=4, K=3, N=5, P=2)).ratio == 1.0
    with pytest.raises(ScheduleError, match="sizes left symbolic: H, W"):
        wb.compute_at("T", "O/y").recomputed(naive(BLUR))


def test_lanes_of_a_local_array_lie_side_by_side() -> None:
    text = code(naive(BLUR, H=9, W=18) | wb.compute_at("T", "O/x") | wb.vectorize("x"))
    assert "float T_local[48]" in text
    assert "*(wb_v8f32_u *)&T_local[(y_1 - y)*16 + x]" in text


def test_what_stands_still_needs_no_loop() -> None:
    names = [loop.name for loop in loops((naive(SOFTMAX) | wb.compute_at("total", "Y/m")).tree)]
    assert names == ["m", "n", "m", "n", "m", "n", "n"]
    inner = naive(MLP) | wb.compute_at("R", "O/n")
    assert tree(inner).splitlines()[-2:] == ["        R_local(m, p, n, m_1, n_1)", "        O(m, p, n)"]


def test_an_array_that_others_read_or_that_is_an_output_is_kept_on_request() -> None:
    softmax = naive(SOFTMAX)
    with pytest.raises(ScheduleError, match=r"total reads E outside loop 'Y/m'; put total into the loop"):
        softmax | wb.compute_at("E", "Y/m")
    agree(softmax | wb.compute_at("E", "Y/m", keep=True), {"M": 5, "N": 7})
    halves = naive(HALVES)
    with pytest.raises(ScheduleError, match="T is an output and must be computed where it is stored; keep=True"):
        halves | wb.compute_at("T", "C/i")
    values = np.random.default_rng(3).random((2, 40)).astype(np.float16)
    same(halves | wb.compute_at("T", "C/i", keep=True), *values)


def test_a_value_is_rounded_to_its_arrays_type_where_it_is_inlined() -> None:
    text = HALVES.replace("half(N) A, half(N) B) -> (half(N) T, C)", "half(N) A, half(N) B) -> (C)")
    schedule = naive(text) | wb.inline("T")
    values = np.random.default_rng(3).random((2, 40)).astype(np.float16)
    assert np.any(wb.operator(text).evaluate(*values))
    same(schedule, *values)


def test_what_has_been_overwritten_is_not_computed_later() -> None:
    for step in (wb.compute_at("T", "C/i"), wb.inline("T")):
        with pytest.raises(IllegalSchedule, match=r"reading B, would not get B\(0\) for N=1"):
            naive(OVERWRITTEN) | step
    with pytest.raises(IllegalSchedule, match="would break the order on B"):
        naive(OVERWRITTEN) | wb.compute_at("T", "C/i", recompute=False)


def test_an_index_may_choose_the_cell_and_is_checked() -> None:
    given = [np.arange(9, dtype=np.float32), np.array([3, 1, 0, 8], np.int32)]
    for step in (wb.compute_at("T", "C/j"), wb.inline("T")):
        schedule = naive(LOOKUP) | step
        same(schedule, *given)
        with pytest.raises(KernelError, match="index of T in C is out of range"):
            wb.build(schedule)(given[0], np.array([9], np.int32))


def test_a_scatter_gets_private_results() -> None:
    private = naive(COUNTS) | wb.split_reduction("j", 2) | wb.parallelize("j_o")
    same(private, np.array([3, 1, 0, 3, 3], np.int32), np.arange(4, dtype=np.float32))


def test_cells_that_nobody_writes_are_not_recomputed() -> None:
    text = "def partly(float(N) A) -> (C) { T(i) = A(i) where i in 1:N\n C(i) = T(i) where i in 0:N }"
    for step in (wb.inline("T"), wb.compute_at("T", "C/i")):
        with pytest.raises(IllegalSchedule, match="would not get what stood in T"):
            naive(text) | step


@pytest.mark.parametrize(
    ("text", "step", "message"),
    [
        (BLUR, wb.compute_at("I", "O/y"), "I is an input: nothing computes it"),
        (BLUR, wb.compute_at("S", "O/y"), "unknown producer 'S'"),
        (BLUR, wb.compute_at("O", "T/y"), "nothing in loop 'T/y' reads O"),
        (BLUR, wb.compute_at("T", "O/z"), "unknown loop 'O/z'; known: y, x"),
        (MLP, wb.inline("H"), "compute_at('H', loop) computes it inside its readers' loops"),
        (MLP, wb.inline("O"), "O is an output and must be stored"),
        (MLP, wb.split_reduction("O/p"), "loop 'O/p' adds nothing up; expected a loop of a reduction"),
        (MLP, wb.split_reduction("H/k", 0), "the block size of loop 'k' must be a positive integer, not 0"),
        (MLP, wb.root("H"), "H is computed in a nest of its own already"),
        (MLP, wb.compute_at("R", "O/m") | wb.root("R_local"), "R_local belongs to the iterations"),
        (MLP, wb.reverse_compute_at("R", "O/m"), "nothing in loop 'O/m' produces what R reads"),
        (COUNTS, wb.compute_at("H", "j"), "nothing in loop 'j' reads H"),
    ],
    ids=lambda x: str(x) if isinstance(x, Transform) else "",
)
def test_what_does_not_fit_is_said(text: str, step: Transform, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        naive(text) | step
    assert message in str(caught.value)


def test_records_and_scripts_bring_the_steps_back() -> None:
    op = wb.operator(MLP)
    schedule = wb.schedule(op) | wb.split_reduction("H/k", 4) | wb.inline("R") | wb.compute_at("H", "O/n", keep=False)
    again = Schedule.from_json(op, schedule.to_json())
    assert again == schedule
    assert again.key == schedule.key
    names: dict[str, object] = {}
    exec(schedule.to_python(), names)
    assert schedule in names.values()


@pytest.mark.parametrize("name", ["compute_at", "reverse_compute_at", "inline", "root", "split_reduction"])
def test_choices_fit(name: str) -> None:
    start = naive(SOFTMAX) | wb.merge("top", "E")
    offered = list(Transform.known[name].choices(start))
    assert offered
    for step in offered:
        assert start.can(step).outcome in ("legal", "illegal")

"""Calls that do not wait for one another: which run beside one another, where their tensors lie, what they compute."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.running.comparing import agrees
from workbench.errors import KernelError
from workbench.graph.running.recording.independent_calls import parallel_groups
from workbench.graph.running.specimens import recording_of
from workbench.schedules import default_schedule
from workbench.schedules.analysis.thread_shares import ThreadShares, thread_shares
from workbench.target import Target

RECURRENT = """
def recurrent(float(S,N) x, float(N,N) r, float(N) first) -> (float(S,N) y) {
    h(0, n) = first(n)
    for t in 0:S {
        u(t, n) +=! h(t, m) * r(m, n)
        h(t+1, n) = tanh(x(t, n) + u(t, n))
    }
    y(t, n) = h(t+1, n) where t in 0:S
}
def turned<T>(T(S,N) x) -> (y) { y(t,n) = x(S-1-t,n) where t in 0:S }
def added<T>(T(S,N) x, T(S,N) y) -> (z) { z(t,n) = x(t,n) + y(t,n) }
def picked<T>(T(S,N) x, int32(K) at) -> (y) { y(k,n) = x(at(k), n) }
"""
BOTH = RECURRENT + """
fn main(x: float32[64, 96], r: float32[96, 96], s: float32[96, 96], first: float32[96]) {
    added(recurrent(x, r, first), turned(recurrent(turned(x), s, first)))
}
"""


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [(random.standard_normal(shape) / 10).astype("f4") for shape in shapes]


def test_two_recurrences_run_beside_one_another():
    given = wb.model(BOTH.replace("turned(recurrent(turned(x), s, first))", "recurrent(x, s, first)"))
    built = wb.build(given, threads=2)
    (program,) = built.programs
    assert [[call.op.name for call in group] for group in program.groups.values()] == [["recurrent", "recurrent"]]
    assert [beside for *_, beside, _ in program.steps] == [2, 1, 1]
    given_arrays = arrays((64, 96), (96, 96), (96, 96), (96,))
    assert agrees(built(*given_arrays), given.evaluate(*given_arrays))
    assert not wb.build(given, threads=1).programs[0].groups
    with wb.settings(threads=1):
        assert agrees(wb.build(given)(*given_arrays), given.evaluate(*given_arrays))


def test_what_waits_for_another_does_not_run_beside_it():
    given = wb.model(RECURRENT + """
    fn main(x: float32[64, 96], r: float32[96, 96], first: float32[96]) { recurrent(recurrent(x, r, first), r, first) }
    """)
    assert not wb.build(given, threads=2).programs[0].groups


def test_an_index_out_of_range_is_named_where_calls_run_beside_one_another(monkeypatch):
    monkeypatch.setattr("workbench.graph.running.programs.parallel_groups", everything)
    given = wb.model(RECURRENT + """
    fn main(x: float32[9, 4], at: int32[3], be: int32[3]) { added(picked(x, at), picked(x, be)) }
    """)
    built = wb.build(given, threads=2)
    (x,) = arrays((9, 4))
    at = np.array([0, 8, 3], "i4")
    assert len(built.programs[0].groups) == 1
    assert agrees(built(x, at, at[::-1]), given.evaluate(x, at, at[::-1]))
    with pytest.raises(KernelError, match="picked: an index of x is out of range"):
        built(x, at, at + 1)


def everything(recording, shares, threads, region_seconds):
    """All calls of a level, whatever they take."""
    return parallel_groups(recording, dict.fromkeys(shares, ThreadShares(0.0, 1.0)), threads, 1e-9)


def test_random_graphs_compute_the_same_with_all_levels_side_by_side(monkeypatch):
    monkeypatch.setattr("workbench.graph.running.programs.parallel_groups", everything)
    random = np.random.default_rng(1)
    for _ in range(4):
        names, lines = ["x", "y"], []
        for at in range(8):
            a, b = random.choice(names[-4:], 2)
            op = random.choice(["added({}, {})", "turned({0})", "turned(added({0}, {1}))"])
            lines.append(f"let v{at} = {op.format(a, b)}")
            names.append(f"v{at}")
        body = "\n".join([*lines, "added(added(v5, v6), v7)"])
        given = wb.model(RECURRENT + f"fn main(x: float32[5, 7], y: float32[5, 7]) {{ {body} }}")
        x, y = arrays((5, 7), (5, 7))
        built = wb.build(given, threads=2)
        assert agrees(built(x, y), given.evaluate(x, y))
        assert agrees(built(x, y), given.evaluate(x, y))


def test_only_what_keeps_one_thread_busy_is_worth_it():
    recording = recording_of(wb.model(BOTH.replace("recurrent(turned(x), s", "recurrent(x, s")), {})
    one, other = (call for call in recording.calls if call.op.name == "recurrent")

    def groups(share: ThreadShares, threads: int = 2) -> int:
        return len(parallel_groups(recording, {one: share, other: share}, threads, 1e-6))

    assert groups(ThreadShares(0.0, 1e-4)) == 1
    assert groups(ThreadShares(0.0, 1e-4), threads=1) == 0
    assert groups(ThreadShares(1e-4, 1e-8)) == 0  # threads divide it
    assert groups(ThreadShares(0.0, 1e-7)) == 0  # too little


def test_shares_say_what_threads_divide():
    target = Target(cores=2)
    text = """def f(float(N) x, float(M,N) z) -> (y, w) {
        w(m,n) = z(m,n) * 2.0
        y(0) = x(0)
        y(n) = y(n-1) * 0.5 + x(n) where n in 1:N
    }"""
    schedule = default_schedule(wb.lower(wb.operator(text), N=4096, M=512), target)
    found = thread_shares(schedule.program, schedule.tree, target)
    assert found.divided > 10 * found.alone > 0
    assert found.seconds(1) == found.divided + found.alone > found.seconds(2)

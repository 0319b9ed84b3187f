"""Threads wait where something crosses threads, and nowhere else."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.gpu_schedules import bind_all, staged, staged_matmul
from workbench.poly.threads.cross_thread_dependences import crossings
from workbench.poly.threads.grid import on_grid, regions
from workbench.schedules import Schedule


def waits(schedule: Schedule) -> int:
    """Places in the text where a block waits."""
    return wb.generate(schedule, target="cuda").source.count("__syncthreads();")


def two_parts(read: str) -> Schedule:
    """Threads that write A, then threads that read it, for each row."""
    op = wb.operator(f"def f(float(M,32) X) -> (A, B) {{ A(m,i) = X(m,i)\n B(m,i) = {read} where i in 0:32 }}")
    s = wb.schedule(op, M=8) | wb.merge("A", "B")
    return bind_all(s, {"A/m": "block.x", "A/i": "thread.x", "B/i": "thread.x"})


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("A(m, i)", 0),
        ("A(m, 31 - i)", 1),
        ("A(m, i / 2)", 1),
        ("X(m, 31 - i)", 0),
        ("A(m, i) + A(m, max(i - 1, 0))", 1),
    ],
)
def test_threads_wait_for_what_others_wrote(read, expected):
    assert waits(two_parts(read)) == expected


def test_one_wait_serves_several_parts():
    op = wb.operator("""def f(float(M,32) X) -> (A, B, C, D) {
        A(m,i) = X(m,i)
        B(m,i) = 2 * X(m,i)
        C(m,i) = A(m, 31 - i) where i in 0:32
        D(m,i) = B(m, 31 - i) where i in 0:32
    }""")
    s = wb.schedule(op, M=8) | wb.merge("A", "B") | wb.merge("B", "C") | wb.merge("C", "D")
    s = bind_all(s, {"A/m": "block.x"} | {f"{name}/i": "thread.x" for name in "ABCD"})
    assert waits(s) == 1


def test_a_buffer_that_is_used_again_makes_threads_wait():
    s = staged_matmul()
    order = on_grid(s.tree)
    (region,) = [r for r in regions(order) if s.program.statement("C").id in r.statements]
    found = crossings(s.program, order, region.statements, frozenset(region.statements))
    names = {s.program.statement(x).id: s.program.statement(x).name for x in region.statements}
    said = {(names[x.source], names[x.target], x.loop) for x in found}
    assert ("A_local.load", "C", "") in said
    assert ("C", "A_local.load", "k_o") in said
    assert not any(source == target == "C" for source, target, _ in said)
    assert waits(s) == 2


@pytest.mark.parametrize(("stages", "pending"), [(2, 0), (3, 1), (4, 2)])
def test_copies_of_later_tiles_stay_under_way(stages, pending):
    source = wb.generate(staged_matmul(stages, K=160), target="cuda").source
    kernel = source[source.index("matmul_C(") :]
    assert kernel.count("wb_copies_wait(0);") == (2 if pending == 0 else 1)
    assert kernel.count(f"wb_copies_wait({pending});") == (2 if pending == 0 else 1)
    assert kernel.count("wb_copies_commit();") == 2


def test_a_barrier_that_nothing_needs_is_no_wait():
    s = two_parts("A(m, i)")
    assert waits(s | wb.barrier("B")) == 0


def test_a_wait_stands_outside_of_guards_that_differ_from_thread_to_thread():
    op = wb.operator("def f(float(M,N) X) -> (A, B) { A(m,i) = X(m,i)\n B(m,i) = A(m, N - 1 - i) where i in 0:20 }")
    s = wb.schedule(op, M=8, N=37) | wb.merge("A", "B")
    s = bind_all(s, {"A/m": "block.x", "A/i": "thread.x", "B/i": "thread.x"})
    source = wb.generate(s, target="cuda").source
    lines = [line.rstrip() for line in source.splitlines() if "__syncthreads" in line or "if (" in line]
    assert lines[-2:] == ["    __syncthreads();", "        if (i < 20) {"]


def test_blocks_that_take_several_tiles_wait_before_the_next_one():
    source = wb.generate(staged(wb.schedule(wb.ops.matmul)), target="cuda").source
    assert source.rstrip().endswith("        __syncthreads();\n    }\n}")
    assert source.count("__syncthreads();") == 3


def test_threads_that_count_from_elsewhere_wait_for_one_another():
    """Thread i executes iteration i + 1 of one loop and iteration i of the next: equal iterations are two threads."""
    s = wb.schedule(wb.ops.load("wave_1d"), N=11, steps=6)
    for loop, axis in {"u/i": "block.x", "old/i": "block.x"}.items():
        s = s | wb.bind(loop, axis)
    for loop in ("new/i", "old.1/i", "u.1/i"):
        s = s | wb.bind(loop, "thread.x")
    text = wb.generate(s, target="cuda").source
    between = text[text.index("/* new:") : text.index("/* old.1:")]
    assert "__syncthreads();" in between


def reasons(schedule: Schedule) -> list[str]:
    """The waits among the last pass's lines, each with what it is for."""
    lines = wb.rewrites(schedule, "cuda")[-1].diff.splitlines()
    return [line.lstrip("+ ") for line in lines if "threads wait" in line]


def test_a_wait_says_which_array_other_threads_wrote():
    assert reasons(two_parts("A(m, 31 - i)")) == ["threads wait: A, written by another thread"]


def test_a_wait_says_that_copies_arrive_and_that_a_buffer_is_used_again():
    first, second = reasons(staged_matmul(3))
    assert first == "threads wait, for all copies: A_local and B_local, copied asynchronously"
    copied, reused = second.removeprefix("threads wait, for all copies but the youngest 1 groups: ").split("; ")
    assert copied == "A_local and B_local, copied asynchronously in an earlier iteration of k_o"
    assert reused == "A_local and B_local, read by another thread in an earlier iteration of k_o"


def test_a_wait_in_a_loop_of_time_says_what_is_overwritten_and_what_the_last_iteration_wrote():
    s = wb.schedule(wb.ops.load("wave_1d"), N=11, steps=6)
    for loop, axis in {"u/i": "block.x", "old/i": "block.x"}.items():
        s = s | wb.bind(loop, axis)
    for loop in ("new/i", "old.1/i", "u.1/i"):
        s = s | wb.bind(loop, "thread.x")
    behind_new, behind_old, behind_u = reasons(s)
    assert behind_new.startswith("threads wait: old and u, read by another thread; ")
    assert behind_old.endswith("; u, read by another thread")
    assert behind_u.endswith("; old and u, written by another thread in an earlier iteration of t")


def test_a_tile_that_follows_in_the_same_block_is_a_reason():
    assert reasons(staged(wb.schedule(wb.ops.matmul)))[-1] == (
        "threads wait: the next tile of this block uses the same memory"
    )


def test_the_text_of_a_kernel_does_not_say_why():
    source = wb.generate(two_parts("A(m, 31 - i)"), target="cuda").source
    assert "another thread" not in source

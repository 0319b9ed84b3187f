"""Blocks that are offered divide their loop; a loop too short for any is named."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.schedules import Schedule, Transform
from workbench.schedules.steps.support.block_sizes import iterations, too_short
from workbench.schedules.transform import singles

# Rows of a triangle, a short window and a single batch: an operator that no library has.
BANDS = wb.operator("""
def bands(float(B,N,N+2) X) -> (S) {
    S(b,i) +=! X(b,i,j+w) where i in 0:N, j in 0:i+1, w in 0:3
}
""")
KINDS = ("tile", "split", "unroll_jam", "split_reduction")


def offered(schedule: Schedule, kind: str) -> list[Transform]:
    return list(Transform.known[kind].choices(schedule))


def sizes(step: Transform) -> list[tuple[str, int]]:
    """The loops that a step divides, with the size of the blocks."""
    match step.to_json():
        case {"sizes": list(pairs)}:
            return [(loop, size) for loop, size in pairs]
        case {"loop": loop, "factor": int(size)} | {"loop": loop, "size": int(size)}:
            return [(loop, size)]
    return []


@pytest.mark.parametrize("n", [1, 2, 5, 8, 33, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_no_block_is_as_long_as_its_loop(kind: str, n: int) -> None:
    schedule = wb.schedule(BANDS, B=1, N=n)
    own = {"b": 1, "i": n, "j": n, "w": 3}
    for step in offered(schedule, kind):
        for part in singles(step):
            assert all(size < own[loop.rpartition("/")[2]] for loop, size in sizes(part)), step


def test_the_largest_blocks_that_fit_are_offered_first() -> None:
    small = wb.schedule(wb.ops.matmul, M=8, N=512, K=4)
    assert [str(step) for step in offered(small, "tile")] == ["tile(m=4, n=32)"]
    assert [str(step) for step in offered(small, "split")][:2] == ["split('m', 4)", "split('n', 4)"]


def test_of_open_sizes_all_blocks_may_fit() -> None:
    assert str(offered(wb.schedule(wb.ops.matmul), "tile")[0]) == "tile(m=32, n=32)"


def test_blocks_of_blocks_fit_too() -> None:
    blocks = wb.schedule(wb.ops.matmul, M=512, N=512, K=512) | wb.tile(m=32, n=64, k=16)
    assert {loop.name: iterations(blocks, loop) for loop in blocks.tree.children[1].loops} == {
        "m_o": 16, "n_o": 8, "k_o": 32, "m_i": 32, "n_i": 64, "k_i": 16,
    }  # fmt: skip
    for step in offered(blocks, "tile"):
        assert "n_o=32" not in str(step)
        assert "k_i=32" not in str(step)


def test_loops_too_short_for_any_block_are_named() -> None:
    assert too_short(wb.schedule(BANDS, B=1, N=2)) == ["b", "i", "j"]
    assert too_short(wb.schedule(BANDS)) == []


def test_loops_of_a_kernel_are_neither_tiled_nor_made_parallel_again() -> None:
    tiled = wb.schedule(wb.ops.matmul, M=64, N=64, K=64) | wb.tile(m=8, n=8)
    assert wb.tile(m_o=4, n_o=4) in offered(tiled, "tile")
    assert {wb.parallelize("m_o"), wb.parallelize("n_i")} <= {*offered(tiled, "parallelize")}
    bound = tiled | wb.bind("m_o", "block.y") | wb.bind("n_o", "block.x")
    assert offered(bound, "tile") == [wb.tile(m_i=4, n_i=4)], "what one thread does may be tiled"
    assert offered(bound, "parallelize") == []

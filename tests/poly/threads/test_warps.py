"""Sectors and turns of warps against counting them one by one."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.support import examples
from workbench.errors import LoweringError
from workbench.poly.programs.program import Padding
from workbench.poly.threads.grid import on_grid
from workbench.poly.threads.warp_costs import sectors, turns
from workbench.poly.threads.warps import Block, block_of, turns_with, warp_accesses


@st.composite
def accesses(draw):
    """A read `X(a*i + b*j + c)` by blocks of threads: (a, b, c, rows and columns, of them in a block)."""
    a, b, c = (draw(st.integers(0, 40)) for _ in range(3))
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 50))
    return a, b, c, (rows, columns), (draw(st.integers(1, 4)), draw(st.integers(1, 40)))


@settings(max_examples=examples(quick=5, ci=15, full=300), deadline=None)
@given(accesses(), st.sampled_from(["float", "double", "uint8"]))
def test_sectors_of_random_affine_reads(access, kind):
    a, b, c, (rows, columns), (height, width) = access
    extent = a * (rows - 1) + b * (columns - 1) + c + 1
    text = (
        f"def f({kind}({extent}) X) -> (Y) {{ Y(i,j) = X({a}*i + {b}*j + {c}) where i in 0:{rows}, j in 0:{columns} }}"
    )
    s = wb.schedule(wb.operator(text)) | wb.tile(i=height, j=width)
    for loop, axis in (("i_o", "block.y"), ("j_o", "block.x"), ("i_i", "thread.y"), ("j_i", "thread.x")):
        s = s | wb.bind(loop, axis)
    size = {"float": 4, "double": 8, "uint8": 1}[kind]
    wide = min(width, columns)
    found = defaultdict(set)
    for i, j in product(range(rows), range(columns)):
        thread = i % height * wide + j % width
        found[i // height, j // width, thread // 32].add((a * i + b * j + c) * size)
    costs = [len({address // 32 for address in warp}) for warp in found.values()]
    least = [-(-len(warp) * size // 32) for warp in found.values()]
    report = next(x for x in wb.coalescing(s).accesses if x.array == "X")
    assert (report.requests, report.units, report.worst, report.least) == (
        len(costs),
        sum(costs),
        max(costs),
        sum(least),
    )
    assert report.complete
    assert len({address // 32 for address in report.lanes if address is not None}) == report.worst


@settings(max_examples=examples(quick=20, ci=100, full=2000), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 31), st.integers(0, 300)), min_size=1),
    st.sampled_from([1, 2, 4, 8, 16]),
)
def test_turns_and_sectors_of_random_addresses(touches, size):
    requests, lanes, places = (np.array(column) for column in zip(*touches, strict=True))
    requests = np.unique(requests, return_inverse=True)[1]
    addresses = places * size
    wide = max(1, size // 4)
    for request in range(int(requests.max()) + 1):
        own = [(lane, address) for r, lane, address in zip(requests, lanes, addresses, strict=True) if r == request]
        taken = 0
        for part in range(wide):
            words = {address // 4 + w for lane, address in own if lane // (32 // wide) == part for w in range(wide)}
            banks = defaultdict(int)
            for word in words:
                banks[word % 32] += 1
            taken += max(banks.values(), default=0)
        assert turns(requests, addresses, lanes, size)[0][request] == taken
        touched = len({address // 32 for _, address in own})
        assert sectors(requests, addresses, lanes, size)[0][request] == touched


def transposed(pad: int):
    s = (
        wb.schedule(wb.ops.load("transpose"), M=64, N=96)
        | wb.tile(m=32, n=32)
        | wb.reorder("n_o", "m_o", "n_i", "m_i")
    )
    s = s | wb.stage("A", "m_o") | wb.bind("n_o", "block.y") | wb.bind("m_o", "block.x")
    s = s | wb.split("A_local.load/m", 8, names=("down", "row")) | wb.bind("row", "thread.y")
    s = s | wb.bind("A_local.load/n", "thread.x") | wb.bind("B/m_i", "thread.x")
    return s | wb.storage_align("A_local", 0, 32, pad) if pad else s


@pytest.mark.parametrize(("pad", "degree"), [(0, 32), (1, 1), (2, 2), (8, 8), (16, 16)])
def test_a_column_of_a_tile_in_shared_memory(pad, degree):
    report = wb.bank_conflicts(transposed(pad))
    assert {(a.statement, a.kind): a.worst for a in report.accesses} == {
        ("A_local.load", "write"): 1,
        ("B", "read"): degree,
    }
    assert report.worst == degree


def test_the_cost_of_a_padding_is_known_without_trying_it():
    s = transposed(0)
    place = next(x for x in wb.poly.storage_of(s.program, s.tree) if x.array.name == "A_local")
    padding = Padding(place.kept[0][0], 32, 1)
    (before, least), (after, _) = turns_with(s.program, s.tree, "A_local", ((), (padding,)))
    assert before > after == least


def test_threads_of_a_block():
    s = transposed(1)
    order = on_grid(s.tree)
    assert block_of(s.program, order, tuple(x.id for x in s.program.statements)) == Block(32, 8, 1)


def test_sizes_must_be_bound_and_gathers_are_left_out():
    symbolic = wb.schedule(wb.ops.matmul) | wb.bind("m", "block.x") | wb.bind("n", "thread.x")
    with pytest.raises(LoweringError, match="symbolic sizes: M, K, N"):
        wb.coalescing(symbolic)
    gathered = wb.autoschedule(wb.ops.load("embedding"), "cuda", sizes=wb.ops.load("embedding").examples[0])
    assert all("[" not in a.text for a in warp_accesses(gathered.program, gathered.tree, "global"))


def test_what_is_read_before_an_array_begins_counts_like_any_other():
    requests, addresses = np.array([0, 0, 1, 1]), np.array([-4, 0, -64, -60])
    units, least = sectors(requests, addresses, np.array([0, 1, 0, 1]), 4)
    assert units.tolist() == [2, 1]
    assert least.tolist() == [1, 1]

"""Indices that are data are checked a vector at a time: one that misses is found wherever it stands."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.codegen.passes.test_partial_lanes import guarded
from workbench.errors import KernelError
from workbench.target import Target

PLAIN = "def f(float(N) T, {0}(M) J) -> (O) {{ O(i) = T(J(i)) }}"
CHOSEN = "def f(float(N) T, {0}(M) J) -> (O) {{ O(i) = J(i) >= 0 ? T(J(i)) : 1.0 }}"
FROM_ONE = "def f(float(N) T, {0}(M) J) -> (O) {{ O(i) = T(J(i) - 1) }}"
TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint32")
MACHINES = [Target(vector_bits=bits, cores=1) for bits in (128, 256, 512)]
CELLS, COUNT = 100, 37


def missed(kernel: wb.CompiledKernel, table: np.ndarray, indices: np.ndarray) -> bool:
    try:
        kernel(table, guarded(indices))
    except KernelError:
        return True
    return False


@pytest.mark.parametrize("target", MACHINES, ids=lambda t: str(t.vector_bits))
@pytest.mark.parametrize(
    ("text", "kind"),
    [*((text, kind) for text in (PLAIN, FROM_ONE) for kind in TYPES), *((CHOSEN, kind) for kind in TYPES[:4])],
)
def test_an_index_that_misses_is_found_at_every_place(text: str, kind: str, target: Target) -> None:
    op = wb.operator(text.format(kind))
    kernel, lowest = wb.build(wb.schedule(op), target), 1 if text == FROM_ONE else 0
    assert ("wb_bads |=" in kernel.source) == (text != FROM_ONE and kind.startswith("int"))
    table = np.arange(CELLS, dtype=np.float32)
    good = np.random.default_rng(1).integers(lowest, CELLS, COUNT).astype(kind)
    assert not missed(kernel, table, good)
    info = np.iinfo(kind)
    for place in range(COUNT):
        for index in {lowest - 1, CELLS + lowest, info.min, info.max} - set(range(lowest, CELLS + lowest)):
            if info.min <= index <= info.max:
                bad = good.copy()
                bad[place] = index
                assert missed(kernel, table, bad) == (index >= 0 or text != CHOSEN), (place, index)


def test_a_table_without_cells_and_no_indices() -> None:
    kernel = wb.build(wb.schedule(wb.operator(PLAIN.format("int32"))))
    assert not missed(kernel, np.zeros(0, np.float32), np.zeros(0, np.int32))
    assert missed(kernel, np.zeros(0, np.float32), np.zeros(5, np.int32))

"""Updates by compare and swap are as sound as those that a GPU has an instruction for, also inside of words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.schedules import Schedule

# Seven rows of odd length: rows of bytes share words, and the last word is not full.
ROWS, COLUMNS = 7, 5
DTYPES = ("float32", "int32", "uint8", "int16", "float16")


def reduced(dtype: str, reduction: str) -> Schedule:
    """A thread for each element of a row, all updating one cell."""
    op = wb.operator(f"def h({dtype}(N,K) A) -> (H) {{ H(i) {reduction} A(i,k) }}")
    schedule = wb.schedule(op, N=ROWS, K=COLUMNS) | wb.decompose_reduction("H") | wb.atomic("H")
    for loop, axis in {"H.init/i": "block.x", "H/i": "block.x", "H/k": "thread.x"}.items():
        schedule |= wb.bind(loop, axis)
    return schedule


def values(dtype: str) -> np.ndarray:
    return np.random.default_rng(1).permutation(ROWS * COLUMNS).reshape(ROWS, COLUMNS).astype(dtype)


@pytest.mark.parametrize("reduction", ["max=!", "+=!"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_atomic_updates_are_no_race(dtype, reduction):
    found = wb.sanitize(reduced(dtype, reduction), values(dtype))
    assert found, str(found)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_a_cell_that_is_set_while_others_update_it_is_a_race(dtype):
    kernel = wb.generate(reduced(dtype, "max=!"), "cuda")
    helper = f"wb_atomic_max_{dtype}(&H[i], "
    assert helper in kernel.source
    plain = replace(kernel, source=kernel.source.replace(helper, "if (threadIdx.x == 2) H[i] = 0; " + helper))
    found = wb.sanitize(plain, values(dtype))
    assert "race" in {f.kind for f in found}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gcc", "clang", "zig"])
def test_every_compiler_tells_volatile_reads_apart(family):
    for toolchain in every_toolchain():
        if toolchain.family == family:
            with wb.settings(compiler="zig" if family == "zig" else toolchain.command[0]):
                assert wb.sanitize(reduced("uint8", "max=!"), values("uint8"))

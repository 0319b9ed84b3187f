"""Faults planted in kernels are found, at the right line, with the right threads; sound kernels are left alone."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.runtime.emulation.kernels import EXAMPLES, cuda, line_of, matmul, transpose
from tests.runtime.hand import numbers, parameter
from tests.support import examples
from workbench.errors import BuildError, CodegenError, KernelError
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.runtime.emulation.cpp_job import cpp_toolchain
from workbench.runtime.emulation.emulated import load_unit
from workbench.runtime.emulation.findings import ThreadId
from workbench.runtime.emulation.line_table import Reader
from workbench.runtime.emulation.records import ORDERS
from workbench.runtime.emulation.watched_library import WatchedLibrary


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_is_found_in_a_sound_kernel(name):
    example = EXAMPLES[name]()
    found = wb.sanitize(example.kernel, *example.arrays, **example.given())
    assert found, str(found)


# (kernel, text, what stands in its place, kinds that may be told first, a piece of the line that is named)
PLANTED = {
    "no barrier before a tile is read": (
        "matmul",
        "        __syncthreads();\n",
        "\n",
        {"race", "uninitialised"},
        ("sum +=", "A[i*n", "B["),
    ),
    "one buffer in place of two": (
        "matmul",
        "A_tile[(k_o + 1)%2][8*y + x]",
        "A_tile[k_o%2][8*y + x]",
        {"race", "uninitialised"},
        ("sum +=", "A_tile[k_o%2][8*y + x]"),
    ),
    "a subscript of a tile is shifted": (
        "matmul",
        "A_tile[k_o%2][8*y + k]",
        "A_tile[k_o%2][8*y + k + 1]",
        {"out of bounds"},
        ("sum +=",),
    ),
    "a tile is filled from one place further": (
        "matmul",
        "B[(8*(k_o + 1) + y)*n + j]",
        "B[(8*(k_o + 1) + y + 1)*n + j]",
        {"out of bounds"},
        ("B[(8*",),
    ),
    "a bound is loosened by one": (
        "matmul",
        "k_o + 1 < n/8",
        "k_o + 1 < n/8 + 1",
        {"out of bounds"},
        ("A[i*n + 8*(k_o", "B[(8*(k_o"),
    ),
    "a barrier under a condition": (
        "matmul",
        "        __syncthreads();",
        "        if (y > 2) __syncthreads();",
        {"divergent barrier"},
        ("if (y > 2) __sync",),
    ),
    "a barrier fewer times for some": (
        "matmul",
        "k_o < n/8; k_o++",
        "k_o < n/8 - (x > 6); k_o++",
        {"divergent barrier"},
        ("__syncthreads();",),
    ),
    "a copy into the place that is read": (
        "pipeline",
        "&tile[(s + 2)%3][4*t]",
        "&tile[s%3][4*t]",
        {"unfinished copy", "race"},
        ("wb_copy_async(&tile[s%3]", "sum +="),
    ),
    "no wait for the copies": (
        "pipeline",
        "        wb_copies_wait(1);\n",
        "\n",
        {"unfinished copy"},
        ("sum +=",),
    ),
    "a wait for too few copies": (
        "pipeline",
        "wb_copies_wait(1)",
        "wb_copies_wait(2)",
        {"unfinished copy"},
        ("sum +=",),
    ),
    "waiting for one's own copies alone": (
        "pipeline",
        "        __syncthreads();\n",
        "\n",
        {"race", "unfinished copy"},
        ("sum +=", "wb_copy_async(&tile[(s"),
    ),
    "copies beyond the end": (
        "pipeline",
        "if (s + 2 < n)",
        "if (s + 2 < n + 1)",
        {"out of bounds"},
        ("&A[128*(s + 2)",),
    ),
    "partial maxima overwritten too early": (
        "softmax",
        "    __syncthreads(); /* all have read the maxima */\n",
        "\n",
        {"race"},
        ("parts[warp] = sum", "parts[0], parts[1]"),
    ),
    "partial sums read too early": (
        "softmax",
        "    __syncthreads(); /* the sums are there */\n",
        "\n",
        {"race"},
        ("sum = parts[0]", "parts[warp] = sum"),
    ),
    "every lane writes its part": (
        "softmax",
        "    if (lane == 0)\n        parts[warp] = top;",
        "    parts[warp] = top;",
        {"race"},
        ("parts[warp] = top",),
    ),
    "one warp too few writes": (
        "softmax",
        "    if (lane == 0)\n        parts[warp] = top;",
        "    if (lane == 0 && warp < 2)\n        parts[warp] = top;",
        {"uninitialised"},
        ("fmaxf(parts[0]",),
    ),
    "a row too long": (
        "softmax",
        "        Y[blockIdx.x*n + i] =",
        "        Y[blockIdx.x*n + i + 1] =",
        {"race", "out of bounds"},
        ("Y[blockIdx",),
    ),
    "a shuffle under a condition": (
        "softmax",
        "        sum += __shfl",
        "        if (lane < 16) sum += __shfl",
        {"divergent barrier"},
        ("if (lane < 16)",),
    ),
    "counted without atomics": (
        "histogram",
        "atomicAdd(&own[V[i]], 1)",
        "own[V[i]] += 1",
        {"race"},
        ("own[V[i]] +=",),
    ),
    "added to all blocks' counts without atomics": (
        "histogram",
        "atomicAdd(&H[threadIdx.x], own[threadIdx.x])",
        "H[threadIdx.x] += own[threadIdx.x]",
        {"race"},
        ("H[threadIdx.x] +=",),
    ),
    "counters not all set to 0": (
        "histogram",
        "    if (threadIdx.x < 16)\n        own",
        "    if (threadIdx.x < 15)\n        own",
        {"uninitialised"},
        ("atomicAdd(&own", "atomicAdd(&H"),
    ),
    "read before the block has counted": (
        "histogram",
        "    __syncthreads(); /* the block has counted */\n",
        "\n",
        {"race"},
        ("atomicAdd(&own", "atomicAdd(&H"),
    ),
    "a tile too narrow": (
        "transpose",
        "__shared__ float tile[16][17]",
        "__shared__ float tile[15][17]",
        {"out of bounds"},
        ("tile[threadIdx.y + r]",),
    ),
    "a bound that is not tested": (
        "transpose",
        "if (i + r < m && j < n)",
        "if (j < n)",
        {"out of bounds"},
        ("A[(i + r)*n + j]",),
    ),
    "a bound of the other side": (
        "transpose",
        "if (i + r < n && j < m)",
        "if (i + r < n)",
        {"race", "out of bounds", "uninitialised"},
        ("T[(i + r)*m + j]",),
    ),
    "half of a tile": (
        "transpose",
        "    for (int r = 0; r < 16; r += 8)\n        if (i + r < m",
        "    for (int r = 0; r < 8; r += 8)\n        if (i + r < m",
        {"uninitialised"},
        ("tile[threadIdx.x][threadIdx.y + r]",),
    ),
}


def check_fault(fault: str) -> None:
    """A planted fault is the first thing that is told, with its line, and in every order something was."""
    name, before, after, kinds, pieces = PLANTED[fault]
    example = EXAMPLES[name]()
    kernel = example.mutant(before, after)
    found = wb.sanitize(kernel, *example.arrays, **example.given())
    assert len(found), "nothing was found"
    assert found[0].kind in kinds, str(found)
    assert any(piece in found[0].text for piece in pieces), str(found)
    assert kernel.source.split("\n")[found[0].line - 1].strip() == found[0].text
    assert all(any(order in f.method for f in found) for order in ORDERS), "not every order showed something"


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found_at_its_line(fault):
    check_fault(fault)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gcc", "clang", "zig"])
def test_planted_faults_are_found_with_every_compiler(family):
    for found in every_toolchain():
        if found.family == family:
            with wb.settings(compiler="zig" if family == "zig" else found.command[0]):
                for fault in list(PLANTED)[:: examples(quick=7, ci=7, full=1)]:
                    check_fault(fault)


def test_a_race_is_told_with_its_threads_and_lines(golden):
    example = matmul()
    found = wb.sanitize(example.mutant("        __syncthreads();\n", "\n"), *example.arrays)
    race = next(f for f in found if f.kind == "race" and f.array == "A_tile")
    assert race.threads[0] != race.threads[1]
    assert isinstance(race.threads[1], ThreadId)
    assert race.other_line in (9, 10, 14, 15, 18)
    golden(str(found))


WARP = """\
extern "C" __global__ void warp(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float row[64];
    row[threadIdx.x] = X[threadIdx.x];
    __syncwarp();
    Y[threadIdx.x] = row[threadIdx.x ^ 1];
}
"""


def test_a_warp_that_waits_orders_its_own_lanes_alone():
    kernel = cuda(
        "warp", WARP, parameter("X", (64,)), parameter("Y", (64,), role="output"), grid=(1, 1, 1), block=(64, 1, 1)
    )
    assert wb.sanitize(kernel, numbers(64))
    for before, after in (
        ("^ 1", "^ 32"),
        ("    __syncwarp();\n", "\n"),
        ("__syncwarp()", "__syncwarp(1 << threadIdx.x)"),
    ):
        source = kernel.source.replace(before, after)
        (found, *_) = wb.sanitize(replace(kernel, source=source), numbers(64))
        assert found.kind in ("race", "uninitialised"), str(found)
        assert "row[threadIdx.x" in found.text


HELPER = """\
WB_INLINE void put(float *to, float value)
{
    *to = value;
}
extern "C" __global__ void helped(const float *__restrict__ X, float *__restrict__ Y)
{
    put(Y + threadIdx.x, X[threadIdx.x]);
    put(Y + threadIdx.x + 1, X[threadIdx.x]); /* the next one's */
}
"""


def test_what_a_helper_touches_is_told_where_the_kernel_calls_it():
    kernel = cuda(
        "helped", HELPER, parameter("X", (8,)), parameter("Y", (8,), role="output"), grid=(1, 1, 1), block=(8, 1, 1)
    )
    found = wb.sanitize(kernel, numbers(8))
    assert {f.kind for f in found} == {"race", "out of bounds"}
    assert {f.line for f in found} <= {7, 8}
    outside = next(f for f in found if f.kind == "out of bounds")
    assert (outside.array, outside.index, outside.line) == ("Y", 8, 8)


def test_arrays_are_not_touched():
    example = transpose()
    kept = [array.copy() for array in example.arrays]
    wb.sanitize(example.mutant("tile[threadIdx.x][threadIdx.y + r]", "A[0] + 1"), *example.arrays)
    for array, before in zip(example.arrays, kept, strict=True):
        np.testing.assert_array_equal(array, before)


# -- schedules ----------------------------------------------------------------------------------------


def test_a_legal_schedule_is_proved_without_being_run():
    naive = wb.schedule(wb.ops.matmul, M=8, N=8, K=4)
    found = wb.sanitize(naive | wb.bind("C/m", "thread.x"))
    assert found
    assert "no race" in found.proved
    assert "nothing was executed" in found.tried


def test_a_race_of_a_schedule_is_proved_and_shown(golden):
    bad = wb.preview(wb.schedule(wb.ops.matmul, M=2, N=2, K=3), wb.bind("k", "thread.x"))
    a, b = numbers(2, 3), numbers(3, 2)
    found = wb.sanitize(bad, a, b)
    assert found[0].method == "happens-before"
    assert {f.kind for f in found} == {"race"}
    assert found[0].threads == (ThreadId((0, 0, 0), (1, 0, 0)), ThreadId((0, 0, 0), (0, 0, 0)))
    assert any("executor" in f.method for f in found)
    golden(str(found))


def test_a_missing_barrier_is_proved():
    jacobi = wb.schedule(wb.ops.load("jacobi_1d"), N=9, steps=3)
    staying = wb.together(wb.merge("B", "A.1"), wb.interchange("A.1/i", "t"), wb.bind("A.1/i", "thread.x"))
    found = wb.sanitize(wb.preview(jacobi, staying))
    assert {f.method for f in found} == {"happens-before"}
    assert found[0].array == "A"
    assert wb.sanitize(jacobi | wb.together(*staying.parts, wb.barrier("B"), wb.barrier("A.1")))


def test_a_mutant_of_generated_text_is_compared_with_the_oracle():
    schedule = wb.schedule(wb.ops.matmul, M=4, N=5, K=3) | wb.bind("C/m", "block.x") | wb.bind("C/n", "thread.x")
    kernel = wb.generate(schedule, target="cuda")
    a, b = numbers(4, 3), numbers(3, 5)
    assert wb.sanitize(kernel, a, b)
    wrong = replace(kernel, source=kernel.source.replace("k < 3", "k < 2"))
    assert wrong.source != kernel.source
    (found,) = wb.sanitize(wrong, a, b)
    assert found.kind == "wrong result"
    assert "DIFFERS" in found.what


# -- errors -------------------------------------------------------------------------------------------


def test_what_is_no_schedule_is_refused():
    with pytest.raises(BuildError, match="sanitize takes a Schedule or a Kernel in CUDA, not 'matmul'"):
        wb.sanitize("matmul")


def test_a_schedule_without_bound_loops_is_refused_with_the_step_to_add():
    with pytest.raises(CodegenError, match="bind"):
        wb.sanitize(wb.schedule(wb.ops.matmul, M=4, N=4, K=4), numbers(4, 4), numbers(4, 4))


def test_memory_that_cannot_be_had_is_an_error(monkeypatch):
    from workbench.runtime.emulation import watcher

    monkeypatch.setattr(watcher, "APART", 1 << 61)
    with pytest.raises(KernelError, match="no memory to watch a kernel with"):
        wb.sanitize(matmul().kernel, *matmul().arrays)


# -- files of the compiler ----------------------------------------------------------------------------


def test_lines_and_shared_arrays_are_read_from_the_library():
    kernel = matmul().kernel
    library = WatchedLibrary(*load_unit(kernel, cpp_toolchain(), watched=True))
    assert sorted((name, length) for name, _, length in library.shared("matmul")) == [("A_tile", 512), ("B_tile", 512)]
    assert library.shared("mat") == []
    entry = ctypes.cast(library.handle.matmul, ctypes.c_void_p).value if hasattr(library.handle, "matmul") else None
    assert entry is None or library.line(entry) in (2, 3)
    assert library.line(17) == 17
    assert library.line(library.base) == 0
    assert {line_of(kernel, "sum +="), 12} <= set(library._lines.lines)


def test_a_library_of_another_format_is_refused(tmp_path):
    (tmp_path / "kernel.so").write_bytes(b"\xcf\xfa\xed\xfe" + bytes(64))
    library = WatchedLibrary(ctypes.CDLL(None), tmp_path / "kernel.so")
    with pytest.raises(BuildError, match="as Linux has it: not a 64-bit little-endian ELF file"):
        library.shared("matmul")


@pytest.mark.parametrize(("content", "signed", "value"), [(b"\xe5\x8e\x26", False, 624485), (b"\x80\x7f", True, -128)])
def test_numbers_in_pieces_of_seven_bits(content, signed, value):
    assert Reader(content).leb(signed=signed) == value

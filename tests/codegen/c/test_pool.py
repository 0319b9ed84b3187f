"""The emitted thread pool: every piece once, from many callers, nested, after fork, and gone with its library."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.codegen.c.pool import POOL
from workbench.target import Target

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX threads: needs Linux or macOS")

PROGRAM = (
    POOL
    + """
static void count(const void *context, int64_t begin, int64_t end) {
    int32_t *cells = *(int32_t *const *)context;
    for (int64_t i = begin; i < end; ++i) __atomic_fetch_add(&cells[i], 1, __ATOMIC_RELAXED);
}
static void nested(const void *context, int64_t begin, int64_t end) {
    int32_t *cells = *(int32_t *const *)context;
    for (int64_t i = begin; i < end; ++i) {
        int32_t *row = cells + 10 * i;
        wb_parallel_for(0, 10, 4, count, &row);
    }
}
static void who(const void *context, int64_t begin, int64_t end) {
    int32_t *cells = *(int32_t *const *)context;
    for (volatile int64_t spin = 0; spin < 20000; ++spin) {}
    for (int64_t i = begin; i < end; ++i) cells[i] = wb_thread();
}
__attribute__((visibility("default"))) void run_count(int32_t *cells, int64_t begin, int64_t end, int threads) {
    wb_parallel_for(begin, end, threads, count, &cells);
}
__attribute__((visibility("default"))) void run_nested(int32_t *cells, int64_t n, int threads) {
    wb_parallel_for(0, n, threads, nested, &cells);
}
__attribute__((visibility("default"))) void run_who(int32_t *cells, int64_t n, int threads) {
    wb_parallel_for(0, n, threads, who, &cells);
}
__attribute__((visibility("default"))) int run_workers(void) {
    return wb_pool.workers;
}
"""
)

COMPILERS = {"gcc": shutil.which("gcc"), "clang": shutil.which("clang"), "zig": find_spec("ziglang") and sys.executable}


@pytest.fixture(scope="module", params=["gcc", "clang", "zig"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pool with a few loops, compiled by each compiler."""
    if not COMPILERS[request.param]:
        pytest.skip(f"install {request.param}: this C compiler was not found")
    folder = tmp_path_factory.mktemp("pool")
    (folder / "pool.c").write_text(PROGRAM)
    start = [COMPILERS[request.param], *(["-m", "ziglang", "cc"] if request.param == "zig" else [])]
    flags = ["-std=gnu11", "-O2", "-Wall", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden"]
    done = subprocess.run([*start, *flags, "-o", "pool.so", "pool.c"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return folder / "pool.so"


@pytest.fixture(scope="module")
def pool(file: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(file))


def pointer(cells: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(cells.ctypes.data)


def count(pool: ctypes.CDLL, cells: Any, begin: int, end: int, threads: int) -> None:
    pool.run_count(pointer(cells), ctypes.c_int64(begin), ctypes.c_int64(end), threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_piece_is_done_once(pool: ctypes.CDLL, threads: int) -> None:
    for n in (0, 1, 2, 3, 7, 8, 9, 31, 64, 1000):
        cells = np.zeros(n + 20, np.int32)
        for _ in range(20):
            count(pool, cells, 5, 5 + n, threads)
        expected = np.zeros(n + 20, np.int32)
        expected[5 : 5 + n] = 20
        np.testing.assert_array_equal(cells, expected)
    count(pool, np.zeros(1, np.int32), 5, 3, threads)


def test_loops_inside_loops(pool: ctypes.CDLL) -> None:
    cells = np.zeros(1000, np.int32)
    for _ in range(30):
        pool.run_nested(pointer(cells), ctypes.c_int64(100), 4)
    np.testing.assert_array_equal(cells, 30)


def test_thread_numbers_are_in_range(pool: ctypes.CDLL) -> None:
    cells = np.full(64, -1, np.int32)
    pool.run_who(pointer(cells), ctypes.c_int64(64), 3)
    assert set(cells.tolist()) <= {0, 1, 2}


def test_several_callers_at_once(pool: ctypes.CDLL) -> None:
    results = [np.zeros(500, np.int32) for _ in range(5)]

    def work(cells: Any) -> None:
        for _ in range(200):
            count(pool, cells, 0, 500, 3)

    threads = [threading.Thread(target=work, args=(cells,)) for cells in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((cells == 200).all() for cells in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own(pool: ctypes.CDLL) -> None:
    cells = np.zeros(100, np.int32)
    count(pool, cells, 0, 100, 4)
    child = os.fork()
    if not child:
        fine = pool.run_workers() == 0
        for _ in range(50):
            count(pool, cells, 0, 100, 4)
        os._exit(0 if fine and (cells == 51).all() and pool.run_workers() == 3 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    count(pool, cells, 0, 100, 4)
    np.testing.assert_array_equal(cells, 2)


UNLOAD = """
import ctypes, os, sys, time, _ctypes
def alone():
    # The kernel lists a thread a moment longer than a join waits for it.
    end = time.monotonic() + 10
    while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < end:
        time.sleep(0.001)
    return len(os.listdir("/proc/self/task")) == 1
for _ in range(5):
    pool = ctypes.CDLL(sys.argv[1])
    cells = (ctypes.c_int32 * 100)()
    for _ in range(20):
        pool.run_count(cells, ctypes.c_int64(0), ctypes.c_int64(100), 4)
    assert list(cells) == [20] * 100
    _ctypes.dlclose(pool._handle)
    if os.path.isdir("/proc/self/task"):
        assert alone()
pool = ctypes.CDLL(sys.argv[1])
pool.run_count(cells, ctypes.c_int64(0), ctypes.c_int64(100), 4)
"""


def test_threads_end_with_the_library_and_with_the_process(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", UNLOAD, str(file)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_libraries_share_one_pool(file: Path, tmp_path: Path) -> None:
    first = ctypes.CDLL(str(file))
    other = ctypes.CDLL(shutil.copy(file, tmp_path / "other.so"))
    first.wb_pool_lend.restype = ctypes.c_void_p
    other.wb_pool_borrow.argtypes = [ctypes.c_void_p]
    other.wb_pool_borrow(first.wb_pool_lend())
    cells = np.zeros(100, np.int32)
    count(other, cells, 0, 100, 5)
    np.testing.assert_array_equal(cells, 1)
    assert other.run_workers() == 0
    assert first.run_workers() >= 4
    numbers = np.full(64, -1, np.int32)
    other.run_who(pointer(numbers), ctypes.c_int64(64), 3)
    assert set(numbers.tolist()) <= {0, 1, 2}


def test_a_kernel_for_a_host_with_threads_of_its_own_brings_none() -> None:
    rows = wb.schedule(wb.ops.softmax) | wb.parallelize("Y/m")
    text = wb.generate(rows, Target(parallel="host")).source
    assert "extern void wb_parallel_for(" in text
    assert "wb_parallel_for(0, (M) - (0), threads, wb_body_0" in text
    assert "pthread" not in text

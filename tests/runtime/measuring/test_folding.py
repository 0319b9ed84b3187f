"""Arrays whose pages are all the same: they look like others, and hold no more than a page."""

from __future__ import annotations

import gc
import mmap
import os
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.measuring import folding
from workbench.runtime.measuring.folding import fold_bytes, folded, folds
from workbench.viz.views.performance.ablation_data import Timed
from workbench.viz.views.performance.explanation_data import arguments_of, folded_callers

PAGE = mmap.PAGESIZE
pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system does not fold arrays")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex64"])
def test_every_page_shows_the_beginning(dtype):
    like = np.arange(3 * PAGE + 40).astype(dtype).reshape(4, -1)
    found = folded(like, PAGE)
    assert (found.shape, found.dtype) == (like.shape, like.dtype)
    flat, count = found.reshape(-1), PAGE // like.itemsize
    assert found.ctypes.data % PAGE == like.ctypes.data % PAGE
    assert np.array_equal(flat[:count], like.reshape(-1)[:count])
    assert np.array_equal(flat[count : 2 * count], flat[:count])
    flat[7] = 99
    assert flat[count + 7] == 99


def test_each_thread_writes_to_pages_of_its_own():
    found = folded(np.ones(16 * PAGE // 4, np.float32), PAGE, 2).reshape(-1)
    count, second = PAGE // 4, 9 * PAGE // 4
    found[5], found[second + 5] = 7, 8
    assert (found[count + 5], found[second + count + 5]) == (7, 8)
    assert set(found) == {1.0, 7.0, 8.0}


def test_unfolded_it_is_an_array_like_others():
    like = np.random.default_rng(0).random((100, 130))[:, :120].T
    found = folded(like, None)
    assert found.ctypes.data % PAGE == like.ctypes.data % PAGE
    found[...] = like
    assert np.array_equal(found, like)


def test_it_is_given_back():
    def mappings():
        gc.collect()
        return Path("/proc/self/maps").read_text(encoding="utf-8").count("folded")

    if not Path("/proc/self/maps").exists():
        pytest.skip("no list of mappings here")
    before = mappings()
    found = folded(np.ones(64 * PAGE, np.float32), PAGE)
    view = found[5:]
    del found
    assert before + 4 * 64 <= mappings() <= before + 4 * 64 + 1
    assert view[-1] == 1.0
    del view
    assert mappings() == before


def test_many_bytes_take_larger_folds():
    like = np.broadcast_to(np.float32(1), (1 << 28,))
    assert fold_bytes([like]) == (1 << 30) // folding.MAPPINGS
    assert fold_bytes([np.ones(10)]) == PAGE


def test_what_may_be_places_in_others_stays():
    assert folds(np.ones(5000, np.float32))
    assert folds(np.ones(5000, np.int8))
    assert not folds(np.ones(5000, np.int32))
    assert not folds(np.ones(10, np.float32))
    assert not folds(3.0)


def a_kernel(name="matmul", **sizes):
    return wb.build(wb.autoschedule(wb.ops.load(name), **sizes)), sizes


def test_a_system_that_does_not_fold_says_so(monkeypatch):
    kernel, sizes = a_kernel(M=64, N=64, K=64)
    with monkeypatch.context() as patched:
        patched.setattr(folding, "_libc", lambda: None)
        assert folded(np.ones(5000), PAGE) is None
        assert folded_callers(kernel, arguments_of(kernel, sizes), 1) is None

    def refused(name):
        raise OSError("no more files")

    monkeypatch.setattr(os, "memfd_create", refused)
    assert folded(np.ones(5000), PAGE) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_a_kernel_runs_on_them_as_on_others(threads):
    for name, sizes in (("matmul", dict(M=96, N=200, K=300)), ("lookup", dict(E=1000, D=64, B=8, L=40))):
        kernel, sizes = a_kernel(name, **sizes)
        calls = folded_callers(kernel, arguments_of(kernel, sizes), threads)
        assert all(once() > 0.0 for once in calls)  # places are what they were


def test_what_is_too_small_or_goes_by_the_caches_is_not_folded():
    kernel, sizes = a_kernel(M=4, N=4, K=4)
    assert folded_callers(kernel, arguments_of(kernel, sizes), 1) is None
    doubled = wb.operator("def f(float(N) x) -> (y) { y(i) = 2 * x(i) }")
    streaming = wb.schedule(doubled, N=100000) | wb.vectorize("y/i") | wb.nontemporal("y")
    kernel = wb.build(streaming)
    assert folded_callers(kernel, arguments_of(kernel, {"N": 100000}), 1) is None


def test_rounds_are_compared_one_by_one():
    assert Timed((9.0, 9.0, 9.0), (1.0, 2.0, 2.9), (2.0, 4.0, 3.0)).without_waiting == 0.5
    assert Timed((9.0,), (2.1,), (2.0,)).without_waiting == 1.0
    assert Timed((9.0,), (3.0,), (2.0,)).without_waiting is None
    assert Timed((2.0,)).without_waiting is None

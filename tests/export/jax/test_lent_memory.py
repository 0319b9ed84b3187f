"""Memory that XLA lends: what a kernel gets begins at a multiple of 64 bytes, wherever the lent memory begins."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.export.cuda.library import gpu_file
from workbench.export.dispatch import Source, linked, runtime_file
from workbench.export.hosts import host_file
from workbench.runtime.compilers.discovery import preferred_toolchain

jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")

CALLER = r"""
#include "lending.h"
#include <string.h>

static XLA_FFI_Error *two(XLA_FFI_ThreadPool_NumThreads_Args *args)
{
    *args->num_threads = 2;
    return NULL;
}

/* Where a call with this scratch finds memory, all of which it writes. */
__attribute__((visibility("default"))) intptr_t taken(char *scratch, int64_t bytes, int64_t wanted)
{
    XLA_FFI_Api api = {.XLA_FFI_ThreadPool_NumThreads = two};
    XLA_FFI_CallFrame frame = {.api = &api};
    wb_loan loan = {&frame, scratch, bytes}, *outer;
    wb_host host;
    void *handle;
    outer = wb_enter(&loan, 8, &host);
    void *memory = host.take(wanted, &handle);
    memset(memory, host.threads, (size_t)wanted);
    host.give(memory, handle);
    wb_leave(outer);
    return (intptr_t)memory;
}
"""


@pytest.fixture(scope="module")
def caller() -> Any:
    from workbench.export.xla import kernels

    own = {name: Path(kernels.__file__).with_name(name).read_text("utf-8") for name in ("lending.h", "lending.c")}
    interface = (Path(jax.ffi.include_dir()) / kernels.INTERFACE).read_text("utf-8")
    headers = {"lending.h": own["lending.h"], "c_api.h": interface, "host.h": host_file("host.h")}
    headers |= {"dispatch.h": runtime_file("dispatch.h"), "gpu.h": gpu_file("gpu.h")}
    sources = [Source("lending.c", own["lending.c"]), Source("caller.c", CALLER)]
    found = ctypes.CDLL(str(linked("lent_memory", sources, headers, preferred_toolchain()))).taken
    found.restype, found.argtypes = ctypes.c_ssize_t, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    return found


@pytest.mark.parametrize("wanted", [1, 64, 100])
def test_memory_of_a_call_is_aligned_wherever_the_lent_memory_begins(caller, wanted):
    room = np.zeros(512, np.uint8)
    first = room.ctypes.data + -room.ctypes.data % 64
    for offset in range(0, 80, 4):
        room[:] = 0
        at = caller(first + offset, 256, wanted)
        lent = first <= at < first + 400
        assert at % 64 == 0
        assert lent == (offset % 64 == 0)
        assert np.count_nonzero(room) == (wanted if lent else 0)


def test_what_the_lent_memory_has_no_room_for_is_the_systems(caller):
    room = np.zeros(512, np.uint8)
    first = room.ctypes.data + -room.ctypes.data % 64
    assert caller(first, 128, 128) == first
    assert np.count_nonzero(room) == 128
    assert caller(first, 128, 129) != first
    assert np.count_nonzero(room) == 128

"""The thread pool that is emitted with a kernel where OpenMP is missing.

`POOL` defines `wb_parallel_for(begin, end, threads, body, context)`, which executes `body(context, from, to)` on
pieces of begin..end, and `wb_thread()`, the number of the thread inside such a loop.  Threads start on first use
and end with the library; a second caller at the same time, and a loop inside a loop, run serially; a forked
child starts afresh.  Kernels of one process share the pool of the first (`wb_pool_lend`, `wb_pool_borrow`).
`HOST` only declares both functions: whoever links the kernel has threads of its own.
"""

from __future__ import annotations

from pathlib import Path

POOL: str = Path(__file__).with_name("pool.c").read_text()

HOST = """#include <stdint.h>

typedef void (*wb_body)(const void *context, int64_t begin, int64_t end);
/* Of the host: executes `body` on all of begin..end, in pieces, on up to `threads` threads; the number of one. */
extern void wb_parallel_for(int64_t begin, int64_t end, int threads, wb_body body, const void *context);
extern int wb_thread(void);
"""

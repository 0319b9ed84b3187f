// A loop of a kernel on PyTorch's threads, through its stable ABI: each takes the next chunk when it has done one.

#ifndef WORKBENCH_TORCH_LOOPS_H
#define WORKBENCH_TORCH_LOOPS_H

#include <torch/csrc/stable/c/shim.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace {

using Body = void (*)(const void *context, int64_t begin, int64_t end);

struct Loop {
    std::atomic<int64_t> next;
    int64_t end, chunk;
    Body body;
    const void *context;
};

constexpr int64_t CHUNKS_A_THREAD = 4;

void work(int64_t, int64_t, void *shared)
{
    auto &loop = *static_cast<Loop *>(shared);
    for (;;) {
        const int64_t begin = loop.next.fetch_add(loop.chunk, std::memory_order_relaxed);
        if (begin >= loop.end) return;
        loop.body(loop.context, begin, std::min(begin + loop.chunk, loop.end));
    }
}

void parallel_for(int64_t begin, int64_t end, int threads, Body body, const void *context)
{
    const int64_t pieces = threads * CHUNKS_A_THREAD, count = end - begin;
    Loop loop{{begin}, end, std::max<int64_t>(1, (count + pieces - 1) / pieces), body, context};
    torch_parallel_for(0, std::min<int64_t>(threads, count), 1, work, &loop);
}

}  // namespace

#endif

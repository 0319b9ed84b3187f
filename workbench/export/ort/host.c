/* Threads and memory of a call are ONNX Runtime's: a loop runs on its pool, scratch comes from its allocator. */

#include "operators.h"

enum { WB_CHUNKS_A_THREAD = 4, WB_ALIGNMENT = 64 };

static OrtMemoryInfo *wb_memory;
static int wb_most_threads;

static _Thread_local const OrtKernelContext *wb_call_context;
static _Thread_local OrtAllocator *wb_allocator;
static _Thread_local int wb_inside, wb_slot;

OrtStatus *wb_host_start(void)
{
    wb_most_threads = wb_processors();
    return wb_memory ? NULL : ORT(CreateCpuMemoryInfo)(ORT_ARENA_ALLOCATOR, ORT_MEMORY_DEFAULT, &wb_memory);
}

void wb_enter(const OrtKernelContext *context)
{
    wb_call_context = context;
}

void wb_leave(void)
{
    if (wb_allocator) ORT(ReleaseAllocator)(wb_allocator);
    wb_allocator = NULL;
    wb_call_context = NULL;
}

int wb_failed(OrtStatus *status)
{
    if (status) ORT(ReleaseStatus)(status);
    return status != NULL;
}

/* -- memory -- */

static void *wb_take(int64_t bytes, void **handle)
{
    if (!wb_allocator && wb_failed(ORT(KernelContext_GetAllocator)(wb_call_context, wb_memory, &wb_allocator))) return NULL;
    if (wb_failed(ORT(AllocatorAlloc)(wb_allocator, (size_t)bytes + WB_ALIGNMENT, handle))) return NULL;
    return *handle ? (void *)(((uintptr_t)*handle + WB_ALIGNMENT - 1) & -(uintptr_t)WB_ALIGNMENT) : NULL;
}

static void wb_give(void *memory, void *handle)
{
    (void)memory;
    wb_failed(ORT(AllocatorFree)(wb_allocator, handle));
}

/* The pool does not say how many threads it has: there are at most as many as processors, and each takes what is left. */
wb_host wb_host_of_call(void)
{
    return (wb_host){wb_take, wb_give, wb_most_threads};
}

/* -- threads -- */

typedef struct {
    int64_t next, end, chunk; /* next is atomic */
    wb_body body;
    const void *context;
} wb_loop;

static void wb_work(void *shared, size_t slot)
{
    wb_loop *loop = shared;
    wb_inside = 1;
    wb_slot = (int)slot;
    for (;;) {
        int64_t begin = __atomic_fetch_add(&loop->next, loop->chunk, __ATOMIC_RELAXED);
        if (begin >= loop->end) break;
        loop->body(loop->context, begin, loop->end - begin < loop->chunk ? loop->end : begin + loop->chunk);
    }
    wb_inside = wb_slot = 0;
}

void wb_parallel_for(int64_t begin, int64_t end, int threads, wb_body body, const void *context)
{
    if (end - begin < threads) threads = (int)(end - begin);
    if (threads <= 1 || wb_inside || !wb_call_context) {
        if (end > begin) body(context, begin, end);
        return;
    }
    const int64_t pieces = (int64_t)threads * WB_CHUNKS_A_THREAD;
    wb_loop loop = {begin, end, (end - begin + pieces - 1) / pieces, body, context};
    size_t count = (size_t)threads;
    /* What a pool that fails leaves is done here. */
    if (wb_failed(ORT(KernelContext_ParallelFor)(wb_call_context, wb_work, count, count, &loop))) wb_work(&loop, 0);
}

int wb_thread(void)
{
    return wb_slot;
}

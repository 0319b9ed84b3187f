/* A call on a GPU: kernels are started on the stream of the session, in memory of its allocator. */

#include "operators.h"

enum { WB_ALIGNMENT = 256 };

/* Where a call is: found by the memory of its results. */
typedef struct {
    wb_arguments_of_call call; /* what is copied to finds the rest behind it */
    wb_gpu_host gpu;
    const wb_gpu_table *table;
    const wb_gpu_entries *entries;
    OrtKernelContext *context;
    const OrtMemoryInfo *memory;
} wb_call_there;

static _Thread_local wb_call_there *wb_now;

/* -- memory -- */

static void *wb_take_there(int64_t bytes, void **handle)
{
    const size_t count = (size_t)bytes + WB_ALIGNMENT;
    if (wb_failed(ORT(KernelContext_GetScratchBuffer)(wb_now->context, wb_now->memory, count, handle))) return NULL;
    return *handle ? (void *)(((uintptr_t)*handle + WB_ALIGNMENT - 1) & -(uintptr_t)WB_ALIGNMENT) : NULL;
}

static void wb_give_there(void *memory, void *handle)
{
    OrtAllocator *allocator = NULL;
    (void)memory;
    if (wb_failed(ORT(KernelContext_GetAllocator)(wb_now->context, wb_now->memory, &allocator))) return;
    wb_failed(ORT(AllocatorFree)(allocator, handle));
    ORT(ReleaseAllocator)(allocator);
}

/* -- a call -- */

/* The device and the stream of a call; the first one on it gives the GPU its machine code. */
static OrtStatus *wb_find_place(wb_call_there *now, const OrtValue *there)
{
    int device = 0;
    void *stream = NULL;
    OrtStatus *status = ORT(GetTensorMemoryInfo)(there, &now->memory);
    if (!status) status = ORT(MemoryInfoGetId)(now->memory, &device);
    if (!status) status = ORT(KernelContext_GetGPUComputeStream)(now->context, &stream);
    if (status) return status;
    now->gpu = (wb_gpu_host){{wb_take_there, wb_give_there, 1}, stream, device};
    now->entries = wb_gpu_loaded(now->call.family->name, now->table, device);
    return now->entries ? NULL : wb_status(ORT_NOT_IMPLEMENTED);
}

static OrtStatus *wb_copy_there(wb_arguments_of_call *call, const OrtValue *there, void *to, const void *from, size_t bytes)
{
    wb_call_there *now = (wb_call_there *)call;
    OrtStatus *status = now->entries ? NULL : wb_find_place(now, there);
    return status ? status : wb_answer(now->entries->copy(&now->gpu.host, to, from, (int64_t)bytes));
}

OrtStatus *wb_compute_there(void *kernel, OrtKernelContext *context)
{
    const wb_custom *custom = kernel;
    wb_call_there now = {.call.family = custom->family, .call.copy = wb_copy_there, .table = custom->table, .context = context};
    OrtStatus *status = wb_take_call(&now.call, context);
    if (!status && !now.entries) status = wb_find_place(&now, now.call.result);
    if (status) return status;
    const wb_entries *entries = &now.entries->entries;
    wb_call_there *outer = wb_now;
    wb_now = &now;
    status = wb_answer(entries->call(entries->family, now.call.arrays, now.call.values, now.call.sizes, &now.gpu.host));
    wb_now = outer;
    return status;
}

/* What XLA calls on a GPU: kernels are made when a call first wants them, and started on its stream. */

#include <string.h>

#include "calls.h"

enum { WB_ALIGNMENT = 256, WB_OF_XLA = 16 /* the most that XLA allows to ask for */ };

typedef struct {
    wb_gpu_host gpu; /* what kernels see begins with it */
    const XLA_FFI_CallFrame *frame;
    char *scratch;
    int64_t scratch_bytes;
    size_t block_bytes;
} wb_gpu_loan;

static int (*wb_prepare)(int64_t definition, int device);
static _Thread_local wb_gpu_loan *wb_lent;

/* -- memory: what the program planned for, else XLA's allocator, in the order of the stream -- */

static void *wb_take_there(int64_t bytes, void **handle)
{
    const XLA_FFI_Api *api = wb_lent->frame->api;
    *handle = NULL;
    if ((uintptr_t)wb_lent->scratch % WB_ALIGNMENT == 0 && bytes <= wb_lent->scratch_bytes) return wb_lent->scratch;
    wb_lent->block_bytes = (size_t)bytes + WB_ALIGNMENT;
    XLA_FFI_DeviceMemory_Allocate_Args args = {XLA_FFI_DeviceMemory_Allocate_Args_STRUCT_SIZE, NULL, wb_lent->frame->ctx,
                                               wb_lent->block_bytes, WB_OF_XLA, NULL};
    if (wb_failed(api, api->XLA_FFI_DeviceMemory_Allocate(&args)) || !args.data) return NULL;
    *handle = args.data;
    return (void *)(((uintptr_t)args.data + WB_ALIGNMENT - 1) & -(uintptr_t)WB_ALIGNMENT);
}

static void wb_give_there(void *memory, void *handle)
{
    const XLA_FFI_Api *api = wb_lent->frame->api;
    (void)memory;
    if (!handle) return;
    XLA_FFI_DeviceMemory_Free_Args args = {XLA_FFI_DeviceMemory_Free_Args_STRUCT_SIZE, NULL, wb_lent->frame->ctx,
                                           wb_lent->block_bytes, handle};
    wb_failed(api, api->XLA_FFI_DeviceMemory_Free(&args));
}

/* -- a call -- */

static const wb_gpu_entries *wb_entries_there(wb_operator *op, int device)
{
    const wb_gpu_entries *found = atomic_load_explicit(&op->on_gpu, memory_order_acquire);
    if (!found && wb_prepare && !wb_prepare(op->definition, device))
        found = atomic_load_explicit(&op->on_gpu, memory_order_acquire);
    return found;
}

static XLA_FFI_Error *wb_find_place(const XLA_FFI_CallFrame *frame, wb_gpu_host *gpu)
{
    XLA_FFI_DeviceOrdinal_Get_Args where = {XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, NULL, frame->ctx, 0};
    XLA_FFI_Stream_Get_Args order = {XLA_FFI_Stream_Get_Args_STRUCT_SIZE, NULL, frame->ctx, NULL};
    XLA_FFI_Error *error = frame->api->XLA_FFI_DeviceOrdinal_Get(&where);
    if (!error) error = frame->api->XLA_FFI_Stream_Get(&order);
    *gpu = (wb_gpu_host){{wb_take_there, wb_give_there, 1}, order.stream, where.device_ordinal};
    return error;
}

static XLA_FFI_Error *wb_start(const XLA_FFI_CallFrame *frame, const wb_gpu_entries *found, wb_gpu_loan *loan)
{
    const wb_entries *entries = &found->entries;
    const wb_family *f = entries->family;
    const wb_memory memory = {found->read, found->copy, &loan->gpu.host};
    wb_arguments given;
    XLA_FFI_Error *error = wb_take_call(frame, entries, &memory, &given);
    if (error) return error;
    if (frame->rets.size > f->outputs) {
        const XLA_FFI_Buffer *scratch = frame->rets.rets[f->outputs];
        loan->scratch = scratch->data;
        loan->scratch_bytes = scratch->dims[0];
    }
    return wb_answer(frame, entries, entries->call(f, given.arrays, given.values, given.sizes, &loan->gpu.host));
}

static XLA_FFI_Error *wb_execute_there(const XLA_FFI_CallFrame *frame, wb_operator *op)
{
    wb_gpu_loan loan = {.frame = frame}, *outer = wb_lent;
    XLA_FFI_Error *error = wb_find_place(frame, &loan.gpu);
    if (error) return error;
    const wb_gpu_entries *found = wb_entries_there(op, loan.gpu.device);
    const char *why = atomic_load_explicit(&op->why_not_on_gpu, memory_order_acquire);
    if (!found) return wb_error(frame, XLA_FFI_Error_Code_UNIMPLEMENTED, why ? why : "there is no kernel for GPUs");
    wb_lent = &loan;
    error = wb_start(frame, found, &loan);
    wb_lent = outer;
    atomic_store_explicit(&op->last_on_gpu, found->entries.last_kernel(), memory_order_relaxed);
    return error;
}

WB_EXPORT XLA_FFI_Error *wb_jax_gpu_handler(XLA_FFI_CallFrame *frame)
{
    return wb_handle(frame, wb_execute_there);
}

/* -- kernels -- */

/* Whom a call asks for kernels that are not there yet; 0 where they are now. */
WB_EXPORT void wb_jax_prepare_with(int (*prepare)(int64_t definition, int device))
{
    wb_prepare = prepare;
}

WB_EXPORT void wb_jax_implement_on_gpu(int64_t definition, const wb_entries *(*open)(const wb_threads *))
{
    atomic_store_explicit(&wb_find(definition)->on_gpu, (const wb_gpu_entries *)open(NULL), memory_order_release);
}

/* The words stay as long as the process: a call of another thread may be reading the old ones. */
WB_EXPORT void wb_jax_not_on_gpu(int64_t definition, const char *why)
{
    atomic_store_explicit(&wb_find(definition)->why_not_on_gpu, strdup(why), memory_order_release);
}

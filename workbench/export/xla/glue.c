/* What XLA calls for every operator of the workbench: which one it is, the call says by a number. */

#include <stdlib.h>
#include <string.h>

#include "calls.h"

static _Atomic(wb_operator *) wb_operators;

wb_operator *wb_find(int64_t definition)
{
    wb_operator *op = atomic_load_explicit(&wb_operators, memory_order_acquire);
    while (op && op->definition != definition) op = op->next;
    return op;
}

/* Memory was planned for so many. */
static int wb_most_threads(const XLA_FFI_CallFrame *frame)
{
    const XLA_FFI_Scalar *threads = wb_attribute(frame, "threads", XLA_FFI_AttrType_SCALAR);
    return threads ? (int)*(const int64_t *)threads->value : 1;
}

static int wb_copy_here(const wb_host *host, void *to, const void *from, int64_t bytes)
{
    (void)host;
    memcpy(to, from, (size_t)bytes);
    return 0;
}

static XLA_FFI_Error *wb_execute(const XLA_FFI_CallFrame *frame, wb_operator *op)
{
    const wb_entries *entries = atomic_load_explicit(&op->entries, memory_order_acquire);
    const wb_family *f = entries->family;
    const wb_memory memory = {wb_copy_here, wb_copy_here, NULL};
    wb_arguments given;
    XLA_FFI_Error *error = wb_take_call(frame, entries, &memory, &given);
    if (error) return error;
    wb_host host;
    wb_loan loan = {frame, NULL, 0}, *outer = wb_enter(&loan, wb_most_threads(frame), &host);
    if (frame->rets.size > f->outputs) {
        const XLA_FFI_Buffer *scratch = frame->rets.rets[f->outputs];
        loan.scratch = scratch->data;
        loan.scratch_bytes = scratch->dims[0];
    }
    const int64_t status = entries->call(f, given.arrays, given.values, given.sizes, &host);
    wb_leave(outer);
    atomic_store_explicit(&op->last_kernel, entries->last_kernel(), memory_order_relaxed);
    return wb_answer(frame, entries, status);
}

static XLA_FFI_Error *wb_tell(XLA_FFI_Metadata_Extension *asked)
{
    asked->metadata->api_version =
        (XLA_FFI_Api_Version){XLA_FFI_Api_Version_STRUCT_SIZE, NULL, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
    asked->metadata->traits = 0;
    asked->metadata->state_type_id.type_id = 0;
    return NULL;
}

XLA_FFI_Error *wb_handle(XLA_FFI_CallFrame *frame, XLA_FFI_Error *(*execute)(const XLA_FFI_CallFrame *, wb_operator *))
{
    __typeof__(frame->extension_start) extension = frame->extension_start; /* its type is named otherwise since JAX 0.11 */
    if (extension && extension->type == XLA_FFI_Extension_Metadata)
        return wb_tell((XLA_FFI_Metadata_Extension *)extension);
    const XLA_FFI_Scalar *definition = wb_attribute(frame, "definition", XLA_FFI_AttrType_SCALAR);
    wb_operator *op = definition ? wb_find(*(const int64_t *)definition->value) : NULL;
    if (op) return execute(frame, op);
    const char *none = "a compiled program calls an operator of the workbench that has not been exported in this process as "
                       "it was where the program was traced; call wb.export.jax before";
    return wb_error(frame, XLA_FFI_Error_Code_FAILED_PRECONDITION, none);
}

WB_EXPORT XLA_FFI_Error *wb_jax_handler(XLA_FFI_CallFrame *frame)
{
    return wb_handle(frame, wb_execute);
}

/* New kernels of a definition; the old ones stay loaded for calls that still run.  Callers hold a lock. */
WB_EXPORT int wb_jax_implement(int64_t definition, const wb_entries *(*open)(const wb_threads *))
{
    wb_operator *op = wb_find(definition);
    if (op) {
        atomic_store_explicit(&op->on_gpu, NULL, memory_order_release);
        atomic_store_explicit(&op->entries, open(&wb_lent_threads), memory_order_release);
        return 0;
    }
    op = calloc(1, sizeof *op);
    if (!op) return 1;
    op->definition = definition;
    atomic_init(&op->entries, open(&wb_lent_threads));
    op->next = atomic_load_explicit(&wb_operators, memory_order_relaxed);
    atomic_store_explicit(&wb_operators, op, memory_order_release);
    return 0;
}

/* Bytes that a call takes whose arrays, in the order of the call and then the results, have these dimensions. */
WB_EXPORT int64_t wb_jax_workspace(int64_t definition, const int64_t *dimensions, const int64_t *sizes, int threads)
{
    const wb_entries *entries = atomic_load_explicit(&wb_find(definition)->entries, memory_order_acquire);
    const wb_family *f = entries->family;
    wb_arguments given;
    XLA_FFI_Buffer buffer = {.data = NULL};
    memcpy(given.sizes, sizes, sizeof *sizes * (size_t)f->sizes);
    for (int n = 0; n < f->arguments + f->outputs; ++n) {
        const int place = n < f->arguments ? f->call[n].place : f->inputs + n - f->arguments;
        if (n < f->arguments && f->call[n].kind != 'a') continue;
        buffer.rank = f->parameters[place].rank;
        buffer.dims = (int64_t *)dimensions;
        wb_take_array(&buffer, place, &given);
        dimensions += buffer.rank;
    }
    return f->solve(given.arrays, given.sizes) ? 0 : entries->workspace(f, given.arrays, given.sizes, threads);
}

WB_EXPORT const char *wb_jax_last_kernel(int64_t definition, int on_gpu)
{
    wb_operator *op = wb_find(definition);
    const char *name = op ? atomic_load_explicit(on_gpu ? &op->last_on_gpu : &op->last_kernel, memory_order_relaxed) : NULL;
    return name ? name : "";
}

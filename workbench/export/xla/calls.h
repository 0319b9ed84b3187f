/* One call of XLA's: which operator it wants, and its arguments as the dispatcher takes them. */

#ifndef WORKBENCH_CALLS_H
#define WORKBENCH_CALLS_H

#include <stdatomic.h>

#include "gpu.h"
#include "lending.h"

#define WB_EXPORT __attribute__((visibility("default")))

/* What a number of a call stands for: kernels for the processor, and those for GPUs or why there are none. */
typedef struct wb_operator {
    int64_t definition;
    _Atomic(const wb_entries *) entries;
    _Atomic(const wb_gpu_entries *) on_gpu;
    _Atomic(const char *) last_kernel, last_on_gpu, why_not_on_gpu;
    struct wb_operator *next;
} wb_operator;

typedef struct {
    wb_array arrays[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS], strides[WB_MOST_ARRAYS][WB_MOST_RANK], shape[WB_MOST_RANK];
} wb_arguments;

/* Where the arrays of a call lie: how a number is read, and bytes are copied from array to array; 0, or it failed. */
typedef struct {
    int (*read)(const wb_host *host, void *to, const void *from, int64_t bytes);
    int (*copy)(const wb_host *host, void *to, const void *from, int64_t bytes);
    const wb_host *host;
} wb_memory;

/* -- arguments.c -- */

XLA_FFI_Error *wb_error(const XLA_FFI_CallFrame *frame, XLA_FFI_Error_Code code, const char *message);
/* The error that a dispatcher's answer is; NULL for 0. */
XLA_FFI_Error *wb_answer(const XLA_FFI_CallFrame *frame, const wb_entries *entries, int64_t status);
const void *wb_attribute(const XLA_FFI_CallFrame *frame, const char *name, XLA_FFI_AttrType type);
void wb_take_array(const XLA_FFI_Buffer *buffer, int place, wb_arguments *given);
/* The arguments, complete and checked. */
XLA_FFI_Error *wb_take_call(const XLA_FFI_CallFrame *frame, const wb_entries *entries, const wb_memory *memory,
                            wb_arguments *given);

/* -- glue.c -- */

wb_operator *wb_find(int64_t definition);
/* A handler: what XLA asks of it beside calls, then a call of the operator that it names. */
XLA_FFI_Error *wb_handle(XLA_FFI_CallFrame *frame, XLA_FFI_Error *(*execute)(const XLA_FFI_CallFrame *, wb_operator *));

#endif

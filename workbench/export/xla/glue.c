/* What XLA calls for every operator of the workbench: which one it is, the call says by a number. */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lending.h"

enum { WB_LONG_TEXT = 2 * WB_TEXT };

typedef struct wb_operator {
    int64_t definition;
    _Atomic(const wb_entries *) entries;
    _Atomic(const char *) last_kernel;
    struct wb_operator *next;
} wb_operator;

static _Atomic(wb_operator *) wb_operators;

/* -- errors -- */

static XLA_FFI_Error *wb_error(const XLA_FFI_CallFrame *frame, XLA_FFI_Error_Code code, const char *message)
{
    XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, NULL, message, code};
    return frame->api->XLA_FFI_Error_Create(&args);
}

static XLA_FFI_Error_Code wb_code_of(int64_t status)
{
    if (status > 0) return XLA_FFI_Error_Code_OUT_OF_RANGE;
    return status == WB_NO_MEMORY ? XLA_FFI_Error_Code_RESOURCE_EXHAUSTED : XLA_FFI_Error_Code_INVALID_ARGUMENT;
}

/* -- what a call says -- */

static const void *wb_attribute(const XLA_FFI_CallFrame *frame, const char *name, XLA_FFI_AttrType type)
{
    for (int64_t n = 0; n < frame->attrs.size; ++n) {
        const XLA_FFI_ByteSpan *own = frame->attrs.names[n];
        if (own->len == strlen(name) && !memcmp(own->ptr, name, own->len))
            return frame->attrs.types[n] == type ? frame->attrs.attrs[n] : NULL;
    }
    return NULL;
}

/* Memory was planned for so many. */
static int wb_most_threads(const XLA_FFI_CallFrame *frame)
{
    const XLA_FFI_Scalar *threads = wb_attribute(frame, "threads", XLA_FFI_AttrType_SCALAR);
    return threads ? (int)*(const int64_t *)threads->value : 1;
}

static wb_operator *wb_find(int64_t definition)
{
    wb_operator *op = atomic_load_explicit(&wb_operators, memory_order_acquire);
    while (op && op->definition != definition) op = op->next;
    return op;
}

static void wb_read_number(const wb_parameter *p, const void *at, wb_border_value *value)
{
    value->natural = 0;
    if (p->code == 2 && p->bits > 16) {
        value->real = p->bits == 64 ? *(const double *)at : (double)*(const float *)at;
    } else if (p->code == 0) {
        value->integer = p->bits == 8    ? *(const int8_t *)at
                         : p->bits == 16 ? *(const int16_t *)at
                         : p->bits == 32 ? *(const int32_t *)at
                                         : *(const int64_t *)at;
    } else {
        value->natural = p->bytes == 1   ? *(const uint8_t *)at
                         : p->bytes == 2 ? *(const uint16_t *)at
                         : p->bytes == 4 ? *(const uint32_t *)at
                                         : *(const uint64_t *)at;
    }
}

/* Guards memory: what is traced was checked then. */
static int wb_is_of(const XLA_FFI_Buffer *buffer, const wb_parameter *p)
{
    const int wide = p->bits == 8 ? 0 : p->bits == 16 ? 1 : p->bits == 32 ? 2 : 3;
    static const XLA_FFI_DataType ints[] = {XLA_FFI_DataType_S8, XLA_FFI_DataType_S16, XLA_FFI_DataType_S32,
                                            XLA_FFI_DataType_S64};
    static const XLA_FFI_DataType naturals[] = {XLA_FFI_DataType_U8, XLA_FFI_DataType_U16, XLA_FFI_DataType_U32,
                                                XLA_FFI_DataType_U64};
    static const XLA_FFI_DataType floats[] = {XLA_FFI_DataType_INVALID, XLA_FFI_DataType_F16, XLA_FFI_DataType_F32,
                                              XLA_FFI_DataType_F64};
    const XLA_FFI_DataType expected = p->code == 0   ? ints[wide]
                                      : p->code == 1 ? naturals[wide]
                                      : p->code == 4 ? XLA_FFI_DataType_BF16
                                      : p->code == 6 ? XLA_FFI_DataType_PRED
                                                     : floats[wide];
    return buffer->rank == p->rank && buffer->dtype == expected;
}

typedef struct {
    wb_array arrays[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS], strides[WB_MOST_ARRAYS][WB_MOST_RANK], shape[WB_MOST_RANK];
} wb_arguments;

static void wb_take_array(const XLA_FFI_Buffer *buffer, int place, wb_arguments *given)
{
    wb_dense((int)buffer->rank, buffer->dims, given->strides[place]);
    given->arrays[place] = (wb_array){buffer->data, buffer->dims, given->strides[place]};
}

/* NULL, or what is wrong: a call that was traced for another operator than the one that is here. */
static const char *wb_take_inputs(const XLA_FFI_CallFrame *frame, const wb_family *f, wb_arguments *given)
{
    int64_t taken = 0;
    const XLA_FFI_Array *sizes = wb_attribute(frame, "sizes", XLA_FFI_AttrType_ARRAY);
    for (int n = 0; sizes && n < f->sizes && n < (int)sizes->size; ++n)
        given->sizes[n] = ((const int64_t *)sizes->data)[n];
    for (int n = 0; n < f->arguments; ++n) {
        const int place = f->call[n].place;
        if (f->call[n].kind == 's') continue;
        if (taken == frame->args.size) return "too few arguments";
        const XLA_FFI_Buffer *buffer = frame->args.args[taken++];
        if (!wb_is_of(buffer, &f->parameters[place])) return "an argument of another type";
        if (f->call[n].kind == 'a') wb_take_array(buffer, place, given);
        else wb_read_number(&f->parameters[place], buffer->data, &given->values[place]);
    }
    return taken == frame->args.size && frame->rets.size >= f->outputs ? NULL : "another number of arguments";
}

/* What is updated comes in as an argument and goes out in the same memory, or in a copy. */
static const char *wb_take_outputs(const XLA_FFI_CallFrame *frame, const wb_family *f, wb_arguments *given)
{
    for (int n = 0; n < f->outputs; ++n) {
        const int place = f->inputs + n;
        const wb_parameter *p = &f->parameters[place];
        const XLA_FFI_Buffer *buffer = frame->rets.rets[n];
        int64_t cells = 1;
        if (!wb_is_of(buffer, p)) return "a result of another type";
        f->shape(place, given->sizes, given->shape);
        for (int d = 0; d < p->rank; ++d) {
            if (buffer->dims[d] != given->shape[d]) return "a result of another shape";
            cells *= buffer->dims[d];
        }
        if (p->updated && cells && given->arrays[place].data != buffer->data)
            memcpy(buffer->data, given->arrays[place].data, (size_t)(cells * p->bytes));
        wb_take_array(buffer, place, given);
    }
    return NULL;
}

static XLA_FFI_Error *wb_unlike(const XLA_FFI_CallFrame *frame, const wb_family *f, const char *what)
{
    char text[WB_LONG_TEXT];
    snprintf(text, sizeof text, "%s: the compiled program has %s; trace it again", f->name, what);
    return wb_error(frame, XLA_FFI_Error_Code_FAILED_PRECONDITION, text);
}

static XLA_FFI_Error *wb_execute(const XLA_FFI_CallFrame *frame, wb_operator *op)
{
    const wb_entries *entries = atomic_load_explicit(&op->entries, memory_order_acquire);
    const wb_family *f = entries->family;
    wb_arguments given;
    memset(given.sizes, 0, sizeof given.sizes);
    const char *unlike = wb_take_inputs(frame, f, &given);
    if (unlike) return wb_unlike(frame, f, unlike);
    int64_t status = f->solve(given.arrays, given.sizes);
    if (status) return wb_error(frame, wb_code_of(status), entries->message());
    unlike = wb_take_outputs(frame, f, &given);
    if (unlike) return wb_unlike(frame, f, unlike);
    wb_host host;
    wb_loan loan = {frame, NULL, 0}, *outer = wb_enter(&loan, wb_most_threads(frame), &host);
    if (frame->rets.size > f->outputs) {
        const XLA_FFI_Buffer *scratch = frame->rets.rets[f->outputs];
        loan.scratch = scratch->data;
        loan.scratch_bytes = scratch->dims[0];
    }
    status = entries->call(f, given.arrays, given.values, given.sizes, &host);
    wb_leave(outer);
    atomic_store_explicit(&op->last_kernel, entries->last_kernel(), memory_order_relaxed);
    return status ? wb_error(frame, wb_code_of(status), entries->message()) : NULL;
}

static XLA_FFI_Error *wb_tell(XLA_FFI_Metadata_Extension *asked)
{
    asked->metadata->api_version =
        (XLA_FFI_Api_Version){XLA_FFI_Api_Version_STRUCT_SIZE, NULL, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
    asked->metadata->traits = 0;
    asked->metadata->state_type_id.type_id = 0;
    return NULL;
}

#define WB_EXPORT __attribute__((visibility("default")))

WB_EXPORT XLA_FFI_Error *wb_jax_handler(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_Extension_Base *extension = frame->extension_start;
    if (extension && extension->type == XLA_FFI_Extension_Metadata)
        return wb_tell((XLA_FFI_Metadata_Extension *)extension);
    const XLA_FFI_Scalar *definition = wb_attribute(frame, "definition", XLA_FFI_AttrType_SCALAR);
    wb_operator *op = definition ? wb_find(*(const int64_t *)definition->value) : NULL;
    if (op) return wb_execute(frame, op);
    const char *none = "a compiled program calls an operator of the workbench that has not been exported in this process as "
                       "it was where the program was traced; call wb.export.jax before";
    return wb_error(frame, XLA_FFI_Error_Code_FAILED_PRECONDITION, none);
}

/* New kernels of a definition; the old ones stay loaded for calls that still run.  Callers hold a lock. */
WB_EXPORT int wb_jax_implement(int64_t definition, const wb_entries *(*open)(const wb_threads *))
{
    wb_operator *op = wb_find(definition);
    if (op) {
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

WB_EXPORT const char *wb_jax_last_kernel(int64_t definition)
{
    wb_operator *op = wb_find(definition);
    const char *name = op ? atomic_load_explicit(&op->last_kernel, memory_order_relaxed) : NULL;
    return name ? name : "";
}

/* The arguments of a call of XLA's, checked against what the operator takes: they guard memory. */

#include <stdio.h>
#include <string.h>

#include "calls.h"

/* -- errors -- */

XLA_FFI_Error *wb_error(const XLA_FFI_CallFrame *frame, XLA_FFI_Error_Code code, const char *message)
{
    XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, NULL, message, code};
    return frame->api->XLA_FFI_Error_Create(&args);
}

static XLA_FFI_Error_Code wb_code_of(int64_t status)
{
    if (status > 0) return XLA_FFI_Error_Code_OUT_OF_RANGE;
    if (status == WB_GPU_REFUSED) return XLA_FFI_Error_Code_INTERNAL;
    return status == WB_NO_MEMORY ? XLA_FFI_Error_Code_RESOURCE_EXHAUSTED : XLA_FFI_Error_Code_INVALID_ARGUMENT;
}

XLA_FFI_Error *wb_answer(const XLA_FFI_CallFrame *frame, const wb_entries *entries, int64_t status)
{
    return status ? wb_error(frame, wb_code_of(status), entries->message()) : NULL;
}

/* -- what a call says -- */

const void *wb_attribute(const XLA_FFI_CallFrame *frame, const char *name, XLA_FFI_AttrType type)
{
    for (int64_t n = 0; n < frame->attrs.size; ++n) {
        const XLA_FFI_ByteSpan *own = frame->attrs.names[n];
        if (own->len == strlen(name) && !memcmp(own->ptr, name, own->len))
            return frame->attrs.types[n] == type ? frame->attrs.attrs[n] : NULL;
    }
    return NULL;
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

void wb_take_array(const XLA_FFI_Buffer *buffer, int place, wb_arguments *given)
{
    wb_dense((int)buffer->rank, buffer->dims, given->strides[place]);
    given->arrays[place] = (wb_array){buffer->data, buffer->dims, given->strides[place]};
}

static const char wb_no_copy[] = "a copy that failed";

/* NULL, or what is wrong: a call that was traced for another operator than the one that is here. */
static const char *wb_take_inputs(const XLA_FFI_CallFrame *frame, const wb_family *f, const wb_memory *memory,
                                  wb_arguments *given)
{
    int64_t taken = 0;
    uint64_t number;
    const XLA_FFI_Array *sizes = wb_attribute(frame, "sizes", XLA_FFI_AttrType_ARRAY);
    for (int n = 0; sizes && n < f->sizes && n < (int)sizes->size; ++n)
        given->sizes[n] = ((const int64_t *)sizes->data)[n];
    for (int n = 0; n < f->arguments; ++n) {
        const int place = f->call[n].place;
        if (f->call[n].kind == 's') continue;
        if (taken == frame->args.size) return "too few arguments";
        const XLA_FFI_Buffer *buffer = frame->args.args[taken++];
        if (!wb_is_of(buffer, &f->parameters[place])) return "an argument of another type";
        if (f->call[n].kind == 'a') {
            wb_take_array(buffer, place, given);
            continue;
        }
        if (memory->read(memory->host, &number, buffer->data, f->parameters[place].bytes)) return wb_no_copy;
        wb_read_number(&f->parameters[place], &number, &given->values[place]);
    }
    return taken == frame->args.size && frame->rets.size >= f->outputs ? NULL : "another number of arguments";
}

/* What is updated comes in as an argument and goes out in the same memory, or in a copy. */
static const char *wb_take_outputs(const XLA_FFI_CallFrame *frame, const wb_family *f, const wb_memory *memory,
                                   wb_arguments *given)
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
            if (memory->copy(memory->host, buffer->data, given->arrays[place].data, cells * p->bytes)) return wb_no_copy;
        wb_take_array(buffer, place, given);
    }
    return NULL;
}

static XLA_FFI_Error *wb_unlike(const XLA_FFI_CallFrame *frame, const wb_entries *entries, const char *what)
{
    char text[2 * WB_TEXT];
    if (what == wb_no_copy) return wb_answer(frame, entries, WB_GPU_REFUSED);
    snprintf(text, sizeof text, "%s: the compiled program has %s; trace it again", entries->family->name, what);
    return wb_error(frame, XLA_FFI_Error_Code_FAILED_PRECONDITION, text);
}

XLA_FFI_Error *wb_take_call(const XLA_FFI_CallFrame *frame, const wb_entries *entries, const wb_memory *memory,
                            wb_arguments *given)
{
    const wb_family *f = entries->family;
    memset(given->sizes, 0, sizeof given->sizes);
    const char *unlike = wb_take_inputs(frame, f, memory, given);
    if (unlike) return wb_unlike(frame, entries, unlike);
    const int64_t status = f->solve(given->arrays, given->sizes);
    if (status) return wb_answer(frame, entries, status);
    unlike = wb_take_outputs(frame, f, memory, given);
    return unlike ? wb_unlike(frame, entries, unlike) : NULL;
}
